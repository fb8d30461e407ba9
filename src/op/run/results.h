/* results.h: JSON schemas of results. The member `result` of an operation's row describes its result; the output
 * schemas of MCP tools and the response schemas of the OpenAPI document are generated from it.
 *
 * A row lists members, separated by spaces:
 *
 *   id:int uid headline severity? weight:num created_at:time tags?:[text] rows:{int} results:[@hit] by:(id:int name)
 *
 * A member is text unless a type follows its colon; `?` marks it as optional. Types: text, int, num, bool, time (a
 * string), advice (a text of the operation that names commands; never stored text), obj (any object), any; [T] list,
 * {T} object whose members are all T, (...) object with these members, @name one of result_shapes[], T|null nullable,
 * and =a|b|c one of these strings. `+name` inserts the members of a shape. If a member is repeated, the first
 * definition counts. Put the most useful members first: others are dropped if a schema must be shortened. Objects are
 * open: members may be added. */
#pragma once

#include "op/op.h"

struct shape {
  const char *name, *members;
};

extern const struct shape result_shapes[]; /* ends with name == NULL */

const struct shape *result_shape(struct str name);

struct result_style {
  /* Prefix of $ref for shapes ("#/components/schemas/"), followed by result_name(); NULL: shapes are inlined. */
  const char *refs;
  bool shallow; /* describe only the top-level members; lists and objects are left open */
  bool advice;  /* members of the type advice have a member "advice" */
  bool loose;   /* list required members only at the top level */
};

/* JSON schema of an object with these members; NULL on a syntax error. */
yyjson_mut_val *result_schema(struct arena *a, yyjson_mut_doc *doc, const char *text, const struct result_style *style);

/* Name of a schema: "task add" becomes TaskAdd. */
struct str result_name(struct arena *a, const char *name);
