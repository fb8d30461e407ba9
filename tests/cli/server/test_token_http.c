/* test_token_http.c: limits of a token over HTTP: project, read-only, profile, sessions, revocation, expiry. */
#include <sys/resource.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "support/serve.h"

#define META                                                                                                           \
  "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                             \
  "\"io.modelcontextprotocol/clientCapabilities\":{}}"

static const char *token(const char *name, const char *const *more) {
  const char *argv[16] = {"token", "add", name};
  for (size_t n = 3; more && *more; more++)
    argv[n++] = *more;
  return cstr(jstr(cli_ok(__FILE__, __LINE__, STR_NONE, argv), "token"));
}

static const char *bearer(const char *t) { return t ? textf("Authorization: Bearer %s\r\n", t) : ""; }

static struct answer rest(const struct serve *s, const char *t, const char *method, const char *path,
                          const char *body) {
  return serve_do(s, method, path, textf("%s%s", bearer(t), body ? "Content-Type: application/json\r\n" : ""),
                  str_from(body));
}

static int status(const struct serve *s, const char *t, const char *method, const char *path, const char *body) {
  return rest(s, t, method, path, body).status;
}

static struct answer mcp(const struct serve *s, const char *t, const char *path, const char *method) {
  return serve_do(s, "POST", path,
                  textf("%sContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n",
                        bearer(t), method),
                  str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{" META "}}", method)));
}

static int legacy(const struct serve *s, const char *t, const char *method, const char *session, const char *headers) {
  return serve_do(s, method, "/mcp",
                  textf("%sContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
                        "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n%s",
                        bearer(t), session, headers),
                  strcmp(method, "POST") == 0 ? STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}") : STR_NONE)
      .status;
}

TEST(a_token_is_limited_to_its_project) {
  STORE("The beta launch is in May", "--project", "beta", "--key", "launch");
  STORE("The alpha build runs on nine machines", "--project", "alpha");
  const char *one = token("one", ARGS("--project", "alpha")),
             *two = token("two", ARGS("--project", "alpha", "--project", "gamma"));
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, one, "GET", "/api/v1/memories", NULL), 200);
  CHECK_INT(status(s, one, "GET", "/api/v1/memories/launch", NULL), 404);
  CHECK_INT(status(s, one, "GET", "/api/v1/memories/1", NULL), 404);
  CHECK_INT(status(s, one, "GET", "/api/v1/memories?project=beta", NULL), 403);
  CHECK_INT(status(s, one, "GET", "/api/v1/memories?all_projects=true", NULL), 403);
  static const char *const closed[] = {"/api/v1/events",
                                       "/events",
                                       "/metrics",
                                       "/api/v1/settings",
                                       "/api/v1/stats",
                                       "/api/v1/tokens",
                                       "/api/v1/projects/beta/knowledge"};
  for (size_t i = 0; i < ARRAY_LEN(closed); i++) {
    test_note("%s", closed[i]);
    CHECK_INT(status(s, one, "GET", closed[i], NULL), 403);
  }
  CHECK_INT(status(s, one, "POST", "/api/v1/memories", "{\"text\":\"The alpha fence is eleven feet high\"}"), 201);
  struct answer a = rest(s, two, "POST", "/api/v1/memories", "{\"text\":\"The gate is painted green\"}");
  CHECK_INT(a.status, 400);
  CHECK(has(a.body, "alpha, gamma"));
  CHECK_INT(
      status(s, two, "POST", "/api/v1/memories", "{\"text\":\"The gate is painted green\",\"project\":\"gamma\"}"),
      201);
  a = serve_do(s, "POST", "/api/v1/memories",
               textf("%sContent-Type: application/json\r\nX-Cairn-Source: cli\r\n", bearer(one)),
               STR("{\"text\":\"Somebody pretends to be the command line\"}"));
  CHECK_INT(a.status, 201);
  serve_stop(s);
  CHECK_STR(sql_string("SELECT project FROM memory WHERE headline LIKE '%fence%'"), "alpha");
  CHECK_STR(sql_string("SELECT project FROM memory WHERE headline LIKE '%painted%'"), "gamma");
  CHECK_STR(sql_string("SELECT source FROM memory WHERE headline LIKE '%pretends%'"), "token:one");
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'scope:refused' AND source = 'token:one'"
                       " AND detail LIKE '%\"wanted\":\"memory launch\"%'"),
            1);
}

TEST(a_read_only_token) {
  STORE("The build runs on nine machines", "--project", "");
  const char *t = token("reader", ARGS("--read"));
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, t, "GET", "/api/v1/search?query=machines", NULL), 200);
  CHECK_INT(status(s, t, "POST", "/api/v1/memories", "{\"text\":\"The gate is painted green\"}"), 403);
  CHECK_INT(status(s, t, "POST", "/api/v1/memories/1/pin", "{}"), 403);
  CHECK_INT(status(s, t, "DELETE", "/api/v1/memories/1?reason=old", NULL), 403);
  struct answer a = rest(s, t, "POST", "/api/v1/sessions", "{}");
  CHECK_INT(a.status, 200);
  CHECK(!has(a.body, "\"session\":\"s-"));
  a = mcp(s, t, "/mcp", "tools/list");
  CHECK(has(a.body, "memory_search") && !has(a.body, "memory_remember"));
  serve_stop(s);
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 1);
  CHECK_INT(sql_number("SELECT count(*) FROM session"), 0);
}

TEST(the_profile_readonly_is_read_only_on_every_interface) {
  STORE("The build runs on nine machines", "--project", "");
  const char *t = token("viewer", ARGS("--profile", "readonly"));
  CHECK_STR(jstr(OK("token", "list"), "tokens[0].access"), "read");
  sql_do("UPDATE token SET access = 'write'"); /* as 0.1.0 stored it */
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, t, "GET", "/api/v1/search?query=machines", NULL), 200);
  CHECK_INT(status(s, t, "POST", "/api/v1/memories", "{\"text\":\"The gate is painted green\"}"), 403);
  CHECK_INT(status(s, t, "POST", "/api/v1/memories/1/pin", "{}"), 403);
  CHECK_INT(status(s, t, "DELETE", "/api/v1/memories/1?reason=old", NULL), 403);
  serve_stop(s);
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 1);
}

/* A token, created over HTTP with another one. */
static const char *child(const struct serve *s, const char *parent, const char *name) {
  struct answer a = rest(s, parent, "POST", "/api/v1/tokens", textf("{\"name\":\"%s\"}", name));
  if (a.status >= 300)
    FAIL("%d %.*s", a.status, STR_ARG(a.body));
  static struct arena memory;
  struct error err;
  yyjson_val *made;
  CHECK_OK(json_read(&memory, a.body, &made, &err), &err);
  return cstr(jstr(made, "token"));
}

TEST(revoking_a_token_revokes_those_it_created, .seconds = 60) {
  const char *stolen = token("stolen", NULL), *other = token("other", NULL);
  struct serve *s = serve_start(NULL);
  const char *first = child(s, stolen, "first"), *second = child(s, first, "second"), *kept = child(s, other, "kept");
  CHECK_INT(status(s, second, "GET", "/api/v1/memories", NULL), 200);
  yyjson_val *r = OK("token", "revoke", "stolen");
  CHECK_INT((int64_t)jlen(r, "also_revoked"), 2);
  CHECK(jhas_str(r, "also_revoked", "first") && jhas_str(r, "also_revoked", "second"));
  CHECK_INT(status(s, stolen, "GET", "/api/v1/memories", NULL), 401);
  CHECK_INT(status(s, first, "GET", "/api/v1/memories", NULL), 401);
  CHECK_INT(status(s, second, "GET", "/api/v1/memories", NULL), 401);
  CHECK_INT(status(s, kept, "GET", "/api/v1/memories", NULL), 200);
  serve_stop(s);
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'token:revoke'"), 3);
}

static int accepted_tokens(const struct serve *s) {
  static const char name[] = "\ncairn_tokens_total{result=\"accepted\"} ";
  struct str page = serve_get(s, "/metrics").body;
  size_t at = str_find(page, str_from(name), 0);
  CHECK(at != SIZE_MAX);
  return atoi(page.p + at + strlen(name));
}

/* The call is authenticated and waits for the lock while its token is revoked. */
TEST(a_token_that_is_revoked_meanwhile_creates_none, .seconds = 60) {
  const char *stolen = token("stolen", NULL);
  struct serve *s = serve_start(NULL);
  int before = accepted_tokens(s);
  struct direct *d = direct_open(cli_db());
  direct_lock(d);
  struct wire *w = wire_open(s);
  wire_send(w, request_text("POST", "/api/v1/tokens", textf("%sContent-Type: application/json\r\n", bearer(stolen)),
                            STR("{\"name\":\"child\"}")));
  while (accepted_tokens(s) == before) /* bounded by the test's time limit */
    usleep(5000);
  direct_do(d, "UPDATE token SET revoked_at = created_at");
  direct_do(d, "COMMIT");
  CHECK_INT(wire_answer(w, false).status, 401);
  wire_close(w);
  direct_close(d);
  serve_stop(s);
  CHECK_INT(sql_number("SELECT count(*) FROM token"), 1);
}

TEST(a_new_token_with_an_old_name_is_no_parent, .seconds = 60) {
  const char *old = token("bot", ARGS("--ttl", "never"));
  struct serve *s = serve_start(NULL);
  const char *made = child(s, old, "made");
  serve_stop(s);
  sql_do("UPDATE token SET created_at = created_at - 1000"); /* time passes */
  sql_do("DELETE FROM token WHERE name = 'bot'");
  token("bot", NULL);
  CHECK(!jget(OK("token", "revoke", "bot"), "also_revoked"));
  s = serve_start(NULL);
  CHECK_INT(status(s, made, "GET", "/api/v1/memories", NULL), 200);
  serve_stop(s);
}

TEST(the_profile_of_a_token_applies_to_every_route) {
  const char *t = token("graph", ARGS("--profile", "graph")), *any = token("any", NULL);
  struct serve *s = serve_start(NULL);
  CHECK(has(mcp(s, t, "/mcp", "tools/list").body, "read_graph"));
  CHECK(has(mcp(s, t, "/mcp/graph", "tools/list").body, "read_graph"));
  CHECK_INT(mcp(s, t, "/mcp/full", "tools/list").status, 403);
  CHECK_INT(mcp(s, t, "/mcp/nobody", "tools/list").status, 403);
  CHECK(has(mcp(s, any, "/mcp/full", "tools/list").body, "memory_vault_get"));
  CHECK(!has(mcp(s, any, "/mcp", "tools/list").body, "read_graph"));
  serve_stop(s);
}

TEST(an_mcp_session_belongs_to_its_token) {
  const char *one = token("one", NULL), *two = token("two", NULL);
  struct serve *s = serve_start(NULL);
  struct answer a =
      serve_do(s, "POST", "/mcp", textf("%sContent-Type: application/json\r\n", bearer(one)),
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                   "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"));
  const char *id = cstr(answer_header(&a, "Mcp-Session-Id"));
  CHECK(id[0]);
  /* Its stream is cut off. A client that resumes with the last event id gets the events since then. */
  struct wire *w = wire_open(s);
  struct sse e;
  wire_send(w, request_text("GET", "/mcp",
                            textf("%sAccept: text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"
                                  "Mcp-Session-Id: %s\r\n",
                                  bearer(one), id),
                            STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK(sse_next(w, 5000, &e) && e.id.n);
  const char *back = textf("Last-Event-ID: %s\r\n", cstr(e.id));
  const char *const strangers[] = {two, NULL};
  for (size_t i = 0; i < ARRAY_LEN(strangers); i++) {
    CHECK_INT(legacy(s, strangers[i], "POST", id, ""), 404);
    CHECK_INT(legacy(s, strangers[i], "GET", id, ""), 404);
    CHECK_INT(legacy(s, strangers[i], "GET", id, back), 404);
    CHECK_INT(legacy(s, strangers[i], "DELETE", id, ""), 404);
  }
  CHECK_INT(legacy(s, one, "POST", id, ""), 200);
  CHECK_INT(legacy(s, one, "GET", id, back), 200);
  wire_close(w);
  CHECK_INT(legacy(s, one, "DELETE", id, ""), 200);
  CHECK_INT(legacy(s, one, "POST", id, ""), 404);
  serve_stop(s);
}

TEST(admin_tokens_add_and_revoke_tokens) {
  const char *admin = token("admin", NULL), *project = token("project", ARGS("--project", "alpha"));
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, project, "POST", "/api/v1/tokens", "{\"name\":\"x\"}"), 403);
  CHECK_INT(status(s, NULL, "POST", "/api/v1/tokens", "{\"name\":\"x\"}"), 403); /* a program, not a person */
  CHECK_INT(status(s, NULL, "GET", "/api/v1/tokens", NULL), 403);
  struct answer a = rest(s, admin, "POST", "/api/v1/tokens", "{\"name\":\"made\",\"projects\":[\"alpha\"]}");
  CHECK_INT(a.status, 200);
  yyjson_val *v = lines_of(a.body).v[0];
  const char *made = cstr(jstr(v, "token"));
  CHECK_INT(status(s, made, "GET", "/api/v1/memories", NULL), 200);
  CHECK_INT(status(s, admin, "POST", "/api/v1/tokens", "{\"name\":\"for-ever\",\"ttl\":\"never\"}"), 403);
  a = rest(s, admin, "GET", "/api/v1/tokens", NULL);
  CHECK(has(a.body, "\"made\"") && !has(a.body, "cairn_default."));
  CHECK_INT(status(s, admin, "DELETE", "/api/v1/tokens/made", NULL), 409);
  CHECK_INT(status(s, admin, "POST", "/api/v1/tokens/made/revoke", "{}"), 200);
  CHECK_INT(status(s, made, "GET", "/api/v1/memories", NULL), 401);
  CHECK_INT(status(s, admin, "DELETE", "/api/v1/tokens/made", NULL), 200);
  CHECK_INT(status(s, admin, "DELETE", "/api/v1/tokens/made", NULL), 404);
  serve_stop(s);
  CHECK(!store_holds(made + strlen(made) - 43));
}

/* ---- the end of a token ---- */

enum { SOON_MS = 10000 }; /* an upper limit, not a delay */

static struct wire *open_stream(const struct serve *s, const char *method, const char *path, const char *headers,
                                struct str body) {
  struct wire *w = wire_open(s);
  wire_send(w, request_text(method, path, headers, body));
  return w;
}

static struct wire *open_events(const struct serve *s, const char *t) {
  return open_stream(s, "GET", "/events?action=memory:write", bearer(t), STR_NONE);
}

static struct wire *open_listen(const struct serve *s, const char *t, const char *wanted) {
  return open_stream(
      s, "POST", "/mcp",
      textf("%sContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n",
            bearer(t)),
      str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"subscriptions/listen\",\"params\":{" META
                     ",\"notifications\":{%s}}}",
                     wanted)));
}

static const char *initialize(const struct serve *s, const char *t) {
  struct answer a =
      serve_do(s, "POST", "/mcp", textf("%sContent-Type: application/json\r\n", bearer(t)),
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                   "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"));
  const char *id = cstr(answer_header(&a, "Mcp-Session-Id"));
  CHECK(id[0]);
  return id;
}

static struct wire *open_session(const struct serve *s, const char *t, const char *id) {
  return open_stream(
      s, "GET", "/mcp",
      textf("%sAccept: text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n", bearer(t), id),
      STR_NONE);
}

TEST(streams_end_with_their_token, .seconds = 40) {
  const char *one = token("one", NULL), *two = token("two", NULL);
  struct serve *s = serve_start(NULL);
  const char *session = initialize(s, one);
  struct wire *ends[] = {open_events(s, one), open_listen(s, one, "\"resourcesListChanged\":true"),
                         open_listen(s, one, ""), open_session(s, one, session)};
  struct wire *stays = open_events(s, two), *listens = open_listen(s, two, "");
  struct sse e;
  for (size_t i = 0; i < ARRAY_LEN(ends); i++)
    CHECK_INT(wire_answer(ends[i], false).status, 200);
  CHECK_INT(wire_answer(stays, false).status, 200);
  CHECK_INT(wire_answer(listens, false).status, 200);
  STORE("The first is heard by both");
  CHECK(sse_next(ends[0], SOON_MS, &e) && sse_next(stays, SOON_MS, &e));
  CHECK_INT(legacy(s, one, "POST", session, ""), 200);
  OK("token", "revoke", "one");
  for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
    test_note("stream %zu", i);
    CHECK(sse_ended(ends[i], SOON_MS));
    wire_close(ends[i]);
  }
  CHECK_INT(legacy(s, one, "POST", session, ""), 401);
  CHECK_INT(legacy(s, one, "GET", session, ""), 401);
  CHECK_INT(legacy(s, two, "POST", session, ""), 404);
  /* Streams of other tokens go on. */
  STORE("Only one of them hears of the second");
  CHECK(sse_next(stays, SOON_MS, &e));
  CHECK(sse_next(listens, SOON_MS, &e)); /* the first message of the stream */
  CHECK(!listens->ended && !stays->ended);
  wire_close(stays);
  wire_close(listens);
  serve_stop(s);
}

TEST(a_listen_that_ends_with_its_token_is_answered) {
  const char *one = token("one", NULL);
  struct serve *s = serve_start(NULL);
  struct wire *w = open_listen(s, one, "\"resourcesListChanged\":true");
  struct sse e;
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK(sse_next(w, SOON_MS, &e) && has(e.data, "acknowledged"));
  OK("token", "revoke", "one");
  CHECK(sse_next(w, SOON_MS, &e));
  CHECK(has(e.data, "\"id\":7") && has(e.data, "\"resultType\":\"complete\""));
  wire_close(w);
  serve_stop(s);
}

/* Retries until a token lives long enough to open a stream, then sees the stream end. */
TEST(a_stream_ends_when_its_token_expires, .seconds = 60) {
  cli_set("CAIRN_NOW");
  struct serve *s = serve_start(NULL);
  for (int seconds = 2;; seconds *= 2) {
    const char *t = token(textf("for-%d", seconds), ARGS("--ttl", textf("%ds", seconds)));
    struct wire *w = open_events(s, t), *l = open_listen(s, t, "");
    int got = wire_answer(w, false).status, listening = wire_answer(l, false).status;
    bool open = got == 200 && listening == 200;
    if (open)
      CHECK(sse_ended(w, seconds * 1000 + SOON_MS) && sse_ended(l, SOON_MS));
    wire_close(w);
    wire_close(l);
    if (open)
      break;
    CHECK(got == 401 || listening == 401);
  }
  serve_stop(s);
}

/* The backup does not contain the token. */
TEST(a_stream_ends_when_a_restore_removes_its_token, .seconds = 40) {
  const char *backup = path_join(NULL, "backup.db"), *stays = token("stays", NULL);
  OK("backup", backup);
  const char *t = token("new", NULL);
  struct serve *s = serve_start(NULL);
  struct wire *w = open_events(s, t), *l = open_listen(s, t, ""), *other = open_events(s, stays);
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK_INT(wire_answer(l, false).status, 200);
  CHECK_INT(wire_answer(other, false).status, 200);
  OK("restore", backup, "--confirm");
  CHECK(sse_ended(w, SOON_MS) && sse_ended(l, SOON_MS));
  CHECK_INT(status(s, t, "GET", "/api/v1/memories", NULL), 401);
  STORE("What comes after the restore is heard");
  struct sse e;
  CHECK(sse_next(other, SOON_MS, &e) && has(e.data, "memory:write"));
  wire_close(w);
  wire_close(l);
  wire_close(other);
  serve_stop(s);
}

/* A name may be reused. The session of the earlier token stays closed. */
TEST(a_session_belongs_to_a_token_not_to_its_name) {
  const char *first = token("bot", NULL);
  struct serve *s = serve_start(NULL);
  const char *session = initialize(s, first);
  OK("token", "revoke", "bot");
  OK("token", "delete", "bot");
  const char *second = token("bot", NULL);
  CHECK_INT(legacy(s, second, "POST", session, ""), 404);
  CHECK_INT(legacy(s, second, "GET", session, ""), 404);
  CHECK_INT(legacy(s, second, "DELETE", session, ""), 404);
  serve_stop(s);
}

/* ---- what is shown ---- */

static struct str sync_page(struct serve *s, const char *token, const char *args) {
  const char *head =
      textf("%sContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
            "Mcp-Name: memory_sync\r\n",
            bearer(token));
  const char *body = textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                           "{\"name\":\"memory_sync\",\"arguments\":%s," META "}}",
                           args);
  return serve_do(s, "POST", "/mcp/full", head, str_from(body)).body;
}

/* Neither the folders of the machine nor its processes concern a client on the network. */
TEST(tokens_see_no_folders_of_the_machine, .seconds = 60) {
  static const char *const paths[] = {"/api/v1/stats", "/api/v1/health", "/api/v1/sessions?all_projects=true",
                                      "/api/v1/boot", "/api/v1/events?since=0&limit=1000"};
  static const char *const ops[][2] = {{"/api/v1/ops/task-sync", "{}"},
                                       {"/api/v1/ops/transcript-append", "{\"session\":\"b\",\"content\":\"hello\"}"},
                                       {"/api/v1/ops/transcript-list", "{}"},
                                       {"/api/v1/ops/transcript-read", "{\"session\":\"talk\"}"},
                                       {"/api/v1/ops/source-list", "{}"}};
  const char *t = token("all", NULL), *docs = path_join(NULL, "docs");
  struct error err;
  CHECK_OK(fs_mkdirs(docs, &err), &err);
  file_write(path_join(docs, "a.md"), STR("The lamp turns at night.\n"));
  OK("source", "add", docs, "--project", "");
  OK("transcript", "append", "talk", "--role", "user", "--content", "hello", "--project", "");
  OK("boot", "--register", "--cwd", path_join(NULL, "work"), "--project", "");
  struct serve *s = serve_start(NULL);
  for (size_t i = 0; i < ARRAY_LEN(paths) + ARRAY_LEN(ops); i++) {
    bool get = i < ARRAY_LEN(paths);
    size_t op = get ? 0 : i - ARRAY_LEN(paths);
    struct answer a = get ? rest(s, t, "GET", paths[i], NULL) : rest(s, t, "POST", ops[op][0], ops[op][1]);
    test_note("%s: %.*s", get ? paths[i] : ops[op][0], STR_ARG(a.body));
    CHECK_INT(a.status, 200);
    CHECK(!has(a.body, test_dir()));
  }
  struct str page = sync_page(s, t, "{}");
  CHECK(has(page, "MEMORY.md") && !has(page, test_dir()));
  file_write(cstr(jstr(OK("sync", "--project", ""), "file")), STR("<<<<<<< a\n- x\n=======\n- y\n>>>>>>> b\n"));
  page = sync_page(s, t, "{}");
  CHECK(has(page, "MEMORY.md has an unresolved merge conflict") && !has(page, test_dir()));
  file_write(cstr(jstr(OK("task", "sync", "--project", ""), "file")), STR("[\n"));
  struct str tasks = rest(s, t, "POST", ops[0][0], ops[0][1]).body;
  CHECK(has(tasks, "tasks.json") && !has(tasks, test_dir()));
  CHECK(has(rest(s, t, "GET", "/api/v1/sessions?all_projects=true", NULL).body, "\"cwd\":\"work\""));
  CHECK(on_postgres() || has(rest(s, NULL, "GET", "/api/v1/stats", NULL).body, test_dir())); /* the local user */
  serve_stop(s);
}

/* A reply, error or not, that must have this status and text, and no folder or process id of the server. */
static void shows_no_folder(const struct answer *a, int status, const char *text, const struct serve *s) {
  if (a->status != status || !has(a->body, text) || has(a->body, test_dir()) || has(a->body, "\"pid\"") ||
      has(a->body, textf("/proc/%d", (int)serve_pid(s))))
    FAIL("%d: %.*s", a->status, STR_ARG(a->body));
}

static void post_shows_no_folder(const struct serve *s, const char *t, const char *path, const char *body, int status,
                                 const char *text) {
  struct answer a = rest(s, t, "POST", path, body);
  test_note("%s %s: %.*s", path, body, STR_ARG(a.body));
  shows_no_folder(&a, status, text, s);
}

#define APPEND "/api/v1/ops/transcript-append", "{\"session\":\"talk\",\"content\":\"hello\",\"project\":\"rep\"}"
#define SYNC_TASKS "/api/v1/ops/task-sync", "{\"project\":\"rep\"}"
#define MEMORIES "/api/v1/memories", "{\"text\":\"The ferry leaves at seven\"}"

/* Where this path ends is not obvious. */
static const char *spaced_db(void) { return path_join(NULL, "a b.db"); }

/* A folder that another store has marked, a folder that is a file. */
static void refuse_folders(const struct serve *s, const char *t, const char *admin) {
  const char *folder = textf("%s.files/default/rep", spaced_db()), *owner = path_join(folder, ".owner");
  const char *sessions = path_join(folder, "sessions");
  struct str mine = file_read(owner);
  file_write(owner, STR("default/other@01234567\n"));
  post_shows_no_folder(s, t, APPEND, 409, "'rep' belongs to");
  post_shows_no_folder(s, admin, SYNC_TASKS, 409, "'rep' belongs to");
  file_write(owner, mine);
  CHECK_INT(proc_run(.argv = ARGS("rm", "-rf", sessions)).exit_code, 0);
  file_write(sessions, STR("a file\n"));
  struct answer a = rest(s, t, "POST", APPEND);
  test_note("%d %.*s", a.status, STR_ARG(a.body));
  CHECK(a.status >= 400);
  shows_no_folder(&a, a.status, "sessions", s);
}

static void refuse_growth(const struct serve *s, const char *t) {
  struct rlimit none, limit;
  CHECK_INT(prlimit(serve_pid(s), RLIMIT_FSIZE, NULL, &none), 0);
  limit = (struct rlimit){.rlim_cur = 16384, .rlim_max = none.rlim_max};
  CHECK_INT(prlimit(serve_pid(s), RLIMIT_FSIZE, &limit, NULL), 0);
  post_shows_no_folder(s, t, MEMORIES, 507, "\"a b.db cannot grow");
  CHECK_INT(prlimit(serve_pid(s), RLIMIT_FSIZE, &none, NULL), 0);
}

static void refuse_renamed(const struct serve *s, const char *t) {
  const char *other = path_join(NULL, "other.db");
  CHECK_INT(rename(spaced_db(), other), 0);
  post_shows_no_folder(s, t, MEMORIES, 503, "\"a b.db was deleted or renamed");
  post_shows_no_folder(s, t, MEMORIES, 503, "from /proc/PID/fd; then");
  struct answer a = rest(s, t, "GET", "/readyz", NULL);
  shows_no_folder(&a, 503, "\"a b.db was deleted or renamed", s);
  CHECK(has(rest(s, NULL, "GET", "/readyz", NULL).body, test_dir())); /* the local user */
  CHECK(has(rest(s, NULL, "POST", MEMORIES).body, textf("/proc/%d/fd", (int)serve_pid(s))));
  a = serve_do(s, "POST", "/mcp",
               textf("%sContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\n"
                     "Mcp-Method: tools/call\r\nMcp-Name: memory_store\r\n",
                     bearer(t)),
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_store\","
                   "\"arguments\":{\"text\":\"The ferry leaves at seven\"}," META "}}"));
  shows_no_folder(&a, 200, "a b.db was deleted or renamed", s);
  CHECK_INT(rename(other, spaced_db()), 0);
}

/* What the local user was told: the messages are recorded in full. */
static void list_errors(const struct serve *s, const char *admin, const char *reader) {
  struct str full = rest(s, NULL, "GET", "/api/v1/errors", NULL).body;
  CHECK(has(full, test_dir()));
  const char *const tokens[] = {admin, reader};
  for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
    struct answer a = rest(s, tokens[i], "GET", "/api/v1/errors", NULL);
    shows_no_folder(&a, 200, "a b.db was deleted or renamed", s);
  }
}

TEST(tokens_see_no_folders_of_the_machine_in_errors, .only = TEST_ON_SQLITE, .seconds = 60) {
  cli_set(textf("CAIRN_DB=%s", spaced_db()));
  const char *t = token("one", ARGS("--project", "rep")), *admin = token("all", NULL),
             *reader = token("viewer", ARGS("--profile", "readonly"));
  OK("transcript", "append", "talk", "--role", "user", "--content", "hello", "--project", "rep");
  OK("task", "sync", "--project", "rep");
  struct serve *s = serve_start(ARGS("--sandbox", "off"));
  struct answer a = rest(s, admin, "GET", "/api/v1/health", NULL);
  shows_no_folder(&a, 200, "\"path\":\"a b.db\"", s);
  a = rest(s, admin, "GET", "/api/v1/metrics", NULL);
  shows_no_folder(&a, 200, "uptime_s", s);
  a = rest(s, t, "GET", "/healthz", NULL);
  shows_no_folder(&a, 200, "ok", s);
  refuse_growth(s, t);
  refuse_renamed(s, t);
  list_errors(s, admin, reader);
  refuse_folders(s, t, admin);
  /* What the caller sent itself is quoted as it is. */
  post_shows_no_folder(s, t, "/api/v1/memories", "{\"text\":\"x\",\"type\":\"/srv/lamp/oil\"}", 422, "'/srv/lamp/oil'");
  serve_end(s);
}

/* The sandbox would keep the server from looking for the repository that it runs in. */
TEST(tokens_are_offered_no_file_of_the_servers_repository, .seconds = 60) {
  const char *t = token("all", NULL), *name = strrchr(test_dir(), '/') + 1;
  struct error err;
  CHECK_OK(fs_mkdirs(path_join(NULL, ".git/objects"), &err), &err);
  CHECK_OK(fs_mkdirs(path_join(NULL, ".git/refs"), &err), &err);
  file_write(path_join(NULL, ".git/HEAD"), STR("ref: refs/heads/main\n"));
  struct serve *s = serve_start(ARGS("--sandbox", "off"));
  struct str page = sync_page(s, t, textf("{\"project\":\"%s\"}", name));
  test_note("%.*s", STR_ARG(page));
  CHECK(has(page, textf("project: %s", name)) && !has(page, test_dir()));
  serve_stop(s);
}

TEST(only_the_local_user_sees_the_process, .seconds = 60) {
  token("all", NULL);
  struct serve *s = serve_start(NULL);
  CHECK(has(serve_get(s, "/healthz").body, "\"pid\":"));
  CHECK_STR(serve_do(s, "GET", "/healthz", "X-Forwarded-For: 192.0.2.1\r\n", STR_NONE).body, "{\"status\":\"ok\"}");
  serve_stop(s);
  s = serve_start(ARGS("--require-token"));
  CHECK_STR(serve_get(s, "/healthz").body, "{\"status\":\"ok\"}");
  serve_stop(s);
}

/* ---- what is recorded ---- */

static void call_modern(const struct serve *s, const char *t, const char *name, const char *args) {
  serve_do(s, "POST", "/mcp",
           textf("%sContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                 "Mcp-Name: %s\r\n",
                 bearer(t), name),
           str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
                          "\"arguments\":%s,\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                          "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"honest-agent\",\"version\":\"1\"},"
                          "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
                          name, args)));
}

/* Whatever the client calls itself, and whether the call succeeds, is wrong or is refused. */
TEST(calls_of_a_token_are_recorded_under_its_name) {
  const char *t = token("one", ARGS("--project", "rep"));
  struct serve *s = serve_start(NULL);
  OK("list"); /* the table has calls of others, too */
  call_modern(s, t, "memory_list", "{}");
  call_modern(s, t, "memory_list", "{\"odd\":1}");
  call_modern(s, t, "memory_list", "{\"project\":\"other\"}");
  call_modern(s, t, "no_such_tool", "{}");
  legacy(s, t, "POST", initialize(s, t), "");
  static const char *const bodies[] = {"{\"text\":\"The ferry leaves at seven\"}", "{\"text\":\"x\",\"odd\":1}", "{}",
                                       "{\"text\":\"x\",\"project\":\"other\"}"};
  for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
    serve_do(s, "POST", "/api/v1/memories",
             textf("%sContent-Type: application/json\r\nX-Cairn-Source: honest-agent\r\n", bearer(t)),
             str_from(bodies[i]));
  serve_stop(s);
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE source = 'token:one'"), 8);
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE source NOT IN ('token:one', 'cli')"), 0);
  CHECK(!has(file_read(cli_side(".log/calls.jsonl")), "honest-agent"));
}
