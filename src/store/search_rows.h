/* search_rows.h: the rows that a search needs besides full text: nearest chunks under the caller's filters, snippets.
 */
#ifndef CAIRN_STORE_SEARCH_ROWS_H
#define CAIRN_STORE_SEARCH_ROWS_H

#include "store/memories.h"
#include "store/vectors.h"

NODISCARD enum status search_near(struct store *st, const struct scope *scope, const struct filter *f,
                                  const struct vec_model *model, const int8_t *vector, size_t k, struct arena *a,
                                  struct vec_hits *ret_hits, struct error *err);
NODISCARD enum status chunk_snippet(struct store *st, struct str team, int64_t chunk_id, struct arena *a,
                                    struct str *ret_text, struct error *err);

#endif
