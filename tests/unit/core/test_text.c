/* test_text.c: words, sentences and normalization. */
#include "core/text/text.h"

#include "base/buf.h"
#include "support/harness.h"

/* Joins the parts with '|', so the expected value is one string. */
static struct str join(struct arena *a, struct str s, bool (*next)(struct str, size_t *, struct str *)) {
  struct buf out = BUF(a);
  struct str part;
  for (size_t pos = 0; next(s, &pos, &part);) {
    if (out.n)
      buf_addc(&out, '|');
    buf_add(&out, part);
  }
  return buf_str(&out);
}

static void check_words(const char *text, const char *want) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(join(&a, str_from(text), text_next_word), want);
  arena_release(&a);
}

static void check_sentences(const char *text, const char *want) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(join(&a, str_from(text), text_next_sentence), want);
  arena_release(&a);
}

static struct str repeat(struct arena *a, const char *unit, size_t bytes) {
  struct buf out = BUF(a);
  while (out.n < bytes)
    buf_adds(&out, unit);
  return buf_str(&out);
}

TEST(words_keep_inner_punctuation) {
  check_words("Don't use foo_bar in v1.2, state-of-the-art!", "Don't|use|foo_bar|in|v1.2|state-of-the-art");
  check_words("the user\xe2\x80\x99s file main.c.", "the|user\xe2\x80\x99s|file|main.c");
  check_words("a--b 'quoted' -x- __init__ foo__bar", "a|b|quoted|x|init|foo__bar");
  check_words("caf\xc3\xa9 na\xc3\xafve \xd0\xbc\xd0\xb8\xd1\x80", "caf\xc3\xa9|na\xc3\xafve|\xd0\xbc\xd0\xb8\xd1\x80");
}

TEST(words_of_unspaced_scripts_are_characters) {
  check_words("\xe4\xb8\x96\xe7\x95\x8c", "\xe4\xb8\x96|\xe7\x95\x8c");
  check_words("v2\xe4\xb8\x96x", "v2|\xe4\xb8\x96|x");
  /* A Thai vowel sign (U+0E35) stays with its consonant (U+0E14). */
  check_words("\xe0\xb8\x94\xe0\xb8\xb5", "\xe0\xb8\x94\xe0\xb8\xb5");
}

TEST(no_words_in_punctuation_and_emoji) {
  check_words("", "");
  check_words(" \t\r\n ... !!! --- \xf0\x9f\x8e\x89", "");
}

TEST(gate_counts_parts_between_white_space) {
  CHECK_INT(text_count_words(STR("")), 0);
  CHECK_INT(text_count_words(STR("  \t\r\n ")), 0);
  CHECK_INT(text_count_words(STR("one")), 1);
  CHECK_INT(text_count_words(STR(" one two\tthree\r\nfour ")), 4);
  CHECK_INT(text_count_words(STR("- a | b -- don't foo.bar/baz")), 7);
  CHECK_INT(text_count_words(STR("non\xc2\xa0"
                                 "breaking")),
            2);
  CHECK_INT(text_count_words(STR("\xf0\x9f\x8e\x89 party")), 2);
}

TEST(gate_counts_each_character_of_unspaced_scripts) {
  CHECK_INT(text_count_words(STR("\xe4\xb8\x96\xe7\x95\x8c")), 2);
  CHECK_INT(text_count_words(STR("\xe4\xb8\x96\xe7\x95\x8c\xe3\x80\x82")), 2); /* the full stop is not a word */
  CHECK_INT(text_count_words(STR("Hello\xe4\xb8\x96\xe7\x95\x8c")), 3);
  CHECK_INT(text_count_words(STR("\xe4\xb8\x96(foo)\xe7\x95\x8c bar")), 4);
}

TEST(cut_stops_at_both_limits) {
  CHECK_STR(text_cut(STR("one two three four"), 3, 100), "one two three");
  CHECK_STR(text_cut(STR("one two three four"), 4, 100), "one two three four");
  CHECK_STR(text_cut(STR("one two three four"), 9, 10), "one two");
  CHECK_STR(text_cut(STR("one two three four"), 9, 13), "one two three");
  CHECK_STR(text_cut(STR("onetwothree"), 9, 4), "onet");
  CHECK_STR(text_cut(STR("\xc3\xa4\xc3\xb6\xc3\xbc"), 9, 5), "\xc3\xa4\xc3\xb6");
  CHECK_STR(text_cut(STR("\xe4\xb8\x96\xe7\x95\x8c\xe4\xb8\x96"), 2, 100), "\xe4\xb8\x96\xe7\x95\x8c");
  CHECK_STR(text_cut(STR("one two"), 0, 100), "");
}

TEST(sentences_end_at_stops) {
  check_sentences("We use Postgres. It works! Does it? Yes.", "We use Postgres.|It works!|Does it?|Yes.");
  check_sentences("One sentence without an end", "One sentence without an end");
  check_sentences("lower case. next one here.", "lower case.|next one here.");
  check_sentences("Really?! \"Yes.\" Good (enough.) End", "Really?!|\"Yes.\"|Good (enough.)|End");
  check_sentences("\"Why?\" he asked. \"No.\"", "\"Why?\" he asked.|\"No.\"");
  check_sentences("**Bold ends here.** Then more.", "**Bold ends here.**|Then more.");
}

TEST(sentences_continue_after_abbreviations) {
  check_sentences("Ask Mr. Smith, e.g. today, i.e. now. Done.", "Ask Mr. Smith, e.g. today, i.e. now.|Done.");
  check_sentences("Tools, logs, etc. are here. Tools etc. They work.",
                  "Tools, logs, etc. are here.|Tools etc.|They work.");
  check_sentences("See No. 5 and fig. 3. I say no. We stop.", "See No. 5 and fig. 3.|I say no.|We stop.");
  check_sentences("J. R. Smith lives in the U.S. today.", "J. R. Smith lives in the U.S. today.");
  check_sentences("Meet at 9 a.m. sharp. At 5 p.m. We left.", "Meet at 9 a.m. sharp.|At 5 p.m.|We left.");
}

TEST(sentences_continue_inside_numbers_names_and_ellipses) {
  check_sentences("Pi is 3.14 here. Use v1.2.3. Edit main.c. Then .env too.",
                  "Pi is 3.14 here.|Use v1.2.3.|Edit main.c.|Then .env too.");
  check_sentences("Wait... then go. Hm... Then stop\xe2\x80\xa6 now.",
                  "Wait... then go.|Hm...|Then stop\xe2\x80\xa6 now.");
  check_sentences("1. Do this first. 2", "1. Do this first.|2");
  check_sentences("Visit example.com/a.b?c=d. Now.", "Visit example.com/a.b?c=d.|Now.");
}

TEST(sentences_of_unspaced_scripts_need_no_blank) {
  check_sentences("\xe4\xbd\xa0\xe5\xa5\xbd\xe3\x80\x82\xe4\xb8\x96\xe7\x95\x8c\xef\xbc\x81\xe7\x95\x8c",
                  "\xe4\xbd\xa0\xe5\xa5\xbd\xe3\x80\x82|\xe4\xb8\x96\xe7\x95\x8c\xef\xbc\x81|\xe7\x95\x8c");
  /* The closing bracket belongs to the sentence before it. */
  check_sentences("\xe3\x80\x8c\xe7\x95\x8c\xe3\x80\x82\xe3\x80\x8d\xe7\x95\x8c",
                  "\xe3\x80\x8c\xe7\x95\x8c\xe3\x80\x82\xe3\x80\x8d|\xe7\x95\x8c");
}

TEST(sentences_end_at_hard_line_breaks) {
  check_sentences("Deploy on Friday\nFix the build\r\nRest", "Deploy on Friday|Fix the build|Rest");
  check_sentences("- one thing\n- another\n  goes on\n3. third", "- one thing|- another\n  goes on|3. third");
  check_sentences("# Title\nbody text here", "# Title|body text here");
  check_sentences("First part\n\nsecond part", "First part|second part");
  check_sentences("This line was wrapped by an editor at about seventy\nColumns and goes on here.\nNext.",
                  "This line was wrapped by an editor at about seventy|Columns and goes on here.|Next.");
  check_sentences("This line was wrapped by an editor at about seventy columns or\nMaybe more and goes on here.",
                  "This line was wrapped by an editor at about seventy columns or\nMaybe more and goes on here.");
  check_sentences("this was\nwrapped early", "this was\nwrapped early");
  check_sentences("1.\n2.\nReal text", "1.|2.|Real text");
}

TEST(letters_of_any_script_count) {
  CHECK(text_has_letter(STR("1. a")));
  CHECK(text_has_letter(STR("\xd0\xb6")));
  CHECK(text_has_letter(STR("\xe7\x95\x8c")));
  CHECK(!text_has_letter(STR("")));
  CHECK(!text_has_letter(STR("1. 2) -- \xf0\x9f\x8e\x89 \xff\xfe")));
  CHECK_INT(text_first_letter(STR("12 x")), 3);
}

TEST(collapse_folds_white_space) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(text_collapse(&a, STR(" a\t\tb\r\n\r\nc  ")), "a b c");
  CHECK_STR(text_collapse(&a, STR("\xe3\x80\x80"
                                  "a\xc2\xa0\xc2\xa0"
                                  "b")),
            "a b");
  CHECK_STR(text_collapse(&a, STR(" \n ")), "");
  CHECK_STR(text_collapse(&a, STR("a\xff"
                                  "b")),
            "a\xef\xbf\xbd"
            "b");
  arena_release(&a);
}

TEST(normal_form_ignores_case_and_edge_punctuation) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(text_normal(&a, STR("  We use \"Postgres\", always!  ")), "we use postgres always");
  CHECK_STR(text_normal(&a, STR("- **We** use (Postgres)\n always...")), "we use postgres always");
  CHECK_STR(text_normal(&a, STR("Don't touch foo.bar")), "don't touch foo.bar");
  CHECK_STR(text_normal(&a, STR("\xc3\x89"
                                "COLE")),
            "ecole");
  CHECK_STR(text_normal(&a, STR("...!?")), "");
  arena_release(&a);
}

TEST(normal_form_keeps_significant_symbols) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(text_normal(&a, STR("Use C++.")), "use c++");
  CHECK_STR(text_normal(&a, STR("Use C#.")), "use c#");
  CHECK_STR(text_normal(&a, STR("Set it to -5!")), "set it to -5");
  CHECK_STR(text_normal(&a, STR("Edit .env, now")), "edit .env now");
  CHECK_STR(text_normal(&a, STR("50% of $20")), "50% of $20");
  arena_release(&a);
}

/* Reading a megabyte must take linear time; the time limit of the test checks it. */
TEST(a_megabyte_of_anything_is_fast, .slow = true) {
  static const char *const units[] = {"a",  " ",   "\n",           ". ",   "a.", "_a",
                                      "a'", "A\n", "\xe4\xb8\x96", "\x80", "\"", "...\n"};
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    struct arena a;
    arena_init(&a);
    struct str s = repeat(&a, units[i], 1 << 20), part;
    size_t parts = 0;
    for (size_t pos = 0; text_next_word(s, &pos, &part);)
      parts++;
    for (size_t pos = 0; text_next_sentence(s, &pos, &part);)
      parts++;
    CHECK(parts <= 2 * s.n);
    CHECK(text_count_words(s) <= s.n);
    CHECK(text_normal(&a, s).n <= 3 * s.n);
    arena_release(&a);
  }
}
