/* reembed.c: the operation reembed: builds the index of a new embedder, switches to it, and rolls back. */
#include "op/embedding/reembed.h"

#include "op/embedding/config.h"
#include "op/handlers.h"
#include "op/write/write.h"
#include "store/memories/lifecycle.h"
#include "store/vectors/embed_cache.h"
#include "store/vectors/indexes.h"

/* How long a previous index is kept. */
static const int64_t previous_kept_ms = 30 * MS_PER_DAY;
/* FAILED_ALLOWED: an index counts as complete if at most one text in 20 has no vector; otherwise a text that the
 * embedder refuses would prevent the switch forever. Such a text is still found by keywords.
 * ROUNDS: attempts to catch up with texts that are written meanwhile. */
enum { FAILED_ALLOWED = 20, ROUNDS = 20 };

static enum status log_change(struct op_call *call, struct txn *txn, const char *action, struct str from,
                              struct str to) {
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put_opt(doc, obj, "from", from);
  json_put_opt(doc, obj, "to", to);
  struct event e = {.action = str_from(action), .detail = json_write(call->arena, obj, false)};
  return event_add(txn, &e, call->err);
}

/* ---- build and flip ---- */

enum flip { FLIP_DONE, FLIP_MORE /* new chunks are pending */, FLIP_OTHER /* the settings have changed */ };

/* Checks for pending chunks above `seen`; final if called under the write lock. */
static enum status any_left(struct op_call *call, const struct vec_model *model, int64_t seen, bool *ret_left) {
  struct chunk_rows rows = {0};
  TRY(chunks_pending(call->engine->store, model, seen, 1, call->arena, &rows, call->err));
  *ret_left = rows.n > 0;
  return STATUS_OK;
}

static enum status flip(struct op_call *call, const struct embedding *e, int64_t seen, struct reembed_report *report,
                        enum flip *ret) {
  struct txn txn;
  struct vec_indexes rows;
  struct embed_config config;
  bool left = false;
  TRY(call_begin(call, &txn));
  TRY(embed_config_read(txn.store, txn.team, call->arena, &config, call->err));
  TRY(vec_indexes_of(txn.store, txn.team, call->arena, &rows, call->err));
  TRY(any_left(call, &e->model, seen, &left));
  const struct vec_index *active = &rows.of[VEC_ACTIVE], *building = &rows.of[VEC_BUILDING];
  bool same = str_eq(config.json, e->config) && !(active->model.p && str_eq(active->model, e->model.model));
  if (left || !same) {
    store_rollback(txn.store);
    *ret = same ? FLIP_MORE : FLIP_OTHER;
    return STATUS_OK;
  }
  struct vec_index index = {.model = e->model.model,
                            .dims = e->model.dims,
                            .config = e->kept,
                            .started_at = building->model.p ? building->started_at : txn.now};
  TRY(vec_index_flip(&txn, &index, call->err));
  TRY(log_change(call, &txn, "embedder:flip", active->model, e->model.model));
  TRY(txn_commit(&txn, call->err));
  report->flipped = true;
  report->previous = active->model;
  report->txn = txn.id;
  *ret = FLIP_DONE;
  return STATUS_OK;
}

static bool too_many_failed(struct op_call *call, const struct embedding *e, const struct pass *pass,
                            struct reembed_report *report) {
  int64_t done, total;
  struct error ignored;
  if (pass->failed == 0 || vec_count(call->engine->store, &e->model, &done, &total, &ignored) != STATUS_OK)
    return false;
  report->note = arena_printf(call->arena, "the embedder refuses %lld of %lld texts; %s no vector",
                              (long long)pass->failed, (long long)total, pass->failed == 1 ? "it has" : "they have");
  return pass->failed * FAILED_ALLOWED > total;
}

static enum status build(struct op_call *call, const struct embedding *e, int64_t until,
                         struct reembed_report *report) {
  enum flip outcome = FLIP_MORE;
  for (int i = 0; outcome == FLIP_MORE && i < ROUNDS; i++) {
    struct pass pass;
    TRY(reembed_pass(call, e, report->pass.seen, until, &pass));
    pass.embedded += report->pass.embedded;
    pass.failed += report->pass.failed;
    report->pass = pass;
    bool whole = pass.complete && !too_many_failed(call, e, &pass, report);
    if (!whole || !e->building)
      return STATUS_OK;
    TRY(flip(call, e, pass.seen, report, &outcome));
  }
  /* Chunks that were prepared before the flip and stored after it have no vector in the new index yet. */
  if (report->flipped) {
    struct pass rest;
    TRY(reembed_pass(call, e, report->pass.seen, until, &rest));
    report->pass.embedded += rest.embedded;
  }
  return STATUS_OK;
}

enum status reembed_run(struct op_call *call, int64_t until, struct reembed_report *ret) {
  struct embeddings set;
  struct reembed_report report = {0};
  TRY(write_index_pending(call));
  TRY(embeddings_of(call, &set));
  const struct embedding *e = embeddings_wanted(&set);
  if (e) {
    report.model = e->model.model;
    embeddings_calibrate(call, &set);
    TRY(embeddings_note_now(call, &set));
    TRY(build(call, e, until, &report));
  } else {
    report.pass.complete = set.off;
    report.note = set.degraded;
  }
  *ret = report;
  return STATUS_OK;
}

/* ---- rollback ---- */

static enum status refuse_rollback(struct op_call *call, const struct error *why) {
  struct error cause = *why;
  error_set(call->err, STATUS_CONFLICT, "the former embedder failed, nothing was changed: %s", cause.message);
  return error_fix(call->err, "%s",
                   cause.fix[0] ? cause.fix : "repair it; a person can then run 'cairn reembed --rollback'");
}

/* Before the flip, a rollback only restores the settings. */
static enum status abandon(struct op_call *call, const struct vec_indexes *rows, const struct embed_config *was) {
  struct txn txn;
  const struct vec_index *active = &rows->of[VEC_ACTIVE], *building = &rows->of[VEC_BUILDING];
  TRY(call_begin(call, &txn));
  TRY(embed_config_restore(&txn, call->arena, was, call->err));
  TRY(vec_index_forget(&txn, VEC_BUILDING, call->err));
  TRY(log_change(call, &txn, "embedder:rollback", building->model, active->model));
  json_put(call->doc, call->result, "model", active->model);
  json_put_opt(call->doc, call->result, "abandoned", building->model);
  return call_commit(call, &txn);
}

static enum status swap_back(struct op_call *call, const struct embedding *e, const struct embed_config *was,
                             int64_t seen, bool *ret_done) {
  struct txn txn;
  struct vec_indexes rows;
  bool left = false;
  TRY(call_begin(call, &txn));
  TRY(vec_indexes_of(txn.store, txn.team, call->arena, &rows, call->err));
  TRY(any_left(call, &e->model, seen, &left));
  const struct vec_index *previous = &rows.of[VEC_PREVIOUS], *active = &rows.of[VEC_ACTIVE];
  if (!previous->model.p || !str_eq(previous->model, e->model.model)) {
    error_set(call->err, STATUS_CONFLICT, "another process has changed the index; nothing was changed here");
    return error_fix(call->err, "'cairn reembed --status' shows the indexes");
  }
  *ret_done = !left;
  if (left) {
    store_rollback(txn.store);
    return STATUS_OK;
  }
  TRY(vec_index_flip(&txn, previous, call->err));
  TRY(vec_index_forget(&txn, VEC_BUILDING, call->err));
  TRY(embed_config_restore(&txn, call->arena, was, call->err));
  TRY(log_change(call, &txn, "embedder:rollback", active->model, previous->model));
  json_put(call->doc, call->result, "model", previous->model);
  json_put(call->doc, call->result, "previous", active->model);
  return call_commit(call, &txn);
}

/* First embeds chunks added since then with the old embedder, so its index is complete. */
static enum status roll_back_to(struct op_call *call, const struct vec_index *previous,
                                const struct embed_config *was) {
  struct embedding e;
  struct error why;
  struct pass pass = {0};
  int64_t embedded = 0;
  bool done = false;
  enum status s = embedding_open(call, was, previous->dims, &e, &why);
  if (s == STATUS_OK && !str_eq(e.model.model, previous->model))
    s = error_set(&why, STATUS_CONFLICT, "its vectors do not match the index %.*s", STR_ARG(previous->model));
  if (s != STATUS_OK)
    return refuse_rollback(call, &why);
  for (int i = 0; !done && i < ROUNDS; i++) {
    TRY(reembed_pass(call, &e, pass.seen, 0, &pass));
    embedded += pass.embedded;
    if (pass.why.code != STATUS_OK)
      return refuse_rollback(call, &pass.why);
    if (!pass.complete)
      return error_set(call->err, STATUS_INTERRUPTED, "stopped; nothing was changed");
    TRY(swap_back(call, &e, was, pass.seen, &done));
  }
  json_put_int(call->doc, call->result, "embedded", embedded);
  return STATUS_OK;
}

static enum status rollback(struct op_call *call) {
  struct vec_indexes rows;
  struct embed_config now, was;
  TRY(call_check_setting(call, SET_EMBEDDER));
  TRY(vec_indexes_of(call->engine->store, call->caller.team, call->arena, &rows, call->err));
  TRY(embed_config_read(call->engine->store, call->caller.team, call->arena, &now, call->err));
  if (now.environment) {
    error_set(call->err, STATUS_CONFLICT, "the environment sets the embedder and overrides the store's settings");
    return error_fix(call->err, "unset the variables CAIRN_EMBEDDER*, then repeat the call");
  }
  const struct vec_index *active = &rows.of[VEC_ACTIVE], *previous = &rows.of[VEC_PREVIOUS];
  if (active->model.p) {
    TRY(embed_config_parse(call->arena, active->config, &was, call->err));
    if (!embed_config_same(&was, &now))
      return abandon(call, &rows, &was);
  }
  if (!previous->model.p) {
    error_set(call->err, STATUS_CONFLICT, "there is no former index to roll back to");
    return error_fix(call->err, "'cairn reembed --status' shows the indexes; 'cairn config embedder NAME' chooses");
  }
  TRY(embed_config_parse(call->arena, previous->config, &was, call->err));
  return roll_back_to(call, previous, &was);
}

/* ---- cleanup ---- */

static enum status drop_unowned(struct op_call *call, int64_t *ret_dropped) {
  struct db *db = store_db(call->engine->store);
  struct txn txn = call_author(call);
  bool more = true;
  *ret_dropped = 0;
  while (more && !cancelled(call)) {
    int64_t n = 0;
    TRY(db_begin(db, call->caller.team, true, call->err));
    TRY(vec_drop_unowned(&txn, &n, &more, call->err));
    TRY(db_commit(db, call->err));
    *ret_dropped += n;
  }
  return STATUS_OK;
}

enum status reembed_tidy(struct op_call *call, int64_t *ret_dropped) {
  struct db *db = store_db(call->engine->store);
  struct txn txn = call_author(call);
  struct vec_indexes rows;
  int64_t cached;
  TRY(db_begin(db, call->caller.team, true, call->err));
  TRY(vec_indexes_of(txn.store, txn.team, call->arena, &rows, call->err));
  if (rows.of[VEC_PREVIOUS].model.p && call->now - rows.of[VEC_PREVIOUS].flipped_at > previous_kept_ms)
    TRY(vec_index_forget(&txn, VEC_PREVIOUS, call->err));
  TRY(embed_cache_trim(txn.store, txn.team, &cached, call->err));
  TRY(db_commit(db, call->err));
  return drop_unowned(call, ret_dropped);
}

static enum status drop_previous(struct op_call *call) {
  struct txn txn;
  struct vec_indexes rows;
  int64_t dropped;
  TRY(call_begin(call, &txn));
  TRY(vec_indexes_of(txn.store, txn.team, call->arena, &rows, call->err));
  if (rows.of[VEC_PREVIOUS].model.p) {
    TRY(vec_index_forget(&txn, VEC_PREVIOUS, call->err));
    TRY(log_change(call, &txn, "embedder:drop", rows.of[VEC_PREVIOUS].model, STR_NONE));
    TRY(call_commit(call, &txn));
  } else {
    store_rollback(txn.store);
  }
  TRY(drop_unowned(call, &dropped));
  json_put_opt(call->doc, call->result, "dropped_index", rows.of[VEC_PREVIOUS].model);
  json_put_int(call->doc, call->result, "dropped", dropped);
  return STATUS_OK;
}

/* ---- status ---- */

static enum status put_index(struct op_call *call, yyjson_mut_val *arr, const struct vec_index *index,
                             const char *state, int64_t *ret_done, int64_t *ret_total) {
  struct vec_model model = {call->caller.team, index->model, index->dims};
  TRY(vec_count(call->engine->store, &model, ret_done, ret_total, call->err));
  if (!state)
    return STATUS_OK;
  char time[TIME_TEXT_SIZE];
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
  json_put(call->doc, v, "model", index->model);
  json_put_int(call->doc, v, "dims", index->dims);
  json_put(call->doc, v, "state", str_from(state));
  json_put_int(call->doc, v, "done", *ret_done);
  json_put_int(call->doc, v, "total", *ret_total);
  json_put(call->doc, v, "started_at", time_format(index->started_at, time));
  if (index->flipped_at)
    json_put(call->doc, v, "flipped_at", time_format(index->flipped_at, time));
  return STATUS_OK;
}

enum status reembed_put_status(struct op_call *call, yyjson_mut_val *obj) {
  struct vec_indexes rows;
  struct setting_value wanted;
  struct store *st = call->engine->store;
  int64_t done = 0, total = 0;
  yyjson_mut_val *arr = yyjson_mut_arr(call->doc);
  TRY(vec_indexes_of(st, call->caller.team, call->arena, &rows, call->err));
  TRY(setting_get(st, call->caller.team, SET_EMBEDDER, call->arena, &wanted, call->err));
  struct vec_index none = {.model = wanted.value, .dims = 1}, *active = &rows.of[VEC_ACTIVE];
  TRY(put_index(call, arr, active->model.p ? active : &none, active->model.p ? vec_state_names[VEC_ACTIVE] : NULL,
                &done, &total));
  for (int i = VEC_BUILDING; i < VEC_STATES; i++) {
    int64_t part, all;
    if (rows.of[i].model.p)
      TRY(put_index(call, arr, &rows.of[i], vec_state_names[i], &part, &all));
  }
  json_put(call->doc, obj, "embedder", str_is(wanted.value, "none") || !active->model.p ? wanted.value : active->model);
  yyjson_mut_val *embedded = json_put_obj(call->doc, obj, "embedded");
  json_put_int(call->doc, embedded, "done", done);
  json_put_int(call->doc, embedded, "total", total);
  yyjson_mut_obj_add_val(call->doc, obj, "indexes", arr);
  return STATUS_OK;
}

enum status reembed_put_note(struct op_call *call, yyjson_mut_val *obj) {
  struct vec_indexes rows;
  struct embed_config now, was;
  struct error ignored;
  TRY(vec_indexes_of(call->engine->store, call->caller.team, call->arena, &rows, call->err));
  if (!rows.of[VEC_ACTIVE].model.p)
    return STATUS_OK;
  if (embed_config_read(call->engine->store, call->caller.team, call->arena, &now, &ignored) != STATUS_OK ||
      embed_config_parse(call->arena, rows.of[VEC_ACTIVE].config, &was, &ignored) != STATUS_OK ||
      embed_config_off(&now) || embed_config_same(&now, &was))
    return STATUS_OK;
  json_put(call->doc, obj, "note",
           STR("stored memories have vectors of another embedder: run 'cairn reembed'; both indexes are searched until "
               "then"));
  return STATUS_OK;
}

/* ---- the operation ---- */

static enum status fail_stopped(struct op_call *call, const struct reembed_report *r) {
  const char *texts = r->pass.embedded == 1 ? "text was" : "texts were";
  if (r->pass.why.code == STATUS_OK) {
    error_set(call->err, STATUS_INTERRUPTED, "stopped; %lld %s embedded", (long long)r->pass.embedded, texts);
    return error_fix(call->err, "'cairn reembed' continues from there");
  }
  error_set(call->err, r->pass.why.code, "%lld %s embedded, then the embedder failed: %s", (long long)r->pass.embedded,
            texts, r->pass.why.message);
  return error_fix(call->err, "%s; 'cairn reembed' continues from there",
                   r->pass.why.fix[0] ? r->pass.why.fix : "repair it");
}

static enum status not_available(struct op_call *call, const struct reembed_report *r) {
  if (str_empty(r->note)) {
    error_set(call->err, STATUS_CONFLICT, "the embedder is 'none': there is nothing to embed");
    return error_fix(call->err, "'cairn config embedder NAME' chooses one");
  }
  error_set(call->err, STATUS_CONFLICT, "%.*s", STR_ARG(r->note));
  return error_fix(call->err, "'cairn config' shows the settings; existing vectors stay searchable");
}

static enum status run(struct op_call *call) {
  struct reembed_report r;
  int64_t ms;
  TRY(call_int(call, "max_ms", 0, 0, 24 * MS_PER_HOUR, &ms));
  int64_t until = ms ? clock_ticks_us() + ms * 1000 : 0;
  TRY(reembed_run(call, until, &r));
  if (!r.model.p)
    return not_available(call, &r);
  if (!r.pass.complete && (r.pass.why.code != STATUS_OK || cancelled(call)))
    return fail_stopped(call, &r);
  json_put(call->doc, call->result, "model", r.model);
  json_put_int(call->doc, call->result, "newly_embedded", r.pass.embedded);
  json_put_int(call->doc, call->result, "failed", r.pass.failed);
  json_put_bool(call->doc, call->result, "complete", r.pass.complete);
  json_put_bool(call->doc, call->result, "flipped", r.flipped);
  json_put_opt(call->doc, call->result, "previous", r.previous);
  json_put_opt(call->doc, call->result, "note", r.note);
  if (r.txn)
    json_put_int(call->doc, call->result, "txn", r.txn);
  return reembed_put_status(call, call->result);
}

enum status op_reembed(struct op_call *call) {
  bool back = json_bool(call->args, "rollback", false), status = json_bool(call->args, "status", false),
       drop = json_bool(call->args, "drop_previous", false);
  if (back + status + drop > 1) {
    error_set(call->err, STATUS_USAGE, "reembed: rollback, status and drop_previous are mutually exclusive");
    return error_fix(call->err, "use one of them, or none to embed pending memories");
  }
  return back     ? rollback(call)
         : drop   ? drop_previous(call)
         : status ? reembed_put_status(call, call->result)
                  : run(call);
}
