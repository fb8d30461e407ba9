/* connect.c: connecting and reconnecting to a server, and session settings. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/os/clock.h"
#include "store/postgres/internal.h"

enum { CONNECT_SECONDS = 10 };

bool pg_set_text(char **place, struct str text) {
  char *copy = mem_alloc(text.n + 1);
  if (!copy)
    return false;
  if (text.n > 0)
    memcpy(copy, text.p, text.n);
  copy[text.n] = 0;
  mem_free(*place);
  *place = copy;
  return true;
}

void pg_sleep_ms(int ms) {
  struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&ts, NULL);
}

void pg_drop(struct postgres *db) {
  if (db->conn)
    db->pq->finish(db->conn);
  db->conn = NULL;
  db->doomed = db->listening = false;
  db->pending_count = db->pending_bytes = 0;
  mem_free(db->team_sent);
  db->team_sent = NULL;
  db->busy_sent = db->limit_sent = -1;
  pg_statements_clear(db);
}

/* ---- single attempt ---- */

/* Notices are not printed, but a terminating server sends its last message as one. */
static void on_notice(void *arg, const PGresult *result) {
  struct postgres *db = arg;
  const char *severity = db->pq->resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
    db->doomed = true;
}

/* Connection settings in the URL. */
struct address {
  int seconds;
  bool many_hosts;
};

static enum status read_address(const struct postgres *db, struct address *ret, struct error *err) {
  struct address a = {.seconds = CONNECT_SECONDS};
  const char *seconds = getenv("PGCONNECT_TIMEOUT"), *host = getenv("PGHOST");
  PQconninfoOption *options = db->pq->conninfoParse(db->url, NULL);
  if (!options) {
    error_set(err, STATUS_USAGE, "%s is not an address of a PostgreSQL server", db->path);
    return error_fix(err,
                     "write postgresql://ROLE@HOST:PORT/DATABASE, with special characters as %%XX; a password may also "
                     "be in PGPASSWORD or ~/.pgpass");
  }
  for (PQconninfoOption *o = options; o->keyword; o++) {
    if (strcmp(o->keyword, "connect_timeout") == 0 && o->val)
      seconds = o->val;
    if (strcmp(o->keyword, "host") == 0 && o->val)
      host = o->val;
  }
  int64_t n;
  if (seconds && str_int64(str_from(seconds), &n) && n > 0 && n < 3600)
    a.seconds = n < 2 ? 2 : (int)n; /* same as libpq */
  a.many_hosts = host && strchr(host, ',') != NULL;
  db->pq->conninfoFree(options);
  *ret = a;
  return STATUS_OK;
}

/* Polls until connected or failed; false on timeout. */
static bool poll_until_connected(const struct libpq *pq, PGconn *conn, int64_t until_us) {
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
    struct pollfd p = {.fd = pq->socket(conn), .events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT};
    int64_t left = until_us - clock_ticks_us();
    if (left <= 0)
      return false;
    if (pq->status(conn) == CONNECTION_BAD)
      return true;
    int ready = poll(&p, 1, (int)(left / 1000) + 1);
    if (ready > 0)
      next = pq->connectPoll(conn);
  }
  return true;
}

/* The SQLSTATE of a failure is available only to callers that poll themselves; trying several hosts in turn is left to
 * libpq. */
static PGconn *start(struct postgres *db, const struct address *a, bool *ret_timed_out) {
  char seconds[16];
  snprintf(seconds, sizeof(seconds), "%d", a->seconds);
  const char *const names[] = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                               "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                               "dbname",           "client_encoding",  NULL};
  const char *const values[] = {seconds, "30", "10", "3", "60000", "cairn", db->url, "UTF8", NULL};
  if (a->many_hosts)
    return db->pq->connectdbParams(names, values, 1);
  PGconn *conn = db->pq->connectStartParams(names, values, 1);
  if (!conn)
    return NULL;
  db->pq->setErrorVerbosity(conn, PQERRORS_VERBOSE);
  db->pq->setNoticeReceiver(conn, on_notice, db);
  int64_t ms = db->connect_ms ? db->connect_ms : (int64_t)a->seconds * 1000;
  *ret_timed_out = !poll_until_connected(db->pq, conn, clock_ticks_us() + ms * 1000);
  return conn;
}

/* ---- session ---- */

static enum status check_server(struct postgres *db, PGconn *conn, struct error *err) {
  int version = db->pq->serverVersion(conn);
  const char *encoding = db->pq->parameterStatus(conn, "server_encoding");
  if (version < MIN_SERVER * 10000) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the server is PostgreSQL %d; Cairn needs %d or newer", db->path,
              version / 10000, MIN_SERVER);
    return error_fix(err, "upgrade the server (older ones lack features that the schema needs); Cairn is tested "
                          "with 17 and pgvector 0.8");
  }
  if (!encoding || strcmp(encoding, "UTF8") != 0) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the encoding of database \"%s\" is %s; Cairn needs UTF8", db->path,
              db->pq->db(conn), encoding ? encoding : "not known");
    return error_fix(err, "create another one: createdb --encoding=UTF8 --template=template0 NAME");
  }
  return STATUS_OK;
}

/* search_path: the store has its own schema, so other programs can share the database; extensions are in one of
 * the usual schemas. jit is off because compiling such small plans costs more than it saves. `local`: the settings end
 * with the transaction. */
#define SESSION_SETTINGS(local)                                                                                        \
  " set_config('search_path', 'cairn, public, extensions, pg_temp', " local "),"                                       \
  " set_config('standard_conforming_strings', 'on', " local "), set_config('jit', 'off', " local "),"                  \
  " set_config('idle_in_transaction_session_timeout', '60000', " local ")"

/* A pooler reports its own backend pid. Settings must then not persist on a connection that others share. */
#define AS_POOLED SESSION_SETTINGS("s.pooled")
#define SESSION_SQL                                                                                                    \
  "SELECT " PG_EPOCH ", s.pooled,"                                                                                     \
  " pg_is_in_recovery() OR CAST(current_setting('default_transaction_read_only') AS boolean)," AS_POOLED               \
  ", set_config('default_transaction_read_only', %s, s.pooled) FROM (SELECT pg_backend_pid() <> %d AS pooled) s"

static bool is_true(const struct libpq *pq, const PGresult *result, int column) {
  return strcmp(pq->getvalue(result, 0, column), "t") == 0;
}

static enum status init_session(struct postgres *db, PGconn *conn, struct error *err) {
  const struct libpq *pq = db->pq;
  char sql[sizeof(SESSION_SQL) + 80];
  snprintf(sql, sizeof(sql), SESSION_SQL,
           db->want_read_only ? "'on'" : "current_setting('default_transaction_read_only')", pq->backendPID(conn));
  PGresult *result = pq->exec(conn, sql);
  int64_t epoch = 0;
  bool ok = pq->resultStatus(result) == PGRES_TUPLES_OK;
  if (ok) {
    if (!pq->getisnull(result, 0, 0))
      (void)str_int64(str_from(pq->getvalue(result, 0, 0)), &epoch);
    db->pooled = is_true(pq, result, 1);
    db->pooled_read = db->pooled && is_true(pq, result, 2);
  }
  pq->clear(result);
  if (!ok)
    return pg_fail_connect(db, conn, false, err);
  db->epoch = epoch;
  if (pq->setnonblocking(conn, 1) != 0 || !pq->enterPipelineMode(conn))
    return pg_fail_connect(db, conn, false, err);
  return STATUS_OK;
}

/* ret_again: a retry may succeed shortly. */
static enum status connect_once(struct postgres *db, bool was_there, bool *ret_again, struct error *err) {
  struct address a;
  bool timed_out = false;
  enum status s = read_address(db, &a, err);
  *ret_again = false;
  if (s != STATUS_OK)
    return s;
  PGconn *conn = start(db, &a, &timed_out);
  if (!conn)
    return pg_nomem(err);
  db->doomed = false;
  if (timed_out || db->pq->status(conn) != CONNECTION_OK) {
    *ret_again = timed_out ? was_there : pg_is_transient(db->pq->errorMessage(conn), was_there);
    s = pg_fail_connect(db, conn, timed_out, err);
  } else {
    db->pq->setErrorVerbosity(conn, PQERRORS_DEFAULT);
    db->pq->setNoticeReceiver(conn, on_notice, db);
    s = check_server(db, conn, err);
    if (s == STATUS_OK)
      s = init_session(db, conn, err);
  }
  if (s != STATUS_OK) {
    db->pq->finish(conn);
    return s;
  }
  pg_drop(db);
  db->conn = conn;
  db->base.sessions++;
  db->down = false;
  return STATUS_OK;
}

/* A server that was reachable a moment ago is probably restarting. One that stays unreachable is tried once per call,
 * so that not every call waits. */
static enum status reconnect(struct postgres *db, bool was_there, struct error *err) {
  int64_t until = clock_ticks_us() + (int64_t)RECONNECT_MS * 1000;
  bool again;
  for (int wait = 20;; wait = wait < 640 ? wait * 2 : 1000) {
    enum status s = connect_once(db, was_there, &again, err);
    if (s == STATUS_OK || !again || db->connect_ms || clock_ticks_us() >= until) {
      db->down = s != STATUS_OK;
      return s;
    }
    pg_sleep_ms(wait);
  }
}

/* The server reports when a standby is promoted; a pooler may report an outdated state. */
bool pg_read_only(const struct db *base) {
  const struct postgres *db = pg_own_const(base);
  static const char *const names[] = {"in_hot_standby", "default_transaction_read_only"};
  bool read_only = db->want_read_only || db->pooled_read;
  for (size_t i = 0; db->conn && !db->pooled && i < ARRAY_LEN(names); i++) {
    const char *value = db->pq->parameterStatus(db->conn, names[i]);
    read_only |= value && strcmp(value, "on") == 0;
  }
  return read_only;
}

/* ---- changing settings ---- */

static bool settings_sent(const struct postgres *db) {
  return db->team_sent && strcmp(db->team_sent, db->team) == 0 && db->busy_sent == db->busy_ms &&
         db->limit_sent == db->limit_ms;
}

/* Sent as its own group, so it persists whatever happens to the next group. */
static enum status send_settings(struct postgres *db, struct error *err) {
  char busy[16], limit[16];
  snprintf(busy, sizeof(busy), "%d", db->busy_ms > 0 ? db->busy_ms : 1); /* 0 would wait forever */
  snprintf(limit, sizeof(limit), "%d", db->limit_ms);
  const struct db_value v[] = {
      {.form = 's', .s = str_from(db->team)}, {.form = 's', .s = str_from(busy)}, {.form = 's', .s = str_from(limit)}};
  db->busy_sent = -1; /* until everything has succeeded */
  if (!pg_set_text(&db->team_sent, str_from(db->team)))
    return pg_nomem(err);
  TRY(pg_queue(db, PG_SETTINGS,
               "SELECT set_config('cairn.team', ?1, false), set_config('lock_timeout', ?2, false),"
               " set_config('statement_timeout', ?3, false)",
               (struct db_values){v, ARRAY_LEN(v)}, err));
  TRY(pg_sync(db, err));
  db->busy_sent = db->busy_ms;
  db->limit_sent = db->limit_ms;
  return STATUS_OK;
}

enum status pg_ready(struct postgres *db, struct error *err) {
  if (db->conn && !pg_alive(db))
    pg_drop(db);
  if (!db->conn) {
    enum status s = reconnect(db, !db->down, err);
    if (s != STATUS_OK)
      return s;
  }
  return db->pooled || settings_sent(db) ? STATUS_OK : send_settings(db, err);
}

/* ---- transaction settings ---- */

#define AS_LOCAL SESSION_SETTINGS("true")
#define LOCAL_SETTINGS                                                                                                 \
  "SELECT" AS_LOCAL ", set_config('transaction_read_only',"                                                            \
  " CASE WHEN %s THEN 'on' ELSE current_setting('transaction_read_only') END, true),"                                  \
  " set_config('lock_timeout', '%d', true), set_config('statement_timeout', '%d', true),"                              \
  " set_config('cairn.team', E'%s', true)%s%s"

char *pg_local_script(const struct postgres *db, const char *sql) {
  size_t n = strlen(db->team), to = 0;
  char *team = mem_alloc(2 * n + 1);
  if (!team)
    return NULL;
  for (size_t i = 0; i < n; i++) {
    if (db->team[i] == '\'' || db->team[i] == '\\')
      team[to++] = db->team[i];
    team[to++] = db->team[i];
  }
  team[to] = 0;
  size_t size = sizeof(LOCAL_SETTINGS) + to + strlen(sql) + 64;
  char *all = mem_alloc(size);
  if (all)
    snprintf(all, size, LOCAL_SETTINGS, db->want_read_only ? "true" : "false", db->busy_ms > 0 ? db->busy_ms : 1,
             db->limit_ms, team, *sql ? "; " : "", sql);
  mem_free(team);
  return all;
}

enum status pg_queue_local(struct postgres *db, struct error *err) {
  if (!db->pooled)
    return STATUS_OK;
  char *sql = pg_local_script(db, "");
  enum status s = sql ? pg_queue_control(db, PG_CONTROL, sql, err) : pg_nomem(err);
  mem_free(sql);
  return s;
}

/* ---- open and close ---- */

void pg_close(struct db *base) {
  struct postgres *db = pg_own(base);
  pg_rows_free_after(db, -1);
  pg_drop(db);
  mem_free(db->url);
  mem_free(db->path);
  mem_free(db->team);
  mem_free(db);
}

enum status pg_open(const struct db_options *o, struct db **ret_db, struct error *err) {
  const struct libpq *pq;
  enum status s = libpq_open(&pq, err);
  if (s != STATUS_OK)
    return s;
  struct postgres *db = mem_zalloc(sizeof(*db));
  if (!db)
    return pg_nomem(err);
  db->base.driver = &postgres_driver;
  db->pq = pq;
  db->busy_ms = o->busy_ms;
  db->connect_ms = o->connect_ms;
  db->limit_ms = STATEMENT_MS;
  db->busy_sent = db->limit_sent = -1;
  db->want_read_only = o->read_only;
  db->path = pg_url_path(o->path);
  if (!db->path || !pg_set_text(&db->url, str_from(o->path)) || !pg_set_text(&db->team, STR("*")))
    s = pg_nomem(err);
  else
    s = reconnect(db, false, err);
  if (s != STATUS_OK) {
    pg_close(&db->base);
    return s;
  }
  *ret_db = &db->base;
  return STATUS_OK;
}
