/* test_clock.c: RFC 3339 timestamps, durations, fixed clocks. */
#include "base/os/clock.h"

#include "support/harness.h"

static int64_t parsed(const char *text) {
  int64_t ms = 0;
  if (!time_parse(str_from(text), &ms))
    FAIL("\"%s\" was refused", text);
  return ms;
}

TEST(rfc_3339_examples) {
  /* Section 5.8. */
  CHECK_INT(parsed("1985-04-12T23:20:50.52Z"), INT64_C(482196050520));
  CHECK_INT(parsed("1996-12-19T16:39:57-08:00"), INT64_C(851042397000));
  CHECK_INT(parsed("1996-12-20T00:39:57Z"), INT64_C(851042397000));
  /* A leap second equals the first second of the next minute. */
  CHECK_INT(parsed("1990-12-31T23:59:60Z"), INT64_C(662688000000));
  CHECK_INT(parsed("1990-12-31T15:59:60-08:00"), INT64_C(662688000000));
  CHECK_INT(parsed("1937-01-01T12:00:27.87+00:20"), INT64_C(-1041337172130));
}

TEST(accepted_formats) {
  CHECK_INT(parsed("1970-01-01T00:00:00Z"), 0);
  CHECK_INT(parsed("1970-01-01t00:00:01z"), 1000);
  CHECK_INT(parsed("1970-01-01 00:00:01Z"), 1000);
  CHECK_INT(parsed("1970-01-02"), 86400000);
  CHECK_INT(parsed("1969-12-31T23:59:59.999Z"), -1);
  CHECK_INT(parsed("1970-01-01T00:00:00.1Z"), 100);
  CHECK_INT(parsed("1970-01-01T00:00:00.123456789Z"), 123); /* digits beyond the millisecond are dropped */
  CHECK_INT(parsed("1970-01-01T00:00:00-00:00"), 0);
  CHECK_INT(parsed("1970-01-01T05:30:00+05:30"), 0);
  CHECK_INT(parsed("0001-01-01T00:00:00Z"), INT64_C(-62135596800000));
  CHECK_INT(parsed("9999-12-31T23:59:59.999Z"), INT64_C(253402300799999));
}

TEST(leap_years) {
  int64_t ms;
  CHECK_INT(parsed("2000-02-29"), INT64_C(951782400000));
  CHECK_INT(parsed("2024-02-29T23:59:59.999Z"), INT64_C(1709251199999));
  CHECK(!time_parse(STR("1900-02-29"), &ms));
  CHECK(!time_parse(STR("2100-02-29"), &ms));
  CHECK(!time_parse(STR("2023-02-29"), &ms));
  CHECK_INT(parsed("1900-03-01") - parsed("1900-02-28"), MS_PER_DAY);
  CHECK_INT(parsed("2000-03-01") - parsed("2000-02-28"), 2 * MS_PER_DAY);
  CHECK_INT(parsed("2100-03-01"), INT64_C(4107542400000));
}

TEST(rejected_formats) {
  static const char *const bad[] = {
      "",
      "now",
      "2026",
      "2026-11",
      "2026-1-15",
      "2026-13-01",
      "2026-00-01",
      "2026-04-31",
      "2026-01-00",
      "0000-01-01",
      "-001-01-01",
      "2026-11-15T",
      "2026-11-15T11:45",
      "2026-11-15T11:45:10",
      "2026-11-15T24:00:00Z",
      "2026-11-15T11:60:00Z",
      "2026-11-15T11:45:61Z",
      "2026-11-15T11:45:10.Z",
      "2026-11-15T11:45:10,5Z",
      "2026-11-15T11:45:10Z ",
      " 2026-11-15",
      "2026-11-15T11:45:10+0100",
      "2026-11-15T11:45:10+01",
      "2026-11-15T11:45:10+24:00",
      "2026-11-15T11:45:10+01:60",
      "2026-11-15X11:45:10Z",
      "2026/11/15",
      "20261115",
      "0001-01-01T00:00:00+00:01",     /* before the first year */
      "9999-12-31T23:59:59.999-00:01", /* after the last */
      "9999-12-31T23:59:60Z",
  };
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    int64_t ms = 77;
    if (time_parse(str_from(bad[i]), &ms))
      FAIL("\"%s\" was taken", bad[i]);
    CHECK_INT(ms, 77);
  }
  int64_t ms;
  CHECK(!time_parse((struct str){"2026-11-15\0", 11}, &ms));
  CHECK(!time_parse(STR_NONE, &ms));
}

static struct str formatted(int64_t ms) {
  static char text[TIME_TEXT_SIZE];
  return time_format(ms, text);
}

TEST(format) {
  CHECK_STR(formatted(0), "1970-01-01T00:00:00.000Z");
  CHECK_STR(formatted(-1), "1969-12-31T23:59:59.999Z");
  CHECK_STR(formatted(INT64_C(1794743110123)), "2026-11-15T11:45:10.123Z");
  CHECK_STR(formatted(INT64_C(951782400000)), "2000-02-29T00:00:00.000Z");
  CHECK_STR(formatted(INT64_C(-62135596800000)), "0001-01-01T00:00:00.000Z");
  CHECK_STR(formatted(INT64_C(253402300799999)), "9999-12-31T23:59:59.999Z");
}

TEST(format_of_any_number_fits) {
  CHECK(formatted(INT64_MAX).n < TIME_TEXT_SIZE);
  CHECK(formatted(INT64_MIN).n < TIME_TEXT_SIZE);
}

TEST(format_and_parse_agree) {
  /* A step coprime to a day reaches every part of a date. */
  for (int64_t ms = INT64_C(-62135596800000); ms < INT64_C(253402300800000); ms += INT64_C(86400000) * 97 + 12345679)
    CHECK_INT(parsed(formatted(ms).p), ms);
}

TEST(every_day_of_four_centuries_follows_the_last) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t ms = parsed("1999-12-31");
  for (int y = 2000; y < 2400; y++)
    for (int m = 1; m <= 12; m++) {
      bool leap = y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
      for (int d = 1; d <= days[m - 1] + (m == 2 && leap); d++) {
        char text[32];
        snprintf(text, sizeof(text), "%04d-%02d-%02d", y, m, d);
        ms += MS_PER_DAY;
        CHECK_INT(parsed(text), ms);
      }
    }
}

TEST(durations) {
  static const struct {
    const char *text;
    int64_t ms;
  } good[] = {{"90s", 90000},
              {"30m", 1800000},
              {"24h", 86400000},
              {"7d", 604800000},
              {"2w", 1209600000},
              {"1s", 1000},
              {"36525d", 36525 * MS_PER_DAY},
              {"007d", 604800000}};
  for (size_t i = 0; i < ARRAY_LEN(good); i++) {
    int64_t ms = 0;
    CHECK(duration_parse(str_from(good[i].text), &ms));
    CHECK_INT(ms, good[i].ms);
  }
  static const char *const bad[] = {"",
                                    "s",
                                    "5",
                                    "0s",
                                    "-5m",
                                    "+5m",
                                    "5 m",
                                    "1.5h",
                                    "5ms",
                                    "5M",
                                    "5y",
                                    "5mm",
                                    "h5",
                                    "36526d",
                                    "99999999999999999999d",
                                    "9223372036854775807w"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    int64_t ms = 77;
    if (duration_parse(str_from(bad[i]), &ms))
      FAIL("\"%s\" was taken", bad[i]);
    CHECK_INT(ms, 77);
  }
}

TEST(time_or_duration_takes_both) {
  int64_t now = INT64_C(1794743110123), ms = 0;
  CHECK(time_or_duration_parse(STR("1h"), now, 1, &ms));
  CHECK_INT(ms, now + 3600000);
  CHECK(time_or_duration_parse(STR("1h"), now, -1, &ms));
  CHECK_INT(ms, now - 3600000);
  CHECK(time_or_duration_parse(STR("1970-01-02"), now, -1, &ms));
  CHECK_INT(ms, 86400000);
  CHECK(!time_or_duration_parse(STR("tomorrow"), now, 1, &ms));
}

TEST(a_fixed_clock_does_not_advance) {
  struct clock fixed = {.fixed = 1234567890123};
  CHECK_INT(clock_now(&fixed), INT64_C(1234567890123));
  struct clock system = {0};
  int64_t before = clock_now(NULL), between = clock_now(&system), after = clock_now(NULL);
  CHECK(before <= between && between <= after);
  CHECK(between > INT64_C(1700000000000)); /* later than 2023 */
}

TEST(ticks_go_forward) {
  int64_t last = clock_ticks_us();
  for (int i = 0; i < 1000; i++) {
    int64_t next = clock_ticks_us();
    CHECK(next >= last);
    last = next;
  }
}
