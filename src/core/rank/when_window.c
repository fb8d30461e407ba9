/* when_window.c: windows of time expressions. */
#include <assert.h>

#include "base/os/clock.h"
#include "core/rank/when_parts.h"

enum { FIRST_YEAR = 1900, LAST_YEAR = 2200 };

static int64_t day_of(int64_t ms) { return ms / MS_PER_DAY - (ms % MS_PER_DAY < 0); }

static int64_t start_of_month(int64_t y, int m) { return days_from_civil(y, m, 1); }

/* Window of whole days, from <= d < until. */
static bool window_days(int64_t from, int64_t until, struct when *ret) {
  if (from < days_from_civil(FIRST_YEAR, 1, 1) || until > days_from_civil(LAST_YEAR + 1, 1, 1) || from >= until)
    return false;
  *ret = (struct when){from * MS_PER_DAY, until * MS_PER_DAY, (double)((until - from) * MS_PER_DAY)};
  return true;
}

/* Window in milliseconds. */
static bool window_span(int64_t from, int64_t until, struct when *ret) {
  assert(from < until);
  if (from < days_from_civil(FIRST_YEAR, 1, 1) * MS_PER_DAY ||
      until > days_from_civil(LAST_YEAR + 1, 1, 1) * MS_PER_DAY)
    return false;
  int64_t slack = until - from > MS_PER_DAY ? until - from : MS_PER_DAY;
  *ret = (struct when){from, until, (double)slack};
  return true;
}

/* Window of `count` months from month m of year y. 1 is January; m may be outside 1..12. */
static bool window_months(int64_t y, int64_t m, int count, struct when *ret) {
  int64_t first = y * 12 + m - 1, end = first + count;
  assert(first >= 0 && count > 0);
  return window_days(start_of_month(first / 12, (int)(first % 12) + 1), start_of_month(end / 12, (int)(end % 12) + 1),
                     ret);
}

static int64_t unit_ms(enum unit unit) {
  static const int64_t ms[] = {
      [UNIT_MINUTE] = 60 * MS_PER_SECOND, [UNIT_HOUR] = MS_PER_HOUR,          [UNIT_DAY] = MS_PER_DAY,
      [UNIT_WEEK] = 7 * MS_PER_DAY,       [UNIT_FORTNIGHT] = 14 * MS_PER_DAY, [UNIT_MONTH] = 30 * MS_PER_DAY,
      [UNIT_QUARTER] = 91 * MS_PER_DAY,   [UNIT_YEAR] = 365 * MS_PER_DAY,     [UNIT_WEEKEND] = 7 * MS_PER_DAY,
  };
  assert((size_t)unit < ARRAY_LEN(ms));
  return ms[unit];
}

/* Adds n units. Months, quarters and years follow the calendar and end on the last day of a shorter month. */
static int64_t add_units(int64_t at, enum unit unit, int n) {
  if (unit != UNIT_MONTH && unit != UNIT_QUARTER && unit != UNIT_YEAR)
    return at + n * unit_ms(unit);
  int y, m, d;
  int64_t day = day_of(at);
  civil_from_days(day, &y, &m, &d);
  int64_t month = (int64_t)y * 12 + m - 1 + (int64_t)n * (unit == UNIT_MONTH ? 1 : unit == UNIT_QUARTER ? 3 : 12);
  if (month < 12)
    month = 12;
  int64_t first = start_of_month(month / 12, (int)(month % 12) + 1);
  int64_t next = start_of_month((month + 1) / 12, (int)((month + 1) % 12) + 1);
  int64_t to = first + d - 1 < next ? first + d - 1 : next - 1;
  return to * MS_PER_DAY + (at - day * MS_PER_DAY);
}

bool window_shifted(int64_t at, enum unit unit, int n, struct when *ret) {
  int64_t middle = add_units(at, unit, n), half = unit_ms(unit) / 2;
  return window_span(middle - half, middle + half, ret);
}

bool window_ago(const struct reading *r, int64_t now, struct when *ret) {
  if (!window_shifted(now, r->unit, -r->n, ret))
    return false;
  /* "a few weeks" may be two or five. */
  if (r->vague) {
    int64_t more = r->n * unit_ms(r->unit) / 2;
    return window_span(ret->from - more, ret->until + more < now ? ret->until + more : now, ret);
  }
  return true;
}

bool window_rolling(const struct reading *r, int64_t now, struct when *ret) {
  if (r->turn == TURN_THIS || r->before_of)
    return false;
  int n = r->vague ? r->n + 1 : r->n;
  return window_span(add_units(now, r->unit, -n), now, ret);
}

/* Calendar unit that contains `now`, or the one `back` units before it. */
static bool window_calendar(enum unit unit, int back, int64_t now, struct when *ret) {
  int y, m, d;
  int64_t day = day_of(now), monday = day - (day + 3) % 7 - 7 * back;
  civil_from_days(day, &y, &m, &d);
  switch (unit) {
  case UNIT_WEEK:
    return window_days(monday, monday + 7, ret);
  case UNIT_WEEKEND:
    return window_days(monday + 5, monday + 7, ret);
  case UNIT_MONTH:
    return window_months(y, m - back, 1, ret);
  case UNIT_QUARTER:
    return window_months(y, (m - 1) / 3 * 3 + 1 - 3 * back, 3, ret);
  case UNIT_YEAR:
    return window_months(y - back, 1, 12, ret);
  default:
    return false;
  }
}

/* "last week" is a calendar week; "in the last week" and "the past week" are the last seven days. */
bool window_turn(const struct reading *r, int64_t now, struct when *ret) {
  if (r->before_of)
    return false;
  bool during = (r->lead & LEAD_THE) && (r->lead & (LEAD_IN | LEAD_OVER));
  bool rolling = r->turn == TURN_PAST || (r->turn == TURN_LAST && during);
  if (r->unit == UNIT_WEEKEND || !rolling)
    return window_calendar(r->unit, r->turn != TURN_THIS, now, ret);
  if (r->unit == UNIT_MINUTE)
    return false;
  return window_span(add_units(now, r->unit, -1), now, ret);
}

bool window_before_last(const struct reading *r, int64_t now, struct when *ret) {
  return window_calendar(r->unit, 2, now, ret);
}

bool window_start(const struct reading *r, int64_t now, struct when *ret) {
  if (!window_calendar(r->unit, 0, now, ret))
    return false;
  int64_t part = (ret->until - ret->from) / 4;
  return window_span(ret->from, ret->from + part, ret);
}

/* "over the weekend": the latest weekend that has begun. */
bool window_weekend(const struct reading *r, int64_t now, struct when *ret) {
  return (r->lead & LEAD_THE) && window_calendar(UNIT_WEEKEND, (day_of(now) + 3) % 7 < 5, now, ret);
}

/* The latest such day before today; with "this", the day of this week. */
bool window_weekday(const struct reading *r, int64_t now, struct when *ret) {
  assert(r->weekday >= 0 && r->weekday < 7);
  int64_t today = day_of(now), day = today - (today + 3) % 7 + r->weekday;
  if (r->turn != TURN_THIS && day >= today)
    day -= 7;
  return !r->counted && window_days(day, day + 1, ret);
}

/* "Tuesday of last week" */
bool window_weekday_of(const struct reading *r, int64_t now, struct when *ret) {
  int64_t today = day_of(now), day = today - (today + 3) % 7 + r->weekday;
  if (r->turn != TURN_THIS)
    day -= 7;
  return window_days(day, day + 1, ret);
}

bool window_date(const struct reading *r, int64_t now, struct when *ret) {
  assert(r->month >= 1 && r->month <= 12);
  int y, m, d;
  civil_from_days(day_of(now), &y, &m, &d);
  if (r->year) {
    y = r->year;
  } else {
    if (r->unsure && !r->ordinal && !(r->lead & (LEAD_ON | LEAD_POINT)))
      return false;
    if (r->counted && !r->ordinal)
      return false;
    y -= r->month > m || (r->month == m && r->day > d);
    /* The latest year with a 29 February is at most seven years before. */
    for (int i = 0; i < 8 && r->month == 2 && r->day == 29; i++, y--)
      if ((y % 4 == 0 && y % 100 != 0) || y % 400 == 0)
        break;
  }
  if (r->day == 0)
    return window_months(y, r->month, 1, ret);
  int64_t day = start_of_month(y, r->month) + r->day - 1;
  int month_of_day;
  civil_from_days(day, &y, &month_of_day, &d);
  return month_of_day == r->month && window_days(day, day + 1, ret);
}

bool window_month(const struct reading *r, int64_t now, struct when *ret) {
  assert(r->month >= 1 && r->month <= 12);
  int y, m, d;
  civil_from_days(day_of(now), &y, &m, &d);
  return window_months(r->year ? r->year : y - (r->month > m), r->month, 1, ret);
}

/* "in march" is a month; "the march", "around march", "from may" and a letter "from April" may not be. */
bool window_in_month(const struct reading *r, int64_t now, struct when *ret) {
  if (r->unsure && (r->lead & (LEAD_THE | LEAD_ABOUT)))
    return false;
  if ((r->unsure || r->person) && (r->lead & LEAD_RANGE) && !r->ranged)
    return false;
  return window_month(r, now, ret);
}

bool window_month_turn(const struct reading *r, int64_t now, struct when *ret) {
  if ((r->unsure && !r->closing) || r->before_of)
    return false;
  int y, m, d;
  civil_from_days(day_of(now), &y, &m, &d);
  return window_months(y - (r->turn != TURN_THIS && r->month >= m), r->month, 1, ret);
}

bool window_year(const struct reading *r, int64_t now, struct when *ret) {
  int y, m, d;
  civil_from_days(day_of(now), &y, &m, &d);
  /* Other numbers of four digits are rarely years; "after the 2016 election" names an event. */
  return (r->closing || !(r->lead & LEAD_THE)) && r->year >= 1970 && r->year <= y + 1 && !r->counted &&
         window_months(r->year, 1, 12, ret);
}

bool window_quarter(const struct reading *r, int64_t now, struct when *ret) {
  assert(r->quarter >= 1 && r->quarter <= 4);
  int y, m, d;
  civil_from_days(day_of(now), &y, &m, &d);
  int first = r->quarter * 3 - 2;
  return window_months(r->year ? r->year : y - (first > m), first, 3, ret);
}

/* Seasons of the northern hemisphere; winter belongs to the year in which it begins. */
bool window_season(const struct reading *r, int64_t now, struct when *ret) {
  int y, m, d, first = 3 + 3 * (int)r->season;
  civil_from_days(day_of(now), &y, &m, &d);
  return window_months(r->year ? r->year : y - (first > m), first, 3, ret);
}

bool window_in_season(const struct reading *r, int64_t now, struct when *ret) {
  return !r->unsure && window_season(r, now, ret);
}

/* "last summer" in July is last year's; "this winter" in January began last year. */
bool window_season_turn(const struct reading *r, int64_t now, struct when *ret) {
  int y, m, d, first = 3 + 3 * (int)r->season;
  civil_from_days(day_of(now), &y, &m, &d);
  if (r->before_of)
    return false;
  if (r->turn == TURN_THIS)
    return window_months(y - (r->season == SEASON_WINTER && m < 3), first, 3, ret);
  if (!window_months(y - (first > m), first, 3, ret))
    return false;
  return ret->until <= now || window_months(y - (first > m) - 1, first, 3, ret);
}

bool window_day_before(const struct reading *r UNUSED, int64_t now, struct when *ret) {
  return window_days(day_of(now) - 2, day_of(now) - 1, ret);
}

bool window_yesterday(const struct reading *r UNUSED, int64_t now, struct when *ret) {
  return window_days(day_of(now) - 1, day_of(now), ret);
}

bool window_today(const struct reading *r, int64_t now, struct when *ret) {
  return r->past && window_days(day_of(now), day_of(now) + 1, ret);
}

bool window_this_morning(const struct reading *r UNUSED, int64_t now, struct when *ret) {
  return window_days(day_of(now), day_of(now) + 1, ret);
}

/* From the previous evening to this morning. */
bool window_last_night(const struct reading *r UNUSED, int64_t now, struct when *ret) {
  int64_t midnight = day_of(now) * MS_PER_DAY;
  return window_span(midnight - 6 * MS_PER_HOUR, midnight + 6 * MS_PER_HOUR, ret);
}

bool window_recent(const struct reading *r UNUSED, int64_t now, struct when *ret) {
  if (!window_span(now - 14 * MS_PER_DAY, now, ret))
    return false;
  ret->slack_ms = (double)(30 * MS_PER_DAY);
  return true;
}

bool window_recent_units(const struct reading *r, int64_t now, struct when *ret) {
  return window_span(add_units(now, r->unit, -4), now, ret);
}

bool window_other_day(const struct reading *r UNUSED, int64_t now, struct when *ret) {
  return window_span(now - 7 * MS_PER_DAY, now, ret);
}
