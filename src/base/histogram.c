/* histogram.c: log-linear buckets and their quantiles. */
#include "base/histogram.h"

#include <assert.h>

enum { SUB = 1 << HISTOGRAM_SUB_BITS };

/* Values below 2 * SUB are their own bucket. Larger ones are shifted right until they lie in [SUB, 2 * SUB): the shift
 * selects the power of two, the shifted value the bucket within it. */
static int bucket_of(int64_t value) {
  uint64_t v = value < 0 ? 0 : (uint64_t)value, top = (UINT64_C(1) << HISTOGRAM_TOP_BITS) - 1;
  if (v > top)
    v = top;
  if (v < 2 * SUB)
    return (int)v;
  int shift = 63 - __builtin_clzll(v) - HISTOGRAM_SUB_BITS;
  int bucket = shift * SUB + (int)(v >> shift);
  assert(bucket >= 2 * SUB && bucket < HISTOGRAM_BUCKETS);
  return bucket;
}

static int64_t bucket_middle(int bucket) {
  assert(bucket >= 0 && bucket < HISTOGRAM_BUCKETS);
  if (bucket < 2 * SUB)
    return bucket;
  int shift = bucket / SUB - 1;
  int64_t low = (int64_t)(bucket % SUB + SUB) << shift;
  return low + ((INT64_C(1) << shift) >> 1);
}

void histogram_add(struct histogram *h, int64_t value) {
  h->count[bucket_of(value)]++;
  h->n++;
  h->sum += value > 0 ? value : 0;
  if (value > h->max)
    h->max = value;
}

int64_t histogram_quantile(const struct histogram *h, int permille) {
  assert(permille >= 0 && permille <= 1000);
  uint64_t rank = (h->n * (uint64_t)permille + 999) / 1000, seen = 0;
  if (h->n == 0)
    return 0;
  for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
    seen += h->count[i];
    if (seen >= rank && seen > 0)
      return bucket_middle(i) < h->max ? bucket_middle(i) : h->max;
  }
  return h->max;
}
