/* test_eval_set.c: time formats of the test sets. */
#include "op/eval/set.h"
#include "support/harness.h"

static void check_time(const char *text, const char *want) {
  int64_t ms = 0, wanted = 1;
  test_note("%s", text);
  CHECK(eval_time(str_from(text), &ms));
  CHECK(time_parse(str_from(want), &wanted));
  CHECK_INT(ms, wanted);
}

TEST(times_of_test_sets) {
  check_time("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z");
  check_time("12:09 am on 13 September, 2023", "2023-09-13T00:09:00Z");
  check_time("12:30 pm on 1 January, 2022", "2022-01-01T12:30:00Z");
  check_time("9:05 am on 29 February, 2024", "2024-02-29T09:05:00Z");
  check_time("2023/05/30 (Tue) 20:36", "2023-05-30T20:36:00Z");
  check_time("2023/05/30 20:36", "2023-05-30T20:36:00Z");
  check_time("2023/05/30", "2023-05-30T00:00:00Z");
  check_time("2023-05-30", "2023-05-30T00:00:00Z");
  check_time("2023-05-30T10:00:00+02:00", "2023-05-30T08:00:00Z");
}

TEST(invalid_times) {
  static const char *const texts[] = {"",
                                      "soon",
                                      "13:56 pm on 8 May, 2023",
                                      "1:56 pm on 8 Mai, 2023",
                                      "1:56 pm on 31 June, 2023",
                                      "1:56 pm on 8 May, 2023 or so",
                                      "2023/13/01",
                                      "2023/05/30 (Tue",
                                      "2023/05/30 (Tue) 25:00",
                                      "2023/05/30 (Tue) 20"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    int64_t ms = 7;
    test_note("%s", texts[i]);
    CHECK(!eval_time(str_from(texts[i]), &ms));
    CHECK_INT(ms, 7);
  }
}
