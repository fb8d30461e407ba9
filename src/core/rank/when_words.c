/* when_words.c: vocabulary of time expressions. */
#include <assert.h>

#include "core/rank/when_parts.h"

struct named {
  const char *name;
  int value;
};

static bool find_named(const struct named *names, size_t n, struct str word, int *ret_value) {
  for (size_t i = 0; i < n; i++) {
    if (str_ieq(word, str_from(names[i].name))) {
      *ret_value = names[i].value;
      return true;
    }
  }
  return false;
}
#define FIND(names, word, ret_value) find_named(names, ARRAY_LEN(names), word, ret_value)

/* Reads at most max_digits digits at the start of the word; returns their number. */
static size_t leading_digits(struct str word, size_t max_digits, int *ret_value) {
  size_t n = 0;
  int value = 0;
  while (n < word.n && n < max_digits && ascii_digit(word.p[n]))
    value = value * 10 + (word.p[n++] - '0');
  *ret_value = value;
  return n;
}

static bool read_count(struct str word, struct reading *r) {
  static const struct named counts[] = {
      {"a", 1},     {"an", 1},    {"one", 1},  {"two", 2},  {"three", 3},   {"four", 4},    {"five", 5},   {"six", 6},
      {"seven", 7}, {"eight", 8}, {"nine", 9}, {"ten", 10}, {"eleven", 11}, {"twelve", 12}, {"couple", 2},
  };
  static const struct named vague[] = {{"few", 3}, {"several", 4}};
  size_t digits = leading_digits(word, 4, &r->n);
  if (digits && digits == word.n)
    return r->n > 0;
  r->vague = FIND(vague, word, &r->n);
  return r->vague || FIND(counts, word, &r->n);
}

static bool read_unit(struct str word, struct reading *r) {
  static const struct named units[] = {
      {"minute", UNIT_MINUTE},   {"hour", UNIT_HOUR},       {"day", UNIT_DAY},
      {"week", UNIT_WEEK},       {"month", UNIT_MONTH},     {"year", UNIT_YEAR},
      {"quarter", UNIT_QUARTER}, {"weekend", UNIT_WEEKEND}, {"fortnight", UNIT_FORTNIGHT},
  };
  if (word.n > 1 && ascii_lower(word.p[word.n - 1]) == 's')
    word.n--;
  int unit;
  if (!FIND(units, word, &unit))
    return false;
  r->unit = (enum unit)unit;
  return true;
}

static bool read_turn(struct str word, struct reading *r) {
  static const struct named turns[] = {
      {"last", TURN_LAST}, {"previous", TURN_LAST}, {"past", TURN_PAST}, {"this", TURN_THIS}, {"current", TURN_THIS}};
  int turn;
  if (!FIND(turns, word, &turn))
    return false;
  r->turn = (enum turn)turn;
  return true;
}

/* Without "sat", "sun" and "wed", which are usually other words. */
static bool read_weekday(struct str word, struct reading *r) {
  static const struct named days[] = {
      {"monday", 0}, {"tuesday", 1}, {"wednesday", 2}, {"thursday", 3}, {"friday", 4}, {"saturday", 5}, {"sunday", 6},
      {"mon", 0},    {"tue", 1},     {"tues", 1},      {"thu", 3},      {"thur", 3},   {"thurs", 3},    {"fri", 4},
  };
  return FIND(days, word, &r->weekday);
}

static bool read_month(struct str word, struct reading *r) {
  static const struct named sure[] = {
      {"january", 1},  {"february", 2},  {"july", 7},      {"september", 9},
      {"october", 10}, {"november", 11}, {"december", 12},
  };
  static const struct named persons[] = {{"april", 4}, {"june", 6}, {"august", 8}};
  static const struct named unsure[] = {
      {"march", 3}, {"may", 5}, {"jan", 1}, {"feb", 2},  {"mar", 3},  {"apr", 4},  {"jun", 6},
      {"jul", 7},   {"aug", 8}, {"sep", 9}, {"sept", 9}, {"oct", 10}, {"nov", 11}, {"dec", 12},
  };
  r->unsure = FIND(unsure, word, &r->month);
  r->person = FIND(persons, word, &r->month);
  return r->unsure || r->person || FIND(sure, word, &r->month);
}

static bool read_day(struct str word, struct reading *r) {
  static const struct named endings[] = {{"st", 1}, {"nd", 1}, {"rd", 1}, {"th", 1}};
  size_t digits = leading_digits(word, 2, &r->day);
  if (digits == 0 || r->day < 1 || r->day > 31)
    return false;
  struct str ending = str_slice(word, digits, word.n);
  int yes;
  r->ordinal = FIND(endings, ending, &yes);
  return r->ordinal || ending.n == 0;
}

static bool read_year(struct str word, struct reading *r) {
  return word.n == 4 && leading_digits(word, 4, &r->year) == 4 && r->year >= 1900 && r->year < 2200;
}

static bool read_quarter(struct str word, struct reading *r) {
  if (word.n != 2 || ascii_lower(word.p[0]) != 'q' || word.p[1] < '1' || word.p[1] > '4')
    return false;
  r->quarter = word.p[1] - '0';
  return true;
}

static bool read_season(struct str word, struct reading *r) {
  static const struct named seasons[] = {{"spring", SEASON_SPRING},
                                         {"summer", SEASON_SUMMER},
                                         {"autumn", SEASON_AUTUMN},
                                         {"fall", SEASON_AUTUMN},
                                         {"winter", SEASON_WINTER}};
  int season;
  if (!FIND(seasons, word, &season))
    return false;
  r->season = (enum season)season;
  /* Also a framework and a verb: they need a year or "last". */
  r->unsure = str_ieq(word, STR("spring")) || str_ieq(word, STR("fall"));
  return true;
}

static bool read_part_of_day(struct str word) {
  static const struct named parts[] = {{"morning", 0}, {"afternoon", 0}, {"evening", 0}, {"night", 0}};
  int part;
  return FIND(parts, word, &part);
}

/* 2023-05-08, 2023/05/08, and the month 2023-05. */
static bool read_date(struct str word, struct reading *r) {
  struct str month = {word.p + 5, 2}, day = {word.p + 8, 2};
  if ((word.n != 10 && word.n != 7) || (word.p[4] != '-' && word.p[4] != '/') || !read_year(str_slice(word, 0, 4), r) ||
      leading_digits(month, 2, &r->month) != 2)
    return false;
  if (word.n == 10 && (word.p[7] != word.p[4] || leading_digits(day, 2, &r->day) != 2 || r->day < 1))
    return false;
  return r->month >= 1 && r->month <= 12;
}

bool word_read(char class, struct str word, struct reading *r) {
  switch (class) {
  case 'N':
    return read_count(word, r);
  case 'U':
    return read_unit(word, r);
  case 'L':
    return read_turn(word, r);
  case 'W':
    return read_weekday(word, r);
  case 'M':
    return read_month(word, r);
  case 'D':
    return read_day(word, r);
  case 'Y':
    return read_year(word, r);
  case 'Q':
    return read_quarter(word, r);
  case 'S':
    return read_season(word, r);
  case 'T':
    return read_part_of_day(word);
  case 'I':
    return read_date(word, r);
  default:
    assert(false);
    return false;
  }
}

unsigned word_lead(struct str word) {
  static const struct named leads[] = {
      {"the", LEAD_THE},       {"these", LEAD_THE},   {"in", LEAD_IN},        {"during", LEAD_IN},
      {"throughout", LEAD_IN}, {"over", LEAD_OVER},   {"within", LEAD_OVER},  {"for", LEAD_OVER},
      {"on", LEAD_ON},         {"since", LEAD_SINCE}, {"after", LEAD_AFTER},  {"before", LEAD_BEFORE},
      {"until", LEAD_UNTIL},   {"till", LEAD_UNTIL},  {"around", LEAD_ABOUT}, {"about", LEAD_ABOUT},
      {"early", LEAD_PART},    {"mid", LEAD_PART},    {"late", LEAD_PART},    {"between", LEAD_RANGE},
      {"from", LEAD_RANGE},
  };
  int lead;
  return FIND(leads, word, &lead) ? (unsigned)lead : 0;
}

bool word_is_counted(struct str word) {
  static const struct named nouns[] = {
      {"mornings", 0}, {"afternoons", 0}, {"evenings", 0}, {"nights", 0}, {"ms", 0},    {"tokens", 0},
      {"bytes", 0},    {"words", 0},      {"lines", 0},    {"steps", 0},  {"items", 0}, {"rows", 0},
      {"files", 0},    {"people", 0},     {"times", 0},    {"users", 0},  {"miles", 0}, {"dollars", 0},
      {"euros", 0},    {"usd", 0},        {"mb", 0},       {"kb", 0},     {"px", 0},    {"seconds", 0},
      {"calories", 0}, {"characters", 0}, {"km", 0},
  };
  struct reading ignored = {0};
  int yes;
  return FIND(nouns, word, &yes) || read_unit(word, &ignored);
}
