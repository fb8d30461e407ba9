/* test_limit.c: buckets that fill again, locks that double, and a table that stays as large as it is. */
#include "http/access/limit.h"

#include "support/cli.h"

#define SECOND INT64_C(1000000)
#define START (1000 * SECOND)

static struct limits limits;

static int64_t take(const char *who, int64_t now) { return limit_take(&limits, str_from(who), 50, 200, now); }

static bool wrong(const char *who, int64_t now) { return limit_wrong(&limits, str_from(who), now); }

static int64_t locked(const char *who, int64_t now) { return limit_locked(&limits, str_from(who), now); }

TEST(so_many_at_once_and_then_so_many_a_second) {
  limits_init(&limits);
  for (int i = 0; i < 200; i++)
    CHECK_INT(take("a", START), 0);
  CHECK_INT(take("a", START), SECOND / 50);
  CHECK_INT(take("b", START), 0); /* somebody else */
  CHECK(take("a", START + SECOND / 50 - 1) > 0);
  CHECK_INT(take("a", START + SECOND / 50), 0);
  int passed = 0;
  for (int64_t at = START + SECOND; at < START + 11 * SECOND; at += 1000)
    passed += take("a", at) == 0;
  CHECK(passed >= 500 && passed <= 550); /* 50 a second for ten of them, and what had gathered before */
  for (int i = 0; i < 200; i++)
    CHECK_INT(take("a", START + 1000 * SECOND), 0);
  CHECK(take("a", START + 1000 * SECOND) > 0); /* no more gathers than there is room for */
}

/* Ten wrong ones, a second apart; true when the tenth locks, and no other. */
static bool ten_wrong(const char *who, int64_t now) {
  for (int i = 0; i < LIMIT_WRONG - 1; i++)
    CHECK(!wrong(who, now + i * SECOND));
  return wrong(who, now + (LIMIT_WRONG - 1) * SECOND);
}

TEST(ten_in_a_minute_lock_for_a_minute_then_for_twice_as_long) {
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
  now += LIMIT_HOUR; /* all is forgiven */
  CHECK(ten_wrong("a", now));
  CHECK_INT(locked("a", now + (LIMIT_WRONG - 1) * SECOND), LIMIT_MINUTE);
}

TEST(nine_in_a_minute_lock_nobody) {
  limits_init(&limits);
  for (int minute = 0; minute < 100; minute++)
    for (int i = 0; i < LIMIT_WRONG - 1; i++)
      CHECK(!wrong("a", START + minute * LIMIT_MINUTE + i * SECOND));
  CHECK_INT(locked("a", START + 99 * LIMIT_MINUTE), 0);
}

/* Who is locked out for long is not driven out by a crowd that is merely new. */
TEST(a_crowd_does_not_free_who_is_locked_out) {
  limits_init(&limits);
  CHECK(ten_wrong("a", START));
  int64_t now = START + 10 * SECOND;
  for (int i = 0; i < 100000; i++)
    CHECK(!wrong(textf("crowd %d", i), now));
  CHECK(locked("a", now) > 0);
}

TEST(what_is_noted_is_known_until_then) {
  limits_init(&limits);
  CHECK(!limit_noted(&limits, STR("a"), START));
  limit_note(&limits, STR("a"), START + 10 * SECOND, START);
  limit_note(&limits, STR("b"), START + 2 * SECOND, START);
  CHECK(limit_noted(&limits, STR("a"), START) && limit_noted(&limits, STR("b"), START + SECOND));
  CHECK(!limit_noted(&limits, STR("c"), START));
  CHECK(limit_noted(&limits, STR("a"), START + 10 * SECOND - 1));
  CHECK(!limit_noted(&limits, STR("a"), START + 10 * SECOND) && !limit_noted(&limits, STR("b"), START + 2 * SECOND));
  limit_note(&limits, STR("a"), START + 30 * SECOND, START + 20 * SECOND);
  limit_note(&limits, STR("a"), START + 25 * SECOND, START + 21 * SECOND); /* a shorter time takes nothing away */
  CHECK(limit_noted(&limits, STR("a"), START + 29 * SECOND));
}
