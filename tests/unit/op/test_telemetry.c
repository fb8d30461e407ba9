/* test_telemetry.c: counts, quantiles, the latest calls and the log file, also from many threads. */
#include "op/telemetry/telemetry.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "op/op.h"
#include "op/telemetry/log.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct error err;
static struct arena a; /* lives as long as the test */

static struct telemetry *new_telemetry(const char *folder) {
  struct telemetry *t = NULL;
  CHECK_OK(telemetry_new(folder, &t, &err), &err);
  return t;
}

static void note(struct telemetry *t, const char *name, int64_t duration_us, const struct error *error) {
  struct telemetry_call call = {.name = str_from(name),
                                .op = STR("search"),
                                .team = STR("default"),
                                .project = STR("p"),
                                .source = STR("test"),
                                .at = 1763208000000,
                                .duration_us = duration_us,
                                .error = error};
  telemetry_note(t, &call);
}

static const struct telemetry_tool *tool_of(const struct telemetry_tools *list, const char *name) {
  for (size_t i = 0; i < list->n; i++)
    if (str_is(list->v[i].name, name))
      return &list->v[i];
  FAIL("no tool %s", name);
}

static struct str text_of(const char *path) {
  struct str text;
  CHECK_OK(fs_read(&a, path, 64 << 20, &text, &err), &err);
  return text;
}

static size_t lines_in(struct str text) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++)
    n += text.p[i] == '\n';
  return n;
}

TEST(counts_errors_and_quantiles_by_name) {
  struct telemetry *t = new_telemetry(NULL);
  struct error bad;
  error_set(&bad, STATUS_NOT_FOUND, "there is no memory 7");
  for (int i = 1; i <= 100; i++)
    note(t, "search", i * 1000, NULL);
  note(t, "get", 50, &bad);
  note(t, "get", 60, NULL);
  struct telemetry_tools list;
  telemetry_list(t, &a, &list);
  CHECK_INT(list.n, 2);
  CHECK_STR(list.v[0].name, "get");
  const struct telemetry_tool *s = tool_of(&list, "search"), *g = tool_of(&list, "get");
  CHECK_INT(s->calls, 100);
  CHECK_INT(s->errors, 0);
  CHECK_INT(s->sum_us, 5050000);
  CHECK_INT(s->max_us, 100000);
  CHECK_NEAR((double)s->p50_us, 50000, 50000 / 64.0);
  CHECK_NEAR((double)s->p95_us, 95000, 95000 / 64.0);
  CHECK_NEAR((double)s->p99_us, 99000, 99000 / 64.0);
  CHECK_INT(g->calls, 2);
  CHECK_INT(g->errors, 1);
  CHECK_INT(g->p50_us, 50);
  struct telemetry_totals all;
  telemetry_totals(t, &a, &all);
  CHECK_INT(all.calls, 102);
  CHECK_INT(all.errors, 1);
  CHECK_INT(all.slow, 0);
  CHECK(all.uptime_us >= 0 && all.started > 1763000000000);
  CHECK(!all.log.p);
  telemetry_close(&t);
  CHECK(!t);
}

TEST(buckets_are_cumulative_and_exact) {
  struct telemetry *t = new_telemetry(NULL);
  static const int64_t durations[] = {1, 100, 101, 250, 1000, 1001, 9999999, 10000000, 10000001, 99000000};
  for (size_t i = 0; i < ARRAY_LEN(durations); i++)
    note(t, "x", durations[i], NULL);
  struct telemetry_tools list;
  telemetry_list(t, &a, &list);
  for (size_t b = 0; b < TELEMETRY_LES; b++) {
    uint64_t want = 0;
    for (size_t i = 0; i < ARRAY_LEN(durations); i++)
      want += durations[i] <= telemetry_le_us[b];
    CHECK_INT(list.v[0].le[b], want);
    CHECK(b == 0 || telemetry_le_us[b] > telemetry_le_us[b - 1]);
  }
  telemetry_close(&t);
}

TEST(the_last_five_hundred_are_kept_newest_first) {
  struct telemetry *t = new_telemetry(NULL);
  struct error bad;
  error_set(&bad, STATUS_USAGE, "wrong");
  struct telemetry_entries list;
  telemetry_recent(t, &a, false, 10, &list);
  CHECK_INT(list.n, 0);
  for (int i = 1; i <= 1700; i++)
    note(t, "x", i, i % 100 ? NULL : &bad);
  telemetry_recent(t, &a, false, 10000, &list);
  CHECK_INT(list.n, 500);
  CHECK_INT(list.v[0].duration_us, 1700);
  CHECK_INT(list.v[499].duration_us, 1201);
  telemetry_recent(t, &a, true, 3, &list);
  CHECK_INT(list.n, 3);
  CHECK_INT(list.v[0].duration_us, 1700);
  CHECK_INT(list.v[2].duration_us, 1500);
  CHECK_INT(list.v[0].code, STATUS_USAGE);
  CHECK_STR(list.v[0].message, "wrong");
  telemetry_close(&t);
}

TEST(slow_calls_are_flagged) {
  struct telemetry *t = new_telemetry(NULL);
  note(t, "x", 10000000, NULL);
  note(t, "x", 10000001, NULL);
  struct telemetry_entries list;
  telemetry_recent(t, &a, false, 10, &list);
  CHECK(list.v[0].slow && !list.v[1].slow);
  struct telemetry_totals all;
  telemetry_totals(t, &a, &all);
  CHECK_INT(all.slow, 1);
  CHECK(str_find(telemetry_json(&a, &list.v[0]), STR("\"slow\":true"), 0) != SIZE_MAX);
  CHECK(str_find(telemetry_json(&a, &list.v[1]), STR("\"slow\""), 0) == SIZE_MAX);
  telemetry_close(&t);
}

TEST(secrets_are_in_no_entry_and_no_log) {
  const char *folder = path_join(NULL, "log");
  struct telemetry *t = new_telemetry(folder);
  struct error bad;
  /* Assembled here, so secret scanners do not report this file. */
  error_set(&bad, STATUS_SECRET, "refused: %s%s and more \xff text", "ghp_", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
  note(t, "remember", 5, &bad);
  struct telemetry_entries list;
  telemetry_recent(t, &a, true, 1, &list);
  CHECK(str_find(list.v[0].message, STR("aB3dE5fG7"), 0) == SIZE_MAX);
  CHECK(str_find(list.v[0].message, STR("[REDACTED:"), 0) != SIZE_MAX);
  telemetry_close(&t);
  struct str log = text_of(path_join(folder, "calls.jsonl"));
  CHECK(str_find(log, STR("aB3dE5fG7"), 0) == SIZE_MAX);
  CHECK(str_find(log, STR("[REDACTED:"), 0) != SIZE_MAX);
  yyjson_val *line;
  CHECK_OK(json_read(&a, str_trim(log), &line, &err), &err);
  CHECK_STR(json_str(line, "error"), "secret");
}

TEST(messages_are_cut_between_characters) {
  struct telemetry *t = new_telemetry(NULL);
  struct error bad = {.code = STATUS_USAGE};
  for (size_t i = 0; i + 3 < sizeof(bad.message); i += 3)
    memcpy(bad.message + i, "\xe2\x82\xac", 4); /* the euro sign has three bytes, and 500 is not a multiple of three */
  note(t, "x", 5, &bad);
  struct telemetry_entries list;
  telemetry_recent(t, &a, true, 1, &list);
  CHECK_INT(list.v[0].message.n, 498);
  telemetry_close(&t);
}

TEST(the_log_has_one_json_object_for_each_call_and_is_private) {
  const char *folder = path_join(NULL, "state/log"), *path = path_join(folder, "calls.jsonl");
  struct telemetry *t = new_telemetry(folder);
  struct error bad;
  struct stat st;
  error_set(&bad, STATUS_BUSY, "locked");
  CHECK(stat(folder, &st) != 0); /* nothing before the first call */
  note(t, "memory_search", 1500, NULL);
  note(t, "memory_get", 2, &bad);
  struct telemetry_totals all;
  telemetry_totals(t, &a, &all);
  CHECK_STR(all.log, path);
  telemetry_close(&t);
  CHECK(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700);
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
  struct str rest = text_of(path), line;
  yyjson_val *v;
  CHECK(str_line(&rest, &line));
  CHECK_OK(json_read(&a, line, &v, &err), &err);
  CHECK_STR(json_str(v, "at"), "2025-11-15T12:00:00.000Z");
  CHECK_STR(json_str(v, "name"), "memory_search");
  CHECK_STR(json_str(v, "op"), "search");
  CHECK_STR(json_str(v, "project"), "p");
  CHECK_STR(json_str(v, "source"), "test");
  CHECK_INT(json_int(v, "duration_us", 0), 1500);
  CHECK_INT(json_int(v, "pid", 0), getpid());
  CHECK(json_bool(v, "ok", false));
  CHECK(!yyjson_obj_get(v, "error") && !yyjson_obj_get(v, "message"));
  CHECK(str_line(&rest, &line));
  CHECK_OK(json_read(&a, line, &v, &err), &err);
  CHECK(!json_bool(v, "ok", true));
  CHECK_STR(json_str(v, "error"), "busy");
  CHECK_STR(json_str(v, "message"), "locked");
  CHECK(!str_line(&rest, &line));
}

TEST(log_files_are_rotated_and_the_oldest_is_deleted) {
  struct telemetry_log log;
  const char *folder = path_join(NULL, "log");
  CHECK_OK(telemetry_log_init(&log, folder, &err), &err);
  log.limit = 100;
  for (int i = 0; i < 70; i++) { /* 10 bytes a line, 10 lines a file: 7 files, 5 are kept */
    char line[32];
    snprintf(line, sizeof(line), "line %04d\n", i);
    CHECK_OK(telemetry_log_add(&log, str_from(line), &err), &err);
  }
  struct stat st;
  for (int i = 0; i < 5; i++) {
    char name[32], first[16];
    snprintf(name, sizeof(name), i ? "calls.jsonl.%d" : "calls.jsonl", i);
    snprintf(first, sizeof(first), "line %04d", 60 - 10 * i);
    struct str text = text_of(path_join(folder, name));
    CHECK_INT(text.n, 100);
    CHECK(str_starts(text, str_from(first)));
    CHECK(stat(path_join(folder, name), &st) == 0 && (st.st_mode & 0777) == 0600);
  }
  CHECK(access(path_join(folder, "calls.jsonl.5"), F_OK) != 0);
}

TEST(log_write_errors_are_counted_and_fail_no_call) {
  const char *file = path_join(NULL, "file");
  FILE *f = fopen(file, "w");
  CHECK(f && fclose(f) == 0);
  struct telemetry *t = new_telemetry(path_join(file, "log"));
  struct telemetry_totals all = {0};
  for (int i = 0; i < 10; i++)
    note(t, "x", 5, NULL);
  while (all.dropped < 10) { /* up to the test's time limit */
    usleep(1000);
    telemetry_totals(t, &a, &all);
  }
  CHECK_INT(all.calls, 10);
  CHECK_INT(all.dropped, 10);
  telemetry_close(&t);
}

TEST(unknown_names_are_counted_together) {
  struct telemetry *t = new_telemetry(NULL);
  for (int i = 0; i < 300; i++) {
    char name[16];
    snprintf(name, sizeof(name), "tool%03d", i);
    note(t, name, 5, NULL);
  }
  note(t, "tool000", 5, NULL);
  struct telemetry_tools list;
  telemetry_list(t, &a, &list);
  CHECK_INT(list.n, TELEMETRY_NAMES + 1);
  CHECK_INT(tool_of(&list, "other")->calls, 100);
  CHECK_INT(tool_of(&list, "tool000")->calls, 2);
  telemetry_close(&t);
}

enum { THREADS = 8, CALLS = 500 };

static void *note_many(void *arg) {
  for (int i = 0; i < CALLS; i++) {
    note(arg, i % 2 ? "odd" : "even", i, NULL);
    if (i % 50 == 0)
      usleep(2000);
  }
  return NULL;
}

TEST(many_threads_lose_no_count_and_the_log_reports_dropped_lines) {
  const char *folder = path_join(NULL, "log");
  struct telemetry *t = new_telemetry(folder);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, note_many, t) == 0);
  struct telemetry_tools list;
  struct telemetry_entries recent;
  struct telemetry_totals all;
  for (int i = 0; i < 20; i++) { /* readers concurrent with the writers */
    telemetry_list(t, &a, &list);
    telemetry_recent(t, &a, false, 100, &recent);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  telemetry_list(t, &a, &list);
  CHECK_INT(tool_of(&list, "odd")->calls, THREADS * CALLS / 2);
  CHECK_INT(tool_of(&list, "even")->calls, THREADS * CALLS / 2);
  do /* until the thread has caught up */
    telemetry_totals(t, &a, &all);
  while (lines_in(text_of(path_join(folder, "calls.jsonl"))) + (size_t)all.dropped < THREADS * CALLS);
  telemetry_close(&t);
  CHECK_INT(lines_in(text_of(path_join(folder, "calls.jsonl"))) + (size_t)all.dropped, THREADS * CALLS);
}

TEST(operations_are_recorded_under_their_tool_name) {
  struct telemetry *t = new_telemetry(NULL);
  struct engine_options o = {.path = test_store("a.db"), .telemetry = t};
  struct engine *e = NULL;
  CHECK_OK(engine_open(&o, &e, &err), &err);
  struct caller caller = {.team = STR("default"),
                          .project = STR("p"),
                          .source = STR("test"),
                          .tool = STR("memory_stats"),
                          .session = STR("s-1")};
  yyjson_val *none, *wrong;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&a, STR("{}"), &none, &err), &err);
  CHECK_OK(json_read(&a, STR("{\"nonsense\":1}"), &wrong, &err), &err);
  CHECK_OK(op_run(e, op_find(STR("stats")), &caller, NULL, &a, none, &result, &err), &err);
  caller.tool = STR_NONE;
  CHECK_STATUS(op_run(e, op_find(STR("stats")), &caller, NULL, &a, wrong, &result, &err), STATUS_USAGE);
  struct telemetry_entries list;
  telemetry_recent(t, &a, false, 10, &list);
  CHECK_INT(list.n, 2);
  CHECK_STR(list.v[0].name, "stats");
  CHECK_INT(list.v[0].code, STATUS_USAGE);
  CHECK_STR(list.v[1].name, "memory_stats");
  CHECK_STR(list.v[1].op, "stats");
  CHECK_STR(list.v[1].session, "s-1");
  CHECK(list.v[1].duration_us > 0);
  engine_close(&e);
  telemetry_close(&t);
}

TEST(calls_are_recorded_when_out_of_memory) {
  struct telemetry *t = new_telemetry(NULL);
  struct error bad;
  error_set(&bad, STATUS_BUSY, "password=%s", "hunter2-Qx81mZ7");
  note(t, "x", 5, NULL);
  alloc_fail_at(1, 1);
  note(t, "x", 5, &bad);        /* no memory for redaction: no message */
  note(t, "new name", 5, NULL); /* no memory for a new name */
  alloc_fail_at(0, 0);
  struct telemetry_totals all;
  struct telemetry_entries list;
  telemetry_totals(t, &a, &all);
  telemetry_recent(t, &a, true, 1, &list);
  CHECK_INT(all.calls, 3);
  CHECK_INT(all.errors, 1);
  CHECK(str_find(list.v[0].message, STR("hunter2"), 0) == SIZE_MAX);
  telemetry_close(&t);
}

TEST(telemetry_is_optional) {
  struct telemetry *none = NULL;
  struct telemetry_totals all;
  struct telemetry_tools list;
  struct telemetry_entries recent;
  note(NULL, "x", 1, NULL);
  telemetry_totals(NULL, &a, &all);
  telemetry_list(NULL, &a, &list);
  telemetry_recent(NULL, &a, false, 5, &recent);
  CHECK_INT(all.calls + (int64_t)list.n + (int64_t)recent.n, 0);
  telemetry_close(&none);
}
