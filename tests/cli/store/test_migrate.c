/* test_migrate.c: migrating a whole store between files and to a server and back: interrupted, repeated, refused. */
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "support/cli.h"
#include "support/store.h"
#include "support/tiny_model.h"

static void use(const char *store) { cli_set(textf("CAIRN_DB=%s", store)); }

static const char *file_store(const char *name) { return path_join(NULL, name); }

static struct str export_of(const char *store) {
  use(store);
  struct run r = CAIRN("export", "--events");
  CHECK_INT(r.exit_code, 0);
  return r.out;
}

static int64_t number_in(const char *store, const char *sql) {
  struct direct *d = direct_open(store);
  int64_t n = direct_number(d, sql);
  direct_close(d);
  return n;
}

static void do_in(const char *store, const char *sql) {
  struct direct *d = direct_open(store);
  direct_do(d, sql);
  direct_close(d);
}

/* ---- content of every kind ---- */

static void second_model(void) {
  struct arena a;
  arena_init(&a);
  const char *folder = path_join(NULL, "tiny"), *path = path_join(NULL, "model.cairn");
  if (mkdir(folder, 0700) == 0) {
    file_write(path_join(folder, "model.safetensors"), tiny_weights(&a, &(struct tiny_spec){0}));
    file_write(path_join(folder, "vocab.txt"), str_from(tiny_vocab));
    file_write(path_join(folder, "config.json"), str_from(tiny_config));
    OK("model", "convert", folder, path, "--pooling", "mean", "--name", "tiny");
  }
  OK("config", "embedder.file", path);
  OK("config", "embedder", "file");
  CHECK(jbool(OK("reembed"), "flipped"));
  arena_release(&a);
}

static void make_memories(void) {
  int64_t first = STORE("--key", "harbour", "--tag", "water", "--tag", "sea", "The harbour has four cranes");
  cli_day(0.5);
  OK("supersede", "harbour", "The harbour has five cranes, since the old one was repaired", "--reason",
     "one was repaired");
  int64_t whale = STORE("--project", "ships", "Whales were seen near the \xc3\xa5land islands \xe2\x80\x94 twice");
  int64_t gull = STORE("--idempotency-key", "call-1", "Seagulls steal sandwiches at noon");
  OK("annotate", num(gull), "it was a herring gull");
  OK("link", num(gull), "relates", num(whale), "--all-projects");
  OK("rate", num(gull), "up");
  OK("pin", num(gull));
  int64_t task = ADD_TASK("Paint the lighthouse"), other = ADD_TASK("Buy the paint");
  OK("task", "block", num(task), num(other));
  OK("task", "claim", num(other));
  int64_t gone = STORE("This one will be forgotten soon");
  OK("forget", num(gone), "--reason", "it was wrong");
  int64_t purged = STORE("Not a trace of this one shall be left behind");
  OK("purge", num(purged), "--confirm");
  CHECK(first < purged);
}

static void make_sessions(void) {
  yyjson_val *boot = OK("boot", "--register", "--task", "look after the harbour");
  const char *session = cstr(jstr(boot, "session"));
  OK("--session", session, "scratch", "set", "branch", "fix/cranes");
  OK("--session", session, "session", "handoff", "The cranes are done; the quay is left.");
  OK("--session", session, "checkpoint", "blow the horn");
  int64_t item = jint(OK("action", "add", "Ask the harbour master"), "id");
  OK("action", "add", "Count the containers");
  OK("action", "ack", num(item), "already_done", "--reason", "asked yesterday");
  OK("vault", "set", "counter", "42");
  OK("vault", "set", "empty", "");
  OK("config", "gate.mode", "strict");
  OK("config", "gate.mode", "assist");
  OK("search", "cranes of the harbour");
  CAIRN("get", "999999"); /* fails, and is recorded as a failed call */
}

static void make_content(const char *store) {
  use(store);
  cli_set("CAIRN_EMBEDDER");
  cli_set(textf("XDG_STATE_HOME=%s", path_join(NULL, "state")));
  OK("config", "embedder", "hash-v1");
  make_memories();
  make_sessions();
  second_model();
  cli_set("CAIRN_TEAM=second");
  STORE("--key", "harbour", "Another team has a harbour too");
  cli_set("CAIRN_TEAM");
}

/* Tables that an export does not contain. */
static void check_rows(const char *store) {
  static const struct {
    const char *sql;
    int64_t least;
  } counts[] = {
      {"SELECT count(*) FROM vault", 2},       {"SELECT count(*) FROM tool_call WHERE error IS NOT NULL", 1},
      {"SELECT count(*) FROM idempotency", 1}, {"SELECT count(*) FROM tombstone", 1},
      {"SELECT count(*) FROM session", 1},     {"SELECT count(*) FROM scratch", 1},
      {"SELECT count(*) FROM handoff", 1},     {"SELECT count(*) FROM action_item", 2},
      {"SELECT count(*) FROM checkpoint", 1},  {"SELECT count(*) FROM vec_index", 2},
      {"SELECT count(*) FROM link", 3},        {"SELECT count(*) FROM annotation", 1},
      {"SELECT count(*) FROM setting", 1},     {"SELECT count(DISTINCT team) FROM memory", 2},
  };
  for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
    test_note("%s in %s", counts[i].sql, store);
    CHECK(number_in(store, counts[i].sql) >= counts[i].least);
  }
}

static void check_tables(yyjson_val *a, yyjson_val *b) {
  CHECK(jlen(a, "tables") > 15);
  CHECK_INT(jlen(a, "tables"), jlen(b, "tables"));
  for (size_t i = 0; i < jlen(a, "tables"); i++) {
    const char *name = textf("tables[%zu].name", i), *hash = textf("tables[%zu].hash", i);
    test_note("%.*s", STR_ARG(jstr(a, name)));
    CHECK_STR(jstr(a, name), cstr(jstr(b, name)));
    CHECK_STR(jstr(a, hash), cstr(jstr(b, hash)));
    CHECK_INT(jint(a, textf("tables[%zu].rows", i)), jint(b, textf("tables[%zu].rows", i)));
  }
}

static yyjson_val *migrate(const char *from, const char *to) {
  use(from);
  return OK("migrate", "--to", to);
}

static void round_trip(const char *a, const char *b, const char *c) {
  make_content(a);
  struct str before = export_of(a);
  yyjson_val *there = migrate(a, b);
  CHECK_STR(jstr(there, "start"), "fresh");
  CHECK(jbool(there, "verified"));
  CHECK_INT(jint(there, "missing_transactions"), 0);
  CHECK_STR(export_of(b), cstr(before));
  yyjson_val *back = migrate(b, c);
  CHECK_STR(export_of(c), cstr(before));
  CHECK_STR(export_of(a), cstr(before));
  check_tables(there, back);
  check_rows(a);
  check_rows(b);
  check_rows(c);
}

TEST(everything_is_migrated_there_and_back, .seconds = 60) {
  round_trip(cli_db(), file_store("between.db"), test_store("back.db"));
}

TEST(a_file_store_migrates_to_the_engine_under_test_and_back, .seconds = 60) {
  round_trip(file_store("a.db"), test_store("b.db"), file_store("c.db"));
}

TEST(the_copy_is_a_working_store, .seconds = 60) {
  const char *to = test_store("to.db");
  make_content(cli_db());
  int64_t last = sql_number("SELECT max(memory_id) FROM event");
  yyjson_val *before = OK("search", "cranes of the harbour");
  migrate(cli_db(), to);
  use(to);
  CHECK(jbool(OK("doctor"), "ok"));
  yyjson_val *after = OK("search", "cranes of the harbour");
  CHECK_INT(jlen(after, "results"), jlen(before, "results"));
  for (size_t i = 0; i < jlen(before, "results"); i++) {
    const char *id = textf("results[%zu].id", i), *source = textf("results[%zu].source", i);
    CHECK_INT(jint(after, id), jint(before, id));
    CHECK_STR(jstr(after, source), cstr(jstr(before, source)));
  }
  /* The id of a purged memory is not reused. */
  CHECK(STORE("Numbers go on behind those that were given out") > last);
  CHECK(jint(OK("task", "add", "Begin again"), "id") > last);
  OK("get", "harbour");
  CHECK_STR(jstr(OK("vault", "get", "counter"), "value"), "42");
  CHECK_INT(jint(OK("action", "list"), "count"), 1);
  CHECK_INT(jlen(OK("history", "harbour"), "chain"), 2);
}

TEST(the_source_is_unchanged) {
  make_content(cli_db());
  struct str before = store_dump(cli_db());
  migrate(cli_db(), test_store("to.db"));
  check_same(__FILE__, __LINE__, before, store_dump(cli_db()));
}

TEST(an_empty_store_can_be_migrated) {
  OK("stats");
  yyjson_val *r = migrate(cli_db(), test_store("to.db"));
  CHECK_STR(jstr(r, "start"), "fresh");
  use(test_store("to.db"));
  STORE("The first one");
}

TEST(the_table_is_printed) {
  STORE("The harbour has four cranes");
  struct run r = CAIRN("migrate", "--to", test_store("to.db"));
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, "memory"));
  CHECK(has(r.out, "event"));
  CHECK(has(r.out, "identical in"));
}

/* ---- refusals ---- */

TEST(a_target_that_is_not_empty_is_refused) {
  const char *to = test_store("to.db");
  STORE("The harbour has four cranes");
  use(to);
  STORE("Something else is here");
  struct str before = store_dump(to);
  use(cli_db());
  yyjson_val *e = REFUSED("conflict", "migrate", "--to", to);
  CHECK(has(jstr(e, "message"), "is not empty"));
  check_same(__FILE__, __LINE__, before, store_dump(to));
}

TEST(the_same_store_is_refused) {
  STORE("The harbour has four cranes");
  struct run r = CAIRN("--json", "migrate", "--to", cli_db());
  CHECK(r.exit_code == 2 || r.exit_code == 5);
}

TEST(unusable_addresses) {
  STORE("The harbour has four cranes");
  REFUSED("usage", "migrate", "--to", "http://127.0.0.1/x");
  REFUSED("usage", "migrate", "--to", "postgress://127.0.0.1/x");
  REFUSED("unavailable", "migrate", "--to", "postgresql://nobody@127.0.0.1:1/nothing");
  CHECK(CAIRN("--json", "migrate", "--to", "no/such/folder/x.db").exit_code != 0);
  REFUSED("usage", "migrate");
}

/* ---- interruptions ---- */

static struct str epoch_of(const char *store) {
  struct direct *d = direct_open(store);
  struct str s = direct_string(d, "SELECT value FROM meta WHERE name = 'epoch'");
  direct_close(d);
  return s;
}

/* Makes a store look like a migration from `source` copied everything but did not verify it. */
static void unfinish(const char *store, struct str source, int64_t txns) {
  do_in(store, textf("INSERT INTO meta (name, value) VALUES ('migration',"
                     " '{\"source\":\"%.*s\",\"txns\":%lld,\"table\":\"\",\"key\":[]}')",
                     STR_ARG(source), (long long)txns));
}

TEST(an_unfinished_target_cannot_be_used) {
  const char *to = test_store("to.db");
  STORE("The harbour has four cranes");
  migrate(cli_db(), to);
  unfinish(to, epoch_of(cli_db()), number_in(cli_db(), "SELECT count(*) FROM txn"));
  use(to);
  static const char *const commands[][3] = {{"remember", "One more"}, {"list"}, {"export"}, {"doctor"}, {"backup"}};
  for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
    struct run r = cli_run(STR_NONE, commands[i]);
    CHECK_INT(r.exit_code, 5);
    CHECK(has(r.err, "a migration into this store is not finished"));
  }
  yyjson_val *r = migrate(cli_db(), to);
  CHECK_STR(jstr(r, "start"), "resumed");
  CHECK_INT(jint(r, "copied"), 0);
  use(to);
  STORE("One more");
}

TEST(a_finished_migration_is_not_repeated) {
  const char *to = test_store("to.db");
  STORE("The harbour has four cranes");
  migrate(cli_db(), to);
  struct str before = store_dump(to);
  CHECK_STR(jstr(migrate(cli_db(), to), "start"), "already_done");
  check_same(__FILE__, __LINE__, before, store_dump(to));
  use(to);
  STORE("It is in use by now");
  use(cli_db());
  REFUSED("conflict", "migrate", "--to", to);
}

TEST(only_the_same_source_can_resume) {
  const char *to = test_store("to.db"), *other = file_store("other.db");
  STORE("The harbour has four cranes");
  migrate(cli_db(), to);
  unfinish(to, epoch_of(cli_db()), number_in(cli_db(), "SELECT count(*) FROM txn"));
  use(other);
  STORE("Another store altogether");
  struct run r = CAIRN("--json", "migrate", "--to", to);
  CHECK_INT(r.exit_code, 5);
  CHECK(has(r.out, "from another store"));
}

TEST(a_changed_source_is_copied_again) {
  const char *to = test_store("to.db");
  STORE("The harbour has four cranes");
  migrate(cli_db(), to);
  unfinish(to, epoch_of(cli_db()), number_in(cli_db(), "SELECT count(*) FROM txn"));
  use(cli_db());
  STORE("Seagulls steal sandwiches at noon");
  OK("forget", "1", "--reason", "it was wrong");
  yyjson_val *r = migrate(cli_db(), to);
  CHECK_STR(jstr(r, "start"), "source_changed");
  CHECK_STR(export_of(to), cstr(export_of(cli_db())));
}

TEST(a_changed_copy_is_made_again) {
  const char *to = test_store("to.db");
  make_content(cli_db());
  migrate(cli_db(), to);
  unfinish(to, epoch_of(cli_db()), number_in(cli_db(), "SELECT count(*) FROM txn"));
  do_in(to, "UPDATE vault SET value = '43' WHERE key = 'counter'");
  yyjson_val *r = migrate(cli_db(), to);
  CHECK_STR(jstr(r, "start"), "copy_differs");
  CHECK_STR(export_of(to), cstr(export_of(cli_db())));
  CHECK_INT(number_in(to, "SELECT count(*) FROM vault WHERE value = '42'"), 1);
}

static void make_some(const char *store, int first, int n) {
  struct arena a;
  arena_init(&a);
  struct buf b = BUF(&a);
  for (int i = first; i < first + n; i++)
    buf_addf(&b, "# Crane %d of harbour %d\n\nIt lifts %d tons, and was painted in week %d of the year.\n\n", i, i % 7,
             i * 3 + 1, i % 52);
  const char *notes = path_join(NULL, "notes.md");
  file_write(notes, buf_str(&b));
  use(store);
  OK("import", notes);
  arena_release(&a);
}

/* A pseudo-random number below n; the seed is the same in every run. */
static unsigned draw(unsigned *seed, unsigned n) {
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) % n;
}

TEST(a_migration_killed_at_any_time_can_resume, .seconds = 180, .slow = true) {
  enum { KILLS = 20 };
  const char *from = file_store("from.db"), *to = test_store("to0.db");
  unsigned seed = 7;
  int kills = 0, targets = 1, resumed = 0;
  for (int i = 0; i < (on_postgres() ? 600 : 2000); i += 200) /* limits the duration of one call on a busy machine */
    make_some(from, i, 200);
  struct str before = export_of(from);
  struct run whole = CAIRN("migrate", "--to", test_store("whole.db"));
  CHECK_INT(whole.exit_code, 0);
  while (kills < KILLS) {
    use(from);
    struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "--json", "migrate", "--to", to), .env = cli_env());
    int64_t us = draw(&seed, (unsigned)whole.elapsed_us);
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
    proc_kill(p, SIGKILL);
    struct run r = proc_wait(p);
    if (r.signal == SIGKILL) {
      kills++;
      continue;
    }
    if (r.exit_code != 0) /* otherwise it finished before the kill */
      FAIL("exit code %d: %.*s", r.exit_code, STR_ARG(r.out));
    resumed += has(r.out, "\"resumed\"");
    CHECK_STR(export_of(to), cstr(before));
    to = test_store(textf("to%d.db", targets++));
  }
  yyjson_val *r = migrate(from, to);
  resumed += has(jstr(r, "start"), "resumed");
  if (resumed == 0)
    FAIL("no run went on where another had stopped: %d targets, %lld us for one", targets, (long long)whole.elapsed_us);
  CHECK_STR(export_of(to), cstr(before));
  use(to);
  CHECK(jbool(OK("doctor"), "ok"));
}

/* ---- backups ---- */

TEST(a_backup_is_a_store_and_can_be_restored, .seconds = 60) {
  const char *backup = file_store("backup.db");
  make_content(cli_db());
  struct str before = export_of(cli_db());
  CHECK(jint(OK("backup", backup), "bytes") > 0);
  CHECK_STR(export_of(backup), cstr(before));
  check_rows(backup);
  use(cli_db());
  STORE("This came after the backup");
  struct str after = export_of(cli_db()), epoch = epoch_of(cli_db());
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK_STR(export_of(cli_db()), cstr(before));
  check_rows(cli_db());
  CHECK(!str_eq(epoch_of(cli_db()), epoch));
  const char *safety = cstr(jstr(r, "safety_backup"));
  CHECK_STR(export_of(safety), cstr(after));
  struct stat sb;
  CHECK_INT(stat(safety, &sb), 0);
  CHECK_INT(sb.st_mode & 0777, 0600);
  use(cli_db());
  CHECK(jbool(OK("doctor"), "ok"));
  STORE("Life goes on after a restore");
}

TEST(automatic_backups_are_listed_and_pruned) {
  cli_set(textf("XDG_STATE_HOME=%s", path_join(NULL, "state")));
  int64_t id = STORE("Every backup holds this one");
  for (int i = 0; i < 9; i++) {
    cli_day(i + 1);
    OK("backup");
  }
  yyjson_val *r = OK("purge", num(id), "--confirm");
  CHECK_INT(jlen(r, "receipt.backups"), 7);
}
