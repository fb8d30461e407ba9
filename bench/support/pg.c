/* pg.c: direct connections to a server, and bulk loading. */
#include "support/pg.h"

#include <dlfcn.h>
#include <string.h>

#include "support/measure.h"

enum { PART = 1 << 16 };

const char *pg_team(int number, char out[8]) {
  snprintf(out, 8, "t%03d", number % 1000);
  return out;
}

const struct libpq *pg_library(void) {
  const struct libpq *pq;
  struct error err;
  if (libpq_open(&pq, &err) != STATUS_OK)
    fail("%s", err.message);
  return pq;
}

PGconn *pg_connect(const char *url) {
  const struct libpq *pq = pg_library();
  const char *const names[] = {"dbname", NULL}, *const values[] = {url, NULL};
  PGconn *conn = pq->connectdbParams(names, values, 1);
  if (pq->status(conn) != CONNECTION_OK)
    fail("%s", pq->errorMessage(conn));
  return conn;
}

static PGresult *run(PGconn *conn, const char *sql) {
  const struct libpq *pq = pg_library();
  PGresult *r = pq->exec(conn, sql);
  ExecStatusType s = pq->resultStatus(r);
  if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK && s != PGRES_COPY_IN)
    fail("%.200s: %s", sql, pq->errorMessage(conn));
  return r;
}

void pg_run(PGconn *conn, const char *sql) { pg_library()->clear(run(conn, sql)); }

int64_t pg_number(PGconn *conn, const char *sql) {
  const struct libpq *pq = pg_library();
  PGresult *r = run(conn, sql);
  int64_t n = 0;
  if (pq->ntuples(r) > 0)
    (void)str_int64(str_from(pq->getvalue(r, 0, 0)), &n);
  pq->clear(r);
  return n;
}

/* postgresql://[ROLE@]HOST:PORT/DATABASE */
const char *pg_address(struct arena *a, const char *url, const char *role, const char *database) {
  const char *from = strstr(url, "://");
  if (!from)
    fail("not the address of a server: %s", url);
  from += 3;
  const char *end = from + strcspn(from, "/?"), *at = memchr(from, '@', (size_t)(end - from));
  const char *host = at ? at + 1 : from;
  struct str user = role ? str_from(role) : (struct str){from, at ? (size_t)(at - from) : 0};
  return arena_printf(a, "postgresql://%.*s%s%.*s/%s", STR_ARG(user), user.n ? "@" : "", (int)(end - host), host,
                      database)
      .p;
}

/* ---- rows in bulk ---- */

/* libpq functions that the program itself does not use. */
static struct {
  int (*put)(PGconn *conn, const char *bytes, int n);
  int (*end)(PGconn *conn, const char *error);
} copying;

static void find_copying(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL), *put, *end;
  if (!library || !(put = dlsym(library, "PQputCopyData")) || !(end = dlsym(library, "PQputCopyEnd")))
    fail("libpq.so.5 cannot be opened");
  memcpy(&copying.put, &put, sizeof(put));
  memcpy(&copying.end, &end, sizeof(end));
}

void pg_copy_begin(struct pg_copy *c, const char *sql) {
  if (!copying.put)
    find_copying();
  pg_run(c->conn, sql);
  c->rows.n = 0;
}

static void send_rows(struct pg_copy *c) {
  if (c->rows.n && copying.put(c->conn, c->rows.p, (int)c->rows.n) != 1)
    fail("%s", pg_library()->errorMessage(c->conn));
  c->rows.n = 0;
}

void pg_copy_row(struct pg_copy *c) {
  if (c->rows.n)
    c->rows.p[c->rows.n - 1] = '\n';
  if (c->rows.n > PART)
    send_rows(c);
}

void pg_copy_text(struct pg_copy *c, struct str value) {
  struct buf *b = &c->rows;
  if (!value.p)
    buf_adds(b, "\\N");
  for (size_t i = 0, plain = 0; i <= value.n && value.p; i++) {
    char ch = i < value.n ? value.p[i] : 0;
    if (i < value.n && ch != '\\' && ch != '\t' && ch != '\n' && ch != '\r')
      continue;
    buf_add(b, (struct str){value.p + plain, i - plain});
    plain = i + 1;
    if (i < value.n)
      buf_adds(b, ch == '\\' ? "\\\\" : ch == '\t' ? "\\t" : ch == '\n' ? "\\n" : "\\r");
  }
  buf_addc(b, '\t');
}

void pg_copy_int(struct pg_copy *c, int64_t value) { buf_addf(&c->rows, "%lld\t", (long long)value); }

void pg_copy_end(struct pg_copy *c) {
  const struct libpq *pq = pg_library();
  PGresult *r;
  pg_copy_row(c);
  send_rows(c);
  if (copying.end(c->conn, NULL) != 1)
    fail("%s", pq->errorMessage(c->conn));
  while ((r = pq->getResult(c->conn)) != NULL) {
    if (pq->resultStatus(r) != PGRES_COMMAND_OK)
      fail("%s", pq->resultErrorMessage(r));
    pq->clear(r);
  }
}
