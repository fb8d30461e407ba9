/* test_bearer.c: bearer tokens of requests, and tokens in wrong places. */
#include "http/access/bearer.h"

#include "support/harness.h"

static enum bearer read_header(const char *value, struct str *ret_token) {
  struct http_pair fields[] = {{STR_INIT("Host"), STR_INIT("localhost")}, {STR_INIT("authorization"), str_from(value)}};
  struct http_call call = {.fields = fields, .field_count = value ? 2 : 1};
  return bearer_read(&call, ret_token);
}

TEST(a_token_is_read) {
  static const char *const values[] = {
      "Bearer abc.DEF-_~+/09==", "bearer abc.DEF-_~+/09==", "BEARER   abc.DEF-_~+/09=="};
  for (size_t i = 0; i < ARRAY_LEN(values); i++) {
    struct str token = STR_NONE;
    test_note("%s", values[i]);
    CHECK_INT(read_header(values[i], &token), BEARER_TOKEN);
    CHECK_STR(token, "abc.DEF-_~+/09==");
  }
}

TEST(malformed_tokens_are_refused) {
  static const char *const values[] = {"",           "Bearer",     "Bearer ",     "Bearer =",        "Bearer a b",
                                       "Bearer a,b", "Bearer a\"", "Basic YTpi",  "cairn_a.b.c",     "Bearera",
                                       "Bearer:a",   "Bearer a=b", "Bearer \x01", "Bearer \xc3\xa4", "Token abc",
                                       "Bearer a\tb"};
  struct str token = STR_NONE;
  for (size_t i = 0; i < ARRAY_LEN(values); i++) {
    test_note("%s", values[i]);
    CHECK_INT(read_header(values[i], &token), BEARER_WRONG);
    CHECK(!token.p);
  }
  CHECK_INT(read_header(NULL, &token), BEARER_NONE);
}

TEST(two_headers_and_long_tokens_are_refused) {
  static char text[BEARER_MAX + 8] = "Bearer ";
  struct http_pair fields[] = {{STR_INIT("Authorization"), STR_INIT("Bearer a")},
                               {STR_INIT("Authorization"), STR_INIT("Bearer a")}};
  struct http_call call = {.fields = fields, .field_count = 2};
  struct str token = STR_NONE;
  CHECK_INT(bearer_read(&call, &token), BEARER_WRONG);
  memset(text + 7, 'a', BEARER_MAX);
  CHECK_INT(read_header(text, &token), BEARER_TOKEN);
  fields[0].value = (struct str){text, sizeof(text) - 1};
  text[sizeof(text) - 1] = 'a';
  fields[0].value.n++;
  call.field_count = 1;
  CHECK_INT(bearer_read(&call, &token), BEARER_WRONG);
}

static bool astray(const char *name, const char *value, const char *cookie) {
  struct http_pair query = {str_from(name), str_from(value)}, field = {STR_INIT("Cookie"), str_from(cookie)};
  struct http_call call = {
      .queries = &query, .query_count = name != NULL, .fields = &field, .field_count = cookie != NULL};
  return bearer_is_misplaced(&call);
}

TEST(tokens_in_urls_and_cookies_are_detected) {
  CHECK(astray("access_token", "x", NULL));
  CHECK(astray("q", "cairn_web.abcdefghijkl.c2VjcmV0", NULL));
  CHECK(astray(NULL, NULL, "a=b; access_token=x"));
  CHECK(astray(NULL, NULL, "session=cairn_web.abcdefghijkl.c2VjcmV0"));
  CHECK(!astray("q", "what is cairn_web?", NULL));
  CHECK(!astray("token", "x", NULL));
  CHECK(!astray(NULL, NULL, "a=b; c; =; theme=dark"));
}
