/* test_rest.c: the REST API without a network: routes of all operations, arguments, replies. */
#include "http/rest/rest.h"

#include "http/server/uri.h"
#include "store/memories/documents.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct arena arena;
static struct http_server server;

enum { PAIRS = 8 };

static void begin(void) {
  static struct pool *pool;
  struct error err;
  struct engine_options o = {.path = test_store("store.db")};
  o.clock.fixed = INT64_C(1772366400000);
  CHECK_OK(pool_new(&o, (struct fair_places){.shared = 2}, &pool, &err), &err);
  server = (struct http_server){.pool = pool, .caller = {.team = STR("default"), .project = STR("")}};
}

/* method, target with its query, body or NULL, then names and values of headers. */
static struct http_call *send(const char *const *v, size_t n) {
  struct http_call *call = arena_new(&arena, struct http_call);
  const char *mark = strchr(v[1], '?'), *body = n > 2 ? v[2] : NULL;
  struct http_pair *fields = arena_array(&arena, struct http_pair, PAIRS);
  *call = (struct http_call){.server = &server,
                             .arena = &arena,
                             .method = str_from(v[0]),
                             .path = mark ? (struct str){v[1], (size_t)(mark - v[1])} : str_from(v[1]),
                             .body = str_from(body),
                             .caller = server.caller,
                             .fields = fields};
  for (size_t i = 3; i + 1 < n; i += 2)
    fields[call->field_count++] = (struct http_pair){str_from(v[i]), str_from(v[i + 1])};
  if (body)
    fields[call->field_count++] = (struct http_pair){STR("Content-Type"), STR("application/json")};
  CHECK(uri_queries(&arena, str_from(mark ? mark + 1 : ""), &call->queries, &call->query_count));
  http_dispatch(call);
  CHECK(call->status != 0);
  return call;
}
#define SEND(...)                                                                                                      \
  send((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static yyjson_val *body_of(const struct http_call *call) {
  struct error err;
  yyjson_val *v;
  CHECK_OK(json_read(&arena, call->reply, &v, &err), &err);
  return v;
}

static struct str answer_header(const struct http_call *call, const char *name) {
  for (size_t i = 0; i < call->header_count; i++)
    if (str_is(call->headers[i].name, name))
      return call->headers[i].value;
  return STR_NONE;
}

static void check_problem(const struct http_call *call, int status, const char *part) {
  if (call->status != status)
    FAIL("status %d, not %d: %.*s", call->status, status, STR_ARG(call->reply));
  CHECK_STR(str_from(call->type), "application/problem+json");
  CHECK_INT(json_int(body_of(call), "status", 0), status);
  if (str_find(call->reply, str_from(part), 0) == SIZE_MAX)
    FAIL("'%s' is not in %.*s", part, STR_ARG(call->reply));
}

static int64_t store(const char *text) {
  struct http_call *c =
      SEND("POST", "/api/v1/memories", arena_printf(&arena, "{\"text\":\"%s\",\"defer_embedding\":true}", text).p);
  if (c->status != 201)
    FAIL("%d: %.*s", c->status, STR_ARG(c->reply));
  return json_int(body_of(c), "id", 0);
}

static const char *target(const char *fmt, int64_t id) {
  struct buf b = BUF(&arena);
  for (; *fmt; fmt++) {
    if (*fmt == '#')
      buf_addf(&b, "%lld", (long long)id);
    else
      buf_addc(&b, *fmt);
  }
  return buf_str(&b).p;
}

/* ---- the tables ---- */

static bool has_route(const char *op) {
  for (const struct op_route *r = rest_routes(); r->method; r++)
    if (r->op && strcmp(r->op, op) == 0)
      return true;
  return false;
}

TEST(every_operation_is_offered_or_refused_with_a_reason) {
  EACH_OP(op) {
    struct op_route other;
    test_note("%s", op->name);
    CHECK_INT(has_route(op->name) + rest_generic_route(&arena, op, &other) + (op->local != NULL), 1);
    CHECK(!op->local || op->local[0]);
  }
}

TEST(no_route_takes_a_path_of_the_server) {
  EACH_OP(op) {
    struct op_route other;
    if (!rest_generic_route(&arena, op, &other))
      continue;
    const struct param *p;
    for (size_t i = 0; (p = rest_param_at(&other, i)) != NULL; i++)
      CHECK(!(p->flags & PARAM_PATH));
  }
  for (const struct op_route *r = rest_routes(); r->method; r++) {
    const struct param *p;
    for (size_t i = 0; (p = rest_param_at(r, i)) != NULL; i++)
      CHECK(!(p->flags & PARAM_PATH));
  }
}

TEST(routes_name_existing_operations) {
  for (const struct op_route *r = rest_routes(); r->method; r++) {
    test_note("%s %s", r->method, r->path);
    CHECK((r->op != NULL) != (r->run != NULL));
    const struct op *op = r->op ? op_find(str_from(r->op)) : NULL;
    CHECK(!r->op || op);
    CHECK(!r->to || op_param(op, str_from(r->to)));
    CHECK(!r->to == !(strchr(r->path, '{') && op));
    CHECK(!r->page || rest_param(r, str_from(r->page)));
    CHECK(r->op || r->summary);
    /* GET changes nothing. */
    if (strcmp(r->method, "GET") == 0 && op && (op->flags & OP_WRITE))
      CHECK(r->without);
    struct str rest = str_from(r->without), word;
    while (str_next(&rest, ' ', &word))
      CHECK(op_param(op, word));
    for (const struct op_route *o = rest_routes(); o < r; o++)
      CHECK(strcmp(o->path, r->path) != 0 || strcmp(o->method, r->method) != 0);
  }
}

/* ---- routing ---- */

TEST(unknown_paths_and_wrong_methods) {
  begin();
  check_problem(SEND("GET", "/api/v1/nothing"), 404, "openapi.json");
  check_problem(SEND("GET", "/api/v1/memories/1/nothing"), 404, "");
  check_problem(SEND("POST", "/api/v1/ops/import", "{\"file\":\"/etc/passwd\"}"), 404, "");
  check_problem(SEND("POST", "/api/v1/ops/remember", "{}"), 404, ""); /* it has its own route */
  struct http_call *c = SEND("PUT", "/api/v1/memories");
  check_problem(c, 405, "");
  CHECK_STR(answer_header(c, "Allow"), "POST, GET, HEAD, OPTIONS");
  c = SEND("GET", "/api/v1/capture");
  check_problem(c, 405, "");
  CHECK_STR(answer_header(c, "Allow"), "POST, OPTIONS");
  c = SEND("OPTIONS", "/api/v1/search");
  CHECK_INT(c->status, 204);
  CHECK_STR(answer_header(c, "Allow"), "GET, POST, HEAD, OPTIONS");
}

TEST(the_root_says_where_the_document_is) {
  begin();
  CHECK_STR(json_str(body_of(SEND("GET", "/api/v1")), "openapi"), "/api/v1/openapi.json");
  CHECK_STR(json_str(body_of(SEND("GET", "/api/v1/")), "openapi"), "/api/v1/openapi.json");
}

/* ---- arguments ---- */

TEST(errors_name_the_argument) {
  begin();
  static const struct {
    const char *method, *target, *body, *part;
  } bad[] = {
      {"GET", "/api/v1/memories?limit=ten", NULL, "limit: 'ten' is not a whole number"},
      {"GET", "/api/v1/memories?limit=1&limit=2", NULL, "'limit' is given twice"},
      {"GET", "/api/v1/memories?colour=red", NULL, "unknown query parameter 'colour'"},
      {"GET", "/api/v1/memories?kind=cat", NULL, "'cat' is not a valid value of kind"},
      {"GET", "/api/v1/memories?own=maybe", NULL, "own: 'maybe' is not true or false"},
      {"GET", "/api/v1/memories?cursor=zzz", NULL, "invalid cursor"},
      {"GET", "/api/v1/memories?cursor=0.1", NULL, "invalid cursor"},
      {"GET", "/api/v1/tasks?cursor=9.1.1", NULL, "invalid cursor"},
      {"GET", "/api/v1/search", NULL, "query is missing"},
      {"GET", "/api/v1/events?follow=true", NULL, "unknown query parameter 'follow'"},
      {"GET", "/api/v1/events?limit=0", NULL, "limit 0 is outside 1 to 1000"},
      {"POST", "/api/v1/memories", "{\"text\":\"x\",\"colour\":1}", "unknown member 'colour'"},
      {"POST", "/api/v1/memories", "{\"batch\":\"/etc/passwd\"}", "unknown member 'batch'"},
      {"POST", "/api/v1/memories", "{\"text\":7}", "text must be a text"},
      {"POST", "/api/v1/memories", "[1]", "the body is not a JSON object"},
      {"POST", "/api/v1/memories", "{\"text\":", "\"code\":\"usage\""},
      {"POST", "/api/v1/memories?text=x", "{}", "send it in the body"},
      {"POST", "/api/v1/memories?project=a", "{\"text\":\"x\",\"project\":\"b\"}", "'project' is given twice"},
      {"POST", "/api/v1/memories/1/pin", "{\"id\":\"2\"}", "unknown member 'id'"},
      {"POST", "/api/v1/transactions/seven/undo", NULL, "txn: 'seven' is not a whole number"},
      {"DELETE", "/api/v1/memories/1", NULL, "reason is missing"},
      {"GET", "/api/v1/projects/web/knowledge?type=cat", NULL, "'cat' is not a valid value of type"},
      {"GET", "/api/v1/projects/web/knowledge?limit=101", NULL, "limit 101 is outside 1 to 100"},
      {"GET", "/api/v1/projects/web/knowledge?cursor=x", NULL, "invalid cursor"},
      {"GET", "/api/v1/memory/search", NULL, "q is missing"},
      {"GET", "/api/v1/memory/search?q=x&scope=all", NULL, "'all' is not a valid value of scope"},
  };
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s %s %s", bad[i].method, bad[i].target, bad[i].body);
    check_problem(SEND(bad[i].method, bad[i].target, bad[i].body), 400, bad[i].part);
  }
}

TEST(a_body_must_have_the_content_type_json) {
  begin();
  struct http_call call = {.server = &server,
                           .arena = &arena,
                           .method = STR("POST"),
                           .path = STR("/api/v1/memories"),
                           .body = STR("{\"text\":\"x\"}"),
                           .caller = server.caller};
  http_dispatch(&call);
  check_problem(&call, 415, "application/json");
}

TEST(arguments_come_from_path_query_and_body) {
  begin();
  struct http_call *c = SEND("POST", "/api/v1/memories?project=garden",
                             "{\"text\":\"Parsley grows in pots\",\"key\":\"a/b\",\"tags\":[\"herb\"],"
                             "\"weight\":0.5,\"defer_embedding\":true}");
  CHECK_INT(c->status, 201);
  yyjson_val *v = body_of(SEND("GET", "/api/v1/memories/a%2Fb?project=garden"));
  CHECK_STR(json_str(v, "body"), "Parsley grows in pots");
  CHECK_STR(json_str(v, "project"), "garden");
  CHECK_STR(json_str(v, "source"), "rest");
  CHECK_STR(json_str(v, "trust"), "agent");
  CHECK_NEAR(json_num(v, "weight", 0), 0.5, 0);
  CHECK_INT(json_int(body_of(SEND("GET", "/api/v1/memories?project=garden&tags=herb")), "total", 0), 1);
  CHECK_INT(json_int(body_of(SEND("GET", "/api/v1/memories?project=garden&tags=herb&tags=b")), "total", 9), 0);
}

TEST(ids_in_a_body_may_be_numbers) {
  begin();
  int64_t a = store("Parsley grows in pots"), b = store("The moon is far away");
  struct http_call *c = SEND("POST", "/api/v1/forget", target("{\"ids\":[#],\"reason\":\"test\"}", a));
  CHECK_INT(c->status, 200);
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(body_of(c), "forgotten")), 1);
  c = SEND("POST", "/api/v1/memories", target("{\"text\":\"The moon is near\",\"supersedes\":#,\"reason\":\"r\"}", b));
  CHECK_INT(c->status, 201);
  CHECK_INT(json_int(body_of(c), "supersedes", 0), b);
}

TEST(the_caller_is_named_by_headers) {
  begin();
  struct http_call *c =
      SEND("POST", "/api/v1/memories", "{\"text\":\"Parsley grows in pots\",\"defer_embedding\":true}",
           "X-Cairn-Source", "garden-bot", "Cairn-Session", "s-7");
  CHECK_INT(c->status, 201);
  yyjson_val *v = body_of(SEND("GET", "/api/v1/memories/1"));
  CHECK_STR(json_str(v, "source"), "garden-bot");
  CHECK_STR(json_str(v, "session"), "s-7");
  check_problem(SEND("GET", "/api/v1/stats", NULL, "X-Cairn-Source", "a\tb"), 400, "X-Cairn-Source");
}

TEST(a_repeated_write_happens_once) {
  begin();
  const char *body = "{\"text\":\"Parsley grows in pots\",\"defer_embedding\":true}";
  struct http_call *one = SEND("POST", "/api/v1/memories", body, "Idempotency-Key", "k1");
  struct http_call *two = SEND("POST", "/api/v1/memories", body, "Idempotency-Key", "k1");
  CHECK_INT(two->status, 201);
  CHECK_INT(json_int(body_of(one), "txn", 0), json_int(body_of(two), "txn", -1));
}

/* ---- answers ---- */

TEST(a_write_returns_location_and_etag) {
  begin();
  const char *body = "{\"text\":\"Parsley grows in pots\",\"defer_embedding\":true}";
  struct http_call *c = SEND("POST", "/api/v1/memories", body);
  CHECK_INT(c->status, 201);
  CHECK_STR(answer_header(c, "Location"), "/api/v1/memories/1");
  struct str tag = answer_header(c, "ETag");
  CHECK_INT(tag.n, 66); /* SHA-256 in hexadecimal, in quotes */
  CHECK_STR(answer_header(SEND("GET", "/api/v1/memories/1"), "ETag"), arena_cstr(&arena, tag));
  c = SEND("POST", "/api/v1/memories", body);
  CHECK_INT(c->status, 200);
  CHECK_STR(json_str(body_of(c), "action"), "skipped");
  CHECK_STR(answer_header(c, "Location"), "/api/v1/memories/1");
}

TEST(an_unchanged_reply_is_304) {
  begin();
  store("Parsley grows in pots");
  struct http_call *c = SEND("GET", "/api/v1/memories/1");
  const char *tag = arena_cstr(&arena, answer_header(c, "ETag"));
  c = SEND("GET", "/api/v1/memories/1", NULL, "If-None-Match", tag);
  CHECK_INT(c->status, 304);
  CHECK_INT(c->reply.n, 0);
  CHECK_STR(answer_header(c, "ETag"), tag);
  CHECK_INT(SEND("GET", "/api/v1/memories/1", NULL, "If-None-Match", "*")->status, 304);
  CHECK_INT(
      SEND("GET", "/api/v1/memories/1", NULL, "If-None-Match", arena_printf(&arena, "\"x\", W/%s", tag).p)->status,
      304);
  CHECK_INT(SEND("GET", "/api/v1/memories/1", NULL, "If-None-Match", "\"x\"")->status, 200);
  SEND("POST", "/api/v1/memories/1/rate", "{\"direction\":\"up\"}");
  CHECK_INT(SEND("GET", "/api/v1/memories/1", NULL, "If-None-Match", tag)->status, 200);
  /* Lists and the document have tags as well. */
  tag = arena_cstr(&arena, answer_header(SEND("GET", "/api/v1/memories"), "ETag"));
  CHECK_INT(SEND("GET", "/api/v1/memories", NULL, "If-None-Match", tag)->status, 304);
  tag = arena_cstr(&arena, answer_header(SEND("GET", "/api/v1/openapi.json"), "ETag"));
  CHECK_INT(SEND("GET", "/api/v1/openapi.json", NULL, "If-None-Match", tag)->status, 304);
}

TEST(a_change_can_require_a_version) {
  begin();
  store("Parsley grows in pots");
  const char *old = arena_cstr(&arena, answer_header(SEND("GET", "/api/v1/memories/1"), "ETag"));
  struct http_call *c = SEND("POST", "/api/v1/memories/1/pin", NULL, "If-Match", old);
  CHECK_INT(c->status, 200);
  struct str now = answer_header(c, "ETag");
  CHECK(now.p && !str_is(now, old));
  CHECK_STR(answer_header(SEND("GET", "/api/v1/memories/1"), "ETag"), arena_cstr(&arena, now));
  static const char *const changes[][2] = {
      {"/api/v1/memories/1/unpin", NULL},
      {"/api/v1/memories/1/annotations", "{\"note\":\"n\"}"},
      {"/api/v1/memories/1/rate", "{\"direction\":\"up\"}"},
      {"/api/v1/memories/1/supersede", "{\"text\":\"Parsley grows in beds\",\"reason\":\"r\"}"},
      {"/api/v1/memories/1/forget", "{\"reason\":\"r\"}"},
      {"/api/v1/memories/1/purge", "{\"confirm\":true}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
    test_note("%s", changes[i][0]);
    check_problem(SEND("POST", changes[i][0], changes[i][1], "If-Match", old), 412, "stale");
  }
  CHECK_STR(answer_header(SEND("GET", "/api/v1/memories/1"), "ETag"), arena_cstr(&arena, now));
  /* Weak tags never match, "*" always does, and one match is enough. */
  check_problem(
      SEND("POST", "/api/v1/memories/1/unpin", NULL, "If-Match", arena_printf(&arena, "W/%.*s", STR_ARG(now)).p), 412,
      "stale");
  CHECK_INT(
      SEND("POST", "/api/v1/memories/1/unpin", NULL, "If-Match", arena_printf(&arena, "\"x\" , %.*s", STR_ARG(now)).p)
          ->status,
      200);
  CHECK_INT(SEND("POST", "/api/v1/memories/1/pin", NULL, "If-Match", "*")->status, 200);
  check_problem(SEND("POST", "/api/v1/capture", "{\"text\":\"x\"}", "If-Match", old), 400, "If-Match");
}

TEST(problems_contain_the_error_of_the_operation) {
  begin();
  store("Parsley grows in pots");
  check_problem(SEND("GET", "/api/v1/memories/99"), 404, "\"code\":\"not_found\"");
  check_problem(SEND("POST", "/api/v1/memories", "{\"text\":\"key AKIAIOSFODNN7EXAMPLX aws\",\"type\":\"nonsense\"}"),
                422, "\"step\":");
  check_problem(SEND("POST", "/api/v1/memories/1/unsupersede"), 409, "\"code\":\"conflict\"");
  check_problem(SEND("POST", "/api/v1/memories/1/purge", "{}"), 428, "\"code\":\"confirm\"");
  check_problem(SEND("GET", "/api/v1/skills/none"), 404, "no skill");
}

/* ---- pages ---- */

static const char *next_target(const struct http_call *c) {
  struct str link = answer_header(c, "Link");
  if (!link.p)
    return NULL;
  CHECK(str_starts(link, STR("</api/v1/")) && str_ends(link, STR(">; rel=\"next\"")));
  return arena_cstr(&arena, str_slice(link, 1, link.n - (sizeof(">; rel=\"next\"") - 1)));
}

TEST(pages_contain_every_memory_once, .seconds = 40) {
  enum { COUNT = 45 };
  bool seen[2 * COUNT + 1] = {0};
  begin();
  for (int i = 0; i < COUNT; i++)
    store(arena_printf(&arena, "Fact number %d about a thing called w%dx%d", i, i, i * i).p);
  int pages = 0;
  for (const char *at = "/api/v1/memories?kind=fact&limit=7"; at; pages++) {
    struct http_call *c = SEND("GET", at);
    CHECK_INT(c->status, 200);
    yyjson_val *list = yyjson_obj_get(body_of(c), "memories"), *m;
    CHECK_INT(json_int(body_of(c), "total", 0), COUNT + pages);
    size_t i, n;
    yyjson_arr_foreach(list, i, n, m) {
      int64_t id = json_int(m, "id", 0);
      CHECK(id >= 1 && id <= COUNT && !seen[id]);
      seen[id] = true;
    }
    at = next_target(c);
    store(arena_printf(&arena, "Another fact, number %d, about a thing called v%dx%d", pages, pages, pages * 7).p);
  }
  CHECK_INT(pages, 7);
  for (int i = 1; i <= COUNT; i++)
    CHECK(seen[i]);
}

TEST(task_pages_keep_their_order) {
  static const char *const priorities_[] = {"low", "high", "medium", "high", "low", "medium"};
  static const int want[] = {2, 4, 3, 6, 1, 5}; /* by priority, then age */
  begin();
  for (int i = 0; i < 6; i++) {
    struct http_call *c =
        SEND("POST", "/api/v1/tasks",
             arena_printf(&arena, "{\"text\":\"Do the thing w%d\",\"priority\":\"%s\"}", i * i + 3, priorities_[i]).p);
    CHECK_INT(c->status, 201);
  }
  size_t k = 0;
  for (const char *at = "/api/v1/tasks?limit=1"; at;) {
    struct http_call *c = SEND("GET", at);
    CHECK(k < ARRAY_LEN(want));
    CHECK_INT(json_int(yyjson_arr_get_first(yyjson_obj_get(body_of(c), "tasks")), "id", 0), want[k++]);
    at = next_target(c);
  }
  CHECK_INT(k, 6);
}

TEST(events_come_in_pages) {
  begin();
  for (int i = 0; i < 5; i++)
    store(arena_printf(&arena, "Fact number %d about w%dx%d", i, i, i * i).p);
  int64_t last = 0;
  int pages = 0;
  for (const char *at = "/api/v1/events?action=memory:write&limit=2"; at; pages++) {
    struct http_call *c = SEND("GET", at);
    yyjson_val *e;
    size_t i, n;
    yyjson_arr_foreach(yyjson_obj_get(body_of(c), "events"), i, n, e) {
      CHECK(json_int(e, "seq", 0) > last);
      CHECK_STR(json_str(e, "action"), "memory:write");
      last = json_int(e, "seq", 0);
    }
    at = next_target(c);
  }
  CHECK_INT(pages, 3);
  CHECK_INT(last, 5);
}

/* ---- knowledge, search by scope ---- */

static void store_as(const char *type, const char *text, const char *more) {
  struct http_call *c = SEND("POST", "/api/v1/memories?project=web",
                             arena_printf(&arena, "{\"text\":\"%s\",\"type\":\"%s\"%s}", text, type, more).p);
  if (c->status != 201)
    FAIL("%d: %.*s", c->status, STR_ARG(c->reply));
}

TEST(knowledge_of_a_project_is_typed_and_cited) {
  begin();
  store("A global fact that is not of the project");
  store_as("decision", "Use Fastify for the API", ",\"confidence\":\"high\"");
  store_as("person", "Ann keeps the build machine alive", "");
  store_as("fact", "The staging port is 5433", "");
  store_as("context", "The team is moving to another office", "");
  store_as("task", "Write the release notes", ",\"priority\":\"high\"");
  yyjson_val *v = body_of(SEND("GET", "/api/v1/projects/web/knowledge"));
  CHECK_INT(json_int(v, "count", 0), 5);
  static const char *const types[] = {"decision", "entity", "claim", "note", "task"};
  for (size_t i = 0; i < ARRAY_LEN(types); i++) {
    const char *at = arena_printf(&arena, "/api/v1/projects/web/knowledge?type=%s", types[i]).p;
    yyjson_val *one = yyjson_obj_get(body_of(SEND("GET", at)), "items");
    test_note("%s", types[i]);
    CHECK_INT(yyjson_arr_size(one), 1);
    yyjson_val *item = yyjson_arr_get_first(one);
    CHECK_STR(json_str(item, "type"), types[i]);
    CHECK(json_str(item, "content").n > 10);
    CHECK_INT(json_int(yyjson_arr_get_first(yyjson_obj_get(item, "citations")), "memory", 0), (int64_t)i + 2);
    CHECK_INT(yyjson_arr_size(yyjson_obj_get(yyjson_obj_get(v, "groups"), types[i])), 1);
  }
  yyjson_val *decision = yyjson_arr_get_first(
      yyjson_obj_get(body_of(SEND("GET", "/api/v1/projects/web/knowledge?type=decision")), "items"));
  CHECK_STR(json_str(decision, "title"), "Use Fastify for the API");
  CHECK_NEAR(json_num(decision, "confidence", 0), 0.9, 0);
  CHECK_INT(json_int(body_of(SEND("GET", "/api/v1/projects/none/knowledge")), "count", 9), 0);
  v = body_of(SEND("GET", "/api/v1/projects/web/knowledge?q=staging+port"));
  CHECK_STR(json_str(yyjson_arr_get_first(yyjson_obj_get(v, "items")), "content"), "The staging port is 5433");
  yyjson_val *cited =
      yyjson_arr_get_first(yyjson_obj_get(yyjson_arr_get_first(yyjson_obj_get(v, "items")), "citations"));
  yyjson_val *listed = body_of(SEND("GET", "/api/v1/projects/web/knowledge"));
  listed = yyjson_arr_get_first(yyjson_obj_get(yyjson_arr_get_first(yyjson_obj_get(listed, "items")), "citations"));
  CHECK_STR(json_str(cited, "source"), "rest");
  CHECK_STR(json_str(listed, "source"), "rest");
}

TEST(knowledge_pages_work_for_a_rare_type) {
  begin();
  for (int i = 0; i < 12; i++)
    store_as(i % 4 == 1 ? "context" : "fact", arena_printf(&arena, "Thing number %d is called w%dx%d", i, i, i * i).p,
             "");
  int items = 0;
  for (const char *at = "/api/v1/projects/web/knowledge?type=note&limit=2"; at;) {
    struct http_call *c = SEND("GET", at);
    items += (int)json_int(body_of(c), "count", 0);
    at = next_target(c);
  }
  CHECK_INT(items, 3);
}

/* As the extraction pipeline writes its findings. */
static void extract(const char *project, enum corpus corpus, const char *ref, const char *text) {
  struct error err;
  struct engine_options o = {.path = test_store("store.db"), .clock = {.fixed = INT64_C(1772366400000)}};
  struct engine *e;
  CHECK_OK(engine_open(&o, &e, &err), &err);
  struct txn who = {.team = STR("default"),
                    .project = str_from(project),
                    .source = STR("test"),
                    .op = "extract",
                    .now = INT64_C(1772366400000)};
  struct txn txn;
  struct document d = {.ref = str_from(ref),
                       .type = STR("decision"),
                       .text = str_from(text),
                       .line = 7,
                       .confidence = 0.8,
                       .at = INT64_C(1770285600000)}; /* 2026-02-05T10:00:00Z */
  struct documents list = {&d, 1, 1};
  struct document_group group = {.path = STR("docs/api.md")};
  struct document_counts counts = {0};
  CHECK_OK(txn_begin(e->store, &who, 0, &txn, &err), &err);
  CHECK_OK(documents_replace(&txn, &arena, corpus, &group, &list, &counts, &err), &err);
  CHECK_OK(txn_commit(&txn, &err), &err);
  engine_close(&e);
}

TEST(knowledge_contains_items_of_files) {
  begin();
  store_as("decision", "Use Fastify for the API", ",\"confidence\":\"high\"");
  extract("web", CORPUS_ITEMS, "item-1", "Decided: the API has one version");
  extract("other", CORPUS_ITEMS, "item-2", "Decided: something of another project");
  extract("web", CORPUS_SOURCES, "0", "Decided: a source is no item");
  yyjson_val *v = body_of(SEND("GET", "/api/v1/projects/web/knowledge?type=decision"));
  CHECK_INT(json_int(v, "count", 0), 2);
  yyjson_val *item = yyjson_arr_get(yyjson_obj_get(v, "items"), 1); /* newest first */
  CHECK_STR(json_str(item, "id"), "item-1");
  CHECK_STR(json_str(item, "type"), "decision");
  CHECK_STR(json_str(item, "content"), "Decided: the API has one version");
  CHECK_STR(json_str(item, "sourceFile"), "docs/api.md");
  CHECK_INT(json_int(item, "lineNumber", 0), 7);
  CHECK_NEAR(json_num(item, "confidence", 0), 0.8, 0);
  CHECK_STR(json_str(item, "extractedAt"), "2026-02-05T10:00:00.000Z");
  CHECK(yyjson_is_null(yyjson_obj_get(yyjson_arr_get_first(yyjson_obj_get(v, "items")), "sourceFile")));
  v = body_of(SEND("GET", "/api/v1/projects/web/knowledge?q=API+version"));
  CHECK_STR(json_str(yyjson_arr_get_first(yyjson_obj_get(v, "items")), "id"), "item-1");
  v = body_of(SEND("GET", "/api/v1/memory/search?q=API+version&project=web&scope=items&scope=sessions"));
  CHECK_STR(json_val_str(yyjson_arr_get_first(yyjson_obj_get(v, "searched"))), "items");
  CHECK_STR(json_val_str(yyjson_arr_get_first(yyjson_obj_get(v, "empty_scopes"))), "sessions");
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(v, "results")), 1);
  yyjson_val *hit = yyjson_arr_get_first(yyjson_obj_get(v, "results"));
  CHECK_STR(json_str(hit, "origin"), "docs/api.md:7");
  CHECK(json_bool(hit, "untrusted", false));
  check_problem(SEND("DELETE", target("/api/v1/memories/#?reason=x", json_int(hit, "id", 0))), 409,
                "comes from docs/api.md:7");
}

TEST(search_by_scope_names_the_searched_corpora) {
  begin();
  store("The staging port is 5433");
  yyjson_val *v = body_of(SEND("GET", "/api/v1/memory/search?q=staging+port&scope=memory&scope=sources"));
  CHECK_STR(json_str(v, "query"), "staging port");
  CHECK_STR(json_val_str(yyjson_arr_get_first(yyjson_obj_get(v, "searched"))), "memory");
  CHECK_STR(json_val_str(yyjson_arr_get_first(yyjson_obj_get(v, "empty_scopes"))), "sources");
  CHECK_INT(json_int(yyjson_arr_get_first(yyjson_obj_get(v, "results")), "id", 0), 1);
  v = body_of(SEND("POST", "/api/v1/memory/search", "{\"q\":\"staging port\",\"scope\":[\"sources\"]}"));
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(v, "results")), 0);
}
