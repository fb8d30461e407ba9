/* results.h: what operations answer, as data: the member `result` of each operation's row, from which the output
 * schemas of MCP's tools and the response schemas of the OpenAPI document are made.
 *
 * A row lists members, separated by blanks, in a notation of its own:
 *
 *   id:int uid headline severity? weight:num created_at:time tags?:[text] rows:{int} results:[@hit] by:(id:int name)
 *
 * A member is a text unless a type follows its colon; `?` says that it may be missing. Types: text, int, num, bool,
 * time (a text), obj (any object), any; [T] a list, {T} an object whose members are all T, (...) an object with these
 * members, @name one of result_shapes[], T|null one that may be null, and =a|b|c one of these texts. `+name` stands for
 * the members of a shape. A member that is named again is the first one. The most useful come first: where room is
 * scarce, the others go. Objects are open: members may be added. */
#pragma once

#include "op/op.h"

struct shape {
  const char *name, *members;
};

extern const struct shape result_shapes[]; /* what several results share; ends with name == NULL */

const struct shape *result_shape(struct str name);

struct result_style {
  /* What a reference to a shape begins with, its name in capitals behind it; NULL: shapes are written out. */
  const char *refs;
  bool shallow; /* only the outermost members: what is in lists and objects is left open */
  bool loose;   /* what must be there is said of the outermost members alone */
};

/* The JSON schema of an object with these members. NULL when the text is not in the notation. */
yyjson_mut_val *result_schema(struct arena *a, yyjson_mut_doc *doc, const char *text, const struct result_style *style);

/* "task add" becomes TaskAdd: what a schema is called where it has a name. */
struct str result_name(struct arena *a, const char *name);
