/* housekeeping.h: work for a server that nobody calls: the daily maintenance, and embedding what waits. */
#pragma once

#include "op/op.h"
#include "op/run/pool.h"

struct housekeeping;

/* Nothing happens before the first call is over. NULL when there is no memory; all functions take that. */
struct housekeeping *housekeeping_new(struct pool *pool, const struct caller *caller);
/* A call begins, and is over. What runs in between stops at its next safe point. */
void housekeeping_busy(struct housekeeping *keeper);
void housekeeping_rest(struct housekeeping *keeper);
void housekeeping_stop(struct housekeeping **keeper);
