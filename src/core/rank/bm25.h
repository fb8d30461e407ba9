/* bm25.h: BM25 constants and functions, used by the full-text search of every engine.
 *
 * score = sum over words of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average length)), where tf is the
 * sum over columns of the word's count times the column's weight. */
#pragma once

#include <stdint.h>

/* Low k1 and b suit short texts, where repetition and length matter little. Tuned on retrieval sets. */
#define BM25_K1 0.9
#define BM25_B 0.4

/* Columns of the full-text index. Length counts only the first three: terms is derived from them. */
enum bm25_column { BM25_HEADLINE, BM25_BODY, BM25_EXTRA, BM25_TERMS, BM25_COLUMNS };
enum { BM25_MEASURED = BM25_TERMS };
extern const double bm25_weights[BM25_COLUMNS];

/* Positive for any df from 0 to rows: a word in every text still counts a little. */
double bm25_idf(double rows, double df);
/* `length` is relative to the average. */
static inline double bm25_part(double tf, double length) {
  return tf * (BM25_K1 + 1) / (tf + BM25_K1 * (1 - BM25_B + BM25_B * length));
}
