/* call.c: tools/call: runs a tool of the profile with an engine of the pool; asks for the user's consent if needed. */
#include <assert.h>
#include <stdio.h>

#include "base/utf8.h"
#include "mcp/protocol/server.h"
#include "mcp/tools/internal.h"

static void on_progress(void *arg, const char *what, int64_t done, int64_t total) {
  exchange_progress(arg, what, (double)done, (double)total);
}

static bool on_cancelled(void *arg) { return exchange_cancelled(arg); }

/* ---- the answer ---- */

static void add_block(yyjson_mut_doc *doc, yyjson_mut_val *content, struct str text) {
  yyjson_mut_val *block = yyjson_mut_arr_add_obj(doc, content);
  json_put(doc, block, "type", STR("text"));
  json_put(doc, block, "text", text);
}

/* Adds what the answer itself has no place for, after it: clients of foreign profiles read the first block. */
static void add_notes(struct exchange *x, const struct tool_run *run, yyjson_mut_val *result, yyjson_mut_val *content) {
  struct buf b = BUF(x->arena);
  size_t i, n;
  yyjson_mut_val *key, *count, *meta = yyjson_mut_obj(x->doc);
  assert(!run->notice.p || run->untrusted);
  if (run->notice.p) {
    add_block(x->doc, content, run->notice);
    yyjson_mut_obj_add_val(x->doc, meta, TOOL_UNTRUSTED, run->untrusted);
  }
  if (run->left_out && !run->is_error) {
    yyjson_mut_obj_foreach(run->left_out, i, n, key, count) {
      buf_addf(&b, "%s%lld %s", i ? ", " : "Left out because of their state: ", (long long)yyjson_mut_get_sint(count),
               yyjson_mut_get_str(key));
    }
    buf_adds(&b, ". A person can list them with 'cairn list --state STATE'.");
    add_block(x->doc, content, buf_str(&b));
    yyjson_mut_obj_add_val(x->doc, meta, TOOL_LEFT_OUT, run->left_out);
  }
  if (yyjson_mut_obj_size(meta))
    yyjson_mut_obj_add_val(x->doc, result, "_meta", meta);
}

static void answer(struct exchange *x, const struct tool_run *run) {
  yyjson_mut_doc *doc = x->doc;
  yyjson_mut_val *result = yyjson_mut_obj(doc), *content = json_put_arr(doc, result, "content");
  /* The result may belong to another document; its values live as long as this one. */
  struct str json = run->result ? json_write(x->arena, run->result, false) : STR_NONE;
  add_block(doc, content, run->text.p ? run->text : json.p ? json : STR(""));
  add_notes(x, run, result, content);
  /* A schema from the row does not describe errors, so those are sent only as text. */
  bool structured = run->profile->foreign && (x->modern || str_cmp(x->version, STR("2025-06-18")) >= 0) &&
                    !(run->is_error && run->tool->output);
  if (run->result && structured)
    yyjson_mut_obj_add_val(doc, result, "structuredContent", run->result);
  json_put_bool(doc, result, "isError", run->is_error);
  exchange_result(x, result);
}

/* ---- the memory session of a legacy connection ---- */

static bool is_boot(const struct tool_run *run) {
  const char *op = run->action ? run->action->op : run->tool->op;
  return (op && strcmp(op, "boot") == 0) || str_find(str_from(run->tool->name), STR("boot"), 0) != SIZE_MAX;
}

static void remember_handle(struct exchange *x, const struct tool_run *run) {
  yyjson_mut_val *v = run->result ? yyjson_mut_obj_get(run->result, "session") : NULL;
  if (!x->session || run->is_error || !yyjson_mut_is_str(v) || !is_boot(run))
    return;
  pthread_mutex_lock(&x->server->lock);
  snprintf(x->session->handle, sizeof(x->session->handle), "%s", yyjson_mut_get_str(v));
  pthread_mutex_unlock(&x->server->lock);
}

/* ---- the call ---- */

/* Records the call, which may have run several operations or none. */
static void record(struct exchange *x, const struct tool_run *run, enum status s) {
  const char *op = run->action ? run->action->op : run->tool->op;
  yyjson_mut_val *session = run->result && is_boot(run) ? yyjson_mut_obj_get(run->result, "session") : NULL;
  struct str project = json_str(run->args, "project");
  struct caller caller = run->caller;
  bool failed = s != STATUS_OK || run->is_error;
  struct error refused = failed ? *run->err : (struct error){0};
  if (yyjson_mut_is_str(session))
    caller.session = str_from(yyjson_mut_get_str(session));
  caller.project = project.p ? project : caller.project;
  if (failed && refused.code == STATUS_OK) /* a function of the row refused; the text of an answer may be a secret */
    error_set(&refused, STATUS_REFUSED, "%.*s", STR_ARG(utf8_cut(run->text, 200)));
  op_note(x->engine, &caller, str_from(op ? op : run->tool->name), x->began, failed ? &refused : NULL);
  x->recorded = true;
}

/* Records a call that was refused before the tool ran, after its answer was sent. */
static void record_refusal(struct exchange *x) {
  struct error ignored;
  assert(x->failure.code != STATUS_OK && !x->recorded);
  if (exchange_borrow(x, &ignored) != STATUS_OK)
    return;
  struct str name = x->caller.tool.p ? x->caller.tool : STR("tools/call");
  x->caller.tool = name;
  op_note(x->engine, &x->caller, name, x->began, &x->failure);
  x->recorded = true;
  exchange_give_back(x);
}

static enum status call(struct exchange *x, struct tool_run *run) {
  TRY(exchange_borrow(x, run->err));
  run->engine = x->engine;
  enum status s = tool_call(run);
  run->engine = NULL;
  if (s != STATUS_CONFIRM)
    record(x, run, s);
  exchange_give_back(x);
  return s;
}

/* Makes run->err the tool's answer, so the model reads it. */
static void fail(struct tool_run *run) {
  tool_answer_error(run);
  tool_answer(run);
}

/* True if the call is to be repeated with the user's consent. */
static bool confirm(struct exchange *x, struct tool_run *run) {
  assert(run->err->code == STATUS_CONFIRM && !run->confirmed);
  struct str question = arena_printf(x->arena, "%s. Go ahead?", run->err->message);
  switch (input_confirm(x, question)) {
  case INPUT_YES:
    run->confirmed = true;
    return true;
  case INPUT_NO:
    error_set(run->err, STATUS_CONFIRM, "the user did not agree: nothing was changed");
    error_fix(run->err, "leave it as it is, or ask the user what to do instead");
    break;
  case INPUT_PENDING:
    x->unfinished = true;
    return false;
  case INPUT_IMPOSSIBLE:
    error_fix(run->err, "ask the user; if they agree, repeat the call with \"confirm\": true");
    break;
  }
  x->failure = *run->err;
  fail(run);
  answer(x, run);
  record_refusal(x);
  return false;
}

/* Removes the argument `confirm`, unless the tool has its own. It counts only if the client cannot ask the user: a
 * model must not consent on the user's behalf. */
static bool take_confirm(struct exchange *x, const struct tool *tool, yyjson_val **args) {
  struct error err;
  yyjson_val *given = yyjson_obj_get(*args, "confirm");
  if (!given || !tool_needs_consent(tool))
    return false;
  bool yes = yyjson_is_true(given) && !exchange_can_elicit(x);
  yyjson_mut_val *rest = yyjson_val_mut_copy(x->doc, *args);
  yyjson_mut_obj_remove_key(rest, "confirm");
  return json_read(x->arena, json_write(x->arena, rest, false), args, &err) == STATUS_OK && yes;
}

static void run_tool(struct exchange *x, const struct tool *tool, yyjson_val *args) {
  struct error err = {0};
  bool confirmed = take_confirm(x, tool, &args);
  struct str state;
  struct tool_run run = {.profile = x->profile,
                         .tool = tool,
                         .caller = x->caller,
                         .hooks = {.arg = x, .progress = on_progress, .cancelled = on_cancelled},
                         .arena = x->arena,
                         .doc = x->doc,
                         .args = args,
                         .confirmed = confirmed,
                         .err = &err};
  x->caller.tool = str_from(tool->name);
  if (!input_check(x, &state))
    return;
  enum status s = call(x, &run);
  if (s == STATUS_CONFIRM) {
    if (!confirm(x, &run))
      return;
    run.caller = x->caller;
    run.args = args;
    s = call(x, &run);
  }
  if (s != STATUS_OK) {
    x->failure = err; /* without an engine the call is not recorded yet */
    fail(&run);
  }
  remember_handle(x, &run);
  answer(x, &run);
}

/* False: `arguments` is not an object. */
static bool read_arguments(struct exchange *x, yyjson_val **ret_args) {
  struct error err;
  *ret_args = yyjson_obj_get(x->in->params, "arguments");
  if (!*ret_args)
    return json_read(x->arena, STR("{}"), ret_args, &err) == STATUS_OK;
  return yyjson_is_obj(*ret_args);
}

void method_tools_call(struct exchange *x) {
  struct str name = json_str(x->in->params, "name");
  const struct tool *tool = name.p ? tool_find(x->profile, name) : NULL;
  yyjson_val *args;
  if (!name.p)
    exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: name is missing");
  else if (!read_arguments(x, &args))
    exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: arguments must be an object");
  else if (tool)
    run_tool(x, tool, args);
  else if (x->server->options.conformance && mcp_fixtures->call(x, name))
    return;
  else
    exchange_error(x, 200, RPC_PARAMS, NULL, "Unknown tool: %.*s", STR_ARG(name.n > 128 ? STR("?") : name));
  if (x->failure.code != STATUS_OK && !x->recorded)
    record_refusal(x);
}
