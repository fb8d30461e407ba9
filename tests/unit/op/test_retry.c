/* test_retry.c: operations whose connection is lost: retried if that is safe, otherwise reported. */
#include "op/run/retry.h"

#include "base/os/clock.h"
#include "op/run/common.h"
#include "op/run/pool.h"
#include "op/telemetry/telemetry.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct error err;
static struct engine *engine;
static int runs, cut_runs;
static bool commit_first, say_first, progress_first;

static struct arena arena;

static void start(void) {
  struct engine_options o = {.path = test_store("a.db")};
  CHECK_OK(engine_open(&o, &engine, &err), &err);
}

/* Terminates the engine's connection from another one. */
static void cut(struct op_call *call) {
  struct direct *d = direct_open(test_store("a.db"));
  int64_t pid;
  char sql[100];
  CHECK_OK(db_int(store_db(call->engine->store), &pid, NULL, call->err, "SELECT pg_backend_pid()", NULL), call->err);
  snprintf(sql, sizeof(sql), "SELECT CASE WHEN pg_terminate_backend(%lld, 5000) THEN 1 ELSE 0 END", (long long)pid);
  CHECK_INT(direct_number(d, sql), 1);
  direct_close(d);
}

/* One event, in a transaction whose connection is cut in the first runs. */
static enum status add_event(struct op_call *call, const char *uid, bool lose) {
  struct txn txn;
  struct event e = {.action = STR("test:event"), .uid = str_from(uid)};
  enum status s = call_begin(call, &txn);
  if (s == STATUS_OK)
    s = event_add(&txn, &e, call->err);
  if (s == STATUS_OK && lose)
    cut(call);
  return s == STATUS_OK ? call_commit(call, &txn) : s;
}

static enum status run_test(struct op_call *call) {
  runs++;
  json_put_int(call->doc, call->result, "run", runs);
  arena_alloc(call->arena, 1 << 20);
  enum status s = STATUS_OK;
  if (commit_first)
    s = add_event(call, "first", false);
  if (s == STATUS_OK && say_first)
    s = call->hooks.emit(call->hooks.arg, STR("a line"));
  if (progress_first)
    progress(call, "working", 1, 2);
  return s == STATUS_OK ? add_event(call, "second", runs <= cut_runs) : s;
}

static const struct param no_params[] = {{0}};
static const struct op test_op = {.name = "test", .params = no_params, .flags = OP_WRITE, .run = run_test};

static enum status take_line(void *arg, struct str line) {
  (void)line;
  ++*(int *)arg;
  return STATUS_OK;
}

static void take_progress(void *arg, const char *what, int64_t done, int64_t total) {
  (void)what;
  (void)done;
  (void)total;
  ++*(int *)arg;
}

static enum status call_it(int *told, yyjson_mut_val **ret_result) {
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test")};
  struct op_hooks hooks = {.arg = told, .emit = take_line, .progress = take_progress};
  yyjson_val *args;
  CHECK_OK(json_read(&arena, STR("{}"), &args, &err), &err);
  return op_run(engine, &test_op, &caller, &hooks, &arena, args, ret_result, &err);
}

static int64_t events_named(const char *uid) {
  struct direct *d = direct_open(test_store("a.db"));
  char sql[100];
  snprintf(sql, sizeof(sql), "SELECT count(*) FROM event WHERE uid = '%s'", uid);
  int64_t n = direct_number(d, sql);
  direct_close(d);
  return n;
}

TEST(a_call_that_loses_its_connection_is_retried) {
  yyjson_mut_val *result = NULL;
  int told = 0;
  start();
  cut_runs = on_postgres() ? 2 : 0;
  CHECK_OK(call_it(&told, &result), &err);
  CHECK_INT(runs, cut_runs + 1);
  /* The result comes only from the last run. */
  CHECK_INT(yyjson_mut_get_sint(yyjson_mut_obj_get(result, "run")), cut_runs + 1);
  CHECK_INT(yyjson_mut_obj_size(result), 2);
  CHECK_INT(events_named("second"), 1);
  CHECK_INT(told, 0);
  engine_close(&engine);
}

TEST(repeated_connection_loss_is_reported_and_leaves_nothing, .only = TEST_ON_POSTGRES) {
  yyjson_mut_val *result = NULL;
  int told = 0;
  start();
  cut_runs = 100;
  CHECK_STATUS(call_it(&told, &result), STATUS_LOST);
  CHECK_INT(runs, 1 + RETRY_MAX);
  CHECK(result == NULL);
  CHECK(err.message[0] && err.fix[0]);
  CHECK_INT(events_named("second"), 0);
  /* Retries have released their memory; the first run's stays with the call. */
  CHECK(arena.used < 3 << 20);
  cut_runs = 0;
  CHECK_OK(call_it(&told, &result), &err); /* the engine still works */
  CHECK_INT(events_named("second"), 1);
  engine_close(&engine);
}

TEST(a_call_that_committed_is_not_retried, .only = TEST_ON_POSTGRES) {
  yyjson_mut_val *result = NULL;
  int told = 0;
  start();
  commit_first = true;
  cut_runs = 1;
  CHECK_STATUS(call_it(&told, &result), STATUS_LOST);
  CHECK_INT(runs, 1);
  CHECK_INT(events_named("first"), 1);
  CHECK_INT(events_named("second"), 0);
  engine_close(&engine);
}

TEST(a_call_that_sent_output_is_not_retried, .only = TEST_ON_POSTGRES) {
  yyjson_mut_val *result = NULL;
  int told = 0;
  start();
  cut_runs = 1;
  say_first = true;
  CHECK_STATUS(call_it(&told, &result), STATUS_LOST);
  CHECK_INT(runs, 1);
  CHECK_INT(told, 1);
  say_first = false;
  progress_first = true;
  cut_runs = 2;
  CHECK_STATUS(call_it(&told, &result), STATUS_LOST);
  CHECK_INT(runs, 2);
  CHECK_INT(told, 2);
  engine_close(&engine);
}

TEST(a_retried_call_counts_as_one) {
  struct telemetry *t = NULL;
  struct telemetry_totals all;
  yyjson_mut_val *result = NULL;
  int told = 0;
  CHECK_OK(telemetry_new(NULL, &t, &err), &err);
  struct engine_options o = {.path = test_store("a.db"), .telemetry = t};
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  cut_runs = on_postgres() ? 1 : 0;
  CHECK_OK(call_it(&told, &result), &err);
  telemetry_totals(t, &arena, &all);
  CHECK_INT(all.calls, 1);
  CHECK_INT(all.errors, 0);
  engine_close(&engine);
  telemetry_close(&t);
}
