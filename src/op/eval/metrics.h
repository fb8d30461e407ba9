/* metrics.h: metrics of retrieval quality: recall, NDCG and MRR of ranked lists, and percentiles.
 *
 * Pure functions. The gain of a document is its score in the judgements; 0 means not relevant. */
#pragma once

#include <stddef.h>

enum { METRIC_DEPTH = 10 }; /* maximum cutoff of all metrics */

enum metric {
  METRIC_RECALL_1,
  METRIC_RECALL_5,
  METRIC_RECALL_10,
  METRIC_RECALL_ALL_5,
  METRIC_RECALL_ALL_10,
  METRIC_RECALL_ANY_5,
  METRIC_NDCG_10,
  METRIC_MRR,
  METRIC_COUNT
};

/* "recall@1", "ndcg@10", "mrr": part of the JSON contract. */
extern const char *const metric_names[METRIC_COUNT];

/* Sums over queries. */
struct metrics {
  double sum[METRIC_COUNT];
  size_t queries;
};

/* Adds one query: the gains of its results in ranked order, and the gains of all relevant documents (at least one) in
 * any order. */
void metrics_add(struct metrics *m, const double *ranked, size_t ranked_count, const double *relevant,
                 size_t relevant_count);
/* Mean over the queries; 0 if there are none. */
double metrics_mean(const struct metrics *m, enum metric which);

/* Nearest-rank percentile; share is 0 to 1. Sorts the values; 0 if there are none. */
double percentile(double *values, size_t n, double share);
