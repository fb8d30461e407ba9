/* test_extract.c: cairn extract: finds items in files, follows their changes and writes items.json. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "support/cli.h"

static struct arena scratch;

static const char *put(const char *path, const char *text) {
  struct error err;
  const char *full = path_join(NULL, path);
  CHECK_OK(fs_mkdirs(arena_cstr(&scratch, fs_dirname(str_from(full))), &err), &err);
  file_write(full, str_from(text));
  return full;
}

/* Creates enough of a git repository to give the project its name. */
static const char *repository(const char *name) {
  struct error err;
  CHECK_OK(fs_mkdirs(path_join(NULL, textf("%s/.git/objects", name)), &err), &err);
  CHECK_OK(fs_mkdirs(path_join(NULL, textf("%s/.git/refs", name)), &err), &err);
  put(textf("%s/.git/HEAD", name), "ref: refs/heads/main\n");
  return path_join(NULL, name);
}

static const char *out(void) { return path_join(NULL, "items.json"); }

static yyjson_val *extract(const char *folder) { return OK("extract", path_join(NULL, folder), "--out", out()); }

static yyjson_val *items(void) {
  yyjson_val *root;
  struct error err;
  CHECK_OK(json_read(&scratch, file_read(out()), &root, &err), &err);
  return root;
}

/* All items as "FILE:LINE TYPE TITLE", joined by '|'. */
static struct str listed(void) {
  struct buf b = BUF(&scratch);
  yyjson_val *all = items(), *v;
  size_t i, n;
  yyjson_arr_foreach(all, i, n, v) {
    buf_addf(&b, "%s%.*s:%lld %.*s %.*s", i ? "|" : "", STR_ARG(jstr(v, "sourceFile")),
             (long long)jint(v, "lineNumber"), STR_ARG(jstr(v, "type")), STR_ARG(jstr(v, "title")));
  }
  return buf_str(&b);
}

TEST(items_json_matches_the_seed_format) {
  put("p/docs/Architecture.md", "# API\n\nDECISION: We chose Fastify over Express.\n");
  yyjson_val *r = extract("p");
  CHECK_INT(jint(r, "items"), 1);
  CHECK_INT(jint(r, "added"), 1);
  CHECK_INT(jint(r, "types.decision"), 1);
  CHECK_INT(jint(r, "embedded"), 1);
  CHECK(!yyjson_obj_get(r, "waiting"));
  CHECK(jbool(r, "written"));
  yyjson_val *item = yyjson_arr_get_first(items());
  CHECK_INT(yyjson_obj_size(item), 8);
  CHECK(str_starts(jstr(item, "id"), STR("item_")));
  CHECK_STR(jstr(item, "type"), "decision");
  CHECK_STR(jstr(item, "title"), "We chose Fastify over Express");
  CHECK_STR(jstr(item, "content"), "We chose Fastify over Express.");
  CHECK_STR(jstr(item, "sourceFile"), "docs/Architecture.md");
  CHECK_INT(jint(item, "lineNumber"), 3);
  CHECK_NEAR(jnum(item, "confidence"), 0.9, 1e-9);
  CHECK_STR(jstr(item, "extractedAt"), cli_time(0));
}

TEST(synced_memory_pages_are_not_extracted) {
  put("p/notes.md", "DECISION: We chose Fastify over Express.\n");
  STORE("--type", "decision", "We deploy on Thursdays.");
  OK("sync", "--path", path_join(NULL, "p/MEMORY.md"));
  yyjson_val *r = extract("p");
  CHECK_INT(jint(r, "items"), 1);
  CHECK_INT(jint(r, "skipped.pages"), 1);
  r = OK("source", "add", path_join(NULL, "p"));
  CHECK_INT(jint(r, "sources[0].skipped.pages"), 1);
  CHECK_INT(jlen(OK("search", "--in", "sources", "deploy on Thursdays", "--mode", "keyword"), "results"), 0);
}

TEST(a_second_run_changes_nothing) {
  put("p/a.md", "TODO: call Bob\n\n- [ ] call Eve\n");
  put("p/b.c", "/* FIXME: leaks */\n");
  extract("p");
  CHECK_STR(listed(), "a.md:1 task call Bob|a.md:3 task call Eve|b.c:1 task leaks");
  struct str before = snapshot(), text = file_read(out());
  struct stat was, is;
  CHECK(stat(out(), &was) == 0);
  cli_day(1);
  yyjson_val *r = extract("p");
  CHECK_INT(jint(r, "unchanged"), 2);
  CHECK_INT(jint(r, "added") + jint(r, "changed") + jint(r, "removed"), 0);
  CHECK(!jbool(r, "written"));
  CHECK(!jget(r, "txn"));
  CHECK_UNCHANGED(before);
  CHECK_STR(file_read(out()), cstr(text));
  CHECK(stat(out(), &is) == 0 && is.st_ino == was.st_ino);
}

TEST(files_with_unchanged_mtime_and_size_are_not_read) {
  const char *path = put("p/a.md", "TODO: call Bob\n");
  const struct timespec old[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
  CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
  CHECK_INT(jint(extract("p"), "read"), 1);
  CHECK_INT(jint(extract("p"), "read"), 0);
  put("p/a.md", "TODO: call Eve\n");
  CHECK_INT(jint(extract("p"), "read"), 1);
  CHECK_STR(listed(), "a.md:1 task call Eve");
}

TEST(moved_items_keep_their_id_and_timestamp) {
  put("p/a.md", "TODO: call Bob\n");
  extract("p");
  struct str id = jstr(items(), "[0].id");
  cli_day(2);
  put("p/a.md", "NOTE: new\n\nTODO: call Bob\n");
  yyjson_val *r = extract("p");
  CHECK_INT(jint(r, "added"), 1);
  CHECK_INT(jint(r, "removed") + jint(r, "changed"), 0);
  CHECK_STR(listed(), "a.md:1 note new|a.md:3 task call Bob");
  CHECK_STR(jstr(items(), "[1].id"), cstr(id));
  CHECK_STR(jstr(items(), "[1].extractedAt"), cli_time(0));
  CHECK_STR(jstr(items(), "[0].extractedAt"), cli_time(2));
}

TEST(items_follow_their_files) {
  put("p/a.md", "TODO: call Bob\n");
  const char *b = put("p/b.md", "NOTE: b\n");
  extract("p");
  put("p/a.md", "TODO: call Eve\n");
  yyjson_val *r = extract("p");
  CHECK_INT(jint(r, "added"), 1);
  CHECK_INT(jint(r, "removed"), 1);
  CHECK_STR(listed(), "a.md:1 task call Eve|b.md:1 note b");
  CHECK(unlink(b) == 0);
  r = extract("p");
  CHECK_INT(jint(r, "gone"), 1);
  CHECK_INT(jint(r, "removed"), 1);
  CHECK_STR(listed(), "a.md:1 task call Eve");
  CHECK_INT(sql_number("SELECT count(*) FROM document"), 1);
  CHECK_HEALTHY();
}

TEST(subfolders_of_a_repository_are_extracted_separately) {
  repository("shop");
  put("shop/docs/a.md", "NOTE: a\n");
  put("shop/src/b.c", "// NOTE: b\n");
  yyjson_val *r = extract("shop/docs");
  CHECK_STR(jstr(r, "project"), "shop");
  CHECK_STR(listed(), "docs/a.md:1 note a");
  extract("shop/src");
  CHECK_STR(listed(), "docs/a.md:1 note a|src/b.c:1 note b");
  CHECK_INT(jint(extract("shop"), "unchanged"), 2);
  CHECK(unlink(path_join(NULL, "shop/docs/a.md")) == 0);
  CHECK_INT(jint(extract("shop/src"), "removed"), 0);
  CHECK_INT(jint(extract("shop/docs"), "removed"), 1);
  CHECK_STR(listed(), "src/b.c:1 note b");
}

TEST(folders_of_one_project_do_not_remove_each_other) {
  put("p/a.md", "NOTE: a\n");
  put("q/b.md", "NOTE: b\n");
  extract("p");
  extract("q");
  CHECK_STR(listed(), "a.md:1 note a|b.md:1 note b");
  /* Extracting any folder removes the items of folders that no longer exist. */
  CHECK(unlink(path_join(NULL, "p/a.md")) == 0 && rmdir(path_join(NULL, "p")) == 0);
  extract("q");
  CHECK_STR(listed(), "b.md:1 note b");
}

TEST(projects_have_separate_items) {
  put("p/a.md", "NOTE: a\n");
  OK("extract", path_join(NULL, "p"), "--out", out(), "--project", "web");
  CHECK_STR(listed(), "a.md:1 note a");
  put("q/b.md", "NOTE: b\n");
  OK("extract", path_join(NULL, "q"), "--out", out(), "--project", "api", "--force");
  CHECK_STR(listed(), "b.md:1 note b");
}

TEST(a_file_that_something_else_wrote_is_not_replaced) {
  put("p/a.md", "NOTE: a\n");
  OK("stats");
  file_write(out(), STR("my own notes\n"));
  REFUSED("conflict", "extract", path_join(NULL, "p"), "--out", out());
  CHECK_STR(file_read(out()), "my own notes\n");
  OK("extract", path_join(NULL, "p"), "--out", out(), "--force");
  CHECK_STR(listed(), "a.md:1 note a");
  /* Its own file is written again without being asked, but not after another hand has changed it. */
  put("p/a.md", "NOTE: b\n");
  extract("p");
  CHECK_STR(listed(), "a.md:1 note b");
  REFUSED("conflict", "extract", path_join(NULL, "p"), "--out", out(), "--project", "api");
  file_write(out(), STR("[1]\n"));
  REFUSED("conflict", "extract", path_join(NULL, "p"), "--out", out());
}

TEST(items_are_not_memories) {
  put("p/a.md", "TODO: call Bob\nDECISION: one lock\n");
  extract("p");
  CHECK_INT(jlen(OK("list"), "memories"), 0);
  CHECK_INT(jint(OK("task", "list"), "count"), 0);
  CHECK_INT(jlen(OK("search", "call Bob"), "results"), 0);
  CHECK_HEALTHY();
}

TEST(items_are_found_only_with_in_items) {
  put("p/docs/a.md", "text\n\nDECISION: invoices are numbered by the ledger\n");
  extract("p");
  CHECK_INT(jlen(OK("search", "ledger invoices"), "results"), 0);
  yyjson_val *r = OK("search", "ledger invoices", "--in", "items");
  CHECK_INT(jlen(r, "results"), 1);
  CHECK_STR(jstr(r, "results[0].corpus"), "items");
  CHECK_STR(jstr(r, "results[0].file"), "docs/a.md");
  CHECK_INT(jint(r, "results[0].line"), 3);
  put("p/docs/a.md", "text\n");
  extract("p");
  CHECK_INT(jlen(OK("search", "ledger invoices", "--in", "items"), "results"), 0);
}

TEST(secrets_are_redacted) {
  const char *secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
  put("p/a.md", textf("NOTE: the token is %s\n", secret));
  yyjson_val *r = extract("p");
  CHECK(jint(r, "redacted") > 0);
  CHECK(!has(file_read(out()), secret));
  CHECK(has(file_read(out()), "[REDACTED:"));
  CHECK(!store_holds(secret));
}

TEST(skipped_files_are_counted) {
  put("p/a.md", "NOTE: a\n");
  put("p/data.json", "{}\n");
  put("p/.hidden.md", "NOTE: h\n");
  file_write(path_join(NULL, "p/b.md"), STR("NOTE: b\0\1\2\n"));
  struct buf b = BUF(&scratch);
  while (b.n <= (1 << 20))
    buf_adds(&b, "NOTE: too much of it\n");
  file_write(path_join(NULL, "p/c.md"), buf_str(&b));
  CHECK(symlink("a.md", path_join(NULL, "p/d.md")) == 0);
  yyjson_val *r = extract("p");
  CHECK_STR(listed(), "a.md:1 note a");
  CHECK_INT(jint(r, "skipped.other"), 1);
  CHECK_INT(jint(r, "skipped.binary"), 1);
  CHECK_INT(jint(r, "skipped.huge"), 1);
  CHECK_INT(jint(r, "skipped.hidden"), 1);
  CHECK_INT(jint(r, "skipped.links"), 1);
}

TEST(a_damaged_items_json_is_written_again) {
  put("p/a.md", "NOTE: a\n");
  extract("p");
  struct str text = file_read(out());
  file_write(out(), STR("[]"));
  CHECK(jbool(OK("extract", path_join(NULL, "p"), "--out", out(), "--force"), "written"));
  CHECK_STR(file_read(out()), cstr(text));
  CHECK(unlink(out()) == 0);
  extract("p");
  CHECK_STR(file_read(out()), cstr(text));
}

TEST(items_json_is_in_the_project_folder) {
  cli_set(textf("CAIRN_FILES_ROOT=%s", path_join(NULL, "files")));
  put("p/a.md", "NOTE: a\n");
  yyjson_val *r = OK("extract", path_join(NULL, "p"), "--project", "web");
  CHECK_STR(jstr(r, "file"), path_join(NULL, "files/default/web/items.json"));
  CHECK(has(file_read(path_join(NULL, "files/default/web/items.json")), "\"title\": \"a\""));
}

TEST(each_run_writes_one_event) {
  put("p/a.md", "NOTE: a\nNOTE: b\n");
  int64_t seq = last_seq();
  extract("p");
  struct json_lines events = events_since(seq);
  CHECK_INT(events.n, 1);
  CHECK_STR(jstr(events.v[0], "action"), "memory:write");
  CHECK_STR(jstr(events.v[0], "detail.type"), "extracted");
  CHECK_STR(jstr(events.v[0], "detail.path"), out());
  CHECK_INT(jint(events.v[0], "detail.delta"), 2);
}

TEST(bad_folders_and_files_are_refused) {
  put("p/a.md", "NOTE: a\n");
  OK("stats");
  REFUSED("not_found", "extract", path_join(NULL, "none"));
  REFUSED("not_found", "extract", "");
  REFUSED("usage", "extract", path_join(NULL, "p/a.md"));
  REFUSED("usage", "extract", path_join(NULL, "p"), "--out", path_join(NULL, "p"));
  REFUSED("usage", "extract", path_join(NULL, "p"), "--out", "");
}

TEST(folder_name_with_invalid_utf8_is_refused) {
  put("odd\xff/p/a.md", "NOTE: a\n");
  OK("stats");
  CHECK(symlink("odd\xff/p", path_join(NULL, "link")) == 0);
  REFUSED("usage", "extract", path_join(NULL, "link"));
}

TEST(a_failed_write_leaves_the_store_unchanged) {
  put("p/a.md", "NOTE: a\n");
  OK("stats");
  struct str before = snapshot();
  struct run r = CAIRN("extract", path_join(NULL, "p"), "--out", path_join(NULL, "p/a.md/items.json"));
  CHECK(r.exit_code != 0);
  CHECK_UNCHANGED(before);
}

TEST(the_store_is_not_overwritten, .only = TEST_ON_SQLITE) {
  put("p/a.md", "NOTE: a\n");
  OK("stats");
  REFUSED("usage", "extract", path_join(NULL, "p"), "--out", cli_db());
}
