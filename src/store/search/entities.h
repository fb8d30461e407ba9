/* entities.h: search by entities in a query: identifiers, numbers, quoted strings, #tags, @people, names, keys and rare
 * words. */
#pragma once

#include "store/search/lexical.h"

/* Chunks that contain the entities, best first, ties by id. The score is the sum of the inverse document frequencies of
 * the distinct entities in a chunk, or in the labels or key of its memory. Empty for a query without entities. A
 * damaged index is reported as in lexical_search(). */
NODISCARD enum status entity_search(struct store *st, const struct chunk_query *q, struct arena *a,
                                    struct lexical_hits *ret_hits, struct error *err);
