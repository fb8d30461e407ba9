/* test_teams.c: the operator's view of teams, and deleting one: all its data is removed, nothing else, and a receipt
 * stays. */
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/schema/tables.h"
#include "support/cli.h"

#define MARK "zorilla"

/* Creates a team with data everywhere that the command line can put some. */
static void populate(const char *team, const char *word) {
  cli_set(textf("CAIRN_TEAM=%s", team));
  STORE("--key", "pump", textf("The %s pump runs at four bar", word));
  OK("supersede", "pump", textf("The %s pump runs at five bar", word), "--reason", textf("%s was measured", word));
  OK("remember", textf("The %s valve is blue", word), "--tag", word, "--person", word);
  OK("annotate", "pump", textf("A %s note", word));
  ADD_TASK(textf("Order a %s gasket", word));
  OK("undo", num(jint(OK("remember", textf("A %s mistake", word)), "txn")));
  OK("purge", num(STORE(textf("A %s secret", word))), "--confirm");
  OK("config", "sessions.indexed", "on");
  OK("vault", "set", "last", word);
  OK("agent", "add", "helper", "--role", "admin", "--note", word);
  OK("file", "create", "/memories/notes.md", textf("The %s file", word));
  OK("boot", "--register");
  OK("action", "add", textf("Answer the %s question", word));
  OK("session", "handoff", textf("The %s is half done", word));
  OK("search", textf("%s pump", word));
  OK("transcript", "append", "talk", "--content", textf("We spoke of the %s", word));
  OK("transcript", "index");
  OK("sync", "--project", "web", "--path", path_join(NULL, textf("%s-MEMORY.md", team)));
  cli_set("CAIRN_TEAM");
}

static int64_t rows_of(const char *team) {
  int64_t n = 0;
  for (const struct store_table *t = store_tables; t->name; t++)
    if (t->way != TABLE_VECTORS && strcmp(t->name, "team_removal") != 0)
      n += sql_number(textf("SELECT count(*) FROM %s WHERE team = '%s'", t->name, team));
  return n;
}

static const char *folder_of(const char *team) { return textf("%s/%s", cli_side(".files"), team); }
static bool is_there(const char *path) { return access(path, F_OK) == 0; }

TEST(teams_are_listed_with_their_counts) {
  populate("alpha", MARK);
  cli_set("CAIRN_TEAM=beta");
  STORE("The marten pump runs at one bar");
  cli_set("CAIRN_TEAM");
  yyjson_val *r = OK("team", "list");
  CHECK_INT(jint(r, "count"), 2);
  CHECK_STR(jstr(r, "teams[0].team"), "alpha");
  CHECK_STR(jstr(r, "teams[1].team"), "beta");
  CHECK_INT(jint(r, "teams[1].memories"), 1);
  CHECK_STR(jstr(r, "teams[1].changed_at"), cli_time(0));
  CHECK_INT(jint(OK("team", "list", "--removed"), "count"), 0);
}

TEST(a_deleted_team_is_removed_everywhere, .seconds = 60) {
  populate("alpha", MARK);
  populate("beta", "marten");
  const char *page = path_join(NULL, "alpha-MEMORY.md");
  cli_set("CAIRN_TEAM=beta");
  struct str kept = CAIRN("export").out;
  cli_set("CAIRN_TEAM");
  int64_t others = rows_of("beta");
  CHECK(rows_of("alpha") > 40 && store_holds(MARK) && is_there(folder_of("alpha")) && is_there(page));

  yyjson_val *e = REFUSED("confirm", "team", "delete", "alpha");
  CHECK(has(json_str(e, "message"), "alpha") && has(json_str(e, "message"), ", memory "));
  CHECK(has(json_str(e, "fix"), "--confirm alpha"));
  REFUSED("confirm", "team", "delete", "alpha", "--confirm", "beta");

  yyjson_val *r = OK("team", "delete", "alpha", "--confirm", "alpha");
  CHECK_STR(jstr(r, "team"), "alpha");
  CHECK(jint(r, "rows.memory") >= 5 && jint(r, "rows.event") > 0 && jint(r, "files_removed") >= 1);
  CHECK(jhas_str(r, "files_left", page) && is_there(page));
  CHECK_INT(rows_of("alpha"), 0);
  CHECK_INT(sql_number("SELECT count(*) FROM chunk_count WHERE team = 'alpha'"), 0);
  CHECK(!is_there(folder_of("alpha")) && is_there(folder_of("beta")));
  CHECK(!store_holds(MARK)); /* not in free pages, the write-ahead log or an index either */

  CHECK_INT(rows_of("beta"), others);
  cli_set("CAIRN_TEAM=beta");
  CHECK_STR(CAIRN("export").out, cstr(kept));
  CHECK_INT(jlen(OK("search", "pump at five bar"), "results") > 0, 1);
  cli_set("CAIRN_TEAM");
  CHECK_HEALTHY();

  r = OK("team", "list", "--removed");
  CHECK_INT(jint(r, "count"), 1);
  CHECK_STR(jstr(r, "removed[0].team"), "alpha");
  CHECK_STR(jstr(r, "removed[0].by"), "cli");
  CHECK(jint(r, "removed[0].rows.memory") >= 5);
  REFUSED("not_found", "team", "delete", "alpha", "--confirm", "alpha");
  /* The event log is still protected, and the name can be reused. */
  CHECK(!sql_try("DELETE FROM event WHERE team = 'beta'") && !sql_try("DELETE FROM txn WHERE team = 'beta'"));
  cli_set("CAIRN_TEAM=alpha");
  STORE("--key", "pump", "A new beginning");
}

TEST(the_current_team_can_be_deleted) {
  STORE("The " MARK " pump runs at four bar");
  OK("search", MARK " pump");
  OK("team", "delete", "default", "--confirm", "default");
  CHECK_INT(rows_of("default"), 0);
  CHECK(!store_holds(MARK));
}

TEST(backups_that_still_contain_the_team_are_listed) {
  cli_set("CAIRN_TEAM=beta");
  STORE("The marten pump runs at one bar");
  OK("backup");
  cli_day(1);
  cli_set("CAIRN_TEAM=alpha");
  STORE("The " MARK " pump runs at four bar");
  struct str second = jstr(OK("backup"), "file");
  yyjson_val *r = OK("team", "delete", "alpha", "--confirm", "alpha");
  CHECK_INT(jlen(r, "backups"), 1);
  CHECK_STR(jstr(r, "backups[0]"), cstr(second));
}

TEST(only_a_person_deletes_a_team) {
  STORE("The " MARK " pump runs at four bar");
  OK("agent", "add", "planner", "--role", "admin");
  REFUSED("usage", "team", "delete", "../default", "--confirm", "../default");
  cli_set("CAIRN_AGENT=planner");
  struct run r = CAIRN("--json", "team", "delete", "default", "--confirm", "default");
  CHECK(has(r.out, "\"code\":\"denied\""));
  CHECK(has(CAIRN("--json", "team", "list").out, "\"code\":\"denied\""));
  cli_set("CAIRN_AGENT");
  CHECK_INT(jlen(OK("search", MARK " pump"), "results"), 1);
}

/* Symlinks in the team's folder are removed, but not their targets. */
TEST(nothing_outside_the_folder_of_the_team_is_removed) {
  cli_set("CAIRN_TEAM=alpha");
  OK("transcript", "append", "talk", "--content", "We spoke");
  const char *outside = path_join(NULL, "outside");
  CHECK(mkdir(outside, 0700) == 0);
  file_write(path_join(outside, "mine.txt"), STR("mine"));
  CHECK(symlink(outside, textf("%s/link", folder_of("alpha"))) == 0);
  CHECK(symlink(path_join(outside, "mine.txt"), textf("%s/file-link", folder_of("alpha"))) == 0);
  OK("team", "delete", "alpha", "--confirm", "alpha");
  CHECK(!is_there(folder_of("alpha")));
  CHECK_STR(file_read(path_join(outside, "mine.txt")), "mine");
}

/* All rows are deleted or none, and repeating the call finishes the job. */
TEST(a_killed_deletion_is_atomic, .seconds = 120, .slow = true) {
  for (int us = 0; us < 96000; us += 6000) {
    cli_set("CAIRN_TEAM=alpha");
    for (int i = 0; i < 3; i++)
      CAIRN("remember", textf("The " MARK " number %d at %d is counted", i, us));
    cli_set("CAIRN_TEAM");
    int64_t before = rows_of("alpha");
    struct proc *p =
        proc_start(.argv = ARGS(CAIRN_BIN, "team", "delete", "alpha", "--confirm", "alpha"), .env = cli_env());
    struct timespec wait = {0, us * 1000L};
    nanosleep(&wait, NULL);
    proc_kill(p, SIGKILL);
    proc_wait(p);
    int64_t after = rows_of("alpha");
    test_note("%d us: %lld of %lld", us, (long long)after, (long long)before);
    CHECK(after == 0 || after == before);
  }
  CHECK_HEALTHY();
  cli_set("CAIRN_TEAM=alpha");
  STORE("The " MARK " is there once more");
  OK("team", "delete", "alpha", "--confirm", "alpha");
  CHECK_INT(rows_of("alpha"), 0);
  CHECK(!store_holds(MARK));
}
