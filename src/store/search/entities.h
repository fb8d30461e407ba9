/* entities.h: search by the things that a query names: identifiers, numbers, quoted strings, #tags, @people, names,
 * keys, and words that hardly any text holds. */
#pragma once

#include "store/search/lexical.h"

/* The chunks that hold them, best first, equal ones by id; the score is the sum of the inverse document frequencies of
 * the distinct things that a chunk (or its memory, by a label or its key) holds. Empty for a query that names nothing:
 * an ordinary question is not disturbed. A damaged index: as of lexical_search(). `terms` are those of the query, when
 * lexical_search() has found them already; NULL: they are found out here. */
NODISCARD enum status entity_search(struct store *st, const struct scope *scope, const struct filter *f,
                                    struct str query, const struct query_terms *terms, int64_t limit, struct arena *a,
                                    struct lexical_hits *ret_hits, struct error *err);
