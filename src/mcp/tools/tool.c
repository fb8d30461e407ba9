/* tool.c: runs a tool: checks its arguments, maps them to an operation, and shapes the answer. */
#include "mcp/tools/tool.h"

#include <assert.h>

#include "mcp/tools/internal.h"
#include "mcp/tools/shape.h"
#include "op/run/scrub.h"

const struct profile *profile_find(struct str name) {
  for (const struct profile *const *p = profiles; *p; p++)
    if (str_is(name, (*p)->name))
      return *p;
  return NULL;
}

const struct tool *tool_find(const struct profile *profile, struct str name) {
  for (const struct tool *t = profile->tools; t->name; t++)
    if (str_is(name, t->name))
      return t;
  return NULL;
}

/* ---- one operation ---- */

/* Collects the lines of a streaming operation as a list in its result. */
struct collected {
  struct tool_run *run;
  yyjson_mut_val *lines;
};

static enum status collect(void *arg, struct str line) {
  struct collected *c = arg;
  struct error ignored;
  yyjson_val *v = NULL;
  if (json_read(c->run->arena, line, &v, &ignored) == STATUS_OK)
    yyjson_mut_arr_append(c->lines, yyjson_val_mut_copy(c->run->doc, v));
  else
    json_add_str(c->run->doc, c->lines, line);
  return STATUS_OK;
}

static void collector_progress(void *arg, const char *what, int64_t done, int64_t total) {
  const struct op_hooks *h = &((struct collected *)arg)->run->hooks;
  if (h->progress)
    h->progress(h->arg, what, done, total);
}

static bool collector_cancelled(void *arg) {
  const struct op_hooks *h = &((struct collected *)arg)->run->hooks;
  return h->cancelled && h->cancelled(h->arg);
}

static enum status refuse_write(struct tool_run *run, const char *what) {
  error_set(run->err, STATUS_READONLY, "%s is not possible here: this connection is read-only", what);
  return error_fix(run->err, "tell the user what you would have changed");
}

/* The lists of other systems have no members for the memories that they leave out because of their state. */
static void collect_left_out(struct tool_run *run, const struct op *op, yyjson_mut_val *result) {
  static const char *const states[] = {"faded", "archived", "expired"};
  const char *own = run->tool->op;
  if (!run->profile->foreign || !own || strcmp(own, "list") != 0 || strcmp(op->name, own) != 0)
    return;
  for (size_t i = 0; i < ARRAY_LEN(states); i++) {
    yyjson_mut_val *n = yyjson_mut_obj_get(result, states[i]);
    if (!n)
      continue;
    run->left_out = run->left_out ? run->left_out : yyjson_mut_obj(run->doc);
    json_put_int(run->doc, run->left_out, states[i], yyjson_mut_get_sint(n));
  }
}

enum status tool_op(struct tool_run *run, const char *name, yyjson_mut_val *args, yyjson_mut_val **ret_result) {
  const struct op *op = op_find(str_from(name));
  assert(run->engine && yyjson_mut_is_obj(args));
  if (!op)
    return error_set(run->err, STATUS_INTERNAL, "the tool %s names an unknown operation '%s'", run->tool->name, name);
  if (run->profile->read_only && (op->flags & (OP_WRITE | OP_NO_TXN)))
    return refuse_write(run, op->name);
  yyjson_val *in = NULL;
  TRY(json_read(run->arena, json_write(run->arena, args, false), &in, run->err));
  struct op_hooks hooks = run->hooks;
  struct collected lines = {run, yyjson_mut_arr(run->doc)};
  bool is_collected = (op->flags & OP_STREAM) && !hooks.emit;
  if (is_collected)
    hooks = (struct op_hooks){
        .arg = &lines, .emit = collect, .progress = collector_progress, .cancelled = collector_cancelled};
  yyjson_mut_val *result = NULL;
  TRY(op_run(run->engine, op, &run->caller, &hooks, run->arena, in, &result, run->err));
  if (is_collected)
    yyjson_mut_obj_put(result, yyjson_mut_str(run->doc, op->name), lines.lines);
  tool_advise(run, op, result);
  tool_collect_untrusted(run, result);
  collect_left_out(run, op, result);
  *ret_result = result;
  return STATUS_OK;
}

/* ---- the call ---- */

static void apply_shape(struct tool_run *run, yyjson_mut_val *result) {
  const char *shown = run->tool->shown;
  assert(!run->tool->finish); /* the table replaces it */
  run->result = shape_object(run, result, run->tool->shape);
  if (!shown)
    return;
  tool_present(run);
  run->text = json_write(run->arena, *shown ? yyjson_mut_obj_get(run->result, shown) : run->result, true);
}

static enum status run_op(struct tool_run *run) {
  const char *name = run->action ? run->action->op : run->tool->op;
  const struct op *op = name ? op_find(str_from(name)) : NULL;
  if (!op)
    return error_set(run->err, STATUS_INTERNAL, "the tool %s has no operation '%s'", run->tool->name, name ? name : "");
  yyjson_mut_val *args = NULL, *result = NULL;
  TRY(tool_map(run, op, &args));
  if (run->tool->prepare)
    TRY(run->tool->prepare(run, args));
  TRY(tool_op(run, op->name, args, &result));
  run->result = result;
  if (run->tool->shape)
    apply_shape(run, result);
  return run->tool->finish ? run->tool->finish(run, result) : STATUS_OK;
}

static enum status check_reading(struct tool_run *run) {
  unsigned flags = run->action ? run->action->flags : tool_flags(run->tool);
  if (!run->profile->read_only || (flags & TOOL_READS))
    return STATUS_OK;
  return refuse_write(run, run->action ? run->action->name : run->tool->name);
}

int tool_budget(const struct profile *profile) { return profile->budget ? profile->budget : TOOL_BUDGET; }

static void set_budget(struct tool_run *run) {
  int64_t n = tool_budget(run->profile);
  if (n > 0) {
    n = json_int(run->args, "max_tokens", n);
    n = n < TOOL_BUDGET_MIN ? TOOL_BUDGET_MIN : n > TOOL_BUDGET_MAX ? TOOL_BUDGET_MAX : n;
  }
  assert(n != 0 && n <= TOOL_BUDGET_MAX);
  run->budget = n < 0 ? -1 : (int)n;
}

static enum status run_checked(struct tool_run *run) {
  TRY(check_reading(run));
  return run->tool->run ? run->tool->run(run) : run_op(run);
}

/* An irreversible change needs the user's consent: rewrites the fix for the caller that asks for it. */
static enum status refuse_unconfirmed(struct tool_run *run) {
  static const char *const repeat = "repeat the call with --confirm";
  struct str fix = str_from(run->err->fix);
  struct buf b = BUF(run->arena);
  if (str_starts(fix, str_from(repeat))) {
    buf_adds(&b, "the user has to agree to it");
    fix = str_slice(fix, strlen(repeat), fix.n);
  }
  buf_add(&b, tool_rewrite_advice(run, fix));
  return error_fix(run->err, "%.*s", STR_ARG(buf_str(&b)));
}

enum status tool_call(struct tool_run *run) {
  assert(run->tool && run->profile && run->engine && yyjson_is_obj(run->args));
  run->caller.tool = str_from(run->tool->name);
  run->caller.part = true; /* the transport records the call */
  run->caller.foreign = run->profile->foreign;
  run->caller.extracted_items = run->profile->extracted_items;
  run->caller.no_updates = run->profile->no_updates;
  if (run->profile->names_project && !run->caller.project_given)
    run->caller.project = STR("");
  run->action = NULL;
  run->result = NULL;
  run->text = STR_NONE;
  run->is_error = false;
  run->labeled = NULL;
  run->left_out = NULL;
  run->budget = 0;
  enum status s = tool_check(run);
  if (s != STATUS_OK) {
    scrub_interface_error(run->engine, run->caller.team, run->err);
    return s;
  }
  assert(yyjson_is_obj(run->args));
  set_budget(run);
  s = run_checked(run);
  assert(s != STATUS_OK || run->result || run->text.p);
  if (s == STATUS_CONFIRM)
    return refuse_unconfirmed(run);
  if (s != STATUS_OK)
    tool_answer_error(run);
  tool_answer(run);
  return STATUS_OK;
}
