/* test_era.c: protocol revision of a message, and errors for inconsistent ones. */
#include "talking.h"

#define NEW "2026-07-28"
#define META(version, rest) "\"_meta\":{\"" MCP_META "protocolVersion\":\"" version "\"" rest "}"
#define CAPS ",\"" MCP_META "clientCapabilities\":{}"
#define GOOD META(NEW, CAPS)

struct era_case {
  const char *method, *params;                       /* of the body */
  const char *version, *header_method, *name, *sent; /* headers; sent: session */
  int status, code;                                  /* code 0: a result */
};

static void check_cases(const struct era_case *cases, size_t n) {
  struct mcp_server *server = talking_server(false, true);
  for (size_t i = 0; i < n; i++) {
    const struct era_case *c = &cases[i];
    struct mcp_head head = http_head(c->version, c->header_method, c->name, c->sent);
    struct said said;
    const char *message = legacy(c->method, c->params);
    test_note("case %zu: %s with version %s", i, message, c->version ? c->version : "none");
    say(server, &head, message, &said);
    CHECK_INT(said.reply.status, c->status);
    CHECK_INT(said.n, 1);
    yyjson_val *v = said_line(&said, 0);
    CHECK_INT(jint(v, "id"), 1);
    if (c->code)
      CHECK_INT(jint(v, "error.code"), c->code);
    else
      CHECK(jget(v, "result"));
  }
  talking_stop(&server);
}

TEST(era_modern_over_http) {
  static const struct era_case cases[] = {
      {"tools/list", GOOD, NEW, "tools/list", NULL, NULL, 200, 0},
      {"server/discover", GOOD, NEW, "server/discover", NULL, NULL, 200, 0},
      /* a session id belongs to the other era and is ignored */
      {"tools/list", GOOD, NEW, "tools/list", NULL, "abc", 200, 0},
      /* _meta */
      {"tools/list", "", NEW, "tools/list", NULL, NULL, 400, -32602},
      {"tools/list", "\"_meta\":{}", NEW, "tools/list", NULL, NULL, 400, -32602},
      {"tools/list", META(NEW, ""), NEW, "tools/list", NULL, NULL, 400, -32602},
      {"tools/list", META(NEW, ",\"" MCP_META "clientCapabilities\":7"), NEW, "tools/list", NULL, NULL, 400, -32602},
      {"server/discover", "", NULL, NULL, NULL, NULL, 400, -32602},
      /* versions */
      {"tools/list", GOOD, NULL, "tools/list", NULL, NULL, 400, -32020},
      {"tools/list", GOOD, "2025-11-25", "tools/list", NULL, NULL, 400, -32020},
      {"tools/list", META("1900-01-01", CAPS), "1900-01-01", "tools/list", NULL, NULL, 400, -32022},
      {"tools/list", META("2025-11-25", CAPS), "2025-11-25", "tools/list", NULL, NULL, 400, -32022},
      /* headers that repeat the body */
      {"tools/list", GOOD, NEW, NULL, NULL, NULL, 400, -32020},
      {"tools/list", GOOD, NEW, "tools/call", NULL, NULL, 400, -32020},
      {"tools/list", GOOD, NEW, "Tools/List", NULL, NULL, 400, -32020},
      {"tools/list", GOOD, " " NEW " ", " tools/list\t", NULL, NULL, 200, 0},
      {"prompts/get", GOOD ",\"name\":\"handoff\"", NEW, "prompts/get", "handoff", NULL, 200, 0},
      {"prompts/get", GOOD ",\"name\":\"handoff\"", NEW, "prompts/get", "  handoff ", NULL, 200, 0},
      {"prompts/get", GOOD ",\"name\":\"handoff\"", NEW, "prompts/get", "=?base64?aGFuZG9mZg==?=", NULL, 200, 0},
      {"prompts/get", GOOD ",\"name\":\"handoff\"", NEW, "prompts/get", "=?base64?aGFuZG9mZg?=", NULL, 400, -32020},
      {"prompts/get", GOOD ",\"name\":\"handoff\"", NEW, "prompts/get", "=?base64?*?=", NULL, 400, -32020},
      {"prompts/get", GOOD ",\"name\":\"handoff\"", NEW, "prompts/get", NULL, NULL, 400, -32020},
      {"prompts/get", GOOD ",\"name\":\"handoff\"", NEW, "prompts/get", "startup", NULL, 400, -32020},
      {"tools/call", GOOD ",\"name\":\"test_simple_text\"", NEW, "tools/call", "test_simple_text", NULL, 200, 0},
      {"resources/read", GOOD ",\"uri\":\"test://static-text\"", NEW, "resources/read", "test://static-text", NULL, 200,
       0},
      {"resources/read", GOOD ",\"uri\":\"test://static-text\"", NEW, "resources/read", "test://x", NULL, 400, -32020},
      /* methods of the other era, and unknown ones */
      {"initialize", GOOD, NEW, "initialize", NULL, NULL, 404, -32601},
      {"ping", GOOD, NEW, "ping", NULL, NULL, 404, -32601},
      {"logging/setLevel", GOOD, NEW, "logging/setLevel", NULL, NULL, 404, -32601},
      {"resources/subscribe", GOOD, NEW, "resources/subscribe", NULL, NULL, 404, -32601},
      {"resources/unsubscribe", GOOD, NEW, "resources/unsubscribe", NULL, NULL, 404, -32601},
      {"no/such", GOOD, NEW, "no/such", NULL, NULL, 404, -32601},
      /* errors of a method have HTTP status 200 */
      {"tools/call", GOOD ",\"name\":\"nobody\"", NEW, "tools/call", "nobody", NULL, 200, -32602},
      {"tools/call", GOOD ",\"name\":\"test_missing_capability\"", NEW, "tools/call", "test_missing_capability", NULL,
       400, -32021},
      {"resources/read", GOOD ",\"uri\":\"cairn://memory/77\"", NEW, "resources/read", "cairn://memory/77", NULL, 200,
       -32602},
  };
  check_cases(cases, ARRAY_LEN(cases));
}

TEST(era_legacy_over_http) {
  static const struct era_case cases[] = {
      {"tools/list", "", NULL, NULL, NULL, NULL, 400, -32600},        /* no session */
      {"tools/list", "", NULL, NULL, NULL, "unknown", 404, -32600},   /* not one of our sessions */
      {"tools/list", "", "2025-06-18", NULL, NULL, "x", 404, -32600}, /* */
      {"initialize", "", NULL, NULL, NULL, NULL, 400, -32602},        /* without a version */
      {"initialize", "\"protocolVersion\":\"2025-11-25\"", NULL, NULL, NULL, NULL, 200, 0},
      {"initialize", "\"protocolVersion\":\"2024-11-05\"", "2025-03-26", NULL, NULL, "gone", 200, 0},
  };
  check_cases(cases, ARRAY_LEN(cases));
}

TEST(era_unsupported_version_lists_supported_ones) {
  struct mcp_server *server = talking_server(true, false);
  yyjson_val *v = ask(server, NULL, legacy("tools/list", META("2030-01-01", CAPS)));
  CHECK_INT(jint(v, "error.code"), -32022);
  CHECK_STR(jstr(v, "error.data.requested"), "2030-01-01");
  CHECK_INT(jlen(v, "error.data.supported"), 1);
  CHECK_STR(jstr(v, "error.data.supported[0]"), NEW);
  v = ask(server, NULL, modern("server/discover", ""));
  CHECK_STR(jstr(v, "result.supportedVersions[0]"), NEW);
  CHECK_STR(jstr(v, "result.resultType"), "complete");
  CHECK_STR(jstr(v, "result.cacheScope"), "private");
  CHECK(jint(v, "result.ttlMs") >= 0);
  talking_stop(&server);
}

/* A client that requests an unknown version gets the newest revision with a handshake. */
TEST(era_initialize_negotiates) {
  static const struct {
    const char *wanted, *given;
  } cases[] = {{"2025-11-25", "2025-11-25"}, {"2025-06-18", "2025-06-18"}, {"2025-03-26", "2025-03-26"},
               {"2024-11-05", "2024-11-05"}, {"2026-07-28", "2025-11-25"}, {"1.0", "2025-11-25"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct mcp_server *server = talking_server(true, false);
    yyjson_val *v = ask(server, NULL, legacy("initialize", textf("\"protocolVersion\":\"%s\"", cases[i].wanted)));
    CHECK_STR(jstr(v, "result.protocolVersion"), cases[i].given);
    CHECK_STR(jstr(v, "result.serverInfo.name"), "cairn");
    CHECK_STR(jstr(v, "result.serverInfo.version"), CAIRN_VERSION);
    CHECK(!jget(v, "result.resultType"));
    talking_stop(&server);
  }
}

/* On stdio one process serves both eras, in any order. */
TEST(era_both_on_stdio) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(jget(ask(server, NULL, modern("server/discover", "")), "result.capabilities.tools"));
  CHECK_INT(jint(ask(server, NULL, legacy("server/discover", "")), "error.code"), -32602); /* it lacks _meta */
  CHECK(jget(ask(server, NULL, legacy("initialize", "\"protocolVersion\":\"2025-06-18\"")), "result"));
  CHECK_INT(jint(ask(server, NULL, legacy("server/discover", "")), "error.code"), -32601);
  CHECK_INT(jint(ask(server, NULL, legacy("subscriptions/listen", "")), "error.code"), -32601);
  CHECK(jget(ask(server, NULL, legacy("ping", "")), "result"));
  CHECK_INT(jint(ask(server, NULL, modern("ping", "")), "error.code"), -32601);
  CHECK(jget(ask(server, NULL, modern("tools/list", "")), "result.ttlMs"));
  CHECK(!jget(ask(server, NULL, legacy("tools/list", "")), "result.ttlMs"));
  talking_stop(&server);
}

TEST(era_notifications_are_never_answered) {
  static const char *const messages[] = {
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}",
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
      "{\"jsonrpc\":\"2.0\",\"method\":\"nobody/knows\",\"params\":[]}",
      "{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}",
      "{\"jsonrpc\":\"2.0\",\"id\":\"cairn-1\",\"result\":{}}",
  };
  struct mcp_server *server = talking_server(true, false);
  for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
    struct said said;
    test_note("%s", messages[i]);
    say(server, NULL, messages[i], &said);
    CHECK_INT(said.n, 0);
    CHECK_INT(said.reply.status, 202);
  }
  talking_stop(&server);
}
