/* torture.c: starts and kills the workers, and checks afterwards that every promise was kept. */
#include "support/torture.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"
#include "support/torture_worker.h"

enum { WORKERS_MAX = 32 };

static void pause_ms(long ms) {
  struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&ts, NULL);
}

static const char *beside(const struct torture *t, const char *name) {
  static char path[700];
  snprintf(path, sizeof(path), "%s.%s", t->store, name);
  return path;
}

static pid_t start_worker(const struct torture *t, int number, uint64_t *seed, time_t until) {
  struct worker w = {.store = t->store, .program = t->program, .number = number, .until = until};
  w.seed = (uint64_t)torture_random(seed) << 32 | torture_random(seed) | 1;
  snprintf(w.journal, sizeof(w.journal), "%s", beside(t, "journal"));
  snprintf(w.complaints, sizeof(w.complaints), "%s", beside(t, "complaints"));
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    if (number % 4 == 3)
      worker_program(&w);
    else
      worker_library(&w);
    _exit(0);
  }
  CHECK(pid > 0);
  return pid;
}

/* ---- afterwards ---- */

static sqlite3 *open_plain(const char *path) {
  sqlite3 *db = NULL;
  CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
  sqlite3_busy_timeout(db, 10000);
  return db;
}

static struct str first_text(sqlite3 *db, const char *sql) {
  static char text[1000];
  sqlite3_stmt *st = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
    FAIL("%s: %s", sql, sqlite3_errmsg(db));
  snprintf(text, sizeof(text), "%s", sqlite3_step(st) == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : "");
  sqlite3_finalize(st);
  return str_from(text);
}

static void must_be_none(sqlite3 *db, const char *what, const char *sql) {
  struct str n = first_text(db, sql);
  if (!str_is(n, "0"))
    FAIL("%s: %.*s", what, STR_ARG(n));
}

static void check_store(const struct torture *t) {
  sqlite3 *db = open_plain(t->store);
  CHECK_STR(first_text(db, "PRAGMA integrity_check"), "ok");
  CHECK_STR(first_text(db, "PRAGMA foreign_key_check"), "");
  char *why = NULL;
  if (sqlite3_exec(db, "INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('integrity-check', 1)", NULL, NULL, &why))
    FAIL("the full-text index: %s", why);
  must_be_none(db, "memories without a body",
               "SELECT count(*) FROM memory WHERE id NOT IN (SELECT memory_id FROM body)");
  must_be_none(db, "memories without a chunk",
               "SELECT count(*) FROM memory WHERE id NOT IN (SELECT memory_id FROM chunk)");
  must_be_none(db, "chunks without a vector",
               "SELECT count(*) FROM chunk WHERE id NOT IN (SELECT chunk_id FROM vec_slot)");
  must_be_none(db, "memories without their event",
               "SELECT count(*) FROM memory WHERE id NOT IN (SELECT memory_id FROM event WHERE change = 'insert')");
  must_be_none(db, "changes without a transaction",
               "SELECT count(*) FROM event WHERE change IS NOT NULL AND txn NOT IN (SELECT id FROM txn)");
  must_be_none(db, "keys with two active memories",
               "SELECT count(*) FROM (SELECT key FROM memory WHERE state = 'active' AND key IS NOT NULL"
               " GROUP BY team, project, key HAVING count(*) > 1)");
  must_be_none(db, "superseded memories without a successor",
               "SELECT count(*) FROM memory WHERE state = 'superseded' AND id NOT IN"
               " (SELECT dst FROM link WHERE rel = 'supersedes')");
  sqlite3_close(db);
  struct run r = proc_run(.argv = ARGS(t->program, "--db", t->store, "doctor", "--json"), .timeout_ms = 60000);
  if (r.exit_code != 0 || str_find(r.out, STR("\"ok\":true"), 0) == SIZE_MAX)
    FAIL("doctor: %.*s %.*s", STR_ARG(r.out), STR_ARG(r.err));
}

/* Every line of the journal: the memory is there, with exactly that text; a task was claimed once. */
static struct torture_result check_journal(const struct torture *t) {
  struct torture_result result = {0};
  sqlite3 *db = open_plain(t->store);
  sqlite3_stmt *by_uid, *claimed;
  CHECK_INT(sqlite3_prepare_v2(db, "SELECT b.text FROM memory m JOIN body b ON b.memory_id = m.id WHERE m.uid = ?1", -1,
                               &by_uid, NULL),
            SQLITE_OK);
  CHECK_INT(sqlite3_prepare_v2(db, "SELECT claimed_by FROM memory WHERE id = ?1", -1, &claimed, NULL), SQLITE_OK);
  struct str rest = file_read(beside(t, "journal")), line;
  while (str_line(&rest, &line)) {
    struct str kind, name, text = line;
    CHECK(str_next(&text, ' ', &kind) && str_next(&text, ' ', &name));
    bool claim = str_is(kind, "C");
    sqlite3_stmt *st = claim ? claimed : by_uid;
    if (claim)
      sqlite3_bind_int64(st, 1, strtoll(name.p, NULL, 10));
    else
      sqlite3_bind_text(st, 1, name.p, (int)name.n, SQLITE_STATIC);
    if (sqlite3_step(st) != SQLITE_ROW)
      FAIL("acknowledged, but not there: %.*s", STR_ARG(line));
    struct str found = str_from((const char *)sqlite3_column_text(st, 0));
    if (!str_eq(found, text))
      FAIL("acknowledged as '%.*s', but it is '%.*s'", STR_ARG(text), STR_ARG(found));
    sqlite3_reset(st);
    result.acknowledged++;
    result.claims += claim;
    result.keys += str_is(kind, "K");
  }
  sqlite3_finalize(by_uid);
  sqlite3_finalize(claimed);
  sqlite3_close(db);
  return result;
}

static void check_complaints(const struct torture *t) {
  struct stat st;
  if (stat(beside(t, "complaints"), &st) == 0 && st.st_size > 0) {
    struct str all = file_read(beside(t, "complaints"));
    FAIL("what nobody should have seen:\n%.*s", (int)(all.n < 2000 ? all.n : 2000), all.p);
  }
}

/* ---- the three games ---- */

struct torture_result torture_run(const struct torture *t) {
  uint64_t seed = t->seed | 1;
  pid_t pids[WORKERS_MAX] = {0};
  int workers = t->workers < WORKERS_MAX ? t->workers : WORKERS_MAX;
  time_t until = time(NULL) + t->seconds;
  long killed = 0;
  for (int i = 0; i < workers; i++)
    pids[i] = start_worker(t, i, &seed, until);
  while (time(NULL) < until) {
    pause_ms(20 + torture_random(&seed) % 180);
    int i = (int)(torture_random(&seed) % (uint32_t)workers);
    if (i % 4 == 3)
      continue; /* those kill their own children */
    kill(pids[i], SIGKILL);
    CHECK_INT(waitpid(pids[i], NULL, 0), pids[i]);
    killed++;
    pids[i] = start_worker(t, i, &seed, until);
  }
  for (int i = 0; i < workers; i++) {
    int status = 0;
    CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      FAIL("worker %d ended with status %d", i, status);
  }
  check_complaints(t);
  check_store(t);
  struct torture_result result = check_journal(t);
  result.killed = killed;
  return result;
}

void torture_creation(const struct torture *t, int rounds) {
  enum { AT_ONCE = 6 };
  uint64_t seed = t->seed | 1;
  for (int round = 0; round < rounds; round++) {
    test_note("creation, round %d", round);
    struct torture one = *t;
    char store[600], text[AT_ONCE][80];
    snprintf(store, sizeof(store), "%s-%d", t->store, round);
    one.store = store;
    struct proc *p[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
      snprintf(text[i], sizeof(text[i]), "memory number %d of process %c in round %d", i * 7 + round, 'A' + i, round);
      p[i] = proc_start(.argv = ARGS(t->program, "--db", store, "remember", "--json", "--kind", "incident", text[i]),
                        .timeout_ms = 30000);
    }
    pause_ms(torture_random(&seed) % 12);
    for (int i = 0; i < AT_ONCE; i += 2)
      proc_kill(p[i], SIGKILL);
    long acknowledged = 0;
    for (int i = 0; i < AT_ONCE; i++) {
      struct run r = proc_wait(p[i]);
      acknowledged += str_find(r.out, STR("\"action\":\"stored\""), 0) != SIZE_MAX;
      if (i % 2 && r.exit_code != 0)
        FAIL("a process that was left alone failed: %.*s %.*s", STR_ARG(r.out), STR_ARG(r.err));
    }
    sqlite3 *db = open_plain(store);
    long there = strtol(first_text(db, "SELECT count(*) FROM memory").p, NULL, 10);
    sqlite3_close(db);
    CHECK(there >= acknowledged);
    check_store(&one);
  }
}

void torture_housekeeping(const struct torture *t, int rounds) {
  uint64_t seed = t->seed | 1;
  char backup[700], copy[700], export[700], text[200];
  snprintf(backup, sizeof(backup), "%s.good", t->store);
  snprintf(export, sizeof(export), "%s.export", t->store);
  for (int i = 0; i < 30; i++) {
    snprintf(text, sizeof(text), "kept %d: %08x%08x %08x", i, torture_random(&seed), torture_random(&seed),
             torture_random(&seed));
    struct run r = proc_run(.argv = ARGS(t->program, "--db", t->store, "remember", "--kind", "incident", text));
    CHECK_INT(r.exit_code, 0);
  }
  CHECK_INT(proc_run(.argv = ARGS(t->program, "--db", t->store, "backup", backup)).exit_code, 0);
  CHECK_INT(proc_run(.argv = ARGS(t->program, "--db", t->store, "export", export)).exit_code, 0);
  for (int round = 0; round < rounds; round++) {
    snprintf(copy, sizeof(copy), "%s.copy-%d", t->store, round);
    const char *const *commands[] = {ARGS(t->program, "--db", t->store, "maintain"),
                                     ARGS(t->program, "--db", t->store, "backup", copy),
                                     ARGS(t->program, "--db", t->store, "restore", backup, "--confirm"),
                                     ARGS(t->program, "--db", t->store, "import", export),
                                     ARGS(t->program, "--db", t->store, "purge", "30", "--confirm"),
                                     ARGS(t->program, "--db", t->store, "export", copy)};
    int which = (int)(torture_random(&seed) % ARRAY_LEN(commands));
    test_note("housekeeping, round %d, command %s", round, commands[which][3]);
    struct proc *p = proc_start(.argv = commands[which], .timeout_ms = 30000);
    pause_ms(torture_random(&seed) % 25);
    proc_kill(p, SIGKILL);
    proc_wait(p);
    unlink(copy);
    check_store(t);
    sqlite3 *db = open_plain(t->store);
    long there = strtol(first_text(db, "SELECT count(*) FROM memory").p, NULL, 10);
    sqlite3_close(db);
    CHECK(there == 30 || there == 29); /* one may be purged, or come back by the restore */
  }
}
