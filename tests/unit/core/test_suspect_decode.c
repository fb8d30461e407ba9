/* test_suspect_decode.c: decoders of simple encodings. */
#include "core/trust/suspect_decode.h"

#include "support/harness.h"

static struct arena a;

/* Decoders by index; the last two, rot13 and reversal, change every text. */
static struct str undone(size_t which, const char *text) { return suspect_decoders[which].decode(&a, str_from(text)); }

enum { ESCAPES, HEX, PIECES, ROTATED, BACKWARDS };

TEST(escapes_become_characters) {
  CHECK_STR(undone(ESCAPES, "%41b%20c"), "Ab c");
  CHECK_STR(undone(ESCAPES, "%C3%A9"), "\xC3\xA9");
  CHECK_STR(undone(ESCAPES, "\\u0041\\x42"), "AB");
  CHECK_STR(undone(ESCAPES, "&#65;&#x42;&#X43;"), "ABC");
  static const char *const plain[] = {"", "100%", "%zz", "\\u00", "\\", "&#;", "&#x;", "&#12", "&#123456789;", "&amp;"};
  for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
    test_note("%s", plain[i]);
    CHECK(!undone(ESCAPES, plain[i]).p);
  }
}

TEST(hex_of_letters_becomes_text) {
  CHECK_STR(undone(HEX, "x: 48656c6c6f2c20776f726c6421 y"), "x: Hello, world! y");
  CHECK(!undone(HEX, "48656c6c6f").p);                               /* short */
  CHECK(!undone(HEX, "9f86d081884c7d659a2feaa0c55ad01500000000").p); /* not text */
  CHECK(!undone(HEX, "48656c6c6f2c20776f726c64210").p);              /* odd */
}

TEST(split_words_are_joined) {
  CHECK_STR(undone(PIECES, "ig-nore pre-\nvious"), "ignore previous");
  CHECK_STR(undone(PIECES, "'ign' + 'ore'"), "'ignore'");
  CHECK_STR(undone(PIECES, "\"a\".\"b\""), "\"ab\"");
  static const char *const plain[] = {"", "-", "a - b", "1-2", "'a' + b", "'a', 'b'", "'a' + \"b\"", "--x"};
  for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
    test_note("%s", plain[i]);
    CHECK(!undone(PIECES, plain[i]).p);
  }
}

TEST(rot13_and_reversed_text_are_decoded) {
  CHECK_STR(undone(ROTATED, "Uryyb, 1"), "Hello, 1");
  CHECK_STR(undone(BACKWARDS, "ab\xC3\xA9"), "\xC3\xA9"
                                             "ba");
  CHECK(!undone(ROTATED, "").p && !undone(BACKWARDS, "").p);
}
