/* fts.h: full-text index as used by lexical search: tokens, frequencies, scored rows. Private to the SQLite engine.
 *
 * A failure that does not concern the whole database means that the index is damaged: fts_is_damage(). */
#pragma once

#include "store/db/db.h"
#include "store/search/lexical.h"
#include "store/search/lexical_query.h"

NODISCARD enum status fts_tokenise(struct db *db, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                                   struct error *err);

/* Number of rows in the index, and their average length in words (1 if it is empty). */
struct fts_totals {
  double rows, average;
  uint64_t version; /* changes with every write to the index */
};
NODISCARD enum status fts_totals(struct db *db, struct fts_totals *ret_totals, struct error *err);

/* Quotes any text as a string of an expression. */
void fts_quote(struct buf *b, struct str text);

/* Number of rows that match the expression: exact up to FTS_EXACT and in stores of a few thousand rows, otherwise
 * estimated from samples. Results are cached per version of the index. */
enum { FTS_EXACT = 64 };
NODISCARD enum status fts_frequency(struct db *db, const struct fts_totals *totals, struct str expression,
                                    double *ret_rows, struct error *err);

/* Query terms counted in the index. */
struct fts_counted {
  struct db *db;
  const struct fts_totals *totals;
};
struct term_source fts_source(struct fts_counted *counted);
NODISCARD enum status fts_terms(struct db *db, const struct chunk_query *query, const struct fts_totals *totals,
                                struct arena *a, struct query_terms *ret_terms, struct error *err);

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
  size_t first, weighed; /* phrases of the expression that score: at most FTS_WEIGHED, contiguous */
  const double *idf;     /* idf of each of these */
  struct fts_totals totals;
  size_t most;    /* maximum number of rows to scan, newest first; 0: all */
  size_t keep;    /* number of these to keep, by upper bound */
  size_t want;    /* number of best rows with exact scores, */
  size_t measure; /* unless that needs the lengths of more rows than this */
};
struct fts_found {
  struct fts_row *v; /* measured rows, best first, ties by id; then the others, unordered */
  size_t n;
  size_t measured; /* rows after these have unknown length and are scored with the average length */
  size_t seen;     /* number of matching rows */
};
NODISCARD enum status fts_search(struct db *db, const struct fts_scan *scan, struct arena *a,
                                 struct fts_found *ret_found, struct error *err);
/* Also sorts the rows that were not measured; rarely needed. */
void fts_sort_rest(struct fts_found *found);
/* Computes the exact score of a row. */
NODISCARD enum status fts_measure(struct db *db, const struct fts_scan *scan, struct fts_row *row, struct error *err);

/* Fails if the index does not contain the words of the oldest text: some damage shows only as missing results. */
NODISCARD enum status fts_probe(struct db *db, struct arena *a, struct error *err);

/* Resets an index that is too damaged to be opened; it is then empty. */
NODISCARD enum status fts_reset(struct db *db, struct error *err);

bool fts_is_damage(enum status s);
