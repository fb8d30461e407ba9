/* test_owner.c: files that Cairn keeps belong to one store, team and project; none is written by another. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "support/cli.h"

static void make_folder(const char *path) {
  struct error err;
  CHECK_OK(fs_mkdirs(path, &err), &err);
}

static const char *say(const char *project, const char *text) {
  return cstr(jstr(OK("--project", project, "transcript", "append", "talk", "--content", text), "path"));
}

static struct str heard(const char *project) {
  yyjson_val *r = OK("--project", project, "transcript", "read", "talk");
  CHECK_INT(jint(r, "count"), 1);
  return jstr(r, "messages[0].content");
}

/* A store that was made on another day. */
static void use_other_store(void) {
  cli_day(3);
  cli_set(textf("CAIRN_DB=%s", test_store_new("other.db")));
  OK("stats");
}

/* ---- transcripts ---- */

TEST(an_absolute_folder_of_transcripts_keeps_teams_and_projects_apart) {
  cli_set(textf("CAIRN_FILES_SESSIONS_PATH=%s/", path_join(NULL, "talks")));
  const char *web = say("web", "of web"), *shop = say("shop", "of shop"), *global = say("", "of nobody");
  CHECK_STR(str_from(web), path_join(NULL, "talks/default/web/talk.jsonl"));
  CHECK(strcmp(web, shop) != 0 && strcmp(web, global) != 0);
  cli_set("CAIRN_TEAM=blue");
  REFUSED("not_found", "--project", "web", "transcript", "read", "talk");
  CHECK_STR(str_from(say("web", "of the blue team")), path_join(NULL, "talks/blue/web/talk.jsonl"));
  cli_set("CAIRN_TEAM");
  CHECK_STR(heard("web"), "of web");
  CHECK_STR(heard("shop"), "of shop");
  CHECK_STR(heard(""), "of nobody");
  /* A backup has all of them. */
  yyjson_val *r = OK("backup", path_join(NULL, "copy.db"));
  CHECK_INT(jint(r, "transcripts.sessions"), 4);
}

TEST(two_project_names_never_share_a_folder) {
  static const char *const names[] = {"a/b",    "a-b-0468cf61", "a%2Fb", "a-b",  "A-B", "admin",
                                      "%admin", ".x",           "x",     "a\\b", "",    "a-b-0468cf6"};
  const char *paths[ARRAY_LEN(names)];
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    paths[i] = say(names[i], names[i][0] ? names[i] : "nobody");
    for (size_t k = 0; k < i; k++)
      if (strcasecmp(paths[i], paths[k]) == 0)
        FAIL("'%s' and '%s' share %s", names[i], names[k], paths[i]);
  }
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    CHECK_STR(heard(names[i]), names[i][0] ? names[i] : "nobody");
}

#define OLD_LINE                                                                                                       \
  "{\"id\":\"msg_1\",\"role\":\"user\",\"content\":\"said long ago\",\"timestamp\":\"2026-02-05T10:00:00Z\"}\n"

TEST(a_folder_of_0_1_0_is_found_under_its_old_name) {
  const char *old = path_join(cli_side(".files"), "default/a-b-0468cf61/sessions");
  make_folder(old);
  file_write(path_join(old, "talk.jsonl"), STR(OLD_LINE));
  CHECK_STR(heard("a/b"), "said long ago");
  /* It stays in use; the project with that very name gets a folder of its own. */
  CHECK_STR(str_from(say("a/b", "said today")), path_join(old, "talk.jsonl"));
  CHECK(strcmp(say("a-b-0468cf61", "said by another"), path_join(old, "talk.jsonl")) != 0);
  CHECK_STR(heard("a-b-0468cf61"), "said by another");
  CHECK_INT(jint(OK("--project", "a/b", "transcript", "read", "talk"), "count"), 2);
}

TEST(a_shared_folder_of_0_1_0_goes_to_the_first_that_writes) {
  const char *talks = path_join(NULL, "talks");
  make_folder(talks);
  file_write(path_join(talks, "talk.jsonl"), STR(OLD_LINE));
  file_write(path_join(talks, "sessions.json"), STR("{\"version\":1,\"sessions\":[]}"));
  cli_set(textf("CAIRN_FILES_SESSIONS_PATH=%s", talks));
  CHECK_STR(heard("web"), "said long ago");
  CHECK_STR(heard("shop"), "said long ago");
  CHECK_STR(str_from(say("web", "said today")), path_join(talks, "talk.jsonl"));
  REFUSED("not_found", "--project", "shop", "transcript", "read", "talk");
  say("shop", "of shop");
  CHECK_STR(heard("shop"), "of shop");
  CHECK_INT(jint(OK("--project", "web", "transcript", "read", "talk"), "count"), 2);
  CHECK_INT(jint(OK("backup", path_join(NULL, "copy.db")), "transcripts.sessions"), 2);
  /* Another team never reads it. */
  cli_set("CAIRN_TEAM=blue");
  REFUSED("not_found", "--project", "web", "transcript", "read", "talk");
}

TEST(another_store_does_not_write_into_the_folders_of_this_one) {
  cli_set(textf("CAIRN_FILES_ROOT=%s", path_join(NULL, "files")));
  const char *path = say("web", "of the first store");
  struct str before = file_read(path);
  OK("--project", "web", "sync");
  use_other_store();
  REFUSED("conflict", "--project", "web", "transcript", "append", "talk", "--content", "of the other store");
  REFUSED("conflict", "--project", "web", "task", "sync");
  REFUSED("conflict", "--project", "web", "sync");
  CHECK(str_eq(file_read(path), before));
}

TEST(another_store_does_not_archive_back_up_or_delete_the_files_of_this_one) {
  cli_set(textf("CAIRN_FILES_ROOT=%s", path_join(NULL, "files")));
  cli_set("CAIRN_TEAM=blue");
  const char *path = say("web", "of the first store");
  use_other_store();
  STORE("--project", "shop", "The shop sells paint.");
  say("shop", "of the other store");
  cli_day(90);
  yyjson_val *r = OK("maintain");
  CHECK_INT(jint(r, "transcripts"), 1);
  CHECK(access(path, F_OK) == 0);
  CHECK_INT(jint(OK("backup", path_join(NULL, "copy.db")), "transcripts.sessions"), 1);
  cli_set("CAIRN_TEAM");
  r = OK("team", "delete", "blue", "--confirm", "blue");
  CHECK(jhas_str(r, "files_left", path_join(NULL, "files/blue/web")));
  CHECK(access(path, F_OK) == 0 && access(path_join(NULL, "files/blue/shop"), F_OK) != 0);
}

static void check_restore_into_another_store(const char *copy, const char *page) {
  OK("--project", "web", "transcript", "append", "other", "--content", "of the replaced store");
  STORE("--project", "web", "The shop sells paint.");
  OK("--project", "web", "sync", "--path", page);
  OK("--project", "web", "task", "sync");
  OK("restore", copy, "--confirm");
  CHECK_INT(jint(OK("--project", "web", "transcript", "read", "other"), "count"), 1);
  say("web", "after the restore");
  OK("--project", "web", "task", "sync");
  CHECK_INT(jlen(OK("--project", "web", "sync", "--path", page), "added"), 1);
  CHECK(!jbool(OK("--project", "web", "sync", "--path", page), "written"));
}

TEST(a_restored_store_owns_the_files_of_the_one_that_it_replaced, .seconds = 60) {
  const char *plain = path_join(NULL, "plain.db"), *with_token = path_join(NULL, "token.db");
  say("web", "before the backup");
  OK("backup", plain);
  OK("token", "add", "laptop", "--project", "web"); /* the restore revokes it in a copy */
  OK("backup", with_token);
  use_other_store();
  check_restore_into_another_store(plain, path_join(NULL, "MEMORY.md"));
  cli_day(6);
  cli_set(textf("CAIRN_DB=%s", test_store_new("third.db")));
  OK("stats");
  check_restore_into_another_store(with_token, path_join(NULL, "NOTES.md"));
}

/* ---- MEMORY.md and tasks.json ---- */

TEST(a_page_of_another_store_is_refused_unless_it_is_adopted) {
  const char *page = path_join(NULL, "MEMORY.md");
  STORE("--project", "web", "Sessions live in Redis.");
  OK("--project", "web", "sync", "--path", page);
  struct str before = file_read(page);
  use_other_store();
  STORE("--project", "web", "The shop sells paint.");
  yyjson_val *r = REFUSED("conflict", "--project", "web", "sync", "--path", page);
  CHECK(has(jstr(r, "message"), "another store"));
  CHECK(str_eq(file_read(page), before));
  r = OK("--project", "web", "sync", "--path", page, "--adopt");
  CHECK_INT(jlen(r, "added"), 1);
  CHECK_INT(jlen(r, "removed"), 0);
  CHECK(has(file_read(page), "Sessions live in Redis.") && has(file_read(page), "The shop sells paint."));
  CHECK(!jbool(OK("--project", "web", "sync"), "written"));
}

TEST(a_page_of_0_1_0_names_no_store_and_is_taken) {
  const char *page = path_join(NULL, "MEMORY.md");
  file_write(page, STR("# Mine\n\n- The roof leaks.\n\n<!-- cairn:page default/web -->\n"));
  OK("stats");
  CHECK_INT(jlen(OK("--project", "web", "sync", "--path", page), "added"), 1);
  CHECK(has(file_read(page), "<!-- cairn:page default/web@"));
}

TEST(a_tasks_json_of_another_project_or_store_is_refused) {
  const char *file = path_join(NULL, "tasks.json");
  file_write(file, STR("{\"tasks\":[{\"id\":\"T1\",\"description\":\"Paint the fence\"}]}\n"));
  OK("--project", "web", "task", "sync", file);
  struct str before = file_read(file);
  CHECK(has(before, "\"cairn\": \"default/web@"));
  yyjson_val *r = REFUSED("conflict", "--project", "shop", "task", "sync", file);
  CHECK(has(jstr(r, "message"), "default/web, not to default/shop"));
  use_other_store();
  REFUSED("conflict", "--project", "web", "task", "sync", file);
  CHECK(str_eq(file_read(file), before));
}

/* ---- links ---- */

TEST(sync_does_not_follow_a_link_out_of_the_repository) {
  const char *repo = path_join(NULL, "repo"), *page = path_join(repo, "MEMORY.md"), *rc = path_join(NULL, ".bashrc");
  make_folder(path_join(repo, ".git"));
  make_folder(path_join(repo, "docs"));
  file_write(rc, STR("export PATH\n- alias ll=ls\n"));
  CHECK_INT(symlink("../.bashrc", page), 0);
  OK("stats");
  struct str before = file_read(rc);
  REFUSED("conflict", "--project", "web", "sync", "--path", page, "--adopt");
  CHECK(str_eq(file_read(rc), before));
  /* Nor to a Markdown file elsewhere, nor through a folder. */
  const char *notes = path_join(NULL, "notes.md");
  file_write(notes, STR("- My diary.\n"));
  CHECK(unlink(page) == 0 && symlink("../notes.md", page) == 0);
  REFUSED("conflict", "--project", "web", "sync", "--path", page, "--adopt");
  CHECK(symlink("..", path_join(repo, "out")) == 0);
  REFUSED("conflict", "--project", "web", "sync", "--path", path_join(repo, "out/notes.md"), "--adopt");
  CHECK_STR(file_read(notes), "- My diary.\n");
  /* Nor to a file that does not exist yet. */
  REFUSED("conflict", "--project", "web", "sync", "--path", path_join(repo, "out/new.md"));
  CHECK(access(path_join(NULL, "new.md"), F_OK) != 0);
  CHECK(unlink(page) == 0 && symlink("../new.md", page) == 0);
  yyjson_val *r = REFUSED("conflict", "--project", "web", "sync", "--path", page);
  CHECK(has(jstr(r, "message"), "a link to a file that does not exist"));
  CHECK(access(path_join(NULL, "new.md"), F_OK) != 0);
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 0);
  /* A link inside of the repository is kept and followed. */
  file_write(path_join(repo, "docs/guide.md"), STR("- Tabs are four wide.\n"));
  CHECK(unlink(page) == 0 && symlink("docs/guide.md", page) == 0);
  OK("--project", "web", "sync", "--path", page, "--adopt");
  struct stat st;
  CHECK(lstat(page, &st) == 0 && S_ISLNK(st.st_mode));
  CHECK(has(file_read(path_join(repo, "docs/guide.md")), "- Tabs are four wide. <!--#"));
}

TEST(sync_writes_a_file_outside_of_the_repository_that_a_person_names) {
  const char *repo = path_join(NULL, "repo"), *notes = path_join(NULL, "notes.md");
  make_folder(path_join(repo, ".git"));
  make_folder(path_join(repo, "docs"));
  file_write(notes, STR("- Tabs are four wide.\n"));
  OK("stats");
  struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "--project", "web", "sync", "--path", "../../notes.md", "--adopt"),
                          .dir = path_join(repo, "docs"), .env = cli_env());
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, notes));
  CHECK(has(file_read(notes), "- Tabs are four wide. <!--#"));
}

TEST(sync_in_a_repository_offers_its_own_file) {
  const char *repo = path_join(NULL, "shop");
  make_folder(path_join(repo, ".git/objects"));
  make_folder(path_join(repo, ".git/refs"));
  make_folder(path_join(repo, "src"));
  file_write(path_join(repo, ".git/HEAD"), STR("ref: refs/heads/main\n"));
  STORE("--project", "shop", "The shop sells paint.");
  struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "sync"), .dir = path_join(repo, "src"), .env = cli_env());
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, textf("cairn sync --path %s/MEMORY.md", repo)));
  CHECK(access(path_join(repo, "MEMORY.md"), F_OK) != 0);
  OK("--project", "shop", "sync", "--path", path_join(repo, "MEMORY.md"));
  r = proc_run(.argv = ARGS(CAIRN_BIN, "sync"), .dir = repo, .env = cli_env());
  CHECK(!has(r.out, "--path") && has(r.out, textf("%s/MEMORY.md", repo)));
  /* Elsewhere there is nothing to offer. */
  CHECK(!jget(OK("--project", "other", "sync"), "offer"));
}
