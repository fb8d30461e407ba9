/* test_match.c: route lookup, and the replies without a route. */
#include "http/http.h"

#include "support/harness.h"

static struct arena a;

static void nothing(struct http_call *call) { call->status = 200; }

static const struct http_route routes[] = {
    {"GET", "/", nothing, 0},        {"GET", "/a", nothing, 0},
    {"POST", "/a", nothing, 0},      {"GET", "/a/{id}", nothing, 0},
    {NULL, "/a/{id}/b", nothing, 0}, {"GET", "/a/{id}/c/{n}", nothing, 0},
    {"GET", "/files/*", nothing, 0}, {0},
};

/* Index of the route in the table; -1: none. */
static int found(const char *method, const char *path) {
  const struct http_route *r = http_route_find(routes, str_from(method), str_from(path));
  return r ? (int)(r - routes) : -1;
}

TEST(segments_are_compared) {
  CHECK_INT(found("GET", "/"), 0);
  CHECK_INT(found("GET", "/a"), 1);
  CHECK_INT(found("GET", "/a/"), 1);
  CHECK_INT(found("POST", "/a"), 2);
  CHECK_INT(found("GET", "/a/7"), 3);
  CHECK_INT(found("PUT", "/a/7/b"), 4);
  CHECK_INT(found("GET", "/a/7/c/8"), 5);
  CHECK_INT(found("GET", "/files/x/y/z"), 6);
  CHECK_INT(found("GET", "/files"), 6);
}

TEST(requests_without_a_route) {
  CHECK_INT(found("GET", "/ab"), -1);
  CHECK_INT(found("GET", "/a//"), -1);
  CHECK_INT(found("GET", "//"), -1);
  CHECK_INT(found("GET", "/a/7/d"), -1);
  CHECK_INT(found("GET", "/a//b"), -1);
  CHECK_INT(found("DELETE", "/a"), -1);
  CHECK_INT(found("GET", ""), -1);
  CHECK_INT(found("GET", "a"), -1);
  CHECK_INT(found("get", "/a"), -1);
}

TEST(head_is_answered_by_get) {
  CHECK_INT(found("HEAD", "/a"), 1);
  CHECK_INT(found("HEAD", "/a/7/c/8"), 5);
}

TEST(parts_of_the_path_are_decoded) {
  struct http_call call = {.arena = &a, .path = STR("/a/x%2Fy%20z/c/%C3%A9"), .route = &routes[5]};
  CHECK_STR(http_path_part(&call, "id"), "x/y z");
  CHECK_STR(http_path_part(&call, "n"), "\xc3\xa9");
  CHECK(!http_path_part(&call, "other").p);
  call.path = STR("/files/a/b");
  call.route = &routes[6];
  CHECK_STR(http_path_part(&call, "*"), "a/b");
}

static struct http_call dispatched(const char *method, const char *path) {
  struct http_call call = {.arena = &a, .method = str_from(method), .path = str_from(path)};
  http_dispatch(&call);
  return call;
}

static struct str header(const struct http_call *call, const char *name) {
  for (size_t i = 0; i < call->header_count; i++)
    if (str_ieq(call->headers[i].name, str_from(name)))
      return call->headers[i].value;
  return STR_NONE;
}

TEST(the_servers_own_routes) {
  struct http_call call = dispatched("GET", "/healthz");
  CHECK_INT(call.status, 200);
  CHECK(str_find(call.reply, STR("\"status\":\"ok\""), 0) != SIZE_MAX);
  CHECK_INT(dispatched("HEAD", "/healthz").status, 200);
  CHECK_INT(dispatched("GET", "/nothing/here").status, 404);
  CHECK_INT(dispatched("GET", "/%zz").status, 400);
  call = dispatched("POST", "/healthz");
  CHECK_INT(call.status, 405);
  CHECK_STR(header(&call, "Allow"), "GET, HEAD, OPTIONS");
  call = dispatched("OPTIONS", "/healthz");
  CHECK_INT(call.status, 204);
  CHECK_STR(header(&call, "Allow"), "GET, HEAD, OPTIONS");
}
