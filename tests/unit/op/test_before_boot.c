/* test_before_boot.c: the buffer file of calls before boot, and the calls of a server in the store. */
#include "op/telemetry/before_boot.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "op/op.h"
#include "op/telemetry/telemetry.h"
#include "store/tables/events.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static const int64_t NOW = 1763208000000;

static struct error err;
static struct arena a; /* lives as long as the test */

static struct store *open_store(const char *path) {
  struct store_options o = {.path = path, .now = NOW};
  struct store *st = NULL;
  CHECK_OK(store_open(&o, &st, &err), &err);
  return st;
}

static int64_t number(struct store *st, const char *sql) {
  int64_t n = -1;
  CHECK_OK(db_int(store_db(st), &n, NULL, &err, sql, NULL), &err);
  return n;
}

/* Result of a query on a store that is not open. */
static int64_t number_at(const char *path, const char *sql) {
  struct store *st = open_store(path);
  int64_t n = number(st, sql);
  store_close(&st);
  return n;
}

static struct str line_of(const char *from, const char *tool, int64_t at) {
  char id[UUID_SIZE];
  uuid7_new(at, id);
  struct call_row r = {.event_id = str_from(id),
                       .team = STR("default"),
                       .tool = str_from(tool),
                       .op = STR("search"),
                       .project = STR(""),
                       .source = STR("test"),
                       .at = at,
                       .duration_us = 5};
  return before_boot_line(&a, &r, str_from(from));
}

static void add(const char *path, struct str lines) { CHECK_OK(before_boot_add(path, &a, lines, &err), &err); }

static int64_t move(struct store *st, const char *path, const char *from, const char *session, int64_t older) {
  int64_t moved = -1;
  struct before_boot_move m = {.from = str_from(from), .session = str_from(session), .older = older, .now = NOW};
  CHECK_OK(before_boot_move(st, path, &a, &m, &moved, &err), &err);
  return moved;
}

/* An empty file is removed. */
static size_t lines_in(const char *path) {
  struct str text;
  size_t n = 0;
  if (access(path, F_OK) != 0)
    return 0;
  CHECK_OK(fs_read(&a, path, 64 << 20, &text, &err), &err);
  for (size_t i = 0; i < text.n; i++)
    n += text.p[i] == '\n';
  return n;
}

static const char *file_of(const char *path) {
  char name[BEFORE_BOOT_PATH];
  before_boot_path(path, name);
  return arena_cstr(&a, str_from(name));
}

TEST(earlier_calls_of_a_client_get_the_session_of_its_boot) {
  const char *path = test_store("a.db"), *file = file_of(path);
  struct stat sb;
  CHECK(on_postgres() || strcmp(file, path_join(NULL, "a.db.before-boot.jsonl")) == 0);
  struct store *st = open_store(path);
  CHECK_INT(move(st, file, "1/x", "s-1", NOW), 0); /* no file, no calls */
  add(file, line_of("1/x", "one", NOW - 3000));
  add(file, line_of("1/y", "two", NOW - 2000));
  add(file, line_of("1/x", "three", NOW - 1000));
  CHECK(stat(file, &sb) == 0 && (sb.st_mode & 0777) == 0600);
  CHECK_INT(move(st, file, "1/x", "s-1", NOW - 60000), 2);
  CHECK_INT(number(st, "SELECT count(*) FROM tool_call WHERE session = 's-1' AND tool IN ('one', 'three')"), 2);
  CHECK_INT(number(st, "SELECT count(*) FROM tool_call"), 2);
  CHECK_INT(lines_in(file), 1); /* the other client has not booted */
  CHECK_INT(move(st, file, "1/y", "s-2", NOW - 60000), 1);
  CHECK_INT(number(st, "SELECT count(*) FROM tool_call WHERE session = 's-2' AND tool = 'two'"), 1);
  CHECK_INT(lines_in(file), 0);
  store_close(&st);
}

TEST(calls_without_boot_are_moved_without_a_session_and_old_ones_dropped) {
  const char *file = path_join(NULL, "file.jsonl");
  struct store *st = open_store(test_store("a.db"));
  add(file, line_of("1/x", "ancient", NOW - 25 * 3600 * 1000));
  add(file, line_of("1/x", "old", NOW - 61000));
  add(file, line_of("1/x", "new", NOW - 1000));
  CHECK_INT(move(st, file, NULL, NULL, NOW - 60000), 1);
  CHECK_INT(number(st, "SELECT count(*) FROM tool_call WHERE tool = 'old' AND session IS NULL"), 1);
  CHECK_INT(lines_in(file), 1);
  store_close(&st);
}

TEST(the_end_of_a_process_ends_all_its_clients) {
  const char *file = path_join(NULL, "file.jsonl");
  struct store *st = open_store(test_store("a.db"));
  add(file, line_of("12/a", "one", NOW));
  add(file, line_of("12/b", "two", NOW));
  add(file, line_of("123/a", "other", NOW));
  CHECK_INT(move(st, file, "12/", NULL, 0), 2);
  CHECK_INT(number(st, "SELECT count(*) FROM tool_call WHERE tool = 'other'"), 0);
  CHECK_INT(lines_in(file), 1);
  store_close(&st);
}

TEST(the_same_line_twice_is_one_call) {
  const char *file = path_join(NULL, "file.jsonl");
  struct store *st = open_store(test_store("a.db"));
  struct str line = line_of("1/x", "one", NOW);
  add(file, line);
  move(st, file, "1/x", "s-1", 0);
  add(file, line); /* as after a crash between the store and the file */
  move(st, file, "1/x", "s-2", 0);
  CHECK_INT(number(st, "SELECT count(*) FROM tool_call"), 1);
  CHECK_INT(number(st, "SELECT count(*) FROM tool_call WHERE session = 's-1'"), 1);
  store_close(&st);
}

TEST(the_newest_thousand_lines_are_kept) {
  const char *file = path_join(NULL, "file.jsonl");
  struct store *st = open_store(test_store("a.db"));
  struct buf lines = BUF(&a);
  for (int i = 0; i < 990; i++)
    buf_add(&lines, line_of("1/x", "early", NOW - 2000));
  add(file, buf_str(&lines));
  lines = BUF(&a);
  for (int i = 0; i < 20; i++)
    buf_add(&lines, line_of("1/x", "late", NOW - 1000));
  add(file, buf_str(&lines));
  CHECK_INT(lines_in(file), 1000);
  CHECK_INT(move(st, file, "1/x", "s", 0), 1000);
  CHECK_INT(number(st, "SELECT count(*) FROM tool_call WHERE tool = 'late'"), 20);
  store_close(&st);
}

TEST(invalid_lines_are_dropped) {
  const char *file = path_join(NULL, "file.jsonl");
  struct store *st = open_store(test_store("a.db"));
  static const char *const bad[] = {"",
                                    "no json",
                                    "[]",
                                    "{}",
                                    "{\"event_id\":\"x\"}",
                                    "{\"event_id\":\"01960000-0000-7000-8000-000000000000\",\"from\":\"1/x\",\"at\":-5,"
                                    "\"team\":\"default\",\"tool\":\"t\",\"op\":\"o\",\"project\":\"\",\"source\":\"\","
                                    "\"duration_us\":1}",
                                    "{\"cut off"};
  FILE *f = fopen(file, "w");
  CHECK(f);
  for (size_t i = 0; i < ARRAY_LEN(bad); i++)
    CHECK(fprintf(f, i + 1 < ARRAY_LEN(bad) ? "%s\n" : "%s", bad[i]) >= 0);
  CHECK(fclose(f) == 0);
  add(file, line_of("1/x", "good", NOW));
  CHECK_INT(move(st, file, "1/x", "s", 0), 1);
  CHECK_INT(number(st, "SELECT count(*) FROM tool_call WHERE tool = 'good'"), 1);
  CHECK_INT(lines_in(file), 0);
  store_close(&st);
}

/* ---- a server's calls ---- */

static struct telemetry *tele;

static struct engine *open_engine(const char *path) {
  struct engine_options o = {.path = path, .telemetry = tele, .clock = {.fixed = NOW}};
  struct engine *e = NULL;
  CHECK_OK(engine_open(&o, &e, &err), &err);
  return e;
}

static void call(struct engine *e, const char *tool, const char *op, const struct origin *origin, const char *session) {
  struct caller caller = {.team = STR("default"),
                          .project = STR(""),
                          .source = STR("test"),
                          .trust = STR("agent"),
                          .tool = str_from(tool),
                          .session = str_from(session),
                          .origin = origin};
  yyjson_val *args;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&a, STR("{}"), &args, &err), &err);
  CHECK_OK(op_run(e, op_find(str_from(op)), &caller, NULL, &a, args, &result, &err), &err);
}

TEST(calls_of_a_client_get_the_session_of_its_boot_before_and_after) {
  const char *path = test_store("a.db");
  struct origin one = {.connection = STR("c1")}, two = {.connection = STR("c2")};
  CHECK_OK(telemetry_new(NULL, &tele, &err), &err);
  struct engine *e = open_engine(path);
  call(e, "early", "stats", &one, NULL);
  call(e, "stranger", "stats", &two, NULL);
  call(e, "given", "stats", &one, "s-given");
  call(e, NULL, "stats", NULL, NULL); /* not an agent: written to the store directly */
  pthread_mutex_lock(&e->lock);
  telemetry_flush_before_boot(e, STR("c1"), STR("s-1"));
  pthread_mutex_unlock(&e->lock);
  call(e, "later", "stats", &one, NULL);
  engine_close(&e);
  telemetry_close(&tele);
  CHECK_INT(number_at(path, "SELECT count(*) FROM tool_call"), 5);
  CHECK_INT(number_at(path, "SELECT count(*) FROM tool_call WHERE session = 's-1' AND tool IN ('early', 'later')"), 2);
  CHECK_INT(number_at(path, "SELECT count(*) FROM tool_call WHERE session = 's-given' AND tool = 'given'"), 1);
  CHECK_INT(number_at(path, "SELECT count(*) FROM tool_call WHERE session IS NULL AND tool = 'stranger'"), 1);
  CHECK_INT(number_at(path, "SELECT count(*) FROM tool_call WHERE session IS NULL AND tool = 'stats'"), 1);
}

TEST(calls_before_boot_are_only_in_the_file) {
  const char *path = test_store("a.db"), *file = file_of(path);
  struct origin one = {.pid = 77};
  CHECK_OK(telemetry_new(NULL, &tele, &err), &err);
  struct engine *e = open_engine(path);
  for (int i = 0; i < 3; i++)
    call(e, "early", "stats", &one, NULL);
  while (access(file, F_OK) != 0 || lines_in(file) < 3)
    usleep(1000); /* up to the test's time limit */
  pthread_mutex_lock(&e->lock);
  reads_flush(e->store);
  CHECK_INT(number(e->store, "SELECT count(*) FROM tool_call"), 0);
  telemetry_flush_before_boot(e, STR("p77"), STR("s-9"));
  pthread_mutex_unlock(&e->lock);
  while (number_at(path, "SELECT count(*) FROM tool_call WHERE session = 's-9'") < 3 || access(file, F_OK) == 0)
    usleep(1000);
  engine_close(&e);
  telemetry_close(&tele);
}

TEST(queued_calls_are_written_without_a_further_call) {
  const char *path = test_store("a.db");
  CHECK_OK(telemetry_new(NULL, &tele, &err), &err);
  struct engine *e = open_engine(path);
  call(e, NULL, "stats", NULL, NULL);
  while (number_at(path, "SELECT count(*) FROM tool_call") < 1)
    usleep(10000);
  engine_close(&e);
  telemetry_close(&tele);
}

TEST(an_engine_without_telemetry_records_only_when_asked) {
  const char *path = test_store("a.db");
  tele = NULL;
  struct engine *e = open_engine(path);
  call(e, NULL, "stats", NULL, NULL);
  engine_close(&e);
  CHECK_INT(number_at(path, "SELECT count(*) FROM tool_call"), 0);
  struct engine_options o = {.path = path, .record_calls = true, .clock = {.fixed = NOW}};
  CHECK_OK(engine_open(&o, &e, &err), &err);
  call(e, NULL, "stats", NULL, NULL);
  engine_close(&e);
  CHECK_INT(number_at(path, "SELECT count(*) FROM tool_call"), 1);
}

static void *call_many(void *arg) {
  struct engine *e = open_engine(arg);
  struct arena mine;
  arena_init(&mine);
  struct origin who = {.connection = STR("many")};
  struct caller caller = {
      .team = STR("default"), .project = STR(""), .source = STR("test"), .tool = STR("tool"), .origin = &who};
  for (int i = 0; i < 100; i++) {
    yyjson_val *args;
    yyjson_mut_val *result;
    struct error mistake;
    CHECK_OK(json_read(&mine, STR("{}"), &args, &mistake), &mistake);
    CHECK_OK(op_run(e, op_find(STR("config")), &caller, NULL, &mine, args, &result, &mistake), &mistake);
    if (i == 50) {
      pthread_mutex_lock(&e->lock);
      telemetry_flush_before_boot(e, STR("many"), STR("s-many"));
      pthread_mutex_unlock(&e->lock);
    }
  }
  engine_close(&e);
  arena_release(&mine);
  return NULL;
}

TEST(engines_of_several_threads_lose_no_call) {
  enum { THREADS = 4 };
  char *path = arena_cstr(&a, str_from(test_store("a.db")));
  pthread_t threads[THREADS];
  CHECK_OK(telemetry_new(NULL, &tele, &err), &err);
  struct engine *keeper = open_engine(path);
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, call_many, path) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  engine_close(&keeper);
  telemetry_close(&tele);
  CHECK_INT(number_at(path, "SELECT count(*) FROM tool_call"), THREADS * 100);
}
