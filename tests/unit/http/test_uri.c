/* test_uri.c: parsing of request targets. */
#include "http/server/uri.h"

#include "support/harness.h"

static struct arena a;

static struct str decoded(const char *text, bool plus) {
  struct str out;
  return uri_decode(&a, str_from(text), plus, &out) ? out : STR_NONE;
}

TEST(a_target_is_a_path_and_a_query) {
  struct uri u;
  CHECK(uri_split(STR("/a/b?c=d&e"), &u));
  CHECK_STR(u.path, "/a/b");
  CHECK_STR(u.query, "c=d&e");
  CHECK(!u.host.p);
  CHECK(uri_split(STR("/"), &u));
  CHECK_STR(u.path, "/");
  CHECK_STR(u.query, "");
  CHECK(uri_split(STR("/a??b"), &u));
  CHECK_STR(u.query, "?b");
}

TEST(absolute_targets_name_their_host) {
  struct uri u;
  CHECK(uri_split(STR("http://evil.example:80/x?y"), &u));
  CHECK_STR(u.host, "evil.example:80");
  CHECK_STR(u.path, "/x");
  CHECK(uri_split(STR("HTTP://localhost"), &u));
  CHECK_STR(u.host, "localhost");
  CHECK_STR(u.path, "/");
  CHECK(uri_split(STR("http://localhost?q"), &u));
  CHECK_STR(u.path, "/");
  CHECK_STR(u.query, "q");
}

TEST(invalid_targets_are_refused) {
  struct uri u;
  static const char *const bad[] = {"", "a/b", "?a", "http:///x", "https//x", "mailto:x"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    CHECK(!uri_split(str_from(bad[i]), &u));
  }
}

TEST(percent_encoding) {
  CHECK_STR(decoded("a%20b", false), "a b");
  CHECK_STR(decoded("%41%5a%7A", false), "AZz");
  CHECK_STR(decoded("%C3%A9", false), "\xc3\xa9");
  CHECK_STR(decoded("a+b", false), "a+b");
  CHECK_STR(decoded("a+b%2B", true), "a b+");
  static const char *const bad[] = {"%", "%4", "a%", "%4g", "%%41", "%00", "%ff", "%C3", "%ed%a0%80"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    CHECK(!decoded(bad[i], true).p);
  }
}

TEST(queries_are_pairs) {
  const struct http_pair *pairs;
  size_t n;
  CHECK(uri_queries(&a, STR("q=two+words&empty=&flag&&x=a%3Db"), &pairs, &n));
  CHECK_INT(n, 4);
  CHECK_STR(pairs[0].name, "q");
  CHECK_STR(pairs[0].value, "two words");
  CHECK_STR(pairs[1].name, "empty");
  CHECK_STR(pairs[1].value, "");
  CHECK_STR(pairs[2].name, "flag");
  CHECK_STR(pairs[2].value, "");
  CHECK_STR(pairs[3].value, "a=b");
  CHECK(uri_queries(&a, STR(""), &pairs, &n));
  CHECK_INT(n, 0);
  CHECK(!uri_queries(&a, STR("a=%"), &pairs, &n));
  struct buf many = BUF(&a);
  for (int i = 0; i <= URI_QUERIES_MAX; i++)
    buf_adds(&many, "a=b&");
  CHECK(!uri_queries(&a, buf_str(&many), &pairs, &n));
}
