/* test_server.c: dispatcher: lists, calls, resources, prompts, completions, sessions, questions to the user. */
#include <sodium.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/protocol/server.h"
#include "support/libc.h"
#include "talking.h"

#define STORE_CALL(text) "\"name\":\"memory_remember\",\"arguments\":{\"text\":\"" text "\"}"

static yyjson_val *call(struct mcp_server *server, const char *params) {
  return ask(server, NULL, modern("tools/call", params));
}

/* ---- lists ---- */

TEST(server_lists_are_the_same_bytes) {
  struct mcp_server *one = talking_server(true, false), *two = talking_server(true, false);
  static const char *const methods[] = {"tools/list", "prompts/list", "resources/list", "resources/templates/list"};
  for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
    struct said first, second;
    say(one, NULL, legacy(methods[i], ""), &first);
    call(one, "\"name\":\"memory_stats\"");
    say(two, NULL, legacy(methods[i], ""), &second);
    CHECK(first.lines[0].n > 40);
    CHECK(str_eq(first.lines[0], second.lines[0]));
  }
  talking_stop(&one);
  talking_stop(&two);
}

/* The expiry follows the MAC of 32 bytes, little-endian. */
static bool cursor_is_for_days(const char *cursor) {
  const int64_t day = 24 * 3600 * 1000;
  struct clock clock = {0};
  uint8_t bytes[256];
  size_t n = 0;
  int64_t ends = 0;
  CHECK(sodium_base642bin(bytes, sizeof(bytes), cursor, strlen(cursor), NULL, &n, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0);
  CHECK(n > 40);
  for (int i = 7; i >= 0; i--)
    ends = ends << 8 | bytes[32 + i];
  return ends > clock_now(&clock) + day / 2 && ends <= clock_now(&clock) + 2 * day;
}

TEST(server_cursors_belong_to_their_list) {
  struct mcp_server *server = talking_server(true, false);
  for (int i = 0; i < 150; i++) {
    yyjson_val *v =
        call(server, textf("\"name\":\"memory_remember\",\"arguments\":{\"text\":\"Procedure number %d uses "
                           "tool%d\",\"skill_name\":\"skill-%03d\",\"skill_keywords\":[\"k%d\"]}",
                           i, i * 7, i, i));
    CHECK(!jbool(v, "result.isError"));
  }
  yyjson_val *first = ask(server, NULL, modern("resources/list", ""));
  size_t n = jlen(first, "result.resources");
  const char *cursor = cstr(jstr(first, "result.nextCursor"));
  CHECK_INT(n, 100);
  CHECK(cursor_is_for_days(cursor));
  yyjson_val *second = ask(server, NULL, modern("resources/list", textf("\"cursor\":\"%s\"", cursor)));
  /* boot and page of the project, those of the global memories, and the skills */
  CHECK_INT(n + jlen(second, "result.resources"), 4 + 150);
  CHECK_STR(jstr(second, "result.resources[0].uri"), "cairn://skill/skill-096");
  CHECK(!jget(second, "result.nextCursor"));
  CHECK_STR(jstr(second, "result.cacheScope"), "private");
  /* An empty cursor means the first page; one of another list, a changed one, and a non-text are refused. */
  CHECK_INT(jlen(ask(server, NULL, modern("resources/list", "\"cursor\":\"\"")), "result.resources"), 100);
  CHECK_INT(jint(ask(server, NULL, modern("tools/list", textf("\"cursor\":\"%s\"", cursor))), "error.code"), -32602);
  CHECK_INT(jint(ask(server, NULL, modern("resources/list", textf("\"cursor\":\"%sA\"", cursor))), "error.code"),
            -32602);
  CHECK_INT(jint(ask(server, NULL, modern("resources/list", "\"cursor\":7")), "error.code"), -32602);
  /* The item that the cursor names may be deleted meanwhile. */
  CHECK(!jbool(call(server, "\"name\":\"memory_forget\",\"arguments\":{\"ids\":[\"96\"],\"reason\":\"gone\"}"),
               "result.isError"));
  second = ask(server, NULL, modern("resources/list", textf("\"cursor\":\"%s\"", cursor)));
  CHECK_STR(jstr(second, "result.resources[0].uri"), "cairn://skill/skill-096");
  /* Another server of the store accepts the cursor. */
  talking_stop(&server);
  server = talking_server(true, false);
  second = ask(server, NULL, modern("resources/list", textf("\"cursor\":\"%s\"", cursor)));
  CHECK_STR(jstr(second, "result.resources[0].uri"), "cairn://skill/skill-096");
  CHECK_INT(jint(ask(server, NULL, modern("tools/list", textf("\"cursor\":\"%s\"", cursor))), "error.code"), -32602);
  talking_stop(&server);
}

/* The store's key outlives the process, so cursors must expire. */
TEST(server_cursors_expire) {
  struct mcp_server *server = talking_server(true, false);
  struct arena a;
  struct clock clock = {0};
  const int64_t hour = 3600 * 1000, times[] = {clock_now(&clock) + hour, clock_now(&clock) - hour};
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(times); i++) {
    const char *cursor =
        cstr(state_seal(server, &a, STR("default"), STR("prompts\ndefault\n\n"), STR("handoff"), times[i]));
    yyjson_val *v = ask(server, NULL, modern("prompts/list", textf("\"cursor\":\"%s\"", cursor)));
    if (i == 0)
      CHECK(jlen(v, "result.prompts") > 0);
    else
      CHECK_INT(jint(v, "error.code"), -32602);
  }
  arena_release(&a);
  talking_stop(&server);
}

/* ---- tools ---- */

TEST(server_calls_a_tool) {
  struct mcp_server *server = talking_server(true, false);
  yyjson_val *v = call(server, STORE_CALL("The staging database listens on port 5433"));
  CHECK_STR(jstr(v, "result.resultType"), "complete");
  CHECK(!jbool(v, "result.isError"));
  CHECK_STR(answer_line(v, "action"), "stored");
  CHECK_STR(answer_line(v, "project"), "web");
  CHECK_STR(jstr(v, "result.content[0].type"), "text");
  CHECK_STR(jstr(meta_of(v, "result", "serverInfo"), "name"), "cairn");
  talking_stop(&server);
}

TEST(server_reports_bad_arguments_to_the_model) {
  struct mcp_server *server = talking_server(true, false);
  static const char *const calls[] = {
      "\"name\":\"memory_remember\",\"arguments\":{}",
      "\"name\":\"memory_remember\",\"arguments\":{\"text\":7}",
      "\"name\":\"memory_remember\",\"arguments\":{\"text\":\"x\",\"nonsense\":1}",
      "\"name\":\"memory_get\",\"arguments\":{\"id\":\"777\"}",
      "\"name\":\"memory_search\"",
  };
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    test_note("%s", calls[i]);
    yyjson_val *v = call(server, calls[i]);
    CHECK(jbool(v, "result.isError"));
    CHECK(jstr(v, "result.content[0].text").n > 20);
    CHECK(!jget(v, "result.structuredContent"));
  }
  CHECK_INT(jint(call(server, "\"name\":\"nobody\""), "error.code"), -32602);
  CHECK_INT(jint(call(server, "\"arguments\":{}"), "error.code"), -32602);
  CHECK_INT(jint(call(server, "\"name\":7"), "error.code"), -32602);
  CHECK_INT(jint(call(server, "\"name\":\"memory_get\",\"arguments\":[]"), "error.code"), -32602);
  talking_stop(&server);
}

/* The first revisions have no structured content; Cairn's own tools have none in any. */
TEST(server_speaks_the_revision_of_the_client) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(jget(ask(server, NULL, legacy("initialize", "\"protocolVersion\":\"2024-11-05\"")), "result"));
  yyjson_val *v = ask(server, NULL, legacy("tools/call", "\"name\":\"memory_stats\""));
  CHECK(jget(v, "result.content") && !jget(v, "result.structuredContent") && !jget(v, "result.resultType"));
  CHECK(jget(ask(server, NULL, legacy("initialize", "\"protocolVersion\":\"2025-06-18\"")), "result"));
  CHECK(!jget(ask(server, NULL, legacy("tools/call", "\"name\":\"memory_stats\"")), "result.structuredContent"));
  server->options.profile = profile_find(STR("mememory"));
  CHECK(jget(ask(server, NULL, legacy("tools/call", "\"name\":\"stats\"")), "result.structuredContent"));
  CHECK(jget(ask(server, NULL, legacy("initialize", "\"protocolVersion\":\"2024-11-05\"")), "result"));
  CHECK(!jget(ask(server, NULL, legacy("tools/call", "\"name\":\"stats\"")), "result.structuredContent"));
  talking_stop(&server);
}

TEST(server_client_is_the_source) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(jget(ask(server, NULL,
                 legacy("initialize", "\"protocolVersion\":\"2025-11-25\",\"clientInfo\":{\"name\":\"Some "
                                      "Client!\",\"version\":\"3\"}")),
             "result"));
  CHECK(!jbool(ask(server, NULL, legacy("tools/call", STORE_CALL("Deploys happen on Tuesdays"))), "result.isError"));
  yyjson_val *v = ask(server, NULL, legacy("tools/call", "\"name\":\"memory_get\",\"arguments\":{\"id\":\"1\"}"));
  CHECK(has(answer_text(v), "| source some-client | trust agent"));
  talking_stop(&server);
}

/* A legacy connection keeps the memory session of its boot, and ends it. */
TEST(server_remembers_the_session_of_boot) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(jget(ask(server, NULL, legacy("initialize", "\"protocolVersion\":\"2025-11-25\"")), "result"));
  yyjson_val *v = ask(server, NULL, legacy("tools/call", "\"name\":\"memory_boot\""));
  const char *handle = cstr(answer_session(v));
  v = ask(server, NULL, legacy("tools/call", "\"name\":\"memory_session_task\",\"arguments\":{\"task\":\"tests\"}"));
  CHECK_STR(answer_line(v, "session"), handle);
  talking_stop(&server);
  server = talking_server(true, false);
  v = ask(server, NULL, legacy("tools/call", "\"name\":\"memory_session_list\""));
  CHECK_STR(answer_line(v, "sessions"), "none");
  talking_stop(&server);
}

/* ---- asking the user ---- */

#define PURGE(id) "\"name\":\"memory_purge\",\"arguments\":{\"ids\":[\"" id "\"]}"
#define YES "\"inputResponses\":{\"confirm\":{\"action\":\"accept\",\"content\":{\"confirm\":true}}}"

static yyjson_val *call_elicit(struct mcp_server *server, const char *params) {
  return ask(server, NULL, modern_with("{\"elicitation\":{}}", "tools/call", params));
}

static int64_t count_lines(struct str text, const char *start) {
  struct str line;
  int64_t n = 0;
  while (str_line(&text, &line))
    n += str_starts(line, str_from(start));
  return n;
}

static int64_t count_memories(struct mcp_server *server) {
  return count_lines(answer_text(call(server, "\"name\":\"memory_list\"")), "memory ");
}

TEST(server_confirms_by_a_second_request) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(!jbool(call(server, STORE_CALL("Our office is in Bern")), "result.isError"));
  CHECK(!jbool(call(server, STORE_CALL("Backups run at three in the night")), "result.isError"));
  yyjson_val *v = call_elicit(server, PURGE("1"));
  CHECK_STR(jstr(v, "result.resultType"), "input_required");
  CHECK_STR(jstr(v, "result.inputRequests.confirm.method"), "elicitation/create");
  CHECK_STR(jstr(v, "result.inputRequests.confirm.params.requestedSchema.type"), "object");
  const char *state = textf("\"requestState\":\"%s\"", cstr(jstr(v, "result.requestState")));
  CHECK_INT(count_memories(server), 2);
  /* A state of another request, a changed state, an answer without a state: nothing is done. */
  CHECK_INT(jint(call_elicit(server, textf("%s,%s,%s", PURGE("2"), state, YES)), "error.code"), -32602);
  CHECK_INT(jint(call_elicit(server, textf("%s,\"requestState\":\"x\",%s", PURGE("1"), YES)), "error.code"), -32602);
  CHECK_INT(jint(call_elicit(server, textf("%s,\"requestState\":7,%s", PURGE("1"), YES)), "error.code"), -32602);
  CHECK_INT(jint(call_elicit(server, PURGE("1") ",\"inputResponses\":null"), "error.code"), -32602);
  CHECK_INT(jint(call_elicit(server, PURGE("1") ",\"inputResponses\":{\"confirm\":5}"), "error.code"), -32602);
  CHECK_STR(jstr(call_elicit(server, PURGE("1") "," YES), "result.resultType"), "input_required");
  /* A missing answer is requested again; others are ignored. */
  v = call_elicit(server, textf("%s,%s,\"inputResponses\":{\"other\":{}}", PURGE("1"), state));
  CHECK_STR(jstr(v, "result.resultType"), "input_required");
  /* The user may decline. */
  v = call_elicit(server, textf("%s,%s,\"inputResponses\":{\"confirm\":{\"action\":\"decline\"}}", PURGE("1"), state));
  CHECK(jbool(v, "result.isError"));
  v = call_elicit(server, textf("%s,%s,\"inputResponses\":{\"confirm\":{\"action\":\"accept\",\"content\":{\"confirm\":"
                                "false}}}",
                                PURGE("1"), state));
  CHECK(jbool(v, "result.isError"));
  CHECK_INT(count_memories(server), 2);
  v = call_elicit(server, textf("%s,%s,%s", PURGE("1"), state, YES));
  CHECK(!jbool(v, "result.isError"));
  CHECK_INT(count_memories(server), 1);
  talking_stop(&server);
}

/* The key belongs to the store: another or restarted server of it accepts the answer. */
TEST(server_of_the_same_store_accepts_an_answer) {
  struct mcp_server *one = talking_server(true, false), *two = talking_server(true, false);
  CHECK(!jbool(call(one, STORE_CALL("Our office is in Bern")), "result.isError"));
  CHECK(!jbool(call(one, STORE_CALL("Backups run at three in the night")), "result.isError"));
  const char *state = textf("\"requestState\":\"%s\"", cstr(jstr(call_elicit(one, PURGE("1")), "result.requestState")));
  talking_stop(&one);
  CHECK_INT(jint(call_elicit(two, textf("%s,%s,%s", PURGE("2"), state, YES)), "error.code"), -32602);
  CHECK(!jbool(call_elicit(two, textf("%s,%s,%s", PURGE("1"), state, YES)), "result.isError"));
  CHECK_INT(count_memories(two), 1);
  state = textf("\"requestState\":\"%s\"", cstr(jstr(call_elicit(two, PURGE("2")), "result.requestState")));
  talking_stop(&two);
  one = talking_server(true, false);
  CHECK(!jbool(call_elicit(one, textf("%s,%s,%s", PURGE("2"), state, YES)), "result.isError"));
  CHECK_INT(count_memories(one), 0);
  talking_stop(&one);
}

/* A client that cannot ask gets the name of the confirming argument. */
TEST(server_confirms_by_argument) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(!jbool(call(server, STORE_CALL("Our office is in Bern")), "result.isError"));
  static const char *const cannot[] = {"{}", "{\"elicitation\":{\"url\":{}}}", "{\"elicitation\":true}"};
  for (size_t i = 0; i < ARRAY_LEN(cannot); i++) {
    yyjson_val *v = ask(server, NULL, modern_with(cannot[i], "tools/call", PURGE("1")));
    CHECK(jbool(v, "result.isError"));
    CHECK(has(jstr(v, "result.content[0].text"), "confirm"));
  }
  CHECK_INT(count_memories(server), 1);
  yyjson_val *v = call(server, "\"name\":\"memory_purge\",\"arguments\":{\"ids\":[\"1\"],\"confirm\":true}");
  CHECK(!jbool(v, "result.isError"));
  CHECK_INT(count_memories(server), 0);
  talking_stop(&server);
}

struct calling {
  struct mcp_server *server;
  struct mcp_head head;
  const char *message;
  struct said said;
};

static void *run_call(void *arg) {
  struct calling *c = arg;
  struct mcp_sender sender = talking_sender();
  mcp_handle(c->server, &sender, &c->head, str_from(c->message), &c->said.out, &c->said.reply);
  return NULL;
}

static pthread_t begin_call(struct calling *c) {
  pthread_t thread;
  said_init(&c->said);
  CHECK_INT(pthread_create(&thread, NULL, run_call, c), 0);
  return thread;
}

#define INIT_ELICIT "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{}}"

TEST(server_confirms_by_a_request_to_a_legacy_client) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(jget(ask(server, NULL, legacy("initialize", INIT_ELICIT)), "result"));
  CHECK(!jbool(ask(server, NULL, legacy("tools/call", STORE_CALL("Our office is in Bern"))), "result.isError"));
  static const char *const answers[] = {"\"result\":{\"action\":\"decline\"}",
                                        "\"error\":{\"code\":-1,\"message\":\"\"}",
                                        "\"result\":{\"action\":\"accept\",\"content\":{}}",
                                        "\"result\":{\"action\":\"accept\",\"content\":{\"confirm\":true}}"};
  for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
    static struct calling c;
    c = (struct calling){.server = server, .message = legacy("tools/call", PURGE("1"))};
    pthread_t thread = begin_call(&c);
    said_wait(&c.said, 1);
    yyjson_val *question = said_line(&c.said, 0);
    CHECK_STR(jstr(question, "method"), "elicitation/create");
    struct said none;
    say(server, NULL, textf("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",%s}", cstr(jstr(question, "id")), answers[i]), &none);
    CHECK_INT(none.n, 0);
    pthread_join(thread, NULL);
    CHECK_INT(c.said.n, 2);
    CHECK_INT(jbool(said_line(&c.said, 1), "result.isError"), i + 1 < ARRAY_LEN(answers));
  }
  talking_stop(&server);
}

/* A cancelled call gets no response, even while it waits for the client. */
TEST(server_cancels) {
  struct mcp_server *server = talking_server(true, true);
  CHECK(jget(ask(server, NULL, legacy("initialize", INIT_ELICIT)), "result"));
  CHECK(!jbool(ask(server, NULL, legacy("tools/call", STORE_CALL("Our office is in Bern"))), "result.isError"));
  static struct calling c;
  c = (struct calling){.server = server, .message = legacy("tools/call", PURGE("1"))};
  pthread_t thread = begin_call(&c);
  said_wait(&c.said, 1);
  struct said none;
  say(server, NULL, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"1\"}}",
      &none);
  usleep(50 * 1000);
  CHECK(!c.said.last); /* "1" is not 1 */
  say(server, NULL, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}", &none);
  pthread_join(thread, NULL);
  CHECK_INT(c.said.n, 1);
  CHECK_INT(c.said.reply.status, 202);
  CHECK_INT(count_lines(answer_text(ask(server, NULL, legacy("tools/call", "\"name\":\"memory_list\""))), "memory "),
            1);
  talking_stop(&server);
}

TEST(server_reports_progress) {
  struct mcp_server *server = talking_server(true, true);
  struct said said;
  say(server, NULL,
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"test_tool_with_progress\","
      "\"_meta\":{\"progressToken\":\"t\"}}}",
      &said);
  CHECK_INT(said.n, 4);
  double last = -1;
  for (size_t i = 0; i < 3; i++) {
    yyjson_val *v = said_line(&said, i);
    CHECK_STR(jstr(v, "method"), "notifications/progress");
    CHECK_STR(jstr(v, "params.progressToken"), "t");
    CHECK(jnum(v, "params.progress") > last);
    last = jnum(v, "params.progress");
  }
  CHECK(jget(said_line(&said, 3), "result"));
  say(server, NULL, legacy("tools/call", "\"name\":\"test_tool_with_progress\""), &said);
  CHECK_INT(said.n, 1);
  talking_stop(&server);
}

/* ---- resources, prompts, completions ---- */

TEST(server_reads_resources) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(!jbool(call(server, "\"name\":\"memory_remember\",\"arguments\":{\"text\":\"Never deploy on "
                            "Fridays\",\"kind\":\"rule\",\"severity\":\"blocker\",\"key\":\"no-friday\"}"),
               "result.isError"));
  CHECK(!jbool(call(server, "\"name\":\"memory_remember\",\"arguments\":{\"text\":\"Steps of a release: tag, "
                            "build\",\"skill_name\":\"release\",\"skill_keywords\":[\"release\"]}"),
               "result.isError"));
  static const struct {
    const char *uri, *part;
  } cases[] = {
      {"cairn://memory/1", "Never deploy on Fridays"},     {"cairn://memory/no-friday", "Never deploy on Fridays"},
      {"cairn://boot/web", "Never deploy on Fridays"},     {"cairn://boot/w%65b", "Never deploy on Fridays"},
      {"cairn://memory.md/web", "Never deploy on Friday"}, {"cairn://skill/release", "Steps of a release"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("%s", cases[i].uri);
    yyjson_val *v = ask(server, NULL, modern("resources/read", textf("\"uri\":\"%s\"", cases[i].uri)));
    CHECK_STR(jstr(v, "result.contents[0].uri"), cases[i].uri);
    CHECK_STR(jstr(v, "result.contents[0].mimeType"), "text/markdown");
    CHECK(has(jstr(v, "result.contents[0].text"), cases[i].part));
    CHECK(!has(jstr(v, "result.contents[0].text"), "Session s-")); /* reading begins no session */
    CHECK_INT(jint(v, "result.ttlMs"), 0);
  }
  CHECK(!has(jstr(ask(server, NULL, modern("resources/read", "\"uri\":\"cairn://boot/\"")), "result.contents[0].text"),
             "Fridays"));
  static const char *const missing[] = {"cairn://memory/9", "cairn://skill/none", "cairn://nothing/1", "http://x", ""};
  for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
    yyjson_val *v = ask(server, NULL, modern("resources/read", textf("\"uri\":\"%s\"", missing[i])));
    CHECK_INT(jint(v, "error.code"), -32602);
    CHECK_STR(jstr(v, "error.data.uri"), missing[i]);
    v = ask(server, NULL, legacy("resources/read", textf("\"uri\":\"%s\"", missing[i])));
    CHECK_INT(jint(v, "error.code"), -32002);
  }
  CHECK_INT(jint(ask(server, NULL, modern("resources/read", "")), "error.code"), -32602);
  talking_stop(&server);
}

static yyjson_val *embedded(struct mcp_server *server, const char *prompt) {
  return ask(server, NULL, modern("prompts/get", textf("\"name\":\"%s\"", prompt)));
}

/* What was left out is fetched with the profile's tools, not with commands. */
TEST(resources_and_prompts_name_calls) {
  setenv("CAIRN_FILES_MEMORY_MAX_CHARS", "2000", 1);
  struct mcp_server *server = talking_server(true, false);
  for (int i = 0; i < 80; i++)
    CHECK(!jbool(call(server, textf("\"name\":\"memory_remember\",\"arguments\":{\"text\":\"House %d runs cairn list "
                                    "--kind rule, has colour "
                                    "%d-%d and its garden has %d trees\",\"type\":\"rule\","
                                    "\"keep_both\":true}",
                                    i, i * 7919 % 1000, i * 104729 % 997, i * 31 + 5)),
                 "result.isError"));
  struct str boot =
      jstr(ask(server, NULL, modern("resources/read", "\"uri\":\"cairn://boot/web\"")), "result.contents[0].text");
  CHECK(has(boot, " more: memory_list {\"kind\":\"rule\"}"));
  CHECK(has(boot, "runs cairn list --kind rule")); /* stored text */
  CHECK(!has(boot, "more: cairn"));
  CHECK(has(jstr(embedded(server, "startup"), "result.messages[0].content.resource.text"), " more: memory_list {"));
  struct str page =
      jstr(ask(server, NULL, modern("resources/read", "\"uri\":\"cairn://memory.md/web\"")), "result.contents[0].text");
  CHECK(has(page, "memory_list {} shows all.*"));
  CHECK(
      has(jstr(embedded(server, "review"), "result.messages[0].content.resource.text"), "memory_list {} shows all.*"));
  talking_stop(&server);
}

TEST(server_gives_prompts) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(!jbool(call(server, "\"name\":\"memory_remember\",\"arguments\":{\"text\":\"Never deploy on "
                            "Fridays\",\"kind\":\"rule\",\"severity\":\"blocker\"}"),
               "result.isError"));
  yyjson_val *v = ask(server, NULL, modern("prompts/get", "\"name\":\"startup\",\"arguments\":{\"task\":\"fix it\"}"));
  CHECK_STR(jstr(v, "result.messages[0].content.type"), "resource");
  CHECK(has(jstr(v, "result.messages[0].content.resource.text"), "Fridays"));
  CHECK(has(jstr(v, "result.messages[1].content.text"), "fix it"));
  CHECK(!has(jstr(v, "result.messages[1].content.text"), "Fridays")); /* stored text is data, not instructions */
  v = ask(server, NULL, modern("prompts/get", "\"name\":\"review\""));
  CHECK(has(jstr(v, "result.messages[0].content.resource.text"), "Fridays"));
  CHECK_INT(jlen(ask(server, NULL, modern("prompts/get", "\"name\":\"handoff\"")), "result.messages"), 1);
  CHECK_INT(jint(ask(server, NULL, modern("prompts/get", "\"name\":\"none\"")), "error.code"), -32602);
  CHECK_INT(
      jint(ask(server, NULL, modern("prompts/get", "\"name\":\"review\",\"arguments\":{\"x\":\"y\"}")), "error.code"),
      -32602);
  CHECK_INT(
      jint(ask(server, NULL, modern("prompts/get", "\"name\":\"review\",\"arguments\":{\"topic\":1}")), "error.code"),
      -32602);
  talking_stop(&server);
}

TEST(server_completes) {
  struct mcp_server *server = talking_server(true, false);
  for (int i = 0; i < 120; i++)
    CHECK(!jbool(call(server, textf("\"name\":\"memory_remember\",\"arguments\":{\"text\":\"Fact %d of a kind about "
                                    "subject%d\",\"project\":\"p%03d\"}",
                                    i, i * 13, i)),
                 "result.isError"));
  static const char boot[] = "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"cairn://boot/{project}\"},\"argument\":{"
                             "\"name\":\"project\",\"value\":\"%s\"}";
  yyjson_val *v = ask(server, NULL, modern("completion/complete", textf(boot, "P00")));
  CHECK_INT(jlen(v, "result.completion.values"), 10);
  CHECK_STR(jstr(v, "result.completion.values[0]"), "p000");
  v = ask(server, NULL, modern("completion/complete", textf(boot, "")));
  CHECK_INT(jlen(v, "result.completion.values"), 100);
  CHECK_INT(jint(v, "result.completion.total"), 120);
  CHECK(jbool(v, "result.completion.hasMore"));
  /* Ids by prefix, shortest first; the newest for an empty prefix. */
  static const char id[] = "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"cairn://memory/{id}\"},\"argument\":{"
                           "\"name\":\"id\",\"value\":\"%s\"}";
  CHECK(!jbool(
      call(server,
           "\"name\":\"memory_forget\",\"arguments\":{\"ids\":[\"111\"],\"reason\":\"gone\",\"project\":\"p110\"}"),
      "result.isError"));
  v = ask(server, NULL, modern("completion/complete", textf(id, "11")));
  CHECK_INT(jlen(v, "result.completion.values"), 0); /* memories of other projects */
  for (int i = 0; i < 130; i++)
    CHECK(!jbool(call(server, textf(STORE_CALL("Fact %d about the building number%d"), i, i * 17)), "result.isError"));
  v = ask(server, NULL, modern("completion/complete", textf(id, "12")));
  CHECK_INT(jlen(v, "result.completion.values"), 9); /* 121 to 129 */
  CHECK_STR(jstr(v, "result.completion.values[0]"), "121");
  CHECK_INT(jint(v, "result.completion.total"), 9);
  v = ask(server, NULL, modern("completion/complete", textf(id, "")));
  CHECK_INT(jlen(v, "result.completion.values"), 100);
  CHECK_STR(jstr(v, "result.completion.values[0]"), "250");
  CHECK(jbool(v, "result.completion.hasMore") && !jget(v, "result.completion.total"));
  static const char *const nothing[] = {"0", "9999", "12x", "-1", " 12", "99999999999999999999", "x"};
  for (size_t i = 0; i < ARRAY_LEN(nothing); i++) {
    v = ask(server, NULL, modern("completion/complete", textf(id, nothing[i])));
    CHECK_INT(jlen(v, "result.completion.values"), 0);
    CHECK(!jbool(v, "result.completion.hasMore"));
  }
  v = ask(server, NULL,
          modern("completion/complete",
                 "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"none\"},\"argument\":{\"name\":\"x\",\"value\":\"\"}"));
  CHECK_INT(jint(v, "error.code"), -32602);
  v = ask(server, NULL, modern("completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"startup\"}"));
  CHECK_INT(jint(v, "error.code"), -32602);
  talking_stop(&server);
}

/* ---- sessions over HTTP ---- */

TEST(server_sessions_are_bound_and_end) {
  struct mcp_server *server = talking_server(false, false);
  struct mcp_head head = http_head(NULL, NULL, NULL, NULL);
  struct said said;
  say(server, &head, legacy("initialize", "\"protocolVersion\":\"2025-06-18\""), &said);
  CHECK_INT(said.reply.status, 200);
  const char *id = textf("%s", said.reply.session);
  CHECK(strlen(id) >= 32);
  for (const char *p = id; *p; p++)
    CHECK(*p > 0x20 && *p < 0x7f);
  struct said other;
  say(server, &head, legacy("initialize", "\"protocolVersion\":\"2025-06-18\""), &other);
  CHECK(strcmp(other.reply.session, id) != 0);

  head = http_head("2025-06-18", NULL, NULL, id);
  say(server, &head, legacy("tools/list", ""), &said);
  CHECK_INT(said.reply.status, 200);
  CHECK(!said.reply.session[0]);
  say(server, &head, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", &said);
  CHECK_INT(said.reply.status, 202);
  CHECK_INT(said.n, 0);
  struct mcp_head strange = http_head("1999-01-01", NULL, NULL, id);
  say(server, &strange, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", &said);
  CHECK_INT(said.reply.status, 202); /* any version that is not legacy counts as modern, which has no sessions */

  /* A session id of one team is useless to another. */
  struct mcp_sender stranger = talking_sender();
  stranger.caller.team = STR("others");
  said_init(&said);
  mcp_handle(server, &stranger, &head, str_from(legacy("tools/list", "")), &said.out, &said.reply);
  CHECK_INT(said.reply.status, 404);
  CHECK_INT(mcp_end_session(server, &stranger, &head), 404);

  struct mcp_sender sender = talking_sender();
  CHECK_INT(mcp_end_session(server, &sender, &head), 200);
  CHECK_INT(mcp_end_session(server, &sender, &head), 404);
  say(server, &head, legacy("tools/list", ""), &said);
  CHECK_INT(said.reply.status, 404);
  say(server, &head, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", &said);
  CHECK_INT(said.reply.status, 404);
  struct mcp_head none = http_head(NULL, NULL, NULL, NULL);
  CHECK_INT(mcp_end_session(server, &sender, &none), 400);
  talking_stop(&server);
}

TEST(server_evicts_the_least_recently_used_session) {
  struct mcp_server *server = talking_server(false, false);
  struct mcp_head head = http_head(NULL, NULL, NULL, NULL);
  static char ids[1100][MCP_SESSION_SIZE];
  for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
    struct said said;
    say(server, &head, legacy("initialize", "\"protocolVersion\":\"2025-06-18\""), &said);
    memcpy(ids[i], said.reply.session, sizeof(ids[i]));
  }
  struct said said;
  head = http_head(NULL, NULL, NULL, ids[0]);
  say(server, &head, legacy("ping", ""), &said);
  CHECK_INT(said.reply.status, 404);
  head = http_head(NULL, NULL, NULL, ids[ARRAY_LEN(ids) - 1]);
  say(server, &head, legacy("ping", ""), &said);
  CHECK_INT(said.reply.status, 200);
  talking_stop(&server);
}

/* Batches, invalid messages, large messages. */
TEST(server_refuses_bad_messages_over_http) {
  struct mcp_server *server = talking_server(false, false);
  struct mcp_head head = http_head(NULL, NULL, NULL, NULL);
  static const struct {
    const char *text;
    int code;
  } cases[] = {
      {"[]", -32600}, {"{", -32700}, {"\"x\"", -32600}, {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}", -32600}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct said said;
    say(server, &head, cases[i].text, &said);
    CHECK_INT(said.reply.status, 400);
    yyjson_val *v = said_line(&said, 0);
    CHECK_INT(jint(v, "error.code"), cases[i].code);
    CHECK(!jget(v, "id"));
  }
  talking_stop(&server);
}

/* A request fails when out of memory, and the next one works. */
TEST(server_survives_out_of_memory) {
  struct mcp_server *server = talking_server(true, false);
  for (long nth = 1; nth < 60; nth++) {
    struct said said;
    test_note("allocation %ld", nth);
    const char *message = modern("tools/list", "");
    said_init(&said);
    struct mcp_sender sender = talking_sender();
    static const struct mcp_head none;
    alloc_fail_at(nth, 1);
    mcp_handle(server, &sender, &none, str_from(message), &said.out, &said.reply);
    long failures = alloc_failures();
    alloc_fail_at(0, 0);
    CHECK_INT(said.n, 1);
    CHECK_INT(jget(said_line(&said, 0), "error.code") != NULL, failures > 0);
    if (!failures)
      break;
  }
  CHECK(jget(ask(server, NULL, modern("tools/list", "")), "result.tools"));
  talking_stop(&server);
}

static void drop(void *arg UNUSED, struct str json UNUSED, bool last UNUSED) {}

/* The message with its nth allocation failing, behind so many bytes in the arena: with every number of them the end of
 * the arena's block falls on another part of the work. Whether it got so far. */
static bool fails_at(struct mcp_server *server, const char *message, size_t before, long n) {
  static const struct mcp_head none;
  struct mcp_out out = {.send = drop};
  struct mcp_sender sender = talking_sender();
  struct mcp_reply reply = {0};
  struct rpc_message in;
  struct arena a;
  test_note("%zu bytes before, allocation %ld", before, n);
  arena_init(&a);
  rpc_read_guarded(server, &a, str_from(message), &in);
  for (size_t i = 0; i < before; i += 16)
    (void)arena_alloc(&a, 16);
  alloc_fail_at(n, 0);
  server_dispatch(server, &sender, &none, &a, &in, &out, &reply);
  bool failed = alloc_failures() > 0;
  alloc_fail_at(0, 0);
  arena_release(&a);
  return failed;
}

/* Size of a block; in sanitizer builds every piece is a separate allocation. */
static size_t block_size(void) {
  struct arena a;
  arena_init(&a);
  const char *first = arena_alloc(&a, 16), *second = arena_alloc(&a, 16);
  bool exact = second != first + 16;
  arena_release(&a);
  return exact ? 1 : 16 * 1024;
}

/* A tool that runs out of memory must return its engine: without engines, no call is answered. */
TEST(server_gets_its_engines_back) {
  no_statement_check();
  struct mcp_server *server = talking_server(true, false);
  const char *message =
      modern("tools/call", "\"name\":\"memory_search\",\"arguments\":{\"query\":\"the first memory\"}");
  int failures = 0;
  call(server, STORE_CALL("The first memory of all"));
  for (size_t before = 0; before < block_size(); before += 512) {
    bool failed = true;
    for (long n = 1; failed && n < 500; n += 1 + n / 5) {
      size_t opened, busy;
      failed = fails_at(server, message, before, n);
      pool_count(server->options.pool, &opened, &busy);
      CHECK_INT(busy, 0);
      failures += failed;
    }
  }
  CHECK(failures >= 10);
  CHECK(jget(ask(server, NULL, message), "result"));
  talking_stop(&server);
}

static struct mcp_server *legacy_server(bool conformance) {
  struct mcp_server *server = talking_server(true, conformance);
  ask(server, NULL,
      legacy("initialize", "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{}},"
                           "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}"));
  return server;
}

/* A question that was never sent is not in the list of those that wait for an answer. */
TEST(server_drops_a_question_when_out_of_memory) {
  struct mcp_server *server = legacy_server(true);
  const char *message =
      legacy("tools/call", "\"name\":\"test_elicitation\",\"arguments\":{\"message\":\"What is it?\"}");
  int failures = 0;
  struct secret_pool *pieces = server->message_pool;
  server->message_pool = NULL; /* from which memory comes without an allocation */
  questions_abort(server);     /* nobody waits for an answer */
  for (size_t before = 0; before < block_size(); before += 128) {
    bool failed = true;
    for (long n = 1; failed; n++) {
      failed = fails_at(server, message, before, n);
      CHECK(!server->questions);
      failures += failed;
    }
  }
  CHECK(failures >= 10);
  server->message_pool = pieces;
  talking_stop(&server);
}

/* Every call takes it. */
TEST(server_releases_its_lock_when_out_of_memory) {
  struct mcp_server *server = legacy_server(false);
  int failures = 0;
  CHECK(jget(ask(server, NULL, legacy("tools/call", "\"name\":\"memory_boot\",\"arguments\":{}")), "result"));
  CHECK(server->sessions && server->sessions->handle[0]);
  for (size_t before = 0; before < block_size(); before += 16) {
    bool failed = true;
    for (long n = 1; failed; n++) {
      failed = fails_at(server, legacy("ping", ""), before, n);
      CHECK_INT(pthread_mutex_trylock(&server->lock), 0);
      pthread_mutex_unlock(&server->lock);
      failures += failed;
    }
  }
  CHECK(failures >= 10);
  talking_stop(&server);
}

/* ---- stdio ---- */

/* Output of `cairn mcp` with this input, in a child whose clock is shifted by `seconds` while it ends. */
static struct str stdio_says(const char *input, long seconds) {
  static struct arena memory;
  int in[2], out[2], status;
  struct buf said = BUF(&memory);
  CHECK(pipe(in) == 0 && pipe(out) == 0);
  CHECK(write(in[1], input, strlen(input)) == (ssize_t)strlen(input));
  close(in[1]);
  pid_t child = fork();
  if (child == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    close(out[0]);
    close(out[1]);
    struct mcp_server *server = talking_server(true, true);
    struct mcp_sender sender = talking_sender();
    libc_shift_time_of_day(seconds);
    _exit(mcp_stdio(server, &sender));
  }
  close(in[0]);
  close(out[1]);
  char piece[4096];
  ssize_t n;
  while ((n = read(out[0], piece, sizeof(piece))) > 0)
    buf_add(&said, (struct str){piece, (size_t)n});
  close(out[0]);
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return buf_str(&said);
}

/* A call that is running when the input ends has one second to finish, even if the clock is set. */
TEST(stdio_ends_the_same_when_the_clock_is_set) {
  const char *call_slow = modern("tools/call", "\"name\":\"test_tool_with_progress\"");
  for (int hours = -1; hours <= 1; hours++) {
    test_note("%d hours", hours);
    struct str said = stdio_says(textf("%s\n", call_slow), hours * 3600L);
    if (str_find(said, STR("\"result\""), 0) == SIZE_MAX)
      FAIL("no answer: '%.*s'", STR_ARG(said));
  }
}
