/* action.c: action list, action add, action ack. */
#include "op/session/action.h"

#include "base/utf8.h"
#include "core/text/text.h"
#include "op/handlers.h"
#include "op/session/session.h"

void put_action_item(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct action_item *item) {
  char time[TIME_TEXT_SIZE];
  json_put_int(doc, obj, "id", item->id);
  json_put(doc, obj, "text", item->text);
  json_put(doc, obj, "kind", item->kind);
  json_put(doc, obj, "status", item->status);
  json_put(doc, obj, "project", item->project);
  if (item->memory_id)
    json_put_int(doc, obj, "memory", item->memory_id);
  json_put(doc, obj, "created_at", time_format(item->created_at, time));
  json_put_opt(doc, obj, "decided_by", item->decided_by);
  if (item->decided_at)
    json_put(doc, obj, "decided_at", time_format(item->decided_at, time));
  json_put_opt(doc, obj, "reason", item->reason);
}

/* Sentences that sound like action items. They block nobody; 'action add' makes one an item. */
static enum status put_candidates(struct op_call *call) {
  struct scope scope = call_scope(call);
  struct action_items found = {0};
  yyjson_mut_val *arr = NULL;
  TRY(actions_extracted(call->engine->store, &scope, false, call->arena, &found, call->err));
  if (found.n)
    arr = json_put_arr(call->doc, call->result, "candidates");
  for (size_t i = 0; i < found.n; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, v, "text", found.v[i].text);
    json_put_int(call->doc, v, "memory", found.v[i].memory_id);
  }
  return STATUS_OK;
}

enum status op_action_list(struct op_call *call) {
  struct store *st = call->engine->store;
  const struct caller *c = &call->caller;
  struct action_items list = {0}, first = {0};
  int64_t limit, pending;
  bool all = json_bool(call->args, "all", false);
  TRY(call_int(call, "limit", 50, 1, 1000, &limit));
  struct pending_query q = {.team = c->team,
                            .project = c->project,
                            .limit = limit,
                            .extracted = c->extracted_items,
                            .all_projects = c->all_projects};
  TRY(actions_pending(st, &q, call->arena, all ? &first : &list, &pending, call->err));
  if (all)
    TRY(actions_all(st, &q, call->arena, &list, call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "items");
  for (size_t i = 0; i < list.n; i++)
    put_action_item(call->doc, yyjson_mut_arr_add_obj(call->doc, arr), &list.v[i]);
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  json_put_int(call->doc, call->result, "pending", pending);
  return c->extracted_items ? STATUS_OK : put_candidates(call);
}

static enum status begin(struct op_call *call, struct txn *ret_txn) {
  struct txn who = call_author(call);
  return sessions_begin(call->engine->store, &who, ret_txn, call->err);
}

static enum status check_text(struct op_call *call, struct str *text) {
  *text = text_collapse(call->arena, *text);
  size_t length = utf8_length(*text);
  if (length == 0 || length > ACTION_CHARACTERS) {
    error_set(call->err, STATUS_REFUSED, "an action item has 1 to %d characters, this one %zu", (int)ACTION_CHARACTERS,
              length);
    return error_fix(call->err, "say in one sentence what is to be done");
  }
  return STATUS_OK;
}

enum status op_action_add(struct op_call *call) {
  struct str kind = json_str(call->args, "kind");
  struct action_item item = {
      .project = call->caller.project, .text = json_str(call->args, "text"), .kind = kind.p ? kind : STR("task")};
  struct memory m;
  struct txn txn;
  bool added = false;
  TRY(check_text(call, &item.text));
  if (json_str(call->args, "memory").p) {
    TRY(call_find(call, "memory", &m));
    item.memory_id = m.id;
    item.project = m.project;
  }
  TRY(begin(call, &txn));
  TRY(action_add(&txn, call->arena, &item, &added, call->err));
  if (!call->caller.extracted_items)
    TRY(action_adopt(&txn, &item, call->err));
  put_action_item(call->doc, call->result, &item);
  json_put(call->doc, call->result, "action", added ? STR("added") : STR("already"));
  put_no_project(call, item.project);
  return txn_commit(&txn, call->err);
}

/* ---- answers ---- */

/* The session's project, if `project` is empty and the call names none. */
static enum status default_to_session(struct op_call *call, struct str *project) {
  struct session session;
  bool found;
  if (!str_empty(*project))
    return STATUS_OK;
  TRY(session_current(call, &session, &found));
  *project = found && str_empty(call->caller.project) ? session.project : call->caller.project;
  return STATUS_OK;
}

static enum status find_text(struct op_call *call, const struct memory *m, struct str text,
                             struct action_item *ret_item, bool *ret_found) {
  const struct caller *c = &call->caller;
  struct action_item like = {.memory_id = m->id, .project = m->id ? m->project : STR("")};
  like.text = text_collapse(call->arena, text);
  if (!m->id)
    TRY(default_to_session(call, &like.project));
  return action_find_text(call->engine->store, c->team, &like, c->all_projects, call->arena, ret_item, ret_found,
                          call->err);
}

static enum status find_item(struct op_call *call, struct action_item *ret_item) {
  struct str text = json_str(call->args, "text");
  int64_t id = json_int(call->args, "id", 0);
  struct memory m = {0};
  bool found = false;
  if (id <= 0 && !text.p) {
    error_set(call->err, STATUS_USAGE, "action ack: name the item by its id or its text");
    return error_fix(call->err, "'cairn action list' lists pending items");
  }
  if (json_str(call->args, "memory").p)
    TRY(call_find(call, "memory", &m));
  if (id > 0)
    TRY(action_find(call->engine->store, call->caller.team, id, call->arena, ret_item, &found, call->err));
  else
    TRY(find_text(call, &m, text, ret_item, &found));
  if (found)
    return STATUS_OK;
  error_set(call->err, STATUS_NOT_FOUND, "there is no such action item");
  return error_fix(call->err, "'cairn action list' lists pending items; its text must be given exactly");
}

static enum status check_answer(struct op_call *call, const struct action_item *item, struct str decision,
                                struct str *reason) {
  if (str_is(decision, "already_done") && str_is(item->kind, "rule")) {
    error_set(call->err, STATUS_REFUSED, "item %lld is a rule, and a rule is never done", (long long)item->id);
    return error_fix(call->err, "answer will_execute, or not_relevant with a reason");
  }
  *reason = str_trim(*reason);
  if (str_empty(*reason) && !str_is(decision, "will_execute")) {
    error_set(call->err, STATUS_REFUSED, "%.*s needs a reason", STR_ARG(decision));
    return error_fix(call->err, "cairn action ack %lld %.*s --reason WHY", (long long)item->id, STR_ARG(decision));
  }
  if (utf8_length(*reason) > ACTION_CHARACTERS) {
    error_set(call->err, STATUS_REFUSED, "the reason is longer than %d characters", (int)ACTION_CHARACTERS);
    return error_fix(call->err, "a sentence is enough");
  }
  return STATUS_OK;
}

enum status op_action_ack(struct op_call *call) {
  struct str decision = json_str(call->args, "decision"), reason = json_str(call->args, "reason");
  struct action_item item;
  struct action_items left = {0};
  struct txn txn;
  int64_t remaining;
  /* Begin before reading, so the second of two concurrent answers sees the first. */
  TRY(begin(call, &txn));
  TRY(find_item(call, &item));
  bool pending = str_is(item.status, "pending");
  if (pending) {
    TRY(check_answer(call, &item, decision, &reason));
    TRY(action_decide(&txn, call->arena, &item, decision, str_empty(reason) ? STR_NONE : reason, call->err));
  }
  struct str project = item.project; /* a global item blocks writes to the project of the session, too */
  TRY(default_to_session(call, &project));
  struct pending_query q = {
      .team = txn.team, .project = project, .limit = 1, .extracted = call->caller.extracted_items};
  TRY(actions_pending(txn.store, &q, call->arena, &left, &remaining, call->err));
  json_put_int(call->doc, call->result, "id", item.id);
  json_put(call->doc, call->result, "text", item.text);
  json_put(call->doc, call->result, "decision", decision);
  json_put(call->doc, call->result, "status", pending ? decision : item.status);
  json_put_int(call->doc, call->result, "removed", pending);
  json_put_int(call->doc, call->result, "remaining", remaining);
  return txn_commit(&txn, call->err);
}
