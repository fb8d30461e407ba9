/* generation.h: what changes when the memories of a store do, and stays when they are only read. */
#pragma once

#include "store/tables/events.h"

struct generation {
  int64_t txn;                   /* the last transaction */
  int64_t vectors;               /* how many there are: embedding what waits is no transaction */
  char epoch[EVENTS_EPOCH_SIZE]; /* another one after a restore */
};

NODISCARD enum status store_generation(struct store *st, struct str team, struct generation *ret_generation,
                                       struct error *err);
bool generation_same(const struct generation *a, const struct generation *b);
/* When the next memory expires, after `now`; INT64_MAX: none does. */
NODISCARD enum status store_next_expiry(struct store *st, struct str team, int64_t now, int64_t *ret_at,
                                        struct error *err);
