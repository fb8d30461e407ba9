/* retrieve.h: retrieval: candidates from three indexes (keywords, vectors, entities), fused, boosted by neighbouring
 * transcript entries, weighted by the memory's own factors, and diversified. */
#pragma once

#include "core/rank/rank.h"
#include "core/rank/when.h"
#include "op/embedding/embedding.h"

struct query {
  struct op_call *call;
  struct str text;
  struct str before;       /* with completions: the text without its last word */
  struct strs completions; /* words that begin with the last word; empty unless the caller asked for them */
  struct scope scope;
  struct filter filter;
  int64_t limit;
  struct fusion fusion; /* which indexes to search, and their weights */
  double half_life_days;
  struct embeddings set;
  struct when when; /* time named in the query; valid if `timed` */
  bool timed;
  bool by_vectors;                 /* the vector index was searched */
  bool damaged;                    /* the full-text index is corrupt: only vectors were searched */
  double farthest;                 /* upper bound for the similarity of chunks that the vector index did not return */
  const struct query_terms *terms; /* of the query; NULL if there was no keyword search */
  const double *types;             /* factor of each type, from words of the query that name a type */
};

struct hit {
  int64_t chunk_id; /* best chunk */
  struct match match;
  double raw[LIST_COUNT];     /* BM25, cosine, weight of the entities */
  double fusion, rate, score; /* score of the indexes, product of the memory's factors, product of both */
  struct memory m;
  struct rank_parts parts;
  struct str snippet;
  struct word_set words; /* of the snippet */
  struct str skill;      /* name of the skill whose keyword matched; absent for other hits */
};
struct hits {
  struct hit *v;
  size_t n, cap;
};

/* Sets which indexes are searched: "hybrid", "keyword" or "vector"; empty: by the setting. */
NODISCARD enum status retrieve_set_mode(struct query *q, struct str mode);
/* Loads the settings for ranking and finds times and types named in the query. */
NODISCARD enum status retrieve_prepare(struct query *q);
/* The command that runs this search, for advice. The query is shortened, and characters that need quoting are blanks.
 */
const char *search_command(struct arena *a, struct str query);
/* The best `limit` memories in these states (an SQL list), best first. */
NODISCARD enum status retrieve(struct query *q, const char *states, int64_t limit, struct hits *ret_hits);
#define RELEVANT_SCORE 0.2 /* of a memory that is about the query, in contrast to one that shares a word with it */
/* Number of faded memories among the best `limit` that score more. Replies count them, as they show only others. */
NODISCARD enum status retrieve_faded(struct query *q, int64_t limit, double score, int64_t *ret_n);
#define LIST_FADED "cairn list --state faded" /* the command that shows them */
/* Adds both to the result, if there are any. */
void put_faded(struct op_call *call, int64_t n);
