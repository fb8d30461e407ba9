/* foreign.h: what the profiles of other systems share: reading results of operations, and answering in JSON. */
#pragma once

#include "mcp/tools/tool.h"

struct str result_text(yyjson_mut_val *obj, const char *name);
int64_t result_int(yyjson_mut_val *obj, const char *name);
/* Copies a member under another name; nothing when it is not there. */
void result_copy(struct tool_run *run, yyjson_mut_val *into, const char *as, yyjson_mut_val *from, const char *name);

/* The answer: an object for programs, and for the model the JSON text of `shown`, which may be a part of it. */
void answer_json(struct tool_run *run, yyjson_mut_val *result, yyjson_mut_val *shown);
/* A member of an answer, indented, as a text. */
struct str pretty_json(struct tool_run *run, yyjson_mut_val *v);

/* An operation on one memory, by its reference. */
NODISCARD enum status run_get(struct tool_run *run, struct str ref, yyjson_mut_val **ret_memory);
/* Arguments, one after the other. */
yyjson_mut_val *new_args(struct tool_run *run);
void add_text(struct tool_run *run, yyjson_mut_val *args, const char *name, struct str value);
void add_bool(struct tool_run *run, yyjson_mut_val *args, const char *name, bool value);
void add_int(struct tool_run *run, yyjson_mut_val *args, const char *name, int64_t value);

/* All memories that a list with these arguments has, in full, page by page, as far as `wanted` says yes; NULL: all.
 * Stops when there are `limit`. */
typedef bool (*wanted_fn)(yyjson_mut_val *memory, const void *arg);
NODISCARD enum status run_list(struct tool_run *run, yyjson_mut_val *args, wanted_fn wanted, const void *arg,
                               size_t limit, yyjson_mut_val **ret_list);
