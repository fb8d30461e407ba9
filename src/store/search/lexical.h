/* lexical.h: full-text search over chunks. */
#pragma once

#include "store/memories/memories.h"

struct query_terms; /* lexical_query.h */

struct lexical_hit {
  int64_t chunk_id, memory_id;
  double score;                  /* BM25 (core/rank/bm25.h), above 0; higher is better */
  const struct memory *features; /* see search_features(); NULL if not read */
};
struct lexical_hits {
  struct lexical_hit *v;
  size_t n, cap;
  double bound;                    /* maximum score of a text with every query word; above 0 if there are hits */
  const struct query_terms *terms; /* terms of the query for entity_search(); NULL if unknown */
  bool
      damaged; /* the index is broken and there are no hits; other searches still work, 'doctor --repair' rebuilds it */
};

/* A search for chunks by text. */
struct chunk_query {
  const struct scope *scope;
  const struct filter *filter;
  struct str text;
  size_t limit;                    /* maximum number of hits */
  const struct query_terms *terms; /* only for entity_search(): terms that lexical_search() found; NULL if unknown */
  const struct strs
      *completions; /* only for lexical_search(): words of which one is wanted besides the text; or NULL */
};

/* Best chunks for a query, best first, ties by id. A memory may occur with several chunks. Any text is a valid query;
 * without words there are no hits. A damaged index is not an error: returns OK with ret_hits->damaged. */
NODISCARD enum status lexical_search(struct store *st, const struct chunk_query *q, struct arena *a,
                                     struct lexical_hits *ret_hits, struct error *err);

/* Same without pruning, at any cost: the reference for lexical_search(). */
NODISCARD enum status lexical_search_all(struct store *st, const struct chunk_query *q, struct arena *a,
                                         struct lexical_hits *ret_hits, struct error *err);

/* One chunk of a memory's text, as it is indexed. */
struct chunk_text {
  int64_t id; /* set if already stored; see lexical_fill() */
  struct str team;
  int64_t memory_id, seq;
  struct str hash, headline, body;
  struct str extra; /* key, tags, annotations */
  struct str terms; /* derived terms that the tokeniser does not produce: core/text/terms.h */
};
/* Stores the chunk and indexes it. */
NODISCARD enum status lexical_add(struct txn *txn, struct arena *a, const struct chunk_text *text, int64_t *ret_id,
                                  struct error *err);
/* Indexes chunks that were stored as rows, in bulk, if the engine does not do that by triggers. */
NODISCARD enum status lexical_fill(struct txn *txn, struct arena *a, const struct chunk_text *texts, size_t n,
                                   struct error *err);
/* Sets `extra` and `terms` of a memory's first chunk; `text` has its unchanged headline and body. */
NODISCARD enum status lexical_update(struct txn *txn, struct arena *a, const struct chunk_text *text,
                                     struct error *err);

/* Between hold and release, in one transaction, new texts are collected and then indexed together. For many texts that
 * costs half as much as one by one. Searches do not find them before the release. */
NODISCARD enum status lexical_hold(struct txn *txn, struct error *err);
NODISCARD enum status lexical_release(struct txn *txn, struct error *err);

NODISCARD enum status lexical_check(struct store *st, bool *ret_ok, struct error *err);
NODISCARD enum status lexical_rebuild(struct store *st, struct error *err);
/* Merges the index, so no deleted words remain in it. */
NODISCARD enum status lexical_optimize(struct store *st, struct error *err);
