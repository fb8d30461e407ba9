/* task.c: task add, list, ready, claim, status, block, unblock. */
#include "op/handlers.h"
#include "op/write/write.h"
#include "store/memories/links.h"
#include "store/memories/memories.h"

enum status op_task_add(struct op_call *call) {
  struct write w = {0};
  TRY(write_from_args(call, call->args, &w));
  w.m.kind = str_from(kind_names[KIND_TASK]);
  w.m.type = str_from(type_of_kind(KIND_TASK)->name);
  return write_run(call, &w);
}

/* ---- lists ---- */

/* Only tasks that still block this one: not those that are done. */
static enum status put_blockers(struct op_call *call, yyjson_mut_val *v, int64_t task) {
  struct str ids, id;
  int64_t number;
  TRY(task_open_blockers(call->engine->store, call->caller.team, task, call->arena, &ids, call->err));
  yyjson_mut_val *arr = ids.p ? json_put_arr(call->doc, v, "blocked_by") : NULL;
  while (ids.p && str_next(&ids, ',', &id))
    if (str_int64(str_trim(id), &number))
      yyjson_mut_arr_add_sint(call->doc, arr, number);
  return STATUS_OK;
}

static enum status put_tasks(struct op_call *call, const struct memories *list) {
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "tasks");
  for (size_t i = 0; i < list->n; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    put_brief(call, v, &list->v[i]);
    TRY(put_blockers(call, v, list->v[i].id));
  }
  json_put_int(call->doc, call->result, "count", (int64_t)list->n);
  return STATUS_OK;
}

/* Number of tasks that maintenance has taken from the list, on the first page. */
static enum status put_stale(struct op_call *call, const struct scope *scope, struct filter f) {
  int64_t n = 0;
  if (f.status.p || f.after.id)
    return STATUS_OK;
  f.status = STR("stale");
  TRY(memory_count(call->engine->store, scope, &f, call->arena, &n, call->err));
  if (n)
    json_put_int(call->doc, call->result, "stale", n);
  return STATUS_OK;
}

enum status op_task_list(struct op_call *call) {
  struct filter f;
  struct scope scope = call_scope(call);
  struct memories list = {0};
  TRY(call_filter(call, &f));
  TRY(call_int(call, "limit", 50, 1, 1000, &f.limit));
  TRY(call_cursor(call, &f.after));
  int64_t limit = f.limit++; /* one more than asked for: it shows whether there is a next page */
  f.kind = str_from(kind_names[KIND_TASK]);
  f.no_retired_tasks = !f.status.p;
  f.order = TASK_ORDER;
  TRY(memory_list(call->engine->store, &scope, &f, call->arena, &list, call->err));
  put_cursor(call, &list, limit, true);
  TRY(put_tasks(call, &list));
  f.no_retired_tasks = false;
  return put_stale(call, &scope, f);
}

enum status op_task_ready(struct op_call *call) {
  struct scope scope = call_scope(call);
  struct memories list = {0};
  int64_t limit;
  TRY(call_int(call, "limit", 20, 1, 1000, &limit));
  TRY(tasks_ready(call->engine->store, &scope, limit, call->arena, &list, call->err));
  return put_tasks(call, &list);
}

/* ---- changes ---- */

static enum status require_task(struct op_call *call, const struct memory *m) {
  if (!str_is(m->kind, kind_names[KIND_TASK])) {
    error_set(call->err, STATUS_CONFLICT, "memory %lld is a %.*s, not a task", (long long)m->id, STR_ARG(m->kind));
    return error_fix(call->err, "'cairn task list' shows the tasks");
  }
  if (!str_is(m->state, "active")) {
    error_set(call->err, STATUS_CONFLICT, "task %lld is %.*s", (long long)m->id, STR_ARG(m->state));
    return error_fix(call->err, "'cairn history %lld' shows its current version", (long long)m->id);
  }
  return STATUS_OK;
}

static enum status refuse_claimed(struct op_call *call, const struct memory *m) {
  error_set(call->err, STATUS_CONFLICT, "task %lld is claimed by %.*s", (long long)m->id, STR_ARG(m->claimed_by));
  return error_fix(call->err, "'cairn task ready' lists tasks that nobody has claimed");
}

static enum status check_claim(struct op_call *call, const struct memory *m, struct str by) {
  if (m->claimed_by.p && !str_eq(m->claimed_by, by))
    return refuse_claimed(call, m);
  if (!str_is(m->status, "open")) {
    error_set(call->err, STATUS_CONFLICT, "task %lld is %.*s", (long long)m->id, STR_ARG(m->status));
    return error_fix(call->err, "to reopen it: cairn task status %lld open", (long long)m->id);
  }
  struct str blockers;
  TRY(task_open_blockers(call->engine->store, call->caller.team, m->id, call->arena, &blockers, call->err));
  if (!blockers.p)
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "task %lld is blocked by %.*s", (long long)m->id, STR_ARG(blockers));
  return error_fix(call->err, "'cairn task ready' lists tasks that can be started");
}

/* The task that the call names, else the first ready one. */
static enum status find_claimable(struct op_call *call, struct memory *ret) {
  if (json_str(call->args, "id").p)
    return call_find(call, "id", ret);
  struct scope scope = call_scope(call);
  struct memories list = {0};
  TRY(tasks_ready(call->engine->store, &scope, 1, call->arena, &list, call->err));
  if (list.n == 0) {
    error_set(call->err, STATUS_NOT_FOUND, "no task is ready");
    return error_fix(call->err, "'cairn task list' shows open tasks and their blockers");
  }
  *ret = list.v[0];
  return STATUS_OK;
}

enum status op_task_claim(struct op_call *call) {
  struct str by = json_str(call->args, "by");
  bool release = json_bool(call->args, "release", false);
  struct memory m, now;
  struct txn txn;
  if (!by.p)
    by = call->caller.source;
  if (str_empty(str_trim(by))) {
    error_set(call->err, STATUS_USAGE, "task claim: a name is needed");
    return error_fix(call->err, "say who claims it, for example --by alice");
  }
  if (release && !json_str(call->args, "id").p) {
    error_set(call->err, STATUS_USAGE, "task claim: name the task to release");
    return error_fix(call->err, "cairn task claim ID --release");
  }
  /* Begin before reading, so the second of two concurrent claims sees the first. */
  TRY(call_begin(call, &txn));
  TRY(find_claimable(call, &m));
  TRY(require_task(call, &m));
  if (release && m.claimed_by.p && !str_eq(m.claimed_by, by) && json_str(call->args, "by").p)
    return refuse_claimed(call, &m);
  if (!release)
    TRY(check_claim(call, &m, by));
  now = m;
  now.claimed_by = release ? STR_NONE : by;
  now.claimed_at = release ? 0 : m.claimed_by.p ? m.claimed_at : call->now;
  now.updated_at = call->now;
  TRY(memory_change(&txn, call->arena, &m, &now, release ? "task:release" : "task:claim", call->err));
  put_brief(call, call->result, &now);
  return call_commit(call, &txn);
}

enum status op_task_status(struct op_call *call) {
  struct memory m, now;
  struct txn txn;
  TRY(call_begin(call, &txn));
  TRY(call_find(call, "id", &m));
  TRY(require_task(call, &m));
  now = m;
  now.status = json_str(call->args, "status");
  now.updated_at = call->now;
  if (str_is(now.status, "done") || str_is(now.status, "stale")) {
    now.claimed_by = STR_NONE;
    now.claimed_at = 0;
  }
  TRY(memory_change(&txn, call->arena, &m, &now, "task:status", call->err));
  put_brief(call, call->result, &now);
  return call_commit(call, &txn);
}

/* ---- blockers ---- */

static enum status refuse_cycle(struct op_call *call, int64_t task, struct str path) {
  error_set(call->err, STATUS_CONFLICT, "this would make task %lld block itself: %lld -> %.*s", (long long)task,
            (long long)task, STR_ARG(path));
  return error_fix(call->err, "remove one of these links first: cairn task unblock ID ID");
}

static enum status change_block(struct op_call *call, bool add) {
  struct memory m, by;
  struct txn txn;
  bool found = true;
  struct str path = STR_NONE;
  TRY(call_begin(call, &txn));
  TRY(call_find(call, "id", &m));
  TRY(require_task(call, &m));
  TRY(call_find(call, "by", &by));
  if (add) {
    TRY(require_task(call, &by));
    TRY(link_path(txn.store, txn.team, by.id, m.id, call->arena, &path, call->err));
  }
  if (path.p)
    return refuse_cycle(call, m.id, path);
  struct link l = {.src = m.id, .rel = STR("blocked_by"), .dst = by.id};
  TRY(add ? link_add(&txn, call->arena, &l, call->err)
          : link_remove(&txn, call->arena, l.src, l.rel, l.dst, &found, call->err));
  if (!found) {
    error_set(call->err, STATUS_NOT_FOUND, "task %lld is not blocked by %lld", (long long)m.id, (long long)by.id);
    return error_fix(call->err, "'cairn task list' shows the blockers of each task");
  }
  put_brief(call, call->result, &m);
  json_put_int(call->doc, call->result, "by", by.id);
  return call_commit(call, &txn);
}

enum status op_task_block(struct op_call *call) { return change_block(call, true); }
enum status op_task_unblock(struct op_call *call) { return change_block(call, false); }
