/* test_postgres_connect.c: URLs, connection errors, connections lost at the worst moments. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/postgres/internal.h"
#include "support/cut_proxy.h"
#include "unit/store/pg_fixture.h"

/* ---- URLs ---- */

static void check_path(const char *url, const char *want) {
  char *path = pg_url_path(url);
  CHECK(path != NULL);
  CHECK_STR(str_from(path), want);
  mem_free(path);
}

TEST(an_address_is_shown_without_its_password) {
  check_path("postgresql://u:secret@h:5432/d?sslmode=require", "postgresql://u@h:5432/d?sslmode=require");
  check_path("postgresql://u:se/cr@et@h/d", "postgresql://u@h/d");
  check_path("postgres://h:5432/d", "postgres://h:5432/d");
  check_path("postgresql://u@h:5432/d?password=secret&x=1&sslpassword=s", "postgresql://u@h:5432/d?x=1");
  check_path("postgresql://u@/d?password=secret", "postgresql://u@/d");
  check_path("postgresql:///d?host=/run/pg", "postgresql:///d?host=/run/pg");
  check_path("postgresql://u:secret@h1:1,h2:2/d", "postgresql://u@h1:1,h2:2/d");
}

static void check_refused(const char *url, enum status want, const char *part) {
  struct db_options o = {.path = url, .busy_ms = 5000};
  struct db *db = NULL;
  struct error err = {0};
  CHECK_STATUS(db_open(&o, &db, &err), want);
  CHECK(db == NULL);
  if (!strstr(err.message, part))
    FAIL("\"%s\" is not in \"%s\"", part, err.message);
  CHECK(err.fix[0] != 0);
  CHECK(strstr(err.message, "sesame") == NULL && strstr(err.fix, "sesame") == NULL);
}

TEST(errors_before_there_is_a_server_say_what_to_do) {
  check_refused("postgresql://u:sesame@127.0.0.1:1/d", STATUS_UNAVAILABLE, "no server answers");
  check_refused("postgresql://u:sesame@/d?host=/nowhere", STATUS_UNAVAILABLE, "no server answers");
  check_refused("postgresql://u:sesame@no-such-host.invalid/d", STATUS_UNAVAILABLE, "host");
  check_refused("postgresql://u:sesame@h:port/d", STATUS_UNAVAILABLE, "port");
  check_refused("postgresql://u:ses%zame@h/d?password=sesame", STATUS_USAGE, "not an address");
  check_refused("postgresql://u:sesame@h/d?nonsense=1", STATUS_USAGE, "not an address");
}

/* URL of the test database with some parts replaced. */
static const char *altered(const char *user, const char *password, const char *database, const char *options) {
  static char out[1024];
  const char *url = pg_url(), *rest = strstr(url, "://") + 3, *at = strchr(rest, '@'), *slash = strchr(rest, '/');
  CHECK(at && slash && at < slash);
  const char *colon = memchr(rest, ':', (size_t)(at - rest));
  struct str u = {rest, (size_t)((colon ? colon : at) - rest)},
             p = {colon ? colon + 1 : "", colon ? (size_t)(at - colon - 1) : 0};
  u = user ? str_from(user) : u;
  p = password ? str_from(password) : p;
  snprintf(out, sizeof(out), "postgresql://%.*s:%.*s@%.*s/%s%s", STR_ARG(u), STR_ARG(p), (int)(slash - at - 1), at + 1,
           database ? database : slash + 1, options);
  return out;
}

TEST(a_server_that_refuses_says_why, .only = TEST_ON_POSTGRES) {
  check_refused(altered(NULL, NULL, "no_such_database", ""), STATUS_NOT_FOUND, "no database \"no_such_database\"");
  /* A server with "trust" authentication ignores passwords; the role is then unknown. */
  struct db_options o = {.path = altered("no_such_role", "sesame", NULL, "")};
  struct db *db = NULL;
  struct error err = {0};
  CHECK_STATUS(db_open(&o, &db, &err), STATUS_UNAVAILABLE);
  CHECK(strstr(err.message, "no_such_role") != NULL && strstr(err.message, "sesame") == NULL);
  CHECK(err.fix[0] != 0);
}

TEST(a_database_must_be_in_utf8, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err;
  char name[128], sql[256];
  snprintf(name, sizeof(name), "%s_latin", strrchr(pg_url(), '/') + 1);
  snprintf(sql, sizeof(sql), "CREATE DATABASE \"%s\" ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0", name);
  if (db_exec(db, &err, sql, NULL) == STATUS_OK) { /* the role may lack CREATEDB */
    check_refused(altered(NULL, NULL, name, ""), STATUS_UNAVAILABLE, "LATIN1");
    snprintf(sql, sizeof(sql), "DROP DATABASE \"%s\"", name);
    CHECK_OK(db_exec(db, &err, sql, NULL), &err);
  } else {
    CHECK_INT(err.code, STATUS_READONLY);
  }
  db_close(&db);
}

/* ---- lost connections ---- */

static int64_t pid_of(struct db *db) { return pg_count(db, "SELECT pg_backend_pid()"); }

/* Terminates the backend of a connection, and waits until it is gone. */
static void end_backend(struct db *other, int64_t pid) {
  struct error err;
  int64_t n = 1;
  CHECK_OK(db_exec(other, &err, "SELECT pg_terminate_backend(CAST(?1 AS integer))", "i", pid), &err);
  for (int i = 0; n > 0 && i < 1000; i++) {
    CHECK_OK(db_int(other, &n, NULL, &err, "SELECT count(*) FROM pg_stat_activity WHERE pid = ?1", "i", pid), &err);
    usleep(5000);
  }
  CHECK_INT(n, 0);
}

static struct db *with_table(void) {
  struct db *db = pg_scratch();
  struct error err;
  CHECK_OK(db_script(db, &err, "CREATE TABLE t (a bigint PRIMARY KEY)"), &err);
  return db;
}

static enum status insert(struct db *db, int64_t n, struct error *err) {
  return db_exec(db, err, "INSERT INTO t VALUES (?1)", "i", n);
}

TEST(a_connection_lost_between_statements_is_reopened, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table(), *other = pg_again();
  struct error err;
  bool alone, news;
  CHECK_OK(db_team(db, STR("red"), &err), &err);
  int64_t pid = pid_of(db);
  end_backend(other, pid);
  CHECK(pid_of(db) != pid);
  CHECK_INT(pg_count(db, "SELECT CAST(current_setting('cairn.team') = 'red' AS integer)"), 1);
  end_backend(other, pid_of(db));
  CHECK_OK(insert(db, 1, &err), &err); /* it was never sent on the old connection */
  CHECK_INT(db_changes(db), 1);
  end_backend(other, pid_of(db));
  CHECK_OK(db_begin(db, STR("red"), false, &err), &err);
  CHECK_OK(insert(db, 2, &err), &err);
  CHECK_OK(db_commit(db, &err), &err);
  end_backend(other, pid_of(db));
  CHECK_OK(db_script(db, &err, "INSERT INTO t VALUES (3)"), &err);
  pid = pid_of(db);
  CHECK_OK(db_snapshot(db, &alone, &err), &err);
  end_backend(other, pid);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 3);
  CHECK_OK(db_snapshot_end(db, alone, STATUS_OK, &err), &err);
  CHECK_OK(db_wait(db, 0, &news, &err), &err);
  CHECK_OK(db_wait(db, 0, &news, &err), &err);
  CHECK(!news);
  end_backend(other, pid_of(db));
  CHECK_OK(db_wait(db, 10000, &news, &err), &err);
  CHECK(news); /* notifications sent meanwhile were missed */
  db_close(&db);
  db_close(&other);
}

TEST(an_interrupted_query_is_retried, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table(), *other = pg_again();
  struct error err;
  int64_t pid = pid_of(db);
  CHECK_OK(db_exec(other, &err, "CREATE SEQUENCE runs", NULL), &err);
  CHECK_OK(db_script(other, &err,
                     "CREATE FUNCTION once() RETURNS bigint LANGUAGE plpgsql AS $$DECLARE n bigint := nextval('runs');"
                     " BEGIN IF n = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); END IF;"
                     " RETURN n; END$$"),
           &err);
  CHECK_INT(pg_count(db, "SELECT once()"), 2);
  CHECK(pid_of(db) != pid);
  db_close(&db);
  db_close(&other);
}

TEST(a_transaction_is_lost_with_its_connection, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table(), *other = pg_again();
  struct error err;
  int64_t n;
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  CHECK_OK(db_savepoint(db, &err), &err);
  end_backend(other, pid_of(db));
  CHECK_STATUS(db_int(db, &n, NULL, &err, "SELECT count(*) FROM t", NULL), STATUS_LOST);
  CHECK_STATUS(insert(db, 2, &err), STATUS_LOST);
  CHECK_STATUS(db_savepoint_end(db, false, &err), STATUS_LOST);
  CHECK_STATUS(db_commit(db, &err), STATUS_LOST);
  db_rollback(db);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 0);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  end_backend(other, pid_of(db));
  CHECK_STATUS(db_commit(db, &err), STATUS_LOST); /* the commit reports the loss */
  db_rollback(db);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 0);
  db_close(&db);
  db_close(&other);
}

/* Connects through a proxy that cuts the connection at this word. */
static struct db *through_proxy(const char *word, enum cut cut, pid_t *ret_pid) {
  char host[256], port[16] = "5432", options[128];
  const char *url = pg_url(), *rest = strstr(url, "://") + 3, *at = strchr(rest, '@');
  at = at ? at + 1 : rest;
  snprintf(host, sizeof(host), "%.*s", (int)strcspn(at, ":/?"), at);
  if (at[strlen(host)] == ':')
    snprintf(port, sizeof(port), "%.*s", (int)strcspn(at + strlen(host) + 1, "/?"), at + strlen(host) + 1);
  int to = cut_proxy_start(host, port, word, cut, ret_pid);
  snprintf(options, sizeof(options), "%shostaddr=127.0.0.1&port=%d&sslmode=disable&gssencmode=disable",
           strchr(url, '?') ? "&" : "?", to);
  return pg_connect(altered(NULL, NULL, NULL, options));
}

static void stop(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

TEST(a_commit_that_never_arrived_is_lost, .only = TEST_ON_POSTGRES) {
  struct db *direct = with_table();
  struct error err;
  pid_t pid;
  struct db *db = through_proxy("COMMIT", CUT_BEFORE, &pid);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  CHECK_STATUS(db_commit(db, &err), STATUS_LOST);
  CHECK(strstr(err.message, "nothing was changed") != NULL);
  db_rollback(db);
  CHECK_INT(pg_count(direct, "SELECT count(*) FROM t"), 0);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  CHECK_OK(db_commit(db, &err), &err);
  db_close(&db);
  stop(pid);
  CHECK_INT(pg_count(direct, "SELECT count(*) FROM t"), 1);
  db_close(&direct);
}

TEST(a_commit_with_a_lost_answer_is_verified, .only = TEST_ON_POSTGRES) {
  struct db *direct = with_table();
  struct error err;
  pid_t pid;
  struct db *db = through_proxy("COMMIT", CUT_AFTER, &pid);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  CHECK_OK(db_commit(db, &err), &err);
  CHECK(!db_in_transaction(db));
  CHECK_INT(pg_count(direct, "SELECT count(*) FROM t"), 1);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1);
  db_close(&db);
  stop(pid);
  db_close(&direct);
}

TEST(a_commit_that_cannot_be_verified_is_unknown, .seconds = 60, .only = TEST_ON_POSTGRES) {
  struct db *direct = with_table();
  struct error err;
  pid_t pid;
  struct db *db = through_proxy("COMMIT", CUT_FOR_EVER, &pid);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  CHECK_STATUS(db_commit(db, &err), STATUS_UNAVAILABLE);
  CHECK(strstr(err.message, "not known") != NULL);
  db_rollback(db);
  int64_t since = clock_ticks_us(); /* it does not wait again for a server that stays unreachable */
  CHECK_STATUS(insert(db, 2, &err), STATUS_UNAVAILABLE);
  CHECK(clock_ticks_us() - since < 5000000);
  db_close(&db);
  stop(pid);
  db_close(&direct);
}

TEST(a_single_write_with_a_lost_answer_is_not_repeated, .only = TEST_ON_POSTGRES) {
  struct db *direct = with_table();
  struct error err;
  pid_t pid;
  struct db *db = through_proxy("INSERT INTO t", CUT_AFTER, &pid);
  CHECK_STATUS(insert(db, 1, &err), STATUS_UNAVAILABLE);
  CHECK(strstr(err.message, "not known") != NULL);
  CHECK_INT(pg_count(direct, "SELECT count(*) FROM t"), 1);
  db_close(&db);
  stop(pid);
  db_close(&direct);
}
