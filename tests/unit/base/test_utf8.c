/* test_utf8.c: UTF-8 (RFC 3629), character classes, folding. */
#include "base/utf8.h"

#include "support/harness.h"

TEST(rfc_3629_examples_are_valid) {
  /* Section 7. */
  CHECK_INT(utf8_check(STR("\x41\xe2\x89\xa2\xce\x91\x2e")), 7);
  CHECK_INT(utf8_check(STR("\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4")), 9);
  CHECK_INT(utf8_check(STR("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e")), 9);
  CHECK_INT(utf8_check(STR("\xef\xbb\xbf\xf0\xa3\x8e\xb4")), 7);
  CHECK_INT(utf8_check(STR("")), 0);
  CHECK_INT(utf8_check(STR_NONE), 0);
  CHECK_INT(utf8_check((struct str){"a\0b", 3}), 3);
}

TEST(offset_of_invalid_sequences) {
  static const char *const bad[] = {
      "\x80",                     /* lone continuation byte */
      "\xbf",                     /* the last continuation byte */
      "\xc0\xaf",                 /* overlong "/" in two bytes */
      "\xc1\xbf",                 /* the largest overlong of two bytes */
      "\xe0\x80\xaf",             /* in three */
      "\xe0\x9f\xbf",             /* the largest overlong of three */
      "\xf0\x80\x80\xaf",         /* in four */
      "\xf0\x8f\xbf\xbf",         /* the largest overlong of four */
      "\xed\xa0\x80",             /* first surrogate, U+D800 */
      "\xed\xbf\xbf",             /* last surrogate, U+DFFF */
      "\xf4\x90\x80\x80",         /* U+110000 */
      "\xf5\x80\x80\x80",         /* beyond */
      "\xf8\x88\x80\x80\x80",     /* five bytes */
      "\xfc\x84\x80\x80\x80\x80", /* six bytes */
      "\xfe",
      "\xff",
      "\xc3",         /* cut short */
      "\xe2\x82",     /* cut short */
      "\xf0\x9f\x99", /* cut short */
      "\xc3\x28",     /* lead without continuation */
      "\xe2\x28\xa1",
      "\xe2\x82\x28",
      "\xf0\x28\x8c\xbc",
  };
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    char text[16];
    int n = snprintf(text, sizeof(text), "ab%s", bad[i]);
    CHECK_INT(utf8_check((struct str){text, (size_t)n}), 2);
  }
}

/* Lengths by RFC 3629, section 3. */
TEST(every_code_point_round_trips) {
  for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
    if (cp >= 0xd800 && cp <= 0xdfff)
      continue;
    char text[4];
    size_t n = utf8_put(cp, text), want = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    CHECK_INT(n, want);
    struct str s = {text, n};
    CHECK_INT(utf8_check(s), n);
    size_t pos = 0;
    CHECK_INT(utf8_next(s, &pos), cp);
    CHECK_INT(pos, n);
  }
}

TEST(put_replaces_invalid_code_points) {
  static const uint32_t bad[] = {0xd800, 0xdfff, 0x110000, 0xffffffff};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    char text[4];
    size_t n = utf8_put(bad[i], text);
    CHECK(str_eq((struct str){text, n}, STR("\xef\xbf\xbd")));
  }
}

TEST(invalid_bytes_are_decoded_one_by_one) {
  struct str s = STR("a\xe2\x82z\xff");
  static const uint32_t want[] = {'a', 0xfffd, 0xfffd, 'z', 0xfffd};
  size_t pos = 0;
  for (size_t i = 0; i < ARRAY_LEN(want); i++)
    CHECK_INT(utf8_next(s, &pos), want[i]);
  CHECK_INT(pos, s.n);
}

TEST(repair_replaces_each_invalid_byte) {
  struct arena a;
  arena_init(&a);
  struct str valid = STR("a\u20ac"), empty = STR("");
  CHECK(utf8_repair(&a, valid, 0).p == valid.p);
  CHECK(utf8_repair(&a, empty, 0).p == empty.p);
  CHECK(utf8_repair(&a, STR_NONE, 0).p == NULL);
  CHECK_STR(utf8_repair(&a, STR("\xff"), SIZE_MAX), "\ufffd");
  CHECK_STR(utf8_repair(&a, STR("a\xe2\x82z\u20ac\xff"), SIZE_MAX), "a\ufffd\ufffdz\u20ac\ufffd");
  arena_release(&a);
}

TEST(repair_has_a_limit) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(utf8_repair(&a, STR("\xffz\xff"), 2), "\ufffdz\ufffd");
  CHECK(utf8_repair(&a, STR("\xffz\xff"), 1).p == NULL);
  arena_release(&a);
}

TEST(cut_is_between_characters) {
  struct str s = STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82z"); /* a e-acute euro smile z: 1 2 3 4 1 bytes */
  static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11};
  for (size_t max = 0; max < ARRAY_LEN(want); max++)
    CHECK_INT(utf8_cut(s, max).n, want[max]);
  CHECK(utf8_cut(s, 3).p == s.p);
  CHECK_INT(utf8_cut(STR_NONE, 5).n, 0);
}

TEST(cut_of_invalid_text_makes_progress) {
  char text[100];
  memset(text, 0x80, sizeof(text));
  CHECK_INT(utf8_cut((struct str){text, sizeof(text)}, 50).n, 50);
}

TEST(length_counts_code_points) {
  CHECK_INT(utf8_length(STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82z")), 5);
  CHECK_INT(utf8_length(STR("")), 0);
}

TEST(classes) {
  CHECK(utf8_is_letter('a') && utf8_is_letter(0xe9) && utf8_is_letter(0x4e2d) && utf8_is_letter(0x5d0));
  CHECK(!utf8_is_letter('1') && !utf8_is_letter(' ') && !utf8_is_letter(0x2014) && !utf8_is_letter(0x1f642));
  CHECK(utf8_is_alnum('1') && utf8_is_alnum(0x0663) && utf8_is_alnum(0x0301)); /* Arabic 3, combining acute */
  CHECK(!utf8_is_alnum('_') && !utf8_is_alnum(0x20ac));
  CHECK(utf8_is_upper('A') && utf8_is_upper(0xc9) && utf8_is_upper(0x416));
  CHECK(!utf8_is_upper('a') && !utf8_is_upper(0xe9) && !utf8_is_upper(0x4e2d));
  CHECK(utf8_is_space(' ') && utf8_is_space('\n') && utf8_is_space(0xa0) && utf8_is_space(0x3000));
  CHECK(!utf8_is_space('a') && !utf8_is_space(0x200b)); /* zero-width space: a format character */
  CHECK(utf8_is_unspaced(0x4e2d) && utf8_is_unspaced(0x3042) && utf8_is_unspaced(0x0e01) && utf8_is_unspaced(0x20000));
  CHECK(!utf8_is_unspaced('a') && !utf8_is_unspaced(0x416) && !utf8_is_unspaced(0xe9));
}

static void check_fold(const char *text, const char *want) {
  struct arena a;
  arena_init(&a);
  struct str once = utf8_fold(&a, str_from(text));
  CHECK_STR(once, want);
  CHECK_STR(utf8_fold(&a, once), want); /* folding is idempotent */
  arena_release(&a);
}

TEST(fold_case_and_accents) {
  check_fold("Hello WORLD 1", "hello world 1");
  check_fold("", "");
  check_fold("\u00c9cole", "ecole");    /* precomposed */
  check_fold("E\u0301cole", "ecole");   /* the same, decomposed */
  check_fold("Stra\u00dfe", "strasse"); /* sharp s */
  check_fold("\u1e9e", "ss");           /* capital sharp s */
  check_fold("\u00c5ngstr\u00f6m", "angstrom");
  check_fold("\u0130", "i");                              /* dotted capital I */
  check_fold("\u03a3\u03c2\u03c3", "\u03c3\u03c3\u03c3"); /* the three sigmas */
  check_fold("\u0416\u0416", "\u0436\u0436");
  check_fold("Vi\u1ec7t", "viet"); /* two accents */
}

TEST(fold_compatibility_forms) {
  check_fold("\ufb01x", "fix");     /* fi ligature */
  check_fold("\uff21\uff22", "ab"); /* full-width */
  check_fold("x\u00b2", "x2");      /* superscript */
  check_fold("\uff76", "\u30ab");   /* half-width katakana */
  check_fold("\u2460", "1");        /* circled digit */
  check_fold("a\u00adb", "ab");     /* soft hyphen is ignorable */
}

TEST(fold_keeps_marks_that_change_the_word) {
  check_fold("\uac00\uac01", "\uac00\uac01"); /* Hangul syllables stay composed */
  check_fold("\u1100\u1161", "\uac00");       /* and are composed from jamo */
  check_fold("\u304c", "\u304c");             /* ga is not ka */
  check_fold("\u304b\u3099", "\u304c");       /* written either way */
  check_fold("\u0e21\u0e35", "\u0e21\u0e35"); /* Thai vowel sign */
  check_fold("\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940"); /* Hindi */
  check_fold("\u2260", "\u2260"); /* not equal is not equal */
  check_fold("=\u0338", "\u2260");
}

TEST(fold_of_invalid_bytes_is_valid) {
  struct arena a;
  arena_init(&a);
  struct str s = utf8_fold(&a, STR("A\xff\xe2\x82Z"));
  CHECK_STR(s, "a\ufffd\ufffd\ufffdz");
  arena_release(&a);
}

TEST(fold_of_many_marks_takes_linear_time) {
  enum { MARKS = 200 * 1000 };
  static char text[2 * MARKS];
  for (size_t i = 0; i < MARKS; i++) /* Hebrew points of descending class: each must move */
    memcpy(text + 2 * i, i % 2 ? "\xd6\xb0" : "\xd6\xbf", 2);
  struct arena a;
  arena_init(&a);
  double started = test_cpu_seconds();
  CHECK_INT(utf8_fold(&a, (struct str){text, sizeof(text)}).n, sizeof(text));
  CHECK(test_cpu_seconds() - started < test_slowness());
  arena_release(&a);
}

TEST(lists_are_merged_without_case_and_accents) {
  struct arena a;
  arena_init(&a);
  struct str own[] = {STR("Boat"), STR("caf\xc3\xa9")};
  struct str more[] = {STR("boat"), STR("CAF\xc3\x89"), STR("tea"), STR("TEA"), STR("boats")};
  struct strs list = {0};
  utf8_list_merge(&a, &list, &(struct strs){own, 2, 2});
  utf8_list_merge(&a, &list, &(struct strs){more, 5, 5});
  CHECK_INT(list.n, 4);
  CHECK_STR(list.v[0], "Boat");
  CHECK_STR(list.v[2], "tea");
  CHECK_STR(list.v[3], "boats");
  CHECK(utf8_list_has(&a, &list, STR("BOATS")) && utf8_list_has(&a, &list, STR("Caf\xc3\xa9")));
  CHECK(!utf8_list_has(&a, &list, STR("coffee")));
  arena_release(&a);
}
