/* test_sources.c: folders as sources: indexed for search, watched for changes, identical content stored once. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "support/serve.h"

static void put(const char *path, const char *text) {
  struct error err;
  const char *full = path_join(NULL, path);
  struct str folder = fs_dirname(str_from(full));
  CHECK_OK(fs_mkdirs(cstr(folder), &err), &err);
  file_write(full, str_from(text));
}

static yyjson_val *find(const char *query) {
  return OK("--project", "shop", "search", "--in", "sources", "--mode", "keyword", query);
}

static yyjson_val *add(const char *folder) { return OK("--project", "shop", "source", "add", folder); }
static yyjson_val *refresh(void) { return OK("--project", "shop", "source", "refresh"); }

static int64_t pieces(void) { return sql_number("SELECT count(*) FROM document WHERE corpus = 'sources'"); }

#define GUIDE "# Install\n\nRun the gobbledock script.\n\n# Remove\n\nDelete the flimflam folder.\n"

TEST(search_results_name_file_and_line) {
  put("docs/guide.md", GUIDE);
  put("docs/deep/notes.txt", "The wombat eats grass.\n");
  yyjson_val *r = add("docs");
  CHECK_INT(jlen(r, "sources"), 1);
  CHECK_INT(jint(r, "sources[0].files"), 2);
  CHECK_INT(jint(r, "sources[0].added"), 3);
  r = find("flimflam");
  CHECK_INT(jlen(r, "results"), 1);
  CHECK_STR(jstr(r, "results[0].headline"), "guide.md: Remove");
  CHECK_STR(jstr(r, "results[0].corpus"), "sources");
  CHECK(str_ends(jstr(r, "results[0].file"), STR("/docs/guide.md")));
  CHECK_INT(jint(r, "results[0].line"), 5);
  r = find("wombat");
  CHECK_STR(jstr(r, "results[0].headline"), "deep/notes.txt");
  /* Chunks of sources are not memories, and other projects do not see them. */
  CHECK_INT(jlen(OK("--project", "shop", "search", "wombat"), "results"), 0);
  CHECK_INT(jlen(OK("--project", "other", "search", "--in", "sources", "wombat"), "results"), 0);
  CHECK_INT(jint(OK("--project", "shop", "list"), "count"), 0);
  CHECK_HEALTHY();
}

TEST(only_changed_files_are_read) {
  put("docs/a.md", "The wombat eats grass.\n");
  put("docs/b.md", "The gobbledock sleeps.\n");
  put("docs/c.md", "The flimflam sings.\n");
  CHECK_INT(proc_run(.argv = ARGS("touch", "-d", "2020-01-01", "docs/a.md", "docs/b.md", "docs/c.md")).exit_code, 0);
  add("docs");
  yyjson_val *r = refresh();
  CHECK_INT(jint(r, "sources[0].read"), 0);
  CHECK_INT(jint(r, "sources[0].added"), 0);
  put("docs/b.md", "The gobbledock dances.\n");
  put("docs/d.md", "The quokka smiles.\n");
  CHECK(unlink(path_join(NULL, "docs/c.md")) == 0);
  int64_t seq = last_seq();
  r = refresh();
  CHECK_INT(jint(r, "sources[0].read"), 2);
  CHECK_INT(jint(r, "sources[0].gone"), 1);
  CHECK_INT(jlen(find("dances"), "results"), 1);
  CHECK_INT(jlen(find("quokka"), "results"), 1);
  CHECK_INT(jlen(find("sleeps"), "results"), 0);
  CHECK_INT(jlen(find("flimflam"), "results"), 0);
  CHECK_INT(jlen(find("wombat"), "results"), 1);
  /* One event per run. */
  struct json_lines events = events_since(seq);
  int writes = 0;
  for (size_t i = 0; i < events.n; i++)
    writes += str_is(jstr(events.v[i], "action"), "memory:write");
  CHECK_INT(writes, 1);
  CHECK_HEALTHY();
}

TEST(a_moved_chunk_is_kept) {
  put("docs/guide.md", GUIDE);
  add("docs");
  int64_t id = jint(find("flimflam"), "results[0].id");
  put("docs/guide.md", "# Before\n\nSomething new.\n\n" GUIDE);
  refresh();
  yyjson_val *r = find("flimflam");
  CHECK_INT(jlen(r, "results"), 1);
  CHECK_INT(jint(r, "results[0].id"), id);
  CHECK_INT(jint(r, "results[0].line"), 9);
}

TEST(the_same_content_is_stored_once) {
  put("docs/a.md", "The wombat eats grass.\n");
  put("docs/b.md", "The wombat eats grass.\n");
  put("more/c.md", "The wombat eats grass.\n");
  CHECK_INT(jint(add("docs"), "sources[0].copies"), 1);
  CHECK_INT(jint(add("more"), "sources[0].copies"), 1);
  CHECK_INT(pieces(), 1);
  yyjson_val *r = find("wombat");
  CHECK_INT(jlen(r, "results"), 1);
  CHECK(str_ends(jstr(r, "results[0].file"), STR("/docs/a.md")));
  /* If the owner of shared content is removed, another file becomes the owner: in the same folder or in another one. */
  CHECK(unlink(path_join(NULL, "docs/a.md")) == 0);
  refresh();
  CHECK_INT(pieces(), 1);
  CHECK(str_ends(jstr(find("wombat"), "results[0].file"), STR("/docs/b.md")));
  put("docs/b.md", "The wombat sleeps.\n");
  OK("--project", "shop", "source", "refresh", "docs");
  CHECK_INT(pieces(), 2);
  CHECK_INT(jlen(find("grass"), "results"), 1);
  CHECK(str_ends(jstr(find("grass"), "results[0].file"), STR("/more/c.md")));
  put("docs/d.md", "The wombat eats grass.\n");
  refresh();
  CHECK_INT(pieces(), 2);
  OK("--project", "shop", "source", "remove", "more");
  CHECK(str_ends(jstr(find("grass"), "results[0].file"), STR("/docs/d.md")));
  CHECK_INT(pieces(), 2);
  yyjson_val *again = refresh();
  CHECK_INT(jint(again, "sources[0].added") + jint(again, "sources[0].removed"), 0);
  CHECK_HEALTHY();
}

TEST(ignored_files_and_secrets_are_not_indexed) {
  put("docs/.gitignore", "secret/\n");
  put("docs/secret/a.md", "The wombat eats grass.\n");
  put("docs/.hidden.md", "The wombat eats grass.\n");
  put("docs/b.md", "first\ntoken: ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8\nThe flimflam sings.\n");
  file_write(path_join(NULL, "docs/c.bin"), STR("wombat\0grass"));
  yyjson_val *r = add("docs");
  CHECK_INT(jint(r, "sources[0].files"), 1);
  CHECK_INT(jint(r, "sources[0].skipped.binary"), 1);
  CHECK_INT(jint(r, "sources[0].redacted"), 1);
  CHECK_INT(jlen(find("wombat"), "results"), 0);
  CHECK_INT(jlen(find("flimflam"), "results"), 1);
  CHECK(!store_holds("ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"));
}

TEST(sources_are_listed_and_removed) {
  put("docs/guide.md", GUIDE);
  put("docs/deep/notes.txt", "The wombat eats grass.\n");
  add("docs/deep");
  add("docs"); /* replaces the nested source */
  yyjson_val *r = OK("--project", "shop", "source", "list");
  CHECK_INT(jint(r, "count"), 1);
  CHECK_INT(jint(r, "sources[0].files"), 2);
  CHECK(jbool(r, "sources[0].there"));
  CHECK(str_ends(jstr(r, "sources[0].folder"), STR("/docs")));
  CHECK_INT(pieces(), 3);
  REFUSED("conflict", "--project", "shop", "source", "add", "docs/deep");
  r = OK("--project", "shop", "source", "remove", "docs");
  CHECK_INT(jint(r, "files"), 2);
  CHECK_INT(jint(r, "removed"), 3);
  CHECK_INT(pieces(), 0);
  CHECK_INT(jint(OK("--project", "shop", "source", "list"), "count"), 0);
  CHECK_INT(jlen(find("wombat"), "results"), 0);
  CHECK(access(path_join(NULL, "docs/guide.md"), F_OK) == 0);
  CHECK_HEALTHY();
}

TEST(a_missing_folder_keeps_its_index) {
  put("docs/guide.md", GUIDE);
  put("more/notes.txt", "The wombat eats grass.\n");
  add("docs");
  add("more");
  CHECK(rename(path_join(NULL, "docs"), path_join(NULL, "away")) == 0);
  put("more/notes.txt", "The quokka smiles.\n");
  yyjson_val *r = refresh();
  CHECK(jget(r, "sources[0].problem"));
  CHECK_INT(jlen(find("flimflam"), "results"), 1);
  CHECK_INT(jlen(find("quokka"), "results"), 1);
  REFUSED("not_found", "--project", "shop", "source", "refresh", path_join(NULL, "docs"));
  OK("--project", "shop", "source", "remove", cstr(jstr(r, "sources[0].folder")));
  CHECK_INT(jlen(find("flimflam"), "results"), 0);
}

TEST(bad_folders) {
  put("file.md", "x");
  put("docs/a.md", "x");
  STORE("The wombat eats grass");
  REFUSED("not_found", "source", "add", "nowhere");
  REFUSED("usage", "source", "add", "file.md");
  REFUSED("not_found", "source", "add", "");
  put("b\xff/c/a.md", "x");
  CHECK(symlink("b\xff/c", path_join(NULL, "link")) == 0);
  REFUSED("usage", "source", "add", "link");
  REFUSED("not_found", "source", "refresh", "docs");
  REFUSED("not_found", "source", "remove", "docs");
  CHECK_INT(jlen(OK("source", "refresh"), "sources"), 0);
}

static const char *name_of(int i) { return textf("w%c%c%cq", 'a' + i / 100, 'a' + i / 10 % 10, 'a' + i % 10); }

/* A few hundred files take more than one transaction. */
TEST(many_files, .seconds = 60) {
  for (int i = 0; i < 600; i++)
    put(textf("docs/%d/f%d.md", i % 7, i), textf("# Chapter\n\nThe wombat called %s eats grass.\n", name_of(i)));
  yyjson_val *r = add("docs");
  CHECK_INT(jint(r, "sources[0].files"), 600);
  CHECK_INT(pieces(), 600);
  CHECK_INT(jlen(find(name_of(599)), "results"), 1);
  CHECK_INT(jlen(find(name_of(0)), "results"), 1);
  CHECK_INT(proc_run(.argv = ARGS("rm", "-r", "docs/0", "docs/1", "docs/2", "docs/3")).exit_code, 0);
  refresh();
  CHECK_INT(pieces(), 600 - 4 * 86);
  CHECK_HEALTHY();
}

/* ---- watched by a server ---- */

/* Polls until the query has results, or has none. The test's time limit is the timeout. */
static void await(const char *query, bool found) {
  while ((jlen(find(query), "results") > 0) != found)
    usleep(50 * 1000);
}

static struct str way(void) { return jstr(OK("--project", "shop", "source", "list"), "sources[0].watch"); }

static void await_way(const char *wanted) {
  while (!str_is(way(), wanted))
    usleep(50 * 1000);
}

static bool has_file(yyjson_val *r, const char *name) {
  return jlen(r, "results") && str_ends(jstr(r, "results[0].file"), str_from(name));
}

TEST(a_server_indexes_changes, .seconds = 120, .slow = true) {
  cli_set("CAIRN_SOURCES_WATCH=on");
  put("docs/guide.md", GUIDE);
  put("docs/old.md", "The wombat eats grass.\n");
  add("docs");
  CHECK_STR(way(), "off");
  put("docs/guide.md", "# Install\n\nRun the thingamajig script, while no server runs.\n");
  struct serve *s = serve_start(NULL);
  await("thingamajig", true);
  await_way("watched");
  put("docs/new.md", "The quokka smiles.\n");
  await("quokka", true);
  put("docs/a/b/c/deep.md", "The platypus swims.\n");
  await("platypus", true);
  put("docs/a/b/c/deep.md", "The echidna digs.\n");
  await("echidna", true);
  await("platypus", false);
  CHECK(unlink(path_join(NULL, "docs/old.md")) == 0);
  await("wombat", false);
  CHECK(rename(path_join(NULL, "docs/new.md"), path_join(NULL, "docs/other.md")) == 0);
  while (!has_file(find("quokka"), "other.md"))
    usleep(50 * 1000);
  serve_stop(s);
  CHECK_STR(way(), "off");
}

/* Number of inotify watches according to /proc. */
static int watches(const struct serve *s) {
  struct run r =
      proc_run(.argv = ARGS("sh", "-c",
                            textf("cat /proc/%d/fdinfo/* 2>/dev/null | grep -c '^inotify wd:'", (int)serve_pid(s))));
  int n = 0;
  for (size_t i = 0; i < r.out.n && r.out.p[i] >= '0' && r.out.p[i] <= '9'; i++)
    n = n * 10 + (r.out.p[i] - '0');
  return n;
}

/* The test's time limit is the timeout. */
static void await_watches(const struct serve *s, int wanted) {
  while (watches(s) != wanted)
    usleep(50 * 1000);
}

TEST(a_folder_that_was_moved_away_is_not_watched, .seconds = 120) {
  const char *folder = path_join(NULL, "docs"), *away = path_join(NULL, "away");
  cli_set("CAIRN_SOURCES_WATCH=on");
  put("docs/guide.md", GUIDE);
  put("docs/inner/deep/more.md", "# More\n");
  add(folder);
  struct serve *s = serve_start(NULL);
  await_way("watched");
  DIR *readable = opendir(textf("/proc/%d/fdinfo", (int)serve_pid(s)));
  if (!readable) { /* fdinfo of a non-dumpable process is readable only by root */
    serve_stop(s);
    return;
  }
  closedir(readable);
  await_watches(s, 3);
  CHECK_INT(rename(path_join(folder, "inner"), away), 0);
  await_watches(s, 1);
  CHECK_INT(rename(away, path_join(folder, "inner")), 0);
  await_watches(s, 3);
  serve_stop(s);
}

TEST(sources_can_be_added_and_removed_while_a_server_runs, .seconds = 120, .slow = true) {
  cli_set("CAIRN_SOURCES_WATCH=on");
  put("docs/guide.md", GUIDE);
  add("docs");
  struct serve *first = serve_start(NULL), *second = serve_start(NULL);
  await_way("watched");
  put("docs/new.md", "The quokka smiles.\n");
  await("quokka", true);
  OK("--project", "shop", "source", "remove", "docs");
  while (has(file_read(textf("%s/default/.sources.json", cli_side(".files"))), "/docs"))
    usleep(50 * 1000);
  put("docs/later.md", "The platypus swims.\n");
  add("docs");
  await("platypus", true);
  serve_stop(first);
  await_way("watched"); /* by the second server */
  put("docs/last.md", "The echidna digs.\n");
  await("echidna", true);
  serve_stop(second);
}

/* An unmounted disk leaves an empty folder. */
TEST(a_server_keeps_the_index_of_an_empty_folder, .seconds = 120) {
  cli_set("CAIRN_SOURCES_WATCH=on");
  put("docs/guide.md", GUIDE);
  add("docs");
  struct serve *s = serve_start(NULL);
  await_way("watched");
  CHECK(rename(path_join(NULL, "docs/guide.md"), path_join(NULL, "guide.md")) == 0);
  await_way("empty");
  CHECK_INT(jlen(find("flimflam"), "results"), 1);
  serve_stop(s);
}

TEST(a_server_reports_a_source_it_may_not_read, .seconds = 120, .slow = true) {
  const char *outside = textf("%s-outside", test_dir());
  cli_set("CAIRN_SOURCES_WATCH=on");
  CHECK(mkdir(outside, 0700) == 0);
  file_write(path_join(outside, "guide.md"), STR(GUIDE));
  struct serve *s = serve_start(NULL);
  add(outside);
  while (str_is(way(), "off"))
    usleep(50 * 1000);
  struct str how = way();
  CHECK(str_is(how, "closed") || str_is(how, "watched")); /* without Landlock nothing is closed */
  CHECK_INT(jlen(find("flimflam"), "results"), 1);
  serve_stop(s);
  s = serve_start(NULL);
  await_way("watched");
  serve_stop(s);
  CHECK(unlink(path_join(outside, "guide.md")) == 0 && rmdir(outside) == 0);
}

TEST(watching_can_be_disabled, .seconds = 60) {
  put("docs/guide.md", GUIDE);
  add("docs");
  OK("config", "sources.watch", "off");
  struct serve *s = serve_start(NULL);
  CHECK_STR(way(), "off");
  serve_stop(s);
  REFUSED("usage", "config", "sources.watch", "perhaps");
}
