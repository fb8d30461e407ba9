/* driver.h: interface between db.c and the engines. Included only by the files of the driver: db.c, sqlite/driver.c,
 * postgres/driver.c.
 *
 * An engine's connection begins with a struct db, by which db.c finds the engine. The functions are documented in db.h
 * under the same names. */
#pragma once

#include "store/db/db.h"

/* Values of one statement; the caller keeps texts and bytes until the statement is done. */
struct db_values {
  const struct db_value *v;
  size_t n;
};

struct db_driver {
  enum db_engine engine;
  enum status (*open)(const struct db_options *options, struct db **ret_db, struct error *err);
  void (*close)(struct db *db);

  enum status (*exec)(struct db *db, const char *sql, struct db_values values, struct error *err);
  enum status (*script)(struct db *db, const char *sql, struct error *err);
  int64_t (*changes)(struct db *db);

  /* `r` has its db and err; failures are stored in r->status. rows_next() is called only while r->statement is set,
   * which it clears after the last row. rows_end() may be called at any time, and repeatedly. */
  void (*query)(struct rows *r, const char *sql, struct db_values values);
  bool (*rows_next)(struct rows *r);
  void (*rows_end)(struct rows *r);
  bool (*rows_null)(const struct rows *r, int column);
  int64_t (*rows_int)(const struct rows *r, int column);
  double (*rows_real)(const struct rows *r, int column);
  struct str (*rows_text)(const struct rows *r, int column);

  enum status (*begin)(struct db *db, struct str team, bool lazy, struct error *err);
  enum status (*commit)(struct db *db, struct error *err);
  enum status (*snapshot)(struct db *db, bool *ret_began, struct error *err);
  enum status (*snapshot_end)(struct db *db, bool began, enum status s, struct error *err);
  void (*rollback)(struct db *db);
  void (*scope_abort)(struct db *db, struct db_scope scope);
  enum status (*savepoint)(struct db *db, struct error *err);
  enum status (*savepoint_end)(struct db *db, bool keep, struct error *err);
  bool (*in_transaction)(const struct db *db);
  bool (*writing)(const struct db *db);

  enum status (*team)(struct db *db, struct str team, struct error *err);
  enum status (*stamp)(struct db *db, struct db_stamp *ret_stamp, struct error *err);
  enum status (*wait)(struct db *db, int ms, bool *ret_news, struct error *err);
  enum status (*checkpoint)(struct db *db, bool truncate, bool *ret_done, struct error *err);
  int (*set_busy)(struct db *db, int busy_ms);
  int (*set_limit)(struct db *db, int ms);
  bool (*read_only)(const struct db *db);
  enum status (*check_present)(struct db *db, struct error *err); /* NULL: the engine has no file */
  const char *(*path)(const struct db *db);
};

/* First member of every engine's connection. */
struct db {
  const struct db_driver *driver;
  int64_t commits;
  int64_t sessions; /* number of connections made */
  int64_t queries;  /* number of queries begun */
  bool lazy;        /* the last transaction begun is lazy */
};

extern const struct db_driver sqlite_driver, postgres_driver;
