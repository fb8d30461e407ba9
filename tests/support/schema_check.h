/* schema_check.h: whether a JSON value is what its schema says, for the keywords that Cairn's own schemas use. */
#pragma once

#include "base/json.h"

/* NULL: it fits; else what does not, with its path. `root` is the document in which "#/..." references are looked up.
 * Strict: an object whose members are described has no others. A keyword that is not known here is a fault, too. */
const char *schema_fault(struct arena *a, yyjson_val *root, yyjson_val *schema, yyjson_val *value, bool strict);

/* Ends the test when what a command printed with --json is not what the table says of its operation. */
void check_printed(const char *file, int line, const char *const *args, yyjson_val *result);
/* Ends the test when the result of an operation is not what the table of results says. */
void check_result(const char *file, int line, const char *op, yyjson_val *result, bool strict);
/* Ends the test when a tool's structured answer, an error or not, is not what its definition declares. */
struct tool;
void check_answer(const char *file, int line, const struct tool *tool, yyjson_val *content);

/* The same for a message and its answer, where it is a tools/call; `profile` may be NULL: the one with that tool. */
struct profile;
void check_conversation(const struct profile *profile, yyjson_val *request, yyjson_val *answer);
/* Ends the test when the body of an answer is not what the OpenAPI document says. Other paths are left alone. */
void check_rest(const char *method, struct str path, int status, struct str body);
