/* db.h: small database driver under the store: SQL with bound values, rows, transactions, backup.
 *
 * SQL is written once, in the subset that SQLite and PostgreSQL share, with numbered parameters ?1, ?2, ... Parts that
 * cannot be shared (migrations, full text, vectors) have a file per engine (engine.h). db.c is common to the engines;
 * sqlite/driver.c and postgres/driver.c each implement a struct db_driver (store/db/driver.h).
 *
 * Values are bound by a format string, one letter each:
 *   i int64_t   d double   s struct str, NULL if .p is   b same as bytes   t time: int64_t, NULL if 0
 * A format has at most 32 letters; more are an error. Statements with more values are built with struct sql. Statements
 * are prepared once per connection and cached. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

struct db;

/* One bound value; form is a letter as above. */
struct db_value {
  char form;
  int64_t i;
  double d;
  struct str s;
};

enum db_engine { DB_SQLITE, DB_POSTGRES };

struct db_options {
  const char *path; /* a file, or postgresql://... */
  int busy_ms;      /* how long a call waits for another process's lock */
  int connect_ms;   /* connection timeout, without a second attempt; 0: as set in the URL */
  bool must_exist;  /* do not create the file */
  bool read_only;
};

/* True for a server URL. */
bool db_is_url(const char *path);
/* Called before each statement runs, unless NULL; tests set it. */
extern void (*db_statement_check)(const char *sql, enum db_engine engine);
/* Disables SQLite's memory statistics; call it at program start. They take one lock for all connections at every
 * allocation, which makes concurrent searches wait for each other. No effect once a database was opened. Not for
 * libraries, whose host may rely on the statistics. */
void db_disable_memstats(void);

/* Identity of a file; ino == 0: none, or a server. */
struct db_file {
  uint64_t dev, ino;
  bool filled; /* it had content */
};
struct db_file db_file_at(const char *path);
/* Fails if the path no longer leads to the file that was opened, or if that file lost all its content. */
NODISCARD enum status db_check_file(const char *path, struct db_file opened, struct error *err);

NODISCARD enum status db_open(const struct db_options *options, struct db **ret_db, struct error *err);
void db_close(struct db **db);
enum db_engine db_engine(const struct db *db);

/* Runs a statement to completion; result rows are discarded. Inside a transaction a server may receive it later: its
 * failure is then reported by a later statement, db_savepoint_end() or db_commit(), and all of them fail until the
 * transaction is rolled back, or rolled back to a savepoint. */
NODISCARD enum status db_exec(struct db *db, struct error *err, const char *sql, const char *format, ...);
/* Runs several statements separated by ';', without values. To get the id of a new row, use "INSERT ... RETURNING id"
 * and db_int(). */
NODISCARD enum status db_script(struct db *db, struct error *err, const char *sql);
/* Rows changed by the last db_exec(). */
int64_t db_changes(struct db *db);

/* A running query:
 *   struct rows r;
 *   db_query(db, &r, err, "SELECT ...", "s", team);
 *   while (rows_next(&r)) ... rows_int(&r, 0) ...
 *   return rows_end(&r);
 * Errors are returned by rows_end(), which must always be called. Text is valid until the next rows_next(). A server
 * sends all rows at once, so read large tables page by page. */
struct rows {
  struct db *db;
  void *statement;
  struct error *err;
  enum status status;
  bool cached;
  int64_t at; /* current row, for an engine that has fetched all rows */
};
void db_query(struct db *db, struct rows *ret_rows, struct error *err, const char *sql, const char *format, ...);
/* Same with the values of a built statement; see struct sql. */
struct sql;
void db_query_sql(struct db *db, struct rows *ret_rows, struct error *err, const struct sql *sql);
NODISCARD enum status db_exec_sql(struct db *db, struct error *err, const struct sql *sql);
bool rows_next(struct rows *r);
NODISCARD enum status rows_end(struct rows *r);
bool rows_null(const struct rows *r, int column);
int64_t rows_int(const struct rows *r, int column);
double rows_real(const struct rows *r, int column);
struct str rows_text(const struct rows *r, int column);
/* Copy in the arena; absent if NULL. */
struct str rows_dup(const struct rows *r, int column, struct arena *a);

/* A statement built from parts; each bound value becomes the next ?N.
 *   struct sql q = SQL(arena);
 *   sql_add(&q, "SELECT id FROM memory WHERE team = "); sql_text(&q, team); */
struct sql {
  struct buf text;
  struct db_value *v;
  size_t n, cap;
};
#define SQL(arena) ((struct sql){.text = BUF(arena)})
void sql_add(struct sql *q, const char *text);
void sql_addf(struct sql *q, const char *fmt, ...) PRINTF_FMT(2, 3);
void sql_text(struct sql *q, struct str value);
void sql_int(struct sql *q, int64_t value);
void sql_real(struct sql *q, double value);
void sql_time(struct sql *q, int64_t value); /* NULL if 0 */
/* Adds "(?4, ?5, ...)" with these ids, 1 to SQL_IDS. The last is repeated up to one of a few sizes, so lists of
 * all lengths share a few prepared statements. */
enum { SQL_IDS = 128 };
void sql_ids(struct sql *q, const int64_t *ids, size_t n);

/* First column of the first row; ret_found (may be NULL) tells whether there was a row. */
NODISCARD enum status db_int(struct db *db, int64_t *ret_value, bool *ret_found, struct error *err, const char *sql,
                             const char *format, ...);
NODISCARD enum status db_int_sql(struct db *db, int64_t *ret_value, bool *ret_found, struct error *err,
                                 const struct sql *sql);

/* Write transactions take the write lock of a team at the start, so they never fail half-way for lack of it. An
 * engine without such locks takes that of the store; so does every engine if no team is given (STR_NONE), for changes
 * to all teams. A lazy transaction does not wait for the disk at commit: for data that may be lost in a crash (access
 * counts), never for memories. */
NODISCARD enum status db_begin(struct db *db, struct str team, bool lazy, struct error *err);
NODISCARD enum status db_commit(struct db *db, struct error *err);
/* One snapshot of the store for the queries between the two calls, with locks taken once; no effect inside a
 * transaction. The end returns `s`, the outcome of the queries. */
NODISCARD enum status db_snapshot(struct db *db, bool *ret_began, struct error *err);
NODISCARD enum status db_snapshot_end(struct db *db, bool began, enum status s, struct error *err);
/* Ends any open transaction and all running queries; cannot fail. */
void db_rollback(struct db *db);
/* State of a connection at some point. db_scope_abort() ends the queries and the transaction that began after it;
 * earlier ones continue. For code aborted by an out-of-memory jump: store.h has a boundary that does it. */
struct db_scope {
  int64_t queries; /* number of the last query */
  bool in_transaction;
};
struct db_scope db_scope(const struct db *db);
void db_scope_abort(struct db *db, struct db_scope scope);
/* Savepoint inside a transaction, and its end: the changes since are kept or rolled back. */
NODISCARD enum status db_savepoint(struct db *db, struct error *err);
NODISCARD enum status db_savepoint_end(struct db *db, bool keep, struct error *err);
bool db_in_transaction(const struct db *db);
/* Number of connections made; changes after a reconnect. */
int64_t db_sessions(const struct db *db);
/* Number of transactions committed by this connection, except lazy ones. */
int64_t db_commits(const struct db *db);
/* True in a write transaction, whose data may still be rolled back. */
bool db_writing(const struct db *db);

/* Version of the whole database as a reader sees it: while both numbers stay the same, nothing has changed, except for
 * rollbacks by this connection. */
struct db_stamp {
  int64_t others, own; /* an engine that cannot tell returns a new value each time */
};
NODISCARD enum status db_stamp(struct db *db, struct db_stamp *ret_stamp, struct error *err);

/* Sets whose rows the following statements may read and write, as row-level isolation in addition to their own
 * conditions; STR_NONE for all teams. An engine without row-level security does nothing. A transaction always uses its
 * own team. */
NODISCARD enum status db_team(struct db *db, struct str team, struct error *err);

/* Waits until a change was committed, at most `ms` (0: only checks); may be true without a change. */
NODISCARD enum status db_wait(struct db *db, int ms, bool *ret_news, struct error *err);

/* Progress of a long operation. */
typedef void (*db_progress)(void *arg, int64_t done, int64_t total);

/* Moves the log into the file as far as readers allow; with `truncate`, waits up to two seconds for them and then
 * truncates the log. ret_done (may be NULL): the whole log was moved. A server does that by itself. */
NODISCARD enum status db_checkpoint(struct db *db, bool truncate, bool *ret_done, struct error *err);
/* Sets how long calls wait for a lock; returns the previous value. */
int db_set_busy(struct db *db, int busy_ms);
/* Sets the statement timeout, 0: none, for work on the whole store; returns the previous value. Inside a transaction it
 * applies to the next one. An engine within the process has no limit and returns 0. */
int db_set_limit(struct db *db, int ms);
bool db_read_only(const struct db *db);
/* Fails if the file was deleted, renamed or replaced since it was opened: writes to it would be lost. Every write
 * transaction checks it. A server always succeeds. */
NODISCARD enum status db_check_present(struct db *db, struct error *err);
/* The file, or the server URL without its password: for messages. */
const char *db_path(const struct db *db);
