/* test_tool_schema.c: definitions of all profiles: valid, flat, short names, deterministic. */
#include "mcp/tools/tool.h"
#include "support/harness.h"
#include "tooling.h"

enum { NAME_LONGEST = 64, OWN_NAME_LONGEST = 26 };

static yyjson_mut_val *definition(const struct tool *t) {
  return tool_definition(json_new(&tooling_arena), profiles[0], t);
}

static yyjson_mut_val *property(const struct tool *t, const char *name) {
  yyjson_mut_val *schema = yyjson_mut_obj_get(definition(t), "inputSchema");
  return yyjson_mut_obj_get(yyjson_mut_obj_get(schema, "properties"), name);
}

static bool hint(const struct tool *t, const char *name, bool missing) {
  yyjson_mut_val *v = yyjson_mut_obj_get(yyjson_mut_obj_get(definition(t), "annotations"), name);
  return v ? yyjson_mut_get_bool(v) : missing;
}

static bool is_type(yyjson_mut_val *schema, const char *type) {
  const char *got = yyjson_mut_get_str(yyjson_mut_obj_get(schema, "type"));
  return got && strcmp(got, type) == 0;
}

static void check_properties(const struct tool *t, yyjson_mut_val *schema) {
  size_t i, n;
  yyjson_mut_val *key, *v, *properties = yyjson_mut_obj_get(schema, "properties");
  yyjson_mut_obj_foreach(properties, i, n, key, v) {
    test_note("%s %s", t->name, yyjson_mut_get_str(key));
    CHECK(is_type(v, "string") || is_type(v, "integer") || is_type(v, "number") || is_type(v, "boolean") ||
          is_type(v, "array") || is_type(v, "object"));
    CHECK(!is_type(v, "array") || yyjson_mut_is_obj(yyjson_mut_obj_get(v, "items")));
    CHECK_INT(yyjson_mut_obj_size(properties), n);
  }
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(schema, "required"), i, n, v) {
    CHECK(yyjson_mut_obj_get(properties, yyjson_mut_get_str(v)));
  }
}

TEST(definitions_of_all_profiles_are_valid) {
  for (const struct profile *const *p = profiles; *p; p++)
    for (const struct tool *t = (*p)->tools; t->name; t++) {
      test_note("%s %s", (*p)->name, t->name);
      yyjson_mut_val *d = definition(t), *schema = yyjson_mut_obj_get(d, "inputSchema");
      CHECK(strlen(t->name) <= NAME_LONGEST);
      for (const char *c = t->name; *c; c++)
        CHECK(ascii_alnum(*c) || *c == '_' || *c == '-');
      CHECK(yyjson_mut_get_len(yyjson_mut_obj_get(d, "description")) > 0);
      CHECK(is_type(schema, "object"));
      yyjson_mut_val *whole = tool_definition(json_new(&tooling_arena), *p, t);
      CHECK(!(*p)->foreign ||
            yyjson_mut_is_false(yyjson_mut_obj_get(yyjson_mut_obj_get(whole, "inputSchema"), "additionalProperties")));
      CHECK(!hint(t, "openWorldHint", true));
      CHECK(tool_find(*p, str_from(t->name)) == t);
      check_properties(t, schema);
    }
}

TEST(definitions_are_the_same_bytes_every_time) {
  for (const struct profile *const *p = profiles; *p; p++)
    for (const struct tool *t = (*p)->tools; t->name; t++)
      CHECK(str_eq(json_write(&tooling_arena, definition(t), false), json_write(&tooling_arena, definition(t), false)));
}

TEST(operations_and_arguments_of_all_rows_exist) {
  for (const struct profile *const *p = profiles; *p; p++)
    for (const struct tool *t = (*p)->tools; t->name; t++) {
      test_note("%s %s", (*p)->name, t->name);
      CHECK(t->op || t->actions || t->run);
      CHECK(!t->op || op_find(str_from(t->op)));
      for (const struct tool_action *x = t->actions; x && x->name; x++) {
        test_note("%s %s %s", (*p)->name, t->name, x->name);
        CHECK(op_find(str_from(x->op)));
      }
      for (const struct tool_arg *g = t->args; g && g->name && t->op && !t->run && !t->actions && !t->prepare; g++) {
        test_note("%s %s %s", (*p)->name, t->name, g->name);
        CHECK((g->flags & (ARG_LOCAL | ARG_SPREAD)) || strcmp(g->name, "session") == 0 ||
              op_param(op_find(str_from(t->op)), str_from(g->to ? g->to : g->name)));
      }
    }
}

static const char *const colours[] = {"red", "green", NULL};
static const struct tool_arg args[] = {
    {.name = "id", .form = TOOL_ID, .flags = ARG_REQUIRED},
    {.name = "n", .form = TOOL_INT, .missing = "7", .help = "how many"},
    {.name = "colour", .form = TOOL_TEXT, .choices = colours},
    {.name = "colours", .form = TOOL_LIST, .choices = colours},
    {.name = "things",
     .form = TOOL_OBJECTS,
     .schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}"},
    {.name = "numbers", .form = TOOL_INTS},
    {0},
};
static const struct tool sample = {
    .name = "sample", .title = "A sample", .description = "Does.", .op = "get", .args = args, .flags = TOOL_READS};

TEST(a_row_contains_its_whole_definition) {
  CHECK(is_type(property(&sample, "id"), "string"));
  CHECK(is_type(property(&sample, "n"), "integer"));
  CHECK_INT(yyjson_mut_get_sint(yyjson_mut_obj_get(property(&sample, "n"), "default")), 7);
  CHECK_STR(str_from(yyjson_mut_get_str(yyjson_mut_obj_get(property(&sample, "n"), "description"))), "how many");
  CHECK_INT(yyjson_mut_arr_size(yyjson_mut_obj_get(property(&sample, "colour"), "enum")), 2);
  yyjson_mut_val *items = yyjson_mut_obj_get(property(&sample, "colours"), "items");
  CHECK_INT(yyjson_mut_arr_size(yyjson_mut_obj_get(items, "enum")), 2);
  CHECK(yyjson_mut_obj_get(yyjson_mut_obj_get(property(&sample, "things"), "items"), "properties"));
  CHECK(is_type(yyjson_mut_obj_get(property(&sample, "numbers"), "items"), "integer"));
  CHECK(hint(&sample, "readOnlyHint", false));
  yyjson_mut_val *required = yyjson_mut_obj_get(yyjson_mut_obj_get(definition(&sample), "inputSchema"), "required");
  CHECK_INT(yyjson_mut_arr_size(required), 1);
}

TEST(hints_of_a_writing_tool) {
  struct tool t = {.name = "t", .description = "d", .op = "remember", .args = args};
  CHECK(!hint(&t, "readOnlyHint", false));
  CHECK(!hint(&t, "destructiveHint", true));
  CHECK(!hint(&t, "idempotentHint", false));
  t.flags = TOOL_DESTROYS | TOOL_IDEMPOTENT | TOOL_ALWAYS;
  CHECK(hint(&t, "destructiveHint", true));
  CHECK(hint(&t, "idempotentHint", false));
  yyjson_mut_val *meta = yyjson_mut_obj_get(definition(&t), "_meta");
  CHECK(yyjson_mut_is_true(yyjson_mut_obj_get(meta, "anthropic/alwaysLoad")));
}

TEST(a_row_without_arguments_has_those_of_its_operation) {
  struct tool t = {.name = "t", .op = "purge"};
  CHECK(is_type(property(&t, "ids"), "array"));
  CHECK(is_type(property(&t, "project"), "string"));
  CHECK(is_type(property(&t, "confirm"), "boolean")); /* for a client that cannot ask its user */
  CHECK(hint(&t, "destructiveHint", false));
  t.op = "backup";
  CHECK(!property(&t, "file")); /* no client names files of the server */
  CHECK(!hint(&t, "readOnlyHint", false));
  CHECK(!property(&t, "confirm"));
  t.op = "search";
  CHECK(hint(&t, "readOnlyHint", false));
}

/* Operations without a tool: those that need a file name, and those that a model must not call. */
static bool needs_file(const struct op *op) {
  if (strcmp(op->name, "export") == 0)
    return true; /* too large for a model */
  if (strcmp(op->name, "agent add") == 0 || strcmp(op->name, "agent remove") == 0)
    return true; /* access control */
  if (str_starts(str_from(op->name), STR("token ")))
    return true; /* authentication */
  if (strcmp(op->name, "vault grant") == 0 || strcmp(op->name, "vault revoke") == 0 ||
      strcmp(op->name, "vault rotate") == 0)
    return true; /* for people */
  if (strcmp(op->name, "team list") == 0 || strcmp(op->name, "team delete") == 0)
    return true; /* only for people */
  if (strcmp(op->name, "transcript import") == 0)
    return true; /* reads the home directory of the server's user */
  for (const struct param *p = op->params; p->name; p++)
    if ((p->flags & PARAM_PATH) && (p->flags & PARAM_REQUIRED))
      return true;
  return false;
}

TEST(the_full_profile_has_every_operation) {
  const struct profile *full = profile_find(STR("full"));
  EACH_OP(op) {
    struct buf name = BUF(&tooling_arena);
    buf_addf(&name, "memory_%s", op->name);
    for (size_t i = 0; i < name.n; i++)
      if (name.p[i] == ' ')
        name.p[i] = '_';
    test_note("%s", op->name);
    const struct tool *t = tool_find(full, buf_str(&name));
    CHECK((t == NULL) == needs_file(op));
    CHECK(!t || strcmp(t->op, op->name) == 0);
    CHECK(!t || strlen(t->name) <= OWN_NAME_LONGEST);
  }
}

TEST(the_readonly_profile_only_reads) {
  const struct profile *p = profile_find(STR("readonly"));
  CHECK(p->read_only);
  for (const struct tool *t = p->tools; t->name; t++) {
    test_note("%s", t->name);
    CHECK(hint(t, "readOnlyHint", false));
    CHECK(!t->op || !(op_find(str_from(t->op))->flags & OP_WRITE));
    for (const struct tool_action *x = t->actions; x && x->name; x++)
      CHECK((x->flags & TOOL_READS) && !(op_find(str_from(x->op))->flags & OP_WRITE));
  }
}

/* ---- output schemas ---- */

/* Without a schema and structured content every client shows the model the text, which has the labels. */
TEST(only_tools_of_other_systems_have_an_output_schema) {
  for (const struct profile *const *p = profiles; *p; p++)
    for (const struct tool *t = (*p)->tools; t->name; t++) {
      test_note("%s %s", (*p)->name, t->name);
      yyjson_mut_val *schema = yyjson_mut_obj_get(tool_definition(json_new(&tooling_arena), *p, t), "outputSchema");
      CHECK((*p)->foreign ? is_type(schema, "object") : !schema);
    }
}
