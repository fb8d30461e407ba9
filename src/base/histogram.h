/* histogram.h: histogram in constant memory, for quantiles of durations.
 *
 * Buckets are log-linear: values below 64 have one bucket each; above, each power of two is split into 32 buckets of
 * equal width. A quantile is the middle of its bucket, so its error is at most 1/64 of the value (1.6 %); below 64 it
 * is exact. The range is 0 to 2^40 - 1: twelve days in microseconds. */
#pragma once

#include <stdint.h>

enum {
  HISTOGRAM_SUB_BITS = 5,
  HISTOGRAM_TOP_BITS = 40,
  HISTOGRAM_BUCKETS = (HISTOGRAM_TOP_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS,
};

struct histogram {
  uint64_t n;
  int64_t sum, max;
  uint64_t count[HISTOGRAM_BUCKETS];
};

/* Negative values count as 0. Values above the range go into the last bucket; sum and max stay exact. */
void histogram_add(struct histogram *h, int64_t value);
/* Value of rank ceil(n * permille / 1000) among the n sorted values; 0 if empty. */
int64_t histogram_quantile(const struct histogram *h, int permille);
