/* pipe.c: pipeline of statements that were sent and not yet answered.
 *
 * A connection is always in libpq's pipeline mode: statements are queued, and their answers are read together when one
 * is needed. Input is read while output is pending, so client and server never block each other. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "store/postgres/internal.h"

void pg_push(struct postgres *db, enum pg_kind kind, uint64_t number, bool reused, size_t bytes) {
  assert(db->pending_count < ARRAY_LEN(db->pending));
  db->pending[db->pending_count++] = (struct pg_pending){kind, db->depth, number, reused};
  db->pending_bytes += bytes;
}

static enum status lost_connection(struct postgres *db, struct error *err) {
  pg_drop(db);
  return pg_lost(err);
}

enum status pg_sync(struct postgres *db, struct error *err) {
  assert(db->conn);
  if (!db->pq->pipelineSync(db->conn))
    return lost_connection(db, err);
  pg_push(db, PG_SYNC, 0, false, 0);
  return STATUS_OK;
}

static int poll_socket(struct postgres *db, short events, int ms) {
  struct pollfd p = {.fd = db->pq->socket(db->conn), .events = events};
  int n = poll(&p, 1, ms);
  return n > 0 ? p.revents : n;
}

enum status pg_flush(struct postgres *db, struct error *err) {
  while (db->pq->flush(db->conn) > 0) {
    int ready = poll_socket(db, POLLIN | POLLOUT, -1);
    if (ready < 0 && errno != EINTR)
      return lost_connection(db, err);
    if (ready > 0 && (ready & POLLIN) && !db->pq->consumeInput(db->conn))
      break; /* the answers contain the error */
  }
  return STATUS_OK;
}

void pg_poll_input(struct postgres *db, int ms) {
  if (poll_socket(db, POLLIN, ms) > 0)
    db->pq->consumeInput(db->conn);
}

void pg_take_notifications(struct postgres *db) {
  PGnotify *n;
  while ((n = db->pq->notifies(db->conn)) != NULL) {
    db->news = true;
    db->pq->freemem(n);
  }
}

/* A server that closes a connection sends a last message first. */
bool pg_alive(struct postgres *db) {
  for (int i = 0; i < 4 && poll_socket(db, POLLIN, 0) != 0; i++) {
    if (!db->pq->consumeInput(db->conn))
      return false;
    (void)db->pq->isBusy(db->conn);
  }
  return !db->doomed && db->pq->status(db->conn) == CONNECTION_OK;
}

/* ---- answers ---- */

struct outcome {
  PGresult *result;
  enum pg_trouble trouble;
  int depth;
  struct error *err;
};

static void note_success(struct postgres *db, const struct pg_pending *p, PGresult *result) {
  const char *tag = db->pq->cmdStatus(result);
  if (p->kind == PG_EXEC && strncmp(tag, "SELECT", 6) != 0) {
    int64_t n = 0;
    db->changes = str_int64(str_from(db->pq->cmdTuples(result)), &n) ? n : 0;
  }
  if (p->kind == PG_COMMIT)
    db->committed = strcmp(tag, "COMMIT") == 0;
}

static bool is_success(ExecStatusType status) {
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

/* Takes ownership of the result. */
static void accept_result(struct postgres *db, const struct pg_pending *p, PGresult *result, struct outcome *o) {
  ExecStatusType status = db->pq->resultStatus(result);
  if (is_success(status)) {
    note_success(db, p, result);
    if (p->kind == PG_QUERY || p->kind == PG_LOCK) {
      db->pq->clear(o->result);
      o->result = result;
      return;
    }
  } else {
    if (p->kind == PG_PREPARE)
      pg_statement_drop(db, p->number);
    if (p->kind == PG_EXEC)
      db->changes = 0;
    if (p->kind == PG_SETTINGS)
      db->busy_sent = -1;
    bool wanted = p->kind != PG_NEWS || db->pq->status(db->conn) != CONNECTION_OK;
    if (status != PGRES_PIPELINE_ABORTED && o->trouble == PG_FINE && wanted) {
      o->depth = p->depth;
      o->trouble = pg_fail(db, result, p, o->err);
    }
  }
  db->pq->clear(result);
}

/* Reads the answer to one entry; false if there will be no more answers. */
static bool read_answer(struct postgres *db, const struct pg_pending *p, struct outcome *o) {
  PGresult *result = db->pq->getResult(db->conn);
  if (p->kind == PG_SYNC && result && db->pq->resultStatus(result) == PGRES_PIPELINE_SYNC) {
    db->pq->clear(result);
    return true;
  }
  if (!result) {
    if (o->trouble == PG_FINE)
      o->trouble = pg_fail(db, NULL, p, o->err);
    return false;
  }
  accept_result(db, p, result, o);
  if (o->trouble == PG_LOST || db->pq->status(db->conn) != CONNECTION_OK || p->kind == PG_SYNC)
    return false;
  while ((result = db->pq->getResult(db->conn)) != NULL)
    accept_result(db, p, result, o);
  return true;
}

static void read_answers(struct postgres *db, struct outcome *o) {
  assert(db->pending_count > 0 && db->pending[db->pending_count - 1].kind == PG_SYNC);
  bool more = true;
  for (size_t i = 0; more && i < db->pending_count; i++) {
    struct pg_pending p = db->pending[i];
    more = read_answer(db, &p, o);
  }
  db->pending_count = db->pending_bytes = 0;
  if (more)
    return pg_take_notifications(db);
  /* Overrides earlier errors: the transaction is lost with its connection. */
  if (o->trouble != PG_LOST)
    o->trouble = (pg_lost(o->err), PG_LOST);
  pg_drop(db);
}

enum status pg_repeat_failure(const struct postgres *db, struct error *err) {
  assert(db->failed && db->failure.code != STATUS_OK);
  *err = db->failure;
  return error_never_ok(err->code);
}

static void remember_failure(struct postgres *db, const struct outcome *o) {
  assert(o->trouble != PG_FINE && db->tx != PG_NO_TX && !db->failed);
  db->failed = true;
  db->failed_lost = o->trouble == PG_LOST;
  db->failed_depth = db->failed_lost ? -1 : o->depth;
  db->failure = *o->err;
}

enum pg_trouble pg_drain(struct postgres *db, PGresult **ret_result, struct error *err) {
  struct outcome o = {.err = err};
  if (!db->conn)
    o.trouble = (pg_lost(err), PG_LOST);
  else if (db->pending_count > 0) {
    bool open = db->pending[db->pending_count - 1].kind != PG_SYNC;
    if ((open && pg_sync(db, err) != STATUS_OK) || pg_flush(db, err) != STATUS_OK)
      o.trouble = PG_LOST;
    else
      read_answers(db, &o);
  }
  if (o.trouble != PG_FINE && db->tx != PG_NO_TX && !db->failed)
    remember_failure(db, &o);
  if (o.trouble == PG_FINE && ret_result)
    *ret_result = o.result;
  else
    db->pq->clear(o.result);
  return o.trouble;
}
