/* histogram.h: how often which value came, in constant memory, for quantiles of durations.
 *
 * Log-linear: values below 64 have a bucket each; above, every doubling is cut into 32 buckets of the same width. A
 * quantile is the middle of the bucket that holds the value of its rank, so it is wrong by at most 1/64 of that value
 * (1.6 %), whatever the distribution; below 64 it is exact. Values from 0 to 2^40 - 1: in microseconds, twelve days. */
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

/* A negative value counts as 0, one beyond the range as its end; sum and max are exact all the same. */
void histogram_add(struct histogram *h, int64_t value);
/* The value of rank ceil(n * permille / 1000), of n values in order; 0 when there is none. */
int64_t histogram_quantile(const struct histogram *h, int permille);
