/* output.c: output schema of a tool, from the table of results (op/run/results.h).
 *
 * An answer is a result, an error (`error`), or the part of a result that fits its budget (`truncated`). Only a
 * complete result must have the required members. */
#include <assert.h>

#include "core/text/token_count.h"
#include "mcp/tools/internal.h"
#include "op/run/results.h"

/* Union of the members of several results, most important first. */
struct joined {
  yyjson_mut_val *properties;
  struct strs required; /* required in every result */
  bool any;
};

static void keep_common(struct arena *a, struct joined *j, yyjson_mut_val *required) {
  struct strs both = {0}, theirs = {0};
  size_t i, n;
  yyjson_mut_val *v;
  yyjson_mut_arr_foreach(required, i, n, v) {
    if (!tool_is_expendable(mut_text(v)))
      strs_push(a, &theirs, mut_text(v));
  }
  for (i = 0; i < theirs.n; i++)
    if (!j->any || strs_has(&j->required, theirs.v[i]))
      strs_push(a, &both, theirs.v[i]);
  j->required = both;
}

static bool join(struct arena *a, yyjson_mut_doc *doc, const char *op, const struct result_style *style,
                 struct joined *j) {
  assert(!op || op_find(str_from(op)));
  const char *members = op ? op_find(str_from(op))->result : NULL;
  yyjson_mut_val *schema = members ? result_schema(a, doc, members, style) : NULL, *key, *v;
  size_t i, n;
  if (!schema)
    return false;
  keep_common(a, j, yyjson_mut_obj_get(schema, "required"));
  yyjson_mut_obj_foreach(yyjson_mut_obj_get(schema, "properties"), i, n, key, v) {
    yyjson_mut_val *other = yyjson_mut_obj_getn(j->properties, yyjson_mut_get_str(key), yyjson_mut_get_len(key));
    if (!other)
      yyjson_mut_obj_add(j->properties, yyjson_mut_val_mut_copy(doc, key), yyjson_mut_val_mut_copy(doc, v));
    else if (!yyjson_mut_equals(other, v)) /* depends on the action: no type */
      yyjson_mut_obj_clear(other);
  }
  j->any = true;
  return true;
}

/* Joins the results of all operations of the tool; false if one of them is not described. */
static bool join_all(struct arena *a, yyjson_mut_doc *doc, const struct tool *tool, const struct result_style *style,
                     struct joined *j) {
  *j = (struct joined){.properties = yyjson_mut_obj(doc)};
  bool all = !tool->op || join(a, doc, tool->op, style, j);
  for (const struct tool_action *p = tool->actions; p && p->name && all; p++)
    all = join(a, doc, p->op, style, j);
  return all && j->any;
}

static void put_required(yyjson_mut_doc *doc, yyjson_mut_val *schema, const struct strs *names) {
  yyjson_mut_val *list = json_put_arr(doc, schema, "required");
  for (size_t i = 0; i < names->n; i++)
    json_add_str(doc, list, names->v[i]);
}

static void put_alternatives(yyjson_mut_doc *doc, yyjson_mut_val *schema, const struct strs *names) {
  static const char *const others[] = {"error", "truncated"};
  yyjson_mut_val *list = json_put_arr(doc, schema, "anyOf");
  put_required(doc, yyjson_mut_arr_add_obj(doc, list), names);
  for (size_t i = 0; i < ARRAY_LEN(others); i++) {
    yyjson_mut_val *required = json_put_arr(doc, yyjson_mut_arr_add_obj(doc, list), "required");
    yyjson_mut_arr_add_str(doc, required, others[i]);
  }
}

static yyjson_mut_val *object_of(yyjson_mut_doc *doc, yyjson_mut_val *properties, const struct strs *required) {
  yyjson_mut_val *schema = yyjson_mut_obj(doc);
  yyjson_mut_obj_add_str(doc, schema, "type", "object");
  yyjson_mut_obj_add_val(doc, schema, "properties", properties);
  if (required->n)
    put_alternatives(doc, schema, required);
  return schema;
}

static size_t size_of(struct arena *a, yyjson_mut_val *v) { return tokens_estimate(json_write(a, v, false)); }

/* As many members as fit, in order. The estimate of the whole never exceeds the sum of its parts. */
static yyjson_mut_val *first_members(struct arena *a, yyjson_mut_doc *doc, const struct joined *j, size_t room) {
  yyjson_mut_val *some = yyjson_mut_obj(doc), *key, *v;
  static const struct strs none;
  size_t i, n, taken = size_of(a, object_of(doc, some, &none));
  yyjson_mut_obj_foreach(j->properties, i, n, key, v) {
    taken += tokens_estimate(arena_printf(a, ",\"%s\":%s", yyjson_mut_get_str(key), json_write(a, v, false).p));
    if (taken > room)
      break;
    yyjson_mut_obj_add(some, yyjson_mut_val_mut_copy(doc, key), yyjson_mut_val_mut_copy(doc, v));
  }
  return yyjson_mut_obj_size(some) ? object_of(doc, yyjson_mut_val_mut_copy(doc, some), &none) : NULL;
}

yyjson_mut_val *tool_output(struct arena *a, yyjson_mut_doc *doc, const struct tool *tool, size_t room) {
  struct joined j;
  if (tool->run || tool->shape || (tool->finish && !(tool->flags & TOOL_SAME)))
    return NULL;
  for (int shallow = 0; shallow < 2; shallow++) {
    struct result_style style = {.loose = true, .shallow = shallow};
    if (!join_all(a, doc, tool, &style, &j))
      return NULL;
    yyjson_mut_val *schema = object_of(doc, j.properties, &j.required);
    if (room == SIZE_MAX || size_of(a, schema) <= room)
      return schema;
  }
  if (!join_all(a, doc, tool, &(struct result_style){.loose = true, .shallow = true}, &j))
    return NULL;
  return first_members(a, doc, &j, room);
}
