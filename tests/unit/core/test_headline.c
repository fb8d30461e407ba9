/* test_headline.c: headlines derived from the first sentence. */
#include "core/memory/headline.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "core/text/text.h"
#include "support/harness.h"

static void check_headline(const char *body, const char *want) {
  struct arena a;
  arena_init(&a);
  CHECK_STR(headline_derive(&a, str_from(body)), want);
  arena_release(&a);
}

TEST(first_sentence_without_its_full_stop) {
  check_headline("We use Postgres. It is fast.", "We use Postgres");
  check_headline("Is it fast? Yes.", "Is it fast?");
  check_headline("  \r\n\tTabs and\r\nreturns stay out", "Tabs and returns stay out");
  check_headline("no stop at all", "no stop at all");
}

TEST(markup_is_removed) {
  check_headline("## Deploy **notes** for `main`\n\ntext", "Deploy notes for main");
  check_headline("- [ ] Fix the [login page](https://x.org/a_b) today", "Fix the login page today");
  check_headline("> * 1. Nested marks go", "Nested marks go");
  check_headline("12) Twelfth point of the list", "Twelfth point of the list");
  check_headline("\"Ship it on Monday.\"", "Ship it on Monday");
  check_headline("\xe2\x80\x9cShip it\xe2\x80\x9d, he said", "\xe2\x80\x9cShip it\xe2\x80\x9d, he said");
  check_headline("2 * 3 is snake_case and a*b", "2 * 3 is snake_case and a*b");
}

TEST(sentences_without_letters_are_skipped) {
  check_headline("1.\n2.\n3. Real text", "Real text");
  check_headline("---\n***\n42\nThe answer", "The answer");
  check_headline("\xf0\x9f\x8e\x89\n\nRelease is out", "Release is out");
}

TEST(code_is_skipped_unless_there_is_nothing_else) {
  check_headline("```sh\nmake install\n```\nHow to install it", "How to install it");
  check_headline("```sh\nmake install\n```", "make install");
  check_headline("```sh\n```", "sh");
}

TEST(no_headline_without_letters) {
  check_headline("", "");
  check_headline(" \r\n\t", "");
  check_headline("1. 2. 3. ... !!! \xf0\x9f\x8e\x89", "");
}

TEST(at_most_fifteen_words) {
  check_headline("a b c d e f g h i j k l m n o.", "a b c d e f g h i j k l m n o");
  check_headline("a b c d e f g h i j k l m n o p.", "a b c d e f g h i j k l m n o\xe2\x80\xa6");
  check_headline("a b c d e f g h i j k l m n o, p.", "a b c d e f g h i j k l m n o\xe2\x80\xa6");
  struct arena a;
  arena_init(&a);
  /* Twenty Han characters are twenty words. */
  struct buf han = BUF(&a);
  for (int i = 0; i < 20; i++)
    buf_adds(&han, "\xe4\xb8\x96");
  struct str headline = headline_derive(&a, buf_str(&han));
  CHECK_INT(headline.n, 15 * 3 + 3);
  CHECK_INT(text_count_words(headline), 15);
  arena_release(&a);
}

TEST(at_most_two_hundred_bytes) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 1 << 20; i++)
    buf_addc(&body, 'x');
  struct str headline = headline_derive(&a, buf_str(&body));
  CHECK_INT(headline.n, 200);
  CHECK(str_ends(headline, STR("\xe2\x80\xa6")));
  /* Two-byte characters: 197 bytes would end inside one. */
  body = BUF(&a);
  for (int i = 0; i < 300; i++)
    buf_adds(&body, "\xc3\xa4");
  headline = headline_derive(&a, buf_str(&body));
  CHECK_INT(headline.n, 196 + 3);
  CHECK_INT(utf8_check(headline), headline.n);
  arena_release(&a);
}

TEST(late_letters_are_found) {
  struct arena a;
  arena_init(&a);
  check_headline("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 ports are open", "ports are open");
  struct buf body = BUF(&a);
  for (int i = 0; i < 1 << 20; i++)
    buf_addc(&body, '7');
  buf_adds(&body, " seven");
  CHECK_STR(headline_derive(&a, buf_str(&body)), "seven");
  arena_release(&a);
}
