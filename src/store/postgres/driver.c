/* driver.c: database driver for PostgreSQL: statements and connection state.
 *
 * Inside a transaction, a statement without result rows is only queued. Its outcome is known at the next statement that
 * needs an answer, at the latest at commit. A result is fetched as a whole, so large tables must be read page by page.
 */
#include "base/alloc.h"
#include "base/os/clock.h"
#include "store/postgres/internal.h"

/* ---- statements ---- */

/* A connection lost while idle takes its transaction with it. */
static enum status record_loss(struct postgres *db, enum status s, const struct error *err) {
  if (s == STATUS_LOST && !db->failed) {
    db->failed = db->failed_lost = true;
    db->failed_depth = -1;
    db->failure = *err;
  }
  return s;
}

static enum status run_in_txn(struct postgres *db, enum pg_kind kind, const char *sql, struct db_values values,
                              PGresult **ret_result, struct error *err) {
  if (db->failed)
    return pg_repeat_failure(db, err);
  TRY(record_loss(db, pg_queue(db, kind, sql, values, err), err));
  if (kind == PG_EXEC && db->pending_count < PENDING_MAX && db->pending_bytes < PENDING_BYTES)
    return STATUS_OK;
  if (pg_drain(db, ret_result, err) != PG_FINE)
    return error_never_ok(err->code);
  db->fresh = false;
  return STATUS_OK;
}

/* A snapshot from which nothing was read yet can be replaced by a new one. */
static enum status run_in_snapshot(struct postgres *db, enum pg_kind kind, const char *sql, struct db_values values,
                                   PGresult **ret_result, struct error *err) {
  bool began, fresh = db->fresh;
  enum status s = run_in_txn(db, kind, sql, values, ret_result, err);
  if (s != STATUS_LOST || !fresh)
    return s;
  pg_rollback(&db->base);
  TRY(pg_snapshot(&db->base, &began, err));
  return run_in_txn(db, kind, sql, values, ret_result, err);
}

static enum status outcome_unknown(struct postgres *db, struct error *err) {
  error_set(err, STATUS_UNAVAILABLE, "%s: the connection was lost; whether the statement was executed is not known",
            db->path);
  return error_fix(err, "check whether the change was made before you repeat it");
}

/* Writes must wait until the session settings are known to be right. VACUUM and similar statements cannot share a group
 * at all. */
static enum pg_trouble try_outside_txn(struct postgres *db, enum pg_kind kind, const char *sql, struct db_values values,
                                       PGresult **ret_result, bool *ret_sent, struct error *err) {
  enum status s = pg_ready(db, err);
  enum pg_trouble trouble = s == STATUS_OK ? PG_FINE : s == STATUS_LOST ? PG_LOST : PG_FAILED;
  *ret_sent = false;
  if (trouble == PG_FINE && db->pending_count > 0 && !pg_only_reads(sql))
    trouble = pg_drain(db, NULL, err);
  if (trouble != PG_FINE)
    return trouble;
  s = pg_queue_local(db, err);
  *ret_sent = s == STATUS_OK;
  if (s == STATUS_OK)
    s = pg_queue(db, kind, sql, values, err);
  if (s == STATUS_LOST)
    return PG_LOST;
  if (s != STATUS_OK) { /* statements queued before must not become part of the next group */
    struct error ignored;
    pg_drain(db, NULL, &ignored);
    return PG_FAILED;
  }
  return pg_drain(db, ret_result, err);
}

/* Retries on a new connection if the statement only reads, was not sent, or failed because the server had lost its
 * session. */
static enum status run_outside_txn(struct postgres *db, enum pg_kind kind, const char *sql, struct db_values values,
                                   PGresult **ret_result, struct error *err) {
  bool sent;
  for (int attempt = 0;; attempt++) {
    enum pg_trouble trouble = try_outside_txn(db, kind, sql, values, ret_result, &sent, err);
    if (trouble == PG_FINE)
      return STATUS_OK;
    if (trouble == PG_LOST && sent && !pg_only_reads(sql))
      return outcome_unknown(db, err);
    if (attempt > 0 || trouble == PG_FAILED)
      return error_never_ok(err->code);
  }
}

static enum status run(struct postgres *db, enum pg_kind kind, const char *sql, struct db_values values,
                       PGresult **ret_result, struct error *err) {
  if (db->tx == PG_NO_TX)
    return run_outside_txn(db, kind, sql, values, ret_result, err);
  return (db->tx == PG_SNAPSHOT_TX ? run_in_snapshot : run_in_txn)(db, kind, sql, values, ret_result, err);
}

static enum status exec(struct db *base, const char *sql, struct db_values values, struct error *err) {
  return run(pg_own(base), PG_EXEC, sql, values, NULL, err);
}

static void query(struct rows *r, const char *sql, struct db_values values) {
  PGresult *result = NULL;
  r->status = run(pg_own(r->db), PG_QUERY, sql, values, &result, r->err);
  if (r->status == STATUS_OK)
    r->status = pg_rows_open(r, result);
}

static int64_t changes(struct db *base) {
  struct postgres *db = pg_own(base);
  struct error ignored; /* recorded, and returned by the next statement */
  if (db->tx != PG_NO_TX && !db->failed && pg_drain(db, NULL, &ignored) != PG_FINE)
    return 0;
  return db->changes;
}

/* ---- scripts ---- */

/* Several statements in one text cannot be pipelined. */
static enum status run_script(struct postgres *db, const char *sql, struct error *err) {
  const struct libpq *pq = db->pq;
  struct pg_pending p = {.kind = PG_EXEC, .depth = db->depth};
  char *local = NULL;
  if (db->pooled && db->tx == PG_NO_TX && !(local = pg_local_script(db, sql)))
    return pg_nomem(err);
  if (!pq->exitPipelineMode(db->conn)) {
    mem_free(local);
    return error_set(err, STATUS_INTERNAL, "%s", pq->errorMessage(db->conn));
  }
  PGresult *result = pq->exec(db->conn, local ? local : sql);
  mem_free(local);
  ExecStatusType got = pq->resultStatus(result);
  enum pg_trouble trouble = PG_FINE;
  if (got != PGRES_COMMAND_OK && got != PGRES_TUPLES_OK && got != PGRES_EMPTY_QUERY)
    trouble = pg_fail(db, result, &p, err);
  pq->clear(result);
  if (trouble != PG_LOST && !pq->enterPipelineMode(db->conn))
    trouble = (pg_lost(err), PG_LOST);
  if (trouble == PG_LOST)
    pg_drop(db);
  if (trouble == PG_FINE)
    return STATUS_OK;
  return trouble == PG_LOST && db->tx == PG_NO_TX ? outcome_unknown(db, err) : error_never_ok(err->code);
}

static enum status script(struct db *base, const char *sql, struct error *err) {
  struct postgres *db = pg_own(base);
  if (db->failed)
    return pg_repeat_failure(db, err);
  if (db->tx == PG_NO_TX)
    TRY(pg_ready(db, err));
  if (pg_drain(db, NULL, err) != PG_FINE)
    TRY(error_never_ok(err->code));
  enum status s = run_script(db, sql, err);
  if (s != STATUS_OK && db->tx != PG_NO_TX && !db->failed) {
    db->failed = true;
    db->failed_lost = !db->conn;
    db->failed_depth = db->conn ? db->depth : -1;
    db->failure = *err;
  }
  /* The script may have begun or ended a transaction. */
  if (db->conn && db->tx == PG_NO_TX && db->pq->transactionStatus(db->conn) != PQTRANS_IDLE)
    db->tx = PG_WRITE_TX;
  return s;
}

/* ---- connection ---- */

static bool in_transaction(const struct db *db) { return pg_own_const(db)->tx != PG_NO_TX; }
static bool writing(const struct db *db) { return pg_own_const(db)->tx == PG_WRITE_TX; }
static const char *path(const struct db *db) { return pg_own_const(db)->path; }

static int set_busy(struct db *base, int busy_ms) {
  struct postgres *db = pg_own(base);
  int former = db->busy_ms;
  db->busy_ms = busy_ms;
  return former;
}

static int set_limit(struct db *base, int ms) {
  struct postgres *db = pg_own(base);
  int former = db->limit_ms;
  db->limit_ms = ms;
  return former;
}

/* Sent with the next statement; inside a transaction it also applies to the rest of it. */
static enum status team(struct db *base, struct str name, struct error *err) {
  struct postgres *db = pg_own(base);
  const struct db_value v = {.form = 's', .s = name.p ? name : STR("*")};
  if (!pg_set_text(&db->team, v.s))
    return pg_nomem(err);
  if (db->tx == PG_NO_TX)
    return STATUS_OK;
  return run_in_txn(db, PG_EXEC, "SELECT set_config('cairn.team', ?1, true)", (struct db_values){&v, 1}, NULL, err);
}

/* There is no cheap way to detect changes by others. */
static enum status stamp(struct db *base, struct db_stamp *ret_stamp, struct error *err UNUSED) {
  struct postgres *db = pg_own(base);
  *ret_stamp = (struct db_stamp){.others = ++db->stamps};
  return STATUS_OK;
}

/* Changes made before LISTEN are not reported, so the first time and after a reconnect there may be news. */
static enum status listen_for_news(struct postgres *db, struct error *err) {
  enum status s = pg_ready(db, err);
  if (s == STATUS_OK && db->pooled)
    return s;
  if (s == STATUS_OK && !db->listening) {
    s = run_outside_txn(db, PG_EXEC, "LISTEN cairn", PG_NO_VALUES, NULL, err);
    db->listening = db->news = s == STATUS_OK;
  }
  if (s == STATUS_OK && pg_drain(db, NULL, err) != PG_FINE)
    s = error_never_ok(err->code);
  if (s == STATUS_OK)
    pg_take_notifications(db);
  return s;
}

/* Poolers and standbys deliver no notifications. A crashed server, or one that replaced it, may have lost events; this
 * is reported like a reconnect. */
static enum status poll_epoch(struct postgres *db, int ms, struct error *err) {
  int64_t epoch;
  pg_sleep_ms(ms);
  TRY(db_int(&db->base, &epoch, NULL, err, "SELECT " PG_EPOCH, NULL));
  if (epoch != db->epoch) {
    db->epoch = epoch;
    db->base.sessions++;
  }
  return STATUS_OK;
}

static enum status wait_for_news(struct db *base, int ms, bool *ret_news, struct error *err) {
  struct postgres *db = pg_own(base);
  if (db->tx != PG_NO_TX)
    return error_set(err, STATUS_INTERNAL, "cannot wait for changes inside a transaction");
  enum status s = listen_for_news(db, err);
  if (s == STATUS_READONLY || (s == STATUS_OK && db->pooled)) { /* no notifications there: poll */
    s = poll_epoch(db, ms, err);
    if (s == STATUS_OK)
      *ret_news = true;
    return s;
  }
  if (s == STATUS_OK && !db->news && ms > 0) {
    pg_poll_input(db, ms);
    s = listen_for_news(db, err);
  }
  if (s != STATUS_OK)
    return s;
  *ret_news = db->news;
  db->news = false;
  return STATUS_OK;
}

static enum status checkpoint(struct db *db UNUSED, bool truncate UNUSED, bool *ret_done, struct error *err UNUSED) {
  if (ret_done)
    *ret_done = true;
  return STATUS_OK;
}

const struct db_driver postgres_driver = {
    .engine = DB_POSTGRES,
    .open = pg_open,
    .close = pg_close,
    .exec = exec,
    .script = script,
    .changes = changes,
    .query = query,
    .rows_next = pg_rows_next,
    .rows_end = pg_rows_end,
    .rows_null = pg_rows_null,
    .rows_int = pg_rows_int,
    .rows_real = pg_rows_real,
    .rows_text = pg_rows_text,
    .begin = pg_begin,
    .commit = pg_commit,
    .snapshot = pg_snapshot,
    .snapshot_end = pg_snapshot_end,
    .rollback = pg_rollback,
    .scope_abort = pg_scope_abort,
    .savepoint = pg_savepoint,
    .savepoint_end = pg_savepoint_end,
    .in_transaction = in_transaction,
    .writing = writing,
    .team = team,
    .stamp = stamp,
    .wait = wait_for_news,
    .checkpoint = checkpoint,
    .set_busy = set_busy,
    .set_limit = set_limit,
    .read_only = pg_read_only,
    .path = path,
};
