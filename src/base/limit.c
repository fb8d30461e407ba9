/* limit.c: token buckets, and lockouts after wrong attempts. */
#include "base/limit.h"

#include <assert.h>
#include <sodium.h>

void limits_init(struct limits *l) {
  *l = (struct limits){0};
  randombytes_buf(l->secret, sizeof(l->secret));
}

/* The entry of `who`. If missing, a new one that replaces the first to expire, or NULL without `make`. */
static struct limit_entry *find(struct limits *l, struct str who, int64_t now, bool make) {
  assert(who.n > 0 && now > 0);
  uint8_t key[LIMIT_KEY];
  crypto_generichash(key, sizeof(key), (const uint8_t *)who.p, who.n, l->secret, sizeof(l->secret));
  struct limit_entry *set = l->entries[key[0] % LIMIT_SETS], *least = set;
  for (struct limit_entry *e = set; e < set + LIMIT_WAYS; e++) {
    if (e->until > now && memcmp(e->key, key, sizeof(key)) == 0)
      return e;
    if (e->until < least->until)
      least = e;
  }
  if (!make)
    return NULL;
  *least = (struct limit_entry){.until = now};
  memcpy(least->key, key, sizeof(key));
  return least;
}

/* A bucket is one number: the time at which it will be full again. Each call moves it forward by the cost of a call; it
 * may be at most `burst` calls ahead. */
int64_t limit_take(struct limits *l, struct str who, int64_t rate, int64_t burst, int64_t now) {
  assert(rate > 0 && burst > 0);
  int64_t step = INT64_C(1000000) / rate, depth = step * burst;
  struct limit_entry *e = find(l, who, now, true);
  assert(e->until >= now);
  int64_t wait = e->until + step - now - depth;
  if (wait > 0)
    return wait;
  e->until += step;
  return 0;
}

void limit_spend(struct limits *l, struct str who, int64_t us, int64_t now) {
  struct limit_entry *e = find(l, who, now, true);
  assert(us >= 0 && e->until >= now);
  e->until += us;
}

int64_t limit_excess(struct limits *l, struct str who, int64_t depth_us, int64_t now) {
  const struct limit_entry *e = find(l, who, now, false);
  return e && e->until - now > depth_us ? e->until - now - depth_us : 0;
}

void limit_note(struct limits *l, struct str who, int64_t until, int64_t now) {
  struct limit_entry *e = find(l, who, now, true);
  if (e->until < until)
    e->until = until;
}

bool limit_noted(struct limits *l, struct str who, int64_t now) { return find(l, who, now, false) != NULL; }

bool limit_wrong(struct limits *l, struct str who, int64_t now) {
  struct limit_entry *e = find(l, who, now, true);
  if (now - e->began >= LIMIT_MINUTE) {
    e->began = now;
    e->wrong = 0;
  }
  if (e->until < now + LIMIT_MINUTE)
    e->until = now + LIMIT_MINUTE;
  assert(e->wrong >= 0 && e->wrong < LIMIT_WRONG);
  if (++e->wrong < LIMIT_WRONG)
    return false;
  e->wrong = 0;
  e->penalty = e->penalty ? 2 * e->penalty : LIMIT_MINUTE;
  if (e->penalty > LIMIT_HOUR)
    e->penalty = LIMIT_HOUR;
  e->locked = now + e->penalty;
  e->until = e->locked + LIMIT_HOUR;
  return true;
}

int64_t limit_locked(struct limits *l, struct str who, int64_t now) {
  const struct limit_entry *e = find(l, who, now, false);
  return e && e->locked > now ? e->locked - now : 0;
}
