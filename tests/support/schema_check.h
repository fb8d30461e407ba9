/* schema_check.h: validates a JSON value against its schema, for the keywords that Cairn's schemas use. */
#pragma once

#include "base/json.h"

/* NULL if valid; otherwise the first error, with its path. `root` is the document for "#/..." references. Strict: an
 * object with described members must not have others. Unknown keywords are an error, too. */
const char *schema_fault(struct arena *a, yyjson_val *root, yyjson_val *schema, yyjson_val *value, bool strict);

/* Fails the test if the --json output of a command does not match its operation's result schema. */
void check_printed(const char *file, int line, const char *const *args, yyjson_val *result);
/* Fails the test if the result of an operation does not match its schema. */
void check_result(const char *file, int line, const char *op, yyjson_val *result, bool strict);
/* Fails the test if a tool's answer does not match its output schema, or for Cairn's own tools, which have none, the
 * result of its operation `op` (NULL: unknown). */
struct tool;
struct profile;
void check_answer(const char *file, int line, const struct profile *profile, const struct tool *tool, const char *op,
                  yyjson_val *content);

/* The same for a request and its structured answer, if it is a tools/call; `profile` may be NULL: any one with that
 * tool. */
void check_conversation(const struct profile *profile, yyjson_val *request, yyjson_val *answer);
/* Fails the test if the body of a response does not match the OpenAPI document. Ignores other paths. */
void check_rest(const char *method, struct str path, int status, struct str body);
