/* brain_error.c: error format of openbrain and openbrain2: {"success": false, "error", "blocked_by"}. */
#include "mcp/profiles/openbrain/brain.h"

/* True if the write gate refused the text: it names its step. A refused answer to an action item has none. */
static bool is_from_gate(const struct error *err) {
  return (err->code == STATUS_REFUSED && err->step) || err->code == STATUS_DUPLICATE;
}

#define BOOT_FIRST "boot first; session_id is 0, or what the boot of this client returned"
/* Fixes that replace those of an operation, which name commands without a tool in these profiles. */
static const struct {
  const char *op;
  enum status code;
  const char *fix;
} fixes[] = {
    {"skill load", STATUS_NOT_FOUND,
     "search finds skills by their keywords and shows their names; a skill of certain projects needs the project"},
    {"action ack", STATUS_REFUSED,
     "answer will_execute, or not_relevant with a reason; already_done needs a reason, too"},
    {"action ack", STATUS_NOT_FOUND, "boot again to list pending items, and name one of them exactly"},
    {"unsupersede", STATUS_CONFLICT,
     "name the older memory of a pair; in a chain, start with the newest pair; recall shows the replacement of a "
     "memory"},
    {"supersede", STATUS_DUPLICATE, "forget the old memory, since the other one says it already"},
    {"task status", STATUS_CONFLICT, "a boot lists the tasks"},
    {"capture", STATUS_REFUSED, "give sentences of five words or more"},
    {"session task", STATUS_CONFLICT, BOOT_FIRST},
    {"session task", STATUS_NOT_FOUND, BOOT_FIRST},
    {"session end", STATUS_CONFLICT, BOOT_FIRST},
    {"session end", STATUS_NOT_FOUND, BOOT_FIRST},
    {"session handoff", STATUS_CONFLICT, BOOT_FIRST},
    {"session handoff", STATUS_NOT_FOUND, BOOT_FIRST},
    {"scratch set", STATUS_CONFLICT, BOOT_FIRST},
    {"scratch get", STATUS_CONFLICT, BOOT_FIRST},
    {"scratch list", STATUS_CONFLICT, BOOT_FIRST},
};

static struct str fix_of(struct tool_run *run, const struct error *err) {
  static const struct str any_ref = STR_INIT("name an id, uid or key"); /* these tools take only ids */
  struct str fix = str_from(err->fix);
  for (size_t i = 0; i < ARRAY_LEN(fixes); i++)
    if (run->tool->op && strcmp(run->tool->op, fixes[i].op) == 0 && err->code == fixes[i].code)
      return str_from(fixes[i].fix);
  if (str_starts(fix, any_ref))
    fix = arena_printf(run->arena, "name an id%.*s", STR_ARG(str_slice(fix, any_ref.n, fix.n)));
  return tool_rewrite_advice(run, fix);
}

static const char *blocked_by(const struct error *err) {
  static const char *const steps[] = {"source_required", "prune_safeguard", "action_items_pending"};
  struct str step = str_from(err->step);
  if (err->code == STATUS_SECRET)
    return "secrets_filter";
  for (size_t i = 0; i < ARRAY_LEN(steps); i++)
    if (str_is(step, steps[i]))
      return steps[i];
  return str_is(step, "action_items") ? "action_items_pending" : NULL;
}

/* The project that the call would have written to: that of the memory that it names, or of the i-th of them, else its
 * own. False for the last one. */
static bool put_target(struct tool_run *run, yyjson_mut_val *args, size_t i) {
  static const char *const names[] = {"old_memory_id", "old_id", "memory_id", "task_id"};
  yyjson_val *ids = yyjson_obj_get(run->args, "memory_ids");
  yyjson_mut_val *m = NULL;
  int64_t id = yyjson_get_sint(yyjson_arr_get(ids, i));
  for (size_t k = 0; k < ARRAY_LEN(names) && id <= 0; k++)
    id = json_int(run->args, names[k], 0);
  if (id > 0 && brain_look(run, id, &m) == STATUS_OK)
    result_copy(run, args, "project", m, "project");
  else
    brain_project(run, args, BRAIN_WRITES);
  return i + 1 < yyjson_arr_size(ids);
}

/* Pending items of a project that the call would have written to. */
static yyjson_mut_val *pending_items(struct tool_run *run) {
  yyjson_mut_val *result = NULL;
  bool more = true;
  for (size_t i = 0; more; i++) {
    yyjson_mut_val *args = new_args(run);
    more = put_target(run, args, i);
    if (tool_op(run, "action list", args, &result) != STATUS_OK)
      return NULL;
    more = more && !brain_count(result, "items");
  }
  return result;
}

/* Adds the pending items; returns the call that answers the first. */
static struct str put_pending(struct tool_run *run, bool is_v2, yyjson_mut_val *to) {
  struct error why = *run->err;
  struct buf call = BUF(run->arena);
  yyjson_mut_val *result = pending_items(run), *item;
  if (result) {
    json_put_int(run->doc, to, "pending_count", brain_int(result, "pending", 0));
    static const struct shape items[] = {COPY("id"), INTEGER("memory_id=memory"), COPY("text kind"), {0}};
    yyjson_mut_obj_add_val(run->doc, to, "pending_action_items",
                           shape_list(run, yyjson_mut_obj_get(result, "items"), items));
  }
  *run->err = why;
  item = yyjson_mut_arr_get_first(yyjson_mut_obj_get(result, "items"));
  if (is_v2)
    buf_addf(&call, "acknowledge_action_item_v2(item_id=%lld, ", (long long)brain_int(item, "id", 0));
  else
    buf_addf(&call, "acknowledge_action_item(source=\"%.*s\", memory_id=%lld, text=\"%.*s\", ",
             STR_ARG(run->caller.source), (long long)brain_int(item, "memory", 0), STR_ARG(result_text(item, "text")));
  buf_adds(&call, "decision=\"will_execute\"), or already_done or not_relevant with a reason; one call for each item");
  return buf_str(&call);
}

static void add_sentence(struct buf *b, struct str text) {
  bool ended = b->n && b->p[b->n - 1] == '.';
  buf_addf(b, "%s What to do: %.*s", ended ? "" : ".", STR_ARG(text));
}

void brain_error(struct tool_run *run, const struct error *err) {
  struct error e = *err;
  const char *by = blocked_by(&e);
  bool pending = str_is(str_from(by), "action_items_pending");
  bool is_v2 = str_is(str_from(run->profile->name), "openbrain2"), gate = is_v2 && is_from_gate(&e) && !pending;
  yyjson_mut_val *to = yyjson_mut_obj(run->doc), *more = yyjson_mut_obj(run->doc), *key, *v;
  struct buf b = BUF(run->arena);
  if (gate)
    buf_adds(&b, "write gate rejected: ");
  buf_adds(&b, e.message);
  if (pending)
    add_sentence(&b, put_pending(run, is_v2, more));
  else if (!str_empty(fix_of(run, &e)))
    add_sentence(&b, fix_of(run, &e));
  json_put_bool(run->doc, to, "success", false);
  json_put(run->doc, to, "error", buf_str(&b));
  if (gate)
    json_put(run->doc, to, "step", STR("write_gate"));
  if (by)
    json_put(run->doc, to, "blocked_by", str_from(by));
  yyjson_mut_obj_iter it = yyjson_mut_obj_iter_with(more);
  while ((key = yyjson_mut_obj_iter_next(&it))) {
    v = yyjson_mut_obj_iter_get_val(key);
    yyjson_mut_obj_add_val(run->doc, to, yyjson_mut_get_str(key), yyjson_mut_val_mut_copy(run->doc, v));
  }
  run->result = to;
  run->text = STR_NONE;
  run->is_error = true;
}
