/* error.c: maps errors of the server and of libpq to a status, a message and advice. */
#include <stdio.h>

#include "store/postgres/internal.h"

/* ---- statements ---- */

/* Matches the SQLSTATE or its class; the first match wins. */
static enum status code_of(const char *state) {
  static const struct {
    const char *state;
    enum status code;
  } table[] = {
      {"23", STATUS_CONFLICT},       {"P0001", STATUS_CONFLICT}, {"40", STATUS_LOST},        {"55P03", STATUS_BUSY},
      {"57014", STATUS_UNAVAILABLE}, {"53100", STATUS_NO_SPACE}, {"53", STATUS_UNAVAILABLE}, {"25006", STATUS_READONLY},
      {"42501", STATUS_READONLY},    {"22021", STATUS_USAGE},    {"54", STATUS_TOO_LARGE},   {"58", STATUS_IO},
      {"XX001", STATUS_CORRUPT},     {"XX002", STATUS_CORRUPT},
  };
  for (size_t i = 0; i < ARRAY_LEN(table); i++)
    if (strncmp(state, table[i].state, strlen(table[i].state)) == 0)
      return table[i].code;
  return STATUS_INTERNAL;
}

static enum status fail_with(struct postgres *db, enum status code, const char *text, struct error *err) {
  switch (code) {
  case STATUS_CONFLICT:
    return error_set(err, code, "%s", text);
  case STATUS_LOST:
    error_set(err, code, "a conflict with another transaction; nothing was changed: %s", text);
    return error_fix(err, "try again");
  case STATUS_BUSY:
    error_set(err, code, "another process kept %s locked for %d seconds", db->path, db->busy_ms / 1000);
    return error_fix(err, "try again; if it persists, look for a stuck process that is writing to the store");
  case STATUS_UNAVAILABLE:
    error_set(err, code, "the server aborted the statement: %s", text);
    return error_fix(err, "try again; the limit for a statement is %d seconds", db->limit_ms / 1000);
  case STATUS_NO_SPACE:
    error_set(err, code, "the disk of the server %s is full; nothing was changed", db->path);
    return error_fix(err, "free some space there and repeat the command");
  case STATUS_READONLY:
    error_set(err, code, "%s cannot be written: %s", db->path, text);
    return error_fix(err, "grant the role the privileges it needs, or use --db to name the server that accepts writes");
  default:
    error_set(err, code, "%s: %s", db->path, text);
    return error_fix(err, "'cairn doctor' checks the store");
  }
}

static bool is_fatal(const char *severity) { return strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0; }

enum pg_trouble pg_fail(struct postgres *db, const PGresult *result, const struct pg_pending *p, struct error *err) {
  const char *state = result ? db->pq->resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
  const char *severity = state ? db->pq->resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED) : NULL;
  const char *text = state ? db->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
  if (!state && db->conn && db->pq->status(db->conn) == CONNECTION_OK) {
    fail_with(db, STATUS_INTERNAL, result ? db->pq->resultErrorMessage(result) : "no answer came", err);
    return PG_FAILED;
  }
  if (!state || (severity && is_fatal(severity)) || strncmp(state, "08", 2) == 0) {
    pg_lost(err);
    return PG_LOST;
  }
  /* A pooler has given the session to another client and reset it, so its state is unknown. */
  if (strcmp(state, "26000") == 0) {
    db->doomed = true;
    pg_lost(err);
    return PG_STALE;
  }
  /* "cached plan must not change result type": the table was altered. */
  if (strcmp(state, "0A000") == 0 && p->reused) {
    pg_statement_drop(db, p->number);
    pg_lost(err);
    return PG_STALE;
  }
  enum status code = p->kind == PG_LOCK && strcmp(state, "57014") == 0 ? STATUS_BUSY : code_of(state);
  fail_with(db, code, text ? text : state, err);
  return PG_FAILED;
}

/* ---- connecting ---- */

/* SQLSTATE in a verbose message ("FATAL:  28P01: ..."); empty if the server did not answer. */
static struct str state_in(const char *message) {
  for (const char *at = message; (at = strstr(at, ":  ")) != NULL; at += 3) {
    size_t n = 0;
    while (ascii_digit(at[3 + n]) || ascii_upper(at[3 + n]))
      n++;
    if (n == 5 && at[8] == ':')
      return (struct str){at + 3, 5};
  }
  return STR_NONE;
}

static bool is_starting(struct str state) { return str_starts(state, STR("57P")); }

bool pg_is_transient(const char *message, bool was_there) {
  struct str state = state_in(message);
  return is_starting(state) ||
         (was_there && (str_empty(state) || str_is(state, "53300") || str_starts(state, STR("08"))));
}

/* Removes the source location and trailing white space. */
static void tidy(char *text) {
  char *place = strstr(text, "\nLOCATION:");
  if (place)
    *place = 0;
  size_t n = strlen(text);
  while (n > 0 && ascii_space(text[n - 1]))
    text[--n] = 0;
}

static bool contains(const char *text, const char *what) { return strstr(text, what) != NULL; }

static enum status fail_by_state(struct postgres *db, PGconn *conn, struct str state, const char *text,
                                 struct error *err) {
  const struct libpq *pq = db->pq;
  if (str_empty(state) && contains(text, "no password supplied")) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the server requires a password for role \"%s\"", db->path, pq->user(conn));
    return error_fix(err, "set it in PGPASSWORD, in ~/.pgpass or in the address: postgresql://ROLE:PASSWORD@HOST/...");
  }
  if (str_is(state, "28P01") || (str_empty(state) && contains(text, "password authentication failed"))) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the server rejected the password of role \"%s\"", db->path, pq->user(conn));
    return error_fix(err, "check the password in the address, in PGPASSWORD or in ~/.pgpass");
  }
  if (str_is(state, "28000") && (contains(text, "no encryption") || contains(text, "SSL off"))) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the server rejects role \"%s\" without encryption", db->path,
              pq->user(conn));
    return error_fix(err, "add ?sslmode=require to the address, or a line for the role to pg_hba.conf on the server");
  }
  if (str_is(state, "28000")) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the server rejected role \"%s\": %s", db->path, pq->user(conn), text);
    return error_fix(err, "check the name of the role in the address; pg_hba.conf on the server controls access");
  }
  if (str_is(state, "3D000")) {
    error_set(err, STATUS_NOT_FOUND, "%s: there is no database \"%s\" on the server", db->path, pq->db(conn));
    return error_fix(err, "create it: createdb --encoding=UTF8 --template=template0 %s", pq->db(conn));
  }
  if (str_is(state, "42501")) {
    error_set(err, STATUS_UNAVAILABLE, "%s: role \"%s\" may not connect to database \"%s\"", db->path, pq->user(conn),
              pq->db(conn));
    return error_fix(err, "allow it: GRANT CONNECT ON DATABASE");
  }
  if (str_is(state, "53300")) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the server has no free connections", db->path);
    return error_fix(err, "try again later, raise max_connections on the server, or put a pooler in front of it");
  }
  if (is_starting(state)) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the server is starting or stopping", db->path);
    return error_fix(err, "try again in a moment");
  }
  error_set(err, STATUS_UNAVAILABLE, "%s: %s", db->path, text);
  return error_fix(err, "check the address, and that the server is running");
}

enum status pg_fail_connect(struct postgres *db, PGconn *conn, bool timed_out, struct error *err) {
  char text[ERROR_MESSAGE_MAX];
  snprintf(text, sizeof(text), "%s", db->pq->errorMessage(conn));
  pg_url_scrub(db->pq, db->url, text);
  struct str state = state_in(text);
  tidy(text);
  if (timed_out || (str_empty(state) && contains(text, "timeout expired"))) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the server did not answer in time", db->path);
    return error_fix(err, "check host and port, and that no firewall blocks them; connect_timeout=SECONDS in the "
                          "address sets the timeout");
  }
  if (str_empty(state) && !contains(text, "FATAL") &&
      (contains(text, "onnection refused") || contains(text, "No such file"))) {
    error_set(err, STATUS_UNAVAILABLE, "%s: no server answers there", db->path);
    return error_fix(err, "start the server, or check host and port of the address");
  }
  if (str_empty(state) && contains(text, "could not translate host name")) {
    error_set(err, STATUS_UNAVAILABLE, "%s: unknown host name", db->path);
    return error_fix(err, "check the host in the address");
  }
  if (str_empty(state) && contains(text, "server does not support SSL")) {
    error_set(err, STATUS_UNAVAILABLE, "%s: the address requires encryption, which the server does not support",
              db->path);
    return error_fix(err, "enable TLS on the server, or remove sslmode from the address");
  }
  return fail_by_state(db, conn, state, text, err);
}
