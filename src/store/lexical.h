/* lexical.h: full-text search over chunks. */
#ifndef CAIRN_STORE_LEXICAL_H
#define CAIRN_STORE_LEXICAL_H

#include "store/memories.h"

struct lexical_hit {
  int64_t chunk_id, memory_id;
  double score; /* BM25, higher is better, above 0 */
};
struct lexical_hits {
  struct lexical_hit *v;
  size_t n, cap;
};

/* Any text is a valid query: its words are quoted and joined by OR. No words: no hits. */
NODISCARD enum status lexical_search(struct store *st, const struct scope *scope, const struct filter *f,
                                     struct str query, int64_t limit, struct arena *a, struct lexical_hits *ret_hits,
                                     struct error *err);
/* The full-text expression of a query; empty when it has no words. Exposed for tests. */
struct str lexical_expression(struct arena *a, struct str query);

/* Between the two, in one transaction, the texts of new memories wait and then enter the index together: for many of
 * them that costs half as much as one by one. A search in between does not find them. */
NODISCARD enum status lexical_hold(struct txn *txn, struct error *err);
NODISCARD enum status lexical_release(struct txn *txn, struct error *err);

NODISCARD enum status lexical_check(struct store *st, bool *ret_ok, struct error *err);
NODISCARD enum status lexical_rebuild(struct store *st, struct error *err);
/* Merges the index, so that no deleted word stays in it. */
NODISCARD enum status lexical_optimize(struct store *st, struct error *err);

#endif
