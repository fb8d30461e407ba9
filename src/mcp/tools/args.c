/* args.c: checks a client's arguments against the table of a tool, and maps them to an operation's arguments. Errors
 * name the argument and what it should be. */
#include <assert.h>

#include "base/suggest.h"
#include "mcp/tools/internal.h"

/* ---- the table ---- */

static enum tool_form form_of(enum param_form form) {
  static const enum tool_form forms[] = {[PARAM_TEXT] = TOOL_TEXT,
                                         [PARAM_INT] = TOOL_INT,
                                         [PARAM_NUMBER] = TOOL_NUMBER,
                                         [PARAM_BOOL] = TOOL_BOOL,
                                         [PARAM_LIST] = TOOL_LIST};
  assert(form < ARRAY_LEN(forms));
  return forms[form];
}

/* Not for clients: file names, waiting without end, the user's consent, and what the server knows about the caller. */
static bool is_offered(const struct param *p) {
  static const char *const names[] = {"follow", "confirm", "register", "pid", "host", "cwd", NULL};
  for (const char *const *n = names; *n; n++)
    if (strcmp(p->name, *n) == 0)
      return false;
  return !(p->flags & PARAM_PATH);
}

bool tool_arg_of(const struct param *p, struct tool_arg *ret_arg) {
  if (!is_offered(p))
    return false;
  *ret_arg = (struct tool_arg){.name = p->name,
                               .form = form_of(p->form),
                               .flags = p->flags & PARAM_REQUIRED ? ARG_REQUIRED : 0,
                               .choices = p->flags & PARAM_OPEN ? NULL : p->choices,
                               .help = p->help};
  return true;
}

static void add_params(const struct param *params, struct tool_arg **at) {
  for (const struct param *p = params; p->name; p++)
    if (tool_arg_of(p, *at))
      ++*at;
}

static size_t count_params(const struct param *params) {
  size_t n = 0;
  while (params[n].name)
    n++;
  return n;
}

const struct tool_arg *tool_args_of(struct arena *a, const struct tool *tool) {
  static const struct tool_arg none[1];
  const struct op *op = tool->args || !tool->op ? NULL : op_find(str_from(tool->op));
  if (!op)
    return tool->args ? tool->args : none;
  size_t n = count_params(op->params) + count_params(common_params);
  struct tool_arg *list = arena_array(a, struct tool_arg, n + 1), *at = list;
  add_params(op->params, &at);
  add_params(common_params, &at);
  assert(at <= list + n); /* the row after the last ends the list */
  return list;
}

static const struct tool_arg *find_arg(const struct tool_arg *args, struct str name) {
  for (const struct tool_arg *p = args; p->name; p++)
    if (str_is(name, p->name))
      return p;
  return NULL;
}

/* ---- errors ---- */

/* `help` describes the argument; NULL if nothing does. */
static enum status bad_form(struct tool_run *run, struct str name, enum tool_form form, const char *help) {
  static const char *const examples[] = {[TOOL_TEXT] = "\"...\"",
                                         [TOOL_INT] = "10",
                                         [TOOL_NUMBER] = "0.5",
                                         [TOOL_BOOL] = "true",
                                         [TOOL_LIST] = "[\"...\"]",
                                         [TOOL_INTS] = "[1, 2]",
                                         [TOOL_OBJECT] = "{\"...\": ...}",
                                         [TOOL_OBJECTS] = "[{\"...\": ...}]",
                                         [TOOL_ID] = "\"12\""};
  assert(form < ARRAY_LEN(examples) && examples[form]);
  error_set(run->err, STATUS_USAGE, "%s: '%.*s' must be %s", run->tool->name, STR_ARG(name), tool_form_name(form));
  return error_fix(run->err, "for example \"%.*s\": %s%s%s%s", STR_ARG(name), examples[form], help ? " (" : "",
                   help ? help : "", help ? ")" : "");
}

/* Names of actions in other systems, and the action that does it here. */
static const char *action_for(struct str name, const char *const *choices) {
  static const char *const others[][2] = {{"update", "supersede"}, {"edit", "supersede"}, {"replace", "supersede"},
                                          {"change", "supersede"}, {"delete", "forget"},  {"remove", "forget"}};
  for (size_t i = 0; i < ARRAY_LEN(others); i++)
    for (const char *const *c = choices; *c && str_is(name, others[i][0]); c++)
      if (strcmp(*c, others[i][1]) == 0)
        return *c;
  return NULL;
}

static enum status bad_choice(struct tool_run *run, struct str name, struct str value, const char *const *choices) {
  struct buf list = BUF(run->arena);
  struct suggest near;
  suggest_init(&near, value);
  const char *same = str_is(name, "action") ? action_for(value, choices) : NULL;
  for (const char *const *c = choices; *c; c++) {
    buf_addf(&list, "%s%s", list.n ? ", " : "", *c);
    suggest_offer(&near, str_from(*c));
  }
  error_set(run->err, STATUS_USAGE, "%s: '%.*s' is not a valid value of '%.*s'", run->tool->name, STR_ARG(value),
            STR_ARG(name));
  if (same)
    near.best = str_from(same);
  if (near.best.p)
    return error_fix(run->err, "did you mean '%.*s'? One of: %s", STR_ARG(near.best), list.p);
  return error_fix(run->err, "one of: %s", list.p ? list.p : "");
}

static enum status unknown(struct tool_run *run, const struct tool_arg *args, struct str name) {
  struct buf list = BUF(run->arena);
  struct suggest near;
  suggest_init(&near, name);
  if (run->tool->actions) {
    suggest_offer(&near, STR("action"));
    buf_adds(&list, "action");
  }
  for (const struct tool_arg *p = args; p->name; p++) {
    suggest_offer(&near, str_from(p->name));
    buf_addf(&list, "%s%s", list.n ? ", " : "", p->name);
  }
  error_set(run->err, STATUS_USAGE, "%s: there is no argument '%.*s'", run->tool->name, STR_ARG(name));
  if (near.best.p)
    return error_fix(run->err, "did you mean '%.*s'? It takes: %s", STR_ARG(near.best), list.p);
  return error_fix(run->err, "it takes: %s", list.n ? list.p : "no arguments");
}

static enum status missing(struct tool_run *run, const char *action, struct str name) {
  if (action)
    error_set(run->err, STATUS_USAGE, "%s: action '%s' needs '%.*s'", run->tool->name, action, STR_ARG(name));
  else
    error_set(run->err, STATUS_USAGE, "%s: '%.*s' is missing", run->tool->name, STR_ARG(name));
  return error_fix(run->err, "repeat the call with '%.*s'", STR_ARG(name));
}

static enum status check_choices(struct tool_run *run, const struct tool_arg *arg, yyjson_mut_val *v) {
  struct str s = mut_text(v);
  if (!arg->choices || !s.p)
    return STATUS_OK;
  for (const char *const *c = arg->choices; *c; c++)
    if (str_is(s, *c))
      return STATUS_OK;
  return bad_choice(run, str_from(arg->name), s, arg->choices);
}

/* ---- checks ---- */

/* Arguments that every tool of Cairn's own profiles takes, so that they need no place in each definition. */
static const struct tool_arg common_args[] = {
    {.name = "project", .form = TOOL_TEXT},
    {.name = "max_tokens", .form = TOOL_INT, .flags = ARG_LOCAL},
    {0},
};

static const struct tool_arg *find_spread(const struct tool_arg *args) {
  for (const struct tool_arg *p = args; p->name; p++)
    if (p->flags & ARG_SPREAD)
      return p;
  return NULL;
}

static const struct op *chosen_op(const struct tool_run *run) {
  const char *op = run->action ? run->action->op : run->tool->op;
  return op ? op_find(str_from(op)) : NULL;
}

/* The argument with a name: of the table, common to all, or a member of the ARG_SPREAD argument given next to it. */
static const struct tool_arg *find_any(const struct tool_run *run, const struct tool_arg *args, struct str name) {
  const struct tool_arg *arg = find_arg(args, name);
  if (arg || run->profile->foreign || (run->tool->actions && str_is(name, "action")))
    return arg;
  const struct param *p = find_spread(args) && chosen_op(run) ? op_param(chosen_op(run), name) : NULL;
  struct tool_arg *member = arena_new(run->arena, struct tool_arg);
  return p && tool_arg_of(p, member) ? member : find_arg(common_args, name);
}

static bool is_given(const struct tool_run *run, yyjson_mut_val *given, struct str name) {
  const struct tool_arg *spread = find_spread(tool_args_of(run->arena, run->tool));
  return yyjson_mut_obj_getn(given, name.p, name.n) ||
         (spread && yyjson_mut_obj_getn(yyjson_mut_obj_get(given, spread->name), name.p, name.n));
}

/* Models send null, or "" where one of several words is expected, for an argument that they leave out. */
static bool is_left_out(const struct tool_arg *arg, yyjson_val *v) {
  bool is_empty = yyjson_is_str(v) && yyjson_get_len(v) == 0;
  return yyjson_is_null(v) || (is_empty && arg && arg->choices && !(arg->flags & ARG_REQUIRED));
}

static enum status check_one(struct tool_run *run, const struct tool_arg *arg, yyjson_val *v, yyjson_mut_val *into) {
  yyjson_mut_val *value = tool_value(run, arg->form, v);
  if (!value)
    return bad_form(run, str_from(arg->name), arg->form, arg->help);
  TRY(check_choices(run, arg, value));
  size_t i, n;
  yyjson_mut_val *e;
  if (yyjson_mut_is_arr(value))
    yyjson_mut_arr_foreach(value, i, n, e) {
      TRY(check_choices(run, arg, e));
    }
  yyjson_mut_obj_put(into, yyjson_mut_str(run->doc, arg->name), value);
  return STATUS_OK;
}

static enum status choose_action(struct tool_run *run, yyjson_val *v) {
  struct str name = json_val_str(v);
  if (yyjson_is_null(v) || !v)
    return run->tool->op ? STATUS_OK : missing(run, NULL, STR("action"));
  assert(run->tool->actions && !run->action);
  LIST(const char *) choices = {0};
  for (const struct tool_action *p = run->tool->actions; p->name; p++) {
    if (str_is(name, p->name))
      run->action = p;
    /* A read-only profile has no other actions. */
    if (!run->profile->read_only || (p->flags & TOOL_READS))
      list_push(run->arena, &choices, p->name);
  }
  list_push(run->arena, &choices, NULL);
  if (run->action)
    return STATUS_OK;
  if (!yyjson_is_str(v))
    return bad_form(run, STR("action"), TOOL_TEXT, NULL);
  return bad_choice(run, STR("action"), name, choices.v);
}

static enum status add_missing(struct tool_run *run, const struct tool_arg *arg, yyjson_mut_val *into) {
  if (yyjson_mut_obj_get(into, arg->name))
    return STATUS_OK;
  if (arg->flags & ARG_REQUIRED)
    return missing(run, NULL, str_from(arg->name));
  if (!arg->missing)
    return STATUS_OK;
  yyjson_val *v = NULL;
  TRY(json_read(run->arena, str_from(arg->missing), &v, run->err));
  yyjson_mut_obj_put(into, yyjson_mut_str(run->doc, arg->name), yyjson_val_mut_copy(run->doc, v));
  return STATUS_OK;
}

static enum status check_needs(struct tool_run *run, yyjson_mut_val *given) {
  struct str rest = str_from(run->action ? run->action->needs : NULL), name;
  while (str_next(&rest, ' ', &name))
    if (!is_given(run, given, name))
      return missing(run, run->action->name, name);
  return STATUS_OK;
}

enum status tool_check(struct tool_run *run) {
  const struct tool_arg *args = tool_args_of(run->arena, run->tool);
  yyjson_mut_val *checked = yyjson_mut_obj(run->doc);
  if (run->tool->actions)
    TRY(choose_action(run, yyjson_obj_get(run->args, "action")));
  if (run->action)
    yyjson_mut_obj_put(checked, yyjson_mut_str(run->doc, "action"), yyjson_mut_str(run->doc, run->action->name));
  size_t i, n;
  yyjson_val *key, *v;
  yyjson_obj_foreach(run->args, i, n, key, v) {
    struct str name = json_val_str(key);
    const struct tool_arg *arg = find_any(run, args, name);
    if (is_left_out(arg, v) || (!arg && run->tool->actions && str_is(name, "action")))
      continue;
    if (!arg && str_is(name, "session") && yyjson_is_str(v))
      run->caller.session = json_val_str(v); /* every tool takes it, also if its definition does not list it */
    else
      TRY(arg ? check_one(run, arg, v, checked) : unknown(run, args, name));
  }
  for (const struct tool_arg *p = args; p->name; p++)
    TRY(add_missing(run, p, checked));
  TRY(check_needs(run, checked));
  TRY(json_read(run->arena, json_write(run->arena, checked, false), &run->args, run->err));
  const struct tool_arg *session = find_arg(args, STR("session"));
  if (session && !session->to && !(session->flags & ARG_LOCAL) && json_str(run->args, "session").p)
    run->caller.session = json_str(run->args, "session");
  return STATUS_OK;
}

/* ---- the operation's arguments ---- */

/* The operation's name for an argument of this action, from renames such as "id=ids"; absent if not renamed. */
static struct str renamed(const struct tool_run *run, struct str name) {
  struct str rest = str_from(run->action ? run->action->renames : NULL), pair;
  while (str_next(&rest, ' ', &pair)) {
    size_t eq = str_find(pair, STR("="), 0);
    if (eq != SIZE_MAX && str_eq(str_slice(pair, 0, eq), name))
      return str_slice(pair, eq + 1, pair.n);
  }
  return STR_NONE;
}

static struct str target(const struct tool_run *run, const struct tool_arg *arg) {
  struct str name = renamed(run, str_from(arg->name));
  return name.p ? name : str_from(arg->to ? arg->to : arg->name);
}

static enum status put(struct tool_run *run, const struct op *op, yyjson_mut_val *into, struct str name,
                       struct str shown, yyjson_val *v) {
  const struct param *p = op_param(op, name);
  yyjson_mut_val *value = p ? tool_value(run, form_of(p->form), v) : yyjson_val_mut_copy(run->doc, v);
  if (!value)
    return bad_form(run, shown, form_of(p->form), p->help);
  yyjson_mut_obj_put(into, yyjson_mut_strncpy(run->doc, name.p, name.n), value);
  return STATUS_OK;
}

/* Error that lists the arguments of an action by the tool's names. */
static enum status not_taken(struct tool_run *run, const struct op *op, const struct tool_arg *args, struct str name) {
  struct buf list = BUF(run->arena);
  for (const struct tool_arg *p = args; p->name; p++)
    if (op_param(op, target(run, p)) && !(p->flags & ARG_LOCAL))
      buf_addf(&list, "%s%s", list.n ? ", " : "", p->name);
  error_set(run->err, STATUS_USAGE, "%s: action '%s' takes no '%.*s'", run->tool->name,
            run->action ? run->action->name : op->name, STR_ARG(name));
  return error_fix(run->err, "it takes: %s", list.n ? list.p : "nothing else");
}

static enum status spread(struct tool_run *run, const struct op *op, yyjson_mut_val *into, yyjson_val *object) {
  size_t i, n;
  yyjson_val *key, *v;
  yyjson_obj_foreach(object, i, n, key, v) {
    struct str name = json_val_str(key);
    const struct param *p = op_param(op, name);
    if (!p || !is_offered(p)) {
      struct tool_arg *list = arena_array(run->arena, struct tool_arg, count_params(op->params) + 1), *at = list;
      add_params(op->params, &at);
      return unknown(run, list, name);
    }
    if (!yyjson_is_null(v))
      TRY(put(run, op, into, name, name, v));
  }
  return STATUS_OK;
}

static enum status add_fixed(struct tool_run *run, const char *fixed, yyjson_mut_val *into) {
  if (!fixed)
    return STATUS_OK;
  yyjson_val *object = NULL, *key, *v;
  TRY(json_read(run->arena, arena_printf(run->arena, "{%s}", fixed), &object, run->err));
  size_t i, n;
  yyjson_obj_foreach(object, i, n, key, v) {
    yyjson_mut_obj_put(into, yyjson_val_mut_copy(run->doc, key), yyjson_val_mut_copy(run->doc, v));
  }
  return STATUS_OK;
}

static enum status map_one(struct tool_run *run, const struct op *op, const struct tool_arg *args,
                           const struct tool_arg *arg, yyjson_val *v, yyjson_mut_val *into) {
  if (arg->flags & ARG_LOCAL)
    return STATUS_OK;
  if (arg->flags & ARG_SPREAD) {
    assert(arg->form == TOOL_OBJECT && yyjson_is_obj(v));
    return spread(run, op, into, v);
  }
  struct str name = target(run, arg);
  const struct param *p = op_param(op, name);
  if (!p && str_is(name, "session"))
    return STATUS_OK;
  if (!p && run->tool->actions)
    return not_taken(run, op, args, str_from(arg->name));
  return put(run, op, into, name, str_from(arg->name), v);
}

enum status tool_map(struct tool_run *run, const struct op *op, yyjson_mut_val **ret_args) {
  assert(op && yyjson_is_obj(run->args));
  const struct tool_arg *args = tool_args_of(run->arena, run->tool);
  yyjson_mut_val *into = yyjson_mut_obj(run->doc);
  size_t i, n;
  yyjson_val *key, *v;
  yyjson_obj_foreach(run->args, i, n, key, v) {
    const struct tool_arg *arg = find_any(run, args, json_val_str(key));
    if (arg)
      TRY(map_one(run, op, args, arg, v, into));
  }
  TRY(add_fixed(run, run->tool->fixed, into));
  if (run->action)
    TRY(add_fixed(run, run->action->fixed, into));
  if (run->confirmed && op_param(op, STR("confirm")))
    yyjson_mut_obj_put(into, yyjson_mut_str(run->doc, "confirm"), yyjson_mut_bool(run->doc, true));
  *ret_args = into;
  return STATUS_OK;
}
