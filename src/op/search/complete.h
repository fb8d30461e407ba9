/* complete.h: completion of memory ids, for shells and MCP clients. */
#pragma once

#include "op/op.h"

/* Run it with op_run(); it is not in the table of operations, and anyone who may list memories may call it.
 * {"prefix": "12", "limit": 100} gives {"ids": [...], "more": bool}, shortest ids first; for the prefix "", newest
 * first. */
extern const struct op complete_ids;
