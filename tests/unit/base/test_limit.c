/* test_limit.c: buckets that refill, lockouts that double, and a table of fixed size. */
#include "base/limit.h"

#include "support/cli.h"

#define SECOND INT64_C(1000000)
#define START (1000 * SECOND)

static struct limits limits;

static int64_t take(const char *who, int64_t now) { return limit_take(&limits, str_from(who), 50, 200, now); }

static bool wrong(const char *who, int64_t now) { return limit_wrong(&limits, str_from(who), now); }

static int64_t locked(const char *who, int64_t now) { return limit_locked(&limits, str_from(who), now); }

TEST(burst_then_rate) {
  limits_init(&limits);
  for (int i = 0; i < 200; i++)
    CHECK_INT(take("a", START), 0);
  CHECK_INT(take("a", START), SECOND / 50);
  CHECK_INT(take("b", START), 0); /* another caller */
  CHECK(take("a", START + SECOND / 50 - 1) > 0);
  CHECK_INT(take("a", START + SECOND / 50), 0);
  int passed = 0;
  for (int64_t at = START + SECOND; at < START + 11 * SECOND; at += 1000)
    passed += take("a", at) == 0;
  CHECK(passed >= 500 && passed <= 550); /* 50 per second for ten seconds, plus the burst */
  for (int i = 0; i < 200; i++)
    CHECK_INT(take("a", START + 1000 * SECOND), 0);
  CHECK(take("a", START + 1000 * SECOND) > 0); /* a bucket holds no more than the burst */
}

TEST(use_is_charged_afterwards) {
  limits_init(&limits);
  CHECK_INT(limit_excess(&limits, STR("a"), 10 * SECOND, START), 0);
  limit_spend(&limits, STR("a"), 10 * SECOND, START);
  CHECK_INT(limit_excess(&limits, STR("a"), 10 * SECOND, START), 0);
  limit_spend(&limits, STR("a"), 3 * SECOND, START);
  CHECK_INT(limit_excess(&limits, STR("a"), 10 * SECOND, START), 3 * SECOND);
  CHECK_INT(limit_excess(&limits, STR("a"), 10 * SECOND, START + 2 * SECOND), SECOND);
  CHECK_INT(limit_excess(&limits, STR("a"), 10 * SECOND, START + 3 * SECOND), 0);
  CHECK_INT(limit_excess(&limits, STR("b"), 10 * SECOND, START), 0);
}

/* Ten wrong attempts, a second apart; true if the tenth, and only the tenth, locks. */
static bool ten_wrong(const char *who, int64_t now) {
  for (int i = 0; i < LIMIT_WRONG - 1; i++)
    CHECK(!wrong(who, now + i * SECOND));
  return wrong(who, now + (LIMIT_WRONG - 1) * SECOND);
}

TEST(lockouts_double) {
  static const int minutes[] = {1, 2, 4, 8, 16, 32, 60, 60};
  limits_init(&limits);
  int64_t now = START;
  for (size_t i = 0; i < ARRAY_LEN(minutes); i++) {
    test_note("lock %zu", i);
    CHECK_INT(locked("a", now), 0);
    CHECK(ten_wrong("a", now));
    now += (LIMIT_WRONG - 1) * SECOND;
    CHECK_INT(locked("a", now), minutes[i] * LIMIT_MINUTE);
    CHECK_INT(locked("b", now), 0);
    now += minutes[i] * LIMIT_MINUTE;
    CHECK_INT(locked("a", now - 1), 1);
  }
  now += LIMIT_HOUR; /* reset */
  CHECK(ten_wrong("a", now));
  CHECK_INT(locked("a", now + (LIMIT_WRONG - 1) * SECOND), LIMIT_MINUTE);
}

TEST(nine_wrong_attempts_do_not_lock) {
  limits_init(&limits);
  for (int minute = 0; minute < 100; minute++)
    for (int i = 0; i < LIMIT_WRONG - 1; i++)
      CHECK(!wrong("a", START + minute * LIMIT_MINUTE + i * SECOND));
  CHECK_INT(locked("a", START + 99 * LIMIT_MINUTE), 0);
}

/* A long lockout is not evicted by many new entries. */
TEST(new_entries_do_not_evict_a_lockout) {
  limits_init(&limits);
  CHECK(ten_wrong("a", START));
  int64_t now = START + 10 * SECOND;
  for (int i = 0; i < 100000; i++)
    CHECK(!wrong(textf("crowd %d", i), now));
  CHECK(locked("a", now) > 0);
}

TEST(notes_expire) {
  limits_init(&limits);
  CHECK(!limit_noted(&limits, STR("a"), START));
  limit_note(&limits, STR("a"), START + 10 * SECOND, START);
  limit_note(&limits, STR("b"), START + 2 * SECOND, START);
  CHECK(limit_noted(&limits, STR("a"), START) && limit_noted(&limits, STR("b"), START + SECOND));
  CHECK(!limit_noted(&limits, STR("c"), START));
  CHECK(limit_noted(&limits, STR("a"), START + 10 * SECOND - 1));
  CHECK(!limit_noted(&limits, STR("a"), START + 10 * SECOND) && !limit_noted(&limits, STR("b"), START + 2 * SECOND));
  limit_note(&limits, STR("a"), START + 30 * SECOND, START + 20 * SECOND);
  limit_note(&limits, STR("a"), START + 25 * SECOND, START + 21 * SECOND); /* a shorter time changes nothing */
  CHECK(limit_noted(&limits, STR("a"), START + 29 * SECOND));
}
