/* test_serve_mcp.c: MCP over HTTP: sessions and their streams, and the modern protocol without sessions. */
#include <signal.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "support/certificate.h"
#include "support/serve.h"

#define JSON_HEADERS "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
#define MODERN "2026-07-28"
#define META                                                                                                           \
  "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" MODERN "\","                                             \
  "\"io.modelcontextprotocol/clientCapabilities\":{},"                                                                 \
  "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}"

static struct arena memory;

static yyjson_val *parsed(struct str text) {
  struct error err;
  yyjson_val *v;
  CHECK_OK(json_read(&memory, text, &v, &err), &err);
  return v;
}

/* ---- with sessions ---- */

static struct answer initialize(const struct serve *s, const char *path) {
  return serve_do(s, "POST", path, JSON_HEADERS,
                  STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                      "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}"));
}

/* Headers of an initialized session. */
static const char *session(const struct serve *s) {
  struct answer a = initialize(s, "/mcp");
  CHECK_INT(a.status, 200);
  struct str id = answer_header(&a, "mcp-session-id");
  CHECK(id.n >= 16);
  const char *headers = textf(JSON_HEADERS "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n", cstr(id));
  a = serve_do(s, "POST", "/mcp", headers, STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
  CHECK_INT(a.status, 202);
  CHECK_STR(a.body, "");
  return headers;
}

static struct str progress_call(int id) {
  return str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                        "\"test_tool_with_progress\",\"arguments\":{},\"_meta\":{\"progressToken\":\"p\"}}}",
                        id));
}

TEST(the_life_cycle_of_a_session) {
  struct serve *s = serve_start(NULL);
  struct answer a = initialize(s, "/mcp");
  CHECK_STR(json_str(yyjson_obj_get(parsed(a.body), "result"), "protocolVersion"), "2025-11-25");
  const char *headers = session(s);
  a = serve_do(s, "POST", "/mcp", headers, STR("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}"));
  CHECK_INT(a.status, 200);
  CHECK_STR(answer_header(&a, "content-type"), "application/json");
  CHECK_STR(a.body, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}");
  CHECK_INT(serve_do(s, "DELETE", "/mcp", headers, STR_NONE).status, 200);
  CHECK_INT(serve_do(s, "DELETE", "/mcp", headers, STR_NONE).status, 404);
  CHECK_INT(serve_do(s, "GET", "/mcp", headers, STR_NONE).status, 404);
  a = serve_do(s, "POST", "/mcp", headers, STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"));
  CHECK_INT(a.status, 404);
  CHECK_INT(serve_do(s, "DELETE", "/mcp", NULL, STR_NONE).status, 400);
  serve_stop(s);
}

TEST(invalid_messages) {
  struct serve *s = serve_start(NULL);
  const char *headers = session(s);
  CHECK_INT(serve_do(s, "POST", "/mcp", headers, STR("{")).status, 400);
  CHECK_INT(serve_do(s, "POST", "/mcp", headers, STR("")).status, 400);
  CHECK_INT(serve_do(s, "POST", "/mcp", headers, STR("[]")).status, 400);
  CHECK_INT(serve_do(s, "POST", "/mcp", "Content-Type: text/plain\r\n", STR("{}")).status, 415);
  CHECK_INT(serve_do(s, "POST", "/mcp", "Accept: image/png\r\n", STR("{}")).status, 406);
  struct answer a = serve_do(s, "PUT", "/mcp", headers, STR("{}"));
  CHECK_INT(a.status, 405);
  CHECK_INT(serve_do(s, "POST", "/mcp/nonsense", headers, STR("{}")).status, 404);
  a = serve_do(s, "GET", "/mcp", "Accept: text/html\r\n", STR_NONE);
  CHECK_INT(a.status, 405);
  CHECK_STR(answer_header(&a, "allow"), "POST, OPTIONS");
  /* Neither header is required. */
  a = serve_do(s, "POST", "/mcp", NULL, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nonsense\"}"));
  CHECK(a.status == 200 || a.status == 400);
  serve_stop(s);
}

static void check_progress(struct wire *w, int id) {
  struct sse e;
  struct strs seen = {0};
  yyjson_val *last = NULL;
  while (sse_next(w, 10000, &e)) {
    CHECK(e.id.n > 0);
    CHECK(!strs_has(&seen, e.id));
    strs_push(&memory, &seen, e.id);
    if (e.data.n)
      last = parsed(e.data);
  }
  CHECK_INT(json_int(last, "id", 0), id);
  CHECK(yyjson_obj_get(last, "result") != NULL);
  CHECK(seen.n >= 4);
}

TEST(notifications_before_the_answer_make_a_stream) {
  struct serve *s = serve_start(ARGS("--conformance"));
  const char *headers = session(s);
  struct wire *w = wire_open(s);
  for (int id = 5; id < 7; id++) { /* the connection stays usable */
    wire_send(w, request_text("POST", "/mcp", headers, progress_call(id)));
    struct answer a = wire_answer(w, false);
    CHECK_INT(a.status, 200);
    CHECK_STR(answer_header(&a, "content-type"), "text/event-stream");
    check_progress(w, id);
    w->ended = false;
    wire_close(w);
    w = wire_open(s);
  }
  wire_close(w);
  serve_stop(s);
}

TEST(a_broken_stream_can_be_resumed) {
  struct serve *s = serve_start(ARGS("--conformance"));
  const char *headers = session(s);
  struct wire *w = wire_open(s);
  struct sse e;
  wire_send(w, request_text("POST", "/mcp", headers, progress_call(9)));
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK(sse_next(w, 5000, &e));
  CHECK_STR(e.data, ""); /* an id to resume with */
  struct str first = e.id;
  wire_close(w);
  w = wire_open(s);
  const char *again = textf("%sLast-Event-ID: %s\r\n", headers, cstr(first));
  wire_send(w, request_text("GET", "/mcp", again, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  yyjson_val *last = NULL;
  int messages = 0;
  while (sse_next(w, 10000, &e)) {
    last = parsed(e.data);
    messages++;
  }
  CHECK_INT(messages, 4); /* three progress notifications and the reply: nothing lost, nothing repeated */
  CHECK_INT(json_int(last, "id", 0), 9);
  wire_close(w);
  /* Another session cannot resume it. */
  const char *other = textf("%sLast-Event-ID: %s\r\n", session(s), cstr(first));
  w = wire_open(s);
  wire_send(w, request_text("GET", "/mcp", other, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  while (sse_next(w, 500, &e))
    CHECK_STR(e.data, "");
  wire_close(w);
  serve_stop(s);
}

TEST(a_session_is_notified_of_changes_and_of_missed_ones) {
  OK("remember", "The parser is generated by a script in tools", "--key", "parser");
  struct serve *s = serve_start(NULL);
  const char *headers = session(s);
  struct answer a = serve_do(s, "POST", "/mcp", headers,
                             STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/list\",\"params\":{}}"));
  CHECK_INT(a.status, 200);
  yyjson_val *list = yyjson_obj_get(yyjson_obj_get(parsed(a.body), "result"), "resources");
  CHECK(yyjson_arr_size(list) > 0);
  struct wire *w = wire_open(s);
  wire_send(w, request_text("GET", "/mcp", headers, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  struct sse e;
  CHECK(sse_next(w, 5000, &e));
  CHECK_STR(e.data, "");
  struct str id = e.id;
  /* The session subscribes to all resources and is notified of each affected one. */
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(list, i, n, v) {
    struct str uri = json_str(v, "uri");
    a = serve_do(
        s, "POST", "/mcp", headers,
        str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"resources/subscribe\",\"params\":{\"uri\":"
                       "\"%s\"}}",
                       i + 10, cstr(uri))));
    CHECK_INT(a.status, 200);
  }
  OK("remember", "Never edit the generated parser by hand", "--kind", "rule", "--severity", "blocker");
  CHECK(sse_next(w, 10000, &e));
  CHECK_STR(json_str(parsed(e.data), "method"), "notifications/resources/updated");
  wire_close(w);
  w = wire_open(s);
  wire_send(w, request_text("GET", "/mcp", textf("%sLast-Event-ID: %s\r\n", headers, cstr(id)), STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK(sse_next(w, 10000, &e));
  CHECK_STR(json_str(parsed(e.data), "method"), "notifications/resources/updated");
  CHECK_INT(serve_do(s, "DELETE", "/mcp", headers, STR_NONE).status, 200);
  CHECK(sse_ended(w, 5000));
  wire_close(w);
  serve_stop(s);
}

/* ---- without sessions ---- */

static const char *modern(const char *method) {
  return textf(JSON_HEADERS "MCP-Protocol-Version: " MODERN "\r\nMcp-Method: %s\r\n", method);
}

TEST(modern_requests_need_no_session) {
  struct serve *s = serve_start(NULL);
  struct answer a =
      serve_do(s, "POST", "/mcp", modern("server/discover"),
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META "}}"));
  CHECK_INT(a.status, 200);
  CHECK(!answer_header(&a, "mcp-session-id").p);
  yyjson_val *result = yyjson_obj_get(parsed(a.body), "result");
  CHECK_STR(json_str(result, "resultType"), "complete");
  a = serve_do(s, "POST", "/mcp", modern("initialize"),
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{" META "}}"));
  CHECK_INT(a.status, 404);
  a = serve_do(s, "GET", "/mcp", "MCP-Protocol-Version: " MODERN "\r\nAccept: text/event-stream\r\n", STR_NONE);
  CHECK_INT(a.status, 405);
  CHECK_STR(answer_header(&a, "allow"), "POST, OPTIONS");
  CHECK_INT(serve_do(s, "DELETE", "/mcp", "MCP-Protocol-Version: " MODERN "\r\n", STR_NONE).status, 405);
  serve_stop(s);
}

TEST(modern_listening_ends_with_a_result) {
  struct serve *s = serve_start(ARGS("--conformance"));
  struct wire *w = wire_open(s), *leaver = wire_open(s);
  struct str text = request_text("POST", "/mcp", modern("subscriptions/listen"),
                                 STR("{\"jsonrpc\":\"2.0\",\"id\":\"L\",\"method\":\"subscriptions/listen\",\"params\":"
                                     "{" META ",\"notifications\":{\"toolsListChanged\":true}}}"));
  wire_send(w, text);
  wire_send(leaver, text);
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK_INT(wire_answer(leaver, false).status, 200);
  struct sse e;
  CHECK(sse_next(w, 5000, &e));
  CHECK(!e.id.p); /* modern streams have no ids */
  CHECK_STR(json_str(parsed(e.data), "method"), "notifications/subscriptions/acknowledged");
  CHECK(sse_next(leaver, 5000, &e));
  wire_close(leaver);
  struct answer a = serve_do(s, "POST", "/mcp", textf("%sMcp-Name: test_trigger_tool_change\r\n", modern("tools/call")),
                             STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
                                 "\"test_trigger_tool_change\",\"arguments\":{}," META "}}"));
  CHECK_INT(a.status, 200);
  CHECK(sse_next(w, 5000, &e));
  CHECK_STR(json_str(parsed(e.data), "method"), "notifications/tools/list_changed");
  serve_stop(s);
  CHECK(sse_next(w, 5000, &e));
  yyjson_val *result = yyjson_obj_get(parsed(e.data), "result");
  CHECK_STR(json_str(result, "resultType"), "complete");
  CHECK(sse_ended(w, 5000));
  wire_close(w);
}

/* A modern client has no connection of its own. It names its session when it listens, and the session ends when that
 * stream closes. */
TEST(a_modern_session_ends_with_its_stream) {
  struct serve *s = serve_start(NULL);
  struct answer a = serve_do(s, "POST", "/mcp", textf("%sMcp-Name: memory_boot\r\n", modern("tools/call")),
                             STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
                                 "\"memory_boot\",\"arguments\":{\"task\":\"look around\"}," META "}}"));
  CHECK_INT(a.status, 200);
  const char *handle = cstr(answer_session(parsed(a.body)));
  struct wire *w = wire_open(s);
  wire_send(
      w, request_text("POST", "/mcp", modern("subscriptions/listen"),
                      str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"subscriptions/listen\",\"params\":"
                                     "{\"_meta\":{\"cairn/session\":\"%s\",\"io.modelcontextprotocol/protocolVersion\":"
                                     "\"" MODERN "\",\"io.modelcontextprotocol/clientCapabilities\":{}},"
                                     "\"notifications\":{}}}",
                                     handle))));
  struct sse e;
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK(sse_next(w, 5000 * test_slowness(), &e));
  CHECK_INT(sql_number("SELECT count(*) FROM session WHERE ended_at IS NULL"), 1);
  wire_close(w);
  while (sql_number("SELECT count(*) FROM session WHERE ended_at IS NULL")) /* bounded only by the test's time limit */
    usleep(50 * 1000);
  CHECK_STR(sql_string("SELECT end_reason FROM session"), "connection closed");
  serve_stop(s);
}

TEST(deleting_a_session_ends_the_session_of_its_boot) {
  struct serve *s = serve_start(NULL);
  const char *headers = session(s);
  struct answer a = serve_do(s, "POST", "/mcp", headers,
                             STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
                                 "\"memory_boot\",\"arguments\":{\"task\":\"look around\"}}}"));
  CHECK_INT(a.status, 200);
  CHECK_INT(sql_number("SELECT count(*) FROM session WHERE ended_at IS NULL"), 1);
  CHECK_INT(serve_do(s, "DELETE", "/mcp", headers, STR_NONE).status, 200);
  CHECK_INT(sql_number("SELECT count(*) FROM session WHERE ended_at IS NULL"), 0);
  serve_stop(s);
}

TEST(modern_streams_carry_no_ids) {
  struct serve *s = serve_start(ARGS("--conformance"));
  struct wire *w = wire_open(s);
  wire_send(w, request_text("POST", "/mcp", textf("%sMcp-Name: test_tool_with_progress\r\n", modern("tools/call")),
                            STR("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":"
                                "\"test_tool_with_progress\",\"arguments\":{},"
                                "\"_meta\":{\"progressToken\":1,\"io.modelcontextprotocol/protocolVersion\":\"" MODERN
                                "\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}")));
  CHECK_INT(wire_answer(w, false).status, 200);
  struct sse e;
  int messages = 0;
  while (sse_next(w, 10000, &e)) {
    CHECK(!e.id.p);
    CHECK_STR(e.event, "message");
    messages++;
  }
  CHECK_INT(messages, 4);
  wire_close(w);
  serve_stop(s);
}

/* ---- the project ---- */

/* Stores a memory with a modern request and returns the project that it got. */
static struct str stored_in(const struct serve *s, const char *path, const char *more, const char *text) {
  struct answer a =
      serve_do(s, "POST", path, textf("%sMcp-Name: memory_store\r\n%s", modern("tools/call"), more),
               str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                              "\"memory_store\",\"arguments\":{\"text\":\"%s\"}," META "}}",
                              text)));
  test_note("%s: %.*s", path, STR_ARG(a.body));
  CHECK_INT(a.status, 200);
  CHECK(!has(a.body, "\"isError\":true"));
  struct str project = sql_string("SELECT project FROM memory ORDER BY id DESC LIMIT 1");
  CHECK(has(a.body, "stored globally") == (project.n == 0));
  return project;
}

TEST(a_client_names_its_project, .seconds = 60) {
  struct serve *s = serve_start(NULL);
  CHECK_STR(stored_in(s, "/mcp?project=shop", "", "Parsley grows in pots"), "shop");
  CHECK_STR(stored_in(s, "/mcp/default?project=my%20shop", "", "Basil stands on the sill"), "my shop");
  CHECK_STR(stored_in(s, "/mcp", "Cairn-Project: web\r\n", "Invoices are sent on Monday"), "web");
  CHECK_STR(stored_in(s, "/mcp?project=shop", "Cairn-Project: web\r\n", "The cellar is locked at ten"), "shop");
  CHECK_STR(stored_in(s, "/mcp", "", "The printer stands in the hall"), "");
  CHECK_INT(serve_do(s, "POST", "/mcp?project=%09", modern("ping"), STR("{}")).status, 400);
  CHECK_INT(serve_do(s, "POST", "/mcp?project=shop&project=web", modern("ping"), STR("{}")).status, 400);
  serve_stop(s);
  s = serve_start(ARGS("--project", "kiosk"));
  CHECK_STR(stored_in(s, "/mcp", "", "The kettle boils at noon"), "kiosk");
  CHECK_STR(stored_in(s, "/mcp?project=shop", "", "The ladder is behind the door"), "shop");
  serve_stop(s);
}

TEST(a_token_keeps_to_its_project, .seconds = 60) {
  const char *token = cstr(jstr(OK("token", "add", "one", "--project", "alpha"), "token"));
  const char *bearer = textf("Authorization: Bearer %s\r\n", token);
  struct serve *s = serve_start(NULL);
  CHECK_STR(stored_in(s, "/mcp", bearer, "Parsley grows in pots"), "alpha");
  CHECK_STR(stored_in(s, "/mcp?project=alpha", bearer, "Basil stands on the sill"), "alpha");
  struct answer a =
      serve_do(s, "POST", "/mcp?project=beta", textf("%sMcp-Name: memory_store\r\n%s", modern("tools/call"), bearer),
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"memory_store\",\"arguments\":{\"text\":\"The kettle boils\"}," META "}}"));
  CHECK(has(a.body, "works only in project"));
  CHECK(has(a.body, "the connection names that project") && !has(a.body, "omit project")); /* no argument named it */
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 2);
  serve_stop(s);
}

static const char *session_with_roots(const struct serve *s) {
  struct answer a =
      serve_do(s, "POST", "/mcp", JSON_HEADERS,
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                   "\"2025-11-25\",\"capabilities\":{\"roots\":{\"listChanged\":true}},\"clientInfo\":{\"name\":"
                   "\"test\",\"version\":\"1\"}}}"));
  CHECK_INT(a.status, 200);
  return textf(JSON_HEADERS "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n",
               cstr(answer_header(&a, "mcp-session-id")));
}

static struct str remember_call(const char *text) {
  return str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
                        "\"memory_store\",\"arguments\":{\"text\":\"%s\"}}}",
                        text));
}

/* The server asks for the roots in the stream of the call; answers with the URI, or with an error if it is NULL. */
static void remember_and_answer(const struct serve *s, const char *headers, const char *text, const char *uri) {
  struct wire *w = wire_open(s);
  struct sse e = {0};
  wire_send(w, request_text("POST", "/mcp", headers, remember_call(text)));
  CHECK_INT(wire_answer(w, false).status, 200);
  do
    CHECK(sse_next(w, 20000, &e));
  while (str_empty(e.data));
  yyjson_val *question = parsed(e.data);
  CHECK_STR(json_str(question, "method"), "roots/list");
  const char *result = uri ? textf("\"result\":{\"roots\":[{\"uri\":\"%s\"}]}", uri)
                           : "\"error\":{\"code\":-32601,\"message\":\"no roots\"}";
  struct answer a =
      serve_do(s, "POST", "/mcp", headers,
               str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",%s}", cstr(json_str(question, "id")), result)));
  CHECK_INT(a.status, 202);
  CHECK(sse_next(w, 20000, &e));
  CHECK(jget(parsed(e.data), "result"));
  wire_close(w);
}

TEST(the_first_root_of_a_client_names_its_project, .seconds = 60) {
  struct serve *s = serve_start(NULL);
  const char *headers = session_with_roots(s), *last = "SELECT project FROM memory ORDER BY id DESC LIMIT 1";
  remember_and_answer(s, headers, "Parsley grows in pots", "file:///home/ann/my%20shop/");
  CHECK_STR(sql_string(last), "my shop");
  /* The answer is kept until the client says that its roots have changed. */
  struct answer a = serve_do(s, "POST", "/mcp", headers, remember_call("Basil stands on the sill"));
  CHECK(a.status == 200 && has(a.body, "\"result\""));
  CHECK_STR(sql_string(last), "my shop");
  a = serve_do(s, "POST", "/mcp", headers,
               STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}"));
  CHECK_INT(a.status, 202);
  remember_and_answer(s, headers, "Invoices are sent on Monday", "file:///home/ann/web");
  CHECK_STR(sql_string(last), "web");
  /* The URL comes first: nothing is asked. */
  headers = session_with_roots(s);
  a = serve_do(s, "POST", "/mcp?project=kiosk", headers, remember_call("The kettle boils at noon"));
  CHECK(a.status == 200 && has(a.body, "\"result\""));
  CHECK_STR(sql_string(last), "kiosk");
  /* A client without an answer has no project. */
  remember_and_answer(s, headers, "The ladder is behind the door", NULL);
  CHECK_STR(sql_string(last), "");
  serve_stop(s);
  /* The server's project comes last. */
  s = serve_start(ARGS("--project", "stall"));
  headers = session_with_roots(s);
  remember_and_answer(s, headers, "Receipts are kept for ten years", "file:///home/ann/web");
  CHECK_STR(sql_string(last), "web");
  headers = session_with_roots(s);
  remember_and_answer(s, headers, "The lift is serviced in May", NULL);
  CHECK_STR(sql_string(last), "stall");
  serve_stop(s);
}

/* Started in a repository, the server prints an address that names its project. */
static struct str connect_line(const char *folder, const char *const *more) {
  const char *argv[16] = {CAIRN_BIN, "serve", "--port", "0"};
  for (size_t n = 4; more && *more; more++)
    argv[n++] = *more;
  struct proc *p = proc_start(.argv = argv, .env = cli_env(), .dir = folder, .timeout_ms = 60000);
  struct str line, first;
  CHECK(proc_line(p, 20000 * test_slowness(), &first));
  CHECK(proc_line(p, 20000 * test_slowness(), &line));
  struct str copy = str_from(cstr(line));
  proc_kill(p, SIGTERM);
  CHECK_INT(proc_wait(p).exit_code, 0);
  return copy;
}

TEST(the_printed_address_names_the_project, .seconds = 60) {
  struct error err;
  const char *folder = path_join(NULL, "my shop");
  CHECK_OK(fs_mkdirs(path_join(folder, ".git/objects"), &err), &err);
  CHECK_OK(fs_mkdirs(path_join(folder, ".git/refs"), &err), &err);
  file_write(path_join(folder, ".git/HEAD"), STR("ref: refs/heads/main\n"));
  CHECK(has(connect_line(folder, NULL), "/mcp?project=my%20shop'"));
  CHECK(has(connect_line(folder, ARGS("--project", "web")), "/mcp?project=web'"));
  OK("token", "add", "one");
  struct str line =
      connect_line(folder, ARGS("--host", "0.0.0.0", "--behind-proxy", "--allow-host", "memory.example.org"));
  CHECK(has(line, "'https://memory.example.org/mcp?project=my%20shop'"));
  struct certificate c = certificate_make();
  line = connect_line(folder, ARGS("--host", "0.0.0.0", "--tls-cert", c.path, "--tls-key", c.key, "--allow-host",
                                   "memory.example.org"));
  CHECK(has(line, "'https://memory.example.org:") && has(line, "/mcp?project=my%20shop' --header"));
}
