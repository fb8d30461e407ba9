/* txn.c: transactions, their locks, and the outcome of a commit whose answer was lost.
 *
 * A write transaction holds an advisory lock of its team and a shared one of the store; without a team it holds the
 * store's exclusively. Writers of one team thus run in sequence, as with a file, and those of different teams do not
 * wait for each other. Reads after BEGIN see the newest state. */
#include <assert.h>
#include <stdio.h>

#include "base/os/clock.h"
#include "store/postgres/internal.h"

/* "cairn" and zeros. A hash collision of team names only makes those teams wait for each other. */
#define STORE_LOCK INT64_C(0x636169726e000000)

static int64_t team_lock(struct str team) {
  uint64_t h = str_hash(STR_HASH, team);
  return h == (uint64_t)STORE_LOCK ? 1 : (int64_t)h;
}

static void reset_txn(struct postgres *db) {
  db->tx = PG_NO_TX;
  db->depth = 0;
  db->failed = db->failed_lost = db->fresh = false;
  db->xid[0] = 0;
}

/* ---- begin ---- */

/* Generic plans: the team selects the partition, which a generic plan does at execution start. With custom plans every
 * foreign key check would be planned again, at many times its cost. */
#define GENERIC ", set_config('plan_cache_mode', 'force_generic_plan', true)"
#define WITH_TEAM                                                                                                      \
  "SELECT set_config('cairn.team', ?1, true), pg_advisory_xact_lock_shared(?2), pg_advisory_xact_lock(?3),"            \
  " CAST(pg_current_xact_id() AS text)" GENERIC
#define WITHOUT_TEAM                                                                                                   \
  "SELECT set_config('cairn.team', ?1, true), CAST(?2 AS bigint), pg_advisory_xact_lock(?3),"                          \
  " CAST(pg_current_xact_id() AS text)" GENERIC
#define LAZILY ", set_config('synchronous_commit', 'off', true)"

static enum status queue_begin(struct postgres *db, struct str team, bool lazy, struct error *err) {
  const struct db_value v[] = {{.form = 's', .s = team.p ? team : STR("*")},
                               {.form = 'i', .i = STORE_LOCK},
                               {.form = 'i', .i = team.p ? team_lock(team) : STORE_LOCK}};
  const char *sql = team.p ? (lazy ? WITH_TEAM LAZILY : WITH_TEAM) : (lazy ? WITHOUT_TEAM LAZILY : WITHOUT_TEAM);
  TRY(pg_ready(db, err));
  TRY(pg_queue_control(db, PG_CONTROL, "BEGIN", err));
  TRY(pg_queue_local(db, err));
  return pg_queue(db, PG_LOCK, sql, (struct db_values){v, ARRAY_LEN(v)}, err);
}

/* Ends the server's transaction, ignoring errors. */
static void abort_txn(struct postgres *db) {
  struct error ignored;
  if (!db->conn)
    return;
  if (pg_drain(db, NULL, &ignored) != PG_LOST && db->pq->transactionStatus(db->conn) != PQTRANS_IDLE &&
      pg_queue_control(db, PG_CONTROL, "ROLLBACK", &ignored) == STATUS_OK)
    pg_drain(db, NULL, &ignored);
  if (db->conn && db->pq->transactionStatus(db->conn) != PQTRANS_IDLE)
    pg_drop(db);
}

static enum pg_trouble try_begin(struct postgres *db, struct str team, bool lazy, struct error *err) {
  assert(db->tx == PG_NO_TX && db->depth == 0 && !db->failed);
  PGresult *result = NULL;
  enum status s = queue_begin(db, team, lazy, err);
  if (s != STATUS_OK) {
    abort_txn(db);
    return s == STATUS_LOST ? PG_LOST : PG_FAILED;
  }
  enum pg_trouble trouble = pg_drain(db, &result, err);
  if (trouble != PG_FINE) {
    abort_txn(db);
    return trouble;
  }
  snprintf(db->told, sizeof(db->told), "%.*s", STR_ARG(team.p ? team : STR("*")));
  snprintf(db->xid, sizeof(db->xid), "%.*s", db->pq->getlength(result, 0, 3), db->pq->getvalue(result, 0, 3));
  db->pq->clear(result);
  db->tx = PG_WRITE_TX;
  return PG_FINE;
}

static enum status nested_txn(struct error *err) {
  return error_set(err, STATUS_INTERNAL, "a transaction is already open");
}

/* Behind a pooler, another server may have become the primary since the last check. */
static enum status recheck_read_only(struct postgres *db, struct error *err) {
  if (!db->pooled_read || db->tx != PG_NO_TX)
    return STATUS_OK;
  pg_drop(db);
  return pg_ready(db, err);
}

enum status pg_begin(struct db *base, struct str team, bool lazy, struct error *err) {
  struct postgres *db = pg_own(base);
  TRY(recheck_read_only(db, err));
  if (pg_read_only(base)) {
    error_set(err, STATUS_READONLY, "%s cannot be written: the server, the role or the call allows only reads",
              db->path);
    return error_fix(err, "use --db to name the server that accepts writes");
  }
  if (db->tx != PG_NO_TX)
    return nested_txn(err);
  for (int attempt = 0;; attempt++) {
    enum pg_trouble trouble = try_begin(db, team, lazy, err);
    if (trouble == PG_FINE)
      return STATUS_OK;
    if (attempt > 0 || trouble == PG_FAILED)
      return err->code;
  }
}

/* ---- commit ---- */

static enum status commit_unknown(struct postgres *db, struct error *err) {
  error_set(err, STATUS_UNAVAILABLE,
            "%s: the connection was lost during a commit; whether it succeeded "
            "is not known",
            db->path);
  return error_fix(err, "check whether the change was made before you repeat it");
}

enum fate { FATE_COMMITTED, FATE_ABORTED, FATE_RUNNING, FATE_UNKNOWN };

/* After a crash the server may reuse the id of a transaction that left no trace; "committed" may then refer to another
 * one. */
static enum fate query_fate(struct postgres *db, const char *xid, int64_t epoch, struct error *err) {
  const struct db_value v = {.form = 's', .s = str_from(xid)};
  PGresult *result = NULL;
  if (pg_ready(db, err) != STATUS_OK ||
      pg_queue(db, PG_QUERY, "SELECT pg_xact_status(CAST(?1 AS xid8))", (struct db_values){&v, 1}, err) != STATUS_OK)
    return FATE_UNKNOWN;
  enum pg_trouble trouble = pg_drain(db, &result, err);
  if (trouble == PG_FAILED) /* "transaction ID is in the future": it left no trace */
    return FATE_ABORTED;
  if (trouble != PG_FINE)
    return FATE_RUNNING;
  const char *text = db->pq->getisnull(result, 0, 0) ? "" : db->pq->getvalue(result, 0, 0);
  struct str s = {text, (size_t)db->pq->getlength(result, 0, 0)};
  bool crashed = db->epoch != epoch;
  enum fate fate = str_is(s, "committed")     ? crashed ? FATE_UNKNOWN : FATE_COMMITTED
                   : str_is(s, "aborted")     ? FATE_ABORTED
                   : str_is(s, "in progress") ? crashed ? FATE_ABORTED : FATE_RUNNING
                                              : FATE_UNKNOWN;
  db->pq->clear(result);
  return fate;
}

static enum status resolve_commit(struct postgres *db, struct error *err) {
  char xid[sizeof(db->xid)];
  int64_t epoch = db->epoch, until = clock_ticks_us() + (int64_t)RECONNECT_MS * 1000;
  struct error ignored;
  enum fate fate = FATE_UNKNOWN;
  memcpy(xid, db->xid, sizeof(xid));
  reset_txn(db);
  if (xid[0])
    while ((fate = query_fate(db, xid, epoch, &ignored)) == FATE_RUNNING && clock_ticks_us() < until)
      pg_sleep_ms(50);
  if (fate == FATE_COMMITTED)
    return STATUS_OK;
  return fate == FATE_ABORTED ? pg_lost(err) : commit_unknown(db, err);
}

/* Notifies listeners about whose log has grown; they read the news there. A NOTIFY inside the transaction would
 * serialise all commits of the cluster, including the disk flush. The answer is read with that of the next statement.
 * If the notification is lost, listeners find the news at their next poll. */
static bool notify_listeners(struct postgres *db) {
  const struct db_value v = {.form = 's', .s = str_from(db->told)};
  struct error ignored;
  return pg_queue(db, PG_NEWS, "SELECT pg_notify('cairn', ?1)", (struct db_values){&v, 1}, &ignored) == STATUS_OK &&
         pg_sync(db, &ignored) == STATUS_OK && pg_flush(db, &ignored) == STATUS_OK;
}

enum status pg_commit(struct db *base, struct error *err) {
  struct postgres *db = pg_own(base);
  if (db->tx == PG_NO_TX)
    return error_set(err, STATUS_INTERNAL, "no transaction is open");
  if (db->failed)
    return pg_repeat_failure(db, err);
  db->committed = false;
  enum pg_trouble trouble = PG_LOST;
  if (pg_queue_control(db, PG_COMMIT, "COMMIT", err) == STATUS_OK)
    trouble = pg_drain(db, NULL, err);
  else if (err->code != STATUS_LOST)
    return err->code;
  if (trouble == PG_LOST)
    return resolve_commit(db, err);
  if (trouble != PG_FINE)
    return error_never_ok(err->code);
  reset_txn(db);
  if (!db->committed)
    return pg_lost(err);
  (void)notify_listeners(db);
  return STATUS_OK;
}

void pg_rollback(struct db *base) {
  struct postgres *db = pg_own(base);
  pg_rows_clear(db);
  if (db->tx != PG_NO_TX)
    abort_txn(db);
  reset_txn(db);
}

void pg_scope_abort(struct db *base, struct db_scope scope) {
  struct postgres *db = pg_own(base);
  pg_rows_free_after(db, scope.queries);
  if (scope.in_transaction || db->tx == PG_NO_TX)
    return;
  abort_txn(db);
  reset_txn(db);
}

/* ---- snapshots ---- */

/* Does not wait: the first query reads the answer. */
enum status pg_snapshot(struct db *base, bool *ret_began, struct error *err) {
  struct postgres *db = pg_own(base);
  *ret_began = db->tx == PG_NO_TX;
  if (!*ret_began)
    return STATUS_OK;
  enum status s = pg_ready(db, err);
  if (s == STATUS_OK)
    s = pg_queue_control(db, PG_CONTROL, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
  if (s == STATUS_OK && (s = pg_queue_local(db, err)) != STATUS_OK)
    abort_txn(db);
  if (s == STATUS_OK) {
    db->tx = PG_SNAPSHOT_TX;
    db->fresh = true;
  }
  return s;
}

static bool has_queued_exec(const struct postgres *db) {
  for (size_t i = 0; i < db->pending_count; i++)
    if (db->pending[i].kind == PG_EXEC)
      return true;
  return false;
}

/* Sends the end without waiting; its answer is read with that of the next statement. */
enum status pg_snapshot_end(struct db *base, bool began, enum status s, struct error *err) {
  struct postgres *db = pg_own(base);
  struct error ignored;
  if (!began || db->tx != PG_SNAPSHOT_TX)
    return s;
  if (!db->failed && has_queued_exec(db) && pg_drain(db, NULL, &ignored) != PG_FINE && s == STATUS_OK)
    s = pg_repeat_failure(db, err);
  bool sent = !db->failed && pg_queue_control(db, PG_CONTROL, "COMMIT", &ignored) == STATUS_OK &&
              pg_sync(db, &ignored) == STATUS_OK && pg_flush(db, &ignored) == STATUS_OK;
  if (!sent)
    abort_txn(db);
  reset_txn(db);
  return s;
}

/* ---- savepoints ---- */

enum status pg_savepoint(struct db *base, struct error *err) {
  struct postgres *db = pg_own(base);
  if (db->failed)
    return pg_repeat_failure(db, err);
  TRY(pg_queue_control(db, PG_CONTROL, "SAVEPOINT mark", err));
  db->depth++;
  return STATUS_OK;
}

/* Errors after the savepoint end with it, so all outcomes are read here. */
enum status pg_savepoint_end(struct db *base, bool keep, struct error *err) {
  struct postgres *db = pg_own(base);
  struct error first;
  int depth = db->depth;
  enum status found = STATUS_OK;
  if (!db->failed)
    pg_drain(db, NULL, &first);
  if (db->failed && (db->failed_lost || db->failed_depth < depth))
    return pg_repeat_failure(db, err);
  if (db->failed && keep)
    found = pg_repeat_failure(db, err);
  db->failed = false;
  db->depth = depth > 0 ? depth - 1 : 0;
  enum status s = STATUS_OK;
  if (!keep || found != STATUS_OK)
    s = pg_queue_control(db, PG_CONTROL, "ROLLBACK TO mark", &first);
  if (s == STATUS_OK)
    s = pg_queue_control(db, PG_CONTROL, "RELEASE mark", &first);
  if (s != STATUS_OK)
    *err = first;
  return s != STATUS_OK ? s : found;
}
