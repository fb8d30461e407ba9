/* clock.c: reading the clock; parsing and formatting timestamps and durations. */
#include "base/os/clock.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

int64_t clock_now(const struct clock *c) {
  if (c && c->fixed > 0)
    return c->fixed;
  struct timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_ticks_us(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t days_from_civil(int64_t y, int m, int d) {
  assert(m >= 1 && m <= 12 && d >= 1 && d <= 31);
  y -= m <= 2;
  int64_t era = (y >= 0 ? y : y - 399) / 400;
  int64_t yoe = y - era * 400;
  int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + doe - 719468;
}

void civil_from_days(int64_t days, int *ret_y, int *ret_m, int *ret_d) {
  int64_t z = days + 719468;
  int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  int64_t doe = z - era * 146097;
  int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  int64_t mp = (5 * doy + 2) / 153;
  *ret_d = (int)(doy - (153 * mp + 2) / 5 + 1);
  *ret_m = (int)(mp + (mp < 10 ? 3 : -9));
  *ret_y = (int)(yoe + era * 400 + (*ret_m <= 2));
  assert(*ret_m >= 1 && *ret_m <= 12 && *ret_d >= 1 && *ret_d <= 31);
}

struct str time_format(int64_t ms, char out[TIME_TEXT_SIZE]) {
  int64_t days = ms / MS_PER_DAY, rest = ms % MS_PER_DAY;
  if (rest < 0) {
    rest += MS_PER_DAY;
    days--;
  }
  int y, m, d;
  civil_from_days(days, &y, &m, &d);
  int n = snprintf(out, TIME_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", y, m, d, (int)(rest / MS_PER_HOUR),
                   (int)(rest / 60000 % 60), (int)(rest / 1000 % 60), (int)(rest % 1000));
  assert(n > 0 && n < TIME_TEXT_SIZE);
  return (struct str){out, (size_t)n};
}

/* Parses exactly n digits at *pos. */
static bool parse_digits(struct str s, size_t *pos, size_t n, int *ret_value) {
  assert(*pos <= s.n);
  if (s.n - *pos < n)
    return false;
  int value = 0;
  for (size_t i = 0; i < n; i++) {
    char c = s.p[*pos + i];
    if (!ascii_digit(c))
      return false;
    value = value * 10 + (c - '0');
  }
  *pos += n;
  *ret_value = value;
  return true;
}

/* Skips one character of the set at *pos. */
static bool skip_one_of(struct str s, size_t *pos, const char *set) {
  if (*pos >= s.n || s.p[*pos] == 0 || !strchr(set, s.p[*pos]))
    return false;
  (*pos)++;
  return true;
}

static int days_in_month(int y, int m) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
  assert(m >= 1 && m <= 12);
  return m == 2 && leap ? 29 : days[m - 1];
}

static bool parse_date(struct str s, size_t *pos, int64_t *ret_days) {
  int y, m, d;
  if (!parse_digits(s, pos, 4, &y) || !skip_one_of(s, pos, "-") || !parse_digits(s, pos, 2, &m) ||
      !skip_one_of(s, pos, "-") || !parse_digits(s, pos, 2, &d))
    return false;
  if (y < 1 || m < 1 || m > 12 || d < 1 || d > days_in_month(y, m))
    return false;
  *ret_days = days_from_civil(y, m, d);
  return true;
}

static bool parse_fraction(struct str s, size_t *pos, int *ret_ms) {
  int ms = 0, scale = 100;
  size_t start = *pos;
  for (; *pos < s.n && ascii_digit(s.p[*pos]); (*pos)++) {
    ms += (s.p[*pos] - '0') * scale;
    scale /= 10;
  }
  *ret_ms = ms;
  return *pos > start;
}

static bool parse_offset(struct str s, size_t *pos, int *ret_minutes) {
  *ret_minutes = 0;
  if (skip_one_of(s, pos, "Zz"))
    return true;
  if (*pos >= s.n)
    return false;
  int sign = s.p[*pos] == '-' ? -1 : 1, h, m;
  if (!skip_one_of(s, pos, "+-") || !parse_digits(s, pos, 2, &h) || !skip_one_of(s, pos, ":") ||
      !parse_digits(s, pos, 2, &m) || h > 23 || m > 59)
    return false;
  *ret_minutes = sign * (h * 60 + m);
  return true;
}

bool time_parse(struct str s, int64_t *ret_ms) {
  size_t pos = 0;
  int64_t days;
  if (!parse_date(s, &pos, &days))
    return false;
  if (pos == s.n) {
    *ret_ms = days * MS_PER_DAY;
    return true;
  }
  int h, m, sec, ms = 0, offset;
  if (!skip_one_of(s, &pos, "Tt ") || !parse_digits(s, &pos, 2, &h) || !skip_one_of(s, &pos, ":") ||
      !parse_digits(s, &pos, 2, &m) || !skip_one_of(s, &pos, ":") || !parse_digits(s, &pos, 2, &sec) || h > 23 ||
      m > 59 || sec > 60)
    return false;
  if (skip_one_of(s, &pos, ".") && !parse_fraction(s, &pos, &ms))
    return false;
  if (!parse_offset(s, &pos, &offset) || pos != s.n)
    return false;
  int64_t at =
      days * MS_PER_DAY + h * MS_PER_HOUR + m * INT64_C(60000) + sec * INT64_C(1000) + ms - offset * INT64_C(60000);
  /* An offset or a leap second can lead outside the four-digit years that time_format() writes. */
  if (at < days_from_civil(1, 1, 1) * MS_PER_DAY || at >= days_from_civil(10000, 1, 1) * MS_PER_DAY)
    return false;
  *ret_ms = at;
  return true;
}

bool duration_parse(struct str s, int64_t *ret_ms) {
  if (s.n < 2)
    return false;
  int64_t unit;
  switch (s.p[s.n - 1]) {
  case 's':
    unit = MS_PER_SECOND;
    break;
  case 'm':
    unit = 60 * MS_PER_SECOND;
    break;
  case 'h':
    unit = MS_PER_HOUR;
    break;
  case 'd':
    unit = MS_PER_DAY;
    break;
  case 'w':
    unit = 7 * MS_PER_DAY;
    break;
  default:
    return false;
  }
  int64_t count, ms;
  if (!ascii_digit(s.p[0]) || !str_int64(str_slice(s, 0, s.n - 1), &count) || count <= 0 ||
      __builtin_mul_overflow(count, unit, &ms) || ms > 36525 * MS_PER_DAY)
    return false;
  *ret_ms = ms;
  return true;
}

bool time_or_duration_parse(struct str s, int64_t now, int sign, int64_t *ret_ms) {
  assert(sign == 1 || sign == -1);
  int64_t ms;
  if (duration_parse(s, &ms)) {
    *ret_ms = now + sign * ms;
    return true;
  }
  return time_parse(s, ret_ms);
}
