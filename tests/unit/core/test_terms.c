/* test_terms.c: derived tokens of the full-text index, and stop words. */
#include "core/text/terms.h"
#include "support/harness.h"

static struct arena arena;
static struct str stored(const char *text) { return terms_derive(&arena, str_from(text), TERMS_FOR_INDEX); }
static struct str asked(const char *text) { return terms_derive(&arena, str_from(text), TERMS_FOR_QUERY); }

TEST(ordinary_prose_has_no_derived_terms) {
  CHECK_STR(stored("The proxy listens on port 8443. It doesn't restart, does it? 50% (or so)."), "");
  CHECK_STR(stored("Der Prüfstand läuft über Nacht; naïve Größen…"), "");
  CHECK_STR(stored(""), "");
}

TEST(unspaced_scripts_give_characters_and_pairs) {
  CHECK_STR(stored("東京都"), "東 京 東京 都 京都");
  CHECK_STR(stored("東京 と"), "東 京 東京 と");
  CHECK_STR(stored("see 東 now"), "東");
  CHECK_STR(stored("한국어"), "한 국 한국 어 국어");
  CHECK_STR(stored("ｶﾅ"), "カ ナ カナ"); /* half-width kana are the same kana */
}

TEST(a_query_uses_pairs_and_isolated_characters) {
  CHECK_STR(asked("東京都"), "東京 京都");
  CHECK_STR(asked("東京"), "東京");
  CHECK_STR(asked("東"), "東");
  CHECK_STR(asked("東 京都 は"), "東 京都 は");
  CHECK_STR(asked("a東b京"), "東 京");
}

TEST(names_are_joined) {
  CHECK_STR(stored("parse_ttl"), "parsettl");
  CHECK_STR(stored("an e-mail"), "email");
  CHECK_STR(stored("foo.bar/baz.c"), "foobarbazc foobar bazc");
  CHECK_STR(stored("src/op/x.c"), "srcopxc");
  CHECK_STR(stored("v1.2.3"), "v123");
  CHECK_STR(stored("std::move_only"), "stdmoveonly moveonly");
  CHECK_STR(stored("1.2.3"), ""); /* 123 is something else */
  CHECK_STR(stored("end. Next"), "");
  CHECK_STR(stored("__init__"), "");
}

TEST(camel_case_and_numbers_are_split) {
  CHECK_STR(stored("parseTtl"), "parse Ttl");
  CHECK_STR(stored("HTTPServer"), "HTTP Server");
  CHECK_STR(stored("ERR404"), "ERR 404");
  CHECK_STR(stored("getUser_byId"), "getUserbyId get User by Id");
  CHECK_STR(stored("9f86d081884c7d65"), ""); /* a hash is not split */
}

TEST(identifiers_are_distinguished_from_words) {
  static const char *const yes[] = {"parse_ttl", "parseTtl", "v1.2.3", "a/b", "ERR404", "std::move", "x86"};
  static const char *const no[] = {"parse", "Parse", "PARSE", "e-mail", "2024", "naïve", "東京"};
  for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
    test_note("%s", yes[i]);
    CHECK(terms_is_identifier(str_from(yes[i])));
  }
  for (size_t i = 0; i < ARRAY_LEN(no); i++) {
    test_note("%s", no[i]);
    CHECK(!terms_is_identifier(str_from(no[i])));
  }
}

TEST(names_do_not_end_with_a_joiner) {
  struct str s = STR("(see /usr/lib/x.so, or C:\\tmp\\y.) --flag a//b"), name;
  static const char *const want[] = {"see", "usr/lib/x.so", "or", "C:\\tmp\\y", "flag", "a", "b"};
  size_t pos = 0, n = 0;
  while (terms_next_name(s, &pos, &name)) {
    CHECK(n < ARRAY_LEN(want));
    CHECK_STR(name, want[n]);
    n++;
  }
  CHECK_INT(n, ARRAY_LEN(want));
}

TEST(stop_words_are_known) {
  static const char *const yes[] = {"a", "about", "the", "with", "your", "i", "if", "should", "so", "t", "than"};
  static const char *const no[] = {"", "deploy", "x", "zebra", "thee", "ab", "The"};
  for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
    test_note("%s", yes[i]);
    CHECK(terms_is_stop_word(str_from(yes[i])));
  }
  for (size_t i = 0; i < ARRAY_LEN(no); i++) {
    test_note("%s", no[i]);
    CHECK(!terms_is_stop_word(str_from(no[i])));
  }
}

TEST(a_project_has_its_own_token) {
  char one[TERMS_SCOPE_SIZE], other[TERMS_SCOPE_SIZE];
  CHECK_STR(terms_scope(STR(""), one), "zqcrwqbtwg");
  CHECK_STR(terms_scope(STR("cairn"), other), "zqdtbcqkcg"); /* FNV-1a, computed separately */
}
