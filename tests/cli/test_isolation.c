/* test_isolation.c: one team against another through the doors: command line, MCP on stdio and over HTTP, REST, event
 * streams. Both are in one store; what is the other's must be as what is not there. The operations themselves are
 * attacked in tests/unit/op/test_isolation.c. */
#include "support/serve.h"

#define MARK "zorilla"
#define NS "io.modelcontextprotocol/"
#define META "\"_meta\":{\"" NS "protocolVersion\":\"2026-07-28\",\"" NS "clientCapabilities\":{}}"

static struct arena memory;

struct loot {
  int64_t id, txn, task;
  struct str uid, cursor, session;
};

/* The victim's things; the attacker has things of its own afterwards, and is who calls. */
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

static yyjson_val *parsed(struct str text) {
  struct error err;
  yyjson_val *v;
  CHECK_OK(json_read(&memory, text, &v, &err), &err);
  return v;
}

/* The text without the name that was asked for, and without numbers. */
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

TEST(the_command_line_knows_nothing_of_another_team) {
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

/* Two stores' worth of paths: a team or project can be no way out of its folder. */
TEST(no_name_leads_out_of_the_folder_of_its_team) {
  static const char *const teams[] = {"..", "../alpha", "a/b", ".", "/etc", "alpha/", "A", ""};
  for (size_t i = 0; i < ARRAY_LEN(teams); i++) {
    cli_set(textf("CAIRN_TEAM=%s", teams[i]));
    struct run r = CAIRN("transcript", "append", "talk", "--content", "x");
    test_note("team '%s': %.*s", teams[i], STR_ARG(r.err));
    CHECK(teams[i][0] ? r.exit_code == 2 : r.exit_code == 0); /* an empty variable is none */
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

/* The same question about what is another's and about what is nobody's. */
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

TEST_TIMEOUT(mcp_knows_nothing_of_another_team, 60) {
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

/* What one server has sealed, another does not open, be it of another team. */
TEST(a_cursor_of_mcp_is_of_one_team) {
  cli_set("CAIRN_TEAM=alpha");
  for (int i = 0; i < 60; i++)
    CAIRN("remember", textf("The " MARK " number %d is counted", i), "--key", textf("k%d", i));
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "mcp", "--db", cli_db()), .env = cli_env(), .timeout_ms = 20000);
  struct str cursor = json_str(yyjson_obj_get(parsed(ask(p, 1, "resources/list", "\"x\":1")), "result"), "nextCursor");
  proc_close(p);
  proc_wait(p);
  if (!cursor.p)
    cursor = STR("made-up");
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

TEST_TIMEOUT(http_knows_nothing_of_another_team, 60) {
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

/* From the first event on, and while the other team writes. */
TEST_TIMEOUT(an_event_stream_is_of_one_team, 60) {
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
  struct sse e;
  bool ended = false;
  while (!ended && sse_next(w, 10000, &e)) {
    test_note("%.*s", STR_ARG(e.data));
    CHECK(!has(e.data, MARK) && !has(e.data, "alpha"));
    ended = has(e.data, "end of the marten");
  }
  CHECK(ended);
  wire_close(w);
  serve_stop(s);
}
