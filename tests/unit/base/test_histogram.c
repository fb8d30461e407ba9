/* test_histogram.c: quantiles against exact ones, within the documented error, on typical distributions of durations.
 */
#include "base/histogram.h"

#include <math.h>

#include "support/harness.h"

enum { MANY = 20000 };

static struct histogram h;
static int64_t values[MANY];

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* A fixed sequence; the quality of the numbers does not matter. */
static uint64_t next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

static void check_all(size_t n) {
  static const int permille[] = {1, 10, 250, 500, 900, 950, 990, 999, 1000};
  memset(&h, 0, sizeof(h));
  int64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    histogram_add(&h, values[i]);
    sum += values[i];
  }
  qsort(values, n, sizeof(values[0]), ascending);
  for (size_t i = 0; i < ARRAY_LEN(permille); i++) {
    size_t rank = (size_t)ceil((double)n * permille[i] / 1000.0 - 1e-9);
    int64_t exact = values[rank ? rank - 1 : 0], got = histogram_quantile(&h, permille[i]);
    test_note("%d per mille of %zu values: %lld, exactly %lld", permille[i], n, (long long)got, (long long)exact);
    CHECK(llabs(got - exact) * 64 <= exact);
  }
  CHECK_INT(h.n, n);
  CHECK_INT(h.sum, sum);
  CHECK_INT(h.max, values[n - 1]);
}

TEST(an_empty_histogram_has_no_quantiles) {
  CHECK_INT(histogram_quantile(&h, 500), 0);
  CHECK_INT(histogram_quantile(&h, 990), 0);
}

TEST(one_value_is_every_quantile) {
  for (int64_t v = 0; v < 64; v++) {
    memset(&h, 0, sizeof(h));
    histogram_add(&h, v);
    CHECK_INT(histogram_quantile(&h, 1), v);
    CHECK_INT(histogram_quantile(&h, 500), v);
    CHECK_INT(histogram_quantile(&h, 1000), v);
  }
}

TEST(small_values_are_exact) {
  for (int i = 0; i < 60; i++)
    histogram_add(&h, i + 1); /* 1 to 60 */
  CHECK_INT(histogram_quantile(&h, 500), 30);
  CHECK_INT(histogram_quantile(&h, 950), 57);
  CHECK_INT(histogram_quantile(&h, 990), 60);
}

TEST(quantiles_of_equal_steps) {
  for (int i = 0; i < MANY; i++)
    values[i] = (int64_t)i * 50 + 1;
  check_all(MANY);
}

TEST(quantiles_of_durations_with_a_long_tail) {
  uint64_t state = 7;
  for (int i = 0; i < MANY; i++) {
    double u = ((double)next(&state) + 1) / 2147483649.0;
    values[i] = (int64_t)(800.0 * pow(u, -1.2)); /* from just under a millisecond up to minutes */
  }
  check_all(MANY);
}

TEST(quantiles_of_a_bimodal_distribution) {
  uint64_t state = 3;
  for (int i = 0; i < MANY; i++)
    values[i] = i % 50 ? 900 + (int64_t)(next(&state) % 200) : 5000000 + (int64_t)(next(&state) % 1000000);
  check_all(MANY);
}

TEST(quantiles_of_few_values) {
  uint64_t state = 11;
  for (size_t n = 1; n <= 120; n++) {
    for (size_t i = 0; i < n; i++)
      values[i] = (int64_t)(next(&state) % 3000000);
    check_all(n);
  }
}

TEST(every_power_of_two_and_its_neighbours_stay_within_the_error) {
  for (int bit = 0; bit < HISTOGRAM_TOP_BITS; bit++)
    for (int64_t v = (INT64_C(1) << bit) - 1; v <= (INT64_C(1) << bit) + 1; v++) {
      memset(&h, 0, sizeof(h));
      histogram_add(&h, v);
      histogram_add(&h, INT64_C(1) << 39); /* the maximum is exact and must not help */
      int64_t got = histogram_quantile(&h, 500);
      test_note("%lld became %lld", (long long)v, (long long)got);
      CHECK(llabs(got - v) * 64 <= v);
    }
}

TEST(values_out_of_range_use_the_first_or_last_bucket) {
  histogram_add(&h, -5);
  CHECK_INT(histogram_quantile(&h, 500), 0);
  CHECK_INT(h.sum, 0);
  histogram_add(&h, INT64_MAX / 4);
  histogram_add(&h, INT64_MAX / 4);
  CHECK_INT(h.max, INT64_MAX / 4);
  CHECK_INT(h.n, 3);
  CHECK(histogram_quantile(&h, 990) >= (INT64_C(1) << 39));
}
