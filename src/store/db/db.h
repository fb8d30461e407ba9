/* db.h: the small database driver under the store: run SQL with bound values, walk rows, transactions, backup.
 *
 * SQL is written once, in the subset that SQLite and PostgreSQL share, with numbered parameters ?1, ?2, ...; what
 * cannot be shared (migrations, full text, vectors) has a file for each engine (engine.h). What the engines have in
 * common is db.c; sqlite.c and postgres.c are the two of them, each behind a struct db_driver (store/db/driver.h).
 *
 * Values are bound by a format string, one letter each:
 *   i int64_t   d double   s struct str, NULL when .p is   b the same as bytes   t time: int64_t, NULL when 0
 * A format has at most 32 letters; more are an error. A statement with more values is put together by struct sql.
 * Statements are prepared once for each connection and kept. */
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
  int busy_ms;      /* how long a call waits for another process's lock before it gives up */
  int connect_ms;   /* how long a server may take to be connected to, and no second try; 0: as its address says */
  bool must_exist;  /* do not create the file */
  bool read_only;
};

/* Whether it names a server and not a file. */
bool db_is_url(const char *path);
/* For a program, at its very start: the driver then keeps no account of its memory. That account has one lock for all
 * connections, taken at every allocation, and threads that search at the same time wait for each other there. Without
 * effect once a database was opened; not for libraries, whose host may count on that account. */
void db_for_threads(void);

NODISCARD enum status db_open(const struct db_options *options, struct db **ret_db, struct error *err);
void db_close(struct db **db);
enum db_engine db_engine(const struct db *db);

/* Runs a statement to its end; rows it returns are dropped. Inside a transaction a server may be told of it later: what
 * went wrong is then an error of a later statement, of db_unmark() or of db_commit(), and after an error all of them
 * fail until it is rolled back, or taken back to a mark. */
NODISCARD enum status db_exec(struct db *db, struct error *err, const char *sql, const char *format, ...);
/* Runs several statements separated by ';', without values. The id of a new row is asked for: "INSERT ... RETURNING id"
 * and db_int(). */
NODISCARD enum status db_script(struct db *db, struct error *err, const char *sql);
/* Rows that the last db_exec() has changed. */
int64_t db_changes(struct db *db);

/* A running query:
 *   struct rows r;
 *   db_query(db, &r, err, "SELECT ...", "s", team);
 *   while (rows_next(&r)) ... rows_int(&r, 0) ...
 *   return rows_end(&r);
 * Errors surface at rows_end(), which must always be called; text is valid until the next rows_next(). A server sends
 * all rows at once: who walks through a whole table asks for it page by page. */
struct rows {
  struct db *db;
  void *statement;
  struct error *err;
  enum status status;
  bool cached;
  int64_t at; /* where an engine that has all rows at hand stands */
};
void db_query(struct db *db, struct rows *ret_rows, struct error *err, const char *sql, const char *format, ...);
/* The same with the values of a built statement; see struct sql. */
struct sql;
void db_query_sql(struct db *db, struct rows *ret_rows, struct error *err, const struct sql *sql);
NODISCARD enum status db_exec_sql(struct db *db, struct error *err, const struct sql *sql);
bool rows_next(struct rows *r);
NODISCARD enum status rows_end(struct rows *r);
bool rows_null(const struct rows *r, int column);
int64_t rows_int(const struct rows *r, int column);
double rows_real(const struct rows *r, int column);
struct str rows_text(const struct rows *r, int column);
/* A copy in the arena, absent for NULL. */
struct str rows_dup(const struct rows *r, int column, struct arena *a);

/* A statement put together from parts; each bound value becomes the next ?N.
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
void sql_time(struct sql *q, int64_t value); /* NULL when 0 */
/* "(?4, ?5, ...)" with these ids, at most SQL_IDS, at least one. The last is repeated until there are as many as one of
 * a few sizes: lists of all lengths make a few statements, which are prepared once each. */
enum { SQL_IDS = 128 };
void sql_ids(struct sql *q, const int64_t *ids, size_t n);

/* The first column of the first row; ret_found (may be NULL) says whether there was one. */
NODISCARD enum status db_int(struct db *db, int64_t *ret_value, bool *ret_found, struct error *err, const char *sql,
                             const char *format, ...);
NODISCARD enum status db_int_sql(struct db *db, int64_t *ret_value, bool *ret_found, struct error *err,
                                 const struct sql *sql);

/* Write transactions take the write lock of a team at once, so that they never fail half-way for want of it; an engine
 * without such locks takes that of the store, and so does every engine when no team is given (STR_NONE): for what
 * concerns all of them. A lazy one does not wait for the disk when it commits: for what may be lost with the machine
 * (access counts), never for memories. */
NODISCARD enum status db_begin(struct db *db, struct str team, bool lazy, struct error *err);
NODISCARD enum status db_commit(struct db *db, struct error *err);
/* One state of the store for the queries between the two, and their locks taken once; inside a transaction nothing
 * happens. The end passes on `s`, what came of the queries. */
NODISCARD enum status db_snapshot(struct db *db, bool *ret_alone, struct error *err);
NODISCARD enum status db_snapshot_end(struct db *db, bool alone, enum status s, struct error *err);
/* Ends any open transaction and every running query; cannot fail. */
void db_rollback(struct db *db);
/* What runs on a connection at some point. db_scope_abort() ends the queries, and the transaction, that began after it;
 * those that ran before go on. For code that was left by an out-of-memory jump: store.h has a boundary that does it. */
struct db_scope {
  int64_t queries; /* the number of the last one */
  bool in_transaction;
};
struct db_scope db_scope(const struct db *db);
void db_scope_abort(struct db *db, struct db_scope scope);
/* A point inside a transaction, and the end of it: what was changed since is kept, or taken back. */
NODISCARD enum status db_mark(struct db *db, struct error *err);
NODISCARD enum status db_unmark(struct db *db, bool keep, struct error *err);
bool db_in_transaction(const struct db *db);
/* Changes when the connection was made anew. */
int64_t db_sessions(const struct db *db);
/* How many transactions this connection has committed for good, lazy ones not counted. */
int64_t db_commits(const struct db *db);
/* In a transaction that may still be taken back: what is read in it may never have been. */
bool db_writing(const struct db *db);

/* What a reader of the whole database has seen: as long as both numbers stay, nobody has changed anything, but for what
 * this connection has rolled back. */
struct db_stamp {
  int64_t others, own; /* an engine that cannot tell gives another one each time */
};
NODISCARD enum status db_stamp(struct db *db, struct db_stamp *ret_stamp, struct error *err);

/* Whose rows the statements from now on may see and write, as a second wall behind what they ask for themselves:
 * STR_NONE for all teams. An engine without row-level security does nothing. A transaction is of its team anyway. */
NODISCARD enum status db_team(struct db *db, struct str team, struct error *err);

/* Waits until somebody has committed a change, at most so long (0: only looks); may be true without any. */
NODISCARD enum status db_wait(struct db *db, int ms, bool *ret_news, struct error *err);

/* How far a long piece of work is. */
typedef void (*db_progress)(void *arg, int64_t done, int64_t total);

/* Moves the log into the file, as far as readers allow; with `truncate`, waits up to two seconds for them, and then
 * empties the log. ret_done (may be NULL) says whether readers allowed all of it. A server does that by itself. */
NODISCARD enum status db_checkpoint(struct db *db, bool truncate, bool *ret_done, struct error *err);
/* How long calls wait for a lock from now on; returns the former value. */
int db_set_busy(struct db *db, int busy_ms);
/* How long one statement may run from now on, 0: as long as it takes, for what goes through the whole store; returns
 * the former value. Inside a transaction it is for the next one. An engine within the process has no limit, and says 0.
 */
int db_set_limit(struct db *db, int ms);
bool db_read_only(const struct db *db);
/* The file, or the address of the server without its password: for messages. */
const char *db_path(const struct db *db);
