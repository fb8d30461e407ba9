/* when_parts.h: what the parts of core/rank/when.c share: the words of a time expression and the window that they mean.
 */
#pragma once

#include "core/rank/when.h"

enum unit {
  UNIT_MINUTE,
  UNIT_HOUR,
  UNIT_DAY,
  UNIT_WEEK,
  UNIT_FORTNIGHT,
  UNIT_MONTH,
  UNIT_QUARTER,
  UNIT_YEAR,
  UNIT_WEEKEND
};
enum turn { TURN_LAST, TURN_PAST, TURN_THIS };
enum season { SEASON_SPRING, SEASON_SUMMER, SEASON_AUTUMN, SEASON_WINTER };

/* What stands before an expression, as bits. */
enum {
  LEAD_THE = 1,
  LEAD_IN = 2,   /* in, during */
  LEAD_OVER = 4, /* over, within, for */
  LEAD_ON = 8,
  LEAD_SINCE = 16,
  LEAD_AFTER = 32,
  LEAD_BEFORE = 64,
  LEAD_UNTIL = 128,
  LEAD_ABOUT = 256,  /* around, about */
  LEAD_PART = 512,   /* early, mid, late */
  LEAD_RANGE = 1024, /* between, from; the second end of a range is given it too */
  /* Words that make a time of what stands behind them. */
  LEAD_POINT = LEAD_SINCE | LEAD_AFTER | LEAD_BEFORE | LEAD_UNTIL | LEAD_RANGE,
};

/* The words of an expression, read. What the expression does not name is 0. */
struct reading {
  unsigned lead;
  int n;      /* a count; 0: none */
  bool vague; /* the count is "few" or "several" */
  enum unit unit;
  enum turn turn;
  enum season season;
  int weekday; /* 0: Monday */
  int year, month, day, quarter;
  bool ordinal;   /* the day was written "8th" */
  bool unsure;    /* the month is written like another word, and nothing but its place says that it is one */
  bool person;    /* the month is also a person's name */
  bool ranged;    /* the expression is one end of a range */
  bool closing;   /* the expression ends its sentence */
  bool before_of; /* "of" follows: "the last week of the course" */
  bool counted;   /* the name of something counted follows: "in 2000 steps", "on Saturday mornings" */
  bool past;      /* a verb before it speaks of what was */
};

/* Reads a word as one of a class and notes what it says; false when it is not of that class. Classes: N count, U unit,
 * L last past this, W weekday, M month, D day of a month, Y year, Q quarter, S season, T part of a day, I date. */
bool word_read(char class, struct str word, struct reading *r);
/* The LEAD_ bit of a word; 0 when it is none of these. */
unsigned word_lead(struct str word);
/* Something that is counted, so that the number before it is no year and the day before it no single day. */
bool word_is_counted(struct str word);

/* What an expression means; false when, all in all, it means no time. */
typedef bool window_fn(const struct reading *r, int64_t now, struct when *ret);
window_fn window_date, window_month, window_in_month, window_month_turn, window_year, window_quarter, window_season,
    window_in_season, window_season_turn, window_ago, window_rolling, window_turn, window_before_last, window_start,
    window_weekday, window_weekday_of, window_weekend, window_day_before, window_yesterday, window_today,
    window_this_morning, window_last_night, window_recent, window_recent_units, window_other_day;
/* One unit around the time n units after `at`. */
bool window_shifted(int64_t at, enum unit unit, int n, struct when *ret);
