/* profiles.c: table of profiles; the first is the default. */
#include "mcp/profiles/profiles.h"

const struct profile *const profiles[] = {
    &profile_default,   &profile_full,  &profile_readonly, &profile_openbrain, &profile_openbrain2,

    &profile_anthropic, &profile_graph, &profile_mememory, &profile_openhive,  NULL,
};
