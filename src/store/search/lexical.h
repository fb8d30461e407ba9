/* lexical.h: full-text search over chunks. */
#pragma once

#include "store/memories/memories.h"

struct query_terms; /* lexical_query.h */

struct lexical_hit {
  int64_t chunk_id, memory_id;
  double score;                  /* BM25 as of core/rank/bm25.h, higher is better, above 0 */
  const struct memory *features; /* as of search_features(); NULL: not looked at */
};
struct lexical_hits {
  struct lexical_hit *v;
  size_t n, cap;
  double bound; /* what a text could score at most that holds every word of the query; above 0 where there are hits */
  const struct query_terms *terms; /* of the query, for entity_search(); NULL: not found out */
  bool damaged; /* the index is broken: there are no hits, and 'doctor --repair' rebuilds it; other searches go on */
};

/* The best chunks for a query, best first, equal ones by id; a memory may be there with several. Any text is a valid
 * query; no words: no hits. A damaged index is no failure: status OK, ret_hits->damaged. */
NODISCARD enum status lexical_search(struct store *st, const struct scope *scope, const struct filter *f,
                                     struct str query, int64_t limit, struct arena *a, struct lexical_hits *ret_hits,
                                     struct error *err);

/* The same without any pruning, at any cost: what the above is measured by. */
NODISCARD enum status lexical_search_all(struct store *st, const struct scope *scope, const struct filter *f,
                                         struct str query, int64_t limit, struct arena *a,
                                         struct lexical_hits *ret_hits, struct error *err);

/* One piece of a memory's text, as it is searched. */
struct chunk_text {
  int64_t id; /* of one that is stored already; see lexical_fill() */
  struct str team;
  int64_t memory_id, seq;
  struct str hash, headline, body;
  struct str extra; /* key, tags, annotations */
  struct str terms; /* what the tokeniser does not see in the text: core/text/terms.h */
};
/* Stores it with its words. */
NODISCARD enum status lexical_add(struct txn *txn, struct arena *a, const struct chunk_text *text, int64_t *ret_id,
                                  struct error *err);
/* For chunks that were stored as rows, all at once: their words, where the engine does not make them by itself. */
NODISCARD enum status lexical_fill(struct txn *txn, struct arena *a, const struct chunk_text *texts, size_t n,
                                   struct error *err);
/* Gives the first piece of a memory this `extra` and these `terms`; headline and body are those that it has. */
NODISCARD enum status lexical_change(struct txn *txn, struct arena *a, const struct chunk_text *text,
                                     struct error *err);

/* Between the two, in one transaction, the texts of new memories wait and then enter the index together: for many of
 * them that costs half as much as one by one. A search in between does not find them. */
NODISCARD enum status lexical_hold(struct txn *txn, struct error *err);
NODISCARD enum status lexical_release(struct txn *txn, struct error *err);

NODISCARD enum status lexical_check(struct store *st, bool *ret_ok, struct error *err);
NODISCARD enum status lexical_rebuild(struct store *st, struct error *err);
/* Merges the index, so that no deleted word stays in it. */
NODISCARD enum status lexical_optimize(struct store *st, struct error *err);
