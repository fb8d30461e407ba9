/* script.h: a scripted conversation with a profile: one store, a stopped clock, clients with connections of their own.
 */
#pragma once

#include "mcp/profiles/openbrain/brain.h"
#include "support/harness.h"

/* JSON as it is written. */
#define J(...) #__VA_ARGS__

/* Opens a store of the test's own; the clock stands at 2025-11-15T12:00:00Z. */
void script_open(const char *profile);
void script_close(void);
void script_wait(int64_t ms);
/* Calls come from this connection from now on. */
void script_as(const char *connection);

/* Calls come from a server that was started for this project; NULL: for none. */
void script_in(const char *project);

/* A call that must succeed, and one that must be refused; both give the structured answer. The text that a model reads
 * is the same as JSON. */
yyjson_mut_val *script_call(const char *tool, const char *args);
yyjson_mut_val *script_refused(const char *tool, const char *args);
/* A call that the table itself refuses: the arguments are wrong. */
void script_wrong(const char *tool, const char *args);

/* An operation of the table, past the profile. */
yyjson_mut_val *script_op(const char *op, const char *args);

/* The names of all listed tools must be these, in any order, separated by blanks; returns how many. */
size_t script_tools(const char *names);

/* Element of a list, and the element with that number as `name`. */
yyjson_mut_val *script_at(yyjson_mut_val *obj, const char *list, size_t i);
yyjson_mut_val *script_with(yyjson_mut_val *obj, const char *list, const char *name, int64_t number);
bool script_is_null(yyjson_mut_val *obj, const char *name);
bool script_says(yyjson_mut_val *obj, const char *name, const char *part);
/* Every tool of the profile has been called since script_open(). */
void script_all_called(void);
