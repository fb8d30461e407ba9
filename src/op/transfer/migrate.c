/* migrate.c: the migrate operation: copies a whole store into another file or server. */
#include "op/handlers.h"
#include "op/run/common.h"
#include "op/transfer/backup.h"
#include "store/copy/move.h"

static void on_progress(void *arg, const char *what, int64_t done, int64_t total) { progress(arg, what, done, total); }
static bool on_cancelled(void *arg) { return cancelled(arg); }

static void close_target(void *arg) { store_close(arg); }

static enum status check_target(struct op_call *call, struct str to) {
  if (db_is_url(arena_cstr(call->arena, to)))
    return STATUS_OK;
  if (str_find(to, STR("://"), 0) != SIZE_MAX) {
    error_set(call->err, STATUS_USAGE, "migrate: '%.*s' is neither a file nor a supported server URL", STR_ARG(to));
    return error_fix(call->err, "name a path, or postgresql://USER@HOST/DATABASE");
  }
  return call_refuse_store_path(call, to);
}

static void put_tables(struct op_call *call, const struct move_report *report) {
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "tables");
  int64_t rows = 0;
  for (size_t i = 0; store_tables[i].name; i++) {
    char hash[HASH_TEXT_SIZE];
    yyjson_mut_val *t = yyjson_mut_arr_add_obj(call->doc, arr);
    sum_text(&report->sums[i], hash);
    json_put(call->doc, t, "name", str_from(store_tables[i].name));
    json_put_int(call->doc, t, "rows", report->sums[i].rows);
    json_put(call->doc, t, "hash", str_from(hash));
    rows += report->sums[i].rows;
  }
  json_put_int(call->doc, call->result, "rows", rows);
}

static void put_report(struct op_call *call, const struct move *m, int64_t ms) {
  const struct move_report *report = &m->report;
  json_put(call->doc, call->result, "from", str_from(db_path(store_db(m->copy.from))));
  json_put(call->doc, call->result, "to", str_from(db_path(store_db(m->copy.to))));
  json_put(call->doc, call->result, "start", str_from(move_start_names[report->start]));
  json_put_int(call->doc, call->result, "copied", report->copied);
  json_put_bool(call->doc, call->result, "verified", true);
  json_put_int(call->doc, call->result, "missing_transactions", report->missing);
  json_put(call->doc, call->result, "epoch", str_from(report->epoch));
  json_put_int(call->doc, call->result, "ms", ms);
  put_tables(call, report);
}

enum status op_migrate(struct op_call *call) {
  struct str to = json_str(call->args, "to");
  struct move *m = arena_new(call->arena, struct move);
  /* The settings say where the files of both stores are. */
  struct store_options o = {
      .path = arena_cstr(call->arena, to), .unfinished = true, .now = call->now, .settings = call->engine->settings};
  int64_t began = clock_ticks_us();
  reads_flush(call->engine->store);
  TRY(check_target(call, to));
  TRY(store_open(&o, &m->copy.to, call->err));
  arena_defer(call->arena, close_target, &m->copy.to);
  m->copy.from = call->engine->store;
  m->copy.arena = call->arena;
  m->copy.hooks = (struct copy_hooks){call, on_progress, on_cancelled};
  m->now = call->now;
  enum status s = store_move(m, call->err);
  if (s != STATUS_OK)
    store_rollback(m->copy.to);
  else
    put_report(call, m, (clock_ticks_us() - began) / 1000);
  if (s == STATUS_OK)
    s = backup_move_transcripts(call, m->copy.from, m->copy.to);
  store_close(&m->copy.to);
  return s;
}
