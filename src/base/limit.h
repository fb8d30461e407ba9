/* limit.h: rate limits for callers, and lockouts for addresses that send wrong tokens.
 *
 * Pure: the time is passed in, and the caller locks. A table has a fixed size. The entry that expires first is evicted
 * first. Names are hashed with a secret key, so clients cannot choose which entry they evict. */
#pragma once

#include "base/str.h"

enum {
  LIMIT_SETS = 256, /* the hash of the name selects the set */
  LIMIT_WAYS = 8,
  LIMIT_KEY = 16,
  LIMIT_WRONG = 10, /* wrong attempts per minute before a lockout */
};
#define LIMIT_MINUTE (INT64_C(60) * 1000 * 1000)
#define LIMIT_HOUR (60 * LIMIT_MINUTE)

struct limit_entry {
  uint8_t key[LIMIT_KEY];
  int64_t until; /* expiry; for a bucket: when it is full again */
  int64_t began; /* start of the minute in which `wrong` was counted */
  int wrong;
  int64_t locked, penalty; /* end of the lockout, and its length */
};

struct limits {
  uint8_t secret[32];
  struct limit_entry entries[LIMIT_SETS][LIMIT_WAYS];
};

/* Times are microseconds of a monotonic clock, above zero. */
void limits_init(struct limits *l);
/* Takes one call of `who`, limited to `rate` per second and `burst` at once. Returns 0 if allowed, else the time to
 * wait. */
int64_t limit_take(struct limits *l, struct str who, int64_t rate, int64_t burst, int64_t now);
/* A bucket that is charged after the fact: limit_spend() moves it forward by `us`, and limit_excess() is how far it is
 * more than `depth_us` ahead: the time to wait; 0: none. */
void limit_spend(struct limits *l, struct str who, int64_t us, int64_t now);
int64_t limit_excess(struct limits *l, struct str who, int64_t depth_us, int64_t now);
/* Remembers `who` until then; limit_noted() tests it. For tables with no other use. */
void limit_note(struct limits *l, struct str who, int64_t until, int64_t now);
bool limit_noted(struct limits *l, struct str who, int64_t now);
/* Counts a wrong attempt; true if it causes a lockout: a minute at first, then twice the previous one, up to an hour.
 * An hour without a lockout resets it. */
bool limit_wrong(struct limits *l, struct str who, int64_t now);
/* Remaining lockout; 0: none. */
int64_t limit_locked(struct limits *l, struct str who, int64_t now);
