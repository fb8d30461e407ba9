/* bm25.h: how well words match a text: the constants of BM25, and the two functions that use them.
 *
 * score = sum over words of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average length)), where tf counts a
 * word in each column by the column's weight. Every engine's full-text search scores by these. */
#pragma once

#include <stdint.h>

/* Low k1 and b suit short texts: a second mention says little, and so does length. Measured on retrieval sets. */
#define BM25_K1 0.9
#define BM25_B 0.4

/* The columns of the full-text index. Length is counted in the first three: terms only repeats what they hold. */
enum bm25_column { BM25_HEADLINE, BM25_BODY, BM25_EXTRA, BM25_TERMS, BM25_COLUMNS };
enum { BM25_MEASURED = BM25_TERMS };
extern const double bm25_weights[BM25_COLUMNS];

/* Above 0 for any df from 0 to rows: a word in every text still counts a little. */
double bm25_idf(double rows, double df);
/* `length` is relative to the average. */
static inline double bm25_part(double tf, double length) {
  return tf * (BM25_K1 + 1) / (tf + BM25_K1 * (1 - BM25_B + BM25_B * length));
}
