/* torture.c: starts and kills the workers, and checks afterwards that every promise was kept. */
#include "support/torture.h"

#include <cairn.h>
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
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
  /* Numbers are given inside transactions: one that was rolled back leaves no gap. */
  must_be_none(db, "gaps in the event log", "SELECT coalesce(max(seq), 0) - count(*) FROM event");
  must_be_none(db, "gaps in the transactions", "SELECT coalesce(max(id), 0) - count(*) FROM txn");
  must_be_none(db, "transactions that changed nothing",
               "SELECT count(*) FROM txn WHERE id NOT IN (SELECT txn FROM event WHERE txn IS NOT NULL)");
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

static void run_sql(sqlite3 *db, const char *sql) {
  char *why = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
    FAIL("%s: %s", sql, why);
}

/* The journal as a table. */
static void load_journal(const struct torture *t, sqlite3 *db) {
  sqlite3_stmt *st;
  run_sql(db,
          "CREATE TEMP TABLE journal (kind TEXT, name TEXT, text TEXT); CREATE INDEX temp.by_name ON journal (name)");
  CHECK_INT(sqlite3_prepare_v2(db, "INSERT INTO journal VALUES (?1, ?2, ?3)", -1, &st, NULL), SQLITE_OK);
  struct str rest = file_read(beside(t, "journal")), line;
  run_sql(db, "BEGIN");
  while (str_line(&rest, &line)) {
    struct str part[3] = {{0}, {0}, line};
    CHECK(str_next(&part[2], ' ', &part[0]) && str_next(&part[2], ' ', &part[1]));
    for (int i = 0; i < 3; i++)
      sqlite3_bind_text(st, i + 1, part[i].p, (int)part[i].n, SQLITE_STATIC);
    CHECK_INT(sqlite3_step(st), SQLITE_DONE);
    sqlite3_reset(st);
  }
  sqlite3_finalize(st);
  run_sql(db, "COMMIT");
}

/* Shows one row that should not be. */
static void must_be_empty(sqlite3 *db, const char *what, const char *sql) {
  struct str row = first_text(db, sql);
  if (row.n)
    FAIL("%s: %.*s", what, STR_ARG(row));
}

/* Every line of it: the memory is there with exactly that text, or gone for good; a task was claimed once. */
static struct torture_result check_journal(const struct torture *t) {
  sqlite3 *db = open_plain(t->store);
  load_journal(t, db);
  must_be_empty(db, "acknowledged, but not there, or with another text",
                "SELECT j.name || ' ' || j.text FROM journal j WHERE j.kind IN ('W', 'K') AND NOT EXISTS (SELECT 1 FROM"
                " memory m JOIN body b ON b.memory_id = m.id WHERE m.uid = j.name AND m.team = 'default' AND b.text ="
                " j.text) AND NOT EXISTS (SELECT 1 FROM journal p WHERE p.name = j.name AND p.kind = 'p')");
  must_be_empty(db, "acknowledged without its event",
                "SELECT j.name FROM journal j JOIN memory m ON m.uid = j.name AND m.team = 'default' WHERE j.kind IN"
                " ('W', 'K') AND NOT EXISTS (SELECT 1 FROM event e WHERE e.memory_id = m.id AND e.change = 'insert')");
  must_be_empty(
      db, "purged, but still there",
      "SELECT j.name FROM journal j WHERE j.kind = 'P' AND (EXISTS (SELECT 1 FROM memory m WHERE m.uid = j.name)"
      " OR NOT EXISTS (SELECT 1 FROM tombstone s WHERE s.uid = j.name))");
  must_be_empty(db, "purged, but its text is in the event log",
                "SELECT j.name FROM journal j JOIN event e ON e.uid = j.name WHERE j.kind = 'P' AND"
                " coalesce(e.before, e.after, e.detail) IS NOT NULL");
  must_be_empty(
      db, "a note that was acknowledged is not there",
      "SELECT j.name || ' ' || j.text FROM journal j WHERE j.kind = 'A' AND NOT EXISTS (SELECT 1 FROM memory m"
      " JOIN annotation a ON a.memory_id = m.id WHERE m.uid = j.name AND m.team = 'default' AND a.text = j.text)"
      " AND NOT EXISTS (SELECT 1 FROM journal p WHERE p.name = j.name AND p.kind = 'p')");
  must_be_empty(db, "claimed by two",
                "SELECT j.name || ' ' || j.text || ', but ' || coalesce(m.claimed_by, 'nobody') FROM journal j"
                " JOIN memory m ON m.id = CAST(j.name AS INTEGER) WHERE j.kind = 'C' AND m.claimed_by IS NOT j.text");
  struct torture_result result = {0};
  result.acknowledged = strtol(first_text(db, "SELECT count(*) FROM journal WHERE kind <> 'p'").p, NULL, 10);
  result.claims = strtol(first_text(db, "SELECT count(*) FROM journal WHERE kind = 'C'").p, NULL, 10);
  result.keys = strtol(first_text(db, "SELECT count(*) FROM journal WHERE kind = 'K'").p, NULL, 10);
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

/* ---- the games ---- */

struct torture_result torture_run(const struct torture *t) {
  uint64_t seed = t->seed | 1;
  pid_t pids[WORKERS_MAX] = {0};
  int workers = t->workers < WORKERS_MAX ? t->workers : WORKERS_MAX;
  time_t until = time(NULL) + t->seconds;
  long killed = 0;
  for (int i = 0; i < workers; i++)
    pids[i] = start_worker(t, i, &seed, until);
  while (time(NULL) < until) {
    pause_ms(5 + torture_random(&seed) % 75);
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

/* Closing one handle must not drop the locks of another one in the same process, as closing a plain file would. */
static int write_inside(void *arg, const char *line, size_t n) {
  (void)line;
  (void)n;
  struct worker *w = arg;
  if (torture_random(&w->seed) % 8 == 0)
    worker_visit(w);
  return 0;
}

void torture_handles(const struct torture *t) {
  uint64_t seed = t->seed | 1;
  pid_t pids[4];
  time_t until = time(NULL) + t->seconds;
  for (int i = 0; i < 4; i++)
    pids[i] = start_worker(t, i, &seed, until);
  struct worker w = {.store = t->store, .number = 9, .seed = seed, .until = until};
  snprintf(w.journal, sizeof(w.journal), "%s", beside(t, "journal"));
  snprintf(w.complaints, sizeof(w.complaints), "%s", beside(t, "complaints"));
  struct cairn *db = NULL;
  struct cairn_options o = {.path = t->store, .source = "torture"};
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
  while (time(NULL) < until) {
    worker_visit(&w);
    /* A long read on this handle, while another one opens, writes and closes in between. */
    CHECK_INT(cairn_stream(db, "events", "{\"limit\":200}", 0, write_inside, &w, NULL, NULL), CAIRN_OK);
  }
  cairn_close(&db);
  for (int i = 0; i < 4; i++) {
    int status = 0;
    CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  check_complaints(t);
  check_store(t);
  CHECK(check_journal(t).acknowledged > 20);
}

/* Who only reads gets an answer while somebody holds the lock; who writes waits, and then succeeds. */
void torture_lock(const struct torture *t) {
  enum { HELD_MS = 1500 };
  struct run r = proc_run(.argv = ARGS(t->program, "--db", t->store, "remember", "The lighthouse has 99 steps"));
  CHECK_INT(r.exit_code, 0);
  sqlite3 *holder = open_plain(t->store);
  run_sql(holder, "BEGIN IMMEDIATE; INSERT INTO meta (name, value) VALUES ('torture', 'unfinished')");
  int64_t began = clock_ticks_us();
  struct proc *writer = proc_start(.argv = ARGS(t->program, "--db", t->store, "remember", "The harbour has 3 cranes"),
                                   .timeout_ms = 30000);
  const char *const *reads[] = {ARGS(t->program, "--db", t->store, "get", "1", "--json"),
                                ARGS(t->program, "--db", t->store, "list", "--json"),
                                ARGS(t->program, "--db", t->store, "search", "lighthouse", "--json")};
  for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
    struct proc *p = proc_start(.argv = reads[i], .timeout_ms = 30000);
    struct str line;
    CHECK(proc_line(p, HELD_MS, &line));
    CHECK(str_find(line, STR("lighthouse"), 0) != SIZE_MAX);
    CHECK(clock_ticks_us() - began < (int64_t)HELD_MS * 1000 * test_slowness()); /* the lock is still held */
    CHECK_INT(proc_wait(p).exit_code, 0);
    began = clock_ticks_us();
  }
  run_sql(holder, "ROLLBACK");
  sqlite3_close(holder);
  struct run w = proc_wait(writer);
  CHECK_INT(w.exit_code, 0);
  CHECK(str_find(w.out, STR("harbour"), 0) != SIZE_MAX);
  check_store(t);
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
