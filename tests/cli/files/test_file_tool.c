/* test_file_tool.c: cairn file: bytes, versions and folders under /memories, and two concurrent editors. */
#include "support/cli.h"

static struct str raw(const char *path) { return jstr(OK("file", "view", path, "--raw"), "text"); }

TEST(content_is_stored_byte_for_byte) {
  static const char *const texts[] = {"one line",
                                      "ends with a line\n",
                                      "\n\n  blank lines around\n\n\n",
                                      "windows\r\nlines\r\n",
                                      "Update: 1\nUpdate: 2\nUpdate (2026): 3\n", /* files bypass the write gate */
                                      "tabs\tand \xc3\xa9\xe4\xba\xba\n",
                                      "",
                                      "\n",
                                      "   \n\t\n",
                                      "(blank file)",
                                      "...",
                                      "12"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    test_note("text %zu", i);
    const char *path = textf("/memories/f%zu", i);
    yyjson_val *r = OK("file", "create", path, texts[i]);
    CHECK_INT(jint(r, "size"), strlen(texts[i]));
    CHECK_STR(raw(path), texts[i]);
  }
  /* Files with equal text are not duplicates. */
  OK("file", "create", "/memories/copy", texts[1]);
  CHECK_STR(raw("/memories/copy"), texts[1]);
  CHECK_STR(raw("/memories/f1"), texts[1]);
  CHECK_HEALTHY();
}

TEST(standard_input_is_stored_unchanged) {
  OK_FED(STR("first\nsecond\n\n"), "file", "create", "/memories/in", "-");
  CHECK_STR(raw("/memories/in"), "first\nsecond\n\n");
  OK_FED(STR("between\n"), "file", "insert", "/memories/in", "1", "-");
  CHECK_STR(raw("/memories/in"), "first\nbetween\nsecond\n\n");
}

TEST(every_version_is_kept) {
  int64_t first = jint(OK("file", "create", "/memories/a", "colour: blue\n"), "id");
  int64_t second = jint(OK("file", "str_replace", "/memories/a", "blue", "green"), "id");
  CHECK(first != second);
  CHECK_STR(jstr(OK("get", num(first)), "body"), "colour: blue\n");
  CHECK_STR(jstr(OK("get", num(first)), "state"), "superseded");
  yyjson_val *m = OK("get", "/memories/a");
  CHECK_INT(jint(m, "id"), second);
  CHECK_STR(jstr(m, "type"), "note");
  CHECK_STR(jstr(m, "key"), "/memories/a");
  CHECK_INT(jlen(OK("history", "/memories/a"), "chain"), 2);
  CHECK_INT(jint(OK("list"), "total"), 1);
}

TEST(a_deletion_can_be_undone) {
  OK("file", "create", "/memories/d/a", "alpha");
  OK("file", "create", "/memories/d/b", "beta");
  yyjson_val *r = OK("file", "delete", "/memories/d");
  CHECK_INT(jint(r, "files"), 2);
  REFUSED("not_found", "file", "view", "/memories/d/a");
  CHECK_INT(jlen(OK("search", "alpha"), "results"), 0);
  OK("undo", num(jint(r, "txn")));
  CHECK_STR(raw("/memories/d/a"), "alpha");
  CHECK_STR(raw("/memories/d/b"), "beta");
}

TEST(a_folder_moves_with_its_contents) {
  OK("file", "create", "/memories/old/a", "alpha\n");
  OK("file", "create", "/memories/old/sub/b", "beta\n");
  OK("file", "create", "/memories/older", "gamma\n");
  CHECK_INT(jint(OK("file", "rename", "/memories/old", "/memories/new/place"), "files"), 2);
  CHECK_STR(raw("/memories/new/place/a"), "alpha\n");
  CHECK_STR(raw("/memories/new/place/sub/b"), "beta\n");
  CHECK_STR(raw("/memories/older"), "gamma\n");
  REFUSED("not_found", "file", "view", "/memories/old");
  REFUSED("conflict", "file", "rename", "/memories/new", "/memories/new/place/inside");
  REFUSED("conflict", "file", "rename", "/memories/older", "/memories/new");
  CHECK_INT(jlen(OK("history", "/memories/new/place/a"), "chain"), 2);
}

TEST(a_file_is_not_a_folder) {
  OK("file", "create", "/memories/a", "alpha");
  REFUSED("conflict", "file", "create", "/memories/a/b", "beta");
  OK("file", "create", "/memories/d/e", "delta");
  REFUSED("conflict", "file", "create", "/memories/d", "x");
  REFUSED("conflict", "file", "create", "/memories", "x");
  REFUSED("conflict", "file", "create", "/memories/a", "again");
  CHECK_STR(raw("/memories/a"), "alpha");
  OK("file", "create", "/memories/a", "again", "--overwrite");
  CHECK_STR(raw("/memories/a"), "again");
}

TEST(files_are_searchable_and_never_superseded) {
  const char *text = "The quokka enclosure opens at nine on weekdays";
  int64_t file = jint(OK("file", "create", "/memories/zoo.md", text), "id");
  CHECK_INT(jint(OK("search", "quokka enclosure"), "results[0].id"), file);
  yyjson_val *r = OK("remember", textf("%s and at ten on Sundays.", text));
  CHECK(jint(r, "id") != file);
  r = OK("remember", text);
  CHECK(jint(r, "id") != file);
  CHECK_STR(raw("/memories/zoo.md"), text);
}

TEST(projects_have_separate_files) {
  OK("file", "create", "/memories/a", "of one", "--project", "one");
  OK("file", "create", "/memories/a", "of two", "--project", "two");
  CHECK_STR(jstr(OK("file", "view", "/memories/a", "--raw", "--project", "one"), "text"), "of one");
  CHECK_STR(jstr(OK("file", "view", "/memories/a", "--raw", "--project", "two"), "text"), "of two");
}

TEST(an_export_restores_files) {
  OK("file", "create", "/memories/a", "Update: 1\nUpdate: 2\n\n");
  OK("file", "create", "/memories/empty", "");
  const char *path = path_join(NULL, "all.jsonl");
  CHECK_INT(CAIRN("export", path).exit_code, 0);
  cli_set(textf("CAIRN_DB=%s", test_store("other.db")));
  OK("import", path);
  CHECK_STR(raw("/memories/a"), "Update: 1\nUpdate: 2\n\n");
  CHECK_STR(raw("/memories/empty"), "");
}

TEST(two_editors_lose_nothing, .seconds = 60) {
  enum { EACH = 8 };
  OK("file", "create", "/memories/log", "start\n");
  struct proc *p[2];
  for (int k = 0; k < 2; k++) {
    static struct arena memory; /* lives as long as the test */
    struct buf script = BUF(&memory);
    for (int i = 0; i < EACH; i++)
      buf_addf(&script, "'%s' --db '%s' file insert /memories/log 1 'editor %d line %d' || exit 1\n", CAIRN_BIN,
               cli_db(), k, i);
    p[k] = proc_start(.argv = ARGS("sh", "-c", script.p), .env = cli_env(), .timeout_ms = 50000, .merge = true);
  }
  for (int k = 0; k < 2; k++) {
    struct run r = proc_wait(p[k]);
    if (r.exit_code != 0)
      FAIL("%s", r.out.p);
  }
  struct str text = raw("/memories/log");
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < EACH; i++)
      CHECK(has(text, textf("editor %d line %d\n", k, i)));
}
