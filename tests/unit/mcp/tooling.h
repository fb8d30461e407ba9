/* tooling.h: a store and a caller for tests of tools. */
#pragma once

#include "mcp/tools/tool.h"

extern struct arena tooling_arena; /* lives as long as the test */
extern struct error tooling_error;
extern struct str tooling_trust; /* of the caller; "user" unless a test says otherwise */

/* A store of the test's own, with hashed features for vectors. */
struct engine *tooling_engine(void);
/* Calls a tool; the run is left for the test to look at. */
enum status tooling_call(struct tool_run *run, const struct profile *profile, struct engine *engine, const char *tool,
                         const char *json);
/* The same, and the call must be answered, not refused. */
yyjson_mut_val *tooling_ok(struct tool_run *run, const struct profile *profile, struct engine *engine, const char *tool,
                           const char *json);
bool tooling_has(struct str text, const char *part);
