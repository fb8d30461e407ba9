/* test_observe.c: calls, errors, latencies and health on the command line, and the live view. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "op/op.h"
#include "support/cli.h"
#include "support/serve.h"

static yyjson_val *tool_in(yyjson_val *list, const char *name) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(list, i, n, v) {
    if (str_is(json_str(v, "name"), name))
      return v;
  }
  return NULL;
}

/* ---- calls ---- */

TEST(every_call_is_recorded_with_its_outcome) {
  STORE("Parsley grows in pots");
  OK("search", "parsley");
  OK("search", "thyme", "--project", "garden", "--source", "hook", "--session", "s-1");
  REFUSED("not_found", "get", "77");
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call"), 4);
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE tool = 'search' AND op = 'search' AND error IS NULL"
                       " AND duration_us > 0 AND length(event_id) = 36"),
            2);
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE project = 'garden' AND source = 'hook'"
                       " AND session = 's-1'"),
            1);
  CHECK_STR(sql_string("SELECT error || ': ' || message FROM tool_call WHERE tool = 'get'"),
            "not_found: no memory '77'");
}

TEST(observation_commands_are_not_recorded) {
  STORE("Parsley grows in pots");
  OK("health");
  OK("metrics");
  OK("errors");
  OK("doctor");
  OK("top", "--once");
  CAIRN("events");
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call"), 1);
}

TEST(the_event_log_has_changes_reads_and_searches_and_no_calls) {
  STORE("Parsley grows in pots");
  OK("stats");
  OK("list");
  REFUSED("not_found", "get", "77");
  struct json_lines events = events_since(0);
  CHECK_INT(events.n, 2);
  CHECK_STR(jstr(events.v[0], "action"), "memory:write");
  CHECK_STR(jstr(events.v[1], "action"), "memory:read"); /* the list */
}

TEST(metrics_count_calls_and_errors_of_a_period) {
  STORE("Parsley grows in pots");
  OK("search", "parsley");
  cli_day(2);
  OK("search", "parsley");
  OK("search", "pots");
  REFUSED("not_found", "get", "77");
  yyjson_val *day = OK("metrics"), *week = OK("metrics", "--hours", "168");
  CHECK_INT(jint(day, "hours"), 24);
  CHECK_INT(jint(day, "calls"), 3);
  CHECK_INT(jint(day, "errors"), 1);
  CHECK_STR(jstr(day, "tools[0].name"), "search"); /* most calls first */
  yyjson_val *search = tool_in(jget(week, "tools"), "search"), *get = tool_in(jget(week, "tools"), "get");
  CHECK_INT(jint(search, "calls"), 3);
  CHECK_INT(jint(search, "errors"), 0);
  CHECK_INT(jint(get, "errors"), 1);
  CHECK(jnum(search, "p50_ms") > 0 && jnum(search, "p50_ms") <= jnum(search, "p95_ms"));
  CHECK(jnum(search, "p95_ms") <= jnum(search, "p99_ms") && jnum(search, "p99_ms") <= jnum(search, "max_ms"));
  CHECK(jnum(search, "avg_ms") <= jnum(search, "max_ms"));
  CHECK(!jget(day, "process")); /* a single call has no history */
  REFUSED("usage", "metrics", "--hours", "0");
  REFUSED("usage", "metrics", "--hours", "721");
}

/* Durations are known. */
TEST(metrics_have_the_quantiles_of_recorded_calls) {
  OK("stats");
  sql_do("DELETE FROM tool_call");
  sql_do(textf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
               " INSERT INTO tool_call (event_id, team, tool, op, project, source, at, duration_us) SELECT"
               " '0000' || (1000 + i) || '-0000-7000-8000-000000000000', 'default', 'x', 'x', '', 'x', %lld, i * 1000"
               " FROM n",
               1772366400000LL)); /* 2026-03-01T12:00:00Z, the fixed clock of these tests */
  yyjson_val *x = tool_in(jget(OK("metrics"), "tools"), "x");
  CHECK_INT(jint(x, "calls"), 1000);
  CHECK_NEAR(jnum(x, "avg_ms"), 500.5, 0.01);
  CHECK_NEAR(jnum(x, "p50_ms"), 500, 500 / 64.0);
  CHECK_NEAR(jnum(x, "p95_ms"), 950, 950 / 64.0);
  CHECK_NEAR(jnum(x, "p99_ms"), 990, 990 / 64.0);
  CHECK_NEAR(jnum(x, "max_ms"), 1000, 0.001);
}

TEST(errors_come_newest_first_and_without_secrets) {
  STORE("Parsley grows in pots");
  REFUSED("not_found", "get", "77");
  cli_day(1);
  /* Assembled at run time, so secret scanners do not flag this file. */
  const char *secret = textf("%s%s", "ghp_", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
  REFUSED("not_found", "get", secret);
  yyjson_val *r = OK("errors");
  CHECK_INT(jint(r, "count"), 2);
  CHECK_STR(jstr(r, "errors[0].error"), "not_found");
  CHECK_STR(jstr(r, "errors[0].at"), cli_time(1));
  CHECK_STR(jstr(r, "errors[1].message"), "no memory '77'");
  CHECK_STR(jstr(r, "errors[1].source"), "cli");
  CHECK(!store_holds("aB3dE5fG7"));
  CHECK_INT(jint(OK("errors", "--limit", "1"), "count"), 1);
  CHECK_INT(jint(OK("errors", "--process"), "count"), 0); /* this process has made no other call */
  REFUSED("usage", "errors", "--limit", "0");
}

TEST(teams_see_their_own_calls) {
  STORE("Parsley grows in pots");
  REFUSED("not_found", "get", "77");
  cli_set("CAIRN_TEAM=red");
  CHECK_INT(jint(OK("errors"), "count"), 0);
  CHECK_INT(jint(OK("metrics"), "calls"), 0);
  cli_set("CAIRN_TEAM");
  CHECK_INT(jint(OK("errors"), "count"), 1);
}

TEST(maintenance_drops_old_calls) {
  OK("stats");
  cli_day(29);
  OK("stats");
  OK("maintain");
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE op = 'stats'"), 2);
  cli_day(31);
  OK("maintain");
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE op = 'stats'"), 1);
}

TEST(text_for_people) {
  STORE("Parsley grows in pots");
  CHECK(has(CAIRN("errors").out, "no call has failed"));
  CAIRN("get", "77");
  CHECK(has(CAIRN("errors").out, "not_found"));
  CHECK(has(CAIRN("metrics").out, "remember"));
  CHECK(has(CAIRN("health").out, "all is well"));
}

/* ---- health ---- */

TEST(health_describes_server_and_store) {
  STORE("Parsley grows in pots");
  STORE("Quince jam needs an hour", "--defer-embedding");
  yyjson_val *r = OK("health");
  CHECK(jbool(r, "ok"));
  CHECK_INT(jlen(r, "problems"), 0);
  CHECK_INT(jint(r, "memories"), 2);
  CHECK_INT(jint(r, "pending_embeddings"), 1);
  CHECK(jint(r, "server.pid") > 0);
  CHECK_STR(jstr(r, "store.path"), store_shown(cli_db()));
  CHECK(jint(r, "store.bytes") > 0);
  CHECK(jint(r, "store.schema") > 0);
  CHECK(jbool(r, "store.writable"));
  CHECK_INT(jint(r, "last_seq"), 2);
}

TEST(health_does_not_wait_for_a_writer) {
  STORE("Parsley grows in pots");
  struct direct *holder = direct_open(cli_db());
  direct_lock(holder);
  struct run r = CAIRN("health", "--json");
  CHECK_INT(r.exit_code, 0); /* waiting for the lock would take a minute, and proc_run() times out first */
  direct_close(holder);
}

/* ---- calls of an agent ---- */

#define CALL(id, tool, args)                                                                                           \
  "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool "\",\"arguments\":" args \
  "}}\n"
#define HELLO                                                                                                          \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\","            \
  "\"capabilities\":{},\"clientInfo\":{\"name\":\"tester\",\"version\":\"1\"}}}\n"                                     \
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"

TEST(calls_of_an_agent_are_recorded_with_the_session_of_its_boot) {
  struct run r =
      CAIRN_FED(STR(HELLO CALL("2", "memory_search", "{\"query\":\"x\"}") CALL("3", "memory_boot", "{}")), "mcp");
  CHECK_INT(r.exit_code, 0);
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE tool IN ('memory_search', 'memory_boot')"), 2);
  CHECK_INT(sql_number("SELECT count(DISTINCT session) FROM tool_call WHERE tool LIKE 'memory%'"), 1);
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE session IS NULL"), 0);
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE source = 'tester' AND tool LIKE 'memory%'"), 2);
  CHECK(access(cli_side(".before-boot.jsonl"), F_OK) != 0);
  struct stat sb;
  const char *log = cli_side(".log/calls.jsonl");
  CHECK(stat(log, &sb) == 0 && (sb.st_mode & 0777) == 0600);
  struct json_lines lines = lines_of(file_read(log));
  CHECK(lines.n >= 2);
  for (size_t i = 0; i < lines.n; i++)
    CHECK(jbool(lines.v[i], "ok") && jint(lines.v[i], "duration_us") >= 0);
}

TEST(calls_of_an_agent_that_never_boots_are_recorded_too) {
  CAIRN_FED(STR(HELLO CALL("2", "memory_search", "{\"query\":\"x\"}")), "mcp");
  CHECK_INT(sql_number("SELECT count(*) FROM tool_call WHERE tool = 'memory_search' AND session IS NULL"), 1);
}

/* ---- one call, one count ---- */

#define CALLS "SELECT count(*) FROM tool_call"

/* Tools of other systems run many operations for one call. */
TEST(a_call_of_many_operations_is_one_call) {
  CAIRN_FED(STR(HELLO CALL("2", "boot_session_v2", "{\"source\":\"a\",\"task\":\"t\"}") CALL("3", "stats_v2", "{}")
                    CALL("4", "list_recent_v2", "{}")),
            "mcp", "--profile", "openbrain2");
  CHECK_INT(sql_number(CALLS " WHERE tool LIKE '%\\_v2' ESCAPE '\\'"), 3);
  CHECK_INT(sql_number(CALLS " WHERE tool NOT LIKE '%\\_v2' ESCAPE '\\' AND tool <> 'session end'"), 0);
  CHECK_INT(sql_number(CALLS " WHERE tool = 'stats_v2' AND error IS NULL"), 1);
  CHECK_INT(sql_number("SELECT count(DISTINCT session) FROM tool_call"), 1);
}

TEST(a_resource_that_is_read_is_one_call) {
  CAIRN_FED(STR(HELLO "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/list\"}\n"
                      "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/read\",\"params\":{\"uri\":"
                      "\"cairn://boot/\"}}\n"),
            "mcp");
  CHECK_INT(sql_number(CALLS " WHERE tool = 'resources/list'"), 1);
  CHECK_INT(sql_number(CALLS " WHERE tool = 'resources/read' AND error IS NULL"), 1);
  CHECK_INT(sql_number(CALLS " WHERE source = 'tester'"), 2);
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'memory:read' AND op = 'boot'"), 1);
}

TEST(a_refused_write_of_a_read_only_profile_is_counted) {
  CAIRN_FED(STR(HELLO CALL("2", "memory_boot", "{}") CALL("3", "memory_task", "{\"action\":\"add\",\"text\":\"x\"}")
                    CALL("4", "memory_store", "{\"text\":\"x\"}")),
            "mcp", "--profile", "readonly");
  CHECK_INT(sql_number(CALLS " WHERE error IS NOT NULL AND source = 'tester'"), 2);
  /* The end of the connection ends the session. */
  CHECK_INT(sql_number(CALLS " WHERE source = 'tester' AND tool <> 'session end'"), 3);
}

/* Value of a counter of /metrics; 0 if it is missing. */
static int64_t counter(struct serve *s, const char *name) {
  struct str page = serve_get(s, "/metrics").body, line;
  while (str_line(&page, &line))
    if (str_starts(line, str_from(name)))
      return strtoll(cstr(str_slice(line, strlen(name), line.n)), NULL, 10);
  return 0;
}

TEST(every_refused_request_is_counted) {
  struct serve *s = serve_start(NULL);
#define ERRORS(tool) counter(s, "cairn_call_errors_total{tool=\"" tool "\"} ")
#define JSON "Content-Type: application/json\r\n"
  /* Refused before an operation is known. */
  CHECK_INT(serve_get(s, "/nowhere").status, 404);
  CHECK_INT(serve_get(s, "/api/v1/nowhere").status, 404);
  CHECK_INT(serve_do(s, "DELETE", "/api/v1/search", "", STR("")).status, 405);
  CHECK_INT(serve_do(s, "POST", "/api/v1/memories", "Content-Type: text/plain\r\n", STR("x")).status, 415);
  CHECK_INT(serve_do(s, "GET", "/api/v1/stats", "Origin: http://evil.example\r\n", STR("")).status, 403);
  CHECK_INT(serve_do(s, "GET", "/api/v1/stats", "Authorization: Bearer wrong\r\n", STR("")).status, 401);
  CHECK_INT(ERRORS("http"), 6);
  /* Refused by the route or the operation, each once. */
  CHECK_INT(serve_get(s, "/api/v1/search?q=x&colour=red").status, 400);
  CHECK_INT(serve_do(s, "POST", "/api/v1/search", JSON, STR("{\"query\":7}")).status, 400);
  CHECK_INT(ERRORS("search"), 2);
  CHECK_INT(serve_get(s, "/api/v1/memories/77").status, 404);
  CHECK_INT(ERRORS("get"), 1);
  CHECK_INT(serve_do(s, "POST", "/api/v1/memories", JSON, STR("{\"text\":\"\"}")).status, 422);
  CHECK_INT(ERRORS("remember"), 1);
  /* One request of several operations. */
  CHECK_INT(serve_get(s, "/api/v1/memory/search?q=x&scope=memory&scope=items").status, 200);
  CHECK_INT(counter(s, "cairn_calls_total{tool=\"/memory/search\"} "), 1);
  CHECK_INT(counter(s, "cairn_calls_total{tool=\"search\"} "), 2);
  CHECK_INT(counter(s, "cairn_calls_total{tool=\"stats\"} "), 0);
  CHECK_INT(ERRORS("http"), 6);
  /* MCP: a message that is no request. */
  CHECK_INT(serve_do(s, "POST", "/mcp", JSON, STR("{\"jsonrpc\":")).status, 400);
  CHECK_INT(ERRORS("unknown method"), 1);
  serve_stop(s);
}

/* ---- the live view ---- */

/* Counts characters, assuming one column each. */
static size_t columns_of(struct str line) {
  size_t n = 0;
  for (size_t i = 0; i < line.n; i++)
    n += ((unsigned char)line.p[i] & 0xc0) != 0x80;
  return n;
}

TEST(top_without_a_terminal_prints_one_frame) {
  STORE("Parsley grows in pots", "--project", "garden");
  OK("search", "parsley");
  struct run r = CAIRN("top");
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, "TOOL") && has(r.out, "search") && has(r.out, "remember"));
  CHECK(has(r.out, "memory:write") && has(r.out, "garden"));
  CHECK(has(r.out, "1  Parsley grows in pots") && !has(r.out, "q quit"));
  CHECK(!has(r.out, "\x1b"));
  struct str rest = r.out, line;
  while (str_line(&rest, &line))
    CHECK(columns_of(line) <= 80);
  yyjson_val *v = OK("top");
  CHECK_INT(jint(v, "calls"), 2);
  CHECK_NEAR(jnum(v, "calls_per_s"), 0.2, 1e-9); /* 2 calls in ten seconds; the clock is fixed */
  CHECK_INT(jint(v, "memories"), 1);
  CHECK_STR(jstr(v, "events[0].action"), "memory:search");
  CHECK(!op_find(STR("session list")) || jget(v, "sessions"));
}

TEST(top_escapes_stored_text) {
  STORE("Parsley grows in pots");
  CAIRN("search", "x", "--source", "evil\x1b[31m\x07source");
  struct run r = CAIRN("top");
  CHECK(!has(r.out, "\x1b") && !has(r.out, "\x07"));
  CHECK(has(r.out, "evil"));
}

TEST(top_creates_no_store) {
  test_store_new("test.db");
  REFUSED("not_found", "top");
  CHECK(!store_is_there(cli_db()));
  STORE("Parsley grows in pots");
  REFUSED("usage", "top", "--minutes", "0");
}

/* The terminal has 80 columns and 24 lines. */
TEST(top_on_a_terminal_runs_until_q, .seconds = 30) {
  for (int i = 0; i < 40; i++)
    OK("search", textf("word%d", i));
  CAIRN("get", "7");
  const char *command = textf("stty rows 24 cols 80; exec %s top", CAIRN_BIN);
  struct run r =
      proc_run(.argv = ARGS("sh", "-c", "(sleep 2.5; printf q; sleep 1) | TERM=xterm script -qec \"$0\" /dev/null",
                            command),
               .env = cli_env(), .timeout_ms = 20000);
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, "\x1b[?1049h") && has(r.out, "\x1b[?1049l")); /* enters and leaves the alternate screen */
  CHECK(has(r.out, "\x1b[?25h"));                                /* the cursor is visible again */
  CHECK(has(r.out, "memory:search"));
  CHECK(has(r.out, "q quit"));      /* the keys */
  CHECK(has(r.out, "\x1b[31mget")); /* failed calls are red */
  /* More than one frame, each within the screen. */
  size_t pictures = 0, at = 0, next;
  while ((next = str_find(r.out, STR("\x1b[H"), at)) != SIZE_MAX) {
    size_t end = str_find(r.out, STR("\x1b[J"), next), lines = 0;
    CHECK(end != SIZE_MAX);
    for (size_t i = next; i < end; i++)
      lines += r.out.p[i] == '\n';
    CHECK(lines <= 23);
    pictures++;
    at = end;
  }
  CHECK(pictures >= 2);
}
