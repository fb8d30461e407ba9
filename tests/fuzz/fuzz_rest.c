/* fuzz_rest.c: any request to /api/v1 gets one response, with a message if it is an error. There is no store: this
 * tests everything before the operation runs.
 *
 * An input is "METHOD TARGET" on the first line, then headers, an empty line, and the body. */
#include "http/rest/rest.h"
#include "http/server/uri.h"
#include "support/fuzz.h"

enum { FIELDS = 8 };

static void read_fields(struct str *rest, struct http_call *call, struct http_pair *fields) {
  struct str line, name;
  while (str_line(rest, &line) && line.n)
    if (call->field_count < FIELDS && str_next(&line, ':', &name))
      fields[call->field_count++] = (struct http_pair){name, str_trim(line.p ? line : STR(""))};
}

static void check_answer(struct arena *a, const struct http_call *call) {
  yyjson_val *v;
  struct error err;
  FUZZ_CHECK(call->status == 200 || call->status == 204 || call->status == 304 ||
             (call->status >= 400 && call->status < 600));
  for (size_t i = 0; i < call->header_count; i++)
    FUZZ_CHECK(!memchr(call->headers[i].value.p, '\n', call->headers[i].value.n));
  if (call->status == 204 || call->status == 304) {
    FUZZ_CHECK(call->reply.n == 0);
    return;
  }
  FUZZ_CHECK(json_read(a, call->reply, &v, &err) == STATUS_OK && yyjson_is_obj(v));
  if (call->status >= 400)
    FUZZ_CHECK(json_int(v, "status", 0) == call->status && json_str(v, "title").n && json_str(v, "detail").n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  struct pool *pool;
  struct error err;
  struct http_pair fields[FIELDS];
  const struct engine_options options = {.path = "/dev/null/store.db", .must_exist = true};
  arena_init(&a);
  FUZZ_CHECK(pool_new(&options, (struct fair_places){.shared = 1}, &pool, &err) == STATUS_OK);
  struct http_server server = {.pool = pool, .caller = {.team = STR("default"), .project = STR("")}};
  struct http_call call = {.server = &server, .arena = &a, .fields = fields, .caller = server.caller};
  struct str rest = {(const char *)data, size}, line = STR_NONE;
  struct uri u;
  if (str_line(&rest, &line) && str_next(&line, ' ', &call.method) && line.p && uri_split(line, &u) &&
      uri_queries(&a, u.query, &call.queries, &call.query_count)) {
    call.path = u.path;
    read_fields(&rest, &call, fields);
    call.body = rest;
    http_dispatch(&call);
    if (str_starts(u.path, STR(REST_ROOT "/")))
      check_answer(&a, &call);
  }
  pool_close(&pool);
  arena_release(&a);
  return 0;
}
