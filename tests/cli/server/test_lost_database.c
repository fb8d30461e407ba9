/* test_lost_database.c: database server failures: unreachable, misconfigured, too old, restarting under `cairn serve`.
 * Each gives a one-line message, advice and an exit code. */
#include "base/os/clock.h"
#include "support/cli.h"
#include "support/own_server.h"
#include "support/serve.h"

/* The call fails with this code. Message and advice are one line each, contain these texts, and do not contain the
 * password. */
static void fails(const char *url, const char *code, const char *message, const char *fix, const char *const *args) {
  const char *argv[16] = {CAIRN_BIN, "--json", "--db", url};
  size_t n = 4;
  for (; *args; args++)
    argv[n++] = *args;
  struct run r = proc_run(.argv = argv, .env = cli_env(), .timeout_ms = 30000);
  test_note("%s", url);
  struct json_lines lines = lines_of(r.out);
  CHECK_INT(lines.n, 1);
  CHECK_STR(jstr(lines.v[0], "error.code"), code);
  struct str said = jstr(lines.v[0], "error.message"), advice = jstr(lines.v[0], "error.fix");
  if (str_find(said, str_from(message), 0) == SIZE_MAX || str_find(advice, str_from(fix), 0) == SIZE_MAX)
    FAIL("%.*s / %.*s", STR_ARG(said), STR_ARG(advice));
  CHECK(!memchr(said.p, '\n', said.n) && !memchr(advice.p, '\n', advice.n));
  CHECK(str_find(r.out, STR("sesame"), 0) == SIZE_MAX && str_find(r.err, STR("sesame"), 0) == SIZE_MAX);
  int want = 0;
  for (int s = 1; s < STATUS_COUNT; s++)
    if (strcmp(status_name((enum status)s), code) == 0)
      want = status_exit_code((enum status)s);
  CHECK_INT(r.exit_code, want);
}

/* Port 1 has no listener. */
TEST(an_unreachable_server) {
  fails("postgresql://app:sesame@127.0.0.1:1/x", "unavailable", "no server answers", "start the server", ARGS("list"));
  fails("postgresql://app:sesame@127.0.0.1:1/x", "unavailable", "no server answers", "start the server",
        ARGS("health"));
  fails("postgresql://app@localhost:1/x?password=sesame", "unavailable", "no server answers", "start the server",
        ARGS("remember", "The lighthouse has 99 steps"));
}

TEST(a_malformed_address) {
  fails("postgresql://app:sesame@127.0.0.1:1/x?nonsense=1", "usage", "address", "postgresql://", ARGS("list"));
  /* A '/' or '?' in a password that was not written as %2F or %3F: no part of the password is printed. */
  fails("postgresql://app:/sesame@127.0.0.1:1/x", "usage", "address", "%XX", ARGS("list"));
  fails("postgresql://app:ses/sesame@127.0.0.1:1/x", "usage", "address", "%XX", ARGS("list"));
  fails("postgresql://app:a?sesame@127.0.0.1:1/x", "usage", "address", "%XX", ARGS("list"));
}

TEST(serve_reports_an_unreachable_database) {
  struct run r =
      proc_run(.argv = ARGS(CAIRN_BIN, "serve", "--port", "0", "--db", "postgresql://a:sesame@127.0.0.1:1/x"),
               .env = cli_env(), .timeout_ms = 30000);
  CHECK_INT(r.exit_code, 12);
  CHECK(str_find(r.err, STR("no server answers"), 0) != SIZE_MAX);
  CHECK(str_find(r.err, STR("sesame"), 0) == SIZE_MAX);
}

TEST(mcp_answers_while_the_database_is_unreachable) {
  struct str in = STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                      "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n"
                      "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_search\","
                      "\"arguments\":{\"query\":\"anything\"}}}\n");
  struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "mcp", "--db", "postgresql://app:sesame@127.0.0.1:1/x"),
                          .env = cli_env(), .input = in, .timeout_ms = 30000);
  CHECK_INT(r.exit_code, 0);
  struct json_lines lines = lines_of(r.out);
  CHECK_INT(lines.n, 3);
  CHECK(str_find(r.out, STR("serverInfo"), 0) != SIZE_MAX);
  CHECK(str_find(r.out, STR("no server answers"), 0) != SIZE_MAX);
  CHECK(str_find(r.out, STR("sesame"), 0) == SIZE_MAX && str_find(r.err, STR("sesame"), 0) == SIZE_MAX);
}

/* ---- a private database server ---- */

TEST(errors_say_what_an_administrator_has_to_do, .seconds = 60, .only = TEST_ON_POSTGRES) {
  own_server_start(false);
  own_server_sql(NULL, "CREATE ROLE guarded LOGIN PASSWORD 'sesame'");
  own_server_sql(NULL, "CREATE ROLE guest LOGIN");
  own_server_sql(NULL, "COPY (SELECT unnest(ARRAY['host all guarded all scram-sha-256', 'host all all all trust',"
                       " 'local all all trust'])) TO '/tmp/.cairn_hba'");
  own_server_sql(NULL, "ALTER SYSTEM SET hba_file = '/tmp/.cairn_hba'");
  own_server_restart(false);
  own_server_database("bare", false);
  own_server_database("good", true);
  own_server_sql(NULL, "CREATE DATABASE foreign_one");
  own_server_sql("foreign_one", "CREATE EXTENSION vector; CREATE EXTENSION btree_gin");
  own_server_sql(NULL, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 OWNER app");
  own_server_database("still", true);
  own_server_sql(NULL, "ALTER DATABASE still SET default_transaction_read_only = on");

  fails(own_server_url("guarded", "wrong-sesame", "good"), "unavailable", "password", "check the password",
        ARGS("list"));
  fails(own_server_url("guarded", NULL, "good"), "unavailable", "password", "PGPASSWORD", ARGS("list"));
  fails(own_server_url("nobody_at_all", "sesame", "good"), "unavailable", "nobody_at_all", "role", ARGS("list"));
  fails(own_server_url("app", "sesame", "nowhere"), "not_found", "there is no database", "createdb", ARGS("list"));
  fails(own_server_url("app", "sesame", "bare"), "unavailable", "vector", "CREATE EXTENSION vector", ARGS("list"));
  fails(own_server_url("guest", "sesame", "foreign_one"), "readonly", "may not create", "CREATE SCHEMA", ARGS("list"));
  fails(own_server_url("app", "sesame", "latin"), "unavailable", "UTF8", "create", ARGS("list"));
  fails(own_server_url("app", "sesame", "still"), "readonly", "cannot be written", "", ARGS("list"));

  /* A read-only server that holds a store can be read. */
  cli_set(textf("CAIRN_DB=%s", own_server_url("app", "sesame", "good")));
  OK("remember", "The lighthouse has 99 steps");
  own_server_sql(NULL, "ALTER DATABASE good SET default_transaction_read_only = on");
  CHECK_INT(jint(OK("list"), "count"), 1);
  fails(own_server_url("app", "sesame", "good"), "readonly", "cannot be written", "--db",
        ARGS("remember", "The harbour has 3 cranes"));
}

/* PostgreSQL of Debian 12. */
TEST(a_server_that_is_too_old, .seconds = 90, .only = TEST_ON_POSTGRES) {
  own_server_start_older();
  fails(own_server_url("app", "sesame", "postgres"), "unavailable", "is PostgreSQL 15; Cairn needs 17 or newer",
        "upgrade the server", ARGS("list"));
  fails(own_server_url("app", "sesame", "postgres"), "unavailable", "is PostgreSQL 15; Cairn needs 17 or newer",
        "upgrade the server", ARGS("remember", "The lighthouse has 99 steps"));
}

static void next_is(struct wire *w, const char *text) {
  struct sse e;
  if (!sse_next(w, 30000, &e))
    FAIL("no event comes that tells of the %s", text);
  if (str_find(e.data, str_from(text), 0) == SIZE_MAX)
    FAIL("not of the %s: %.*s", text, STR_ARG(e.data));
}

/* Latency is measured by bench. Here, every event must arrive once and in order. */
TEST(listeners_survive_a_database_restart, .seconds = 90, .only = TEST_ON_POSTGRES) {
  own_server_start(true);
  const char *url = own_server_database("events", true);
  cli_set(textf("CAIRN_DB=%s", url));
  OK("remember", "The harbour has 3 cranes");
  struct serve *s = serve_start(NULL);
  struct wire *w = wire_open(s);
  wire_send(w, request_text("GET", "/events?action=memory:write", NULL, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  OK("remember", "The lighthouse has 99 steps");
  next_is(w, "lighthouse");
  for (int crash = 0; crash < 2; crash++) {
    own_server_restart(crash);
    OK("remember", crash ? "The pier was built from oak in 1893" : "The ferry leaves at seven");
    next_is(w, crash ? "oak" : "ferry");
    CHECK_INT(serve_get(s, "/readyz").status, 200);
  }
  own_server_stop();
  CHECK_INT(serve_get(s, "/healthz").status, 200);
  struct answer a = serve_get(s, "/readyz");
  CHECK_INT(a.status, 503);
  CHECK(str_find(a.body, STR("unavailable"), 0) != SIZE_MAX);
  a = serve_get(s, "/api/v1/memories");
  CHECK_INT(a.status, 503);
  own_server_resume();
  int64_t until = clock_ticks_us() + 20000000;
  while (serve_get(s, "/readyz").status != 200 && clock_ticks_us() < until)
    continue;
  CHECK_INT(serve_get(s, "/readyz").status, 200);
  CHECK_INT(serve_get(s, "/api/v1/memories").status, 200);
  OK("remember", "The tide is highest in the night of the full moon");
  next_is(w, "tide");
  wire_close(w);
  serve_stop(s);
}
