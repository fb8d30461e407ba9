/* foreign.h: helpers for profiles that imitate other systems: reading results of operations, answering in JSON. */
#pragma once

#include "mcp/tools/shape.h"

struct str result_text(yyjson_mut_val *obj, const char *name);
int64_t result_int(yyjson_mut_val *obj, const char *name);
/* Copies a member under another name, if it is there. */
void result_copy(struct tool_run *run, yyjson_mut_val *into, const char *as, yyjson_mut_val *from, const char *name);

/* The warning of a write that lists near memories, whether or not a difference was found; NULL if there is none. */
yyjson_mut_val *near_warning(yyjson_mut_val *result);

/* Sets the structured answer, and the text to the JSON of `shown`, which may be a part of it. */
void answer_json(struct tool_run *run, yyjson_mut_val *result, yyjson_mut_val *shown);
/* Indented JSON. */
struct str pretty_json(struct tool_run *run, yyjson_mut_val *v);

/* A text without a letter, such as a port number, has no headline of its own: adds one that begins with `label`. These
 * tools have no argument for it. */
void add_headline(struct tool_run *run, yyjson_mut_val *args, struct str text, struct str label);

/* What the write gate reports about a stored text that has several ideas, with advice; absent for other texts. */
struct str ideas_warning(struct tool_run *run, yyjson_mut_val *stored);

/* Reads one memory by id, uid or key. */
NODISCARD enum status run_get(struct tool_run *run, struct str ref, yyjson_mut_val **ret_memory);
/* Building arguments. */
yyjson_mut_val *new_args(struct tool_run *run);
void add_text(struct tool_run *run, yyjson_mut_val *args, const char *name, struct str value);
void add_bool(struct tool_run *run, yyjson_mut_val *args, const char *name, bool value);
void add_int(struct tool_run *run, yyjson_mut_val *args, const char *name, int64_t value);

/* Lists up to `limit` memories in full, page by page, keeping those for which `wanted` returns true; NULL: all. */
typedef bool (*wanted_fn)(yyjson_mut_val *memory, const void *arg);
NODISCARD enum status run_list(struct tool_run *run, yyjson_mut_val *args, wanted_fn wanted, const void *arg,
                               size_t limit, yyjson_mut_val **ret_list);
