/* test_secrets.c: secrets are refused or redacted before text is embedded, logged or stored. Afterwards their bytes are
 * nowhere in the store's files. */
#include <signal.h>
#include <sys/stat.h>

#include "support/serve.h"

/* No real secrets, and nothing in this file looks like one: the samples are assembled at run time. */
static const char *random_text(const char *alphabet, int n, unsigned seed) {
  static struct arena a;
  struct buf b = BUF(&a);
  uint64_t x = seed + 1;
  for (int i = 0; i < n; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    buf_addc(&b, alphabet[(x >> 33) % strlen(alphabet)]);
  }
  return buf_str(&b).p;
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
#define HEX "0123456789abcdef"

static const char *github_token(unsigned seed) { return textf("gh%s_%s", "p", random_text(LETTERS, 36, seed)); }

static void begin(void) { STORE("The kettle in the office kitchen whistles"); }

/* The twelve patterns of the earlier systems. */
struct sample {
  const char *text, *secret;
};

static struct sample sample(int i) {
  const char *s;
  switch (i) {
  case 0:
    s = textf("sk-%s-api03-%sAA", "ant", random_text(LETTERS, 93, 1));
    return (struct sample){textf("The key is %s.", s), s};
  case 1:
    s = textf("sk%s%s", "-", random_text(LETTERS, 48, 2));
    return (struct sample){textf("OpenAI: %s", s), s};
  case 2:
    s = textf("AK%s%s", "IA", random_text(UPPER, 16, 3));
    return (struct sample){textf("Access with %s only", s), s};
  case 3:
    s = random_text(LETTERS "+/", 40, 4);
    return (struct sample){textf("aws_secret_access_%s = %s", "key", s), s};
  case 4:
    s = random_text(LETTERS, 40, 5);
    return (struct sample){textf("{\"type\": \"service_account\", \"private_key_id\": \"%s\", \"private_%s\": "
                                 "\"-----BEGIN PRIVATE %s-----\\n%s\\n-----END PRIVATE %s-----\\n\"}",
                                 random_text(HEX, 40, 6), "key", "KEY", s, "KEY"),
                           s};
  case 5:
    s = random_text(LETTERS, 64, 7);
    return (struct sample){textf("It is\n-----BEGIN RSA PRIVATE %s-----\n%s\n%s\n-----END RSA PRIVATE %s-----", "KEY",
                                 random_text(LETTERS, 64, 8), s, "KEY"),
                           s};
  case 6:
    s = github_token(9);
    return (struct sample){textf("export GH=%s", s), s};
  case 7:
    s = textf("xo%s-%s-%s-%s", "xb", random_text("0123456789", 12, 10), random_text("0123456789", 12, 11),
              random_text(LETTERS, 24, 12));
    return (struct sample){textf("Slack: %s", s), s};
  case 8:
    s = random_text(LETTERS, 40, 13);
    return (struct sample){textf("Authorization: %s %s", "Bearer", s), s};
  case 9:
    s = random_text(LETTERS, 14, 14);
    return (struct sample){textf("postgres://app:%s@db.internal:5432/shop", s), s};
  case 10:
    s = random_text(LETTERS, 20, 15);
    return (struct sample){textf("DB_PASS%s=%s", "WORD", s), s};
  default:
    s = random_text(HEX, 40, 16);
    return (struct sample){textf("the deploy token: %s", s), s};
  }
}

enum { SAMPLES = 12 };

TEST(every_known_pattern_is_refused_and_leaves_no_byte) {
  begin();
  for (int i = 0; i < SAMPLES; i++) {
    struct sample s = sample(i);
    test_note("sample %d", i);
    yyjson_val *e = REFUSED_AT("secrets", "secret", "remember", "--headline", "Credentials", s.text);
    CHECK(!has(jstr(e, "message"), s.secret));
    CHECK(!has(jstr(e, "fix"), s.secret));
    CHECK(!store_holds(s.secret));
  }
  CHECK_INT(jint(OK("list"), "total"), 1);
}

TEST(every_known_pattern_is_redacted_when_configured) {
  begin();
  OK("config", "secrets.mode", "redact");
  for (int i = 0; i < SAMPLES; i++) {
    struct sample s = sample(i);
    test_note("sample %d", i);
    yyjson_val *r =
        OK("remember", "--headline", textf("Credentials of %s", random_text("bcdfghklmnpr", 12, (unsigned)i)),
           textf("%s Used by %s.", s.text, words(random_text("bcdfghklmnpr", 9, 50 + (unsigned)i), 6)));
    CHECK(jint(r, "redacted") >= 1);
    CHECK(warning(r, "redacted"));
    CHECK(has(jstr(OK("get", num(jint(r, "id"))), "body"), "[REDACTED:"));
    CHECK(!store_holds(s.secret));
  }
}

TEST(the_secret_check_runs_first) {
  begin();
  REFUSED_AT("secrets", "secret", "remember", "--headline", words("h", 16), textf("Token %s", github_token(1)));
}

/* ---- every field ---- */

TEST(every_field_is_scanned) {
  begin();
  const char *t = github_token(2);
  static const char *const options[] = {"--headline", "--key",        "--tag",    "--person",
                                        "--reason",   "--skill-name", "--domain", "--idempotency-key"};
  for (size_t i = 0; i < ARRAY_LEN(options); i++) {
    test_note("%s", options[i]);
    REFUSED_AT("secrets", "secret", "remember", options[i], t, "A harmless text about kettles");
  }
  REFUSED_AT("secrets", "secret", "remember", "--kind", "incident", "--root-cause", t, "It broke at once");
  REFUSED_AT("secrets", "secret", "remember", "--kind", "incident", "--resolution", t, "It broke at once");
  REFUSED_AT("secrets", "secret", "task", "add", "--due", t, "Mend it");
  REFUSED_AT("secrets", "secret", "task", "add", "--milestone", t, "Mend it");
  REFUSED_AT("secrets", "secret", "task", "add", "--accept", t, "Mend it");
  REFUSED_AT("secrets", "secret", "task", "add", textf("Mend it with %s", t));
  REFUSED_AT("secrets", "secret", "remember", "--skill-name", "mend", "--skill-keyword", t, "How to mend it");
  CHECK(!store_holds(t));
}

TEST(every_text_argument_is_scanned) {
  begin();
  const char *t = github_token(3);
  REFUSED_AT("secrets", "secret", "supersede", "1", "--reason", t, "A new text");
  REFUSED_AT("secrets", "secret", "supersede", "1", "--reason", "rotated", textf("The token is %s", t));
  REFUSED_AT("secrets", "secret", "annotate", "1", textf("see %s", t));
  REFUSED_AT("secrets", "secret", "forget", "1", "--reason", textf("leaked %s", t));
  REFUSED_AT("secrets", "secret", "task", "claim", num(ADD_TASK("Rotate the anchor")), "--by", t);
  struct run r =
      CAIRN_FED(str_from(textf("{\"text\":\"The token is %s\"}\n", t)), "remember", "--batch", "-", "--json");
  CHECK(r.exit_code > 0 && !has(r.out, t));
  CHECK_STR(jstr(lines_of(r.out).v[0], "error.code"), "secret");
  yyjson_val *v =
      OK_FED(str_from(textf("The boat is painted green now.\n\nThe harbour token is %s, keep it.", t)), "capture", "-");
  CHECK_INT(jint(v, "refused"), 1);
  CHECK_INT(jint(v, "stored"), 1);
  CHECK(!store_holds(t));
  CHECK_STR(memory_state(1), "active");
}

TEST(redacted_in_every_field_and_operation) {
  begin();
  OK("config", "secrets.mode", "redact");
  const char *t = github_token(4);
  int64_t id = STORE("--headline", textf("Token %s", t), "--tag", t, "--person", t, "--kind", "incident",
                     "--root-cause", t, textf("It leaked: %s", t));
  OK("annotate", num(id), textf("seen %s", t));
  OK("supersede", num(id), "--reason", textf("rotated %s", t), textf("The leak of %s was closed", t));
  OK("forget", "1", "--reason", textf("because of %s", t));
  ADD_TASK("--due", t, textf("Rotate %s", t));
  CHECK(!store_holds(t));
  CHECK(store_holds("[REDACTED:"));
  CHECK_HEALTHY();
}

TEST(a_query_is_logged_without_its_secrets) {
  begin();
  const char *t = github_token(5);
  OK("search", textf("where is %s used", t));
  CHECK_STR(jstr(OK("search", "kettle"), "results[0].headline"), "The kettle in the office kitchen whistles");
  CHECK(!store_holds(t));
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'memory:search'"), 2);
}

TEST(ordinary_text_is_not_a_secret) {
  static const char *const fine[] = {
      "The password policy asks for twelve characters",
      "The token bucket refills every second",
      "Commit 3f2c9a1d7e5b4c6f8a9b0c1d2e3f4a5b6c7d8e9f broke the build",
      "See https://example.com/docs/keys?page=2#secrets",
      "Set DB_PASSWORD in the vault, never in the file",
  };
  for (size_t i = 0; i < ARRAY_LEN(fine); i++)
    STORE(fine[i]);
}

/* ---- vault values ---- */

/* Matches no secret pattern; it is a secret only because it is in the vault. */
#define VALUE "the tide turns/at nine+ten"

static void make_secret(void) { OK_FED(STR(VALUE), "vault", "set", "harbour:word", "-", "--secret"); }

/* Encodings made with Python's base64, binascii, urllib.parse and json. */
static const char *const forms[] = {
    VALUE,
    "dGhlIHRpZGUgdHVybnMvYXQgbmluZSt0ZW4=",
    "eDp0aGUgdGlkZSB0dXJucy9hdCBuaW5lK3Rlbg==",
    "7468652074696465207475726e732f6174206e696e652b74656e",
    "7468652074696465207475726E732F6174206E696E652B74656E",
    "?q=the%20tide%20turns%2Fat%20nine%2Bten",
    "?q=the+tide+turns%2Fat+nine%2Bten",
    "{\"q\": \"the tide turns\\/at nine+ten\"}",
    "dGhlIHRpZGUgdHVy\n  bnMvYXQgbmluZSt0ZW4=",
    "the ti\xE2\x80\x8B"
    "de turns/at nine+ten", /* as shown, without the invisible characters */
    "the tide tu\xC2\xADrns/at ni\xEF\xBB\xBFne+ten",
    "the tide\x1B[1m turns\x1B[0m/at nine+\xE2\x80\xAEten",
    "dGhlIHRpZGUg\xE2\x81\xA0"
    "dHVybnMvYXQgbmluZSt0ZW4=",
};

TEST(a_vault_value_is_refused_in_every_encoding) {
  begin();
  make_secret();
  for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
    test_note("%s", forms[i]);
    yyjson_val *e = REFUSED_AT("secrets", "secret", "remember", textf("The word is %s, they say", forms[i]));
    CHECK(has(jstr(e, "message"), "vault_secret, line 1") && !has(jstr(e, "message"), "the tide"));
  }
  REFUSED_AT("secrets", "secret", "vault", "set", "harbour:copy", VALUE);
  CHECK(!store_holds(VALUE));
}

TEST(text_stored_before_the_secret_is_redacted) {
  begin();
  OK("session", "handoff", "The word at the harbour is " VALUE ".");
  int64_t id = STORE("--headline", "At the harbour", "--type", "decision", "The word at the harbour is " VALUE ".");
  make_secret();
  static const char *const calls[][4] = {{"search", "harbour"}, {"page"}, {"session", "handoff"}, {"boot"}};
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    struct run r = cli_run(STR_NONE, calls[i]);
    test_note("%s", calls[i][0]);
    CHECK(r.exit_code == 0 && has(r.out, "[REDACTED:vault_secret]") && !has(r.out, VALUE));
  }
  CHECK_STR(jstr(OK("get", num(id)), "body"), "The word at the harbour is [REDACTED:vault_secret].");
  struct run r = CAIRN("export");
  CHECK(has(r.out, "[REDACTED:vault_secret]") && !has(r.out, VALUE));
  r = CAIRN("events", "--json");
  CHECK(!has(r.out, VALUE));
  r = CAIRN("get", VALUE);
  CHECK(r.exit_code != 0 && !has(r.err, VALUE) && has(r.err, "[REDACTED:vault_secret]"));
  /* Permitted callers who ask for the value itself get it. */
  CHECK_STR(jstr(OK("vault", "get", "harbour:word", "--reveal"), "value"), VALUE);
}

TEST(vault_values_are_redacted_or_refused_in_files) {
  begin();
  make_secret();
  CHECK(mkdir(path_join(NULL, "docs"), 0700) == 0);
  file_write(path_join(NULL, "docs/notes.md"), STR("# Harbour\n\nDECISION: the word is " VALUE " until May.\n"));
  OK("source", "add", "docs");
  OK("extract", "docs");
  yyjson_val *r = OK("transcript", "append", "demo", "--line", "{\"role\": \"user\", \"content\": \"say " VALUE "\"}",
                     "--line", "{\"role\": \"tool_call\", \"name\": \"say\", \"input\": {\"deep\": [\"" VALUE "\"]}}");
  CHECK_INT(jint(r, "redacted"), 2);
  CHECK(!has(file_read(cstr(jstr(r, "path"))), VALUE));
  OK("transcript", "compact", "demo", "--keep", "1", "--force", "--summary", "They said " VALUE);
  CHECK(!has(file_read(cstr(jstr(r, "path"))), VALUE));
  struct run batch = CAIRN_FED(STR("{\"text\": \"The word is " VALUE "\"}\n"), "remember", "--batch", "-", "--json");
  CHECK(batch.exit_code != 0 && has(batch.out, "vault_secret") && !has(batch.out, VALUE));
  r = OK_FED(STR("The boat is painted green now.\n\nThe word is " VALUE ", keep it."), "capture", "-");
  CHECK_INT(jint(r, "refused"), 1);
  file_write(
      path_join(NULL, "graph.jsonl"),
      STR("{\"type\":\"entity\",\"name\":\"Harbour\",\"entityType\":\"place\",\"observations\":[\"" VALUE "\"]}\n"));
  CHECK(CAIRN("import", "graph.jsonl").exit_code != 0);
  CHECK(!store_holds(VALUE));
}

/* ---- output that bypasses operations ---- */

/* Reads events up to the first with that action and returns it. None contains the value. */
static struct str clean_until(struct wire *w, const char *action) {
  struct sse e;
  do {
    CHECK(sse_next(w, 20000 * test_slowness(), &e));
    test_note("%.*s", STR_ARG(e.data));
    CHECK(!has(e.data, VALUE));
  } while (!has(e.data, textf("\"action\":\"%s\"", action)));
  return e.data;
}

/* An event written behind the program's back, and a regular one, without which a server would not send it. */
static void add_event(void) {
  sql_do("INSERT INTO event (team, at, action, op, project, source, detail) VALUES ('default', 1, 'memory:noted', "
         "'remember', '', 'test', '{\"said\":\"" VALUE "\"}')");
  OK("forget", "1", "--reason", "it is a secret now");
}

static struct wire *listening(const struct serve *s, const char *path) {
  struct wire *w = wire_open(s);
  wire_send(w, request_text("GET", path, NULL, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  return w;
}

TEST(events_from_before_the_secret_are_streamed_without_it, .seconds = 60) {
  STORE("--headline", "The word is " VALUE, "At the harbour they ask for the word of the day.");
  struct serve *s = serve_start(NULL);
  struct wire *early = listening(s, "/events?since=0");
  struct sse e;
  CHECK(sse_next(early, 20000 * test_slowness(), &e));
  while (!has(e.data, "memory:write"))
    CHECK(sse_next(early, 20000 * test_slowness(), &e));
  CHECK(has(e.data, VALUE)); /* not a secret yet */
  make_secret();
  add_event();
  CHECK(has(clean_until(early, "memory:noted"), "[REDACTED:vault_secret]"));
  struct wire *late = listening(s, "/events?since=0");
  CHECK(has(clean_until(late, "memory:write"), "[REDACTED:vault_secret]"));
  CHECK(has(clean_until(late, "memory:noted"), "[REDACTED:vault_secret]"));
  wire_close(early);
  wire_close(late);
  serve_stop(s);
}

TEST(followed_events_are_redacted, .seconds = 60) {
  STORE("--headline", "The word is " VALUE, "At the harbour they ask for the word of the day.");
  struct proc *p =
      proc_start(.argv = ARGS(CAIRN_BIN, "events", "--follow", "--json"), .env = cli_env(), .timeout_ms = 50000);
  struct str line;
  do
    CHECK(proc_line(p, 20000, &line));
  while (!has(line, "memory:write"));
  CHECK(has(line, VALUE));
  make_secret();
  add_event();
  do {
    CHECK(proc_line(p, 20000, &line));
    CHECK(!has(line, VALUE));
  } while (!has(line, "memory:noted"));
  CHECK(has(line, "[REDACTED:vault_secret]"));
  proc_kill(p, SIGTERM);
  proc_wait(p);
}

#define JSON_HEADERS "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"

/* The interface quotes a client's argument names before any operation runs. */
TEST(errors_of_an_interface_are_redacted, .seconds = 60) {
  begin();
  make_secret();
  struct serve *s = serve_start(NULL);
  struct answer a = serve_do(s, "POST", "/api/v1/memories", JSON_HEADERS, STR("{\"text\":\"x\",\"" VALUE "\":1}"));
  CHECK_INT(a.status, 400);
  CHECK(has(a.body, "[REDACTED:vault_secret]") && !has(a.body, VALUE));
  a = serve_do(s, "POST", "/mcp",
               JSON_HEADERS "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: memory_search\r\n",
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_search\","
                   "\"arguments\":{\"query\":\"x\",\"" VALUE "\":1},\"_meta\":{"
                   "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                   "\"io.modelcontextprotocol/clientCapabilities\":{},"
                   "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}}"));
  test_note("%.*s", STR_ARG(a.body));
  CHECK_INT(a.status, 200);
  CHECK(has(a.body, "[REDACTED:vault_secret]") && !has(a.body, VALUE));
  serve_stop(s);
  const char *token = github_token(21);
  struct run r = CAIRN("search", "x", "--limit", token);
  CHECK(r.exit_code != 0 && !has(r.err, token + 4) && has(r.err, "[REDACTED:github_token]"));
}

static const char *tool_call(int id, const char *tool, const char *project, const char *more) {
  return textf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
               "\"arguments\":{\"project\":\"%s\"%s}}}\n",
               id, tool, project, more);
}

static const char *hello(const char *client) {
  return textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
               "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
               "\"clientInfo\":{\"name\":\"%s\",\"version\":\"1\"}}}\n"
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
               client);
}

/* A client chooses its own name and the project; its calls are recorded with both, refused ones too. */
TEST(names_in_recorded_calls_are_redacted, .seconds = 60) {
  static const char *const tools[] = {"memory_list", "memory_model_show"}; /* the second opens no store */
  begin();
  make_secret();
  const char *token = github_token(22), *talk = hello(token);
  int calls = 0;
  for (size_t i = 0; i < ARRAY_LEN(tools); i++)
    for (int k = 0; k < 4; k++, calls++)
      talk = textf("%s%s", talk, tool_call(2 + calls, tools[i], k < 2 ? token : VALUE, k % 2 ? ",\"odd\":1" : ""));
  CHECK_INT(CAIRN_FED(str_from(talk), "mcp", "--profile", "full").exit_code, 0);
  for (size_t i = 0; i < ARRAY_LEN(tools); i++)
    CHECK_INT(
        sql_number(textf("SELECT count(*) FROM tool_call WHERE tool = '%s' AND project LIKE '%%REDACTED%%'", tools[i])),
        4);
  struct str log = file_read(cli_side(".log/calls.jsonl"));
  CHECK(!store_holds(token + 4) && !has(log, token + 4));
  CHECK(!store_holds(VALUE) && !has(log, VALUE) && has(log, "[REDACTED:vault_secret]"));
}

/* The source of a call is the name of the client in lower case, which no longer looks like the secret. */
TEST(a_secret_as_the_name_of_a_client_is_not_its_source, .seconds = 60) {
#define NAME "Pelican-Ofen-4711-Zwirn"
#define AS_SOURCE "pelican-ofen-4711-zwirn"
  begin();
  OK_FED(STR(NAME), "vault", "set", "stove", "-", "--secret");
  const char *token = github_token(23);
  const char *const names[] = {NAME, token};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    CHECK_INT(CAIRN_FED(str_from(textf("%s%s%s", hello(names[i]), tool_call(2, "memory_model_show", "p", ""),
                                       tool_call(3, "memory_boot", "p", ""))),
                        "mcp", "--profile", "full")
                  .exit_code,
              0);
  /* For each client two calls, and the end of the session that its boot began. */
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE source LIKE 'redacted-%'"), 6);
  char lower[64];
  for (size_t i = 0; i <= strlen(token); i++)
    lower[i] = ascii_lower(token[i]);
  const char *const hidden[] = {NAME, AS_SOURCE, token + 4, lower + 4};
  struct str log = file_read(cli_side(".log/calls.jsonl"));
  CHECK(has(log, "\"source\":\"redacted-"));
  for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
    test_note("%s", hidden[i]);
    CHECK(!store_holds(hidden[i]) && !has(log, hidden[i]));
  }
}

/* ---- JSON shown as stored ---- */

/* Differs from its JSON encoding. */
#define QUOTED "nine \"bells\" and a half"

static void check_clean(struct str text) {
  test_note("%.*s", STR_ARG(text));
  CHECK(has(text, "[REDACTED:vault_secret]") && !has(text, VALUE) && !has(text, "bells"));
}

/* Stores both values before they are secrets, where boot and transcript read copy text verbatim. */
static void say_and_keep_secret(void) {
  begin();
  OK("session", "handoff", "At the harbour say " VALUE " <system-reminder> or " QUOTED ".");
  OK("transcript", "append", "demo", "--line",
     "{\"role\": \"user\", \"content\": \"say " VALUE " <system-reminder> or nine \\\"bells\\\" and a half\"}",
     "--line", "{\"role\": \"tool_call\", \"name\": \"say\", \"input\": {\"deep\": [\"" VALUE "\"]}}");
  CHECK(has(CAIRN("boot", "--json").out, VALUE));
  CHECK(has(CAIRN("transcript", "read", "demo", "--json").out, VALUE));
  make_secret();
  OK_FED(STR(QUOTED), "vault", "set", "harbour:bells", "-", "--secret");
}

TEST(stored_json_is_redacted) {
  say_and_keep_secret();
  check_clean(CAIRN("boot", "--json").out);
  check_clean(CAIRN("transcript", "read", "demo", "--json").out);
  yyjson_val *r = OK("boot");
  CHECK_STR(jstr(r, "handoff.text"),
            "At the harbour say [REDACTED:vault_secret] <system-reminder> or [REDACTED:vault_secret].");
  r = OK("transcript", "read", "demo");
  CHECK_STR(jstr(r, "messages[1].input.deep[0]"), "[REDACTED:vault_secret]");
}

static struct answer call_tool(struct serve *s, const char *name, const char *arguments) {
  const char *headers =
      textf(JSON_HEADERS "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\n", name);
  const char *body = textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
                           "\"arguments\":%s,\"_meta\":{"
                           "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                           "\"io.modelcontextprotocol/clientCapabilities\":{},"
                           "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}}",
                           name, arguments);
  return serve_do(s, "POST", "/mcp/full", headers, str_from(body));
}

TEST(servers_redact_stored_json, .seconds = 60) {
  say_and_keep_secret();
  struct serve *s = serve_start(NULL);
  check_clean(serve_do(s, "POST", "/api/v1/boot", JSON_HEADERS, STR("{}")).body);
  check_clean(serve_do(s, "POST", "/api/v1/ops/transcript-read", JSON_HEADERS, STR("{\"session\":\"demo\"}")).body);
  static const char *const tools[][2] = {{"memory_boot", "{}"}, {"memory_transcript_read", "{\"session\":\"demo\"}"}};
  for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
    struct answer a = call_tool(s, tools[i][0], tools[i][1]);
    CHECK_INT(a.status, 200);
    check_clean(a.body);
    CHECK(!has(a.body, "<system-reminder>")); /* stored text is data to an agent, not a prompt */
  }
  serve_stop(s);
}
