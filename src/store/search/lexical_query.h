/* lexical_query.h: the terms of a query, with how rare each is. */
#pragma once

#include "core/rank/bm25.h"
#include "store/sqlite/tokeniser.h"

struct query_term {
  struct str token;   /* as it is indexed; of a phrase, its words with blanks between them */
  struct str surface; /* as it was written */
  double df, idf;
  bool phrase;
};
struct query_terms {
  struct query_term *v;
  size_t n, cap;
  double rows;  /* of the store */
  double bound; /* sum of the idf of all words, also of those that no text holds */
};

enum {
  QUERY_BYTES = 32 << 10, /* of a longer query the rest is not looked at */
  QUERY_CONSIDERED = 128, /* distinct terms of a query whose rarity is looked up */
  QUERY_TERMS = 64,       /* terms that are searched: the rarest */
};

/* What an engine gives: words as it indexes them, and how many rows hold them. */
struct term_source {
  void *arg;
  enum status (*tokenise)(void *arg, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                          struct error *err);
  /* Fills in `df` of every term, 0 where there are none, and how many rows there are. */
  enum status (*count)(void *arg, struct query_term *terms, size_t n, struct arena *a, double *ret_rows,
                       struct error *err);
};

/* The distinct terms that occur in the store, rarest first. Stop words are among them only when there is nothing else
 * in the query. */
NODISCARD enum status query_terms(const struct term_source *source, struct str query, struct arena *a,
                                  struct query_terms *ret_terms, struct error *err);
