/* test_mcp_stdio.c: a client drives `cairn mcp` over stdio, with legacy and modern protocol versions. */
#include <signal.h>
#include <unistd.h>

#include "support/cli.h"

enum { WAIT_MS = 8000 };

#define NS "io.modelcontextprotocol/"
#define META "\"_meta\":{\"" NS "protocolVersion\":\"2026-07-28\",\"" NS "clientCapabilities\":{}}"
#define META_ASKS                                                                                                      \
  "\"_meta\":{\"" NS "protocolVersion\":\"2026-07-28\",\"" NS "clientCapabilities\":{\"elicitation\":{}}}"

static struct arena memory;

/* ---- a client ---- */

static struct proc *start_with(const char *const *options) {
  const char *argv[16] = {CAIRN_BIN, "mcp", "--db", cli_db()};
  size_t n = 4;
  while (*options && n < 15)
    argv[n++] = *options++;
  return proc_start(.argv = argv, .env = cli_env(), .timeout_ms = WAIT_MS);
}
#define START(...) start_with(ARGS(__VA_ARGS__))

static void say(struct proc *p, const char *line) { CHECK(proc_send(p, str_from(textf("%s\n", line)))); }

static void request(struct proc *p, int id, const char *method, const char *params) {
  say(p, textf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s}}", id, method, params));
}

static yyjson_val *next_within(struct proc *p, int ms) {
  struct str line;
  struct error err;
  yyjson_val *v;
  if (!proc_line(p, ms, &line))
    return NULL;
  CHECK_OK(json_read(&memory, arena_dup(&memory, line), &v, &err), &err);
  CHECK_STR(json_str(v, "jsonrpc"), "2.0");
  return v;
}

static yyjson_val *next(struct proc *p) {
  yyjson_val *v = next_within(p, WAIT_MS * test_slowness());
  CHECK(v);
  return v;
}

static yyjson_val *answer(struct proc *p, int id) {
  yyjson_val *v = next(p);
  CHECK_INT(jint(v, "id"), id);
  return v;
}

static yyjson_val *get(struct proc *p, int id, const char *method, const char *params) {
  request(p, id, method, params);
  return answer(p, id);
}

/* No message arrives for this long. */
static void quiet(struct proc *p, int ms) { CHECK(!next_within(p, ms)); }

static void shake_hands(struct proc *p, const char *version, const char *capabilities) {
  yyjson_val *v = get(p, 1000, "initialize",
                      textf("\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":{\"name\":\"Test "
                            "Client\",\"version\":\"1.0\"}",
                            version, capabilities));
  CHECK_STR(jstr(v, "result.protocolVersion"), version);
  say(p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

static void end(struct proc *p) {
  struct run r = proc_wait(p);
  CHECK_INT(r.exit_code, 0);
  CHECK(!r.timed_out);
}

#define CALL(name, args) "\"name\":\"" name "\",\"arguments\":{" args "}"

/* ---- the handshake ---- */

/* The store is created by the first call that needs it. */
TEST(mcp_handshake_opens_no_store) {
  test_store_new("test.db");
  struct proc *p = START("--profile", "full");
  CHECK_STR(jstr(get(p, 1, "server/discover", META), "result.supportedVersions[0]"), "2026-07-28");
  shake_hands(p, "2025-11-25", "{}");
  CHECK(jlen(get(p, 2, "tools/list", ""), "result.tools") > 0);
  CHECK(jlen(get(p, 3, "prompts/list", ""), "result.prompts") == 3);
  CHECK_INT(jlen(get(p, 4, "resources/templates/list", ""), "result.resourceTemplates"), 4);
  CHECK(jget(get(p, 5, "ping", ""), "result"));
  CHECK(!store_is_there(cli_db()));
  CHECK(!jbool(get(p, 6, "tools/call", CALL("memory_stats", "")), "result.isError"));
  CHECK(store_is_there(cli_db()));
  end(p);
}

TEST(mcp_every_legacy_version) {
  static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
  for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
    struct proc *p = START("--profile", "full");
    shake_hands(p, versions[i], "{}");
    CHECK(jget(get(p, 1, "tools/call", CALL("memory_stats", "")), "result.content[0].text"));
    end(p);
  }
}

/* All requests sent at once are answered even if input ends after them. */
TEST(mcp_answers_requests_sent_before_end_of_input) {
  struct buf b = BUF(&memory);
  for (int i = 0; i < 40; i++)
    buf_addf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"%s}\n", i, i % 2 ? "tools/call" : "tools/list",
             i % 2 ? ",\"params\":{\"name\":\"memory_stats\"}" : "");
  b.n--; /* the last line has no newline */
  struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "mcp", "--db", cli_db(), "--profile", "full"), .env = cli_env(),
                          .input = buf_str(&b));
  CHECK_INT(r.exit_code, 0);
  struct json_lines lines = lines_of(r.out);
  CHECK_INT(lines.n, 40);
  int64_t sum = 0;
  for (size_t i = 0; i < lines.n; i++) {
    CHECK(jget(lines.v[i], "result"));
    sum += jint(lines.v[i], "id");
  }
  CHECK_INT(sum, 39 * 40 / 2);
}

TEST(mcp_ends_at_end_of_input) {
  struct proc *p = START("--profile", "full");
  shake_hands(p, "2025-11-25", "{}");
  end(p);
  p = START("--profile", "full");
  shake_hands(p, "2025-11-25", "{}");
  proc_kill(p, SIGTERM);
  CHECK_INT(proc_wait(p).exit_code, 0);
}

/* A call that is waiting for the client's answer does not keep the process alive after input has ended. */
TEST(mcp_ends_while_a_question_is_open) {
  struct proc *p = START("--profile", "full");
  STORE("Our office is in Bern");
  shake_hands(p, "2025-11-25", "{\"elicitation\":{}}");
  request(p, 1, "tools/call", CALL("memory_purge", "\"ids\":[\"1\"]"));
  CHECK_STR(jstr(next(p), "method"), "elicitation/create");
  end(p);
  CHECK_INT(jint(OK("list"), "total"), 1);
}

TEST(mcp_options) {
  CHECK_INT(CAIRN("mcp", "--profile", "nonsense").exit_code, 2);
  CHECK(has(CAIRN("help", "mcp").out, "--profile"));
  cli_set("CAIRN_PROFILE=readonly");
  struct proc *p = START("--source", "me");
  shake_hands(p, "2025-11-25", "{}");
  yyjson_val *tools = get(p, 1, "tools/list", "");
  for (size_t i = 0; i < jlen(tools, "result.tools"); i++)
    CHECK(jbool(tools, textf("result.tools[%zu].annotations.readOnlyHint", i)));
  end(p);
}

/* ---- the wire format ---- */

TEST(mcp_survives_garbage) {
  struct proc *p = START("--profile", "full");
  static const struct {
    const char *line;
    int code;
  } cases[] = {{"garbage", -32700},
               {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", -32700},
               {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600},
               {"{\"id\":1,\"method\":\"ping\"}", -32600},
               {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", -32601},
               {"\xff\xfe", -32700}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    say(p, cases[i].line);
    CHECK_INT(jint(next(p), "error.code"), cases[i].code);
  }
  /* CR LF, blank lines and a byte order mark are accepted. */
  say(p, "\r\n\n   \n\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\r");
  CHECK(jget(answer(p, 7), "result"));
  end(p);
}

static const char *filled(const char *before, size_t n, const char *after) {
  char *text = arena_alloc(&memory, strlen(before) + n + strlen(after) + 1);
  size_t at = strlen(before);
  memcpy(text, before, at);
  memset(text + at, 'x', n);
  memcpy(text + at + n, after, strlen(after) + 1);
  return text;
}

TEST(mcp_size_and_depth_have_limits, .seconds = 60) {
  struct proc *p = START("--profile", "full");
  /* A line just below 10 MB is read and refused by the gate. A longer line is skipped. */
  say(p, filled("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_search\","
                "\"arguments\":{\"query\":\"",
                (10 << 20) - 200, "\"}}}"));
  yyjson_val *v = answer(p, 1);
  CHECK(jget(v, "result"));
  say(p, filled("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{\"x\":\"", (10 << 20) + 1, "\"}}"));
  v = next(p);
  CHECK_INT(jint(v, "error.code"), -32600);
  CHECK(!jget(v, "id"));
  char deep[4000];
  memset(deep, '[', sizeof(deep));
  deep[sizeof(deep) - 1] = 0;
  say(p, deep);
  CHECK_INT(jint(next(p), "error.code"), -32700);
  CHECK(jget(get(p, 3, "ping", ""), "result"));
  end(p);
}

/* Newlines and control characters in stored text are escaped. */
TEST(mcp_one_message_is_one_line) {
  struct proc *p = START("--profile", "full");
  shake_hands(p, "2025-11-25", "{}");
  yyjson_val *v =
      get(p, 1, "tools/call", CALL("memory_remember", "\"text\":\"One line\\nand another\\r\\n\\tand \\u2028 more\""));
  CHECK(!jbool(v, "result.isError"));
  v = get(p, 2, "tools/call", CALL("memory_get", "\"id\":\"1\""));
  CHECK(has(answer_text(v), "One line\nand another"));
  end(p);
}

/* A slow call delays neither ping nor other calls. */
TEST(mcp_calls_run_concurrently) {
  struct proc *p = START("--profile", "full", "--conformance");
  shake_hands(p, "2025-11-25", "{}");
  request(p, 1, "tools/call", CALL("test_tool_with_progress", ""));
  request(p, 2, "tools/call", CALL("test_simple_text", ""));
  request(p, 3, "ping", "");
  bool slow_was_last = false;
  for (int i = 0; i < 3; i++)
    slow_was_last = jint(next(p), "id") == 1;
  CHECK(slow_was_last);
  end(p);
}

/* ---- calls ---- */

TEST(mcp_modern_without_handshake) {
  struct proc *p = START("--profile", "full", "--project", "web");
  yyjson_val *v =
      get(p, 1, "tools/call", META "," CALL("memory_remember", "\"text\":\"Staging listens on port 5433\""));
  CHECK_STR(jstr(v, "result.resultType"), "complete");
  CHECK_STR(answer_line(v, "project"), "web");
  v = get(p, 2, "tools/call", META "," CALL("memory_search", "\"query\":\"staging port\""));
  CHECK(has(jstr(v, "result.content[0].text"), "5433"));
  v = get(p, 3, "tools/call", META "," CALL("memory_search", "\"limit\":\"many\""));
  CHECK(jbool(v, "result.isError"));
  CHECK_INT(jint(get(p, 4, "tools/call", META ",\"name\":\"nobody\""), "error.code"), -32602);
  CHECK_INT(jint(get(p, 5, "initialize", META), "error.code"), -32601);
  end(p);
}

/* A client may start several servers in one folder. Each is its own session. */
TEST(mcp_servers_of_one_client_have_separate_sessions) {
  struct proc *a = START("--profile", "openbrain2"), *b = START("--profile", "openbrain2");
  shake_hands(a, "2025-11-25", "{}");
  shake_hands(b, "2025-11-25", "{}");
#define BOOT(p, id, task)                                                                                              \
  jint(get(p, id, "tools/call", CALL("boot_session_v2", "\"source\":\"twin\",\"task\":\"" task "\"")),                 \
       "result.structuredContent.session_id")
#define SET(p, id, value) get(p, id, "tools/call", CALL("scratch_set_v2", "\"key\":\"branch\",\"value\":\"" value "\""))
#define BRANCH(p, id)                                                                                                  \
  jstr(get(p, id, "tools/call", CALL("scratch_get_v2", "\"key\":\"branch\"")), "result.structuredContent.value")
  int64_t first = BOOT(a, 1, "one");
  CHECK(!jbool(SET(a, 2, "main"), "result.isError"));
  CHECK(jbool(SET(b, 3, "stolen"), "result.isError")); /* b has not booted */
  CHECK(BOOT(b, 4, "two") != first);
  CHECK(!jbool(SET(b, 5, "side"), "result.isError"));
  CHECK_STR(BRANCH(a, 6), "main");
  CHECK_STR(BRANCH(b, 7), "side");
  CHECK(jbool(get(b, 8, "tools/call", textf(CALL("end_session_v2", "\"session_id\":%lld"), (long long)first)),
              "result.isError"));
  CHECK_INT(jint(OK("session", "list"), "count"), 2);
  CHECK(!jbool(get(b, 9, "tools/call", CALL("end_session_v2", "")), "result.isError"));
  yyjson_val *v = OK("session", "list");
  CHECK_INT(jint(v, "count"), 1);
  CHECK_STR(jstr(v, "sessions[0].task"), "one");
  CHECK_STR(BRANCH(a, 10), "main");
  end(a);
  end(b);
}

/* Open Brain's calls name their project. Items of the folder's project, which its boot does not show, do not block. */
TEST(mcp_items_of_the_folder_do_not_block_open_brain) {
  cli_set("CAIRN_PROJECT=shop");
  STORE("--scope", "global", "Parsley grows in pots");
  OK("action", "add", "Renew the licence");
  struct proc *p = START("--profile", "openbrain2");
  shake_hands(p, "2025-11-25", "{}");
  yyjson_val *v = get(p, 1, "tools/call", CALL("boot_session_v2", "\"source\":\"tester\",\"task\":\"t\""));
  CHECK(!jbool(v, "result.structuredContent.writes_blocked"));
  v = get(p, 2, "tools/call", CALL("forget_v2", "\"kind\":\"fact\",\"memory_id\":1,\"reason\":\"winter\""));
  CHECK(jbool(v, "result.structuredContent.success"));
  end(p);
}

/* Each is in the table of calls once, with its reason. */
TEST(mcp_counts_every_refused_call) {
  static const struct {
    const char *call, *name, *error, *message;
  } refused[] = {
      {CALL("memory_fly", ""), "tools/call", "usage", "Unknown tool: memory_fly"},
      {"\"name\":\"memory_get\",\"arguments\":[]", "tools/call", "usage", "Invalid params: arguments%"},
      {"\"arguments\":{}", "tools/call", "usage", "Invalid params: name is missing"},
      {CALL("memory_get", ""), "memory_get", "usage", "memory_get: _id_ is missing"},
      {CALL("memory_search", "\"query\":\"x\",\"colour\":1"), "memory_search", "usage", "%no argument _colour_"},
      {CALL("memory_get", "\"id\":77"), "memory_get", "not_found", "no memory _77_"},
      {CALL("memory_correct", "\"action\":\"purge\",\"id\":1"), "memory_correct", "confirm", "%"},
      {CALL("memory_store", "\"text\":\"Tea comes from the hills\""), "memory_store", "refused", "%Renew the licence%"},
  };
  STORE("Mint grows in pots");
  OK("action", "add", "Renew the licence");
  struct proc *p = START(NULL);
  shake_hands(p, "2025-11-25", "{}");
  CHECK(!jbool(get(p, 1, "tools/call", CALL("memory_boot", "")), "result.isError"));
  for (size_t i = 0; i < ARRAY_LEN(refused); i++)
    get(p, 2 + (int)i, "tools/call", refused[i].call);
  end(p);
  for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
    test_note("%s", refused[i].call);
    CHECK_INT(
        sql_number(textf("SELECT count(*) FROM tool_call WHERE tool = '%s' AND error = '%s' AND message LIKE '%s'",
                         refused[i].name, refused[i].error, refused[i].message)),
        1);
  }
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE error IS NOT NULL"), ARRAY_LEN(refused));
}

/* The client is the source, and its boot starts a session that ends with the connection. */
TEST(mcp_session_of_the_connection) {
  struct proc *p = START("--profile", "full");
  shake_hands(p, "2025-11-25", "{}");
  yyjson_val *v = get(p, 1, "tools/call", CALL("memory_boot", "\"task\":\"tests\""));
  CHECK(answer_session(v).n > 2);
  CHECK(!jbool(get(p, 2, "tools/call", CALL("memory_remember", "\"text\":\"Deploys are on Tuesdays\"")),
               "result.isError"));
  v = OK("session", "list");
  CHECK_INT(jint(v, "count"), 1);
  CHECK_STR(jstr(v, "sessions[0].source"), "test-client");
  CHECK_STR(jstr(v, "sessions[0].client"), "Test Client");
  CHECK_INT(jint(v, "sessions[0].pid"), proc_pid(p));
  v = OK("get", "1");
  CHECK_STR(jstr(v, "source"), "test-client");
  CHECK_STR(jstr(v, "trust"), "agent");
  end(p);
  CHECK_INT(jint(OK("session", "list"), "count"), 0);
}

TEST(mcp_progress) {
  struct proc *p = START("--conformance");
  request(p, 1, "tools/call", "\"_meta\":{\"progressToken\":7},\"name\":\"test_tool_with_progress\"");
  double last = -1;
  yyjson_val *v;
  while (!jget(v = next(p), "id")) {
    CHECK_STR(jstr(v, "method"), "notifications/progress");
    CHECK_INT(jint(v, "params.progressToken"), 7);
    CHECK(jnum(v, "params.progress") > last);
    last = jnum(v, "params.progress");
  }
  CHECK_NEAR(last, 100, 0);
  end(p);
}

TEST(mcp_cancel) {
  struct proc *p = START("--profile", "full", "--conformance");
  STORE("Our office is in Bern");
  shake_hands(p, "2025-11-25", "{\"elicitation\":{}}");
  request(p, 1, "tools/call", CALL("memory_purge", "\"ids\":[\"1\"]"));
  CHECK_STR(jstr(next(p), "method"), "elicitation/create");
  request(p, 2, "tools/call", CALL("test_tool_with_progress", ""));
  say(p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
  say(p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}");
  quiet(p, 500);
  CHECK(jget(get(p, 3, "ping", ""), "result"));
  CHECK_INT(jint(OK("list"), "total"), 1);
  end(p);
}

/* ---- destructive calls ---- */

TEST(mcp_destructive_legacy) {
  struct proc *p = START("--profile", "full");
  STORE("Our office is in Bern");
  shake_hands(p, "2025-06-18", "{\"elicitation\":{}}");
  request(p, 1, "tools/call", CALL("memory_purge", "\"ids\":[\"1\"]"));
  yyjson_val *question = next(p);
  CHECK_STR(jstr(question, "method"), "elicitation/create");
  CHECK(has(jstr(question, "params.message"), "cannot be undone"));
  say(p, textf("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"decline\"}}", cstr(jstr(question, "id"))));
  CHECK(jbool(answer(p, 1), "result.isError"));
  CHECK_INT(jint(OK("list"), "total"), 1);
  /* The model cannot confirm for the user. */
  request(p, 2, "tools/call", CALL("memory_purge", "\"ids\":[\"1\"],\"confirm\":true"));
  question = next(p);
  CHECK_STR(jstr(question, "method"), "elicitation/create");
  say(p, textf("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\",\"content\":{\"confirm\":true}}}",
               cstr(jstr(question, "id"))));
  CHECK(!jbool(answer(p, 2), "result.isError"));
  CHECK_INT(jint(OK("list"), "total"), 0);
  end(p);
}

TEST(mcp_destructive_modern) {
  struct proc *p = START("--profile", "full");
  STORE("Our office is in Bern");
#define PURGE CALL("memory_purge", "\"ids\":[\"1\"]")
  yyjson_val *v = get(p, 1, "tools/call", META_ASKS "," PURGE);
  CHECK_STR(jstr(v, "result.resultType"), "input_required");
  const char *state = cstr(jstr(v, "result.requestState"));
  static const char yes[] = "\"inputResponses\":{\"confirm\":{\"action\":\"accept\",\"content\":{\"confirm\":true}}}";
  v = get(p, 2, "tools/call", textf("%s,%s,%s,\"requestState\":\"%sx\"", META_ASKS, PURGE, yes, state));
  CHECK_INT(jint(v, "error.code"), -32602);
  CHECK_INT(jint(OK("list"), "total"), 1);
  v = get(p, 3, "tools/call", textf("%s,%s,%s,\"requestState\":\"%s\"", META_ASKS, PURGE, yes, state));
  CHECK(!jbool(v, "result.isError"));
  CHECK_INT(jint(OK("list"), "total"), 0);
  end(p);
}

TEST(mcp_destructive_without_a_way_to_ask) {
  struct proc *p = START("--profile", "full");
  STORE("Our office is in Bern");
  yyjson_val *v = get(p, 1, "tools/call", META "," PURGE);
  CHECK(jbool(v, "result.isError"));
  CHECK(has(jstr(v, "result.content[0].text"), "\"confirm\": true"));
  CHECK_INT(jint(OK("list"), "total"), 1);
  v = get(p, 2, "tools/call", META "," CALL("memory_purge", "\"ids\":[\"1\"],\"confirm\":true"));
  CHECK(!jbool(v, "result.isError"));
  CHECK_INT(jint(OK("list"), "total"), 0);
  end(p);
}

/* ---- changes of other processes ---- */

TEST(mcp_change_notifications_legacy) {
  struct proc *p = START("--profile", "full", "--project", "web");
  STORE("Our office is in Bern", "--project", "web");
  shake_hands(p, "2025-11-25", "{}");
  CHECK(jget(get(p, 1, "resources/subscribe", "\"uri\":\"cairn://memory/1\""), "result"));
  OK("pin", "1", "--project", "web");
  yyjson_val *v = next(p);
  CHECK_STR(jstr(v, "method"), "notifications/resources/updated");
  CHECK_STR(jstr(v, "params.uri"), "cairn://memory/1");
  CHECK(jget(get(p, 2, "resources/unsubscribe", "\"uri\":\"cairn://memory/1\""), "result"));
  OK("unpin", "1", "--project", "web");
  quiet(p, 600);
  end(p);
}

TEST(mcp_change_notifications_of_a_profiles_own_resource) {
  struct proc *p = START("--profile", "graph", "--project", "web");
  shake_hands(p, "2025-11-25", "{}");
  CHECK(jget(get(p, 1, "resources/subscribe", "\"uri\":\"memory://knowledge-graph\""), "result"));
  STORE("Our office is in Bern", "--project", "web");
  yyjson_val *v = next(p);
  CHECK_STR(jstr(v, "method"), "notifications/resources/updated");
  CHECK_STR(jstr(v, "params.uri"), "memory://knowledge-graph");
  STORE("The shop is in Kiel", "--project", "shop");
  quiet(p, 600);
  end(p);
}

TEST(mcp_change_notifications_modern) {
  struct proc *p = START("--profile", "full", "--project", "web");
  STORE("Our office is in Bern", "--project", "web");
  say(p, "{\"jsonrpc\":\"2.0\",\"id\":\"sub\",\"method\":\"subscriptions/listen\",\"params\":{" META
         ",\"notifications\":{\"resourcesListChanged\":true,\"resourceSubscriptions\":[\"cairn://boot/web\"]}}}");
  yyjson_val *v = next(p);
  CHECK_STR(jstr(v, "method"), "notifications/subscriptions/acknowledged");
  STORE("Deploy with the blue script", "--project", "web", "--skill-name", "deploy", "--skill-keyword", "deploy");
  bool list = false, boot = false;
  for (int i = 0; i < 2; i++) {
    v = next(p);
    CHECK_STR(json_str(jget(v, "params._meta"), NS "subscriptionId"), "sub");
    list |= str_is(jstr(v, "method"), "notifications/resources/list_changed");
    boot |= str_is(jstr(v, "method"), "notifications/resources/updated");
  }
  CHECK(list && boot);
  say(p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"sub\"}}");
  CHECK(jget(get(p, 1, "tools/list", META), "result"));
  STORE("Another fact about the weather", "--project", "web");
  quiet(p, 600);
  end(p);
}

/* An open subscription ends with the result of its request. */
TEST(mcp_listen_ends_with_the_process) {
  struct proc *p = START("--profile", "full");
  STORE("Our office is in Bern");
  request(p, 5, "subscriptions/listen", META ",\"notifications\":{\"resourcesListChanged\":true}");
  CHECK_STR(jstr(next(p), "method"), "notifications/subscriptions/acknowledged");
  proc_close(p);
  CHECK_STR(jstr(answer(p, 5), "result.resultType"), "complete");
  end(p);
}

/* ---- several clients on one store ---- */

TEST(mcp_several_processes_write) {
  struct proc *p[3];
  for (int i = 0; i < 3; i++) {
    p[i] = START("--profile", "full");
    shake_hands(p[i], "2025-11-25", "{}");
  }
  for (int n = 0; n < 10; n++)
    for (int i = 0; i < 3; i++)
      request(p[i], n, "tools/call",
              textf("\"name\":\"memory_remember\",\"arguments\":{\"text\":\"Fact %d of client %d concerns item%d\"}", n,
                    i, n * 31 + i * 7));
  for (int i = 0; i < 3; i++) {
    for (int n = 0; n < 10; n++)
      CHECK(!jbool(next(p[i]), "result.isError"));
    end(p[i]);
  }
  CHECK_INT(jint(OK("list", "--limit", "100"), "total"), 30);
  CHECK_HEALTHY();
}

/* When idle, the server embeds pending memories and runs the daily maintenance. */
TEST(mcp_does_background_work_when_idle) {
  cli_set("CAIRN_NO_MAINTAIN");
  struct proc *p = START("--profile", "full");
  shake_hands(p, "2025-11-25", "{}");
  yyjson_val *v =
      get(p, 1, "tools/call", CALL("memory_remember", "\"text\":\"Our office is in Bern\",\"defer_embedding\":true"));
  CHECK_STR(answer_line(v, "embedded"), "false");
  cli_set("CAIRN_NO_MAINTAIN=1");
  yyjson_val *stats;
  do { /* bounded only by the test's time limit */
    usleep(200 * 1000);
    stats = OK("stats");
  } while (jint(stats, "embedded.done") == 0 || !jget(stats, "maintained_at"));
  CHECK(jget(get(p, 2, "ping", ""), "result"));
  end(p);
}
