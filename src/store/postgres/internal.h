/* internal.h: PostgreSQL connection and functions shared by the files of the driver; private to src/store/postgres.
 *
 *   driver.c     driver table: statements, connection state
 *   txn.c        transactions, locks, commits whose answer was lost
 *   pipe.c       pipeline of unanswered statements
 *   statement.c  prepared statements and their values
 *   rows.c       result rows
 *   connect.c    connecting, reconnecting, session settings
 *   url.c        URLs without secrets
 *   error.c      error mapping */
#pragma once

#include "store/db/driver.h"
#include "store/postgres/libpq.h"

enum {
  STATEMENTS_MAX = 256,    /* prepared statements per connection */
  PENDING_MAX = 256,       /* unanswered statements before answers are read */
  PENDING_BYTES = 1 << 17, /* unanswered bytes before answers are read */
  STATEMENT_MS = 60000,    /* statement timeout */
  RECONNECT_MS = 10000,    /* how long to wait for a lost server, which may be restarting */
  MIN_SERVER = 17,         /* first version with identity columns in partitioned tables */
};

/* Prepared statement; its name is derived from `number`, which is never reused. */
struct pg_statement {
  char *sql;   /* as written by the caller; NULL: free slot */
  char *types; /* form letters of its values */
  uint64_t hash, number, used;
};

enum pg_kind {
  PG_CONTROL,  /* only failures matter */
  PG_SETTINGS, /* same, for session settings */
  PG_PREPARE,
  PG_EXEC,
  PG_QUERY, /* returns rows */
  PG_LOCK,  /* same; a timeout means that another process has the lock */
  PG_COMMIT,
  PG_NEWS, /* notification of others; failures are ignored */
  PG_SYNC, /* end of a group; after an error the server resumes here */
};

/* A statement that was sent and not yet answered. */
struct pg_pending {
  enum pg_kind kind;
  int depth;       /* open savepoints */
  uint64_t number; /* prepared statement that it creates or uses; 0: none */
  bool reused;     /* the statement was prepared earlier */
};

enum pg_tx { PG_NO_TX, PG_WRITE_TX, PG_SNAPSHOT_TX };

/* Kind of failure, as far as the driver can react to it. */
enum pg_trouble { PG_FINE, PG_FAILED, PG_LOST, PG_STALE };

struct pg_rows;

struct postgres {
  struct db base;
  const struct libpq *pq;
  PGconn *conn; /* NULL: lost */
  char *url, *path;
  int64_t epoch; /* changes after a server crash, when transaction ids may be reused */
  bool doomed;   /* the server announced that it closes the connection */
  bool down;     /* the last attempt to reconnect failed */
  bool listening, news;
  bool want_read_only;
  bool pooled;      /* behind a pooler: the next transaction may use another session */
  bool pooled_read; /* the server behind the pooler is read-only, as far as known */

  /* session settings: wanted, and as sent to the server */
  char *team, *team_sent;
  int busy_ms, busy_sent, limit_ms, limit_sent;
  int connect_ms; /* see db_options */

  struct pg_statement statements[STATEMENTS_MAX];
  uint64_t statement_count, uses;

  struct pg_pending pending[PENDING_MAX + 16];
  size_t pending_count, pending_bytes;
  int64_t changes;
  bool committed;

  /* transaction state */
  enum pg_tx tx;
  int depth;  /* open savepoints */
  bool fresh; /* snapshot from which nothing was read yet */
  bool failed, failed_lost;
  int failed_depth;
  struct error failure; /* returned by every statement until rollback */
  char xid[24];         /* "" if unknown */
  char told[72];        /* team to notify others about after the commit */

  struct pg_rows *rows; /* open results */
  int64_t stamps;
};

static inline struct postgres *pg_own(struct db *db) { return (struct postgres *)db; }
static inline const struct postgres *pg_own_const(const struct db *db) { return (const struct postgres *)db; }

/* Time when the server last reset its statistics, which happens after a crash but not on a normal start. */
#define PG_EPOCH "CAST(extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()) * 1000000 AS bigint)"

#define PG_NO_VALUES ((struct db_values){NULL, 0})

/* ---- store/postgres/connect.c ---- */
enum status pg_open(const struct db_options *options, struct db **ret_db, struct error *err);
void pg_close(struct db *base);
/* Closes the connection and discards all session state. */
void pg_drop(struct postgres *db);
/* Ensures a live connection with current settings; for use outside of transactions. */
NODISCARD enum status pg_ready(struct postgres *db, struct error *err);
/* Queues the settings that must begin every transaction behind a pooler; does nothing otherwise. */
NODISCARD enum status pg_queue_local(struct postgres *db, struct error *err);
/* Same for a script outside of a transaction; NULL: out of memory. */
NODISCARD char *pg_local_script(const struct postgres *db, const char *sql);
bool pg_read_only(const struct db *base);
NODISCARD bool pg_set_text(char **place, struct str text);
void pg_sleep_ms(int ms);

/* ---- store/postgres/url.c ---- */
/* URL without its password, for messages; NULL: out of memory. */
NODISCARD char *pg_url_path(const char *url);
/* Removes the password from a text made by libpq. */
void pg_url_scrub(const struct libpq *pq, const char *url, char *text);

/* ---- store/postgres/error.c ---- */
/* Fills err from a result, or from the connection if it is NULL. */
enum pg_trouble pg_fail(struct postgres *db, const PGresult *result, const struct pg_pending *p, struct error *err);
enum status pg_fail_connect(struct postgres *db, PGconn *conn, bool timed_out, struct error *err);
/* May a retry help shortly? True if the server is starting or stopping or, if it was reachable just now, appears to be.
 */
bool pg_is_transient(const char *message, bool was_there);
static inline enum status pg_nomem(struct error *err) { return error_set(err, STATUS_NOMEM, "out of memory"); }

static inline enum status pg_lost(struct error *err) {
  error_set(err, STATUS_LOST, "the connection to the server was lost; nothing was changed");
  return error_fix(err, "try again; 'cairn doctor' checks whether the server answers");
}

/* ---- store/postgres/statement.c ---- */
/* Queues a statement with its values, which libpq copies; prepares it first if it is new. */
NODISCARD enum status pg_queue(struct postgres *db, enum pg_kind kind, const char *sql, struct db_values values,
                               struct error *err);
/* Same for short statements that are never prepared: BEGIN, COMMIT, ... */
NODISCARD enum status pg_queue_control(struct postgres *db, enum pg_kind kind, const char *sql, struct error *err);
void pg_statement_drop(struct postgres *db, uint64_t number);
void pg_statements_clear(struct postgres *db);
/* Replaces ?N by $N, outside of quotes and comments; `out` is as long as `sql`. */
void pg_translate(const char *sql, char *out);
bool pg_only_reads(const char *sql);

/* ---- store/postgres/pipe.c ---- */
void pg_push(struct postgres *db, enum pg_kind kind, uint64_t number, bool reused, size_t bytes);
/* Ends a group; the server then answers all of it. */
NODISCARD enum status pg_sync(struct postgres *db, struct error *err);
/* Sends the queue without waiting for answers. */
NODISCARD enum status pg_flush(struct postgres *db, struct error *err);
/* Sends the queue and reads all answers. ret_result (may be NULL) receives the result of the last query. The first
 * error is reported; inside a transaction it persists until rollback. */
enum pg_trouble pg_drain(struct postgres *db, PGresult **ret_result, struct error *err);
/* Returns the error of a failed transaction, as every statement does until rollback. */
NODISCARD enum status pg_repeat_failure(const struct postgres *db, struct error *err);
/* Reads unsolicited input: notifications, or the end of the connection. */
bool pg_alive(struct postgres *db);
/* Waits until the server has sent something, or for `ms`. */
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
/* Frees the results of all open queries; their owners may never end them. */
void pg_rows_clear(struct postgres *db);
/* Same for the results of queries later than `after`. */
void pg_rows_free_after(struct postgres *db, int64_t after);

/* ---- store/postgres/txn.c ---- */
enum status pg_begin(struct db *base, struct str team, bool lazy, struct error *err);
enum status pg_commit(struct db *base, struct error *err);
enum status pg_snapshot(struct db *base, bool *ret_began, struct error *err);
enum status pg_snapshot_end(struct db *base, bool began, enum status s, struct error *err);
void pg_rollback(struct db *base);
void pg_scope_abort(struct db *base, struct db_scope scope);
enum status pg_savepoint(struct db *base, struct error *err);
enum status pg_savepoint_end(struct db *base, bool keep, struct error *err);
