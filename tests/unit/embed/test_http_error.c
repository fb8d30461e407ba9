/* test_http_error.c: quotes of untrusted text, which never contain the key. */
#include "embed/remote/error.h"

#include "base/utf8.h"
#include "support/harness.h"

#define KEY "sk-live-ABCDEFGHIJKLMNOP"

static const char *quote(const char *text, const char *key) {
  static char out[HTTP_QUOTE_SIZE];
  http_quote(str_from(text), str_from(key), out, sizeof(out));
  return out;
}

TEST(quotes_are_plain_text) {
  CHECK_STR(str_from(quote("plain", NULL)), "plain");
  CHECK_STR(str_from(quote("two\r\n\t lines\x01\x1b[31m", NULL)), "two lines [31m");
  CHECK_STR(str_from(quote("bad \xff bytes, \xc2\x9b and \xe2\x80\xae turned", NULL)), "bad bytes, and turned");
  CHECK_STR(str_from(quote("gr\xc3\xbc\xc3\x9f dich", NULL)), "gr\xc3\xbc\xc3\x9f dich");
  CHECK_STR(str_from(quote("", NULL)), "");
  CHECK_STR(str_from(quote(NULL, NULL)), "");
}

TEST(quotes_are_truncated_between_characters) {
  char text[1001];
  for (size_t from = 0; from < 4; from++) {
    memset(text, 'x', from);
    for (size_t i = from; i + 3 <= 1000; i += 3)
      memcpy(text + i, "\xe6\x95\xb0", 4);
    struct str got = str_from(quote(text, NULL));
    CHECK(got.n <= 200 && got.n >= 190);
    CHECK_INT(utf8_check(got), got.n);
  }
}

TEST(keys_are_removed) {
  CHECK_STR(str_from(quote("key " KEY " is wrong", KEY)), "key [key] is wrong");
  CHECK_STR(str_from(quote(KEY KEY, KEY)), "[key][key]");
  CHECK_STR(str_from(quote("the end ...KLMNOP", KEY)), "the end ...[key]");
  CHECK_STR(str_from(quote("masked: sk-live-****MNOP", KEY)), "masked: [key]****MNOP");
  CHECK_STR(str_from(quote("sk-liv", KEY)), "[key]");
  CHECK_STR(str_from(quote("sk-li", KEY)), "sk-li"); /* too little to tell */
  CHECK_STR(str_from(quote("abc in abcabc", "abc")), "[key] in [key][key]");
  CHECK_STR(str_from(quote("nothing", "")), "nothing");
}

/* At any position in a long text, no six characters of the key survive the truncation. */
TEST(truncated_keys_are_removed) {
  char text[400];
  for (size_t at = 150; at < 210; at++) {
    memset(text, '.', sizeof(text));
    memcpy(text + at, KEY, sizeof(KEY) - 1);
    text[sizeof(text) - 1] = 0;
    CHECK(strstr(quote(text, KEY), "sk-liv") == NULL);
  }
}
