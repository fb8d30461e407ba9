/* limit.h: how often somebody may call, and how often an address may be wrong before it has to wait.
 *
 * Pure: the time is passed in, and the caller locks. A table has a fixed size, whoever comes: names are hashed with a
 * key that nobody knows, so that none can choose whom it drives out, and what matters least goes first. */
#pragma once

#include "base/str.h"

enum {
  LIMIT_SETS = 256, /* an entry can be in one of them, which its name decides */
  LIMIT_WAYS = 8,
  LIMIT_KEY = 16,
  LIMIT_WRONG = 10, /* times in a minute, and it is locked out */
};
#define LIMIT_MINUTE (INT64_C(60) * 1000 * 1000)
#define LIMIT_HOUR (60 * LIMIT_MINUTE)

struct limit_entry {
  uint8_t key[LIMIT_KEY];
  int64_t until; /* what it says counts until then; of a bucket: when that is full again */
  int64_t began; /* the minute in which `wrong` were counted */
  int wrong;
  int64_t locked, penalty; /* until when, and for how long */
};

struct limits {
  uint8_t secret[32];
  struct limit_entry entries[LIMIT_SETS][LIMIT_WAYS];
};

/* Times are microseconds of a clock that never goes back, and above zero. */
void limits_init(struct limits *l);
/* One call of `who`, who may make `rate` a second, and `burst` at once. 0: it may; else how long to wait for it. */
int64_t limit_take(struct limits *l, struct str who, int64_t rate, int64_t burst, int64_t now);
/* Remembers `who` until then, and whether it is remembered now: for a table that is used for nothing else. */
void limit_note(struct limits *l, struct str who, int64_t until, int64_t now);
bool limit_noted(struct limits *l, struct str who, int64_t now);
/* `who` was wrong; true when it is locked out for that: for a minute, then for twice as long as the last time, up to an
 * hour. An hour without being locked out is a new beginning. */
bool limit_wrong(struct limits *l, struct str who, int64_t now);
/* How long it is still locked out; 0: it is not. */
int64_t limit_locked(struct limits *l, struct str who, int64_t now);
