/* reply_cache.h: cache of search results. The same query by the same caller within the same minute returns the cached
 * result if no memory has changed since. The read event is recorded in any case.
 *
 * One cache per engine, used under the engine's lock. */
#pragma once

#include "op/op.h"
#include "store/generation.h"

struct reply_cache;

/* Cache key: operation, team, project, arguments, minute. */
struct str reply_cache_key(struct op_call *call);
/* On a hit, fills call->result and records the read. Errors count as a miss. */
bool reply_cache_find(struct op_call *call, struct str key);
/* Stores call->result, computed in this generation of the store; `note` is the detail of the read event. Degraded
 * results are not cached. */
void reply_cache_store(struct op_call *call, struct str key, const struct generation *generation, struct str note);
void reply_cache_free(struct reply_cache **cache);
