/* lifecycle.h: queries for maintenance: memories due to expire, fade, be archived or go stale; candidates for pruning;
 * chunks without vectors. */
#pragma once

#include "store/memories/memories.h"

/* Up to `limit` memories due for a step. Only active ones, so a step never overwrites another state. `before` is the
 * time now for LIFE_EXPIRE, and the time of last use for the others. */
enum lifecycle_step { LIFE_EXPIRE, LIFE_FADE, LIFE_ARCHIVE, LIFE_STALE };
NODISCARD enum status lifecycle_due(struct store *st, struct str team, enum lifecycle_step step, int64_t before,
                                    int64_t limit, struct arena *a, struct memories *ret_list, struct error *err);

/* Prunable memories: not rules, only delivered on demand, used at most max_access times, unchanged and unused since
 * `before`. ret_total counts all, ret_list has at most `limit`. */
NODISCARD enum status prune_candidates(struct store *st, const struct scope *scope, int64_t before, int64_t max_access,
                                       int64_t limit, struct arena *a, struct memories *ret_list, int64_t *ret_total,
                                       struct error *err);

/* Up to `limit` chunks with ids greater than `after` that have no vector of this model, with the text to embed. */
NODISCARD enum status chunks_pending(struct store *st, struct str team, struct str model, int64_t after, int64_t limit,
                                     struct arena *a, struct chunk_rows *ret_rows, struct error *err);
