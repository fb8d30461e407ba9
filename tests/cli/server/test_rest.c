/* test_rest.c: /api/v1 of a real server: status codes, ETags, cursors and the OpenAPI document. */

#include "support/serve.h"

static struct arena memory;

struct reply {
  int status;
  struct answer answer;
  struct str body;
  yyjson_val *json; /* NULL without a JSON body */
};

static struct reply reply_of(struct answer a) {
  struct reply r = {.status = a.status, .answer = a, .body = a.body};
  struct error err;
  if (a.body.n && json_read(&memory, a.body, &r.json, &err) != STATUS_OK)
    r.json = NULL;
  return r;
}

static struct str reply_header(const struct reply *r, const char *name) { return answer_header(&r->answer, name); }

/* Headers are complete lines. A body is sent as JSON unless a header says otherwise. */
static const char *head_of(const char *const *parts, size_t n) {
  struct buf b = BUF(&memory);
  for (size_t i = 3; i < n; i++)
    buf_addf(&b, "%s\r\n", parts[i]);
  if (n > 2 && parts[2] && str_find(buf_str(&b), STR("Content-Type:"), 0) == SIZE_MAX)
    buf_adds(&b, "Content-Type: application/json\r\n");
  return b.n ? b.p : NULL;
}

/* Parts: method, target, body or NULL, then headers. */
static struct reply request(const struct serve *s, const char *const *parts, size_t n) {
  return reply_of(serve_do(s, parts[0], parts[1], head_of(parts, n), str_from(n > 2 ? parts[2] : NULL)));
}
#define REQUEST(s, ...)                                                                                                \
  request((s), (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void check_problem(const struct reply *r, int status, const char *part) {
  if (r->status != status)
    FAIL("status %d, not %d: %.*s", r->status, status, STR_ARG(r->body));
  CHECK_STR(reply_header(r, "Content-Type"), "application/problem+json");
  CHECK_INT(jint(r->json, "status"), status);
  CHECK(jstr(r->json, "title").n > 0);
  if (!has(r->body, part))
    FAIL("'%s' is not in %.*s", part, STR_ARG(r->body));
  /* Advice names requests. A command is useful only on the machine of the store. */
  struct str fix = json_str(r->json, "fix");
  if (fix.n && (has(fix, "cairn ") || has(fix, " --")) && !has(fix, "on the machine of the store"))
    FAIL("it speaks of the command line: %.*s", STR_ARG(fix));
}

#define PROBLEM(status, part, ...)                                                                                     \
  do {                                                                                                                 \
    struct reply reply_ = REQUEST(__VA_ARGS__);                                                                        \
    check_problem(&reply_, (status), (part));                                                                          \
  } while (0)

TEST(advice_names_requests, .seconds = 40) {
  struct serve *s = serve_start(NULL);
  PROBLEM(404, "GET /api/v1/memories and GET /api/v1/search show them", s, "GET", "/api/v1/memories/99");
  REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"The nightly build takes 12 minutes\"}");
  struct reply other = REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"The nightly build takes 45 minutes\"}");
  CHECK(has(jstr(warning(other.json, "contradiction"), "fix"), "undo this write, then POST "
                                                               "/api/v1/memories/1/supersede {\"reason\":\"WHY\""));
  REQUEST(s, "POST", "/api/v1/memories/1/supersede", "{\"text\":\"The nightly build is gone\",\"reason\":\"removed\"}");
  PROBLEM(409, "its current version is 3: POST /api/v1/memories/3/supersede {", s, "POST",
          "/api/v1/memories/1/supersede", "{\"text\":\"The nightly build is back\",\"reason\":\"returned\"}");
  PROBLEM(428, "POST /api/v1/forget", s, "POST", "/api/v1/memories/1/purge", "{}");
  PROBLEM(400, "query: any text", s, "GET", "/api/v1/search");
  serve_stop(s);
}

TEST(every_failure_has_its_status, .seconds = 40) {
  struct serve *s = serve_start(NULL);
  REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"Parsley grows in pots\",\"key\":\"herb\"}");
  PROBLEM(400, "unknown member 'colour'", s, "POST", "/api/v1/memories", "{\"text\":\"x\",\"colour\":1}");
  PROBLEM(400, "usage", s, "POST", "/api/v1/memories", "{\"text\":");
  PROBLEM(400, "unknown query parameter 'colour'", s, "GET", "/api/v1/memories?colour=red");
  PROBLEM(400, "invalid cursor", s, "GET", "/api/v1/memories?cursor=%27%20OR%201=1");
  PROBLEM(403, "", s, "GET", "/api/v1/stats", NULL, "Host: example.org");
  PROBLEM(403, "", s, "GET", "/api/v1/stats", NULL, "Origin: https://example.org");
  PROBLEM(404, "not_found", s, "GET", "/api/v1/memories/99");
  PROBLEM(404, "no such path", s, "GET", "/api/v1/nowhere");
  PROBLEM(404, "no such path", s, "POST", "/api/v1/ops/import", "{\"file\":\"/etc/hostname\"}");
  PROBLEM(405, "", s, "PATCH", "/api/v1/memories/1");
  PROBLEM(409, "conflict", s, "POST", "/api/v1/memories/1/unsupersede");
  PROBLEM(409, "conflict", s, "POST", "/api/v1/memories", "{\"text\":\"Basil wants more sun\",\"key\":\"herb\"}");
  PROBLEM(412, "stale", s, "POST", "/api/v1/memories/1/pin", NULL, "If-Match: \"0\"");
  PROBLEM(415, "application/json", s, "POST", "/api/v1/memories", "text=x", "Content-Type: text/plain");
  PROBLEM(422, "refused", s, "POST", "/api/v1/memories", "{\"text\":\"Parsley\",\"type\":\"vegetable\"}");
  PROBLEM(422, "secret", s, "POST", "/api/v1/memories",
          "{\"text\":\"The deploy token is ghp_16C7e42F292c6912E7710c838347Ae178B4a\"}");
  PROBLEM(428, "confirm", s, "POST", "/api/v1/memories/1/purge", "{}");
  CHECK_INT(jint(REQUEST(s, "GET", "/api/v1/memories").json, "total"), 1);
  serve_stop(s);
}

TEST(a_text_that_is_too_large_is_refused, .seconds = 40) {
  struct serve *s = serve_start(NULL);
  char *text = arena_zalloc(&memory, (11 << 20) + 1);
  memset(text, 'x', 11 << 20);
  memcpy(text, "{\"text\":\"", 9);
  memcpy(text + (11 << 20) - 2, "\"}", 2);
  PROBLEM(413, "", s, "POST", "/api/v1/memories", text); /* over the limit of a request */
  memcpy(text + (2 << 20), "\"}", 3);
  PROBLEM(413, "too_large", s, "POST", "/api/v1/memories", text); /* over the limit of a memory */
  serve_stop(s);
}

TEST(a_locked_store_says_when_to_try_again, .seconds = 40) {
  cli_set("CAIRN_BUSY_MS=50");
  struct serve *s = serve_start(NULL);
  REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"Parsley grows in pots\"}");
  struct direct *writer = direct_open(cli_db());
  direct_lock(writer);
  struct reply r = REQUEST(s, "POST", "/api/v1/memories/1/pin");
  check_problem(&r, 503, "busy");
  CHECK(reply_header(&r, "Retry-After").n > 0);
  CHECK_INT(REQUEST(s, "GET", "/api/v1/memories/1").status, 200); /* readers do not wait */
  direct_close(writer);
  CHECK_INT(REQUEST(s, "POST", "/api/v1/memories/1/pin").status, 200);
  serve_stop(s);
}

TEST(etags_over_the_network, .seconds = 40) {
  struct serve *s = serve_start(NULL);
  struct reply r = REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"Parsley grows in pots\"}");
  CHECK_INT(r.status, 201);
  CHECK_STR(reply_header(&r, "Location"), "/api/v1/memories/1");
  struct str tag = reply_header(&r, "ETag");
  const char *none = textf("If-None-Match: %s", cstr(tag)), *match = textf("If-Match: %s", cstr(tag));
  r = REQUEST(s, "GET", "/api/v1/memories/1", NULL, none);
  CHECK_INT(r.status, 304);
  CHECK_INT(r.body.n, 0);
  r = REQUEST(s, "HEAD", "/api/v1/memories/1");
  CHECK_INT(r.status, 200);
  CHECK_INT(r.body.n, 0);
  CHECK_STR(reply_header(&r, "ETag"), cstr(tag));
  /* Reads do not change the ETag. Writes do, from any interface. */
  CHECK_INT(REQUEST(s, "GET", "/api/v1/memories/1", NULL, none).status, 304);
  OK("rate", "1", "up");
  r = REQUEST(s, "GET", "/api/v1/memories/1", NULL, none);
  CHECK_INT(r.status, 200);
  CHECK_STR(jstr(r.json, "hash"), cstr(jstr(OK("get", "1"), "hash")));
  CHECK_INT(REQUEST(s, "POST", "/api/v1/memories/1/pin", NULL, match).status, 412);
  match = textf("If-Match: %s", cstr(reply_header(&r, "ETag")));
  CHECK_INT(REQUEST(s, "POST", "/api/v1/memories/1/pin", NULL, match).status, 200);
  serve_stop(s);
}

/* Many clients have read the same version, and only one may change it. */
TEST(one_of_many_concurrent_changes_wins, .seconds = 60) {
  enum { CLIENTS = 8 };
  struct serve *s = serve_start(NULL);
  struct reply r = REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"Parsley grows in pots\"}");
  const char *match = textf("If-Match: %s", cstr(reply_header(&r, "ETag")));
  struct wire *clients[CLIENTS];
  int won = 0, stale = 0;
  match = textf("%s\r\nContent-Type: application/json\r\n", match);
  for (int i = 0; i < CLIENTS; i++) {
    clients[i] = wire_open(s);
    wire_send(clients[i], request_text("POST", "/api/v1/memories/1/annotations", match,
                                       str_from(textf("{\"note\":\"from %d\"}", i))));
  }
  for (int i = 0; i < CLIENTS; i++) {
    r = reply_of(wire_answer(clients[i], false));
    wire_close(clients[i]);
    won += r.status == 200;
    stale += r.status == 412;
  }
  CHECK_INT(won, 1);
  CHECK_INT(stale, CLIENTS - 1);
  CHECK_INT(jlen(REQUEST(s, "GET", "/api/v1/memories/1/annotations").json, "annotations"), 1);
  serve_stop(s);
}

/* ---- pages ---- */

static struct str next_of(const struct reply *r) {
  struct str link = reply_header(r, "Link");
  size_t end = link.p ? str_find(link, STR(">"), 0) : SIZE_MAX;
  return end == SIZE_MAX ? STR_NONE : arena_dup(&memory, str_slice(link, 1, end));
}

TEST(paging_over_many_rows_loses_and_repeats_nothing, .seconds = 60) {
  enum { COUNT = 400, PAGE = 37 };
  bool seen[COUNT + 1] = {0};
  struct buf b = BUF(&memory);
  for (int i = 0; i < COUNT; i++)
    buf_addf(&b, "{\"text\":\"Row %d is the one called w%dx%d\",\"defer_embedding\":true,\"tags\":[\"a b&c\"]}\n", i,
             i * 7, i * i);
  CHECK_INT(CAIRN_FED(buf_str(&b), "remember", "--batch", "-").exit_code, 0);
  struct serve *s = serve_start(NULL);
  const char *at = "/api/v1/memories?tags=a%20b%26c&limit=37";
  int rows = 0, pages = 0;
  for (;;) {
    struct reply r = REQUEST(s, "GET", at);
    CHECK_INT(r.status, 200);
    pages++;
    for (size_t i = 0; i < jlen(r.json, "memories"); i++, rows++) {
      int64_t id = jint(r.json, textf("memories[%zu].id", i));
      CHECK(id >= 1 && id <= COUNT && !seen[id]);
      seen[id] = true;
    }
    struct str next = next_of(&r);
    if (!next.p)
      break;
    CHECK(has(next, cstr(jstr(r.json, "next_cursor"))));
    at = cstr(next);
    /* Rows inserted or deleted meanwhile do not shift the pages: a new one, and one that was already returned. */
    REQUEST(s, "POST", "/api/v1/memories",
            textf("{\"text\":\"Latecomer number %d is v%d\",\"defer_embedding\":true,\"tags\":[\"a b&c\"]}", pages,
                  pages * pages));
    REQUEST(s, "DELETE", textf("/api/v1/memories/%d?reason=test", COUNT - pages + 1));
  }
  CHECK_INT(rows, COUNT);
  CHECK_INT(pages, (COUNT + PAGE - 1) / PAGE);
  serve_stop(s);
}

TEST(knowledge_of_a_project, .seconds = 40) {
  struct serve *s = serve_start(NULL);
  REQUEST(s, "POST", "/api/v1/memories?project=web",
          "{\"text\":\"We chose Fastify over Express\",\"type\":\"decision\"}");
  REQUEST(s, "POST", "/api/v1/tasks", "{\"text\":\"Write the release notes\",\"project\":\"web\"}");
  REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"A global fact\"}");
  struct reply r = REQUEST(s, "GET", "/api/v1/projects/web/knowledge");
  CHECK_INT(r.status, 200);
  CHECK_INT(jlen(r.json, "items"), 2);
  CHECK_INT(jlen(r.json, "groups.decision"), 1);
  CHECK_INT(jlen(r.json, "groups.task"), 1);
  r = REQUEST(s, "GET", "/api/v1/projects/web/knowledge?type=decision");
  CHECK_STR(jstr(r.json, "items[0].content"), "We chose Fastify over Express");
  CHECK_STR(jstr(r.json, "items[0].citations[0].url"), "/api/v1/memories/1");
  r = REQUEST(s, "GET", "/api/v1/memory/search?q=fastify&project=web");
  CHECK_INT(jint(r.json, "results[0].id"), 1);
  serve_stop(s);
}

/* ---- the document ---- */

/* Replaces {id} with a name that does not exist. */
static const char *filled(struct str path) {
  struct buf b = BUF(&memory);
  bool inside = false;
  for (size_t i = 0; i < path.n; i++) {
    if (path.p[i] == '{')
      buf_adds(&b, "404404");
    inside = path.p[i] == '{' || (inside && path.p[i] != '}');
    if (!inside && path.p[i] != '}')
      buf_addc(&b, path.p[i]);
  }
  return buf_str(&b).p;
}

TEST(every_route_of_the_document_answers, .seconds = 60) {
  struct serve *s = serve_start(NULL);
  struct reply document = REQUEST(s, "GET", "/api/v1/openapi.json");
  CHECK_STR(jstr(document.json, "openapi"), "3.1.0");
  yyjson_val *path, *item, *method, *operation;
  size_t i, n, k, m, count = 0;
  yyjson_obj_foreach(yyjson_obj_get(document.json, "paths"), i, n, path, item) {
    yyjson_obj_foreach(item, k, m, method, operation) {
      const char *target = filled(json_val_str(path));
      struct str verb = json_val_str(method);
      const char *name = str_is(verb, "get")    ? "GET"
                         : str_is(verb, "post") ? "POST"
                         : str_is(verb, "put")  ? "PUT"
                                                : "DELETE";
      test_note("%s %s", name, target);
      struct reply r = REQUEST(s, name, target, verb.p[0] == 'p' ? "{}" : NULL);
      CHECK(r.json && r.status < 500);
      CHECK(r.status != 405);
      if (has(r.body, "no such path"))
        FAIL("%s %s: %.*s", name, target, STR_ARG(r.body));
      /* the document lists this status */
      if (!yyjson_obj_get(yyjson_obj_get(operation, "responses"), textf("%d", r.status)))
        FAIL("%s %s: status %d is not in the document: %.*s", name, target, r.status, STR_ARG(r.body));
      count++;
    }
  }
  CHECK(count > 40);
  serve_stop(s);
}

/* ---- requests of a browser ---- */

/* The rows of the store without its log, and without the counters of reads. */
static struct str rows_without_reads(void) {
  struct buf kept = BUF(&memory);
  struct str all = snapshot(), line;
  while (str_line(&all, &line)) {
    if (str_starts(line, STR("event|")) || str_starts(line, STR("sqlite_sequence|")))
      continue;
    size_t counted = str_starts(line, STR("memory|")) ? str_find(line, STR("|access_count="), 0) : SIZE_MAX;
    size_t after = counted == SIZE_MAX ? SIZE_MAX : str_find(line, STR("|last_accessed="), counted);
    if (after != SIZE_MAX) {
      buf_add(&kept, str_slice(line, 0, counted));
      line = str_slice(line, after + 1, line.n);
      size_t next = str_find(line, STR("|"), 0);
      line = next == SIZE_MAX ? STR("") : str_slice(line, next, line.n);
    }
    buf_add(&kept, line);
    buf_addc(&kept, '\n');
  }
  return buf_str(&kept);
}

/* A path with a value for its {variable}. */
static const char *filled_path(struct str path) {
  size_t open = str_find(path, STR("{"), 0), close = str_find(path, STR("}"), 0);
  if (open == SIZE_MAX)
    return cstr(path);
  struct str name = str_slice(path, open + 1, close);
  const char *value = str_is(name, "id") ? "1" : str_is(name, "key") ? "note" : "gate.mode";
  return textf("%.*s%s%.*s", (int)open, path.p, value, (int)(path.n - close - 1), path.p + close + 1);
}

/* Every path with GET: those of the OpenAPI document, and those of the server. */
static struct strs get_paths(const struct serve *s) {
  static const char *const others[] = {"/", "/healthz", "/readyz", "/metrics", "/events", "/mcp", "/mcp/openbrain2"};
  struct strs paths = {0};
  yyjson_val *key, *value;
  size_t i, n;
  struct reply r = REQUEST(s, "GET", "/api/v1/openapi.json");
  yyjson_obj_foreach(jget(r.json, "paths"), i, n, key, value) {
    if (yyjson_obj_get(value, "get"))
      strs_push(&memory, &paths, str_from(filled_path(json_val_str(key))));
  }
  CHECK(paths.n > 25);
  for (i = 0; i < ARRAY_LEN(others); i++)
    strs_push(&memory, &paths, str_from(others[i]));
  return paths;
}

/* Any page can make a browser send a GET, and some cannot be told from those of a program: <img src=...> sends no
 * Origin. */
TEST(no_get_changes_the_store, .seconds = 60) {
  struct serve *s = serve_start(NULL);
  REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"Parsley grows in pots\",\"project\":\"shop\"}");
  struct reply mine = REQUEST(s, "POST", "/api/v1/sessions", "{\"project\":\"shop\",\"task\":\"repot\"}");
  const char *session = textf("Cairn-Session: %s", cstr(jstr(mine.json, "session")));
  REQUEST(s, "PUT", "/api/v1/session/scratch/note", "{\"value\":\"half\"}", session);
  REQUEST(s, "POST", "/api/v1/sessions", "{\"project\":\"shop\"}");
  REQUEST(s, "POST", "/api/v1/sessions", "{\"project\":\"shop\"}");
  /* One was silent for an hour, one for two days, and one was ended for that. */
  sql_do("UPDATE session SET heartbeat_at = heartbeat_at - 3600000 WHERE id = 1");
  sql_do("UPDATE session SET heartbeat_at = heartbeat_at - 172800000 WHERE id = 2");
  sql_do("UPDATE session SET ended_at = heartbeat_at, end_reason = 'silent' WHERE id = 3");
  sql_do("UPDATE memory SET state = 'faded', state_reason = 'unused', state_at = 1 WHERE id = 1");
  struct strs paths = get_paths(s);
  struct str before = rows_without_reads();
  const char *handle = cstr(sql_string("SELECT handle FROM session WHERE id = 3"));
  for (size_t i = 0; i < paths.n; i++) {
    const char *path = cstr(paths.v[i]);
    bool rest = str_starts(paths.v[i], STR("/api/v1/"));
    test_note("%s", path);
    struct reply r =
        REQUEST(s, "GET", path, NULL, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image");
    CHECK_INT(r.status, 403);
    CHECK_STR(reply_header(&r, "Cross-Origin-Resource-Policy"), "same-origin");
    CHECK_INT(REQUEST(s, "HEAD", path, NULL, "Sec-Fetch-Site: same-site").status, 403);
    const char *full = rest ? textf("%s?project=shop", path) : path;
    if (has(paths.v[i], "/knowledge") || has(paths.v[i], "openapi"))
      full = path;
    if (has(paths.v[i], "search"))
      full = textf("%s&%s=parsley", full, has(paths.v[i], "memory/") ? "q" : "query");
    r = REQUEST(s, "GET", full, NULL, session, "Sec-Fetch-Site: none");
    CHECK_STR(reply_header(&r, "Cross-Origin-Resource-Policy"), "same-origin");
    if (rest && !has(paths.v[i], "skills/") && !has(paths.v[i], "tokens") && r.status != 200)
      FAIL("%s: %d %.*s", full, r.status, STR_ARG(r.body));
    REQUEST(s, "GET", full, NULL, textf("Cairn-Session: %s", handle));
    check_same(__FILE__, __LINE__, before, rows_without_reads());
  }
  struct reply boot = REQUEST(s, "GET", "/api/v1/boot?project=shop&task=Say+that+the+gate+is+open");
  CHECK_INT(boot.status, 200);
  CHECK(!jget(boot.json, "session"));
  PROBLEM(400, "unknown query parameter 'register'", s, "GET", "/api/v1/boot?register=true");
  PROBLEM(400, "unknown query parameter 'pid'", s, "GET", textf("/api/v1/boot?pid=%d", (int)serve_pid(s)));
  check_same(__FILE__, __LINE__, before, rows_without_reads());
  serve_stop(s);
}

/* A page of another program of this machine can send a POST without a body and without a content type. */
TEST(pages_of_other_local_ports_are_refused, .seconds = 40) {
  struct serve *s = serve_start(NULL);
  REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"Parsley grows in pots\"}");
  int64_t txn = sql_number("SELECT max(id) FROM txn");
  const char *undo = textf("/api/v1/transactions/%lld/undo", (long long)txn);
  PROBLEM(403, "Origin", s, "POST", undo, NULL, "Origin: http://localhost:3000",
          textf("Host: localhost:%d", serve_port(s)));
  PROBLEM(403, "", s, "POST", undo, NULL, "Sec-Fetch-Site: same-site");
  CHECK_INT(jint(REQUEST(s, "GET", "/api/v1/memories").json, "total"), 1);
  CHECK_INT(REQUEST(s, "POST", undo, NULL, textf("Origin: http://localhost:%d", serve_port(s)),
                    textf("Host: 127.0.0.1:%d", serve_port(s)), "Sec-Fetch-Site: same-origin")
                .status,
            200);
  serve_stop(s);
}

/* ---- idempotency keys ---- */

static struct reply post_memory(const struct serve *s, const char *text, const char *project, const char *token) {
  const char *body = textf("{\"text\":\"%s\",\"project\":\"%s\"}", text, project);
  return REQUEST(s, "POST", "/api/v1/memories", body, "Idempotency-Key: once",
                 token ? textf("Authorization: Bearer %s", token) : "X-Cairn-Source: test");
}

TEST(an_idempotency_key_belongs_to_its_caller_project_and_arguments, .seconds = 60) {
  const char *ann = cstr(jstr(OK("token", "add", "ann"), "token")),
             *bob = cstr(jstr(OK("token", "add", "bob"), "token"));
  struct serve *s = serve_start(NULL);
  struct reply first = post_memory(s, "Parsley grows in pots", "shop", NULL);
  CHECK_INT(first.status, 201);
  struct reply again = post_memory(s, "Parsley grows in pots", "shop", NULL);
  CHECK_INT(again.status, 201);
  CHECK_INT(jint(again.json, "txn"), jint(first.json, "txn"));
  CHECK(!jget(again.json, "arguments_hash"));
  /* The order of the arguments does not matter, their values do. */
  again = REQUEST(s, "POST", "/api/v1/memories", "{\"project\":\"shop\",\"text\":\"Parsley grows in pots\"}",
                  "Idempotency-Key: once");
  CHECK_INT(jint(again.json, "txn"), jint(first.json, "txn"));
  struct str before = snapshot();
  PROBLEM(422, "the idempotency key 'once' was used with other arguments; nothing was stored", s, "POST",
          "/api/v1/memories", "{\"text\":\"The cellar door is locked at ten\",\"project\":\"shop\"}",
          "Idempotency-Key: once");
  PROBLEM(422, "use a new key", s, "POST", "/api/v1/memories",
          "{\"text\":\"Parsley grows in pots\",\"project\":\"shop\",\"tags\":[\"herb\"]}", "Idempotency-Key: once");
  CHECK_UNCHANGED(before);
  /* Another project or token has keys of its own. */
  CHECK_INT(post_memory(s, "Basil stands on the sill", "web", NULL).status, 201);
  CHECK_INT(post_memory(s, "The cellar door is locked at ten", "shop", ann).status, 201);
  CHECK_INT(post_memory(s, "Invoices are sent on Monday", "shop", bob).status, 201);
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 4);
  serve_stop(s);
}

TEST(a_key_whose_memory_was_forgotten_is_refused, .seconds = 60) {
  struct serve *s = serve_start(NULL);
  CHECK_INT(post_memory(s, "Parsley grows in pots", "shop", NULL).status, 201);
  OK("forget", "1", "--reason", "wrong");
  struct reply r = post_memory(s, "Parsley grows in pots", "shop", NULL);
  check_problem(&r, 409, "memory 1, written with the idempotency key 'once', was forgotten since");
  serve_stop(s);
}

TEST(idempotency_keys_expire, .seconds = 60) {
  int64_t first = jint(OK("remember", "Parsley grows in pots", "--idempotency-key", "once"), "txn");
  cli_day(6.9);
  CHECK_INT(jint(OK("remember", "Parsley grows in pots", "--idempotency-key", "once"), "txn"), first);
  cli_day(7.1);
  yyjson_val *r = OK("remember", "The cellar door is locked at ten", "--idempotency-key", "once");
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK_INT(jint(OK("remember", "The cellar door is locked at ten", "--idempotency-key", "once"), "txn"),
            jint(r, "txn"));
  OK("maintain");
  CHECK_INT(sql_number("SELECT count(*) FROM idempotency"), 1);
  cli_day(15);
  OK("maintain");
  CHECK_INT(sql_number("SELECT count(*) FROM idempotency"), 0);
}

/* ---- the project of a request ---- */

TEST(the_header_names_the_project, .seconds = 60) {
  struct serve *s = serve_start(NULL);
  struct reply r =
      REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"Parsley grows in pots\"}", "Cairn-Project: shop");
  CHECK_STR(jstr(r.json, "project"), "shop");
  CHECK(!warning(r.json, "no_project"));
  r = REQUEST(s, "POST", "/api/v1/memories?project=web", "{\"text\":\"Basil stands on the sill\"}",
              "Cairn-Project: shop");
  CHECK_STR(jstr(r.json, "project"), "web");
  r = REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"Invoices are sent on Monday\"}");
  CHECK_STR(jstr(r.json, "project"), "");
  CHECK(has(jstr(warning(r.json, "no_project"), "message"), "stored globally"));
  CHECK(has(jstr(warning(r.json, "no_project"), "fix"), "?project=NAME"));
  r = REQUEST(s, "POST", "/api/v1/memories", "{\"text\":\"The cellar is locked at ten\",\"scope\":\"global\"}");
  CHECK(!warning(r.json, "no_project"));
  CHECK_INT(jint(REQUEST(s, "GET", "/api/v1/memories", NULL, "Cairn-Project: shop").json, "total"), 3);
  /* So do other operations that store something. */
  static const char *const stored[][2] = {
      {"/api/v1/actions", "{\"text\":\"Renew the licence of the mill\"}"},
      {"/api/v1/session/handoff", "{\"text\":\"The mill is half painted\"}"},
      {"/api/v1/ops/file-create", "{\"path\":\"/memories/mill.md\",\"file_text\":\"The mill has four sails\"}"},
      {"/api/v1/ops/graph-create",
       "{\"lines\":[\"{\\\"type\\\":\\\"entity\\\",\\\"name\\\":\\\"Mill\\\","
       "\\\"entityType\\\":\\\"building\\\",\\\"observations\\\":[\\\"It stands on a hill\\\"]}\"]}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(stored); i++) {
    test_note("%s", stored[i][0]);
    CHECK(warning(REQUEST(s, "POST", stored[i][0], stored[i][1]).json, "no_project"));
    r = REQUEST(s, "POST", stored[i][0], stored[i][1], "Cairn-Project: barn");
    CHECK(r.status / 100 == 2 && !jget(r.json, "warnings"));
  }
  PROBLEM(400, "project name", s, "GET", "/api/v1/memories", NULL, "Cairn-Project: a\tb");
  PROBLEM(400, "UTF-8", s, "GET", "/api/v1/memories", NULL, "Cairn-Project: \xff");
  /* A correction stays in the project of the old memory. */
  r = REQUEST(s, "POST", "/api/v1/memories/3/supersede", "{\"text\":\"Invoices go out daily\",\"reason\":\"new rule\"}",
              "Cairn-Project: shop");
  CHECK_STR(jstr(r.json, "project"), "");
  serve_stop(s);
}
