/* lexical_query.h: terms of a query with their frequencies. */
#pragma once

#include "core/rank/bm25.h"
#include "store/sqlite/tokeniser.h"

struct query_term {
  struct str token;   /* as indexed; the words of a phrase are separated by spaces */
  struct str surface; /* as written in the query */
  double df, idf;
  bool phrase;
  bool alternative; /* one of several words for the same thing */
};
struct query_terms {
  struct query_term *v;
  size_t n, cap;
  double rows;  /* rows in the store */
  double bound; /* sum of the idf of all words, including those that no text contains */
};

enum {
  QUERY_BYTES = 32 << 10, /* longer queries are truncated */
  QUERY_CONSIDERED = 128, /* distinct query terms whose frequency is looked up */
  QUERY_TERMS = 64,       /* terms searched: the rarest */
};

/* Engine callbacks: tokens as indexed, and the number of rows that contain them. */
struct term_source {
  void *arg;
  enum status (*tokenise)(void *arg, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                          struct error *err);
  /* Sets `df` of every term (0 if unknown) and the number of rows. */
  enum status (*count)(void *arg, struct query_term *terms, size_t n, struct arena *a, double *ret_rows,
                       struct error *err);
};

/* Distinct terms that occur in the store, rarest first. Stop words are included only if the query has nothing else.
 * `alternatives` (may be NULL) are words of which a text should have one. */
NODISCARD enum status query_terms(const struct term_source *source, struct str query, const struct strs *alternatives,
                                  struct arena *a, struct query_terms *ret_terms, struct error *err);
