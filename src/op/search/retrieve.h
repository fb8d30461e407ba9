/* retrieve.h: finds and ranks what answers a query: three lists of candidates, fused, lent to neighbours, weighed by
 * what each memory brings, made diverse. Knows nothing of replies. */
#pragma once

#include "core/rank/rank.h"
#include "core/rank/when.h"
#include "op/embedding/embedding.h"

struct query {
  struct op_call *call;
  struct str text;
  struct scope scope;
  struct filter filter;
  int64_t limit;
  struct fusion fusion; /* which lists are asked, and how they count */
  double half_life_days;
  struct embeddings set;
  struct when when; /* a time that the query names */
  bool timed;
  bool by_vectors;                 /* vectors took part */
  bool damaged;                    /* the full-text index is broken: vectors alone answered */
  double farthest;                 /* similarity that nothing exceeds but what the vectors found */
  const struct query_terms *terms; /* of the query; NULL: not found out */
  const double *types;             /* factors of the types, by words that ask for one */
};

struct hit {
  int64_t chunk_id; /* the best one */
  struct match match;
  double raw[LIST_COUNT];     /* BM25, cosine, the named things' weight */
  double fusion, rate, score; /* what the lists say, what the memory brings, both */
  struct memory m;
  struct rank_parts parts;
  struct str snippet;
  struct word_set words; /* of the snippet */
  struct str skill;      /* the skill by whose keyword it surfaced */
};
struct hits {
  struct hit *v;
  size_t n, cap;
};

/* Settings that ranking needs, and what the query's words say about time. */
NODISCARD enum status retrieve_prepare(struct query *q);
/* The best `limit` memories in these states (an SQL list), best first. */
NODISCARD enum status retrieve(struct query *q, const char *states, int64_t limit, struct hits *ret_hits);
