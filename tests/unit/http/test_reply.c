/* test_reply.c: request headers, queries and replies of routes. */
#include "http/http.h"

#include "support/harness.h"

static struct arena a;

static yyjson_val *parsed(struct str text) {
  struct error err;
  yyjson_val *v;
  CHECK_OK(json_read(&a, text, &v, &err), &err);
  return v;
}

TEST(problems_follow_rfc_9457) {
  struct http_call call = {.arena = &a};
  struct error err;
  error_set(&err, STATUS_NOT_FOUND, "there is no memory %d", 7);
  error_fix(&err, "cairn list");
  http_reply_problem(&call, &err);
  CHECK_INT(call.status, 404);
  CHECK_STR(str_from(call.type), "application/problem+json");
  yyjson_val *p = parsed(call.reply);
  CHECK_STR(json_str(p, "type"), "urn:cairn:error:not_found");
  CHECK_INT(json_int(p, "status", 0), 404);
  CHECK_STR(json_str(p, "detail"), "there is no memory 7");
  CHECK_STR(json_str(p, "code"), "not_found");
  CHECK_STR(json_str(p, "fix"), "cairn list");
  CHECK(json_str(p, "title").n > 0);
  CHECK(!yyjson_obj_get(p, "step"));
}

TEST(problems_of_http_itself) {
  struct http_call call = {.arena = &a};
  http_reply_problem_status(&call, 415, "Unsupported Media Type", NULL);
  yyjson_val *p = parsed(call.reply);
  CHECK_STR(json_str(p, "type"), "about:blank");
  CHECK_STR(json_str(p, "title"), "Unsupported Media Type");
  CHECK_INT(json_int(p, "status", 0), 415);
  CHECK(!yyjson_obj_get(p, "detail"));
}

TEST(header_names_ignore_case_and_queries_do_not) {
  struct http_pair fields[] = {{STR("Accept"), STR("x")}}, queries[] = {{STR("q"), STR("1")}, {STR("q"), STR("2")}};
  struct http_call call = {.fields = fields, .field_count = 1, .queries = queries, .query_count = 2};
  CHECK_STR(http_header(&call, "aCCEPT"), "x");
  CHECK(!http_header(&call, "accept-encoding").p);
  CHECK_STR(http_query(&call, "q"), "1");
  CHECK(!http_query(&call, "Q").p);
}

TEST(a_header_stays_one_line) {
  struct http_call call = {.arena = &a};
  http_add_header(&call, "X-A", STR("one\r\nX-B: two"));
  CHECK_INT(call.header_count, 1);
  CHECK_STR(call.headers[0].value, "one  X-B: two");
  for (int i = 0; i < 100; i++)
    http_add_header(&call, "X-C", STR("c"));
  CHECK_INT(call.header_count, HTTP_HEADERS_MAX);
}
