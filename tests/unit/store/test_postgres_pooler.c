/* test_postgres_pooler.c: a pooler between driver and server, which reassigns a connection after each transaction: no
 * state of one team may remain on it for another. */
#include <libpq-fe.h>

#include "base/alloc.h"
#include "store/postgres/internal.h"
#include "support/cli.h"
#include "support/own_server.h"
#include "unit/store/pg_fixture.h"

enum { SECONDS = 60 };

static const char rows_sql[] = "/* all teams: what the server itself lets through */ SELECT count(*) FROM note";

/* Two teams with different numbers of rows, under the policy of a store's tables. */
static const char table_sql[] =
    "CREATE SCHEMA cairn AUTHORIZATION app; SET ROLE app; SET search_path = cairn;"
    "CREATE TABLE note (team text NOT NULL, n bigint);"
    "INSERT INTO note VALUES ('red', 1), ('blue', 1), ('blue', 2), ('green', 1), ('green', 2), ('green', 3);"
    "ALTER TABLE note ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
    "CREATE POLICY team ON note USING (team = current_setting('cairn.team', true)"
    " OR current_setting('cairn.team', true) = '*')";

/* Port of a pooler with a single connection. */
static int one_connection(const char *mode, int size) {
  own_server_start(true); /* one of the tests crashes it */
  own_server_database("pooled", true);
  own_server_sql("pooled", table_sql);
  return own_server_pooler(mode, size);
}

static struct db *of_team(int port, const char *team) {
  struct db *db = pg_connect(own_server_at(port, "pooled"));
  struct error err;
  CHECK_OK(db_team(db, str_from(team), &err), &err);
  return db;
}

static int64_t seen_in_snapshot(struct db *db) {
  struct error err;
  bool alone;
  CHECK_OK(db_snapshot(db, &alone, &err), &err);
  int64_t n = pg_count(db, rows_sql), again = pg_count(db, rows_sql);
  CHECK_OK(db_snapshot_end(db, alone, STATUS_OK, &err), &err);
  CHECK_INT(again, n);
  return n;
}

static int64_t seen_in_transaction(struct db *db, const char *team) {
  struct error err;
  CHECK_OK(db_begin(db, str_from(team), false, &err), &err);
  int64_t n = pg_count(db, rows_sql);
  CHECK_OK(db_commit(db, &err), &err);
  return n;
}

TEST(teams_that_share_a_pooled_connection_do_not_see_each_other, .seconds = SECONDS, .only = TEST_ON_POSTGRES) {
  int port = one_connection("transaction", 1);
  struct db *red = of_team(port, "red"), *blue = of_team(port, "blue"), *all = of_team(port, "*");
  for (int round = 0; round < 3; round++) {
    CHECK_INT(pg_count(all, rows_sql), 6);
    CHECK_INT(pg_count(red, rows_sql), 1);
    CHECK_INT(pg_count(blue, rows_sql), 2);
    CHECK_INT(seen_in_snapshot(all), 6);
    CHECK_INT(seen_in_snapshot(red), 1);
    CHECK_INT(seen_in_snapshot(blue), 2);
    CHECK_INT(seen_in_transaction(all, "green"), 3);
    CHECK_INT(seen_in_transaction(red, "red"), 1);
    CHECK_INT(pg_count(blue, rows_sql), 2);
  }
  db_close(&red);
  db_close(&blue);
  db_close(&all);
}

/* Session state that a client other than Cairn finds on the connection. */
static struct str found(PGconn *conn, const char *setting) {
  struct str text = {0};
  PGresult *r = PQexec(conn, textf("SELECT coalesce(current_setting('%s', true), '')", setting));
  CHECK_INT(PQresultStatus(r), PGRES_TUPLES_OK);
  text = str_from(textf("%s", PQgetvalue(r, 0, 0)));
  PQclear(r);
  return text;
}

TEST(nothing_stays_on_a_pooled_connection, .seconds = SECONDS, .only = TEST_ON_POSTGRES) {
  static const char *const settings[] = {"cairn.team",     "search_path", "statement_timeout",
                                         "lock_timeout",   "jit",         "default_transaction_read_only",
                                         "plan_cache_mode"};
  struct str before[ARRAY_LEN(settings)];
  int port = one_connection("transaction", 1);
  struct error err;
  PGconn *other = PQconnectdb(own_server_at(port, "pooled"));
  for (size_t i = 0; i < ARRAY_LEN(settings); i++)
    before[i] = found(other, settings[i]);
  struct db *red = of_team(port, "red");
  struct db_options reading = {.path = own_server_at(port, "pooled"), .busy_ms = 5000, .read_only = true};
  struct db *reader;
  CHECK_OK(db_open(&reading, &reader, &err), &err);
  CHECK_INT(pg_count(reader, rows_sql), 6);
  CHECK_INT(pg_count(red, rows_sql), 1);
  CHECK_INT(seen_in_snapshot(red), 1);
  CHECK_OK(db_exec(red, &err, "INSERT INTO note VALUES ('red', ?1)", "i", INT64_C(2)), &err);
  CHECK_OK(db_script(red, &err, "INSERT INTO note VALUES ('red', 3); DELETE FROM note WHERE n = 2"), &err);
  CHECK(db_exec(red, &err, "INSERT INTO note VALUES ('blue', 3)", NULL) != STATUS_OK); /* the policy */
  CHECK(db_exec(reader, &err, "INSERT INTO note VALUES ('red', 3)", NULL) == STATUS_READONLY);
  CHECK_OK(db_begin(red, STR("red"), true, &err), &err);
  CHECK_OK(db_exec(red, &err, "SELECT 1 / 0", NULL), &err);
  CHECK(db_commit(red, &err) != STATUS_OK);
  db_rollback(red);
  CHECK_INT(pg_count(red, rows_sql), 2);
  for (size_t i = 0; i < ARRAY_LEN(settings); i++)
    if (!str_eq(found(other, settings[i]), before[i]))
      FAIL("%s is %.*s", settings[i], STR_ARG(found(other, settings[i])));
  PQfinish(other);
  db_close(&red);
  db_close(&reader);
}

/* No reliance on session state: statement names, LISTEN, timeouts, reconnects. */
TEST(a_pooler_may_change_sessions, .seconds = SECONDS, .only = TEST_ON_POSTGRES) {
  int port = one_connection("transaction", 2);
  struct db *red = of_team(port, "o'br\\ien"), *blue = of_team(port, "blue");
  struct error err;
  bool news = false;
  for (int64_t i = 0; i < 5; i++) { /* both run a first statement and later ones */
    CHECK_INT(pg_count(red, "SELECT length(current_setting('cairn.team'))"), 8);
    CHECK_INT(pg_count(blue, "SELECT length(current_setting('cairn.team'))"), 4);
  }
  CHECK_OK(db_wait(blue, 10, &news, &err), &err);
  CHECK(news);
  db_set_limit(blue, 50);
  CHECK_STATUS(db_exec(blue, &err, "SELECT pg_sleep(30)", NULL), STATUS_UNAVAILABLE);
  CHECK_INT(pg_count(red, "SELECT CAST(current_setting('statement_timeout') = '1min' AS integer)"), 1);
  CHECK_OK(db_begin(red, STR("red"), false, &err), &err);
  db_set_busy(blue, 50);
  db_set_limit(blue, STATEMENT_MS);
  CHECK_STATUS(db_begin(blue, STR("red"), false, &err), STATUS_BUSY);
  CHECK_OK(db_commit(red, &err), &err);
  CHECK_OK(db_begin(blue, STR("red"), false, &err), &err);
  CHECK_OK(db_commit(blue, &err), &err);
  own_server_restart(true);
  CHECK_INT(pg_count(blue, rows_sql), 2);
  CHECK_OK(db_begin(red, STR("red"), false, &err), &err);
  CHECK_OK(db_commit(red, &err), &err);
  db_close(&red);
  db_close(&blue);
}

static enum status one_round(struct db *db, int64_t n, struct error *err) {
  int64_t got;
  bool alone;
  enum status s = db_int(db, &got, NULL, err, rows_sql, NULL);
  if (s == STATUS_OK)
    s = db_snapshot(db, &alone, err);
  if (s == STATUS_OK)
    s = db_snapshot_end(db, alone, db_int(db, &got, NULL, err, rows_sql, NULL), err);
  if (s == STATUS_OK)
    s = db_begin(db, STR("red"), false, err);
  if (s == STATUS_OK)
    s = db_exec(db, err, "INSERT INTO note VALUES ('red', ?1)", "i", n);
  return s == STATUS_OK ? db_commit(db, err) : s;
}

/* Aborted queued statements do not become part of the next transaction. */
TEST(a_pooled_call_out_of_memory_does_not_affect_others, .seconds = SECONDS, .only = TEST_ON_POSTGRES) {
  int port = one_connection("transaction", 1);
  struct db *red = of_team(port, "red"), *blue = of_team(port, "blue");
  struct error err;
  int64_t done = 0, n = 1;
  for (long failures = 1; failures > 0; n++) {
    CHECK(n < 100);
    alloc_fail_at((long)n, 0);
    enum status s = one_round(red, n, &err);
    failures = alloc_failures();
    alloc_fail_at(0, 0);
    CHECK(s == STATUS_OK || s == STATUS_NOMEM);
    done += s == STATUS_OK;
    db_rollback(red);
    CHECK_INT(pg_count(blue, rows_sql), 2);
    CHECK_INT(seen_in_snapshot(red), 1 + done);
  }
  CHECK(n > 8);
  CHECK(done > 0); /* also if the failed part was optional */
  db_close(&red);
  db_close(&blue);
}
