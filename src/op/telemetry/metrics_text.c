/* metrics_text.c: metrics in the Prometheus text format. Numbers are formatted as integers: no locale, no rounding. */
#include "op/telemetry/metrics_text.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "op/run/paths.h"
#include "store/check.h"
#include "store/db/place.h"
#include "store/tables/events.h"
#include "store/vectors/indexes.h"
#include "store/vectors/vectors.h"

/* ---- the format ---- */

static void head(struct buf *b, const char *name, const char *type, const char *help) {
  buf_addf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Label value: escapes backslash, quote and newline, drops other control characters. */
static void label(struct buf *b, struct str value) {
  for (size_t i = 0; i < value.n; i++) {
    char c = value.p[i];
    if (c == '\\' || c == '"')
      buf_addc(b, '\\');
    if (c == '\n')
      buf_adds(b, "\\n");
    else if ((unsigned char)c >= 0x20 && c != 0x7f)
      buf_addc(b, c);
  }
}

/* Microseconds as seconds: "0.0025", "10". */
static void seconds(struct buf *b, int64_t us) {
  char text[32];
  int n = snprintf(text, sizeof(text), "%" PRId64 ".%06" PRId64, us / 1000000, us % 1000000);
  while (n > 0 && text[n - 1] == '0')
    n--;
  if (n > 0 && text[n - 1] == '.')
    n--;
  buf_add(b, (struct str){text, (size_t)n});
}

static void gauge(struct buf *b, const char *name, const char *help, int64_t value) {
  if (value < 0)
    return;
  head(b, name, "gauge", help);
  buf_addf(b, "%s %" PRId64 "\n", name, value);
}

static void counter(struct buf *b, const char *name, const char *help, int64_t value) {
  head(b, name, "counter", help);
  buf_addf(b, "%s %" PRId64 "\n", name, value);
}

/* ---- the telemetry ---- */

static void tool_counter(struct buf *b, const struct telemetry_tools *tools, const char *name, const char *help,
                         bool errors) {
  if (tools->n == 0)
    return;
  head(b, name, "counter", help);
  for (size_t i = 0; i < tools->n; i++) {
    buf_addf(b, "%s{tool=\"", name);
    label(b, tools->v[i].name);
    buf_addf(b, "\"} %" PRId64 "\n", errors ? tools->v[i].errors : tools->v[i].calls);
  }
}

#define DURATION "cairn_call_duration_seconds"

static void sample(struct buf *b, const char *suffix, struct str tool) {
  buf_addf(b, DURATION "%s{tool=\"", suffix);
  label(b, tool);
  buf_addc(b, '"');
}

static void histograms(struct buf *b, const struct telemetry_tools *tools) {
  if (tools->n == 0)
    return;
  head(b, DURATION, "histogram", "Duration of calls, by tool.");
  for (size_t i = 0; i < tools->n; i++) {
    const struct telemetry_tool *t = &tools->v[i];
    for (size_t k = 0; k < TELEMETRY_LES; k++) {
      sample(b, "_bucket", t->name);
      buf_adds(b, ",le=\"");
      seconds(b, telemetry_le_us[k]);
      buf_addf(b, "\"} %" PRIu64 "\n", t->le[k]);
    }
    sample(b, "_bucket", t->name);
    buf_addf(b, ",le=\"+Inf\"} %" PRId64 "\n", t->calls);
    sample(b, "_sum", t->name);
    buf_adds(b, "} ");
    seconds(b, t->sum_us);
    buf_addc(b, '\n');
    sample(b, "_count", t->name);
    buf_addf(b, "} %" PRId64 "\n", t->calls);
  }
}

struct str metrics_text(struct arena *a, struct telemetry *t, const struct metrics_figures *f) {
  struct buf b = BUF(a);
  struct telemetry_totals all;
  struct telemetry_tools tools;
  telemetry_totals(t, a, &all);
  telemetry_list(t, a, &tools);
  head(&b, "cairn_build_info", "gauge", "Version of the running program; always 1.");
  buf_adds(&b, "cairn_build_info{version=\"" CAIRN_VERSION "\"} 1\n");
  if (t) {
    head(&b, "cairn_start_time_seconds", "gauge", "Start time of the process, in seconds since 1970.");
    buf_adds(&b, "cairn_start_time_seconds ");
    seconds(&b, all.started * 1000);
    buf_addc(&b, '\n');
  }
  tool_counter(&b, &tools, "cairn_calls_total", "Calls of this process, by tool.", false);
  tool_counter(&b, &tools, "cairn_call_errors_total", "Calls of this process that failed, by tool.", true);
  histograms(&b, &tools);
  counter(&b, "cairn_slow_calls_total", "Calls of this process that took longer than ten seconds.", all.slow);
  counter(&b, "cairn_log_dropped_total", "Entries dropped from the log of calls.", all.dropped);
  gauge(&b, "cairn_engines", "Maximum number of handles on the store.", f->engines);
  gauge(&b, "cairn_engines_open", "Open handles on the store.", f->engines_open);
  gauge(&b, "cairn_engines_busy", "Handles on the store that are in use.", f->engines_busy);
  gauge(&b, "cairn_store_size_bytes", "Size of the store: its file, or its tables on a server.", f->store_bytes);
  gauge(&b, "cairn_store_log_size_bytes", "Size of the store's write-ahead log.", f->store_log_bytes);
  gauge(&b, "cairn_memories", "Memories of the team, in any state.", f->memories);
  gauge(&b, "cairn_pending_embeddings", "Chunks of text without an embedding.", f->pending_embeddings);
  gauge(&b, "cairn_last_event_seq", "Last sequence number of the event log.", f->last_seq);
  return buf_str(&b);
}

/* ---- the store ---- */

static int64_t file_size(struct arena *a, const char *path, const char *suffix) {
  struct stat sb;
  return stat(arena_printf(a, "%s%s", path, suffix).p, &sb) == 0 ? (int64_t)sb.st_size : -1;
}

static int64_t pending(struct store *st, struct str team, struct arena *a) {
  struct vec_indexes rows;
  struct error ignored;
  int64_t done, total;
  if (vec_indexes_of(st, team, a, &rows, &ignored) != STATUS_OK || !rows.of[VEC_ACTIVE].model.p)
    return -1;
  struct vec_model model = {team, rows.of[VEC_ACTIVE].model, rows.of[VEC_ACTIVE].dims};
  if (vec_count(st, &model, &done, &total, &ignored) != STATUS_OK)
    return -1;
  return total > done ? total - done : 0;
}

/* Has its own arena: an out-of-memory jump must leave neither the engine locked nor a snapshot open. */
static void read_store(struct engine *e, struct str team, struct metrics_figures *f) {
  struct error ignored;
  struct arena a;
  struct store_boundary oom;
  int64_t n;
  arena_init(&a);
  pthread_mutex_lock(&e->lock);
  struct store_room room;
  if (db_engine(store_db(e->store)) != DB_SQLITE && store_room(e->store, &room, &ignored) == STATUS_OK)
    f->store_bytes = room.bytes;
  if (count_since(e->store, team, 0, &n, &ignored) == STATUS_OK)
    f->memories = n;
  if (events_position(e->store, team, INT64_MAX, INT64_MAX, &n, &ignored) == STATUS_OK)
    f->last_seq = n;
  if (!STORE_BOUNDARY(e->store, &a, oom))
    f->pending_embeddings = pending(e->store, team, &a);
  pthread_mutex_unlock(&e->lock);
  arena_release(&a);
}

struct str metrics_page(struct arena *a, struct telemetry *t, struct pool *pool, struct str team) {
  struct metrics_figures f = {-1, -1, -1, -1, -1, -1, -1, -1};
  struct engine *e = NULL;
  struct error ignored;
  if (!pool)
    return metrics_text(a, t, &f);
  size_t opened, busy;
  pool_count(pool, &opened, &busy);
  f.engines = (int64_t)pool_size(pool);
  f.engines_open = (int64_t)opened;
  f.engines_busy = (int64_t)busy;
  f.store_bytes = file_size(a, pool_path(pool), "");
  f.store_log_bytes = file_size(a, pool_path(pool), "-wal");
  /* A scrape does not create a missing store. */
  bool there = f.store_bytes >= 0 || (db_is_url(pool_path(pool)) && opened > 0);
  if (there && pool_try_acquire(pool, &e, &ignored) == STATUS_OK) {
    read_store(e, team, &f);
    pool_release(pool, e);
  }
  return metrics_text(a, t, &f);
}

/* ---- liveness, readiness ---- */

struct str healthz_json(struct arena *a, struct telemetry *t, bool details) {
  struct telemetry_totals all;
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *v = yyjson_mut_obj(doc);
  telemetry_totals(t, a, &all);
  json_put(doc, v, "status", STR("ok"));
  if (details) {
    json_put(doc, v, "version", STR(CAIRN_VERSION));
    json_put_int(doc, v, "pid", getpid());
  }
  if (t && details)
    json_put_num(doc, v, "uptime_s", json_round((double)all.uptime_us / 1e6, 1));
  return json_write(a, v, false);
}

static enum status try_store(struct pool *pool, struct error *err) {
  struct engine *e;
  int64_t seq;
  enum status s = pool_try_acquire(pool, &e, err);
  if (s == STATUS_BUSY) /* all in use: ready, unless they all wait for a server that is gone */
    return pool_recent_failure(pool, err);
  if (s != STATUS_OK)
    return s;
  pthread_mutex_lock(&e->lock);
  s = events_end(e->store, STR(""), &seq, err);
  if (s == STATUS_OK)
    s = db_check_present(store_db(e->store), err);
  pthread_mutex_unlock(&e->lock);
  pool_release(pool, e);
  return s;
}

bool readyz_json(struct arena *a, struct pool *pool, bool details, struct str *ret_json) {
  struct error err;
  enum status s = try_store(pool, &err);
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *v = yyjson_mut_obj(doc);
  json_put(doc, v, "status", s == STATUS_OK ? STR("ready") : STR("not ready"));
  if (s != STATUS_OK && !details)
    paths_shorten(pool_path(pool), NULL, &err);
  if (s != STATUS_OK) {
    json_put(doc, v, "error", str_from(status_name(s)));
    json_put(doc, v, "message", str_from(err.message));
  }
  *ret_json = json_write(a, v, false);
  return s == STATUS_OK;
}
