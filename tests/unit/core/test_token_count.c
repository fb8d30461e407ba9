/* test_token_count.c: the token estimate is conservative and additive. */
#include "core/text/token_count.h"

#include "base/utf8.h"
#include "support/harness.h"

TEST(an_empty_text_has_no_tokens) {
  CHECK_INT(tokens_estimate(STR("")), 0);
  CHECK_INT(tokens_cut(STR("abc"), 0).n, 0);
}

TEST(english_has_about_four_characters_per_token) {
  /* 44 characters, 9 words: 11 by characters / 4, 12 by words / 0.75. */
  CHECK_INT(tokens_estimate(STR("The quick brown fox jumps over the lazy dog.")), 12);
  /* Short words: 8 / 0.75 is more than 15 / 4. */
  CHECK_INT(tokens_estimate(STR("a b c d e f g h")), 11);
  /* One long word: 40 / 4. */
  CHECK_INT(tokens_estimate(STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")), 10);
}

TEST(unspaced_scripts_have_one_token_per_character) {
  CHECK_INT(tokens_estimate(STR("\xe4\xb8\x96\xe7\x95\x8c\xe4\xbd\xa0\xe5\xa5\xbd")), 4);
  CHECK(tokens_estimate(STR("\xe3\x81\x93\xe3\x82\x93\xe3\x81\xab\xe3\x81\xa1\xe3\x81\xaf")) >= 5);
}

TEST(code_and_numbers_cost_more_than_prose) {
  struct str code = STR("if(x[i]!=NULL){f(&y->z,0x1F);}");
  struct str prose = STR("the same thirty bytes of prose");
  CHECK_INT(code.n, prose.n);
  CHECK(tokens_estimate(code) > tokens_estimate(prose));
  /* At least a tenth more than characters / 4, as measured for code. */
  CHECK(tokens_estimate(code) * 40 >= code.n * 11);
  CHECK(tokens_estimate(STR("2024-11-15T10:42:07Z")) >= 9);
  CHECK(tokens_estimate(STR("\xf0\x9f\x8e\x89")) >= 2);
}

TEST(parts_never_add_up_to_less_than_the_whole) {
  struct str s =
      STR("Mixed text: caf\xc3\xa9 \xe4\xb8\x96\xe7\x95\x8c,   f(x) = 42;\n\n\t\tnext \xf0\x9f\x8e\x89 line.");
  size_t whole = tokens_estimate(s);
  for (size_t i = 0; i <= s.n; i++) {
    size_t cut = utf8_cut(s, i).n;
    size_t left = tokens_estimate(str_slice(s, 0, cut)), right = tokens_estimate(str_slice(s, cut, s.n));
    CHECK(left <= whole && right <= whole);
    CHECK(left + right >= whole && left + right <= whole + 3);
  }
}

TEST(cut_is_the_longest_that_fits) {
  struct str s = STR("The quick brown fox \xe4\xb8\x96\xe7\x95\x8c jumps");
  size_t last = 0;
  for (size_t max = 0; max < 20; max++) {
    struct str cut = tokens_cut(s, max);
    CHECK(tokens_estimate(cut) <= max);
    CHECK_INT(utf8_check(cut), cut.n);
    CHECK(cut.n >= last);
    last = cut.n;
    if (cut.n < s.n) {
      size_t next = cut.n;
      utf8_next(s, &next);
      CHECK(tokens_estimate(str_slice(s, 0, next)) > max);
    }
  }
  CHECK_INT(last, s.n);
}
