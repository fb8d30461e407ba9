/* fuzz_when.c: any query: the time window is ordered and in a plausible range, or there is none; proximity is
 * between 0 and 1. */
#include "base/os/clock.h"
#include "core/rank/when.h"
#include "support/fuzz.h"

static void check_window(struct str query, int64_t now) {
  struct when w;
  if (!when_find(query, now, &w))
    return;
  FUZZ_CHECK(w.from < w.until);
  FUZZ_CHECK(w.from >= days_from_civil(1880, 1, 1) * MS_PER_DAY);
  FUZZ_CHECK(w.until <= days_from_civil(2300, 1, 1) * MS_PER_DAY);
  FUZZ_CHECK(w.slack_ms >= (double)MS_PER_DAY);
  FUZZ_CHECK(when_closeness(&w, w.from) == 1 && when_closeness(&w, w.until - 1) == 1);
  double last = 1;
  for (int i = 0; i < 20; i++) {
    double near = when_closeness(&w, w.until + i * (int64_t)(w.slack_ms / 16));
    FUZZ_CHECK(near >= 0 && near <= last);
    last = near;
  }
  FUZZ_CHECK(when_closeness(&w, INT64_MIN) == 0 && when_closeness(&w, INT64_MAX) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str query = {(const char *)data, size};
  check_window(query, 0);
  check_window(query, 1686756600000); /* 2023-06-14 */
  check_window(query, days_from_civil(2024, 2, 29) * MS_PER_DAY);
  check_window(query, days_from_civil(2199, 12, 31) * MS_PER_DAY);
  check_window(query, INT64_MAX);
  return 0;
}
