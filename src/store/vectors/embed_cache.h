/* embed_cache.h: cache of computed embedding vectors per team, keyed by text hash, model and dimensions. */
#pragma once

#include "base/id.h"
#include "store/vectors/vectors.h"

enum { EMBED_CACHE_ROWS = 20000 };

/* CACHE_STALE: a hit, and the recorded time of use is old enough to be updated. */
enum embed_cached { CACHE_MISS, CACHE_HIT, CACHE_STALE };
/* ret_vector[model->dims] */
NODISCARD enum status embed_cache_get(struct store *st, const struct vec_model *model, const char hash[HASH_TEXT_SIZE],
                                      int64_t now, int8_t *ret_vector, enum embed_cached *ret_cached,
                                      struct error *err);
/* Works inside any transaction. */
NODISCARD enum status embed_cache_put(struct store *st, const struct vec_model *model, const char hash[HASH_TEXT_SIZE],
                                      const int8_t *vector, int64_t now, struct error *err);
/* Removes the cached vectors of a memory's texts for every model, both as documents and as queries. */
NODISCARD enum status embed_cache_forget(struct txn *txn, struct arena *a, int64_t memory_id, struct error *err);
/* Keeps the EMBED_CACHE_ROWS most recently used rows. */
NODISCARD enum status embed_cache_trim(struct store *st, struct str team, int64_t *ret_dropped, struct error *err);
