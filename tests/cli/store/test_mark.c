/* test_mark.c: transactions that were acknowledged and are missing from the file are counted, from the mark beside it;
 * nothing else raises an alarm. */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/serve.h"

static const char *log_file(void) { return textf("%s-wal", cli_db()); }
static const char *mark_file(void) { return textf("%s-mark", cli_db()); }

static void write_memories(int n) {
  static int number;
  for (int i = 0; i < n; i++, number++)
    OK("--quiet", "remember", textf("Crane %d of the harbour lifts %d containers", number, 7 * number + 3));
}

/* Doctor's message about missing transactions; "fine" if there are none. The warning of other commands agrees. */
static void missing(int n) {
  struct run r = CAIRN("doctor", "--json");
  size_t i, count;
  yyjson_val *c, *found = NULL;
  yyjson_arr_foreach(jget(lines_of(r.out).v[0], "checks"), i, count, c)
    if (str_is(jstr(c, "name"), "transactions"))
      found = c;
  CHECK(found);
  const char *text = textf("%d committed transaction%s missing", n, n == 1 ? " is" : "s are");
  if (n ? !has(jstr(found, "message"), text) : !str_is(jstr(found, "message"), "fine"))
    FAIL("%.*s, not %d", STR_ARG(jstr(found, "message")), n);
  CHECK_INT(r.exit_code, n ? 11 : 0);
  r = CAIRN("list");
  CHECK_INT(r.exit_code, 0);
  CHECK(n ? has(r.err, text) : r.err.n == 0);
  CHECK_INT(CAIRN("health").exit_code, n ? 11 : 0);
}

static const char json[] = "Content-Type: application/json\r\n";

/* A server that dies with everything in its log. Its last transactions start a session, which the mark does not count.
 */
static void write_and_die(int n) {
  struct serve *s = serve_start(NULL);
  for (int i = 0; i < n; i++)
    CHECK_INT(serve_do(s, "POST", "/api/v1/memories", json,
                       str_from(textf("{\"text\":\"Ferry %d leaves at %d o'clock\"}", i, i + 5)))
                  .status,
              201);
  CHECK_INT(serve_do(s, "POST", "/api/v1/sessions", json, STR("{}")).status, 200);
  kill(serve_pid(s), SIGKILL);
  siginfo_t end;
  CHECK_INT(waitid(P_PID, (id_t)serve_pid(s), &end, WEXITED | WNOWAIT), 0);
}

static void copy_file(const char *from, const char *to) {
  file_write(to, file_read(from));
  CHECK_INT(chmod(to, 0600), 0);
}

TEST(a_lost_log_is_noticed, .only = TEST_ON_SQLITE, .seconds = 60) {
  write_memories(2);
  write_and_die(5);
  copy_file(log_file(), path_join(NULL, "saved-wal"));
  CHECK_INT(unlink(log_file()), 0);
  missing(5);
  CHECK_INT(CAIRN("boot", "--register", "--project", "harbour").exit_code, 0);
  CHECK_INT(CAIRN("token", "add", "someone").exit_code, 0);
  missing(5); /* until it is accepted */
  CHECK_INT(jint(OK("--quiet", "list"), "count"), 2);
  write_memories(7); /* their numbers reach and pass the lost ones */
  missing(5);
  CHECK_INT(CAIRN("doctor", "--repair").exit_code, 0);
  missing(0);
}

TEST(the_lost_log_of_a_new_store_is_noticed, .only = TEST_ON_SQLITE, .seconds = 60) {
  write_and_die(3);
  CHECK_INT(unlink(log_file()), 0);
  missing(3);
}

TEST(the_log_of_another_store_is_refused, .only = TEST_ON_SQLITE, .seconds = 60) {
  const char *here = cli_db(), *other = test_store_new("other.db");
  write_memories(2);
  write_and_die(2);
  copy_file(log_file(), path_join(NULL, "own-wal"));
  cli_set(textf("CAIRN_DB=%s", other));
  write_memories(1);
  write_and_die(4);
  copy_file(textf("%s-wal", other), textf("%s-wal", here));
  cli_set(textf("CAIRN_DB=%s", here));
  struct str before = file_read(here);
  static const char *const commands[] = {"list", "doctor", "maintain", "boot"};
  for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
    struct run r = CAIRN(commands[i]);
    CHECK_INT(r.exit_code, 9);
    CHECK(has(r.err, "is not the log of this store"));
  }
  CHECK(str_eq(file_read(here), before));
  CHECK_INT(rename(path_join(NULL, "own-wal"), log_file()), 0);
  missing(0);
  CHECK_INT(jint(OK("--quiet", "list"), "count"), 4);
}

TEST(a_truncated_log_is_noticed, .only = TEST_ON_SQLITE, .seconds = 60) {
  write_memories(1);
  write_and_die(4);
  CHECK_INT(truncate(log_file(), 32), 0);
  missing(4);
}

TEST(a_server_says_that_its_log_was_lost, .only = TEST_ON_SQLITE, .seconds = 60) {
  write_memories(1);
  write_and_die(3);
  CHECK_INT(unlink(log_file()), 0);
  struct serve *s = serve_start(NULL);
  CHECK_INT(serve_get(s, "/readyz").status, 200);
  CHECK(has(serve_end(s), "3 committed transactions are missing"));
}

TEST(an_older_copy_is_noticed, .only = TEST_ON_SQLITE) {
  const char *copy = path_join(NULL, "copy.db");
  write_memories(2);
  copy_file(cli_db(), copy);
  write_memories(3);
  CHECK_INT(rename(copy, cli_db()), 0);
  missing(3);
  CHECK_INT(jint(OK("--quiet", "list"), "count"), 2);
}

TEST(an_older_backup_put_in_place_by_hand_is_noticed, .only = TEST_ON_SQLITE) {
  const char *backup = path_join(NULL, "backup.db");
  write_memories(1);
  OK("backup", backup);
  write_memories(1);
  CHECK_INT(rename(backup, cli_db()), 0);
  missing(1);
  write_memories(1); /* takes the number of the lost one */
  missing(1);
}

TEST(a_restore_is_no_loss, .only = TEST_ON_SQLITE, .seconds = 60) {
  const char *backup = path_join(NULL, "backup.db");
  write_memories(1);
  OK("backup", backup);
  write_memories(4);
  OK("--quiet", "restore", backup, "--confirm");
  missing(0);
  write_memories(1);
  missing(0);
  OK("token", "add", "laptop"); /* with a token the restore takes another path */
  OK("backup", path_join(NULL, "second.db"));
  write_memories(3);
  OK("--quiet", "restore", path_join(NULL, "second.db"), "--confirm");
  missing(0);
  /* The restored content is protected from its first moment. */
  copy_file(cli_db(), path_join(NULL, "copy.db"));
  write_memories(2);
  CHECK_INT(rename(path_join(NULL, "copy.db"), cli_db()), 0);
  missing(2);
  OK("--quiet", "restore", path_join(NULL, "second.db"), "--confirm");
  missing(0);
}

TEST(a_killed_process_is_no_loss, .only = TEST_ON_SQLITE, .seconds = 60) {
  write_and_die(5);
  missing(0);
  CHECK_INT(jint(OK("--quiet", "list"), "count"), 5);
}

TEST(a_copy_of_the_store_is_no_loss, .only = TEST_ON_SQLITE, .seconds = 60) {
  const char *from = cli_db(), *bare = path_join(NULL, "bare.db"), *whole = path_join(NULL, "whole.db");
  write_memories(3);
  copy_file(from, bare);
  copy_file(from, whole);
  copy_file(mark_file(), textf("%s-mark", whole));
  const char *const copies[] = {bare, whole};
  for (size_t i = 0; i < 2; i++) {
    cli_set(textf("CAIRN_DB=%s", copies[i]));
    missing(0);
    write_memories(1);
    missing(0);
  }
}

TEST(a_file_that_replaces_another_store_is_no_loss, .only = TEST_ON_SQLITE, .seconds = 60) {
  const char *backup = path_join(NULL, "backup.db");
  write_memories(1);
  OK("backup", backup);
  /* A backup that was used as a store, and is then written again. */
  const char *store = cli_db();
  cli_set(textf("CAIRN_DB=%s", backup));
  write_memories(3);
  cli_set(textf("CAIRN_DB=%s", store));
  CHECK_INT(unlink(backup), 0);
  OK("backup", backup);
  cli_set(textf("CAIRN_DB=%s", backup));
  missing(0);
  /* A new store at the place of a deleted one. */
  cli_set(textf("CAIRN_DB=%s", store));
  CHECK_INT(unlink(store), 0);
  write_memories(1);
  missing(0);
  /* The target of a migration, after a deleted one. */
  const char *target = path_join(NULL, "target.db");
  OK("migrate", "--to", target);
  cli_set(textf("CAIRN_DB=%s", target));
  write_memories(5);
  cli_set(textf("CAIRN_DB=%s", store));
  CHECK_INT(unlink(target), 0);
  OK("migrate", "--to", target);
  cli_set(textf("CAIRN_DB=%s", target));
  missing(0);
}

TEST(a_damaged_mark_says_nothing, .only = TEST_ON_SQLITE, .seconds = 60) {
  write_memories(2);
  struct str mark = file_read(mark_file());
  CHECK(mark.n > 0 && mark.n <= 512); /* one sector */
  struct stat st;
  CHECK(stat(mark_file(), &st) == 0 && (st.st_mode & 077) == 0);
  for (size_t i = 0; i < mark.n; i += 7) {
    char *bytes = (char *)(uintptr_t)cstr(mark);
    bytes[i] = bytes[i] == '9' ? '8' : '9';
    file_write(mark_file(), (struct str){bytes, mark.n});
    CHECK_INT(CAIRN("doctor").exit_code, 0);
  }
  file_write(mark_file(), str_slice(mark, 0, mark.n / 2));
  missing(0);
  write_memories(1);
  CHECK_INT((int64_t)file_read(mark_file()).n, (int64_t)mark.n);
}

/* Both names lead to one log, so there is one mark. */
TEST(a_store_behind_a_link_has_one_mark, .only = TEST_ON_SQLITE, .seconds = 60) {
  const char *store = cli_db(), *copy = path_join(NULL, "copy.db"), *link = path_join(NULL, "link.db");
  write_memories(1);
  copy_file(store, copy);
  CHECK_INT(symlink(store, link), 0);
  cli_set(textf("CAIRN_DB=%s", link));
  write_memories(2);
  missing(0);
  CHECK(access(textf("%s-mark", link), F_OK) != 0);
  cli_set(textf("CAIRN_DB=%s", store));
  CHECK_INT(rename(copy, store), 0);
  missing(2);
  cli_set(textf("CAIRN_DB=%s", link));
  missing(2);
}

/* Something else at its place is no mark, and nothing waits for it. */
TEST(a_pipe_in_place_of_the_mark_is_ignored, .only = TEST_ON_SQLITE) {
  write_memories(1);
  CHECK(unlink(mark_file()) == 0 && mkfifo(mark_file(), 0600) == 0);
  write_memories(1);
  missing(0);
}

/* Marks of several writers: none claims more than the store has. */
TEST(writers_at_the_same_time_cause_no_alarm, .only = TEST_ON_SQLITE, .seconds = 90) {
  struct proc *p[4];
  write_memories(1);
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 4; i++)
      p[i] = proc_start(.argv = ARGS(CAIRN_BIN, "remember", textf("Pier %d has %d lamps", i, 10 * round + i)),
                        .env = cli_env());
    struct run during = CAIRN("doctor");
    test_note("%.*s", STR_ARG(during.out));
    CHECK_INT(during.exit_code, 0);
    for (int i = 0; i < 4; i++)
      CHECK_INT(proc_wait(p[i]).exit_code, 0);
    CHECK_INT(CAIRN("doctor").exit_code, 0);
  }
}
