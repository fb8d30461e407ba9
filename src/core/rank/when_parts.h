/* when_parts.h: internals of time expressions: vocabulary and windows; private to src/core/rank. */
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

/* Words before an expression, as bits. */
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
  LEAD_RANGE = 1024, /* between, from; also set for the second end of a range */
  /* Words that are followed by a point in time. */
  LEAD_POINT = LEAD_SINCE | LEAD_AFTER | LEAD_BEFORE | LEAD_UNTIL | LEAD_RANGE,
};

/* A parsed expression. Members that it does not name are 0. */
struct reading {
  unsigned lead;
  int n;      /* a count; 0 if none */
  bool vague; /* the count is "few" or "several" */
  enum unit unit;
  enum turn turn;
  enum season season;
  int weekday; /* 0 is Monday */
  int year, month, day, quarter;
  bool ordinal;   /* the day was written "8th" */
  bool unsure;    /* the month or season may be another word; only the context tells */
  bool person;    /* the month is also a first name */
  bool ranged;    /* the expression is one end of a range */
  bool closing;   /* the expression ends its sentence */
  bool before_of; /* "of" follows: "the last week of the course" */
  bool counted;   /* a countable noun follows: "in 2000 steps", "on Saturday mornings" */
  bool past;      /* a word before it indicates the past */
};

/* Parses a word of the given class into *r; false if it is not of that class. Classes: N count, U unit, L last past
 * this, W weekday, M month, D day of a month, Y year, Q quarter, S season, T part of a day, I date. */
bool word_read(char class, struct str word, struct reading *r);
/* LEAD_ bit of a word; 0 if it has none. */
unsigned word_lead(struct str word);
/* True for a countable noun: a number before it is not a year, and a weekday before it is not a single day. */
bool word_is_counted(struct str word);

/* Computes the window of an expression; false if in its context it is not a time. */
typedef bool window_fn(const struct reading *r, int64_t now, struct when *ret);
window_fn window_date, window_month, window_in_month, window_month_turn, window_year, window_quarter, window_season,
    window_in_season, window_season_turn, window_ago, window_rolling, window_turn, window_before_last, window_start,
    window_weekday, window_weekday_of, window_weekend, window_day_before, window_yesterday, window_today,
    window_this_morning, window_last_night, window_recent, window_recent_units, window_other_day;
/* A window of one unit centered n units after `at`. */
bool window_shifted(int64_t at, enum unit unit, int n, struct when *ret);
