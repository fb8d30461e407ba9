/* torture.c: starts and kills the workers, and checks afterwards that no acknowledged write was lost. */
#include "support/torture.h"

#include <cairn.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"
#include "support/torture_worker.h"

enum { WORKERS_MAX = 32 };

static void pause_ms(long ms) {
  struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&ts, NULL);
}

static bool on_server(const struct torture *t) { return strncmp(t->store, "postgresql://", 13) == 0; }

static const char *beside(const struct torture *t, const char *name) {
  static char path[700];
  snprintf(path, sizeof(path), "%s.%s", t->files, name);
  return path;
}

static pid_t start_worker(const struct torture *t, int number, uint64_t *seed, time_t until) {
  struct worker w = {.store = t->store,
                     .files = t->files,
                     .program = t->program,
                     .disturbed = t->disturb != NULL,
                     .number = number,
                     .until = until};
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

/* ---- checks after a run ---- */

static struct direct *open_direct(const struct torture *t) {
  struct direct *d = direct_open(t->store);
  if (on_server(t))
    direct_do(d, "SET search_path = cairn, public");
  return d;
}

static void must_be_none(struct direct *d, const char *what, const char *sql) {
  int64_t n = direct_number(d, sql);
  if (n)
    FAIL("%s: %lld", what, (long long)n);
}

/* Checks for SQLite: pages, foreign keys, the full-text index, and numbers without gaps. They are assigned in
 * transactions, so a rollback leaves no gap; PostgreSQL's sequences do leave gaps. */
static void check_file(struct direct *d) {
  CHECK_STR(direct_string(d, "PRAGMA integrity_check"), "ok");
  must_be_none(d, "rows that point nowhere", "SELECT count(*) FROM pragma_foreign_key_check");
  direct_do(d, "INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('integrity-check', 1)");
  must_be_none(d, "gaps in the event log", "SELECT coalesce(max(seq), 0) - count(*) FROM event");
  must_be_none(d, "gaps in the transactions", "SELECT coalesce(max(id), 0) - count(*) FROM txn");
}

static void check_store(const struct torture *t) {
  struct direct *d = open_direct(t);
  if (!on_server(t))
    check_file(d);
  must_be_none(d, "memories without a body",
               "SELECT count(*) FROM memory WHERE id NOT IN (SELECT memory_id FROM body)");
  must_be_none(d, "memories without a chunk",
               "SELECT count(*) FROM memory WHERE id NOT IN (SELECT memory_id FROM chunk)");
  must_be_none(d, "chunks without a vector",
               on_server(t) ? "SELECT count(*) FROM chunk WHERE id NOT IN (SELECT chunk_id FROM vec)"
                            : "SELECT count(*) FROM chunk WHERE id NOT IN (SELECT chunk_id FROM vec_slot)");
  must_be_none(d, "memories without their event",
               "SELECT count(*) FROM memory WHERE id NOT IN (SELECT memory_id FROM event WHERE change = 'insert')");
  must_be_none(d, "changes without a transaction",
               "SELECT count(*) FROM event WHERE change IS NOT NULL AND txn NOT IN (SELECT id FROM txn)");
  must_be_none(d, "transactions that changed nothing",
               "SELECT count(*) FROM txn WHERE id NOT IN (SELECT txn FROM event WHERE txn IS NOT NULL)");
  must_be_none(d, "keys with two active memories",
               "SELECT count(*) FROM (SELECT key FROM memory WHERE state = 'active' AND key IS NOT NULL"
               " GROUP BY team, project, key HAVING count(*) > 1) twice");
  must_be_none(d, "superseded memories without a successor",
               "SELECT count(*) FROM memory WHERE state = 'superseded' AND id NOT IN"
               " (SELECT dst FROM link WHERE rel = 'supersedes')");
  direct_close(d);
  struct run r = proc_run(.argv = ARGS(t->program, "--db", t->store, "doctor", "--json"), .timeout_ms = 60000);
  if (r.exit_code != 0 || str_find(r.out, STR("\"ok\":true"), 0) == SIZE_MAX)
    FAIL("doctor: %.*s %.*s", STR_ARG(r.out), STR_ARG(r.err));
}

/* Loads the journal into a table. Its texts are letters, digits and '-'. */
static void load_journal(const struct torture *t, struct direct *d) {
  struct str rest = file_read(beside(t, "journal")), line;
  char sql[1000];
  direct_do(d, "CREATE TEMP TABLE journal (kind TEXT, name TEXT, text TEXT)");
  direct_do(d, on_server(t) ? "CREATE INDEX by_name ON journal (name)" : "CREATE INDEX temp.by_name ON journal (name)");
  direct_do(d, "BEGIN");
  while (str_line(&rest, &line)) {
    struct str part[3] = {{0}, {0}, line};
    CHECK(str_next(&part[2], ' ', &part[0]) && str_next(&part[2], ' ', &part[1]));
    CHECK(memchr(line.p, '\'', line.n) == NULL);
    snprintf(sql, sizeof(sql), "INSERT INTO journal VALUES ('%.*s', '%.*s', '%.*s')", STR_ARG(part[0]),
             STR_ARG(part[1]), STR_ARG(part[2]));
    direct_do(d, sql);
  }
  direct_do(d, "COMMIT");
}

/* Fails with one of the rows if there are any; the query names its column x. */
static void must_be_empty(struct direct *d, const char *what, const char *sql) {
  char all[1200];
  CHECK((size_t)snprintf(all, sizeof(all), "SELECT coalesce(min(x), '') FROM (%s) bad", sql) < sizeof(all));
  struct str row = direct_string(d, all);
  if (row.n)
    FAIL("%s: %.*s", what, STR_ARG(row));
}

/* For every line: the memory exists with exactly that text, or was purged; a task was claimed once. */
static struct torture_result check_journal(const struct torture *t) {
  struct direct *d = open_direct(t);
  load_journal(t, d);
  must_be_empty(d, "acknowledged, but not there, or with another text",
                "SELECT j.name || ' ' || j.text AS x FROM journal j WHERE j.kind IN ('W', 'K') AND NOT EXISTS (SELECT 1"
                " FROM memory m JOIN body b ON b.memory_id = m.id WHERE m.uid = j.name AND m.team = 'default' AND"
                " b.text = j.text) AND NOT EXISTS (SELECT 1 FROM journal p WHERE p.name = j.name AND p.kind = 'p')");
  must_be_empty(d, "acknowledged without its event",
                "SELECT j.name AS x FROM journal j JOIN memory m ON m.uid = j.name AND m.team = 'default' WHERE j.kind"
                " IN ('W', 'K') AND NOT EXISTS (SELECT 1 FROM event e WHERE e.memory_id = m.id AND e.change ="
                " 'insert')");
  must_be_empty(
      d, "purged, but still there",
      "SELECT j.name AS x FROM journal j WHERE j.kind = 'P' AND (EXISTS (SELECT 1 FROM memory m WHERE m.uid = j.name)"
      " OR NOT EXISTS (SELECT 1 FROM tombstone s WHERE s.uid = j.name))");
  must_be_empty(d, "purged, but its text is in the event log",
                "SELECT j.name AS x FROM journal j JOIN event e ON e.uid = j.name WHERE j.kind = 'P' AND"
                " coalesce(e.before, e.after, e.detail) IS NOT NULL");
  must_be_empty(
      d, "a note that was acknowledged is not there",
      "SELECT j.name || ' ' || j.text AS x FROM journal j WHERE j.kind = 'A' AND NOT EXISTS (SELECT 1 FROM memory m"
      " JOIN annotation a ON a.memory_id = m.id WHERE m.uid = j.name AND m.team = 'default' AND a.text = j.text)"
      " AND NOT EXISTS (SELECT 1 FROM journal p WHERE p.name = j.name AND p.kind = 'p')");
  must_be_empty(d, "claimed by two",
                "SELECT j.name || ' ' || j.text || ', but ' || coalesce(m.claimed_by, 'nobody') AS x FROM journal j"
                " JOIN memory m ON CAST(m.id AS TEXT) = j.name WHERE j.kind = 'C' AND m.claimed_by IS DISTINCT FROM"
                " j.text");
  struct torture_result result = {0};
  result.acknowledged = (long)direct_number(d, "SELECT count(*) FROM journal WHERE kind NOT IN ('p', 'F')");
  result.claims = (long)direct_number(d, "SELECT count(*) FROM journal WHERE kind = 'C'");
  result.keys = (long)direct_number(d, "SELECT count(*) FROM journal WHERE kind = 'K'");
  result.failed = (long)direct_number(d, "SELECT count(*) FROM journal WHERE kind = 'F'");
  direct_close(d);
  return result;
}

static void check_complaints(const struct torture *t) {
  struct stat st;
  if (stat(beside(t, "complaints"), &st) == 0 && st.st_size > 0) {
    struct str all = file_read(beside(t, "complaints"));
    FAIL("what nobody should have seen:\n%.*s", (int)(all.n < 2000 ? all.n : 2000), all.p);
  }
}

/* ---- tests ---- */

struct torture_result torture_run(const struct torture *t) {
  uint64_t seed = t->seed | 1;
  pid_t pids[WORKERS_MAX] = {0};
  int workers = t->workers < WORKERS_MAX ? t->workers : WORKERS_MAX;
  time_t until = time(NULL) + t->seconds;
  long killed = 0, disturbed = 0;
  int64_t next = clock_ticks_us() + (int64_t)t->disturb_ms * 1000;
  for (int i = 0; i < workers; i++)
    pids[i] = start_worker(t, i, &seed, until);
  while (time(NULL) < until) {
    /* Clients of a server need longer, because they have to connect first. */
    pause_ms((5 + torture_random(&seed) % 75) * (on_server(t) ? 4 : 1));
    int i = (int)(torture_random(&seed) % (uint32_t)workers);
    if (i % 4 == 3)
      continue; /* these kill their own children */
    kill(pids[i], SIGKILL);
    CHECK_INT(waitpid(pids[i], NULL, 0), pids[i]);
    killed++;
    pids[i] = start_worker(t, i, &seed, until);
    if (t->disturb && clock_ticks_us() >= next) {
      t->disturb(torture_random(&seed));
      disturbed++;
      next = clock_ticks_us() + (int64_t)t->disturb_ms * 1000;
    }
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
  result.disturbed = disturbed;
  return result;
}

/* Closing one handle must not drop the locks of another one in the same process, as close() of a plain file would. */
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
  struct worker w = {.store = t->store, .files = t->files, .number = 9, .seed = seed, .until = until};
  snprintf(w.journal, sizeof(w.journal), "%s", beside(t, "journal"));
  snprintf(w.complaints, sizeof(w.complaints), "%s", beside(t, "complaints"));
  struct cairn *db = NULL;
  struct cairn_options o = {.path = t->store, .source = "torture"};
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
  while (time(NULL) < until) {
    worker_visit(&w);
    /* A long read on this handle, while another handle opens, writes and closes. */
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

/* Readers get an answer while the lock is held; writers wait and then succeed. */
void torture_lock(const struct torture *t) {
  enum { HELD_MS = 1500 };
  struct run r = proc_run(.argv = ARGS(t->program, "--db", t->store, "remember", "The lighthouse has 99 steps"));
  CHECK_INT(r.exit_code, 0);
  struct direct *holder = open_direct(t);
  direct_lock(holder);
  direct_do(holder, "INSERT INTO meta (name, value) VALUES ('torture', 'unfinished')");
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
  direct_do(holder, "ROLLBACK");
  direct_close(holder);
  struct run w = proc_wait(writer);
  CHECK_INT(w.exit_code, 0);
  CHECK(str_find(w.out, STR("harbour"), 0) != SIZE_MAX);
  check_store(t);
}

static int64_t count_memories(const struct torture *t) {
  struct direct *d = open_direct(t);
  int64_t n = direct_number(d, "SELECT count(*) FROM memory");
  direct_close(d);
  return n;
}

void torture_creation(const struct torture *t, int rounds, const char *(*place)(int round)) {
  enum { AT_ONCE = 6 };
  uint64_t seed = t->seed | 1;
  for (int round = 0; round < rounds; round++) {
    test_note("creation, round %d", round);
    struct torture one = *t;
    char text[AT_ONCE][80];
    const char *store = one.store = place(round);
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
    CHECK(count_memories(&one) >= acknowledged);
    check_store(&one);
  }
}

void torture_housekeeping(const struct torture *t, int rounds) {
  uint64_t seed = t->seed | 1;
  char backup[700], copy[700], export[700], text[200];
  snprintf(backup, sizeof(backup), "%s.good", t->files);
  snprintf(export, sizeof(export), "%s.export", t->files);
  for (int i = 0; i < 30; i++) {
    snprintf(text, sizeof(text), "kept %d: %08x%08x %08x", i, torture_random(&seed), torture_random(&seed),
             torture_random(&seed));
    struct run r = proc_run(.argv = ARGS(t->program, "--db", t->store, "remember", "--kind", "incident", text));
    CHECK_INT(r.exit_code, 0);
  }
  CHECK_INT(proc_run(.argv = ARGS(t->program, "--db", t->store, "backup", backup)).exit_code, 0);
  CHECK_INT(proc_run(.argv = ARGS(t->program, "--db", t->store, "export", export)).exit_code, 0);
  for (int round = 0; round < rounds; round++) {
    snprintf(copy, sizeof(copy), "%s.copy-%d", t->files, round);
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
    int64_t there = count_memories(t);
    CHECK(there == 30 || there == 29); /* one may be purged, or be back after the restore */
  }
}
