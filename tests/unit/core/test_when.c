/* test_when.c: time expressions become windows of time; other words do not. */
#include "core/rank/when.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/os/clock.h"
#include "support/harness.h"

/* A Wednesday; its week began on the 12th. */
static const char *const wednesday = "2023-06-14T15:30:00Z";

static int64_t at(const char *text) {
  int64_t ms = 0;
  CHECK(time_parse(str_from(text), &ms));
  return ms;
}

struct expected {
  const char *query, *from, *until;
};

static void check_at(const char *now, const struct expected *all, size_t n) {
  for (size_t i = 0; i < n; i++) {
    struct when w = {0};
    test_note("%s", all[i].query);
    CHECK(when_find(str_from(all[i].query), at(now), &w));
    CHECK_INT(w.from, at(all[i].from));
    CHECK_INT(w.until, at(all[i].until));
    CHECK(w.slack_ms >= (double)MS_PER_DAY);
  }
}
#define CHECK_ALL(now, all) check_at(now, all, ARRAY_LEN(all))

TEST(days) {
  static const struct expected all[] = {
      {"What did I eat yesterday?", "2023-06-13", "2023-06-14"},
      {"YESTERDAY'S standup", "2023-06-13", "2023-06-14"},
      {"yesterday evening we spoke", "2023-06-13", "2023-06-14"},
      {"the day before yesterday", "2023-06-12", "2023-06-13"},
      {"what have we done today", "2023-06-14", "2023-06-15"},
      {"the bug I found this morning", "2023-06-14", "2023-06-15"},
      {"who called last night?", "2023-06-13T18:00:00Z", "2023-06-14T06:00:00Z"},
      {"3 days ago", "2023-06-11T03:30:00Z", "2023-06-12T03:30:00Z"},
      {"the film we saw a couple of days ago.", "2023-06-12T03:30:00Z", "2023-06-13T03:30:00Z"},
      {"an hour ago", "2023-06-14T14:00:00Z", "2023-06-14T15:00:00Z"},
      {"in the last 24 hours", "2023-06-13T15:30:00Z", "2023-06-14T15:30:00Z"},
      {"files changed less than 3 days ago", "2023-06-11T15:30:00Z", "2023-06-14T15:30:00Z"},
      {"the past three days", "2023-06-11T15:30:00Z", "2023-06-14T15:30:00Z"},
      {"I met her the other day", "2023-06-07T15:30:00Z", "2023-06-14T15:30:00Z"},
  };
  CHECK_ALL(wednesday, all);
}

TEST(weekdays) {
  static const struct expected all[] = {
      {"last Tuesday", "2023-06-13", "2023-06-14"},
      {"the call last Wednesday", "2023-06-07", "2023-06-08"},
      {"the meeting on Friday morning", "2023-06-09", "2023-06-10"},
      {"on monday, with Ann", "2023-06-12", "2023-06-13"},
      {"this Friday", "2023-06-16", "2023-06-17"},
      {"on Tuesday of last week", "2023-06-06", "2023-06-07"},
      {"deploys since Monday", "2023-06-12", "2023-06-14T15:30:00Z"},
      {"from Monday to Thursday", "2023-06-05", "2023-06-09"},
  };
  CHECK_ALL(wednesday, all);
}

TEST(weeks) {
  static const struct expected all[] = {
      {"What did we decide last week?", "2023-06-05", "2023-06-12"},
      {"last-week changes", "2023-06-05", "2023-06-12"},
      {"last week\xe2\x80\x99s decision", "2023-06-05", "2023-06-12"},
      {"earlier this week", "2023-06-12", "2023-06-19"},
      {"the week before last", "2023-05-29", "2023-06-05"},
      {"two weeks ago", "2023-05-28T03:30:00Z", "2023-06-04T03:30:00Z"},
      {"about 2 weeks ago, was it?", "2023-05-28T03:30:00Z", "2023-06-04T03:30:00Z"},
      {"in the last week", "2023-06-07T15:30:00Z", "2023-06-14T15:30:00Z"},
      {"over the past two weeks", "2023-05-31T15:30:00Z", "2023-06-14T15:30:00Z"},
      {"last weekend", "2023-06-10", "2023-06-12"},
      {"what did I do over the weekend?", "2023-06-10", "2023-06-12"},
      /* 14 days on both sides of 24 May: half of the three weeks and half a week */
      {"a few weeks ago", "2023-05-10T15:30:00Z", "2023-06-07T15:30:00Z"},
  };
  CHECK_ALL(wednesday, all);
}

TEST(months) {
  static const struct expected all[] = {
      {"What did Caroline paint in March?", "2023-03-01", "2023-04-01"},
      {"in march", "2023-03-01", "2023-04-01"},
      {"in may I was in Rome", "2023-05-01", "2023-06-01"},
      {"in June", "2023-06-01", "2023-07-01"},
      {"in September", "2022-09-01", "2022-10-01"},
      {"last June", "2022-06-01", "2022-07-01"},
      {"mid-February", "2023-02-01", "2023-03-01"},
      {"at the end of May", "2023-05-01", "2023-06-01"},
      {"in March 2021", "2021-03-01", "2021-04-01"},
      {"Dec. 2020 report", "2020-12-01", "2021-01-01"},
      {"releases of 2023-05", "2023-05-01", "2023-06-01"},
      {"this month", "2023-06-01", "2023-07-01"},
      {"last month", "2023-05-01", "2023-06-01"},
      {"in the past month", "2023-05-14T15:30:00Z", "2023-06-14T15:30:00Z"},
      {"the last three months", "2023-03-14T15:30:00Z", "2023-06-14T15:30:00Z"},
      /* 15 days on both sides of 14 April */
      {"on the Wednesday two months ago", "2023-03-30T15:30:00Z", "2023-04-29T15:30:00Z"},
      {"between March and May", "2023-03-01", "2023-06-01"},
      {"from November to January", "2022-11-01", "2023-02-01"},
      {"from March to May 2021", "2021-03-01", "2021-06-01"},
      {"since April", "2023-04-01", "2023-06-14T15:30:00Z"},
      {"after April", "2023-05-01", "2023-06-14T15:30:00Z"},
  };
  CHECK_ALL(wednesday, all);
}

TEST(dates) {
  static const struct expected all[] = {
      {"on 8 May 2023", "2023-05-08", "2023-05-09"},
      {"May 8, 2023", "2023-05-08", "2023-05-09"},
      {"on may 8", "2023-05-08", "2023-05-09"},
      {"the 8th of may", "2023-05-08", "2023-05-09"},
      {"dinner with Maria on May 3rd, 2022?", "2022-05-03", "2022-05-04"},
      {"Monday, 8 May 2023", "2023-05-08", "2023-05-09"},
      {"Sept. 5", "2022-09-05", "2022-09-06"},
      {"the June 14 release", "2023-06-14", "2023-06-15"},
      {"the June 15 release", "2022-06-15", "2022-06-16"},
      {"2023-05-08", "2023-05-08", "2023-05-09"},
      {"at 2023-05-08T10:11:12Z", "2023-05-08", "2023-05-09"},
      {"(2023/05/08)", "2023-05-08", "2023-05-09"},
      {"on 29 February", "2020-02-29", "2020-03-01"},
      {"two days before May 5", "2023-05-02T12:00:00Z", "2023-05-03T12:00:00Z"},
      {"the day after 2023-05-08", "2023-05-08T12:00:00Z", "2023-05-09T12:00:00Z"},
      {"between May 3 and May 10", "2023-05-03", "2023-05-11"},
  };
  CHECK_ALL(wednesday, all);
}

TEST(longer_times) {
  static const struct expected all[] = {
      {"in 2022", "2022-01-01", "2023-01-01"},
      {"since 2021", "2021-01-01", "2023-06-14T15:30:00Z"},
      {"last year", "2022-01-01", "2023-01-01"},
      {"this year", "2023-01-01", "2024-01-01"},
      {"since the start of the year", "2023-01-01", "2023-06-14T15:30:00Z"},
      {"in Q3", "2022-07-01", "2022-10-01"},
      {"Q1 2023 numbers", "2023-01-01", "2023-04-01"},
      {"last quarter", "2023-01-01", "2023-04-01"},
      {"last summer", "2022-06-01", "2022-09-01"},
      {"this summer", "2023-06-01", "2023-09-01"},
      {"in the summer of 2021", "2021-06-01", "2021-09-01"},
      {"last winter", "2022-12-01", "2023-03-01"},
      {"what have I read recently", "2023-05-31T15:30:00Z", "2023-06-14T15:30:00Z"},
  };
  CHECK_ALL(wednesday, all);
}

TEST(the_calendar_at_its_edges) {
  static const struct expected new_year[] = {
      {"yesterday", "2023-12-31", "2024-01-01"},   {"last week", "2023-12-25", "2024-01-01"},
      {"last month", "2023-12-01", "2024-01-01"},  {"last quarter", "2023-10-01", "2024-01-01"},
      {"in December", "2023-12-01", "2024-01-01"}, {"this winter", "2023-12-01", "2024-03-01"},
      {"last Monday", "2023-12-25", "2023-12-26"},
  };
  CHECK_ALL("2024-01-01T00:00:00Z", new_year);
  /* a month before 31 March is the last day of February */
  static const struct expected short_month[] = {{"a month ago", "2023-02-13T12:00:00Z", "2023-03-15T12:00:00Z"}};
  CHECK_ALL("2023-03-31T12:00:00Z", short_month);
}

TEST(before_means_all_earlier_times) {
  struct when w;
  CHECK(when_find(STR("anything before March 2023"), at(wednesday), &w));
  CHECK_INT(w.until, at("2023-03-01"));
  CHECK(w.from <= at("2014-01-01"));
  CHECK(when_find(STR("until yesterday"), at(wednesday), &w));
  CHECK_INT(w.until, at("2023-06-14"));
}

TEST(the_most_specific_expression_counts) {
  static const struct expected all[] = {
      {"what happened in March, and what on 8 May 2023?", "2023-05-08", "2023-05-09"},
      {"recently, I think last month", "2023-05-01", "2023-06-01"},
      {"yesterday or on Monday", "2023-06-13", "2023-06-14"},
  };
  CHECK_ALL(wednesday, all);
}

TEST(ambiguous_words_are_not_times) {
  static const char *const none[] = {"",
                                     " ",
                                     "may I use tabs here?",
                                     "May I use tabs here?",
                                     "this may be wrong",
                                     "which of the 5 may be used",
                                     "march on",
                                     "march 5 miles",
                                     "March 5 miles",
                                     "the march of progress",
                                     "in the march",
                                     "a second attempt",
                                     "wait a second",
                                     "in the last step",
                                     "the last one",
                                     "the last minute change",
                                     "at last",
                                     "this time",
                                     "the last week of the course",
                                     "5 days",
                                     "a timeout of 30 days",
                                     "how many days of leave do I have",
                                     "how many days passed between 8 May 2023 and yesterday?",
                                     "how long ago did I visit Rome",
                                     "how many weeks ago did I meet my aunt in March",
                                     "how long have we been married since 2019",
                                     "every Monday",
                                     "on Mondays",
                                     "next week",
                                     "tomorrow",
                                     "monday.com",
                                     "in Spring",
                                     "since Spring 5",
                                     "fall back",
                                     "before Christmas",
                                     "in the past",
                                     "in 2000 steps",
                                     "in 2048",
                                     "version 2023",
                                     "see Q3 in the list",
                                     "sat on the sun",
                                     "on wed",
                                     "a letter from April",
                                     "a long time ago",
                                     "2023-13-40",
                                     "2023-02-30",

                                     "v1.2.3",
                                     "ago",
                                     "of",
                                     "the",
                                     "in",
                                     "since",
                                     "last",
                                     "between",
                                     "week",
                                     "two weeks",
                                     "5000 years ago",
                                     "in 10 days",
                                     "W M D Y",
                                     "April",
                                     "on Saturday mornings",
                                     "which tool do we use today",
                                     "after the 2016 election",
                                     "Ask June about the tests",
                                     "past",
                                     "the current user",
                                     "which? week last",
                                     "the last. Week"};
  for (size_t i = 0; i < ARRAY_LEN(none); i++) {
    struct when w = {1, 2, 3};
    test_note("%s", none[i]);
    CHECK(!when_find(str_from(none[i]), at(wednesday), &w));
    CHECK(w.from == 1 && w.until == 2);
  }
}

TEST(closeness_falls_from_one_to_zero) {
  struct when w = {1000, 3000, 400};
  CHECK(when_closeness(&w, 1000) == 1 && when_closeness(&w, 2999) == 1);
  CHECK(when_closeness(&w, 800) == 0.5 && when_closeness(&w, 3200) == 0.5);
  /* 1 - 3/16 + 2/64 */
  CHECK(when_closeness(&w, 900) == 0.84375);
  CHECK(when_closeness(&w, 600) == 0 && when_closeness(&w, 3400) == 0);
  CHECK(when_closeness(&w, INT64_MIN) == 0 && when_closeness(&w, INT64_MAX) == 0);
  double last = 1;
  for (int64_t t = 3000; t < 3400; t += 10) {
    CHECK(when_closeness(&w, t) <= last);
    last = when_closeness(&w, t);
  }
  struct when point = {5, 5, 0};
  CHECK(when_closeness(&point, 4) == 0 && when_closeness(&point, 5) == 0);
}

TEST(the_slack_is_the_length_of_the_window) {
  struct when w;
  CHECK(when_find(STR("last week"), at(wednesday), &w));
  CHECK(w.slack_ms == (double)(7 * MS_PER_DAY));
  CHECK(when_find(STR("since Monday"), at(wednesday), &w));
  CHECK(w.slack_ms == (double)MS_PER_DAY);
}

TEST(only_the_beginning_of_a_long_query_is_read) {
  static const char *const units[] = {
      "x",    " ", "in ", "last ", "the ", "a a ", "2023-", "may ", "between May and ", "\xe4\xb8\x96",
      "\xff", "-", "'s "};
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    struct arena a;
    arena_init(&a);
    struct buf query = BUF(&a);
    while (query.n < 1 << 20)
      buf_adds(&query, units[i]);
    buf_adds(&query, " yesterday");
    struct when w;
    if (when_find(buf_str(&query), at(wednesday), &w))
      CHECK(w.from != at("2023-06-13"));
    arena_release(&a);
  }
}

TEST(a_wrong_clock_gives_no_time) {
  struct when w;
  CHECK(!when_find(STR("yesterday"), -1, &w));
  CHECK(!when_find(STR("yesterday"), INT64_MAX, &w));
  CHECK(!when_find(STR("yesterday"), INT64_MIN, &w));
}
