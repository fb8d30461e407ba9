/* script.h: scripted conversation with a profile: one store, a stopped clock, one connection per client. */
#pragma once

#include "mcp/profiles/openbrain/brain.h"
#include "support/harness.h"

/* JSON literal without quoting. */
#define J(...) #__VA_ARGS__

/* Opens a new store; the clock stands at 2025-11-15T12:00:00Z. */
void script_open(const char *profile);
void script_close(void);
void script_wait(int64_t ms);
/* Sets the connection of later calls. */
void script_as(const char *connection);

/* Sets the project that the server was started with; NULL: none. */
void script_in(const char *project);

/* A call that must succeed, and one that must be refused; both return the structured answer, which must equal the text
 * as JSON. */
yyjson_mut_val *script_call(const char *tool, const char *args);
yyjson_mut_val *script_refused(const char *tool, const char *args);
/* A call with invalid arguments, which the table refuses. */
void script_wrong(const char *tool, const char *args);

/* Calls an operation directly, without the profile. */
yyjson_mut_val *script_op(const char *op, const char *args);

/* Checks the names of all listed tools, separated by spaces, in any order; returns their number. */
size_t script_tools(const char *names);

/* Element of a list by index, and by the number in its member `name`. */
yyjson_mut_val *script_at(yyjson_mut_val *obj, const char *list, size_t i);
yyjson_mut_val *script_with(yyjson_mut_val *obj, const char *list, const char *name, int64_t number);
bool script_is_null(yyjson_mut_val *obj, const char *name);
bool script_says(yyjson_mut_val *obj, const char *name, const char *part);
bool script_ends_with(yyjson_mut_val *text, const char *end);
/* Checks that every tool of the profile was called since script_open(). */
void script_all_called(void);
