/* generation.h: version stamp of a store's memories; it changes on writes, not on reads. */
#pragma once

#include "store/tables/events.h"

struct generation {
  int64_t txn;                   /* last transaction */
  int64_t vectors;               /* number of vectors: embedding pending memories is not a transaction */
  int64_t chunks;                /* number of chunks: indexing the rest of a long text is not a transaction either */
  char epoch[EVENTS_EPOCH_SIZE]; /* changes after a restore */
};

NODISCARD enum status store_generation(struct store *st, struct str team, struct generation *ret_generation,
                                       struct error *err);
bool generation_same(const struct generation *a, const struct generation *b);
/* Time of the next expiry after `now`; INT64_MAX if there is none. */
NODISCARD enum status store_next_expiry(struct store *st, struct str team, int64_t now, int64_t *ret_at,
                                        struct error *err);
