/* test_limits.c: one token cannot stall a server or fill its disk: concurrency, bytes, processor time, embeddings,
 * refusals. */
#include <sys/stat.h>
#include <unistd.h>

#include "support/serve.h"

static struct arena arena; /* never released: the process ends with the test */

static const char *token(const char *name, const char *const *more) {
  const char *argv[16] = {"token", "add", name};
  for (size_t n = 3; more && *more; more++)
    argv[n++] = *more;
  return cstr(jstr(cli_ok(__FILE__, __LINE__, STR_NONE, argv), "token"));
}

static struct str request(const char *t, const char *method, const char *path, struct str body) {
  return request_text(method, path,
                      textf("Authorization: Bearer %s\r\n%s", t, body.n ? "Content-Type: application/json\r\n" : ""),
                      body);
}

static struct answer rest(const struct serve *s, const char *t, const char *method, const char *path, struct str body) {
  struct wire *w = wire_open(s);
  wire_send(w, request(t, method, path, body));
  struct answer a = wire_answer(w, false);
  wire_close(w);
  return a;
}

static struct str text_of(size_t bytes, int number) {
  struct buf b = BUF(&arena);
  buf_addf(&b, "{\"text\":\"Report %d. ", number);
  for (int i = 0; b.n < bytes; i++)
    buf_addf(&b, "The machine m%dx%d stands in room %d of hall h%d. %s", number, i, i % 97, i % 31,
             i % 8 == 7 ? "\\n\\n" : "");
  buf_adds(&b, "\"}");
  return buf_str(&b);
}

static bool is_limited(const struct answer *a) {
  return a->status == 429 && answer_header(a, "Retry-After").p && has(a->body, "\"code\":\"limited\"");
}

static int64_t metric(const struct serve *s, const char *t, const char *result) {
  struct answer a = rest(s, t, "GET", "/metrics", STR_NONE);
  const char *name = textf("cairn_tokens_total{result=\"%s\"} ", result);
  size_t at = str_find(a.body, str_from(name), 0);
  CHECK(at != SIZE_MAX);
  return strtoll(a.body.p + at + strlen(name), NULL, 10);
}

TEST(a_long_text_is_stored_now_and_embedded_later, .seconds = 60) {
  const char *t = token("one", NULL);
  struct serve *s = serve_start(NULL);
  struct answer a = rest(s, t, "POST", "/api/v1/memories", text_of(100000, 1));
  CHECK_INT(a.status, 201);
  CHECK(has(a.body, "embedding_deferred") && has(a.body, "get their vectors later"));
  a = rest(s, t, "POST", "/api/v1/memories", text_of(1000, 2));
  CHECK_INT(a.status, 201);
  CHECK(!has(a.body, "embedding_deferred"));
  a = rest(s, t, "GET", "/api/v1/search?query=m1x1100", STR_NONE); /* at its end: by keywords */
  CHECK(has(a.body, "Report 1"));
  serve_stop(s);
  yyjson_val *stats = OK("stats");
  CHECK_INT(jint(stats, "embedded.done"), 32 + 1);
  CHECK(jint(stats, "embedded.total") > 60);
  OK("maintain");
  stats = OK("stats");
  CHECK_INT(jint(stats, "embedded.done"), jint(stats, "embedded.total"));
}

TEST(the_command_line_embeds_a_long_text_at_once, .seconds = 60) {
  yyjson_val *r = OK_FED(str_slice(text_of(100000, 1), 9, 100000), "remember", "-");
  CHECK(!has(json_write_val(&arena, r), "embedding_deferred"));
  yyjson_val *stats = OK("stats");
  CHECK_INT(jint(stats, "embedded.done"), jint(stats, "embedded.total"));
}

TEST(a_capture_embeds_a_bounded_number_of_pieces, .seconds = 60) {
  const char *t = token("one", NULL);
  struct serve *s = serve_start(NULL);
  struct buf b = BUF(&arena);
  buf_adds(&b, "{\"text\":\"");
  for (int i = 0; i < 50; i++)
    buf_addf(&b, "- The machine m%dx%d stands in room %d of hall h%d\\n", i, i * 7, i + 100, i * 3);
  buf_adds(&b, "\"}");
  struct answer a = rest(s, t, "POST", "/api/v1/capture", buf_str(&b));
  CHECK_INT(a.status, 200);
  CHECK(has(a.body, "\"stored\":50") && has(a.body, "embedding_deferred"));
  serve_stop(s);
  CHECK_INT(jint(OK("stats"), "embedded.done"), 32);
}

TEST(requests_of_a_token_in_progress_are_limited, .seconds = 60) {
  const char *bad = token("bad", NULL), *good = token("good", NULL);
  struct serve *s = serve_start(ARGS("--set", "serve.concurrency=4"));
  enum { SENT = 40 };
  struct wire *wires[SENT];
  struct str body = text_of(300000, 1);
  for (int i = 0; i < SENT; i++) {
    wires[i] = wire_open(s);
    wire_send(wires[i], request(bad, "POST", "/api/v1/memories", body));
  }
  struct answer honest = rest(s, good, "GET", "/api/v1/search?query=machine", STR_NONE);
  CHECK_INT(honest.status, 200);
  int refused = 0, stored = 0;
  for (int i = 0; i < SENT; i++) {
    struct answer a = wire_answer(wires[i], false);
    refused += is_limited(&a);
    stored += a.status == 200 || a.status == 201;
    wire_close(wires[i]);
  }
  CHECK_INT(refused + stored, SENT);
  CHECK(refused > 0 && stored >= 4);
  CHECK_INT(metric(s, good, "concurrency"), refused);
  serve_stop(s);
}

enum { CAPTURES = 12, ITEMS = 300 };

static struct str capture_of(const char *t, int number) {
  struct buf b = BUF(&arena);
  buf_adds(&b, "{\"text\":\"");
  for (int i = 0; i < ITEMS; i++)
    buf_addf(&b, "- The machine m%dx%d stands in room %d of hall h%d\\n", number, i, number * 1000 + i, i * 3);
  buf_adds(&b, "\"}");
  const char *who = t ? textf("Authorization: Bearer %s\r\n", t) : "";
  return request_text("POST", "/api/v1/capture", textf("%sContent-Type: application/json\r\n", who), buf_str(&b));
}

static int64_t stored_count(void) { return sql_number("SELECT count(*) FROM memory"); }

/* Sends captures, half with each token, and returns when as much is stored as one of them holds. Until then nobody else
 * has called the server, so the captures have all engines that such callers may have. */
static struct serve *serve_captures(const char *t, const char *also, struct wire *ret_wires[CAPTURES]) {
  struct serve *s = serve_start(NULL);
  for (int i = 0; i < CAPTURES; i++) {
    ret_wires[i] = wire_open(s);
    wire_send(ret_wires[i], capture_of(i % 2 ? also : t, i));
  }
  while (stored_count() < ITEMS)
    usleep(5000);
  return s;
}

static void end_captures(struct serve *s, struct wire *wires[CAPTURES]) {
  CHECK(stored_count() < CAPTURES * ITEMS / 4); /* most captures were still running or queued */
  for (int i = 0; i < CAPTURES; i++) {
    CHECK_INT(wire_answer(wires[i], false).status, 200);
    wire_close(wires[i]);
  }
  CHECK_INT(stored_count(), CAPTURES * ITEMS);
  serve_stop(s);
}

TEST(a_silent_token_does_not_wait_for_captures_of_another_one, .seconds = 60, .slow = true) {
  const char *bad = token("bad", ARGS("--project", "a")), *good = token("good", ARGS("--project", "b"));
  struct wire *wires[CAPTURES];
  struct serve *s = serve_captures(bad, bad, wires);
  CHECK_INT(rest(s, good, "GET", "/api/v1/search?query=machine", STR_NONE).status, 200);
  end_captures(s, wires);
}

TEST(nobody_waits_for_captures_of_two_tokens, .seconds = 60, .slow = true) {
  const char *bad = token("bad", ARGS("--project", "a")), *also = token("also", ARGS("--project", "a"));
  const char *good = token("good", ARGS("--project", "b"));
  struct wire *wires[CAPTURES];
  struct serve *s = serve_captures(bad, also, wires);
  CHECK_INT(rest(s, good, "GET", "/api/v1/search?query=machine", STR_NONE).status, 200);
  CHECK_INT(serve_get(s, "/readyz").status, 200);
  CHECK_INT(serve_get(s, "/api/v1/search?query=machine").status, 200);
  end_captures(s, wires);
}

TEST(a_token_does_not_wait_for_captures_of_local_clients, .seconds = 60, .slow = true) {
  const char *good = token("good", NULL);
  struct wire *wires[CAPTURES];
  struct serve *s = serve_captures(NULL, NULL, wires);
  CHECK_INT(rest(s, good, "GET", "/api/v1/search?query=machine", STR_NONE).status, 200);
  end_captures(s, wires);
}

TEST(bytes_of_a_token_are_limited, .seconds = 60) {
  const char *bad = token("bad", NULL), *good = token("good", NULL);
  struct serve *s = serve_start(ARGS("--set", "serve.kilobytes=1"));
  char *junk = arena_alloc(&arena, 9 << 20);
  memset(junk, ' ', 9 << 20);
  struct answer a = {0};
  for (int i = 0; i < 5; i++) /* 45 MB: more than the 32 MB at once */
    a = rest(s, bad, "POST", "/api/v1/memories", (struct str){junk, 9 << 20});
  CHECK(is_limited(&a) && has(a.body, "too many bytes"));
  CHECK_INT(rest(s, good, "GET", "/api/v1/memories", STR_NONE).status, 200);
  CHECK_INT(metric(s, good, "bytes"), 1);
  serve_stop(s);
}

/* tests/unit/http/test_budget.c uses it up. */
TEST(processor_time_of_tokens_is_charged, .seconds = 60) {
  const char *t = token("one", NULL);
  struct serve *s = serve_start(NULL);
  CHECK_INT(rest(s, t, "POST", "/api/v1/memories", text_of(100000, 1)).status, 201);
  struct str page = rest(s, t, "GET", "/metrics", STR_NONE).body;
  const char *name = "\ncairn_tokens_cpu_seconds_total ";
  size_t at = str_find(page, str_from(name), 0);
  CHECK(at != SIZE_MAX && strtod(page.p + at + strlen(name), NULL) > 0);
  serve_stop(s);
}

/* ---- refusals ---- */

enum { REFUSALS = 400 };

static struct str rest_write(const char *t, const char *session UNUSED) {
  return request(t, "POST", "/api/v1/memories", STR("{\"text\":\"The fence is painted green\"}"));
}

#define STORE_CALL                                                                                                     \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_store\","                     \
  "\"arguments\":{\"text\":\"The fence is painted green\"}"

static struct str mcp_request(const char *t, const char *headers, const char *body) {
  return request_text("POST", "/mcp",
                      textf("Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                            "Accept: application/json, text/event-stream\r\n%s",
                            t, headers),
                      str_from(body));
}

static struct str modern_write(const char *t, const char *session UNUSED) {
  return mcp_request(t, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: memory_store\r\n",
                     STORE_CALL ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                                "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"honest-agent\",\"version\":\"1\"},"
                                "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
}

static struct str legacy_write(const char *t, const char *session) {
  return mcp_request(t, textf("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n", session), STORE_CALL "}}");
}

static const char *legacy_session(const struct serve *s, const char *t) {
  struct wire *w = wire_open(s);
  wire_send(w, mcp_request(t, "",
                           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                           "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"honest-agent\","
                           "\"version\":\"1\"}}}"));
  struct answer a = wire_answer(w, false);
  wire_close(w);
  return cstr(answer_header(&a, "Mcp-Session-Id"));
}

static void try_writes(const char *more, const char *const *role, struct str (*write)(const char *, const char *),
                       bool legacy) {
  test_note("%s", more);
  const char *t = token(more, role);
  struct serve *s = serve_start(ARGS("--set", "serve.rate=0"));
  const char *session = legacy ? legacy_session(s, t) : NULL;
  struct wire *w = wire_open(s);
  for (int i = 0; i < REFUSALS; i++) {
    wire_send(w, write(t, session));
    struct answer a = wire_answer(w, false);
    if (a.status != 403 && !(a.status == 200 && has(a.body, "\"isError\":true")))
      FAIL("%d: %.*s", a.status, STR_ARG(a.body));
  }
  wire_close(w);
  serve_stop(s);
  int64_t events = sql_number(
              textf("SELECT count(*) FROM event WHERE action = 'scope:refused' AND source = 'token:%s'", more)),
          calls =
              sql_number(textf("SELECT count(*) FROM tool_call WHERE error = 'denied' AND source = 'token:%s'", more));
  if (events < 60 || events >= REFUSALS / 2 || calls < 60 || calls >= REFUSALS / 2)
    FAIL("%lld events, %lld calls", (long long)events, (long long)calls);
}

TEST(refusals_of_a_token_do_not_fill_the_store, .seconds = 120) {
  const char *const *skill = ARGS("--role", "skill"), *const *reader = ARGS("--read");
  STORE("The gate is painted green", "--project", "");
  try_writes("rest", skill, rest_write, false);
  try_writes("modern", skill, modern_write, false);
  try_writes("modern-reader", reader, modern_write, false);
  try_writes("legacy", skill, legacy_write, true);
  struct str log = file_read(cli_side(".log/calls.jsonl"));
  struct json_lines lines = lines_of(log);
  int denied = 0;
  for (size_t i = 0; i < lines.n; i++)
    denied += str_is(jstr(lines.v[i], "error"), "denied");
  CHECK(denied >= 4 * 60 && denied < 4 * REFUSALS / 2);
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE source = 'honest-agent'"), 0);
  CHECK(!has(log, "honest-agent"));
}

/* Requests beyond the rate, and those with a wrong token, are counted, but a flood of them must not push the records of
 * calls out of the log. */
TEST(refused_requests_do_not_fill_the_log, .seconds = 60) {
  const char *t = token("eager", NULL), *wrong = textf("%.*s%s", (int)strlen(t) - 4, t, "wxyz");
  struct serve *s = serve_start(ARGS("--set", "serve.rate=1", "--set", "serve.burst=1"));
  enum { CALLS = 1000 };
  struct wire *w = wire_open(s);
  int limited = 0;
  for (int i = 0; i < 2 * CALLS; i++) {
    wire_send(w, request(i % 2 ? t : wrong, "GET", "/api/v1/memories", STR_NONE));
    int status = wire_answer(w, false).status;
    CHECK(status == 200 || status == 401 || status == 429);
    limited += status == 429 && i % 2;
  }
  wire_close(w);
  CHECK(limited > CALLS / 2);
  serve_stop(s);
  struct json_lines log = lines_of(file_read(cli_side(".log/calls.jsonl")));
  int named = 0, refused = 0;
  for (size_t i = 0; i < log.n; i++) {
    refused += str_is(jstr(log.v[i], "name"), "http");
    named += str_is(jstr(log.v[i], "source"), "token:eager");
  }
  CHECK(refused >= 60 && refused < CALLS / 2);
  CHECK(named > 0);
}
