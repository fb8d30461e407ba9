/* complete.h: what may stand in an argument that somebody is typing. */
#pragma once

#include "op/op.h"

/* For doors that complete, with op_run(); not a part of the table. Whoever may list memories may have their ids
 * completed: {"prefix": "12", "limit": 100} gives {"ids": [...], "more": bool}, the shortest first, and for "" the
 * newest. */
extern const struct op complete_ids;
