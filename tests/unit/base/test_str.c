/* test_str.c: comparing, searching, splitting and parsing slices. */
#include "base/str.h"

#include <locale.h>
#include <math.h>

#include "support/harness.h"

TEST(equality_is_by_bytes) {
  CHECK(str_eq(STR("abc"), STR("abc")));
  CHECK(!str_eq(STR("abc"), STR("abd")));
  CHECK(!str_eq(STR("abc"), STR("ab")));
  CHECK(str_eq(STR_NONE, STR("")));
  CHECK(!str_eq((struct str){"a\0b", 3}, (struct str){"a\0c", 3}));
  CHECK(str_is(STR("x"), "x"));
  CHECK(!str_is(STR("x"), "xy"));
  CHECK(str_empty(STR_NONE));
  CHECK(!str_empty(STR(" ")));
}

TEST(from_null_is_absent) {
  CHECK(str_from(NULL).p == NULL);
  CHECK_INT(str_from(NULL).n, 0);
  CHECK(str_from("").p != NULL);
  CHECK_INT(str_from("four").n, 4);
}

TEST(slices) {
  CHECK_STR(str_slice(STR("abcdef"), 2, 4), "cd");
  CHECK_STR(str_slice(STR("abcdef"), 6, 6), "");
  CHECK_INT(str_slice(STR_NONE, 0, 0).n, 0);
}

static int sign(int c) { return (c > 0) - (c < 0); }

TEST(order_is_by_unsigned_bytes_and_prefixes_first) {
  CHECK_INT(sign(str_cmp(STR("a"), STR("b"))), -1);
  CHECK_INT(sign(str_cmp(STR("b"), STR("a"))), 1);
  CHECK_INT(sign(str_cmp(STR("a"), STR("a"))), 0);
  CHECK_INT(sign(str_cmp(STR("a"), STR("ab"))), -1);
  CHECK_INT(sign(str_cmp(STR("z"), STR("\xc3\xa9"))), -1);
  CHECK_INT(sign(str_cmp(STR_NONE, STR("a"))), -1);
  CHECK_INT(sign(str_cmp(STR_NONE, STR_NONE)), 0);
}

TEST(only_ascii_case_is_ignored) {
  CHECK(str_ieq(STR("Content-TYPE"), STR("content-type")));
  CHECK(!str_ieq(STR("a"), STR("ab")));
  CHECK(!str_ieq(STR("\xc3\x89"), STR("\xc3\xa9")));
  CHECK(!str_ieq(STR("@"), STR("`"))); /* differ by 32, but are not letters */
  CHECK(!str_ieq(STR("["), STR("{")));
}

TEST(prefix_and_suffix) {
  CHECK(str_starts(STR("hello"), STR("he")));
  CHECK(str_starts(STR("hello"), STR("")));
  CHECK(str_starts(STR("hello"), STR("hello")));
  CHECK(!str_starts(STR("hello"), STR("hello!")));
  CHECK(!str_starts(STR("hello"), STR("el")));
  CHECK(str_ends(STR("hello"), STR("lo")));
  CHECK(str_ends(STR("hello"), STR("")));
  CHECK(!str_ends(STR("hello"), STR("ll")));
  CHECK(!str_ends(STR("lo"), STR("hello")));
  CHECK(str_starts(STR_NONE, STR_NONE));
  CHECK(str_ends(STR_NONE, STR_NONE));
}

TEST(find) {
  struct str s = STR("abcabc");
  CHECK_INT(str_find(s, STR("abc"), 0), 0);
  CHECK_INT(str_find(s, STR("abc"), 1), 3);
  CHECK(str_find(s, STR("abc"), 4) == SIZE_MAX);
  CHECK(str_find(s, STR("abcabcd"), 0) == SIZE_MAX);
  CHECK(str_find(s, STR("x"), 0) == SIZE_MAX);
  CHECK_INT(str_find(s, STR("c"), 5), 5);
  CHECK(str_find(s, STR("c"), 6) == SIZE_MAX);
  CHECK(str_find(s, STR("c"), 600) == SIZE_MAX);
  CHECK_INT(str_find(s, STR(""), 6), 6);
  CHECK(str_find(s, STR(""), 7) == SIZE_MAX);
  CHECK(str_find(STR_NONE, STR("a"), 0) == SIZE_MAX);
}

TEST(trim) {
  CHECK_STR(str_trim(STR(" \t\r\n\v\fa b \n")), "a b");
  CHECK_STR(str_trim(STR("   ")), "");
  CHECK_STR(str_trim(STR_NONE), "");
  CHECK_STR(str_trim(STR("\xc2\xa0x")), "\xc2\xa0x"); /* a no-break space is not ASCII */
}

TEST(parts_between_separators) {
  struct str rest = STR("a,,b,"), part;
  CHECK(str_next(&rest, ',', &part));
  CHECK_STR(part, "a");
  CHECK(str_next(&rest, ',', &part));
  CHECK_STR(part, "");
  CHECK(str_next(&rest, ',', &part));
  CHECK_STR(part, "b");
  CHECK(!str_next(&rest, ',', &part));
  CHECK_STR(part, "b"); /* untouched */
  struct str none = STR_NONE;
  CHECK(!str_next(&none, ',', &part));
}

TEST(lines_end_in_lf_or_crlf) {
  struct str rest = STR("one\r\ntwo\n\n\rthree\r\r\nfour"), line;
  static const char *const want[] = {"one", "two", "", "\rthree\r", "four"};
  for (size_t i = 0; i < ARRAY_LEN(want); i++) {
    CHECK(str_line(&rest, &line));
    CHECK_STR(line, want[i]);
  }
  CHECK(!str_line(&rest, &line));
}

TEST(integers) {
  static const struct {
    const char *text;
    int64_t value;
  } good[] = {{"0", 0},
              {"-0", 0},
              {"+7", 7},
              {"007", 7},
              {"-42", -42},
              {"9223372036854775807", INT64_MAX},
              {"-9223372036854775808", INT64_MIN}};
  for (size_t i = 0; i < ARRAY_LEN(good); i++) {
    int64_t value = 99;
    CHECK(str_int64(str_from(good[i].text), &value));
    CHECK_INT(value, good[i].value);
  }
}

TEST(rejected_integers_leave_the_result_unchanged) {
  static const char *const bad[] = {"",
                                    "-",
                                    "+",
                                    " 1",
                                    "1 ",
                                    "1.0",
                                    "1e3",
                                    "0x10",
                                    "--1",
                                    "+-1",
                                    "1_0",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "99999999999999999999999"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    int64_t value = 99;
    if (str_int64(str_from(bad[i]), &value))
      FAIL("\"%s\" was taken", bad[i]);
    CHECK_INT(value, 99);
  }
  int64_t value;
  CHECK(!str_int64((struct str){"1\0", 2}, &value));
}

TEST(numbers) {
  static const struct {
    const char *text;
    double value;
  } good[] = {{"1", 1},        {"0.25", 0.25}, {"-0.5", -0.5},
              {"1e-3", 0.001}, {"2E+2", 200},  {".5", 0.5},
              {"+3.", 3},      {"1e-400", 0},  {"1.7976931348623157e308", 1.7976931348623157e308}};
  for (size_t i = 0; i < ARRAY_LEN(good); i++) {
    double value = 99;
    CHECK(str_double(str_from(good[i].text), &value));
    CHECK(value == good[i].value);
  }
}

TEST(rejected_numbers) {
  static const char *const bad[] = {"",      ".",     "e5", "1e", "nan", "inf",  "-inf",
                                    "1e400", "0x1p3", " 1", "1 ", "1,5", "1.2.3"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    double value = 99;
    if (str_double(str_from(bad[i]), &value))
      FAIL("\"%s\" was taken", bad[i]);
    CHECK(value == 99);
  }
  double value;
  CHECK(!str_double((struct str){"1\0", 2}, &value));
  CHECK(!str_double(STR("1.0000000000000000000000000000000000000000000000000000000000000000000"), &value));
}

TEST(numbers_do_not_depend_on_the_locale) {
  /* If no such locale is installed, this repeats the test above. */
  (void)(setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8"));
  double value;
  CHECK(str_double(STR("0.25"), &value));
  CHECK(value == 0.25);
  CHECK(!str_double(STR("0,25"), &value));
}

/* Against the definitions, for every byte. */
TEST(ascii_classes) {
  for (int i = 0; i < 256; i++) {
    char c = (char)i;
    bool lower = i >= 97 && i <= 122, upper = i >= 65 && i <= 90, digit = i >= 48 && i <= 57;
    CHECK_INT(ascii_alpha(c), lower || upper);
    CHECK_INT(ascii_digit(c), digit);
    CHECK_INT(ascii_alnum(c), lower || upper || digit);
    CHECK_INT(ascii_upper(c), upper);
    CHECK_INT(ascii_space(c), i == 32 || (i >= 9 && i <= 13));
    CHECK_INT((unsigned char)ascii_lower(c), upper ? i + 32 : i);
  }
}

/* Test vectors of the algorithm's authors. */
TEST(hashes_are_fnv_1a) {
  CHECK(str_hash(STR_HASH, STR("")) == UINT64_C(0xcbf29ce484222325));
  CHECK(str_hash(STR_HASH, STR("a")) == UINT64_C(0xaf63dc4c8601ec8c));
  CHECK(str_hash(STR_HASH, STR("foobar")) == UINT64_C(0x85944171f73967e8));
  CHECK(str_hash(str_hash(STR_HASH, STR("foo")), STR("bar")) == UINT64_C(0x85944171f73967e8));
}
