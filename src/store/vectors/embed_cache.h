/* embed_cache.h: vectors that were costly to compute, by the text's hash, the model and its dimensions; each team has
 * its own. */
#pragma once

#include "base/id.h"
#include "store/vectors/vectors.h"

enum { EMBED_CACHE_ROWS = 20000 };

/* ret_vector[model->dims]; ret_stale: it was last used so long ago that the use is worth a note. */
NODISCARD enum status embed_cache_get(struct store *st, const struct vec_model *model, const char hash[HASH_TEXT_SIZE],
                                      int64_t now, int8_t *ret_vector, bool *ret_found, bool *ret_stale,
                                      struct error *err);
/* Inside a transaction of any kind. */
NODISCARD enum status embed_cache_put(struct store *st, const struct vec_model *model, const char hash[HASH_TEXT_SIZE],
                                      const int8_t *vector, int64_t now, struct error *err);
/* Removes the vectors of a memory's texts, by every model, as texts and as questions. */
NODISCARD enum status embed_cache_forget(struct txn *txn, struct arena *a, int64_t memory_id, struct error *err);
/* Keeps the EMBED_CACHE_ROWS that were used last. */
NODISCARD enum status embed_cache_trim(struct store *st, struct str team, int64_t *ret_dropped, struct error *err);
