/* metrics.c: recall, NDCG, MRR and percentiles. */
#include "op/eval/metrics.h"

#include <assert.h>
#include <stdlib.h>

const char *const metric_names[METRIC_COUNT] = {[METRIC_RECALL_1] = "recall@1",
                                                [METRIC_RECALL_5] = "recall@5",
                                                [METRIC_RECALL_10] = "recall@10",
                                                [METRIC_RECALL_ALL_5] = "recall_all@5",
                                                [METRIC_RECALL_ALL_10] = "recall_all@10",
                                                [METRIC_RECALL_ANY_5] = "recall_any@5",
                                                [METRIC_NDCG_10] = "ndcg@10",
                                                [METRIC_MRR] = "mrr"};

/* 1 / log2(rank + 1) as constants: log2() may differ in its last bit between machines. */
static const double discount[METRIC_DEPTH] = {1.0,
                                              0.63092975357145743710,
                                              0.5,
                                              0.43067655807339305067,
                                              0.38685280723454158688,
                                              0.35620718710802217651,
                                              0.33333333333333333333,
                                              0.31546487678572871855,
                                              0.30102999566398119521,
                                              0.28906482631788785927};

static size_t found_within(const double *ranked, size_t n, size_t depth) {
  size_t found = 0;
  for (size_t i = 0; i < n && i < depth; i++)
    found += ranked[i] > 0;
  return found;
}

static double dcg(const double *gains, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n && i < METRIC_DEPTH; i++)
    sum += gains[i] > 0 ? gains[i] * discount[i] : 0;
  return sum;
}

/* DCG of the best possible list: the largest gains in descending order. */
static double ideal_dcg(const double *relevant, size_t n) {
  double best[METRIC_DEPTH] = {0};
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    size_t at = kept < METRIC_DEPTH ? kept : METRIC_DEPTH;
    while (at > 0 && best[at - 1] < relevant[i]) {
      if (at < METRIC_DEPTH)
        best[at] = best[at - 1];
      at--;
    }
    if (at < METRIC_DEPTH)
      best[at] = relevant[i];
    kept += kept < METRIC_DEPTH;
  }
  return dcg(best, kept);
}

static double reciprocal_rank(const double *ranked, size_t n) {
  for (size_t i = 0; i < n && i < METRIC_DEPTH; i++)
    if (ranked[i] > 0)
      return 1 / (double)(i + 1);
  return 0;
}

void metrics_add(struct metrics *m, const double *ranked, size_t ranked_count, const double *relevant,
                 size_t relevant_count) {
  double all = (double)relevant_count, ideal = ideal_dcg(relevant, relevant_count);
  size_t at1 = found_within(ranked, ranked_count, 1), at5 = found_within(ranked, ranked_count, 5);
  size_t at10 = found_within(ranked, ranked_count, 10);
  m->queries++;
  if (relevant_count == 0)
    return;
  assert(at10 <= relevant_count);
  m->sum[METRIC_RECALL_1] += (double)at1 / all;
  m->sum[METRIC_RECALL_5] += (double)at5 / all;
  m->sum[METRIC_RECALL_10] += (double)at10 / all;
  m->sum[METRIC_RECALL_ALL_5] += at5 == relevant_count;
  m->sum[METRIC_RECALL_ALL_10] += at10 == relevant_count;
  m->sum[METRIC_RECALL_ANY_5] += at5 > 0;
  m->sum[METRIC_NDCG_10] += ideal > 0 ? dcg(ranked, ranked_count) / ideal : 0;
  m->sum[METRIC_MRR] += reciprocal_rank(ranked, ranked_count);
}

double metrics_mean(const struct metrics *m, enum metric which) {
  assert(which < METRIC_COUNT);
  return m->queries ? m->sum[which] / (double)m->queries : 0;
}

static int by_value(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

double percentile(double *values, size_t n, double share) {
  assert(share >= 0 && share <= 1);
  if (n == 0)
    return 0;
  qsort(values, n, sizeof(*values), by_value);
  size_t at = 0; /* nearest rank: ceil(share * n), counted from 1 */
  while (at + 1 < n && (double)(at + 1) < share * (double)n)
    at++;
  return values[at];
}
