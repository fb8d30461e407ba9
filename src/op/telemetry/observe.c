/* observe.c: the operations health, metrics and errors. */
#include <unistd.h>

#include "op/embedding/reembed.h"
#include "op/handlers.h"
#include "op/run/common.h"
#include "op/telemetry/telemetry.h"
#include "store/check.h"
#include "store/db/place.h"
#include "store/tables/calls.h"

enum { LOW_SPACE_BYTES = 64 << 20, LARGE_LOG_BYTES = 512 << 20 };

static double ms_of(int64_t us) { return (double)us / 1000.0; }

/* Of the server's machine, like paths: callers with a token do not see it. */
static void put_pid(struct op_call *call, yyjson_mut_val *v) {
  if (!call->caller.principal)
    json_put_int(call->doc, v, "pid", getpid());
}

static void put_totals(struct op_call *call, yyjson_mut_val *v, const struct telemetry_totals *all) {
  json_put_num(call->doc, v, "uptime_s", json_round((double)all->uptime_us / 1e6, 1));
  json_put_int(call->doc, v, "calls", all->calls);
  json_put_int(call->doc, v, "errors", all->errors);
  json_put_int(call->doc, v, "slow", all->slow);
  json_put_int(call->doc, v, "log_dropped", all->dropped);
}

/* ---- health ---- */

static void put_server(struct op_call *call) {
  struct telemetry_totals all;
  telemetry_totals(call->engine->telemetry, call->arena, &all);
  yyjson_mut_val *v = json_put_obj(call->doc, call->result, "server");
  json_put(call->doc, v, "version", STR(CAIRN_VERSION));
  put_pid(call, v);
  if (!call->engine->telemetry)
    return;
  put_totals(call, v, &all);
  json_put_opt(call->doc, v, "log_file", all.log.p ? call_path(call, all.log) : STR_NONE);
  json_put_opt(call->doc, v, "sandbox", str_from(telemetry_sandbox(call->engine->telemetry)));
}

static void put_store(struct op_call *call, const struct store_room *room) {
  struct db *db = store_db(call->engine->store);
  yyjson_mut_val *v = json_put_obj(call->doc, call->result, "store");
  json_put(call->doc, v, "path", call_path(call, str_from(db_path(db))));
  json_put_int(call->doc, v, "bytes", room->bytes);
  json_put_int(call->doc, v, "log_bytes", room->log_bytes);
  json_put_int(call->doc, v, "schema", store_schema_version());
  json_put_bool(call->doc, v, "writable", !db_read_only(db));
}

static enum status put_figures(struct op_call *call) {
  struct store *st = call->engine->store;
  int64_t memories, seq;
  TRY(count_since(st, call->caller.team, 0, &memories, call->err));
  TRY(events_position(st, call->caller.team, INT64_MAX, INT64_MAX, &seq, call->err));
  TRY(reembed_put_status(call, call->result));
  yyjson_mut_val *embedded = yyjson_mut_obj_get(call->result, "embedded");
  int64_t done = yyjson_mut_get_sint(yyjson_mut_obj_get(embedded, "done")),
          total = yyjson_mut_get_sint(yyjson_mut_obj_get(embedded, "total"));
  json_put_int(call->doc, call->result, "pending_embeddings", total - done);
  json_put_int(call->doc, call->result, "memories", memories);
  json_put_int(call->doc, call->result, "last_seq", seq);
  return STATUS_OK;
}

static void put_problems(struct op_call *call, const struct store_room *room) {
  struct db *db = store_db(call->engine->store);
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "problems");
  struct telemetry_totals all;
  telemetry_totals(call->engine->telemetry, call->arena, &all);
  if (db_read_only(db))
    json_add_str(call->doc, arr,
                 db_engine(db) == DB_SQLITE
                     ? STR("the store is read-only: check the permissions of its file and directory")
                     : STR("the store is read-only: check the privileges of the role, and that the server is not a "
                           "standby"));
  if (store_missing(call->engine->store))
    json_add_str(call->doc, arr, STR("committed transactions are missing: run 'cairn doctor'"));
  if (room->free >= 0 && room->free < LOW_SPACE_BYTES)
    json_add_str(call->doc, arr, STR("the disk of the store is almost full"));
  if (room->log_bytes > LARGE_LOG_BYTES)
    json_add_str(call->doc, arr,
                 STR("the store's write-ahead log is large: wait for long-running readers, then run 'cairn maintain'"));
  if (all.dropped)
    json_add_str(call->doc, arr, STR("entries of the call log were dropped: check the disk of the log"));
  json_put_bool(call->doc, call->result, "ok", yyjson_mut_arr_size(arr) == 0);
}

enum status op_health(struct op_call *call) {
  struct store_room room;
  put_server(call);
  TRY(store_room(call->engine->store, &room, call->err));
  put_store(call, &room);
  TRY(put_figures(call));
  put_problems(call, &room);
  return STATUS_OK;
}

/* ---- metrics ---- */

struct latency {
  struct str name;
  int64_t calls, errors, sum, p50, p95, p99, max;
};

static void put_latency(struct op_call *call, yyjson_mut_val *arr, const struct latency *l) {
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
  json_put(call->doc, v, "name", l->name);
  json_put_int(call->doc, v, "calls", l->calls);
  json_put_int(call->doc, v, "errors", l->errors);
  json_put_num(call->doc, v, "avg_ms", json_round(ms_of(l->calls ? l->sum / l->calls : 0), 3));
  json_put_num(call->doc, v, "p50_ms", json_round(ms_of(l->p50), 3));
  json_put_num(call->doc, v, "p95_ms", json_round(ms_of(l->p95), 3));
  json_put_num(call->doc, v, "p99_ms", json_round(ms_of(l->p99), 3));
  json_put_num(call->doc, v, "max_ms", json_round(ms_of(l->max), 3));
}

static void put_process(struct op_call *call) {
  struct telemetry_totals all;
  struct telemetry_tools tools;
  telemetry_totals(call->engine->telemetry, call->arena, &all);
  telemetry_list(call->engine->telemetry, call->arena, &tools);
  yyjson_mut_val *v = json_put_obj(call->doc, call->result, "process");
  put_pid(call, v);
  put_totals(call, v, &all);
  yyjson_mut_val *arr = json_put_arr(call->doc, v, "tools");
  for (size_t i = 0; i < tools.n; i++) {
    const struct telemetry_tool *t = &tools.v[i];
    put_latency(call, arr,
                &(struct latency){t->name, t->calls, t->errors, t->sum_us, t->p50_us, t->p95_us, t->p99_us, t->max_us});
  }
}

enum status op_metrics(struct op_call *call) {
  struct call_stats stats;
  int64_t hours;
  TRY(call_int(call, "hours", 24, 1, CALLS_KEPT_DAYS * 24, &hours));
  reads_flush_now(call->engine->store); /* rows that this engine has queued */
  TRY(call_stats_of(call->engine->store, call->caller.team, call->now - hours * MS_PER_HOUR, call->arena, &stats,
                    call->err));
  json_put_int(call->doc, call->result, "hours", hours);
  json_put_int(call->doc, call->result, "calls", stats.calls);
  json_put_int(call->doc, call->result, "errors", stats.errors);
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "tools");
  for (size_t i = 0; i < stats.n; i++) {
    const struct histogram *h = stats.v[i].durations;
    put_latency(call, arr,
                &(struct latency){stats.v[i].tool, (int64_t)h->n, stats.v[i].errors, h->sum, histogram_quantile(h, 500),
                                  histogram_quantile(h, 950), histogram_quantile(h, 990), h->max});
  }
  if (call->engine->telemetry)
    put_process(call);
  return STATUS_OK;
}

/* ---- errors ---- */

static void put_error(struct op_call *call, yyjson_mut_val *arr, const struct call_row *row) {
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
  char time[TIME_TEXT_SIZE];
  json_put(call->doc, v, "at", time_format(row->at, time));
  json_put(call->doc, v, "name", row->tool);
  json_put(call->doc, v, "op", row->op);
  json_put(call->doc, v, "project", row->project);
  json_put(call->doc, v, "source", row->source);
  json_put_opt(call->doc, v, "session", row->session);
  json_put_num(call->doc, v, "duration_ms", json_round(ms_of(row->duration_us), 3));
  json_put(call->doc, v, "error", row->error);
  json_put_opt(call->doc, v, "message",
               row->message.p ? call_message(call, arena_cstr(call->arena, row->message)) : STR_NONE);
}

struct listing {
  struct op_call *call;
  yyjson_mut_val *arr;
};

static enum status show_error(void *arg, const struct call_row *row) {
  struct listing *l = arg;
  put_error(l->call, l->arr, row);
  return STATUS_OK;
}

/* Errors of this process, from memory. */
static void put_own_errors(struct op_call *call, yyjson_mut_val *arr, int64_t limit) {
  struct telemetry_entries list;
  telemetry_recent(call->engine->telemetry, call->arena, true, TELEMETRY_RECENT, &list);
  for (size_t i = 0; i < list.n && (int64_t)yyjson_mut_arr_size(arr) < limit; i++) {
    const struct telemetry_entry *e = &list.v[i];
    if (!str_eq(e->team, call->caller.team))
      continue;
    struct call_row row = {.tool = e->name,
                           .op = e->op,
                           .project = e->project,
                           .source = e->source,
                           .session = e->session,
                           .at = e->at,
                           .duration_us = e->duration_us,
                           .error = str_from(status_name(e->code)),
                           .message = e->message};
    put_error(call, arr, &row);
  }
}

enum status op_errors(struct op_call *call) {
  int64_t limit;
  TRY(call_int(call, "limit", 20, 1, TELEMETRY_RECENT, &limit));
  struct listing l = {call, json_put_arr(call->doc, call->result, "errors")};
  if (json_bool(call->args, "process", false)) {
    put_own_errors(call, l.arr, limit);
  } else {
    reads_flush_now(call->engine->store);
    TRY(calls_errors(call->engine->store, call->caller.team, limit, show_error, &l, call->err));
  }
  json_put_int(call->doc, call->result, "count", (int64_t)yyjson_mut_arr_size(l.arr));
  return STATUS_OK;
}
