/* test_isolation.c: isolation between two teams of one store, over the CLI, MCP on stdio and HTTP, REST and event
 * streams. Another team's data must look as if it did not exist. tests/unit/op/test_isolation.c attacks the operations
 * directly. */
#include "support/serve.h"

#define MARK "zorilla"
#define NS "io.modelcontextprotocol/"
#define META "\"_meta\":{\"" NS "protocolVersion\":\"2026-07-28\",\"" NS "clientCapabilities\":{}}"

static struct arena memory;

struct loot {
  int64_t id, txn, task;
  struct str uid, cursor, session;
};

/* Creates the victim's data and some of the attacker's. The attacker is the caller afterwards. */
static struct loot two_teams(void) {
  struct loot l = {0};
  cli_set("CAIRN_TEAM=alpha");
  yyjson_val *m = OK("remember", "--key", "pump", "--tag", MARK, "The " MARK " pump runs at four bar");
  l.id = jint(m, "id");
  l.txn = jint(m, "txn");
  l.uid = jstr(m, "uid");
  OK("remember", "--skill-name", "bleeding", "Bleed the " MARK " valve first");
  l.task = ADD_TASK("Order a " MARK " gasket");
  l.session = jstr(OK("boot", "--register"), "session");
  l.cursor = jstr(OK("list", "--limit", "1"), "next_cursor");
  OK("vault", "set", "last", MARK);
  OK("transcript", "append", "talk", "--content", "We spoke of the " MARK);
  cli_set("CAIRN_TEAM=beta");
  STORE("The marten pump runs at one bar");
  return l;
}

/* More skills than fit on one page of resources. */
static void many_skills(const char *team) {
  struct buf lines = BUF(&memory);
  cli_set(textf("CAIRN_TEAM=%s", team));
  for (int i = 0; i < 110; i++)
    buf_addf(&lines, "{\"text\":\"The " MARK " number %d is counted by hand\",\"skill_name\":\"count-%d\"}\n", i, i);
  CHECK_INT(cli_run(buf_str(&lines), ARGS("remember", "--batch", "-", "--json")).exit_code, 0);
}

static yyjson_val *parsed(struct str text) {
  struct error err;
  yyjson_val *v;
  CHECK_OK(json_read(&memory, text, &v, &err), &err);
  return v;
}

/* The text without the requested name and without digits. */
static const char *masked(struct str text, const char *name) {
  struct buf b = BUF(&memory);
  struct str n = str_from(name);
  for (size_t at = 0, next; at < text.n; at = next + n.n) {
    next = str_find(text, n, at);
    for (size_t i = at; i < text.n && i < next; i++)
      if (!ascii_digit(text.p[i]))
        buf_addc(&b, text.p[i]);
    if (next == SIZE_MAX)
      break;
    if (!ascii_digit(name[0]))
      buf_addc(&b, '#');
  }
  return buf_str(&b).p ? buf_str(&b).p : "";
}

/* ---- command line ---- */

TEST(the_cli_shows_nothing_of_another_team) {
  struct loot l = two_teams();
  static const char *const calls[][2] = {{"get", ""}, {"history", ""}, {"pin", ""}, {"undo", "txn"}};
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    const char *anothers = num(calls[i][1][0] ? l.txn : l.id), *nobodys = "999999";
    struct run got = CAIRN("--json", calls[i][0], anothers), want = CAIRN("--json", calls[i][0], nobodys);
    test_note("%s: %.*s", calls[i][0], STR_ARG(got.out));
    CHECK_INT(got.exit_code, want.exit_code);
    CHECK(got.exit_code != 0);
    CHECK_STR(str_from(masked(got.out, anothers)), masked(want.out, nobodys));
  }
  CHECK(!has(CAIRN("export").out, MARK));
  CHECK(!has(CAIRN("events", "--since", "0", "--limit", "0", "--json").out, MARK));
  CHECK(!has(CAIRN("list", "--cursor", cstr(l.cursor), "--json").out, MARK));
  CHECK(!has(CAIRN("--json", "transcript", "read", "talk").out, MARK));
  cli_set(textf("CAIRN_SESSION=%s", cstr(l.session)));
  CHECK(!has(CAIRN("--json", "session", "list", "--all-projects").out, "alpha"));
  cli_set("CAIRN_SESSION");
}

/* A team or project name cannot escape from the team's folder. */
TEST(no_name_escapes_from_the_folder_of_its_team) {
  static const char *const teams[] = {"..", "../alpha", "a/b", ".", "/etc", "alpha/", "A", ""};
  for (size_t i = 0; i < ARRAY_LEN(teams); i++) {
    cli_set(textf("CAIRN_TEAM=%s", teams[i]));
    struct run r = CAIRN("transcript", "append", "talk", "--content", "x");
    test_note("team '%s': %.*s", teams[i], STR_ARG(r.err));
    CHECK(teams[i][0] ? r.exit_code == 2 : r.exit_code == 0); /* an empty variable counts as unset */
  }
  cli_set("CAIRN_TEAM=alpha");
  OK("transcript", "append", "talk", "--content", "We spoke of the " MARK);
  cli_set("CAIRN_TEAM=beta");
  static const char *const projects[] = {"..", "../../alpha/admin", "../alpha/admin", "/", "..\\alpha", "admin"};
  for (size_t i = 0; i < ARRAY_LEN(projects); i++) {
    struct run r = CAIRN("--project", projects[i], "transcript", "read", "talk");
    test_note("project '%s': %.*s", projects[i], STR_ARG(r.out));
    CHECK(r.exit_code != 0 && !has(r.out, MARK));
  }
  static const char *const sessions[] = {"../../alpha/admin/sessions/talk", "..", "talk/../../../alpha", "/etc/passwd"};
  for (size_t i = 0; i < ARRAY_LEN(sessions); i++) {
    struct run r = CAIRN("transcript", "read", sessions[i]);
    test_note("session '%s': %.*s", sessions[i], STR_ARG(r.out));
    CHECK(r.exit_code != 0 && !has(r.out, MARK));
  }
}

/* ---- MCP on stdio ---- */

static struct str ask(struct proc *p, int id, const char *method, const char *params) {
  struct str line;
  CHECK(proc_send(p, str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s,%s}}\n", id,
                                    method, params, META))));
  CHECK(proc_line(p, 8000 * test_slowness(), &line));
  return arena_dup(&memory, line);
}

/* Asks for another team's item and for one that does not exist. Both replies must be the same. */
static void check_same_answer(struct proc *p, const char *method, const char *format, const char *mine,
                              const char *nobodys) {
  const char *at = strstr(format, "%s");
  const char *first = textf("%.*s%s%s", (int)(at - format), format, mine, at + 2);
  const char *second = textf("%.*s%s%s", (int)(at - format), format, nobodys, at + 2);
  struct str got = ask(p, 7, method, first), want = ask(p, 7, method, second);
  test_note("%s %s: %.*s", method, first, STR_ARG(got));
  CHECK(!has(got, MARK));
  CHECK_STR(str_from(masked(got, mine)), masked(want, nobodys));
}

TEST(mcp_shows_nothing_of_another_team, .seconds = 60) {
  struct loot l = two_teams();
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "mcp", "--db", cli_db(), "--profile", "full"), .env = cli_env(),
                              .timeout_ms = 20000);
  check_same_answer(p, "resources/read", "\"uri\":\"cairn://memory/%s\"", num(l.id), "999999");
  check_same_answer(p, "resources/read", "\"uri\":\"cairn://memory/%s\"", cstr(l.uid),
                    "01900000-0000-7000-8000-000000000000");
  check_same_answer(p, "resources/read", "\"uri\":\"cairn://memory/%s\"", "pump", "nosuch");
  check_same_answer(p, "resources/read", "\"uri\":\"cairn://skill/%s\"", "bleeding", "nosuch-skill");
  check_same_answer(p, "tools/call", "\"name\":\"memory_get\",\"arguments\":{\"id\":\"%s\"}", num(l.id), "999999");
  check_same_answer(p, "tools/call", "\"name\":\"memory_task_claim\",\"arguments\":{\"id\":\"%s\"}", num(l.task),
                    "999999");
  check_same_answer(p, "tools/call", "\"name\":\"memory_skill_load\",\"arguments\":{\"name\":\"%s\"}", "bleeding",
                    "nosuch-skill");
  check_same_answer(p, "tools/call", "\"name\":\"memory_vault_get\",\"arguments\":{\"key\":\"%s\"}", "last", "nosuch");
  static const char *const calls[][2] = {
      {"resources/list", "\"x\":1"},
      {"prompts/list", "\"x\":1"},
      {"tools/call", "\"name\":\"memory_list\",\"arguments\":{\"limit\":100,\"all_projects\":true}"},
      {"tools/call", "\"name\":\"memory_search\",\"arguments\":{\"query\":\"pump valve gasket\"}"},
      {"tools/call", "\"name\":\"memory_boot\",\"arguments\":{\"format\":\"full\"}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    struct str got = ask(p, 8, calls[i][0], calls[i][1]);
    test_note("%s %s: %.*s", calls[i][0], calls[i][1], STR_ARG(got));
    CHECK(!has(got, MARK));
  }
  proc_close(p);
  CHECK_INT(proc_wait(p).exit_code, 0);
}

/* A cursor sealed by one server is refused by another, also by one of another team. */
TEST(an_mcp_cursor_belongs_to_one_team) {
  many_skills("alpha");
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "mcp", "--db", cli_db()), .env = cli_env(), .timeout_ms = 20000);
  struct str cursor = json_str(yyjson_obj_get(parsed(ask(p, 1, "resources/list", "\"x\":1")), "result"), "nextCursor");
  proc_close(p);
  proc_wait(p);
  CHECK(cursor.n > 0);
  cli_set("CAIRN_TEAM=beta");
  STORE("The marten pump runs at one bar");
  p = proc_start(.argv = ARGS(CAIRN_BIN, "mcp", "--db", cli_db()), .env = cli_env(), .timeout_ms = 20000);
  struct str got = ask(p, 2, "resources/list", textf("\"cursor\":\"%s\"", cstr(cursor)));
  test_note("%.*s", STR_ARG(got));
  CHECK(has(got, "\"error\"") && !has(got, MARK));
  proc_close(p);
  proc_wait(p);
}

/* ---- HTTP ---- */

TEST(http_shows_nothing_of_another_team, .seconds = 60) {
  struct loot l = two_teams();
  struct serve *s = serve_start(NULL);
  static const char *const paths[] = {"/api/v1/memories/%s", "/api/v1/memories/%s/history"};
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    const char *at = strstr(paths[i], "%s");
    const char *names[][2] = {
        {num(l.id), "999999"}, {cstr(l.uid), "01900000-0000-7000-8000-000000000000"}, {"pump", "nosuch"}};
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
      struct answer a = serve_get(s, textf("%.*s%s%s", (int)(at - paths[i]), paths[i], names[k][0], at + 2));
      struct answer b = serve_get(s, textf("%.*s%s%s", (int)(at - paths[i]), paths[i], names[k][1], at + 2));
      test_note("%s %s: %d %.*s", paths[i], names[k][0], a.status, STR_ARG(a.body));
      CHECK_INT(a.status, 404);
      CHECK_INT(b.status, 404);
      CHECK_STR(str_from(masked(a.body, names[k][0])), masked(b.body, names[k][1]));
    }
  }
  const char *lists[] = {"/api/v1/memories?limit=100",
                         "/api/v1/search?query=pump+valve",
                         "/api/v1/events?since=0",
                         "/api/v1/tasks",
                         "/api/v1/skills",
                         "/api/v1/vault",
                         "/api/v1/stats",
                         "/metrics",
                         textf("/api/v1/memories?cursor=%s", cstr(l.cursor))};
  for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
    struct answer a = serve_do(s, "GET", lists[i], "Accept: application/json\r\n", STR_NONE);
    test_note("%s: %d %.*s", lists[i], a.status, STR_ARG(a.body));
    CHECK(!has(a.body, MARK));
  }
  serve_stop(s);
}

/* Reads up to the last event of the own team. No event is of the other team. */
static void hear_to_the_end(struct wire *w) {
  struct sse e;
  bool ended = false;
  while (!ended && sse_next(w, 10000, &e)) {
    test_note("%.*s", STR_ARG(e.data));
    CHECK(!has(e.data, MARK) && !has(e.data, "alpha"));
    ended = has(e.data, "end of the marten");
  }
  CHECK(ended);
}

/* ---- tokens of two teams at one server ---- */

/* Request headers with a team's admin token. Only the token identifies the team. */
static const char *head_of(const char *team, const char *name) {
  cli_set(textf("CAIRN_TEAM=%s", team));
  return textf("Authorization: Bearer %s\r\nContent-Type: application/json\r\n",
               cstr(jstr(OK("token", "add", name), "token")));
}

static struct str post(const struct serve *s, const char *head, const char *method, const char *params) {
  const char *name = strstr(params, "\"uri\":\"")    ? strstr(params, "\"uri\":\"") + 7
                     : strstr(params, "\"name\":\"") ? strstr(params, "\"name\":\"") + 8
                                                     : "";
  const char *named = name[0] ? textf("Mcp-Name: %.*s\r\n", (int)strcspn(name, "\""), name) : "";
  struct answer a = serve_do(
      s, "POST", "/mcp/full", textf("%sMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%s", head, method, named),
      str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{%s,%s}}", method, params, META)));
  return a.body;
}

TEST(a_token_shows_nothing_of_another_team, .seconds = 60) {
  struct loot l = two_teams();
  const char *alpha = head_of("alpha", "ours"), *beta = head_of("beta", "theirs");
  cli_set("CAIRN_TEAM");
  struct serve *s = serve_start(ARGS("--require-token"));
  const char *asked[][4] = {
      {"resources/read", "\"uri\":\"cairn://memory/", num(l.id), "999999"},
      {"resources/read", "\"uri\":\"cairn://memory/", cstr(l.uid), "01900000-0000-7000-8000-000000000000"},
      {"resources/read", "\"uri\":\"cairn://memory/", "pump", "nosuch"},
      {"resources/read", "\"uri\":\"cairn://skill/", "bleeding", "nosuch-skill"},
      {"tools/call", "\"name\":\"memory_get\",\"arguments\":{\"id\":\"", num(l.id), "999999"},
      {"tools/call", "\"name\":\"memory_task_claim\",\"arguments\":{\"id\":\"", num(l.task), "999999"},
      {"tools/call", "\"name\":\"memory_skill_load\",\"arguments\":{\"name\":\"", "bleeding", "nosuch-skill"},
      {"tools/call", "\"name\":\"memory_vault_get\",\"arguments\":{\"key\":\"", "last", "nosuch"},
  };
  for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
    const char *end = asked[i][0][0] == 'r' ? "\"" : "\"}";
    struct str got = post(s, beta, asked[i][0], textf("%s%s%s", asked[i][1], asked[i][2], end));
    struct str want = post(s, beta, asked[i][0], textf("%s%s%s", asked[i][1], asked[i][3], end));
    struct str own = post(s, alpha, asked[i][0], textf("%s%s%s", asked[i][1], asked[i][2], end));
    test_note("%s%s: %.*s, to its own team %.*s", asked[i][1], asked[i][2], STR_ARG(got), STR_ARG(own));
    CHECK(!has(got, MARK));
    CHECK(has(own, MARK)); /* its own team gets it */
    CHECK_STR(str_from(masked(got, asked[i][2])), masked(want, asked[i][3]));
  }
  serve_stop(s);
}

/* One server caches replies for both teams. Each gets its own, in any order of requests. */
TEST(caches_and_idempotency_keys_are_per_team, .seconds = 60) {
  two_teams();
  const char *heads[] = {head_of("alpha", "ours"), head_of("beta", "theirs")};
  cli_set("CAIRN_TEAM");
  struct serve *s = serve_start(ARGS("--require-token"));
  for (int turn = 0; turn < 4; turn++) {
    struct answer a = serve_do(s, "GET", "/api/v1/search?query=pump+runs", heads[turn % 2], STR_NONE);
    test_note("%d: %.*s", turn, STR_ARG(a.body));
    CHECK_INT(a.status, 200);
    CHECK(has(a.body, MARK) == (turn % 2 == 0) && has(a.body, "marten") == (turn % 2 == 1));
  }
  /* Idempotency keys are per team. */
  for (int turn = 0; turn < 2; turn++) {
    struct answer a = serve_do(
        s, "POST", "/api/v1/memories", textf("%sIdempotency-Key: once\r\n", heads[turn]),
        str_from(turn ? "{\"text\":\"The marten sleeps by day\"}" : "{\"text\":\"The " MARK " sleeps by night\"}"));
    test_note("%.*s", STR_ARG(a.body));
    CHECK_INT(a.status, 201);
    CHECK(has(a.body, MARK) == (turn == 0));
  }
  /* The caller cannot choose the team. */
  struct answer a = serve_do(s, "POST", "/api/v1/memories", heads[1],
                             STR("{\"text\":\"The marten has a den of its own\",\"team\":\"alpha\"}"));
  CHECK_INT(a.status, 400);
  a = serve_do(s, "GET", "/api/v1/memories?limit=100&all_projects=true", textf("%sX-Cairn-Team: alpha\r\n", heads[1]),
               STR_NONE);
  CHECK(a.status == 200 && !has(a.body, MARK));
  serve_stop(s);
  CHECK_INT(sql_number("SELECT count(*) FROM memory WHERE team = 'alpha' AND headline LIKE '%marten%'"), 0);
}

/* Session ids, cursors and event ids of one team do not work for another. */
TEST(sessions_cursors_and_event_ids_are_per_team, .seconds = 60) {
  two_teams();
  many_skills("alpha");
  const char *alpha = head_of("alpha", "ours"), *beta = head_of("beta", "theirs");
  cli_set("CAIRN_TEAM");
  struct serve *s = serve_start(ARGS("--require-token"));
  struct answer a =
      serve_do(s, "POST", "/mcp", alpha,
               STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                   "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"));
  const char *session =
      textf("Mcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n", cstr(answer_header(&a, "Mcp-Session-Id")));
  struct str ping = STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
  CHECK_INT(serve_do(s, "POST", "/mcp", textf("%s%s", beta, session), ping).status, 404);
  CHECK_INT(serve_do(s, "DELETE", "/mcp", textf("%s%s", beta, session), STR_NONE).status, 404);
  CHECK_INT(serve_do(s, "POST", "/mcp", textf("%s%s", alpha, session), ping).status, 200);
  struct str cursor =
      json_str(yyjson_obj_get(parsed(post(s, alpha, "resources/list", "\"x\":1")), "result"), "nextCursor");
  struct str stolen = post(s, beta, "resources/list", textf("\"cursor\":\"%s\"", cursor.p ? cstr(cursor) : "none"));
  test_note("%.*s", STR_ARG(stolen));
  CHECK(cursor.n > 0 && has(stolen, "\"error\"") && !has(stolen, MARK));
  /* The whole log, and events that arrive while listening. */
  struct wire *w = wire_open(s);
  wire_send(w, request_text("GET", "/events?since=0", textf("%sLast-Event-ID: 0\r\n", beta), STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  serve_do(s, "POST", "/api/v1/memories", alpha, STR("{\"text\":\"Another " MARK " is written\"}"));
  serve_do(s, "POST", "/api/v1/memories", beta, STR("{\"text\":\"The end of the marten\"}"));
  hear_to_the_end(w);
  wire_close(w);
  serve_stop(s);
}

/* From the first event on, and while the other team writes. */
TEST(an_event_stream_belongs_to_one_team, .seconds = 60) {
  two_teams();
  struct serve *s = serve_start(NULL);
  struct wire *w = wire_open(s);
  wire_send(w, request_text("GET", "/events?since=0", NULL, STR_NONE));
  struct answer a = wire_answer(w, false);
  CHECK_INT(a.status, 200);
  cli_set("CAIRN_TEAM=alpha");
  STORE("Another " MARK " is written");
  cli_set("CAIRN_TEAM=beta");
  STORE("The end of the marten");
  hear_to_the_end(w);
  wire_close(w);
  serve_stop(s);
}
