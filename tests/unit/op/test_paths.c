/* test_paths.c: paths of the machine in errors for callers with a token. */
#include "op/run/paths.h"

#include "support/harness.h"

static struct str shortened(const char *store, yyjson_val *args, const char *text) {
  static struct error err;
  error_set(&err, STATUS_IO, "%s", text);
  error_fix(&err, "%s", text);
  paths_shorten(store, args, &err);
  CHECK_STR(str_from(err.fix), err.message);
  struct error once = err;
  paths_shorten(store, args, &err);
  CHECK_STR(str_from(err.message), once.message);
  return str_from(err.message);
}

TEST(folders_of_paths_are_removed) {
  static const char *const texts[][2] = {
      {"/srv/cairn/s.db was deleted", "s.db was deleted"},
      {"cannot create the folder '/srv/my notes/sessions': File exists",
       "cannot create the folder 'sessions': File exists"},
      {"cannot read \"/srv/my notes/a.md\".", "cannot read \"a.md\"."},
      {"/srv/cairn/s.db: disk I/O error", "s.db: disk I/O error"},
      {"see /srv/cairn/.", "see cairn/."},
      {"(/srv/a/b), /srv/a/c; db=/srv/a/d", "(b), c; db=d"},
      {"copy it from /proc/18876/fd; then restart", "copy it from /proc/PID/fd; then restart"},
      {"/proc/7/fd", "/proc/PID/fd"},
      {"/proc/self/fd", "fd"},
      {"'/srv/cut off", "'cut off"},
  };
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    CHECK_STR(shortened(NULL, NULL, texts[i][0]), texts[i][1]);
}

TEST(other_slashes_stay) {
  static const char *const texts[] = {"read and/or write",
                                      "cairn://memory/abc is no file of http://host/a/b",
                                      "The path /memories/notes/a.md does not exist",
                                      "POST /api/v1/memories, or /mcp/full",
                                      "/tmp is a folder",
                                      "3 / 4 of a/b/c",
                                      ""};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    CHECK_STR(shortened("/srv/cairn/s.db", NULL, texts[i]), texts[i]);
}

TEST(the_folder_of_the_store_may_have_spaces) {
  CHECK_STR(shortened("/srv/my notes/s.db", NULL, "/srv/my notes/s.db cannot grow"), "s.db cannot grow");
  CHECK_STR(shortened("/srv/my notes/s.db", NULL, "/srv/my notes/s.db.files/default/rep is a file"), "rep is a file");
  CHECK_STR(shortened("postgresql://host/db", NULL, "/srv/a b"), "a b");
}

TEST(paths_that_the_caller_sent_stay) {
  struct arena a = {0};
  struct error err;
  yyjson_val *args;
  CHECK_OK(json_read(&a, STR("{\"type\":\"/srv/lamp/oil\",\"tags\":[\"in /srv/lamp/wick\"]}"), &args, &err), &err);
  CHECK_STR(shortened(NULL, args, "'/srv/lamp/oil', /srv/lamp/wick and /srv/lamp"),
            "'/srv/lamp/oil', /srv/lamp/wick and /srv/lamp");
  CHECK_STR(shortened(NULL, args, "'/srv/lamp/oil' is not in /srv/lamp/x"), "'/srv/lamp/oil' is not in x");
  arena_release(&a);
}

/* A short process id makes the text longer. */
TEST(a_long_text_is_cut_between_characters) {
  char text[ERROR_MESSAGE_MAX];
  size_t n = 0;
  while (n + 14 < sizeof(text))
    n += (size_t)snprintf(text + n, sizeof(text) - n, "/proc/7/f\303\274 ");
  struct error err;
  error_set(&err, STATUS_IO, "%s", text);
  paths_shorten(NULL, NULL, &err);
  CHECK(strlen(err.message) < sizeof(err.message));
  CHECK(str_starts(str_from(err.message), STR("/proc/PID/f\303\274 /proc/PID/f\303\274 ")));
}
