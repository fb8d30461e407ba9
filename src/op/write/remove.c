/* remove.c: forget, purge, prune. */
#include "op/handlers.h"
#include "op/run/common.h"
#include "op/write/replace.h"
#include "store/memories/lifecycle.h"
#include "store/search/lexical.h"

/* A pruned memory is still in the log, and a purge must find it there. */
static enum status find_one(struct op_call *call, struct str ref, bool pruned_too, struct memory *ret_memory) {
  struct scope scope = call_scope(call);
  enum status s = memory_find(call->engine->store, &scope, ref, call->arena, ret_memory, call->err);
  if (s != STATUS_NOT_FOUND || !pruned_too)
    return s;
  bool found = false;
  struct error not_found = *call->err;
  TRY(memory_pruned(call->engine->store, scope.team, ref, call->arena, ret_memory, &found, call->err));
  if (!found) {
    *call->err = not_found;
    return not_found.code;
  }
  return STATUS_OK;
}

static bool has_memory(const struct memories *list, int64_t id) {
  for (size_t i = 0; i < list->n; i++)
    if (list->v[i].id == id)
      return true;
  return false;
}

/* The memories that the argument "ids" names, each once; one that is not found fails the call. */
static enum status find_all(struct op_call *call, bool pruned_too, struct memories *ret_list) {
  struct strs refs = {0};
  json_strs(call->arena, call->args, "ids", &refs);
  for (size_t i = 0; i < refs.n; i++) {
    struct memory m;
    TRY(find_one(call, refs.v[i], pruned_too, &m));
    if (!has_memory(ret_list, m.id))
      list_push(call->arena, ret_list, m);
  }
  return STATUS_OK;
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
  TRY(call_confirm_many(call, "forget hides", list.n));
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

static enum status require_confirm(struct op_call *call, const struct memories *list) {
  error_set(call->err, STATUS_CONFIRM, "purge removes every trace of %zu %s and cannot be undone", list->n,
            list->n == 1 ? "memory" : "memories");
  return error_fix(call->err, "repeat the call with --confirm; to hide it instead, use 'cairn forget'");
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
  /* An active reader can keep old pages in the log until the next checkpoint. We cannot empty a server's log. */
  bool server = db_engine(store_db(call->engine->store)) != DB_SQLITE;
  json_put_bool(doc, receipt, "log_emptied", emptied && !server);
  if (server)
    json_put(doc, receipt, "remains",
             STR("the server's pages hold the text until they are vacuumed and reused, its log until it is recycled, "
                 "and its backups for as long as they are kept"));
  struct strs backups = {0};
  store_list_backups(call->engine->store, call->arena, &backups);
  json_put_strs(doc, receipt, "backups", &backups);
}

/* A memory that lost its correction to a purge. */
struct orphan {
  struct link link;
  int64_t successor; /* of the purged memory; 0: it was the current version */
  struct str reason; /* of that successor */
};
struct orphans {
  struct orphan *v;
  size_t n, cap;
};

/* If the purged memory was forgotten or has expired, so has what it said: its predecessors stay superseded. */
static enum status find_orphans(struct op_call *call, const struct memory *m, struct orphans *list) {
  struct store *st = call->engine->store;
  struct links links = {0};
  struct link next;
  if (str_is(m->state, "forgotten") || str_is(m->state, "expired"))
    return STATUS_OK;
  TRY(links_of(st, m->team, m->id, call->arena, &links, call->err));
  TRY(link_successor(st, m->team, m->id, call->arena, &next, call->err));
  for (size_t i = 0; i < links.n; i++)
    if (links.v[i].src == m->id && str_is(links.v[i].rel, "supersedes"))
      list_push(call->arena, list, (struct orphan){links.v[i], next.src, next.reason});
  return STATUS_OK;
}

/* Restores the predecessor of a purged current version, and links that of an earlier version to the next one. */
static enum status adopt_orphan(struct op_call *call, struct txn *txn, const struct orphan *o, bool *ret_restored) {
  struct memory old, next;
  bool found, has_next = false;
  *ret_restored = false;
  TRY(memory_by_id(txn->store, txn->team, o->link.dst, call->arena, &old, &found, call->err));
  if (!found || !str_is(old.state, "superseded"))
    return STATUS_OK;
  if (o->successor)
    TRY(memory_by_id(txn->store, txn->team, o->successor, call->arena, &next, &has_next, call->err));
  if (has_next) {
    struct link l = {.src = next.id, .rel = o->link.rel, .dst = old.id, .reason = o->reason, .prior = o->link.prior};
    return link_add(txn, call->arena, &l, call->err);
  }
  enum status s = replace_restore(call, txn, &old, &o->link);
  *ret_restored = s == STATUS_OK;
  return s == STATUS_CONFLICT ? STATUS_OK : s; /* its key or skill name is taken: it stays superseded */
}

static enum status adopt_orphans(struct op_call *call, struct txn *txn, const struct orphans *list) {
  yyjson_mut_val *restored = NULL;
  for (size_t i = 0; i < list->n; i++) {
    bool now;
    TRY(adopt_orphan(call, txn, &list->v[i], &now));
    if (now && !restored)
      restored = json_put_arr(call->doc, call->result, "restored");
    if (now)
      yyjson_mut_arr_add_sint(call->doc, restored, list->v[i].link.dst);
  }
  return STATUS_OK;
}

enum status op_purge(struct op_call *call) {
  struct memories list = {0};
  struct purge_counts sum = {0};
  struct orphans orphans = {0};
  struct txn txn;
  bool emptied = false;
  /* Queued read events may hold the text: write them before the purge, not after it. */
  reads_flush(call->engine->store);
  TRY(call_begin(call, &txn));
  TRY(find_all(call, true, &list));
  if (!json_bool(call->args, "confirm", false))
    return require_confirm(call, &list);
  for (size_t i = 0; i < list.n; i++) {
    struct purge_counts c = {0};
    TRY(find_orphans(call, &list.v[i], &orphans));
    TRY(memory_purge(&txn, call->arena, &list.v[i], &c, call->err));
    sum.chunks += c.chunks;
    sum.labels += c.labels;
    sum.annotations += c.annotations;
    sum.links += c.links;
    sum.events += c.events;
  }
  TRY(adopt_orphans(call, &txn, &orphans));
  /* Terms of deleted rows stay in the full-text index until it is merged, and in the log until a checkpoint. */
  TRY(lexical_optimize(call->engine->store, call->err));
  TRY(call_commit(call, &txn));
  TRY(db_checkpoint(store_db(call->engine->store), true, &emptied, call->err));
  put_receipt(call, &list, &sum, emptied);
  return STATUS_OK;
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
  struct scope scope = call_scope(call);
  struct memories list = {0};
  struct txn txn;
  if (apply)
    TRY(call_begin(call, &txn));
  struct prune_query which = {&scope, call->now - days * MS_PER_DAY, max_access, PRUNE_MAX};
  TRY(prune_candidates(call->engine->store, &which, call->arena, &list, &total, call->err));
  json_put_bool(call->doc, call->result, "dry_run", !apply);
  put_pruned(call, apply ? "pruned" : "would_prune", &list);
  json_put_int(call->doc, call->result, "total", total);
  json_put_int(call->doc, call->result, "max_per_call", PRUNE_MAX);
  yyjson_mut_val *criteria = json_put_obj(call->doc, call->result, "criteria");
  json_put_int(call->doc, criteria, "days", days);
  json_put_int(call->doc, criteria, "min_access", max_access);
  if (!apply)
    return STATUS_OK;
  for (size_t i = 0; i < list.n; i++)
    TRY(memory_delete(&txn, call->arena, &list.v[i], call->err));
  return call_commit(call, &txn);
}
