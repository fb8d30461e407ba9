/* schema_check.c: validates a value against its schema. */
#include "support/schema_check.h"

#include <stdlib.h>

#include "http/rest/rest.h"
#include "mcp/tools/tool.h"
#include "op/run/results.h"
#include "support/harness.h"

struct checker {
  struct arena *a;
  yyjson_val *root;
  bool strict;
};

static const char *check(const struct checker *c, yyjson_val *schema, yyjson_val *value, struct str path);

static const char *fault(const struct checker *c, struct str path, const char *what, yyjson_val *value) {
  struct str shown = json_write_val(c->a, value);
  return arena_printf(c->a, "%.*s %s: %.*s", STR_ARG(path.n ? path : STR("the whole")), what,
                      (int)(shown.n < 300 ? shown.n : 300), shown.p)
      .p;
}

static bool is_type(struct str type, yyjson_val *v) {
  return (str_is(type, "object") && yyjson_is_obj(v)) || (str_is(type, "array") && yyjson_is_arr(v)) ||
         (str_is(type, "string") && yyjson_is_str(v)) || (str_is(type, "integer") && yyjson_is_int(v)) ||
         (str_is(type, "number") && yyjson_is_num(v)) || (str_is(type, "boolean") && yyjson_is_bool(v)) ||
         (str_is(type, "null") && yyjson_is_null(v));
}

static bool has_type(yyjson_val *type, yyjson_val *v) {
  size_t i, n;
  yyjson_val *one;
  if (yyjson_is_str(type))
    return is_type(json_val_str(type), v);
  yyjson_arr_foreach(type, i, n, one) {
    if (is_type(json_val_str(one), v))
      return true;
  }
  return false;
}

static const char *check_known(const struct checker *c, yyjson_val *schema, struct str path) {
  static const char *const known[] = {"type", "properties", "required",    "items", "additionalProperties",
                                      "enum", "anyOf",      "description", "$ref",  "format"};
  size_t i, n;
  yyjson_val *key, *v;
  yyjson_obj_foreach(schema, i, n, key, v) {
    bool is = false;
    for (size_t k = 0; k < ARRAY_LEN(known); k++)
      is = is || yyjson_equals_str(key, known[k]);
    if (!is)
      return fault(c, path, "has a schema with an unknown keyword", schema);
  }
  return NULL;
}

static const char *check_choices(const struct checker *c, yyjson_val *schema, yyjson_val *value, struct str path) {
  yyjson_val *list = yyjson_obj_get(schema, "enum"), *one;
  size_t i, n;
  bool found = !list;
  yyjson_arr_foreach(list, i, n, one) {
    found = found || yyjson_equals(one, value);
  }
  return found ? NULL : fault(c, path, "is not one of the choices", value);
}

static const char *check_any(const struct checker *c, yyjson_val *schema, yyjson_val *value, struct str path) {
  yyjson_val *list = yyjson_obj_get(schema, "anyOf"), *one;
  const char *why = NULL;
  size_t i, n;
  yyjson_arr_foreach(list, i, n, one) {
    why = check(c, one, value, path);
    if (!why)
      return NULL;
  }
  return why;
}

static const char *check_member(const struct checker *c, yyjson_val *schema, yyjson_val *key, yyjson_val *value,
                                struct str path) {
  yyjson_val *known = yyjson_obj_get(schema, "properties"), *other = yyjson_obj_get(schema, "additionalProperties");
  yyjson_val *of = yyjson_obj_getn(known, yyjson_get_str(key), yyjson_get_len(key));
  struct str name = json_val_str(key);
  path = arena_printf(c->a, "%.*s.%.*s", STR_ARG(path), STR_ARG(name));
  if (of)
    return check(c, of, value, path);
  if (yyjson_is_obj(other))
    return check(c, other, value, path);
  bool closed = yyjson_is_false(other) || (c->strict && known);
  return closed ? fault(c, path, "is not described", value) : NULL;
}

static const char *check_object(const struct checker *c, yyjson_val *schema, yyjson_val *value, struct str path) {
  size_t i, n;
  yyjson_val *key, *v;
  const char *why = NULL;
  yyjson_arr_foreach(yyjson_obj_get(schema, "required"), i, n, v) {
    if (!yyjson_obj_getn(value, yyjson_get_str(v), yyjson_get_len(v)))
      return fault(c, path, arena_printf(c->a, "lacks '%.*s'", STR_ARG(json_val_str(v))).p, value);
  }
  yyjson_obj_foreach(value, i, n, key, v) {
    if (!why)
      why = check_member(c, schema, key, v, path);
  }
  return why;
}

static const char *check_items(const struct checker *c, yyjson_val *schema, yyjson_val *value, struct str path) {
  yyjson_val *items = yyjson_obj_get(schema, "items"), *v;
  size_t i, n;
  const char *why = NULL;
  yyjson_arr_foreach(value, i, n, v) {
    if (items && !why)
      why = check(c, items, v, arena_printf(c->a, "%.*s[%zu]", STR_ARG(path), i));
  }
  return why;
}

static yyjson_val *resolve(const struct checker *c, struct str ref) {
  yyjson_val *v = c->root;
  struct str part;
  if (!str_starts(ref, STR("#/")))
    return NULL;
  ref = str_slice(ref, 2, ref.n);
  while (v && str_next(&ref, '/', &part))
    v = yyjson_obj_getn(v, part.p, part.n);
  return v;
}

static const char *check(const struct checker *c, yyjson_val *schema, yyjson_val *value, struct str path) {
  yyjson_val *ref = yyjson_obj_get(schema, "$ref"), *type = yyjson_obj_get(schema, "type");
  if (ref) {
    yyjson_val *of = resolve(c, json_val_str(ref));
    return of ? check(c, of, value, path) : fault(c, path, "has a reference to nothing", schema);
  }
  const char *why = check_known(c, schema, path);
  if (!why && type && !has_type(type, value))
    why = fault(c, path, arena_printf(c->a, "is no %s", json_write_val(c->a, type).p).p, value);
  if (!why)
    why = check_choices(c, schema, value, path);
  if (!why)
    why = check_any(c, schema, value, path);
  if (!why && yyjson_is_obj(value))
    why = check_object(c, schema, value, path);
  return why || !yyjson_is_arr(value) ? why : check_items(c, schema, value, path);
}

const char *schema_fault(struct arena *a, yyjson_val *root, yyjson_val *schema, yyjson_val *value, bool strict) {
  struct checker c = {a, root, strict};
  return check(&c, schema, value, STR(""));
}

static yyjson_val *frozen(struct arena *a, yyjson_mut_val *v) {
  struct error err;
  yyjson_val *read = NULL;
  CHECK_OK(json_read(a, json_write(a, v, false), &read, &err), &err);
  return read;
}

void check_result(const char *file, int line, const char *op, yyjson_val *result, bool strict) {
  struct arena a;
  arena_init(&a);
  const char *members = op_find(str_from(op))->result;
  yyjson_mut_val *schema =
      members ? result_schema(&a, json_new(&a), members, &(struct result_style){.refs = NULL}) : NULL;
  if (!schema)
    test_fail(file, line, "the result of '%s' is not described", op);
  const char *why = schema_fault(&a, NULL, frozen(&a, schema), result, strict);
  if (why)
    test_fail(file, line, "the result of '%s' is not as described: %s", op, why);
  arena_release(&a);
}

/* The operation's result; large answers lack members of nested objects. NULL: cut, or a refusal. */
static yyjson_mut_val *own_schema(struct arena *a, const char *op, yyjson_val *content) {
  if (yyjson_obj_get(content, "error") || yyjson_obj_get(content, "truncated"))
    return NULL;
  return result_schema(a, json_new(a), op_find(str_from(op))->result, &(struct result_style){.loose = true});
}

void check_answer(const char *file, int line, const struct profile *profile, const struct tool *tool, const char *op,
                  yyjson_val *content) {
  struct arena a;
  arena_init(&a);
  yyjson_mut_val *schema = profile->foreign
                               ? yyjson_mut_obj_get(tool_definition(json_new(&a), profile, tool), "outputSchema")
                           : op ? own_schema(&a, op, content)
                                : NULL;
  const char *why = schema ? schema_fault(&a, NULL, frozen(&a, schema), content, false) : NULL;
  if (why)
    test_fail(file, line, "%s answers what its schema does not allow: %s", tool->name, why);
  arena_release(&a);
}

/* ---- output of commands ---- */

/* The operation of a command line; NULL if there is none or it prints lines. */
static const struct op *op_of(struct arena *a, const char *const *args) {
  const struct op *found = NULL;
  for (const char *const *p = args; *p; p++) {
    if (strcmp(*p, "--batch") == 0)
      return NULL;
    const struct op *two = p[1] ? op_find(arena_printf(a, "%s %s", p[0], p[1])) : NULL;
    if (!found)
      found = two ? two : op_find(str_from(*p));
  }
  return found && !(found->flags & OP_STREAM) ? found : NULL;
}

void check_printed(const char *file, int line, const char *const *args, yyjson_val *result) {
  struct arena a;
  arena_init(&a);
  const struct op *op = op_of(&a, args);
  if (op)
    check_result(file, line, op->name, result, getenv("CAIRN_TEST_STRICT") != NULL);
  arena_release(&a);
}

/* ---- MCP and REST ---- */

static const struct profile *profile_with(struct str tool) {
  for (const struct profile *const *p = profiles; *p; p++)
    if (tool_find(*p, tool))
      return *p;
  return NULL;
}

void check_conversation(const struct profile *profile, yyjson_val *request, yyjson_val *answer) {
  yyjson_val *content = yyjson_obj_get(yyjson_obj_get(answer, "result"), "structuredContent");
  struct str name = json_str(yyjson_obj_get(request, "params"), "name");
  profile = profile ? profile : profile_with(name);
  const struct tool *tool =
      content && profile && str_is(json_str(request, "method"), "tools/call") ? tool_find(profile, name) : NULL;
  if (tool)
    check_answer(__FILE__, __LINE__, profile, tool, NULL, content);
}

/* Matches a path of the OpenAPI document, in which {name} stands for one segment. */
static bool fits(struct str pattern, struct str path) {
  struct str want, got;
  while (str_next(&pattern, '/', &want)) {
    if (!str_next(&path, '/', &got) || !(str_eq(want, got) || (str_starts(want, STR("{")) && got.n)))
      return false;
  }
  return path.n == 0;
}

static yyjson_val *operation_of(yyjson_val *root, struct str method, struct str path) {
  size_t i, n;
  yyjson_val *key, *item, *best = NULL;
  bool exact = false;
  yyjson_obj_foreach(yyjson_obj_get(root, "paths"), i, n, key, item) {
    bool same = str_eq(json_val_str(key), path);
    if (exact || !fits(json_val_str(key), path) || (best && !same))
      continue;
    best = yyjson_obj_getn(item, method.p, method.n);
    exact = same;
  }
  return best;
}

void check_rest(const char *method, struct str path, int status, struct str body) {
  struct arena a;
  struct error err;
  yyjson_val *root, *value = NULL;
  size_t query = str_find(path, STR("?"), 0);
  path = query == SIZE_MAX ? path : str_slice(path, 0, query);
  if (!str_starts(path, STR(REST_ROOT "/")) || (status != 200 && status != 201) || !body.n)
    return;
  arena_init(&a);
  CHECK_OK(json_read(&a, openapi_document(&a), &root, &err), &err);
  yyjson_val *op = operation_of(root, arena_lower(&a, str_from(method)), path),
             *responses = yyjson_obj_get(op, "responses");
  yyjson_val *content = yyjson_obj_get(yyjson_obj_get(responses, status == 200 ? "200" : "201"), "content");
  yyjson_val *schema = yyjson_obj_get(yyjson_obj_get(content, "application/json"), "schema");
  if (schema && json_read(&a, body, &value, &err) == STATUS_OK) {
    const char *why = schema_fault(&a, root, schema, value, getenv("CAIRN_TEST_STRICT") != NULL);
    if (why)
      FAIL("%s %.*s is not as the document says: %s", method, STR_ARG(path), why);
  }
  arena_release(&a);
}
