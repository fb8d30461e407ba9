/* pg.c: the databases of a test run on a PostgreSQL server: created for each test, dropped by a process that
 * outlives it. */
#include "support/pg.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "support/harness.h"

enum { TEXT = 1024, STORES = 256 };

/* State that the processes of the tests inherit. */
static struct {
  const char *admin; /* URL of the role that creates databases */
  char prefix[40];   /* of every name that the run creates on the server */
  char role[48];     /* owner of the stores; "" if the admin's role owns them */
  char password[33];
  size_t test; /* number of the running test */
  pid_t sweeper;
  int to_sweeper;
} run;

/* SQLite functions and tables that PostgreSQL names differently, for the SQL of tests. Only connections of the tests
 * have them in their search path. */
static const char same_words[] =
    "CREATE SCHEMA as_sqlite;"
    "CREATE FUNCTION as_sqlite.joined(a text, b text) RETURNS text LANGUAGE sql IMMUTABLE AS"
    " $$SELECT coalesce(a || ',' || b, a, b)$$;"
    "CREATE FUNCTION as_sqlite.joined(a text, b text, by text) RETURNS text LANGUAGE sql IMMUTABLE AS"
    " $$SELECT coalesce(a || by || b, a, b)$$;"
    "CREATE AGGREGATE as_sqlite.group_concat(text) (SFUNC = as_sqlite.joined, STYPE = text);"
    "CREATE AGGREGATE as_sqlite.group_concat(text, text) (SFUNC = as_sqlite.joined, STYPE = text);"
    "CREATE FUNCTION as_sqlite.json_extract(doc text, path text) RETURNS text LANGUAGE sql IMMUTABLE AS"
    " $$SELECT doc::jsonb #>> string_to_array(substr(path, 3), '.')$$;"
    "CREATE FUNCTION as_sqlite.json_set(doc text, path text, value text) RETURNS text LANGUAGE sql IMMUTABLE AS"
    " $$SELECT jsonb_set(doc::jsonb, string_to_array(substr(path, 3), '.'), to_jsonb(value))::text$$;"
    "CREATE VIEW as_sqlite.vec_slot AS SELECT * FROM cairn.vec;";

/* ---- the server ---- */

/* scheme://[user[:password]@]host[:port][/database][?options] with another database and, for a store, with the run's
 * role and the pooler's address. */
static void make_url_at(const char *database, bool store, const char *at, char ret_url[TEXT]) {
  const char *rest = strstr(run.admin, "://") + 3;
  size_t authority = strcspn(rest, "/?");
  const char *host = memrchr(rest, '@', authority), *options = strchr(rest, '?');
  host = host ? host + 1 : rest;
  int n = at ? (int)strlen(at) : (int)(rest + authority - host);
  if (store && *run.role)
    snprintf(ret_url, TEXT, "postgresql://%s:%s@%.*s/%s%s", run.role, run.password, n, at ? at : host, database,
             options ? options : "");
  else
    snprintf(ret_url, TEXT, "postgresql://%.*s/%s%s", (int)authority, rest, database, options ? options : "");
}

static void make_url(const char *database, bool store, char ret_url[TEXT]) {
  make_url_at(database, store, NULL, ret_url);
}

static void no_notice(void *arg UNUSED, const char *text UNUSED) {}

/* NULL, with a message, if the server cannot be reached. */
static PGconn *connect_to(const char *url) {
  PGconn *conn = PQconnectdb(url);
  PQsetNoticeProcessor(conn, no_notice, NULL);
  if (PQstatus(conn) == CONNECTION_OK)
    return conn;
  fprintf(stderr, "harness: PostgreSQL: %s", PQerrorMessage(conn));
  PQfinish(conn);
  return NULL;
}

static bool command(PGconn *conn, const char *fmt, ...) PRINTF_FMT(2, 3);
static bool command(PGconn *conn, const char *fmt, ...) {
  char sql[2 * TEXT];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(sql, sizeof(sql), fmt, ap);
  va_end(ap);
  PGresult *r = PQexec(conn, sql);
  bool ok = PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK;
  const char *code = PQresultErrorField(r, PG_DIAG_SQLSTATE);
  bool there = code && strcmp(code, "42P04") == 0; /* another process of the test created it first */
  if (!ok && !there)
    fprintf(stderr, "harness: PostgreSQL: %.200s: %s", sql, PQresultErrorMessage(r));
  PQclear(r);
  return ok || there;
}

/* The first column of all rows, or NULL. */
static PGresult *rows(PGconn *conn, const char *sql) {
  PGresult *r = PQexec(conn, sql);
  if (PQresultStatus(r) == PGRES_TUPLES_OK)
    return r;
  fprintf(stderr, "harness: PostgreSQL: %s: %s", sql, PQresultErrorMessage(r));
  PQclear(r);
  return NULL;
}

static int number(PGconn *conn, const char *sql) {
  PGresult *r = rows(conn, sql);
  int n = r && PQntuples(r) ? (int)strtol(PQgetvalue(r, 0, 0), NULL, 10) : -1;
  PQclear(r);
  return n;
}

/* ---- end of a run ---- */

static bool drop_databases(PGconn *conn, const char *beginning) {
  char sql[TEXT];
  snprintf(sql, sizeof(sql), "SELECT datname FROM pg_database WHERE starts_with(datname, '%s')", beginning);
  PGresult *r = rows(conn, sql);
  bool ok = r != NULL;
  for (int i = 0; r && i < PQntuples(r); i++)
    ok &= command(conn, "DROP DATABASE IF EXISTS \"%s\" WITH (FORCE)", PQgetvalue(r, i, 0));
  PQclear(r);
  return ok;
}

/* Drops the databases of each test whose number arrives in the pipe, and everything at end of file: when the run
 * ends, even if it was killed. */
static _Noreturn void sweep(int from) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  setpgid(0, 0);
  PGconn *conn = connect_to(run.admin);
  bool ok = conn != NULL;
  char beginning[TEXT];
  size_t test;
  while (conn && read(from, &test, sizeof(test)) == (ssize_t)sizeof(test)) {
    snprintf(beginning, sizeof(beginning), "%s_%zu_", run.prefix, test);
    ok &= drop_databases(conn, beginning);
  }
  snprintf(beginning, sizeof(beginning), "%s_", run.prefix);
  ok = ok && drop_databases(conn, beginning);
  if (ok && *run.role)
    ok = command(conn, "DROP ROLE \"%s\"", run.role);
  PQfinish(conn);
  _exit(ok ? 0 : 1);
}

static bool start_sweeper(void) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  fflush(NULL);
  run.sweeper = fork();
  if (run.sweeper == 0) {
    close(ends[1]);
    sweep(ends[0]);
  }
  close(ends[0]);
  run.to_sweeper = ends[1];
  return run.sweeper > 0;
}

void pg_done(size_t test) {
  if (write(run.to_sweeper, &test, sizeof(test)) != (ssize_t)sizeof(test))
    fprintf(stderr, "harness: the databases of a test stay until the end\n");
}

bool pg_finish(void) {
  int status = 0;
  close(run.to_sweeper);
  bool ok = waitpid(run.sweeper, &status, 0) == run.sweeper && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!ok)
    fprintf(stderr, "harness: databases named %s_... may be left on the PostgreSQL server\n", run.prefix);
  return ok;
}

/* ---- start of a run ---- */

/* Both names are without the run's prefix. FILE_COPY is four times faster than logging every block. */
static bool make_database(PGconn *conn, const char *name, const char *from) {
  return command(conn, "CREATE DATABASE \"%s_%s\" TEMPLATE \"%s_%s\" STRATEGY FILE_COPY OWNER %s", run.prefix, name,
                 run.prefix, from, *run.role ? run.role : "CURRENT_USER");
}

static void make_names(void) {
  unsigned char random[16];
  if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
    abort();
  for (size_t i = 0; i < sizeof(random); i++)
    snprintf(run.password + 2 * i, 3, "%02x", random[i]);
  snprintf(run.prefix, sizeof(run.prefix), "cairn_test_%d_%.4s", (int)getpid(), run.password);
}

static bool may_make_databases(PGconn *conn) {
  if (number(conn, "SELECT current_setting('server_version_num')::integer / 10000") < 17)
    fprintf(stderr, "harness: the server in CAIRN_TEST_PG is older than PostgreSQL 17\n");
  else if (number(conn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") != 1)
    fprintf(stderr, "harness: the server in CAIRN_TEST_PG has no pgvector; install it there\n");
  else if (number(conn, "SELECT count(*) FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolcreatedb)") !=
           1)
    fprintf(stderr, "harness: the role in CAIRN_TEST_PG may not create databases: ALTER ROLE ... CREATEDB\n");
  else
    return true;
  return false;
}

/* Superusers bypass row-level security, which must be tested, too. */
static bool make_role(PGconn *conn) {
  if (number(conn, "SELECT count(*) FROM pg_roles WHERE rolname = current_user AND rolsuper") != 1)
    return true;
  snprintf(run.role, sizeof(run.role), "%s", run.prefix);
  return command(conn, "CREATE ROLE \"%s\" LOGIN PASSWORD '%s'", run.role, run.password);
}

/* One template has only the extensions, which require a superuser; the other also gets the schema. */
static bool make_templates(PGconn *conn) {
  char name[64], url[TEXT];
  snprintf(name, sizeof(name), "%s_empty", run.prefix);
  if (!command(conn,
               "CREATE DATABASE \"%s\" TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin"
               " BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C' OWNER %s",
               name, *run.role ? run.role : "CURRENT_USER"))
    return false;
  make_url(name, false, url);
  PGconn *inside = connect_to(url);
  bool ok =
      inside && command(inside, "CREATE EXTENSION IF NOT EXISTS vector; CREATE EXTENSION IF NOT EXISTS btree_gin");
  if (inside && !ok)
    fprintf(stderr, "harness: let a superuser be named in CAIRN_TEST_PG, or pgvector be marked as trusted\n");
  PQfinish(inside);
  return ok && make_database(conn, "template", "empty");
}

/* The program migrates the template like any new store. */
static bool make_schema(void) {
  char name[64], url[TEXT];
  snprintf(name, sizeof(name), "%s_template", run.prefix);
  make_url(name, true, url);
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0)
      dup2(null, 1);
    setenv("CAIRN_NO_MAINTAIN", "1", 1);
    setenv("CAIRN_NOW", "2026-03-01T12:00:00Z", 1); /* same as the default clock of the tests */
    execl(CAIRN_BIN, CAIRN_BIN, "--db", url, "stats", "--json", (char *)NULL);
    _exit(126);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "harness: the program does not make its schema on the PostgreSQL server\n");
    return false;
  }
  PGconn *inside = connect_to(url);
  PGresult *r = inside ? PQexec(inside, "TRUNCATE cairn.tool_call") : NULL; /* written by the call above */
  PQclear(r);
  r = inside ? PQexec(inside, same_words) : NULL;
  bool ok = PQresultStatus(r) == PGRES_COMMAND_OK;
  if (!ok)
    fprintf(stderr, "harness: PostgreSQL: %s", inside ? PQerrorMessage(inside) : "no connection");
  PQclear(r);
  PQfinish(inside);
  return ok;
}

bool pg_prepare(void) {
  run.admin = getenv("CAIRN_TEST_PG");
  if (!run.admin || !strstr(run.admin, "://")) {
    fprintf(stderr,
            "harness: there is no PostgreSQL server to test with: start this with scripts/pg run, or name one in"
            " CAIRN_TEST_PG=postgresql://...\n");
    return false;
  }
  make_names();
  PGconn *conn = connect_to(run.admin);
  bool ok = conn && may_make_databases(conn) && start_sweeper();
  ok = ok && make_role(conn) && make_templates(conn);
  PQfinish(conn);
  ok = ok && make_schema();
  if (!ok && run.sweeper)
    pg_finish();
  return ok;
}

/* ---- stores ---- */

void pg_enter(size_t test) {
  run.test = test;
  close(run.to_sweeper);
}

struct made {
  char database[64]; /* without the run's prefix */
  const char *name, *url, *from;
};
static struct made made[STORES];
static struct arena memory;

/* Only letters, digits and underscores. */
static void name_database(const char *name, char ret_database[64]) {
  int n = snprintf(ret_database, 24, "%zu_", run.test);
  for (; *name && n < 30; name++)
    ret_database[n++] = (*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9') ? *name : '_';
  ret_database[n] = 0;
}

static void make(const struct made *m, bool again) {
  PGconn *conn = connect_to(run.admin);
  bool ok = conn != NULL;
  if (ok && again)
    ok = command(conn, "DROP DATABASE \"%s_%s\" WITH (FORCE)", run.prefix, m->database);
  if (!ok || !make_database(conn, m->database, m->from))
    FAIL("no database for the store %s", m->name);
  PQfinish(conn);
}

const char *pg_store(const char *name, bool empty) {
  size_t i = 0;
  for (; i < STORES && made[i].name; i++)
    if (strcmp(made[i].name, name) == 0)
      return made[i].url;
  CHECK(i < STORES);
  char database[128], url[TEXT];
  struct made m = {.name = arena_cstr(&memory, str_from(name)), .from = empty ? "empty" : "template"};
  name_database(name, m.database);
  make(&m, false);
  snprintf(database, sizeof(database), "%s_%s", run.prefix, m.database);
  make_url_at(database, true, getenv("CAIRN_TEST_POOLER"), url);
  m.url = arena_cstr(&memory, str_from(url));
  made[i] = m;
  return m.url;
}

void pg_store_anew(const char *url) {
  size_t i = 0;
  while (i < STORES && made[i].name && strcmp(made[i].url, url) != 0)
    i++;
  CHECK(i < STORES && made[i].name);
  make(&made[i], true);
}
