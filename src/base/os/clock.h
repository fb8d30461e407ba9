/* clock.h: time as int64 milliseconds UTC: reading it, writing it, durations. */
#pragma once

#include "base/arena.h"

#define MS_PER_SECOND INT64_C(1000)
#define MS_PER_HOUR (3600 * MS_PER_SECOND)
#define MS_PER_DAY (24 * MS_PER_HOUR)

/* Where the time comes from; a zeroed clock is the system's. `fixed` > 0 stops it there, for tests. */
struct clock {
  int64_t fixed;
};

int64_t clock_now(const struct clock *c);
/* Monotonic, for measuring; unrelated to clock_now(). */
int64_t clock_ticks_us(void);

/* "2026-11-15T11:45:10.123Z"; out needs TIME_TEXT_SIZE bytes. */
enum { TIME_TEXT_SIZE = 32 };
struct str time_format(int64_t ms, char out[TIME_TEXT_SIZE]);
/* RFC 3339 date-time with Z or an offset, or a plain date (midnight UTC); years 0001 to 9999. */
bool time_parse(struct str s, int64_t *ret_ms);
/* Days since 1970-01-01 of a date in the proleptic Gregorian calendar, and back. */
int64_t days_from_civil(int64_t y, int m, int d);
void civil_from_days(int64_t days, int *ret_y, int *ret_m, int *ret_d);
/* "90s", "30m", "24h", "7d", "2w": a whole number above zero and a unit; at most 100 years. */
bool duration_parse(struct str s, int64_t *ret_ms);
/* A duration from `now`, or a timestamp: what every ttl, since and until argument takes. */
bool time_or_duration(struct str s, int64_t now, int sign, int64_t *ret_ms);
