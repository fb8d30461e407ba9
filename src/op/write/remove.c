/* remove.c: taking memories away: forget, purge, prune. */
#include "op/handlers.h"
#include "op/run/common.h"
#include "store/memories/lifecycle.h"
#include "store/search/lexical.h"

/* All memories that the argument "ids" names; one that is not found fails the call. What was pruned is still in the
 * log: a purge finds it there. */
static enum status find_all(struct op_call *call, bool pruned_too, struct memories *ret_list) {
  struct scope scope = scope_of(call);
  struct strs refs = {0};
  json_strs(call->arena, call->args, "ids", &refs);
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < refs.n; i++) {
    struct memory m;
    s = memory_find(call->engine->store, &scope, refs.v[i], call->arena, &m, call->err);
    if (s == STATUS_NOT_FOUND && pruned_too) {
      bool found = false;
      struct error why = *call->err;
      s = memory_pruned(call->engine->store, scope.team, refs.v[i], call->arena, &m, &found, call->err);
      if (s == STATUS_OK && !found) {
        *call->err = why;
        s = why.code;
      }
    }
    bool again = false;
    for (size_t k = 0; s == STATUS_OK && k < ret_list->n; k++)
      again |= ret_list->v[k].id == m.id;
    if (s == STATUS_OK && !again)
      list_push(call->arena, ret_list, m);
  }
  return s;
}

/* ---- forget ---- */

static void put_ids(struct op_call *call, const char *name, const struct memories *list, bool forgotten) {
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, name);
  for (size_t i = 0; i < list->n; i++)
    if (str_is(list->v[i].state, "forgotten") == forgotten)
      yyjson_mut_arr_add_sint(call->doc, arr, list->v[i].id);
}

enum status op_forget(struct op_call *call) {
  struct str reason = str_trim(json_str(call->args, "reason"));
  struct memories list = {0};
  struct txn txn;
  if (str_empty(reason)) {
    error_set(call->err, STATUS_USAGE, "forget: the reason is empty");
    return error_fix(call->err, "say why, for example --reason 'no longer true'");
  }
  TRY(call_begin(call, &txn));
  TRY(find_all(call, false, &list));
  TRY(call_confirm_many(call, "forget takes out of every search", list.n));
  for (size_t i = 0; i < list.n; i++) {
    struct memory now = list.v[i];
    if (str_is(now.state, "forgotten"))
      continue;
    memory_retire(&now, "forgotten", reason, txn.source, txn.now);
    TRY(memory_change(&txn, call->arena, &list.v[i], &now, "memory:forget", call->err));
  }
  put_ids(call, "forgotten", &list, false);
  put_ids(call, "already", &list, true);
  return call_commit(call, &txn);
}

/* ---- purge ---- */

static enum status need_confirm(struct op_call *call, const struct memories *list) {
  error_set(call->err, STATUS_CONFIRM, "purge removes every trace of %zu %s and cannot be undone", list->n,
            list->n == 1 ? "memory" : "memories");
  return error_fix(call->err, "repeat the call with --confirm; to only hide it, use 'cairn forget'");
}

static void put_receipt(struct op_call *call, const struct memories *list, const struct purge_counts *c, bool emptied) {
  yyjson_mut_doc *doc = call->doc;
  yyjson_mut_val *receipt = json_put_obj(doc, call->result, "receipt");
  yyjson_mut_val *purged = json_put_arr(doc, receipt, "purged");
  for (size_t i = 0; i < list->n; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, purged);
    json_put_int(doc, v, "id", list->v[i].id);
    json_put(doc, v, "uid", list->v[i].uid);
  }
  char time[TIME_TEXT_SIZE];
  json_put(doc, receipt, "at", time_format(call->now, time));
  json_put(doc, receipt, "by", call->caller.source);
  yyjson_mut_val *rows = json_put_obj(doc, receipt, "rows");
  json_put_int(doc, rows, "chunks", c->chunks);
  json_put_int(doc, rows, "labels", c->labels);
  json_put_int(doc, rows, "annotations", c->annotations);
  json_put_int(doc, rows, "links", c->links);
  json_put_int(doc, rows, "events", c->events);
  /* A reader at work may keep old pages in the log; the next checkpoint without one takes them away. The log of a
   * server is not the store's to empty. */
  bool server = db_engine(store_db(call->engine->store)) != DB_SQLITE;
  json_put_bool(doc, receipt, "log_emptied", emptied && !server);
  if (server)
    json_put(doc, receipt, "remains",
             STR("the pages of the server hold the text until they are vacuumed and used again, its log until it is "
                 "recycled, and copies of the server for as long as they are kept"));
  struct strs backups = {0};
  store_list_backups(call->engine->store, call->arena, &backups);
  json_put_strs(doc, receipt, "backups", &backups);
}

enum status op_purge(struct op_call *call) {
  struct memories list = {0};
  struct purge_counts sum = {0};
  struct txn txn;
  bool emptied = false;
  /* Queued reads may hold the text; they must not be written after it is gone. */
  reads_flush(call->engine->store);
  enum status s = call_begin(call, &txn);
  if (s == STATUS_OK)
    s = find_all(call, true, &list);
  if (s == STATUS_OK && !json_bool(call->args, "confirm", false))
    return need_confirm(call, &list);
  for (size_t i = 0; s == STATUS_OK && i < list.n; i++) {
    struct purge_counts c = {0};
    s = memory_purge(&txn, call->arena, &list.v[i], &c, call->err);
    sum.chunks += c.chunks;
    sum.labels += c.labels;
    sum.annotations += c.annotations;
    sum.links += c.links;
    sum.events += c.events;
  }
  /* Words of deleted rows linger in the index until it is merged. */
  if (s == STATUS_OK)
    s = lexical_optimize(call->engine->store, call->err);
  if (s == STATUS_OK)
    s = call_commit(call, &txn);
  if (s == STATUS_OK) /* and in the log until it is emptied */
    s = db_checkpoint(store_db(call->engine->store), true, &emptied, call->err);
  if (s == STATUS_OK)
    put_receipt(call, &list, &sum, emptied);
  return s;
}

/* ---- prune ---- */

enum { PRUNE_MIN_DAYS = 30, PRUNE_MAX = 50 };

static void put_pruned(struct op_call *call, const char *name, const struct memories *list) {
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, name);
  for (size_t i = 0; i < list->n; i++) {
    const struct memory *m = &list->v[i];
    char time[TIME_TEXT_SIZE];
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    put_brief(call, v, m);
    json_put(call->doc, v, "last_used", time_format(m->last_accessed ? m->last_accessed : m->created_at, time));
  }
}

enum status op_prune(struct op_call *call) {
  int64_t days = json_int(call->args, "days", 90), max_access = json_int(call->args, "min_access", 0), total = 0;
  bool apply = json_bool(call->args, "apply", false);
  if (days < PRUNE_MIN_DAYS || days > 36500) {
    error_set(call->err, STATUS_USAGE, "prune: %lld days is outside %d to 36500", (long long)days, PRUNE_MIN_DAYS);
    error_step(call->err, "prune_safeguard");
    return error_fix(call->err, "memories younger than %d days are never pruned; use --days %d or more", PRUNE_MIN_DAYS,
                     PRUNE_MIN_DAYS);
  }
  struct scope scope = scope_of(call);
  struct memories list = {0};
  struct txn txn;
  enum status s = apply ? call_begin(call, &txn) : STATUS_OK;
  if (s == STATUS_OK)
    s = prune_candidates(call->engine->store, &scope, call->now - days * MS_PER_DAY, max_access, PRUNE_MAX, call->arena,
                         &list, &total, call->err);
  if (s != STATUS_OK)
    return s;
  json_put_bool(call->doc, call->result, "dry_run", !apply);
  put_pruned(call, apply ? "pruned" : "would_prune", &list);
  json_put_int(call->doc, call->result, "total", total);
  json_put_int(call->doc, call->result, "max_per_call", PRUNE_MAX);
  yyjson_mut_val *criteria = json_put_obj(call->doc, call->result, "criteria");
  json_put_int(call->doc, criteria, "days", days);
  json_put_int(call->doc, criteria, "min_access", max_access);
  if (!apply)
    return STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < list.n; i++)
    s = memory_delete(&txn, call->arena, &list.v[i], call->err);
  return s == STATUS_OK ? call_commit(call, &txn) : s;
}
