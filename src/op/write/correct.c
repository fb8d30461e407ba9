/* correct.c: supersede, unsupersede, history, annotate, rate, pin, promote, link. */
#include "op/handlers.h"
#include "op/write/replace.h"

/* ---- supersede ---- */

enum status op_supersede(struct op_call *call) {
  struct memory old;
  struct write w = {0};
  TRY(call_find(call, "id", &old));
  TRY(write_from_args(call, call->args, &w));
  w.supersedes = arena_printf(call->arena, "%lld", (long long)old.id);
  /* An argument moves the new version to that project. The project of the connection does not. */
  if (!json_str(call->args, "project").p && !json_str(call->args, "scope").p)
    w.m.project = old.project;
  TRY(write_run(call, &w));
  if (!yyjson_mut_obj_get(call->result, "old_id"))
    json_put_int(call->doc, call->result, "old_id", old.id);
  return STATUS_OK;
}

/* ---- unsupersede ---- */

static enum status refuse_not_superseded(struct op_call *call, const struct memory *m) {
  error_set(call->err, STATUS_CONFLICT, "memory %lld is %.*s, not superseded", (long long)m->id, STR_ARG(m->state));
  return error_fix(call->err, "name the older memory of the pair; 'cairn history %lld' shows the chain",
                   (long long)m->id);
}

static enum status retire_corrector(struct op_call *call, struct txn *txn, const struct memory *corrector) {
  struct memory now = *corrector;
  memory_retire(&now, "forgotten", STR("unsupersede: the correction was reverted"), txn->source, txn->now);
  return memory_change(txn, call->arena, corrector, &now, "memory:forget", call->err);
}

static enum status refuse_mid_chain(struct op_call *call, const struct memory *corrector) {
  error_set(call->err, STATUS_CONFLICT, "its successor %lld is also %.*s: only the last link of a chain can be undone",
            (long long)corrector->id, STR_ARG(corrector->state));
  return error_fix(call->err, "start from the newest version: 'cairn history %lld' shows it", (long long)corrector->id);
}

enum status op_unsupersede(struct op_call *call) {
  struct memory old, corrector;
  struct link l;
  struct txn txn;
  bool found, keep = json_bool(call->args, "keep_corrector", false);
  TRY(call_begin(call, &txn));
  TRY(call_find(call, "id", &old));
  TRY(link_successor(txn.store, txn.team, old.id, call->arena, &l, call->err));
  if (!str_is(old.state, "superseded") || l.src == 0)
    return refuse_not_superseded(call, &old);
  TRY(memory_by_id(txn.store, txn.team, l.src, call->arena, &corrector, &found, call->err));
  if (str_is(corrector.state, "superseded"))
    return refuse_mid_chain(call, &corrector);
  if (keep && old.key.p && str_eq(old.key, corrector.key)) {
    error_set(call->err, STATUS_CONFLICT, "both memories have the key '%.*s': only one can be active",
              STR_ARG(old.key));
    return error_fix(call->err, "leave --keep-corrector out");
  }
  if (!keep && !str_is(corrector.state, "forgotten"))
    TRY(retire_corrector(call, &txn, &corrector));
  TRY(link_remove(&txn, call->arena, l.src, l.rel, l.dst, &found, call->err));
  TRY(replace_restore(call, &txn, &old, &l));
  json_put_int(call->doc, call->result, "id", old.id);
  json_put(call->doc, call->result, "state", STR("active"));
  if (!keep)
    json_put_int(call->doc, call->result, "retired", corrector.id);
  return call_commit(call, &txn);
}

/* ---- history ---- */

static enum status put_version(struct op_call *call, yyjson_mut_val *arr, int64_t id, struct str reason) {
  struct memory m;
  bool found;
  TRY(memory_by_id(call->engine->store, call->caller.team, id, call->arena, &m, &found, call->err));
  if (!found)
    return STATUS_OK;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
  put_brief(call, v, &m);
  json_put_opt(call->doc, v, "reason", reason);
  json_put_bool(call->doc, v, "current", str_is(m.state, "active"));
  return STATUS_OK;
}

enum status op_history(struct op_call *call) {
  struct store *st = call->engine->store;
  struct memory m;
  struct link l;
  TRY(call_find(call, "id", &m));
  int64_t id = m.id;
  for (;;) { /* to the oldest version; links cannot form a cycle */
    TRY(link_predecessor(st, call->caller.team, id, call->arena, &l, call->err));
    if (l.dst == 0)
      break;
    id = l.dst;
  }
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "chain");
  struct str reason = STR_NONE;
  struct memory_ids ids = {0};
  for (;;) {
    TRY(put_version(call, arr, id, reason));
    list_push(call->arena, &ids, id);
    TRY(link_successor(st, call->caller.team, id, call->arena, &l, call->err));
    if (l.src == 0)
      break;
    id = l.src;
    reason = l.reason;
  }
  json_put_int(call->doc, call->result, "head", id);
  note_result_read(call, "history", arena_printf(call->arena, "cairn://history/%.*s", STR_ARG(m.uid)), &ids, false);
  return STATUS_OK;
}

/* ---- notes ---- */

enum status op_annotate(struct op_call *call) {
  struct memory m;
  struct notes was = {0}, now = {0};
  struct txn txn;
  struct str note = str_trim(json_str(call->args, "note"));
  bool clear = json_bool(call->args, "clear", false);
  if (clear && !str_empty(note)) {
    error_set(call->err, STATUS_USAGE, "annotate: a note and clear exclude each other");
    return error_fix(call->err, "clear the notes first, then add one");
  }
  bool write = clear || !str_empty(note);
  if (write)
    TRY(call_begin(call, &txn));
  TRY(call_find(call, "id", &m));
  TRY(notes_load(call->engine->store, call->arena, &m, &was, call->err));
  if (!clear)
    for (size_t i = 0; i < was.n; i++)
      list_push(call->arena, &now, was.v[i]);
  if (!str_empty(note))
    list_push(call->arena, &now, (struct note){call->now, call->caller.source, note});
  json_put_int(call->doc, call->result, "id", m.id);
  notes_put(call->doc, call->result, &now);
  if (now.n == 0)
    json_put_arr(call->doc, call->result, "annotations");
  if (!write) {
    note_read(call, &m);
    return STATUS_OK;
  }
  TRY(notes_set(&txn, call->arena, &m, &was, &now, call->err));
  return call_commit(call, &txn);
}

/* ---- rate, pin, promote ---- */

/* Finds the memory inside the transaction; `change` edits the copy. */
static enum status change_one(struct op_call *call, const char *action,
                              enum status (*change)(struct op_call *, struct memory *), struct memory *ret_now) {
  struct txn txn;
  struct memory was;
  TRY(call_begin(call, &txn));
  TRY(call_find(call, "id", &was));
  struct memory now = was;
  TRY(change(call, &now));
  if (str_is(was.state, "active"))
    now.updated_at = call->now;
  TRY(memory_change(&txn, call->arena, &was, &now, action, call->err));
  json_put_int(call->doc, call->result, "id", now.id);
  *ret_now = now;
  return call_commit(call, &txn);
}

static enum status apply_rating(struct op_call *call, struct memory *m) {
  if (str_is(json_str(call->args, "direction"), "up"))
    m->upvotes++;
  else
    m->downvotes++;
  return STATUS_OK;
}

enum status op_rate(struct op_call *call) {
  struct memory m;
  TRY(change_one(call, "memory:rate", apply_rating, &m));
  json_put_int(call->doc, call->result, "upvotes", m.upvotes);
  json_put_int(call->doc, call->result, "downvotes", m.downvotes);
  return STATUS_OK;
}

static enum status require_active(struct op_call *call, const struct memory *m) {
  if (str_is(m->state, "active"))
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "memory %lld is %.*s", (long long)m->id, STR_ARG(m->state));
  return error_fix(call->err, "'cairn get %lld' shows where its current version is", (long long)m->id);
}

static enum status apply_pin(struct op_call *call, struct memory *m) {
  m->delivery = STR("pinned");
  return require_active(call, m);
}

static enum status apply_unpin(struct op_call *call UNUSED, struct memory *m) {
  m->delivery = m->skill_name.p ? STR("skill") : STR("on_demand");
  return STATUS_OK;
}

/* The event records who promoted it. An agent must not promote a suspect text: agents are the target of such texts. */
static enum status apply_promote(struct op_call *call, struct memory *m) {
  if (m->suspect.p && !call_is_by_person(call)) {
    error_set(call->err, STATUS_DENIED,
              "memory %lld reads like instructions to its reader (%.*s), and only a person can promote it",
              (long long)m->id, STR_ARG(m->suspect));
    error_step(call->err, "trust");
    return error_fix(call->err, "ask your user to read it, and to run 'cairn promote %lld'", (long long)m->id);
  }
  if (!memory_is_trusted(m) || call_is_by_person(call)) /* an agent never lowers a person's trust to its own */
    m->trust = call->caller.trust;
  m->suspect = STR_NONE;
  return STATUS_OK;
}

static enum status change_delivery(struct op_call *call, const char *action,
                                   enum status (*change)(struct op_call *, struct memory *)) {
  struct memory m;
  TRY(change_one(call, action, change, &m));
  json_put(call->doc, call->result, "delivery", m.delivery);
  return STATUS_OK;
}

enum status op_pin(struct op_call *call) { return change_delivery(call, "memory:pin", apply_pin); }
enum status op_unpin(struct op_call *call) { return change_delivery(call, "memory:unpin", apply_unpin); }

enum status op_promote(struct op_call *call) {
  struct memory m;
  TRY(change_one(call, "memory:promote", apply_promote, &m));
  json_put(call->doc, call->result, "trust", m.trust);
  return STATUS_OK;
}

/* ---- links ---- */

static enum status change_link(struct op_call *call, bool add) {
  struct txn txn;
  struct memory from, to;
  struct str rel = json_str(call->args, "rel");
  bool found = true;
  TRY(call_begin(call, &txn));
  TRY(call_find(call, "id", &from));
  TRY(call_find(call, "to", &to));
  if (from.id == to.id) {
    error_set(call->err, STATUS_USAGE, "a memory cannot be linked to itself");
    return error_fix(call->err, "name two memories");
  }
  struct link link = {.src = from.id, .rel = rel, .dst = to.id};
  TRY(add ? link_add(&txn, call->arena, &link, call->err)
          : link_remove(&txn, call->arena, from.id, rel, to.id, &found, call->err));
  if (!found) {
    error_set(call->err, STATUS_NOT_FOUND, "memory %lld has no link '%.*s' to %lld", (long long)from.id, STR_ARG(rel),
              (long long)to.id);
    return error_fix(call->err, "'cairn get %lld' shows its links", (long long)from.id);
  }
  json_put_int(call->doc, call->result, "id", from.id);
  json_put(call->doc, call->result, "rel", rel);
  json_put_int(call->doc, call->result, "to", to.id);
  return call_commit(call, &txn);
}

enum status op_link(struct op_call *call) { return change_link(call, true); }
enum status op_unlink(struct op_call *call) { return change_link(call, false); }
