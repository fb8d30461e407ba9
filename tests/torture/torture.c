/* torture.c: `make torture`: the games of the torture test for TORTURE_SECONDS (300), with another seed each time. */
#include "support/torture.h"

#include <time.h>

#include "support/harness.h"
#include "support/proc.h"

static int64_t number(const char *name, int64_t missing) {
  const char *text = getenv(name);
  int64_t value;
  return text && str_int64(str_from(text), &value) && value > 0 ? value : missing;
}

TEST_TIMEOUT(torture, 86400) {
  uint64_t seed = (uint64_t)number("TORTURE_SEED", (int64_t)time(NULL));
  int seconds = (int)number("TORTURE_SECONDS", 300);
  fprintf(stderr, "TORTURE_SEED=%llu TORTURE_SECONDS=%d\n", (unsigned long long)seed, seconds);
  struct torture t = {.store = path_join(NULL, "torture.db"),
                      .program = CAIRN_BIN,
                      .workers = 8,
                      .seconds = seconds * 8 / 10,
                      .seed = seed};
  test_note("seed %llu", (unsigned long long)seed);
  struct torture_result r = torture_run(&t);
  fprintf(stderr, "%ld acknowledged (%ld by key, %ld claims), %ld processes killed\n", r.acknowledged, r.keys, r.claims,
          r.killed);
  t.store = path_join(NULL, "handles.db");
  t.seconds = seconds / 10;
  torture_handles(&t);
  t.store = path_join(NULL, "lock.db");
  torture_lock(&t);
  t.store = path_join(NULL, "new.db");
  torture_creation(&t, seconds / 5);
  t.store = path_join(NULL, "house.db");
  torture_housekeeping(&t, seconds / 3);
}
