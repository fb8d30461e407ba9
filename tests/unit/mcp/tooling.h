/* tooling.h: store and caller for tests of tools. */
#pragma once

#include "mcp/tools/tool.h"

extern struct arena tooling_arena; /* lives as long as the test */
extern struct error tooling_error;
extern struct str tooling_trust;   /* of the caller; "user" by default */
extern struct str tooling_project; /* of the caller; none by default */

/* A new store with hashed features as vectors. */
struct engine *tooling_engine(void);
/* Calls a tool; the test may inspect the run afterwards. */
enum status tooling_call(struct tool_run *run, const struct profile *profile, struct engine *engine, const char *tool,
                         const char *json);
/* The same for a call that must succeed. */
yyjson_mut_val *tooling_ok(struct tool_run *run, const struct profile *profile, struct engine *engine, const char *tool,
                           const char *json);
bool tooling_has(struct str text, const char *part);
