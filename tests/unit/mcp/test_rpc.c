/* test_rpc.c: parsing of messages, and errors for invalid ones. */
#include "mcp/protocol/rpc.h"

#include "mcp/mcp.h"
#include "support/cli.h"

static struct arena a;

static struct rpc_message read_text(struct str text) {
  struct rpc_message m;
  rpc_read(&a, text, &m);
  return m;
}

TEST(rpc_kinds) {
  static const struct {
    const char *text;
    enum rpc_kind kind;
    int code;
    bool has_id;
  } cases[] = {
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", RPC_REQUEST, 0, true},
      {"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"ping\",\"params\":{}}", RPC_REQUEST, 0, true},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", RPC_NOTIFICATION, 0, false},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[1]}", RPC_NOTIFICATION, 0, false},
      {"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}", RPC_RESPONSE, 0, true},
      {"{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1,\"message\":\"\"}}", RPC_RESPONSE, 0, true},
      {"", RPC_BAD, RPC_PARSE, false},
      {"{", RPC_BAD, RPC_PARSE, false},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"} x", RPC_BAD, RPC_PARSE, false},
      {"\"\\ud800\"", RPC_BAD, RPC_PARSE, false},
      {"7", RPC_BAD, RPC_INVALID, false},
      {"null", RPC_BAD, RPC_INVALID, false},
      {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", RPC_BAD, RPC_INVALID, false},
      {"{}", RPC_BAD, RPC_INVALID, false},
      {"{\"id\":1,\"method\":\"ping\"}", RPC_BAD, RPC_INVALID, true},
      {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", RPC_BAD, RPC_INVALID, true},
      {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", RPC_BAD, RPC_INVALID, false},
      {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", RPC_BAD, RPC_INVALID, false},
      {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", RPC_BAD, RPC_INVALID, false},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", RPC_BAD, RPC_INVALID, true},
      {"{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_BAD, RPC_INVALID, true},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[]}", RPC_BAD, RPC_PARAMS, true},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":7}}", RPC_BAD, RPC_PARAMS, true},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("%s", cases[i].text);
    struct rpc_message m = read_text(str_from(cases[i].text));
    CHECK_INT(m.kind, cases[i].kind);
    CHECK_INT(m.code, cases[i].code);
    CHECK_INT(m.id != NULL, cases[i].has_id);
    CHECK_INT(m.kind == RPC_BAD, m.why[0] != 0);
  }
}

TEST(rpc_bad_utf8_is_a_parse_error) {
  struct rpc_message m = read_text(STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"));
  CHECK_INT(m.kind, RPC_BAD);
  CHECK_INT(m.code, RPC_PARSE);
}

static struct str nested(int depth) {
  struct buf b = BUF(&a);
  buf_adds(&b, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{\"x\":");
  for (int i = 0; i < depth; i++)
    buf_addc(&b, '[');
  for (int i = 0; i < depth; i++)
    buf_addc(&b, ']');
  buf_adds(&b, "}}");
  return buf_str(&b);
}

TEST(rpc_depth_has_a_limit) {
  CHECK_INT(read_text(nested(JSON_MAX_DEPTH - 2)).kind, RPC_REQUEST);
  CHECK_INT(read_text(nested(JSON_MAX_DEPTH - 1)).kind, RPC_BAD);
  CHECK_INT(read_text(nested(100000)).code, RPC_PARSE);
}

TEST(rpc_size_has_a_limit) {
  size_t n = MCP_MESSAGE_MAX + 1;
  char *big = arena_alloc(&a, n);
  memset(big, ' ', n);
  CHECK_INT(read_text((struct str){big, n}).code, RPC_INVALID);
  struct str message = STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}");
  memcpy(big, message.p, message.n);
  CHECK_INT(read_text((struct str){big, n - 1}).kind, RPC_REQUEST);
}

/* Ids keep their type and digits. */
TEST(rpc_ids_are_echoed) {
  static const char *const ids[] = {
      "0", "1", "-7", "9223372036854775807", "18446744073709551615", "\"1\"", "\"a\\u0000b\"", "\"\"", "\"\xc3\xa4\""};
  for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
    const char *text = textf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", ids[i]);
    struct rpc_message m = read_text(str_from(text));
    CHECK_INT(m.kind, RPC_REQUEST);
    yyjson_mut_doc *doc = json_new(&a);
    CHECK_STR(rpc_result(&a, doc, m.id, yyjson_mut_obj(doc)),
              textf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", ids[i]));
  }
}

TEST(rpc_ids_of_two_types_differ) {
  struct rpc_message one = read_text(STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}"));
  struct rpc_message text = read_text(STR("{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"a\"}"));
  CHECK(rpc_same_id(one.id, one.id));
  CHECK(rpc_same_id(text.id, text.id));
  CHECK(!rpc_same_id(one.id, text.id));
}

TEST(rpc_error_without_id_has_none) {
  yyjson_mut_doc *doc = json_new(&a);
  CHECK_STR(rpc_error(&a, doc, NULL, RPC_PARSE, STR("no"), NULL),
            "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"no\"}}");
}
