/* undo.c: undo of a transaction: a new transaction reverses its events, newest first.
 *
 * A stored memory is forgotten, not deleted. If a later transaction changed the same memory, undo is a conflict, and so
 * is an agent's undo of a text that a person has stated since. */
#include <stdlib.h>

#include "op/handlers.h"
#include "op/run/common.h"
#include "store/memories/lifecycle.h"
#include "store/tables/settings.h"

struct undo {
  struct op_call *call;
  struct txn txn;
  int64_t target;
  int64_t changes, missing;
  LIST(struct event) events;
};

static enum status copy_event(void *arg, const struct event *e) {
  struct undo *u = arg;
  struct arena *a = u->call->arena;
  struct event copy = *e;
  copy.change = e->change ? arena_cstr(a, str_from(e->change)) : NULL;
  copy.action = arena_dup(a, e->action);
  copy.uid = e->uid.p ? arena_dup(a, e->uid) : STR_NONE;
  copy.project = arena_dup(a, e->project);
  copy.before = e->before.p ? arena_dup(a, e->before) : STR_NONE;
  copy.after = e->after.p ? arena_dup(a, e->after) : STR_NONE;
  list_push(a, &u->events, copy);
  return STATUS_OK;
}

static enum status conflict(struct undo *u, int64_t id, const char *what) {
  error_set(u->call->err, STATUS_CONFLICT, "memory %lld was changed since (%s)", (long long)id, what);
  return error_fix(u->call->err, "'cairn events --since 0' shows by which transaction; undo that one first");
}

static enum status read_json(struct undo *u, struct str text, yyjson_val **ret) {
  *ret = NULL;
  return text.p ? json_read(u->call->arena, text, ret, u->call->err) : STATUS_OK;
}

static enum status load(struct undo *u, struct str uid, struct memory *m, bool *ret_found) {
  return memory_by_uid(u->txn.store, u->txn.team, uid, u->call->arena, m, ret_found, u->call->err);
}

static enum status check_not_stated(struct undo *u, const struct memory *m) {
  struct op_call *call = u->call;
  bool stated = false;
  if (!call_is_by_person(call))
    TRY(lifecycle_stated(u->txn.store, m, call->arena, &stated, call->err));
  if (!stated)
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "memory %lld was stored again since by a person or another system's tool",
            (long long)m->id);
  return error_fix(call->err, "a person can undo it: cairn undo %lld", (long long)u->target);
}

/* ---- one event each ---- */

static enum status undo_insert(struct undo *u, const struct event *e) {
  struct memory m, now;
  bool found;
  TRY(load(u, e->uid, &m, &found));
  if (!found || str_is(m.state, "forgotten")) {
    u->missing++;
    return STATUS_OK;
  }
  /* Imported memories may have been superseded from the start. */
  yyjson_val *after;
  TRY(read_json(u, e->after, &after));
  if (str_is(m.state, "superseded") && !str_is(json_str(after, "state"), "superseded"))
    return conflict(u, m.id, "it was superseded");
  TRY(check_not_stated(u, &m));
  now = m;
  memory_retire(&now, "forgotten", arena_printf(u->call->arena, "undo of transaction %lld", (long long)u->target),
                u->txn.source, u->txn.now);
  u->changes++;
  return memory_change(&u->txn, u->call->arena, &m, &now, "memory:forget", u->call->err);
}

/* The memory, and what the event changed. A memory that is gone is counted. */
static enum status load_change(struct undo *u, const struct event *e, struct memory *ret_memory, bool *ret_found,
                               yyjson_val **ret_before, yyjson_val **ret_after) {
  TRY(load(u, e->uid, ret_memory, ret_found));
  u->missing += !*ret_found;
  if (!*ret_found)
    return STATUS_OK;
  TRY(read_json(u, e->before, ret_before));
  return read_json(u, e->after, ret_after);
}

/* Reading or touching a memory is not a conflict. */
static bool is_access_field(const struct field *f) {
  struct str name = str_from(f->name);
  return str_is(name, "access_count") || str_is(name, "last_accessed") || str_is(name, "updated_at");
}

static enum status undo_update(struct undo *u, const struct event *e) {
  struct memory m, expected, now;
  bool found;
  yyjson_val *before, *after;
  TRY(load_change(u, e, &m, &found, &before, &after));
  if (!found)
    return STATUS_OK;
  if (!before)
    return STATUS_OK;
  expected = now = m;
  TRY(memory_get_fields(u->call->arena, after, &expected, FIELD_MUTABLE, 0, u->call->err));
  TRY(memory_get_fields(u->call->arena, before, &now, FIELD_MUTABLE, 0, u->call->err));
  for (size_t i = 0; i < memory_field_count; i++)
    if (!is_access_field(&memory_fields[i]) && !memory_field_equal(&memory_fields[i], &m, &expected))
      return conflict(u, m.id, memory_fields[i].name);
  u->changes++;
  return memory_change(&u->txn, u->call->arena, &m, &now, "memory:undo", u->call->err);
}

static enum status relink(struct undo *u, const struct memory *m, yyjson_val *record) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(record, "links"), i, n, v) {
    struct memory other;
    bool found = false, out = str_is(json_str(v, "direction"), "out");
    TRY(load(u, json_str(v, "uid"), &other, &found));
    struct link l = {.src = out ? m->id : other.id,
                     .rel = json_str(v, "rel"),
                     .dst = out ? other.id : m->id,
                     .reason = json_str(v, "reason"),
                     .prior = json_str(v, "prior")};
    if (found && time_parse(json_str(v, "at"), &l.at))
      TRY(link_add(&u->txn, u->call->arena, &l, u->call->err));
  }
  return STATUS_OK;
}

static enum status undo_delete(struct undo *u, const struct event *e) {
  struct memory m = {0};
  yyjson_val *record;
  struct notes none = {0}, notes = {0};
  struct chunk_rows chunks = {0};
  bool exists;
  TRY(load(u, e->uid, &m, &exists));
  TRY(read_json(u, e->before, &record));
  if (exists || !record) {
    u->missing++;
    return STATUS_OK;
  }
  m = (struct memory){0};
  TRY(memory_get_fields(u->call->arena, record, &m, 0, 0, u->call->err));
  m.team = u->txn.team;
  m.body = json_str(record, "body");
  memory_get_lists(u->call->arena, record, &m);
  notes_get(u->call->arena, record, &notes);
  TRY(memory_insert(&u->txn, u->call->arena, &m, &chunks, u->call->err));
  if (notes.n)
    TRY(notes_set(&u->txn, u->call->arena, &m, &none, &notes, u->call->err));
  u->changes++;
  return relink(u, &m, record);
}

static enum status undo_link(struct undo *u, const struct event *e, bool added) {
  yyjson_val *v;
  struct memory src, dst;
  bool found = false, gone;
  TRY(read_json(u, added ? e->after : e->before, &v));
  if (v)
    TRY(load(u, json_str(v, "src"), &src, &found));
  if (found)
    TRY(load(u, json_str(v, "dst"), &dst, &found));
  if (!found) {
    u->missing++;
    return STATUS_OK;
  }
  u->changes++;
  struct str rel = json_str(v, "rel");
  if (added)
    return link_remove(&u->txn, u->call->arena, src.id, rel, dst.id, &gone, u->call->err);
  struct link l = {
      .src = src.id, .rel = rel, .dst = dst.id, .reason = json_str(v, "reason"), .prior = json_str(v, "prior")};
  if (!time_parse(json_str(v, "at"), &l.at))
    l.at = u->txn.now;
  return link_add(&u->txn, u->call->arena, &l, u->call->err);
}

static bool same_notes(const struct notes *a, const struct notes *b) {
  for (size_t i = 0; i < a->n && i < b->n; i++)
    if (a->v[i].at != b->v[i].at || !str_eq(a->v[i].by, b->v[i].by) || !str_eq(a->v[i].text, b->v[i].text))
      return false;
  return a->n == b->n;
}

static enum status undo_notes(struct undo *u, const struct event *e) {
  struct memory m;
  bool found;
  yyjson_val *before, *after;
  struct notes was = {0}, expected = {0}, now = {0};
  TRY(load_change(u, e, &m, &found, &before, &after));
  if (!found)
    return STATUS_OK;
  TRY(notes_load(u->txn.store, u->call->arena, &m, &was, u->call->err));
  notes_get(u->call->arena, before, &now);
  notes_get(u->call->arena, after, &expected);
  if (!same_notes(&was, &expected))
    return conflict(u, m.id, "its notes");
  u->changes++;
  return notes_set(&u->txn, u->call->arena, &m, &was, &now, u->call->err);
}

static enum status undo_setting(struct undo *u, const struct event *e) {
  yyjson_val *before;
  TRY(read_json(u, e->before, &before));
  int id = setting_find(json_str(before, "name"));
  if (id < 0)
    return STATUS_OK;
  TRY(call_check_setting(u->call, (enum setting_id)id));
  u->changes++;
  return setting_set(&u->txn, u->call->arena, (enum setting_id)id, json_str(before, "value"), u->call->err);
}

static enum status undo_event(struct undo *u, const struct event *e) {
  struct str change = str_from(e->change);
  if (e->purged || str_is(change, "purge")) {
    error_set(u->call->err, STATUS_CONFLICT, "transaction %lld touched a memory that was purged", (long long)u->target);
    return error_fix(u->call->err, "a purge cannot be undone");
  }
  if (str_starts(e->action, STR("vault:"))) {
    error_set(u->call->err, STATUS_CONFLICT, "transaction %lld changed the vault, whose values are not in the log",
              (long long)u->target);
    return error_fix(u->call->err,
                     "set the value again: cairn vault set KEY VALUE; only a person can replace a secret");
  }
  if (str_is(change, "insert"))
    return undo_insert(u, e);
  if (str_is(change, "update"))
    return undo_update(u, e);
  if (str_is(change, "delete"))
    return undo_delete(u, e);
  if (str_is(change, "link") || str_is(change, "unlink"))
    return undo_link(u, e, str_is(change, "link"));
  if (str_is(change, "annotate"))
    return undo_notes(u, e);
  if (str_is(change, "setting"))
    return undo_setting(u, e);
  return STATUS_OK; /* a skipped write or a read: nothing to reverse */
}

/* ---- the operation ---- */

static enum status check_target(struct op_call *call, int64_t target) {
  struct str op;
  int64_t undone_by;
  TRY(txn_find(call->engine->store, call->caller.team, target, call->arena, &op, &undone_by, call->err));
  if (!op.p) {
    error_set(call->err, STATUS_NOT_FOUND, "no transaction %lld", (long long)target);
    return error_fix(call->err, "every change names its transaction; 'cairn events' lists them");
  }
  if (undone_by) {
    error_set(call->err, STATUS_CONFLICT, "transaction %lld was undone by transaction %lld", (long long)target,
              (long long)undone_by);
    return error_fix(call->err, "to do it again: cairn undo %lld", (long long)undone_by);
  }
  return STATUS_OK;
}

static int compare_ids(const void *x, const void *y) {
  const int64_t *a = x, *b = y;
  return (*a > *b) - (*a < *b);
}

/* Number of memories that the transaction changed. */
static size_t memory_count_of(const struct undo *u) {
  int64_t *ids = arena_array(u->call->arena, int64_t, u->events.n + 1);
  size_t n = 0;
  for (size_t i = 0; i < u->events.n; i++)
    ids[i] = u->events.v[i].memory_id;
  qsort(ids, u->events.n, sizeof(*ids), compare_ids);
  for (size_t i = 0; i < u->events.n; i++)
    n += ids[i] != 0 && (i == 0 || ids[i] != ids[i - 1]);
  return n;
}

/* Copies the events of the transaction and of its parts, newest first. */
static enum status load_events(struct undo *u) {
  struct op_call *call = u->call;
  LIST(int64_t) parts = {0};
  int64_t id = u->target;
  for (int part = 1; id; part++) {
    list_push(call->arena, &parts, id);
    TRY(txn_find_part(u->txn.store, u->txn.team, u->target, part, &id, call->err));
  }
  for (size_t i = parts.n; i-- > 0;)
    TRY(events_of_txn(u->txn.store, u->txn.team, parts.v[i], true, copy_event, u, call->err));
  return STATUS_OK;
}

enum status op_undo(struct op_call *call) {
  struct undo u = {.call = call, .target = json_int(call->args, "txn", 0)};
  struct txn who = call_author(call);
  who.foreign = true; /* a memory that is stored again ages only if the log says that it did */
  TRY(check_target(call, u.target));
  TRY(txn_begin(call->engine->store, &who, u.target, &u.txn, call->err));
  TRY(load_events(&u));
  TRY(call_confirm_many(call, "undo reverts", memory_count_of(&u)));
  for (size_t i = 0; i < u.events.n; i++) {
    TRY(undo_event(&u, &u.events.v[i]));
    progress(call, "undo", (int64_t)i + 1, (int64_t)u.events.n);
  }
  json_put_int(call->doc, call->result, "undone", u.target);
  json_put_int(call->doc, call->result, "changes", u.changes);
  if (u.missing)
    json_put_int(call->doc, call->result, "already_gone", u.missing);
  return call_commit(call, &u.txn);
}
