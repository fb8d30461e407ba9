/* profiles.h: the profiles by name, for profiles.c. */
#pragma once

#include "mcp/tools/tool.h"

extern const struct profile profile_default, profile_full, profile_readonly;

extern const struct profile profile_anthropic;
extern const struct profile profile_graph;
extern const struct profile profile_mememory;
extern const struct profile profile_openhive;
extern const struct profile profile_openbrain;
extern const struct profile profile_openbrain2;
