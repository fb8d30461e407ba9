/* test_metrics_text.c: the Prometheus text: checked by promtool, and its values. */
#include "op/telemetry/metrics_text.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "op/op.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct error err;
static struct arena a; /* lives as long as the test */

static void note(struct telemetry *t, const char *name, int64_t duration_us, const struct error *error) {
  struct telemetry_call call = {.name = str_from(name),
                                .op = STR("search"),
                                .team = STR("default"),
                                .project = STR(""),
                                .source = STR("test"),
                                .at = 1763208000000,
                                .duration_us = duration_us,
                                .error = error};
  telemetry_note(t, &call);
}

static struct telemetry *filled(void) {
  struct telemetry *t = NULL;
  struct error bad;
  CHECK_OK(telemetry_new(NULL, &t, &err), &err);
  error_set(&bad, STATUS_BUSY, "locked");
  note(t, "memory_search", 2500, NULL);
  note(t, "memory_search", 2501, NULL);
  note(t, "memory_search", 12000000, &bad);
  note(t, "odd \"name\" \\ with\nlines\x01", 7, NULL);
  return t;
}

static const struct metrics_figures some = {.engines = 4,
                                            .engines_open = 2,
                                            .engines_busy = 1,
                                            .store_bytes = 4096,
                                            .store_log_bytes = -1,
                                            .memories = 12,
                                            .pending_embeddings = 0,
                                            .last_seq = 99};

static void check_has_line(struct str text, const char *line) {
  size_t at = str_find(text, str_from(line), 0);
  if (at == SIZE_MAX || (at > 0 && text.p[at - 1] != '\n') || text.p[at + strlen(line)] != '\n')
    FAIL("no line '%s' in\n%.*s", line, STR_ARG(text));
}

/* promtool comes with the package that scripts/setup unpacks; the test fails without it. */
static void check_by_promtool(struct str text) {
  const char *tool = CAIRN_SOURCE_DIR "/build/deps/tools/usr/bin/promtool";
  if (access(tool, X_OK) != 0)
    FAIL("promtool is missing: run scripts/setup test");
  struct run r = proc_run(.argv = ARGS(tool, "check", "metrics"), .input = text, .timeout_ms = 15000);
  if (r.exit_code != 0 || r.out.n || r.err.n)
    FAIL("promtool: exit code %d\n%.*s%.*s\n%.*s", r.exit_code, STR_ARG(r.out), STR_ARG(r.err), STR_ARG(text));
}

TEST(prometheus_accepts_it) {
  struct telemetry *t = filled();
  check_by_promtool(metrics_text(&a, t, &some));
  telemetry_close(&t);
}

TEST(prometheus_accepts_a_process_without_calls) {
  const struct metrics_figures none = {-1, -1, -1, -1, -1, -1, -1, -1};
  struct telemetry *t = NULL;
  check_by_promtool(metrics_text(&a, NULL, &none));
  CHECK_OK(telemetry_new(NULL, &t, &err), &err);
  check_by_promtool(metrics_text(&a, t, &none));
  telemetry_close(&t);
}

TEST(counters_histogram_and_gauges) {
  struct telemetry *t = filled();
  struct str text = metrics_text(&a, t, &some);
  check_has_line(text, "# TYPE cairn_calls_total counter");
  check_has_line(text, "cairn_calls_total{tool=\"memory_search\"} 3");
  check_has_line(text, "cairn_call_errors_total{tool=\"memory_search\"} 1");
  check_has_line(text, "cairn_call_duration_seconds_bucket{tool=\"memory_search\",le=\"0.001\"} 0");
  check_has_line(text, "cairn_call_duration_seconds_bucket{tool=\"memory_search\",le=\"0.0025\"} 1");
  check_has_line(text, "cairn_call_duration_seconds_bucket{tool=\"memory_search\",le=\"0.005\"} 2");
  check_has_line(text, "cairn_call_duration_seconds_bucket{tool=\"memory_search\",le=\"10\"} 2");
  check_has_line(text, "cairn_call_duration_seconds_bucket{tool=\"memory_search\",le=\"+Inf\"} 3");
  check_has_line(text, "cairn_call_duration_seconds_sum{tool=\"memory_search\"} 12.005001");
  check_has_line(text, "cairn_call_duration_seconds_count{tool=\"memory_search\"} 3");
  check_has_line(text, "cairn_calls_total{tool=\"odd \\\"name\\\" \\\\ with\\nlines\"} 1");
  check_has_line(text, "cairn_slow_calls_total 1");
  check_has_line(text, "cairn_engines_busy 1");
  check_has_line(text, "cairn_store_size_bytes 4096");
  check_has_line(text, "cairn_pending_embeddings 0");
  CHECK(str_find(text, STR("cairn_store_log_size_bytes"), 0) == SIZE_MAX); /* unknown */
  telemetry_close(&t);
}

static struct pool *new_pool(const char *path, size_t size) {
  struct engine_options o = {.path = path, .clock = {.fixed = 1763208000000}};
  struct pool *pool = NULL;
  CHECK_OK(pool_new(&o, (struct fair_places){.shared = size}, &pool, &err), &err);
  return pool;
}

TEST(a_scrape_creates_no_store_and_reports_an_existing_one) {
  const char *path = test_store_new("a.db");
  struct pool *pool = new_pool(path, 2);
  struct str text = metrics_page(&a, NULL, pool, STR("default"));
  check_by_promtool(text);
  check_has_line(text, "cairn_engines_open 0");
  CHECK(str_find(text, STR("cairn_memories"), 0) == SIZE_MAX);
  CHECK(!store_is_there(path));
  struct engine *e;
  CHECK_OK(pool_acquire(pool, &e, &err), &err);
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  yyjson_val *args;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&a, STR("{\"text\":\"The boat is green\",\"defer_embedding\":true}"), &args, &err), &err);
  CHECK_OK(op_run(e, op_find(STR("remember")), &caller, NULL, &a, args, &result, &err), &err);
  pool_release(pool, e);
  text = metrics_page(&a, NULL, pool, STR("default"));
  check_by_promtool(text);
  check_has_line(text, "cairn_engines 2");
  check_has_line(text, "cairn_engines_open 1");
  check_has_line(text, "cairn_engines_busy 0");
  check_has_line(text, "cairn_memories 1");
  pool_close(&pool);
}

TEST(a_scrape_does_not_wait_for_busy_engines) {
  struct pool *pool = new_pool(test_store("a.db"), 1);
  struct engine *e, *other;
  CHECK_OK(pool_acquire(pool, &e, &err), &err);
  CHECK_STATUS(pool_try_acquire(pool, &other, &err), STATUS_BUSY);
  struct str text = metrics_page(&a, NULL, pool, STR("default")), json;
  check_has_line(text, "cairn_engines_busy 1");
  CHECK(str_find(text, STR("cairn_memories"), 0) == SIZE_MAX);
  CHECK(readyz_json(&a, pool, true, &json));
  pool_release(pool, e);
  pool_close(&pool);
}

TEST(ready_means_that_the_store_can_be_read) {
  struct pool *pool = new_pool(test_store("a.db"), 1);
  struct str json;
  CHECK(readyz_json(&a, pool, true, &json));
  CHECK_STR(json, "{\"status\":\"ready\"}");
  pool_close(&pool);
  const char *junk = path_join(NULL, "junk.db");
  CHECK_OK(fs_write(junk, STR("this is no database at all, but long enough to be looked at"), 0600, &err), &err);
  pool = new_pool(junk, 1);
  CHECK(!readyz_json(&a, pool, true, &json));
  yyjson_val *v;
  CHECK_OK(json_read(&a, json, &v, &err), &err);
  CHECK_STR(json_str(v, "status"), "not ready");
  CHECK_STR(json_str(v, "error"), "corrupt");
  CHECK(json_str(v, "message").n > 0);
  pool_close(&pool);
}

TEST(healthz_has_pid_and_uptime) {
  struct telemetry *t = filled();
  yyjson_val *v;
  CHECK_OK(json_read(&a, healthz_json(&a, t, true), &v, &err), &err);
  CHECK_STR(json_str(v, "status"), "ok");
  CHECK_INT(json_int(v, "pid", 0), getpid());
  CHECK(json_num(v, "uptime_s", -1) >= 0);
  CHECK_STR(healthz_json(&a, t, false), "{\"status\":\"ok\"}");
  telemetry_close(&t);
}

static void scrape(void *pool) {
  struct arena own;
  jmp_buf oom;
  arena_init(&own);
  if (!ARENA_BOUNDARY(&own, oom))
    (void)metrics_page(&own, NULL, pool, STR("default"));
  arena_release(&own);
}

TEST(an_out_of_memory_scrape_leaves_no_snapshot) {
  no_statement_check();
  const char *path = test_store("a.db");
  struct pool *pool = new_pool(path, 1);
  struct engine *e;
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  yyjson_val *args;
  yyjson_mut_val *result;
  setenv("CAIRN_EMBEDDER", "hash-v1", 1); /* so that there is an index, whose row is read */
  CHECK_OK(pool_acquire(pool, &e, &err), &err);
  CHECK_OK(json_read(&a, STR("{\"text\":\"The boat is green\"}"), &args, &err), &err);
  CHECK_OK(op_run(e, op_find(STR("remember")), &caller, NULL, &a, args, &result, &err), &err);
  pool_release(pool, e);
  check_has_line(metrics_page(&a, NULL, pool, STR("default")), "cairn_pending_embeddings 0");
  CHECK(check_leaves_no_snapshot(e->store, path, scrape, pool) >= 2);
  pool_close(&pool);
}
