/* schema.c: the definition of a tool for tools/list, built only from its row: the same bytes every time. */
#include <assert.h>

#include "mcp/tools/internal.h"

#define ANY_OBJECT "{\"type\":\"object\"}"

static void put_type(yyjson_mut_doc *doc, yyjson_mut_val *schema, const char *type) {
  yyjson_mut_obj_add_str(doc, schema, "type", type);
}

static void put_choices(yyjson_mut_doc *doc, yyjson_mut_val *schema, const char *const *choices) {
  if (!choices)
    return;
  yyjson_mut_val *list = json_put_arr(doc, schema, "enum");
  for (const char *const *c = choices; *c; c++)
    yyjson_mut_arr_add_str(doc, list, *c);
}

/* JSON literal of a table. Invalid JSON becomes "any object" here; the tests find it. */
static yyjson_mut_val *literal(yyjson_mut_doc *doc, const char *json) {
  yyjson_read_err e;
  char *text = (char *)(uintptr_t)json;
  yyjson_doc *read = yyjson_read_opts(text, strlen(json), 0, &doc->alc, &e);
  if (read)
    return yyjson_val_mut_copy(doc, yyjson_doc_get_root(read));
  yyjson_mut_val *any = yyjson_mut_obj(doc);
  put_type(doc, any, "object");
  return any;
}

static const char *type_of(enum tool_form form) {
  static const char *const types[] = {[TOOL_TEXT] = "string",   [TOOL_INT] = "integer",   [TOOL_NUMBER] = "number",
                                      [TOOL_BOOL] = "boolean",  [TOOL_LIST] = "array",    [TOOL_INTS] = "array",
                                      [TOOL_OBJECT] = "object", [TOOL_OBJECTS] = "array", [TOOL_ID] = "string"};
  assert(form < ARRAY_LEN(types));
  return types[form];
}

static void put_items(yyjson_mut_doc *doc, yyjson_mut_val *schema, const struct tool_arg *arg) {
  if (arg->form == TOOL_OBJECTS && arg->schema) {
    yyjson_mut_obj_add_val(doc, schema, "items", literal(doc, arg->schema));
    return;
  }
  yyjson_mut_val *items = json_put_obj(doc, schema, "items");
  put_type(doc, items, arg->form == TOOL_LIST ? "string" : arg->form == TOOL_INTS ? "integer" : "object");
  put_choices(doc, items, arg->choices);
}

static yyjson_mut_val *arg_schema(yyjson_mut_doc *doc, const struct tool_arg *arg) {
  assert(!arg->schema || arg->form == TOOL_OBJECT || arg->form == TOOL_OBJECTS);
  bool is_list = arg->form == TOOL_LIST || arg->form == TOOL_INTS || arg->form == TOOL_OBJECTS;
  yyjson_mut_val *schema = arg->form == TOOL_OBJECT && arg->schema ? literal(doc, arg->schema) : yyjson_mut_obj(doc);
  if (!yyjson_mut_obj_get(schema, "type"))
    put_type(doc, schema, type_of(arg->form));
  if (is_list)
    put_items(doc, schema, arg);
  else
    put_choices(doc, schema, arg->choices);
  if (arg->missing)
    yyjson_mut_obj_add_val(doc, schema, "default", literal(doc, arg->missing));
  if (arg->help)
    yyjson_mut_obj_add_str(doc, schema, "description", arg->help);
  return schema;
}

static void put_arg(yyjson_mut_doc *doc, yyjson_mut_val *properties, yyjson_mut_val *required,
                    const struct tool_arg *arg) {
  yyjson_mut_obj_add_val(doc, properties, arg->name, arg_schema(doc, arg));
  if (arg->flags & ARG_REQUIRED)
    yyjson_mut_arr_add_str(doc, required, arg->name);
}

/* The help of an operation's argument may name options of the command line. */
static void put_params(yyjson_mut_doc *doc, const struct profile *profile, const struct tool *tool,
                       yyjson_mut_val *properties, yyjson_mut_val *required, const struct param *params) {
  struct tool_run run = {.profile = profile, .tool = tool, .arena = doc->alc.ctx, .doc = doc};
  struct tool_arg arg;
  for (const struct param *p = params; p->name; p++)
    if (tool_arg_of(p, &arg)) {
      if (arg.help)
        arg.help = tool_rewrite_advice(&run, str_from(arg.help)).p;
      put_arg(doc, properties, required, &arg);
    }
}

static void put_actions(yyjson_mut_doc *doc, yyjson_mut_val *properties, yyjson_mut_val *required,
                        const struct tool *tool) {
  yyjson_mut_val *schema = json_put_obj(doc, properties, "action");
  put_type(doc, schema, "string");
  yyjson_mut_val *list = json_put_arr(doc, schema, "enum");
  for (const struct tool_action *p = tool->actions; p->name; p++)
    yyjson_mut_arr_add_str(doc, list, p->name);
  if (!tool->op)
    yyjson_mut_arr_add_str(doc, required, "action");
}

static bool op_needs_consent(const char *name) {
  const struct op *op = name ? op_find(str_from(name)) : NULL;
  return op && op_param(op, STR("confirm"));
}

/* Functions of a row call the operation for one memory at a time, which needs no consent. */
bool tool_needs_consent(const struct tool *tool) {
  bool asks = !tool->run && op_needs_consent(tool->op);
  for (const struct tool_action *p = tool->actions; p && p->name; p++)
    asks = asks || op_needs_consent(p->op);
  for (const struct tool_arg *p = tool->args; p && p->name; p++)
    asks = asks && strcmp(p->name, "confirm") != 0;
  return asks;
}

/* For clients that cannot ask the user: consent as an argument, which method_tools_call() removes. */
static void put_confirm(yyjson_mut_doc *doc, yyjson_mut_val *properties) {
  yyjson_mut_val *schema = json_put_obj(doc, properties, "confirm");
  put_type(doc, schema, "boolean");
  yyjson_mut_obj_add_str(doc, schema, "description", "the user agreed");
}

/* Tools of own profiles also take arguments that only the instructions name. */
static yyjson_mut_val *input_schema(yyjson_mut_doc *doc, const struct profile *profile, const struct tool *tool) {
  yyjson_mut_val *schema = yyjson_mut_obj(doc), *properties = yyjson_mut_obj(doc), *required = yyjson_mut_arr(doc);
  put_type(doc, schema, "object");
  const struct op *op = tool->args || !tool->op ? NULL : op_find(str_from(tool->op));
  if (tool->actions)
    put_actions(doc, properties, required, tool);
  for (const struct tool_arg *p = tool->args; p && p->name; p++)
    if (!(p->flags & ARG_UNLISTED))
      put_arg(doc, properties, required, p);
  if (op) {
    put_params(doc, profile, tool, properties, required, op->params);
    put_params(doc, profile, tool, properties, required, common_params);
  }
  if (tool_needs_consent(tool))
    put_confirm(doc, properties);
  yyjson_mut_obj_add_val(doc, schema, "properties", properties);
  if (yyjson_mut_arr_size(required))
    yyjson_mut_obj_add_val(doc, schema, "required", required);
  if (profile->foreign)
    yyjson_mut_obj_add_bool(doc, schema, "additionalProperties", false);
  return schema;
}

/* Hints that equal the protocol's defaults are omitted: every byte is sent with every conversation. */
static void put_annotations(yyjson_mut_doc *doc, yyjson_mut_val *def, unsigned flags) {
  yyjson_mut_val *hints = json_put_obj(doc, def, "annotations");
  if (flags & TOOL_READS)
    yyjson_mut_obj_add_bool(doc, hints, "readOnlyHint", true);
  else
    yyjson_mut_obj_add_bool(doc, hints, "destructiveHint", flags & TOOL_DESTROYS);
  if (flags & TOOL_IDEMPOTENT)
    yyjson_mut_obj_add_bool(doc, hints, "idempotentHint", true);
  yyjson_mut_obj_add_bool(doc, hints, "openWorldHint", false);
}

unsigned tool_flags(const struct tool *tool) {
  const struct op *op = tool->args || tool->flags || !tool->op ? NULL : op_find(str_from(tool->op));
  if (!op)
    return tool->flags;
  unsigned reads = op->flags & (OP_WRITE | OP_NO_TXN) ? 0 : TOOL_READS;
  return reads | (op->flags & OP_DESTRUCTIVE ? TOOL_DESTROYS : 0);
}

static void put_description(yyjson_mut_doc *doc, yyjson_mut_val *def, const struct tool *tool) {
  const struct op *op = tool->op ? op_find(str_from(tool->op)) : NULL;
  if (tool->description || !op)
    yyjson_mut_obj_add_str(doc, def, "description", tool->description ? tool->description : "");
  else
    yyjson_mut_obj_add_str(doc, def, "description", op->summary);
}

yyjson_mut_val *tool_definition(yyjson_mut_doc *doc, const struct profile *profile, const struct tool *tool) {
  assert(tool->name && (tool->op || tool->actions || tool->run));
  yyjson_mut_val *def = yyjson_mut_obj(doc);
  yyjson_mut_obj_add_str(doc, def, "name", tool->name);
  if (tool->title)
    yyjson_mut_obj_add_str(doc, def, "title", tool->title);
  put_description(doc, def, tool);
  yyjson_mut_obj_add_val(doc, def, "inputSchema", input_schema(doc, profile, tool));
  if (profile->foreign)
    yyjson_mut_obj_add_val(doc, def, "outputSchema", literal(doc, tool->output ? tool->output : ANY_OBJECT));
  put_annotations(doc, def, tool_flags(tool));
  if (tool->flags & TOOL_ALWAYS)
    yyjson_mut_obj_add_bool(doc, json_put_obj(doc, def, "_meta"), "anthropic/alwaysLoad", true);
  return def;
}
