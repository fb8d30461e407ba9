/* test_import_source.c: reading lines of an import. */
#include <fcntl.h>
#include <unistd.h>

#include "op/transfer/import.h"
#include "support/harness.h"
#include "support/proc.h"

static struct arena arena;

static struct source open_text(struct str text) {
  const char *path = path_join(NULL, "input");
  file_write(path, text);
  struct source s = {.name = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
  CHECK(s.fd >= 0 && fstat(s.fd, &s.st) == 0);
  return s;
}

static bool next(struct lines *l, struct str *line) {
  struct error err;
  bool more;
  CHECK_OK(lines_next(l, line, &more, &err), &err);
  return more;
}

TEST(lines_have_number_and_offset) {
  struct source s = open_text(STR("one\n\nthree\r\nfour"));
  struct lines l;
  struct str line;
  lines_open(&l, &s, &arena, 0, 1);
  CHECK(next(&l, &line));
  CHECK_STR(line, "one");
  CHECK(next(&l, &line));
  CHECK_STR(line, "");
  CHECK(next(&l, &line));
  CHECK_STR(line, "three\r");
  CHECK_INT(l.number, 3);
  CHECK_INT(l.at, 5);
  CHECK(next(&l, &line));
  CHECK_STR(line, "four");
  CHECK(!next(&l, &line));
  CHECK(!next(&l, &line));
}

TEST(reading_can_begin_in_the_middle) {
  struct source s = open_text(STR("one\ntwo\nthree\n"));
  struct lines l;
  struct str line;
  lines_open(&l, &s, &arena, 8, 3);
  CHECK(next(&l, &line));
  CHECK_STR(line, "three");
  CHECK_INT(l.number, 3);
  CHECK(!next(&l, &line));
}

TEST(a_byte_order_mark_is_skipped_once) {
  struct source s = open_text(STR("\xef\xbb\xbf{}\n\xef\xbb\xbfx\n"));
  struct lines l;
  struct str line;
  lines_open(&l, &s, &arena, 0, 1);
  CHECK(next(&l, &line));
  CHECK_STR(line, "{}");
  CHECK(next(&l, &line));
  CHECK_STR(line, "\xef\xbb\xbfx");
}

TEST(long_lines_are_complete_and_too_long_ones_are_flagged) {
  size_t whole = 3 << 20, limit = IMPORT_LINE_MAX, total = whole + 1 + limit + 1 + limit + 2 + 4;
  char *text = arena_alloc(&arena, total);
  memset(text, 'x', total);
  text[whole] = '\n';
  text[whole + 1 + limit] = '\n';
  text[total - 5] = '\n';
  memcpy(text + total - 4, "end\n", 4);
  struct source s = open_text((struct str){text, total});
  struct lines l;
  struct str line;
  lines_open(&l, &s, &arena, 0, 1);
  CHECK(next(&l, &line) && !l.too_long);
  CHECK_INT(line.n, whole);
  CHECK(next(&l, &line) && !l.too_long);
  CHECK_INT(line.n, limit);
  CHECK(next(&l, &line) && l.too_long);
  CHECK_INT(l.number, 3);
  CHECK(next(&l, &line) && !l.too_long);
  CHECK_STR(line, "end");
  CHECK_INT(l.number, 4);
  CHECK(!next(&l, &line));
}

TEST(a_file_that_changes_is_noticed) {
  struct source s = open_text(STR("one\n"));
  struct error err;
  CHECK_OK(source_check_unchanged(&s, &err), &err);
  file_write(path_join(NULL, "input"), STR("one\ntwo\n"));
  CHECK_STATUS(source_check_unchanged(&s, &err), STATUS_CONFLICT);
}
