/* lifecycle.h: what time does to memories: expiry, fading, archiving, staleness. Each touches active memories alone,
 * so that it can never undo another reason's state. */
#pragma once

#include "store/memories/memories.h"

/* Active memories that a step would retire at `now`, at most `limit`. */
enum lifecycle_step { LIFE_EXPIRE, LIFE_FADE, LIFE_ARCHIVE, LIFE_STALE };
NODISCARD enum status lifecycle_due(struct store *st, struct str team, enum lifecycle_step step, int64_t before,
                                    int64_t limit, struct arena *a, struct memories *ret_list, struct error *err);

/* Memories that prune may take: not rules, not delivered by themselves, unused, untouched since `before`. */
NODISCARD enum status prune_candidates(struct store *st, const struct scope *scope, int64_t before, int64_t max_access,
                                       int64_t limit, struct arena *a, struct memories *ret_list, int64_t *ret_total,
                                       struct error *err);

/* Chunks of the team behind the id `after` that have no vector of this model, with the text to embed. */
NODISCARD enum status chunks_pending(struct store *st, struct str team, struct str model, int64_t after, int64_t limit,
                                     struct arena *a, struct chunk_rows *ret_rows, struct error *err);
