/* fts.h: the full-text index as lexical search sees it: tokens, frequencies, scored rows. An engine's own business, as
 * store/sqlite/fts.c does it; nothing outside this folder includes it.
 *
 * A failure of these that is not one of the whole database means that the index is damaged: fts_is_damage(). */
#pragma once

#include "store/db/db.h"
#include "store/search/lexical_query.h"

NODISCARD enum status fts_tokenise(struct db *db, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                                   struct error *err);

/* How many rows the index has, and their average length in words (1 when it is empty). */
struct fts_totals {
  double rows, average;
  uint64_t version; /* another one after each change of the index */
};
NODISCARD enum status fts_totals(struct db *db, struct fts_totals *ret_totals, struct error *err);

/* A string of an expression, whatever it holds. */
void fts_quote(struct buf *b, struct str text);

/* In how many rows the expression matches: exact up to FTS_EXACT, and in a store of some thousand rows; else estimated
 * from how many there are here and there. What was found for a version of the index is remembered. */
enum { FTS_EXACT = 64 };
NODISCARD enum status fts_frequency(struct db *db, const struct fts_totals *totals, struct str expression,
                                    double *ret_rows, struct error *err);

/* The terms of a query, counted in the index. */
struct fts_counted {
  struct db *db;
  const struct fts_totals *totals;
};
struct term_source fts_source(struct fts_counted *counted);
NODISCARD enum status fts_terms(struct db *db, struct str query, const struct fts_totals *totals, struct arena *a,
                                struct query_terms *ret_terms, struct error *err);

enum { FTS_WEIGHED = 24 };
struct fts_row {
  int64_t chunk_id;
  double score;
  uint8_t tf[FTS_WEIGHED];
};
struct fts_rows {
  struct fts_row *v;
  size_t n, cap;
};
struct fts_scan {
  struct str expression;
  size_t first, weighed; /* the phrases of the expression that score: at most FTS_WEIGHED, one behind the other */
  const double *idf;     /* of each of these */
  struct fts_totals totals;
  size_t most;    /* look at no more than so many rows, the newest; 0: at all of them */
  size_t keep;    /* of these keep so many, by what they can score at most */
  size_t want;    /* the best so many are exact, */
  size_t measure; /* unless that takes the lengths of more rows than this */
};
struct fts_found {
  struct fts_row *v; /* those that are measured, best first, equal scores by id; then the others, in no order */
  size_t n;
  size_t measured; /* of the rows behind these the length is not known, they count as of average length */
  size_t seen;     /* how many rows matched */
};
NODISCARD enum status fts_search(struct db *db, const struct fts_scan *scan, struct arena *a,
                                 struct fts_found *ret_found, struct error *err);
/* Puts the rows that are not measured in order, too: seldom anybody needs so many. */
void fts_sort_rest(struct fts_found *found);
/* Gives a row its exact score. */
NODISCARD enum status fts_measure(struct db *db, const struct fts_scan *scan, struct fts_row *row, struct error *err);

/* Fails when the index does not hold the words of the oldest text: some damage shows only by what is not found. */
NODISCARD enum status fts_probe(struct db *db, struct arena *a, struct error *err);

/* Makes an index empty that is too damaged to be opened. */
NODISCARD enum status fts_reset(struct db *db, struct error *err);

bool fts_is_damage(enum status s);
