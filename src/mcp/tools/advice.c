/* advice.c: rewrites CLI commands in messages of operations as calls of the profile's tools. */
#include "op/run/advice.h"

#include "mcp/tools/internal.h"
#include "op/access/roles.h"
#include "store/tables/settings.h"

/* ---- the tool for an operation ---- */

struct found {
  const struct tool *tool;
  const struct tool_action *action;
};

static bool find_tool(const struct profile *profile, const char *op, struct found *ret) {
  for (const struct tool *t = profile->tools; t->name; t++) {
    if (t->flags & TOOL_HIDDEN)
      continue;
    if (t->op && strcmp(t->op, op) == 0 && !t->fixed) {
      *ret = (struct found){t, NULL};
      return true;
    }
    for (const struct tool_action *x = t->actions; x && x->name; x++)
      if (strcmp(x->op, op) == 0 && !x->fixed) {
        *ret = (struct found){t, x};
        return true;
      }
  }
  return false;
}

/* The role and the token of the caller allow the operation. */
static bool may_call(const struct tool_run *run, const char *op) {
  const struct principal *who = run->caller.principal;
  struct error ignored;
  if (!who && run->engine && run->engine->agent[0] &&
      roles_principal(run->engine, &run->caller, run->arena, &who, &ignored) != STATUS_OK)
    return false;
  return principal_may(who, op_find(str_from(op)));
}

/* Settings that only a person may change. */
static bool changes_protected(const struct tool_run *run, const char *op, yyjson_mut_val *args) {
  int id = strcmp(op, "config") == 0 ? setting_find(mut_member(args, "name")) : -1;
  bool is_change = yyjson_mut_obj_get(args, "value") || yyjson_mut_obj_get(args, "unset");
  return id >= 0 && is_change && str_is(run->caller.trust, "agent") && !setting_table[id].agents;
}

/* The tool's name for an argument of the operation; absent if it has none. */
static struct str shown_name(const struct found *f, struct str param) {
  struct str rest = str_from(f->action ? f->action->renames : NULL), pair;
  while (str_next(&rest, ' ', &pair)) {
    size_t eq = str_find(pair, STR("="), 0);
    if (eq != SIZE_MAX && str_eq(str_slice(pair, eq + 1, pair.n), param))
      return str_slice(pair, 0, eq);
  }
  for (const struct tool_arg *p = f->tool->args; p && p->name; p++)
    if (!(p->flags & ARG_LOCAL) && str_is(param, p->to ? p->to : p->name))
      return str_from(p->name);
  return f->tool->args ? STR_NONE : param;
}

/* The ARG_SPREAD argument, which takes arguments without a name in the tool; NULL if there is none. */
static const char *spread_name(const struct tool *tool) {
  for (const struct tool_arg *p = tool->args; p && p->name; p++)
    if (p->flags & ARG_SPREAD)
      return p->name;
  return NULL;
}

/* A value for an argument that the advice does not name: the caller's name, or a placeholder in capitals. */
static yyjson_mut_val *placeholder(const struct tool_run *run, struct str name) {
  if (str_is(name, "source") && !str_empty(run->caller.source))
    return yyjson_mut_strncpy(run->doc, run->caller.source.p, run->caller.source.n);
  struct buf b = BUF(run->arena);
  for (size_t i = 0; i < name.n; i++)
    buf_addc(&b, name.p[i] >= 'a' && name.p[i] <= 'z' ? (char)(name.p[i] - 'a' + 'A') : name.p[i]);
  return yyjson_mut_strncpy(run->doc, b.p, b.n);
}

static bool has_arg(const struct tool *tool, struct str name) {
  for (const struct tool_arg *p = tool->args; p && p->name; p++)
    if (str_is(name, p->name))
      return true;
  return !tool->args;
}

/* Adds a required argument if it is missing, so that the call can be made as it is written. */
static void require(const struct tool_run *run, const struct tool *tool, struct str name, yyjson_mut_val *out) {
  const char *spread = has_arg(tool, name) ? NULL : spread_name(tool);
  if (spread && !yyjson_mut_obj_get(out, spread))
    json_put_obj(run->doc, out, spread);
  yyjson_mut_val *into = spread ? yyjson_mut_obj_get(out, spread) : out;
  if (!yyjson_mut_obj_getn(into, name.p, name.n))
    yyjson_mut_obj_put(into, yyjson_mut_strncpy(run->doc, name.p, name.n), placeholder(run, name));
}

static void add_required(const struct tool_run *run, const struct found *f, yyjson_mut_val *out) {
  const struct tool_arg *args = tool_args_of(run->arena, f->tool);
  struct str rest = str_from(f->action ? f->action->needs : NULL), name;
  for (const struct tool_arg *p = args; p->name; p++)
    if ((p->flags & ARG_REQUIRED) || strcmp(p->name, "source") == 0)
      require(run, f->tool, str_from(p->name), out);
  while (str_next(&rest, ' ', &name))
    require(run, f->tool, name, out);
}

static bool is_implied(const struct tool *tool, struct str param) {
  struct str rest = str_from(tool->implies), name;
  while (str_next(&rest, ' ', &name))
    if (str_eq(name, param))
      return true;
  return false;
}

struct str tool_call_text(const struct tool_run *run, const char *op, yyjson_mut_val *args) {
  struct found f;
  if (!find_tool(run->profile, op, &f) || !may_call(run, op) || changes_protected(run, op, args))
    return STR_NONE;
  yyjson_mut_val *out = yyjson_mut_obj(run->doc), *fields = NULL;
  const char *spread = spread_name(f.tool);
  if (f.action)
    yyjson_mut_obj_add_str(run->doc, out, "action", f.action->name);
  size_t i, n;
  yyjson_mut_val *key, *v;
  yyjson_mut_obj_foreach(args, i, n, key, v) {
    struct str param = {yyjson_mut_get_str(key), yyjson_mut_get_len(key)}, name = shown_name(&f, param);
    struct tool_arg ignored;
    const struct param *p = op_param(op_find(str_from(op)), param);
    if (!p || !tool_arg_of(p, &ignored) || is_implied(f.tool, param))
      continue; /* set by the server, the user or the tool */
    if (!name.p && !spread)
      return STR_NONE;
    if (!name.p && !fields)
      fields = yyjson_mut_obj(run->doc);
    struct str as = name.p ? name : param;
    yyjson_mut_obj_put(name.p ? out : fields, yyjson_mut_strncpy(run->doc, as.p, as.n),
                       yyjson_mut_val_mut_copy(run->doc, v));
  }
  if (fields)
    yyjson_mut_obj_put(out, yyjson_mut_str(run->doc, spread), fields);
  add_required(run, &f, out);
  return arena_printf(run->arena, "%s %s", f.tool->name, json_write(run->arena, out, false).p);
}

/* ---- the sentence ---- */

static struct str call_at(const struct advice_interface *interface, const struct op *op, yyjson_mut_val *args) {
  return tool_call_text(interface->arg, op->name, args);
}

/* True for an argument of the running tool: of its operation, unless it is not for clients, or only its own. */
static bool takes_option(const struct advice_interface *interface, struct str option) {
  const struct tool_run *run = interface->arg;
  struct buf name = BUF(run->arena);
  for (size_t i = 0; i < option.n; i++)
    buf_addc(&name, option.p[i] == '-' ? '_' : option.p[i]);
  const char *op_name = run->action ? run->action->op : run->tool->op;
  const struct op *op = op_name ? op_find(str_from(op_name)) : NULL;
  const struct param *p = op ? op_option(op, option) : NULL;
  struct tool_arg ignored;
  bool is_offered = p && tool_arg_of(p, &ignored), is_common = !run->profile->foreign && str_is(option, "project");
  if (is_common || (p && is_implied(run->tool, str_from(p->name))))
    return true;
  if (!run->tool->args || (is_offered && spread_name(run->tool)))
    return is_offered;
  struct found f = {run->tool, run->action};
  return p ? shown_name(&f, str_from(p->name)).p != NULL : has_arg(run->tool, buf_str(&name));
}

struct str tool_rewrite_advice(const struct tool_run *run, struct str text) {
  struct tool_run here = *run;
  struct advice_interface interface = {.arg = &here,
                                       .arena = run->arena,
                                       .doc = run->doc,
                                       .call = call_at,
                                       .takes = run->tool ? takes_option : NULL,
                                       .session = "the argument session",
                                       .user_option = "an option of the command line, for the user",
                                       .elsewhere = "a command for the user"};
  return advice_translate(&interface, text);
}

static struct str rewrite(void *arg, struct str text) { return tool_rewrite_advice(arg, text); }

void tool_advise(const struct tool_run *run, const struct op *op, yyjson_mut_val *result) {
  struct tool_run here = *run;
  advice_rewrite_result(run->arena, op, result, rewrite, &here);
}
