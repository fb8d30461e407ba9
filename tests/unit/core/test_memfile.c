/* test_memfile.c: paths, lines, edits and listings of the files under /memories. */
#include "core/files/memfile.h"

#include "support/harness.h"

static struct arena a; /* lives as long as the test */

static bool taken(const char *given) {
  struct str path;
  struct error err;
  return memfile_path(str_from(given), &path, &err) == STATUS_OK;
}

TEST(paths_must_be_inside_the_folder) {
  static const char *const good[] = {"/memories",         "/memories/",     "/memories/a",   "/memories/a/b.md",
                                     "/memories/.hidden", "/memories/a..b", "/memories/%20", "/memories/\xc3\xa9 x"};
  static const char *const bad[] = {"",
                                    "/",
                                    "/memorie",
                                    "/memoriesX",
                                    "/Memories/a",
                                    "memories/a",
                                    "/memories//",
                                    "/memories/a//",
                                    "/memories//a",
                                    "/memories/..",
                                    "/memories/a/../b",
                                    "/memories/.",
                                    "/memories/a/.",
                                    "/memories/%2e%2e",
                                    "/memories/x%2Ey",
                                    "/memories/a\nb",
                                    "/memories/a\x7f",
                                    "/memories/a/b/.."};
  for (size_t i = 0; i < ARRAY_LEN(good); i++) {
    test_note("%s", good[i]);
    CHECK(taken(good[i]));
  }
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    CHECK(!taken(bad[i]));
  }
  char longest[MEMFILE_PATH_BYTES + 2];
  memset(longest, 'x', sizeof(longest));
  memcpy(longest, "/memories/", 10);
  longest[MEMFILE_PATH_BYTES] = 0;
  CHECK(taken(longest));
  longest[MEMFILE_PATH_BYTES] = 'x';
  longest[MEMFILE_PATH_BYTES + 1] = 0;
  CHECK(!taken(longest));
}

TEST(a_final_slash_is_dropped) {
  struct str path;
  struct error err;
  CHECK_OK(memfile_path(STR("/memories/a/"), &path, &err), &err);
  CHECK_STR(path, "/memories/a");
  CHECK(memfile_is_path(STR("/memories/a")) && !memfile_is_path(STR("/memories")) && !memfile_is_path(STR_NONE));
}

TEST(lines_are_counted_and_numbered) {
  size_t last;
  CHECK_INT(memfile_count_lines(STR("")), 0);
  CHECK_INT(memfile_count_lines(STR("a")), 1);
  CHECK_INT(memfile_count_lines(STR("a\n")), 1);
  CHECK_INT(memfile_count_lines(STR("a\n\n")), 2);
  CHECK_STR(memfile_number(&a, STR("a\n\nc\n"), 1, 3, &last), "     1\ta\n     2\t\n     3\tc");
  CHECK_INT(last, 3);
  CHECK_STR(memfile_number(&a, STR("a\nb\nc"), 2, 2, &last), "     2\tb");
  CHECK_STR(memfile_number(&a, STR(""), 1, 0, &last), "");
  CHECK_INT(last, 0);
}

TEST(output_is_limited) {
  struct buf b = BUF(&a);
  size_t last;
  for (int i = 0; i < 3000; i++)
    buf_adds(&b, "\xc3\xa9\xc3\xa9\n"); /* two characters: ten with the number and the line end */
  struct str shown = memfile_number(&a, buf_str(&b), 1, 3000, &last);
  CHECK_INT(last, 1600);
  CHECK(str_ends(shown, STR("  1600\t\xc3\xa9\xc3\xa9")));
  b.n = 0;
  for (int i = 0; i < 20000; i++)
    buf_adds(&b, "\xc3\xa9");
  shown = memfile_number(&a, buf_str(&b), 1, 1, &last);
  CHECK_INT(last, 1);
  CHECK_INT(shown.n, 7 + 2 * (16000 - 8));
}

TEST(text_is_found_replaced_and_inserted) {
  struct places places = {0};
  memfile_find(&a, STR("aa\nb aaa"), STR("aa"), &places);
  CHECK_INT(places.n, 2);
  CHECK_INT(memfile_line_at(STR("aa\nb aaa"), places.v[1]), 2);
  places.n = 0;
  memfile_find(&a, STR("aa"), STR(""), &places);
  CHECK_INT(places.n, 0);
  CHECK_STR(memfile_replace(&a, STR("one two"), 4, 3, STR("three")), "one three");
  CHECK_STR(memfile_replace(&a, STR("one two"), 0, 7, STR("")), "");
  CHECK_STR(memfile_insert(&a, STR("a\nb\n"), 0, STR("x")), "x\na\nb\n");
  CHECK_STR(memfile_insert(&a, STR("a\nb\n"), 1, STR("x\n")), "a\nx\nb\n");
  CHECK_STR(memfile_insert(&a, STR("a\nb\n"), 2, STR("x")), "a\nb\nx\n");
  CHECK_STR(memfile_insert(&a, STR("a\nb"), 2, STR("x")), "a\nb\nx\n");
  CHECK_STR(memfile_insert(&a, STR(""), 0, STR("x")), "x\n");
}

TEST(sizes_have_units) {
  CHECK_STR(memfile_size(&a, 0), "0B");
  CHECK_STR(memfile_size(&a, 1023), "1023B");
  CHECK_STR(memfile_size(&a, 1024), "1.0K");
  CHECK_STR(memfile_size(&a, 1536), "1.5K");
  CHECK_STR(memfile_size(&a, 4096), "4.0K");
  CHECK_STR(memfile_size(&a, 2 * 1024 * 1024), "2.0M");
}
