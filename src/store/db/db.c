/* db.c: engine-independent part of the driver: selects the engine, collects the values of a statement, dispatches both.
 */
#include "store/db/db.h"

#include <assert.h>
#include <stdarg.h>

#include "store/db/driver.h"

enum { VALUES_MAX = 32 }; /* documented in db.h */

void (*db_statement_check)(const char *sql, enum db_engine engine);

bool db_is_url(const char *path) {
  struct str s = str_from(path);
  return str_starts(s, STR("postgresql://")) || str_starts(s, STR("postgres://"));
}

enum status db_open(const struct db_options *o, struct db **ret_db, struct error *err) {
  return (db_is_url(o->path) ? &postgres_driver : &sqlite_driver)->open(o, ret_db, err);
}

void db_close(struct db **db) {
  if (*db)
    (*db)->driver->close(*db);
  *db = NULL;
}

enum db_engine db_engine(const struct db *db) { return db->driver->engine; }

/* ---- statements ---- */

static struct db_value next_value(char form, va_list *ap) {
  struct db_value v = {.form = form};
  switch (form) {
  case 'i':
  case 't':
    v.i = va_arg(*ap, int64_t);
    break;
  case 'd':
    v.d = va_arg(*ap, double);
    break;
  default:
    assert(form == 's' || form == 'b');
    v.s = va_arg(*ap, struct str);
  }
  return v;
}

static enum status gather(struct db_value *room, const char *format, va_list *ap, struct db_values *ret,
                          struct error *err) {
  size_t n = format ? strlen(format) : 0;
  if (n > VALUES_MAX)
    return error_set(err, STATUS_INTERNAL, "a statement has %zu values, at most %d can be given by a format", n,
                     VALUES_MAX);
  for (size_t i = 0; i < n; i++)
    room[i] = next_value(format[i], ap);
  *ret = (struct db_values){room, n};
  return STATUS_OK;
}

static struct db_values values_of(const struct sql *sql) { return (struct db_values){sql->v, sql->n}; }

static enum status exec(struct db *db, const char *sql, struct db_values values, struct error *err) {
  if (db_statement_check)
    db_statement_check(sql, db->driver->engine);
  return db->driver->exec(db, sql, values, err);
}

enum status db_exec(struct db *db, struct error *err, const char *sql, const char *format, ...) {
  struct db_value room[VALUES_MAX];
  struct db_values values;
  va_list ap;
  va_start(ap, format);
  enum status s = gather(room, format, &ap, &values, err);
  va_end(ap);
  return s == STATUS_OK ? exec(db, sql, values, err) : s;
}

enum status db_exec_sql(struct db *db, struct error *err, const struct sql *sql) {
  return exec(db, buf_str(&sql->text).p, values_of(sql), err);
}

enum status db_script(struct db *db, struct error *err, const char *sql) {
  if (db_statement_check)
    db_statement_check(sql, db->driver->engine);
  return db->driver->script(db, sql, err);
}

int64_t db_changes(struct db *db) { return db->driver->changes(db); }

/* ---- rows ---- */

static void query(struct db *db, struct rows *r, struct error *err, const char *sql, struct db_values values) {
  *r = (struct rows){.db = db, .err = err};
  if (db_statement_check)
    db_statement_check(sql, db->driver->engine);
  db->queries++;
  db->driver->query(r, sql, values);
}

static void query_with(struct db *db, struct rows *r, struct error *err, const char *sql, const char *format,
                       va_list *ap) {
  struct db_value room[VALUES_MAX];
  struct db_values values;
  enum status s = gather(room, format, ap, &values, err);
  if (s == STATUS_OK)
    query(db, r, err, sql, values);
  else
    *r = (struct rows){.db = db, .err = err, .status = s};
}

void db_query(struct db *db, struct rows *ret_rows, struct error *err, const char *sql, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  query_with(db, ret_rows, err, sql, format, &ap);
  va_end(ap);
}

void db_query_sql(struct db *db, struct rows *ret_rows, struct error *err, const struct sql *sql) {
  query(db, ret_rows, err, buf_str(&sql->text).p, values_of(sql));
}

bool rows_next(struct rows *r) { return r->status == STATUS_OK && r->statement && r->db->driver->rows_next(r); }

enum status rows_end(struct rows *r) {
  r->db->driver->rows_end(r);
  return r->status;
}

bool rows_null(const struct rows *r, int column) {
  assert(r->statement);
  return r->db->driver->rows_null(r, column);
}

int64_t rows_int(const struct rows *r, int column) {
  assert(r->statement);
  return r->db->driver->rows_int(r, column);
}

double rows_real(const struct rows *r, int column) {
  assert(r->statement);
  return r->db->driver->rows_real(r, column);
}

struct str rows_text(const struct rows *r, int column) {
  assert(r->statement);
  return r->db->driver->rows_text(r, column);
}

struct str rows_dup(const struct rows *r, int column, struct arena *a) {
  struct str s = rows_text(r, column);
  return s.p ? arena_dup(a, s) : STR_NONE;
}

static enum status first_int(struct rows *r, int64_t *ret_value, bool *ret_found) {
  bool found = rows_next(r);
  int64_t value = found ? rows_int(r, 0) : 0;
  if (found) /* "INSERT ... RETURNING" is complete only after the last row was read */
    rows_next(r);
  TRY(rows_end(r));
  *ret_value = value;
  if (ret_found)
    *ret_found = found;
  return STATUS_OK;
}

enum status db_int(struct db *db, int64_t *ret_value, bool *ret_found, struct error *err, const char *sql,
                   const char *format, ...) {
  struct rows r;
  va_list ap;
  va_start(ap, format);
  query_with(db, &r, err, sql, format, &ap);
  va_end(ap);
  return first_int(&r, ret_value, ret_found);
}

enum status db_int_sql(struct db *db, int64_t *ret_value, bool *ret_found, struct error *err, const struct sql *sql) {
  struct rows r;
  db_query_sql(db, &r, err, sql);
  return first_int(&r, ret_value, ret_found);
}

/* ---- transactions ---- */

enum status db_begin(struct db *db, struct str team, bool lazy, struct error *err) {
  db->lazy = lazy;
  return db->driver->begin(db, team, lazy, err);
}

enum status db_commit(struct db *db, struct error *err) {
  enum status s = db->driver->commit(db, err);
  db->commits += s == STATUS_OK && !db->lazy;
  return s;
}

int64_t db_sessions(const struct db *db) { return db->sessions; }
int64_t db_commits(const struct db *db) { return db->commits; }

enum status db_snapshot(struct db *db, bool *ret_began, struct error *err) {
  return db->driver->snapshot(db, ret_began, err);
}

enum status db_snapshot_end(struct db *db, bool began, enum status s, struct error *err) {
  return db->driver->snapshot_end(db, began, s, err);
}

void db_rollback(struct db *db) { db->driver->rollback(db); }

struct db_scope db_scope(const struct db *db) {
  return (struct db_scope){.queries = db->queries, .in_transaction = db_in_transaction(db)};
}

void db_scope_abort(struct db *db, struct db_scope scope) {
  assert(scope.queries <= db->queries);
  db->driver->scope_abort(db, scope);
}

enum status db_savepoint(struct db *db, struct error *err) { return db->driver->savepoint(db, err); }
enum status db_savepoint_end(struct db *db, bool keep, struct error *err) {
  return db->driver->savepoint_end(db, keep, err);
}
bool db_in_transaction(const struct db *db) { return db->driver->in_transaction(db); }
bool db_writing(const struct db *db) { return db->driver->writing(db); }

/* ---- connection ---- */

enum status db_team(struct db *db, struct str team, struct error *err) { return db->driver->team(db, team, err); }

enum status db_stamp(struct db *db, struct db_stamp *ret_stamp, struct error *err) {
  return db->driver->stamp(db, ret_stamp, err);
}

enum status db_wait(struct db *db, int ms, bool *ret_news, struct error *err) {
  assert(ms >= 0);
  return db->driver->wait(db, ms, ret_news, err);
}

enum status db_checkpoint(struct db *db, bool truncate, bool *ret_done, struct error *err) {
  return db->driver->checkpoint(db, truncate, ret_done, err);
}

int db_set_busy(struct db *db, int busy_ms) {
  assert(busy_ms >= 0);
  return db->driver->set_busy(db, busy_ms);
}

int db_set_limit(struct db *db, int ms) {
  assert(ms >= 0);
  return db->driver->set_limit(db, ms);
}

enum status db_check_present(struct db *db, struct error *err) {
  return db->driver->check_present ? db->driver->check_present(db, err) : STATUS_OK;
}

bool db_read_only(const struct db *db) { return db->driver->read_only(db); }
const char *db_path(const struct db *db) { return db->driver->path(db); }

/* ---- statements built from parts, with bound values ---- */

void sql_add(struct sql *q, const char *text) { buf_adds(&q->text, text); }

void sql_addf(struct sql *q, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  struct str s = arena_vprintf(q->text.a, fmt, ap);
  va_end(ap);
  buf_add(&q->text, s);
}

/* Hand-written for speed: every stored memory builds a statement of fifty values. */
static void add_number(struct buf *b, size_t n) {
  char digits[20];
  size_t at = sizeof(digits);
  do
    digits[--at] = (char)('0' + n % 10);
  while ((n /= 10) > 0);
  buf_add(b, (struct str){digits + at, sizeof(digits) - at});
}

static void bind(struct sql *q, struct db_value v) {
  list_push(q->text.a, q, v);
  buf_addc(&q->text, '?');
  add_number(&q->text, q->n);
}

void sql_text(struct sql *q, struct str value) { bind(q, (struct db_value){.form = 's', .s = value}); }
void sql_int(struct sql *q, int64_t value) { bind(q, (struct db_value){.form = 'i', .i = value}); }
void sql_real(struct sql *q, double value) { bind(q, (struct db_value){.form = 'd', .d = value}); }
void sql_time(struct sql *q, int64_t value) { bind(q, (struct db_value){.form = 't', .i = value}); }

void sql_ids(struct sql *q, const int64_t *ids, size_t n) {
  assert(n > 0 && n <= SQL_IDS);
  size_t size = n <= 8 ? 8 : n <= 32 ? 32 : SQL_IDS;
  for (size_t i = 0; i < size; i++) {
    sql_add(q, i ? ", " : "(");
    sql_int(q, ids[i < n ? i : n - 1]);
  }
  sql_add(q, ")");
}
