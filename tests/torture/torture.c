/* torture.c: `make torture`: the torture tests for TORTURE_SECONDS (300), with another seed each time. */
#include "support/games.h"

#include <time.h>

#include "support/harness.h"

static int64_t number(const char *name, int64_t missing) {
  const char *text = getenv(name);
  int64_t value;
  return text && str_int64(str_from(text), &value) && value > 0 ? value : missing;
}

TEST(torture, .seconds = 86400) {
  uint64_t seed = (uint64_t)number("TORTURE_SEED", (int64_t)time(NULL));
  int seconds = (int)number("TORTURE_SECONDS", 300);
  fprintf(stderr, "TORTURE_SEED=%llu TORTURE_SECONDS=%d\n", (unsigned long long)seed, seconds);
  struct torture t = game("torture.db", seconds * 8 / 10);
  t.seed = seed;
  game_disturb(&t);
  test_note("seed %llu", (unsigned long long)seed);
  struct torture_result r = torture_run(&t);
  fprintf(stderr,
          "%ld acknowledged (%ld by key, %ld claims), %ld processes killed, %ld disturbances, %ld calls failed\n",
          r.acknowledged, r.keys, r.claims, r.killed, r.disturbed, r.failed);
  t = game("handles.db", seconds / 10);
  t.seed = seed;
  torture_handles(&t);
  t = game("lock.db", 0);
  torture_lock(&t);
  t = game("house.db", 0);
  t.seed = seed;
  torture_housekeeping(&t, seconds / 3);
}

TEST(torture_of_new_stores, .seconds = 86400) {
  struct torture t = game("new.db", 0);
  t.seed = (uint64_t)number("TORTURE_SEED", (int64_t)time(NULL));
  torture_creation(&t, (int)number("TORTURE_SECONDS", 300) / 5, game_new_place());
}
