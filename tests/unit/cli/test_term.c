/* test_term.c: text that is safe and aligned on a terminal. */
#include "cli/term.h"

#include <unistd.h>

#include "base/os/clock.h"
#include "support/harness.h"

/* Lives as long as the test. */
static struct arena a;

static struct str safe(struct str text, bool one_line) {
  struct buf b = BUF(&a);
  term_safe(&b, text, one_line);
  return buf_str(&b);
}

static struct str safe_json(struct str json) {
  struct buf b = BUF(&a);
  term_safe_json(&b, json);
  return buf_str(&b);
}

static struct str wrap(const char *text, size_t at, size_t indent, size_t width) {
  struct buf b = BUF(&a);
  term_wrap(&b, str_from(text), at, indent, width);
  return buf_str(&b);
}

TEST(escape_sequences_become_visible) {
  CHECK_STR(safe(STR("\x1b[31mred\x07"), false), "^[[31mred^G");
  CHECK_STR(safe(STR("back\bspace\x7f"), false), "back^Hspace^?");
  CHECK_STR(safe(STR("\x1b]0;title\x1b\\"), false), "^[]0;title^[\\");
  CHECK_STR(safe(STR("c1 \xc2\x9b"
                     "1m"),
                 false),
            "c1 <U+009B>1m");
  CHECK_STR(safe(STR("a\0b"), false), "a^@b");
}

TEST(direction_marks_become_visible) {
  CHECK_STR(safe(STR("evil \xe2\x80\xae txt"), false), "evil <U+202E> txt");
  CHECK_STR(safe(STR("\xe2\x81\xa6x\xe2\x81\xa9"), false), "<U+2066>x<U+2069>");
  CHECK_STR(safe(STR("\xf3\xa0\x81\x81"), false), "<U+E0041>");
}

TEST(ordinary_text_is_unchanged) {
  CHECK_STR(safe(STR("line\n\tnext: naïve 日本 🙂\r\n"), false), "line\n\tnext: naïve 日本 🙂\n");
  CHECK_STR(safe(STR("two\nlines\tand\rmore"), true), "two lines and^Mmore");
  CHECK_STR(safe(STR("bad \xff byte"), false), "bad \xef\xbf\xbd byte");
  CHECK_STR(safe(STR(""), false), "");
}

TEST(json_stays_the_same_json) {
  CHECK_STR(safe_json(STR("{\"a\":\"x\xc2\x9by\xe2\x80\xaez\"}")), "{\"a\":\"x\\u009By\\u202Ez\"}");
  CHECK_STR(safe_json(STR("{\"t\":\"\xf3\xa0\x81\x81\"}")), "{\"t\":\"\\uDB40\\uDC41\"}");
  CHECK_STR(safe_json(STR("{\"ok\":\"é\\n\"}\n")), "{\"ok\":\"é\\n\"}\n");
}

TEST(columns) {
  CHECK_INT(term_columns(STR("plain")), 5);
  CHECK_INT(term_columns(STR("naïve")), 5);
  CHECK_INT(term_columns(STR("日本")), 4);
  CHECK_INT(term_columns(STR("e\xcc\x81")), 1); /* e and a combining accent */
}

TEST(fitting) {
  CHECK_STR(term_fit(&a, STR("short"), 5), "short");
  CHECK_STR(term_fit(&a, STR("longer"), 5), "long…");
  CHECK_STR(term_fit(&a, STR("日本語"), 5), "日本…");
  CHECK_STR(term_fit(&a, STR("日本語"), 4), "日…");
  CHECK_STR(term_fit(&a, STR("ab"), 0), "…");
}

static struct str prose(const char *text, size_t width) {
  struct buf b = BUF(&a);
  term_prose(&b, str_from(text), width);
  return buf_str(&b);
}

TEST(prose_is_wrapped_below_its_first_word) {
  CHECK_STR(prose("one two three\n\nfour", 9), "one two\nthree\n\nfour\n");
  CHECK_STR(prose("- one two three", 9), "- one two\n  three\n");
  CHECK_STR(prose("  12. one two three", 13), "  12. one two\n      three\n");
  CHECK_STR(prose("one  two\n", 9), "one  two\n"); /* a line that fits is unchanged */
}

TEST(code_is_not_wrapped) {
  CHECK_STR(prose("```\nmake all the things\n```\nmake all the things", 9),
            "```\nmake all the things\n```\nmake all\nthe\nthings\n");
  CHECK_STR(prose("    make all the things", 9), "    make all the things\n");
  CHECK_STR(prose("make\tall the things", 9), "make\tall the things\n");
}

TEST(wrapping) {
  CHECK_STR(wrap("one two three", 0, 0, 80), "one two three");
  CHECK_STR(wrap("one two three", 0, 0, 7), "one two\nthree");
  CHECK_STR(wrap("one two three", 4, 4, 11), "one two\n    three");
  CHECK_STR(wrap("one two", 2, 6, 80), "    one two"); /* pads to the column first */
  CHECK_STR(wrap("wonderfully long", 0, 0, 5), "wonderfully\nlong");
  CHECK_STR(wrap("para one\n\npara two", 0, 2, 80), "  para one\n\n  para two");
  CHECK_STR(wrap("", 0, 2, 80), "");
}

TEST(text_without_blanks_is_wrapped_between_wide_characters) {
  CHECK_STR(wrap("日本語日本語", 0, 0, 5), "日本\n語日\n本語");
  CHECK_STR(wrap("one 日本語日本語", 2, 2, 10), "one 日本\n  語日本語");
  CHECK_STR(wrap("日本Postgres語日本語", 0, 0, 10), "日本\nPostgres語\n日本語"); /* words stay whole */
  CHECK_STR(wrap("日日日e\xcc\x81日\xcc\x81日", 0, 0, 6), "日日日\ne\xcc\x81日\xcc\x81日");
  CHECK_STR(wrap("one 日本 two", 0, 0, 8), "one 日本\ntwo");
  CHECK_STR(wrap("four 日本 two", 0, 0, 8), "four\n日本 two"); /* blanks first */
}

TEST(times_and_ages) {
  int64_t now = 0;
  CHECK(time_parse(STR("2026-11-15T12:00:00Z"), &now));
  CHECK_STR(term_time(&a, STR("2026-11-15T11:45:10.123Z")), "2026-11-15 11:45");
  CHECK_STR(term_time(&a, STR("soon")), "soon");
  CHECK_STR(term_age(&a, STR("2026-11-15T11:59:30Z"), now), "now");
  CHECK_STR(term_age(&a, STR("2026-11-15T11:45:00Z"), now), "15 min ago");
  CHECK_STR(term_age(&a, STR("2026-11-15T09:00:00Z"), now), "3 h ago");
  CHECK_STR(term_age(&a, STR("2026-11-12T12:00:00Z"), now), "3 d ago");
  CHECK_STR(term_age(&a, STR("2024-11-14T12:00:00Z"), now), "2 y ago");
  CHECK_STR(term_age(&a, STR("2026-11-22T12:00:00Z"), now), "in 7 d");
  CHECK_STR(term_age(&a, STR("soon"), now), "");
}

TEST(sizes) {
  CHECK_STR(term_bytes(&a, 999), "999 bytes");
  CHECK_STR(term_bytes(&a, 1500), "1.5 kB");
  CHECK_STR(term_bytes(&a, 12345678), "12.3 MB");
}

TEST(a_pipe_gets_no_colour) {
  int fd[2];
  CHECK(pipe(fd) == 0);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  struct term t = term_of(fd[1], false);
  CHECK(!t.tty);
  CHECK_STR(str_from(t.style.bold), "");
  CHECK_STR(str_from(t.style.reset), "");
}
