/* internal.h: a connection to PostgreSQL, and what the files of its driver share; nothing outside
 * src/store/postgres includes it.
 *
 *   postgres.c            the table of the driver: statements, and what is asked of the connection
 *   store/postgres/txn.c        transactions, their locks, and what came of a commit whose answer was lost
 *   store/postgres/pipe.c       what was sent and not answered yet
 *   store/postgres/statement.c  prepared statements and their values
 *   store/postgres/rows.c       the rows of a result
 *   store/postgres/connect.c    connecting, again if need be, and the settings of a session
 *   store/postgres/url.c        addresses without their secrets
 *   store/postgres/error.c      what the server says, as a status and a sentence */
#pragma once

#include "store/db/driver.h"
#include "store/postgres/libpq.h"

enum {
  STATEMENTS_MAX = 256,    /* prepared statements that a connection keeps */
  PENDING_MAX = 256,       /* answers that may be outstanding before they are read */
  PENDING_BYTES = 1 << 17, /* and the same for what was sent */
  STATEMENT_MS = 60000,    /* how long a statement may run */
  RECONNECT_MS = 10000,    /* how long a lost server is waited for: it may be starting again */
  MIN_SERVER = 17,         /* the first with identity columns in partitioned tables */
};

/* A prepared statement; `number` makes its name, and is never used again. */
struct pg_statement {
  char *sql;   /* as the caller wrote it; NULL: a free place */
  char *types; /* the letters of its values */
  uint64_t hash, number, used;
};

enum pg_kind {
  PG_CONTROL,  /* its outcome matters only when it failed */
  PG_SETTINGS, /* the same, of the session */
  PG_PREPARE,
  PG_EXEC,
  PG_QUERY, /* its rows are wanted */
  PG_LOCK,  /* the same, and what goes wrong is that somebody else has the lock */
  PG_COMMIT,
  PG_NEWS, /* others are told; it does not matter when that fails */
  PG_SYNC, /* the end of a group: after an error the server goes on behind it */
};

/* Something that was sent and not answered yet. */
struct pg_pending {
  enum pg_kind kind;
  int depth;       /* marks that were open */
  uint64_t number; /* of the statement that it prepares or uses; 0: none */
  bool reused;     /* which was prepared earlier */
};

enum pg_tx { PG_NO_TX, PG_WRITE_TX, PG_SNAPSHOT_TX };

/* Why a statement failed, as far as the driver can do something about it. */
enum pg_trouble { PG_FINE, PG_FAILED, PG_LOST, PG_STALE };

struct pg_rows;

struct postgres {
  struct db base;
  const struct libpq *pq;
  PGconn *conn; /* NULL: lost */
  char *url, *path;
  int64_t epoch; /* changes when the server has crashed, and may use numbers of transactions again */
  bool doomed;   /* the server has said that it closes the connection */
  bool down;     /* the last try to connect again has failed */
  bool listening, news;
  bool want_read_only;
  bool pooled;      /* a pooler stands between: the next transaction may be another session's */
  bool pooled_read; /* and the server behind it takes no writes, as far as is known */

  /* settings of the session: as they should be, and as the server has them */
  char *team, *team_sent;
  int busy_ms, busy_sent, limit_ms, limit_sent;
  int connect_ms; /* see db_options */

  struct pg_statement statements[STATEMENTS_MAX];
  uint64_t statement_count, uses;

  struct pg_pending pending[PENDING_MAX + 16];
  size_t pending_count, pending_bytes;
  int64_t changes;
  bool committed;

  /* the transaction */
  enum pg_tx tx;
  int depth;  /* open marks */
  bool fresh; /* a snapshot of which nothing was read yet */
  bool failed, failed_lost;
  int failed_depth;
  struct error failure; /* what every statement gives until it is rolled back */
  char xid[24];         /* "" when it is not known */
  char told[72];        /* whose changes others are told of once it is committed */

  struct pg_rows *rows; /* open ones */
  int64_t stamps;
};

static inline struct postgres *pg_own(struct db *db) { return (struct postgres *)db; }
static inline const struct postgres *pg_own_const(const struct db *db) { return (const struct postgres *)db; }

/* When the server last threw its statistics away, as it does after a crash and at no ordinary start. */
#define PG_EPOCH "CAST(extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()) * 1000000 AS bigint)"

#define PG_NO_VALUES ((struct db_values){NULL, 0})

/* ---- store/postgres/connect.c ---- */
enum status pg_open(const struct db_options *options, struct db **ret_db, struct error *err);
void pg_close(struct db *base);
/* Forgets the connection and all that the server knew of it. */
void pg_drop(struct postgres *db);
/* A connection that lives, with its settings sent along; for use outside of transactions. */
NODISCARD enum status pg_ready(struct postgres *db, struct error *err);
/* What the first statement of every transaction must be where a session is not one's own; nothing elsewhere. */
NODISCARD enum status pg_queue_local(struct postgres *db, struct error *err);
/* The same before a script that is no part of a transaction; NULL: out of memory. */
NODISCARD char *pg_local_script(const struct postgres *db, const char *sql);
bool pg_read_only(const struct db *base);
NODISCARD bool pg_set_text(char **place, struct str text);
void pg_sleep_ms(int ms);

/* ---- store/postgres/url.c ---- */
/* The address without its password, for messages; NULL: out of memory. */
NODISCARD char *pg_url_path(const char *url);
/* Takes the password out of a text that libpq has made. */
void pg_url_scrub(const struct libpq *pq, const char *url, char *text);

/* ---- store/postgres/error.c ---- */
/* Fills err from a result, or from the connection when it is NULL. */
enum pg_trouble pg_fail(struct postgres *db, const PGresult *result, const struct pg_pending *p, struct error *err);
enum status pg_fail_connect(struct postgres *db, PGconn *conn, bool timed_out, struct error *err);
/* Whether trying again in a moment may help: the server starts or stops, or (if it was there just now) it seems so. */
bool pg_passes(const char *message, bool was_there);
static inline enum status pg_nomem(struct error *err) { return error_set(err, STATUS_NOMEM, "out of memory"); }

static inline enum status pg_lost(struct error *err) {
  error_set(err, STATUS_LOST, "the connection to the server was lost; nothing was changed");
  return error_fix(err, "try again; 'cairn doctor' says whether the server answers");
}

/* ---- store/postgres/statement.c ---- */
/* Queues a statement with its values, which libpq copies; prepares it first when it is new. */
NODISCARD enum status pg_queue(struct postgres *db, enum pg_kind kind, const char *sql, struct db_values values,
                               struct error *err);
/* The same for what is short and never prepared: BEGIN, COMMIT, ... */
NODISCARD enum status pg_queue_control(struct postgres *db, enum pg_kind kind, const char *sql, struct error *err);
void pg_statement_drop(struct postgres *db, uint64_t number);
void pg_statements_clear(struct postgres *db);
/* ?N becomes $N, outside of quotes and comments; `out` is as long as `sql`. */
void pg_translate(const char *sql, char *out);
bool pg_only_reads(const char *sql);

/* ---- store/postgres/pipe.c ---- */
void pg_push(struct postgres *db, enum pg_kind kind, uint64_t number, bool reused, size_t bytes);
/* Ends a group; the server answers all of it. */
NODISCARD enum status pg_sync(struct postgres *db, struct error *err);
/* Sends what is queued, and does not wait for the answers. */
NODISCARD enum status pg_flush(struct postgres *db, struct error *err);
/* Sends what is queued, reads all answers. ret_result (may be NULL) is that of the last query. The first error counts;
 * inside a transaction it stays until it is rolled back. */
enum pg_trouble pg_drain(struct postgres *db, PGresult **ret_result, struct error *err);
/* The error that a failed transaction gives to every statement until it is rolled back. */
NODISCARD enum status pg_give_failure(const struct postgres *db, struct error *err);
/* Reads what has come unasked: notifications, or that the connection is over. */
bool pg_alive(struct postgres *db);
/* Waits until the server has sent something or time is over. */
void pg_poll_input(struct postgres *db, int ms);
void pg_take_notifications(struct postgres *db);

/* ---- store/postgres/rows.c ---- */
NODISCARD enum status pg_rows_open(struct rows *r, PGresult *result);
bool pg_rows_next(struct rows *r);
void pg_rows_end(struct rows *r);
bool pg_rows_null(const struct rows *r, int column);
int64_t pg_rows_int(const struct rows *r, int column);
double pg_rows_real(const struct rows *r, int column);
struct str pg_rows_text(const struct rows *r, int column);
/* Frees the results of all open ones, whose owners may never come back to end them. */
void pg_rows_cut(struct postgres *db);
/* Those of later queries, whose owners will not come back to end them. */
void pg_rows_forget(struct postgres *db, int64_t after);

/* ---- store/postgres/txn.c ---- */
enum status pg_begin(struct db *base, struct str team, bool lazy, struct error *err);
enum status pg_commit(struct db *base, struct error *err);
enum status pg_snapshot(struct db *base, bool *ret_alone, struct error *err);
enum status pg_snapshot_end(struct db *base, bool alone, enum status s, struct error *err);
void pg_rollback(struct db *base);
void pg_scope_abort(struct db *base, struct db_scope scope);
enum status pg_mark(struct db *base, struct error *err);
enum status pg_unmark(struct db *base, bool keep, struct error *err);
