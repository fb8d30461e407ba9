/* clock.h: clocks, timestamps and durations, as int64 milliseconds (UTC). */
#pragma once

#include "base/arena.h"

#define MS_PER_SECOND INT64_C(1000)
#define MS_PER_HOUR (3600 * MS_PER_SECOND)
#define MS_PER_DAY (24 * MS_PER_HOUR)

/* Time source. A zeroed clock is the system clock; `fixed` > 0 is a constant time for tests. */
struct clock {
  int64_t fixed;
};

int64_t clock_now(const struct clock *c);
/* Monotonic clock for measuring; unrelated to clock_now(). */
int64_t clock_ticks_us(void);

/* Writes "2026-11-15T11:45:10.123Z". */
enum { TIME_TEXT_SIZE = 32 };
struct str time_format(int64_t ms, char out[TIME_TEXT_SIZE]);
/* Parses an RFC 3339 date-time with Z or an offset, or a plain date (midnight UTC); years 0001 to 9999. */
bool time_parse(struct str s, int64_t *ret_ms);
/* Converts between a proleptic Gregorian date and days since 1970-01-01. */
int64_t days_from_civil(int64_t y, int m, int d);
void civil_from_days(int64_t days, int *ret_y, int *ret_m, int *ret_d);
/* Parses "90s", "30m", "24h", "7d" or "2w": a positive integer and a unit, at most 100 years. */
bool duration_parse(struct str s, int64_t *ret_ms);
/* Parses the value of a ttl, since or until argument: a timestamp, or a duration relative to `now`. */
bool time_or_duration_parse(struct str s, int64_t now, int sign, int64_t *ret_ms);
