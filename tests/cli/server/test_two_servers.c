/* test_two_servers.c: a store behind a connection pooler, and on a server with a replica: reads and failover. */
#include "base/os/clock.h"
#include "support/cli.h"
#include "support/own_server.h"
#include "support/serve.h"

enum { WAIT_MS = 60000 };

static void use(const char *url) { cli_set(textf("CAIRN_DB=%s", url)); }

static bool in_time(int64_t since) { return clock_ticks_us() - since < (int64_t)WAIT_MS * 1000 * test_slowness(); }

/* Waits until the list has `want` memories. */
static void wait_for_count(int64_t want) {
  int64_t since = clock_ticks_us();
  while (jint(OK("list"), "count") != want)
    if (!in_time(since))
      FAIL("there are not %lld memories", (long long)want);
}

static struct wire *follow(const struct serve *s) {
  struct wire *w = wire_open(s);
  wire_send(w, request_text("GET", "/events?action=memory:write", NULL, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  return w;
}

static void next_is(struct wire *w, const char *text) {
  struct sse e;
  if (!sse_next(w, WAIT_MS, &e))
    FAIL("no event comes that tells of the %s", text);
  if (str_find(e.data, str_from(text), 0) == SIZE_MAX)
    FAIL("not of the %s: %.*s", text, STR_ARG(e.data));
}

static struct answer post(const struct serve *s, const char *text) {
  return serve_do(s, "POST", "/api/v1/memories", "Content-Type: application/json\r\n",
                  str_from(textf("{\"text\":\"%s\"}", text)));
}

/* ---- a pooler ---- */

/* One connection for two teams, several processes and a server. */
TEST(everything_works_through_a_transaction_pooler, .seconds = 90, .only = TEST_ON_POSTGRES) {
  own_server_start(false);
  own_server_database("pooled", true);
  use(own_server_at(own_server_pooler("transaction", 1), "pooled"));
  for (int64_t i = 0; i < 2; i++) {
    cli_set("CAIRN_TEAM=red");
    OK("remember", textf("The lighthouse has 9%d steps", (int)i));
    CHECK_INT(jint(OK("list"), "count"), i + 1);
    CHECK_INT(jlen(OK("search", "harbour"), "results"), 0);
    cli_set("CAIRN_TEAM=blue");
    OK("remember", textf("The harbour has %d cranes in the west", (int)i + 3));
    OK("remember", textf("The harbour has %d cranes in the east", (int)i + 6));
    CHECK_INT(jint(OK("list"), "count"), 2 * (i + 1));
    CHECK(jlen(OK("search", "harbour"), "results") > 0);
  }
  cli_set("CAIRN_TEAM");
  struct serve *s = serve_start(NULL);
  struct wire *w = follow(s);
  OK("remember", "The ferry leaves at seven");
  next_is(w, "ferry");
  CHECK_INT(post(s, "The pier was built from oak in 1893").status, 201);
  next_is(w, "oak");
  const char *backup = path_join(NULL, "backup.db");
  OK("backup", backup);
  OK("remember", "The tide is highest in the night of the full moon");
  next_is(w, "tide");
  CHECK_INT(jint(OK("list"), "count"), 3);
  OK("restore", backup, "--confirm");
  CHECK_INT(jint(OK("list"), "count"), 2);
  CHECK(jbool(OK("doctor"), "ok"));
  wire_close(w);
  serve_stop(s);
}

/* ---- a replica ---- */

TEST(a_standby_is_readable_and_can_be_promoted, .seconds = 90, .only = TEST_ON_POSTGRES) {
  own_server_start(true);
  const char *primary = own_server_database("store", true);
  use(primary);
  OK("remember", "The harbour has 3 cranes");
  const char *standby = own_server_at(own_server_standby(), "store");
  use(standby);
  wait_for_count(1);
  struct serve *s = serve_start(NULL);
  struct wire *w = follow(s);
  use(primary);
  OK("remember", "The lighthouse has 99 steps");
  next_is(w, "lighthouse");
  use(standby);
  CHECK_INT(jlen(OK("search", "lighthouse"), "results"), 1);
  CHECK(jbool(OK("doctor"), "ok"));
  OK("boot");
  struct run r = CAIRN("remember", "The ferry leaves at seven");
  CHECK_INT(r.exit_code, status_exit_code(STATUS_READONLY));
  CHECK(str_find(r.err, STR("allows only reads"), 0) != SIZE_MAX);
  CHECK(str_find(r.err, STR("the server that accepts writes"), 0) != SIZE_MAX);
  CHECK(post(s, "The ferry leaves at seven").status >= 400);
  CHECK_INT(serve_get(s, "/api/v1/memories").status, 200);
  own_server_crash();
  own_server_promote();
  CHECK_INT(post(s, "The ferry leaves at seven").status, 201); /* on its existing connections */
  next_is(w, "ferry");
  OK("remember", "The pier was built from oak in 1893");
  next_is(w, "oak");
  CHECK_INT(jint(OK("list"), "count"), 4);
  wire_close(w);
  serve_stop(s);
}

enum { WRITERS = 6 };

/* The address names both servers, and the writable one is found. Writes acknowledged before, during and after the
 * failover are there. */
TEST(acknowledged_writes_survive_a_failover, .seconds = 120, .only = TEST_ON_POSTGRES) {
  own_server_start(true);
  const char *primary = own_server_database("store", true), *host = strchr(primary, '@') + 1;
  int port = own_server_standby();
  own_server_sql(NULL, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  own_server_sql(NULL, "SELECT pg_reload_conf()");
  for (int64_t since = clock_ticks_us();
       strcmp(own_server_sql(NULL, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"), "1") != 0;)
    CHECK(in_time(since));
  use(textf("postgresql://app@%.*s,127.0.0.1:%d/store?target_session_attrs=read-write", (int)strcspn(host, "/"), host,
            port));
  OK("remember", "The lighthouse has 99 steps");
  struct serve *s = serve_start(NULL);
  CHECK_INT(post(s, "The harbour has 3 cranes").status, 201);
  struct proc *p[WRITERS];
  for (int i = 0; i < WRITERS; i++) /* at least one of them is busy */
    p[i] = proc_start(.argv = ARGS(CAIRN_BIN, "--json", "remember", textf("Writer %c was here", 'a' + i)),
                      .env = cli_env(), .timeout_ms = WAIT_MS);
  own_server_crash();
  own_server_promote();
  int done[WRITERS];
  for (int i = 0; i < WRITERS; i++)
    done[i] = proc_wait(p[i]).exit_code == 0;
  CHECK_INT(post(s, "The ferry leaves at seven").status, 201);
  OK("remember", "The pier was built from oak in 1893");
  struct str all = CAIRN("list", "--limit", "100").out;
  static const char *const told[] = {"lighthouse", "harbour", "ferry", "pier"};
  for (size_t i = 0; i < ARRAY_LEN(told); i++)
    if (str_find(all, str_from(told[i]), 0) == SIZE_MAX)
      FAIL("the %s is lost: %.*s", told[i], STR_ARG(all));
  for (int i = 0; i < WRITERS; i++) {
    struct str what = str_from(textf("Writer %c was here", 'a' + i));
    size_t at = str_find(all, what, 0);
    if (done[i] && at == SIZE_MAX)
      FAIL("%.*s was acknowledged and is lost", STR_ARG(what));
  }
  CHECK(jbool(OK("doctor"), "ok"));
  serve_stop(s);
}
