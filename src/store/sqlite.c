/* sqlite.c: the database driver on SQLite: connection, statements, rows, transactions.
 *
 * Locking rule: writers begin IMMEDIATE and wait in the busy handler; readers never wait (write-ahead log). mmap is
 * off: another process may truncate the log at any time. Nothing may open() and close() a store's file by itself: that
 * drops the locks of every connection that this process has on it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "store/db.h"
#include "store/sqlite_internal.h"

enum {
  CACHE_SIZE = 128, /* prepared statements a connection keeps; more are prepared anew each time */
  LOOSE_MAX = 16,
};

struct cached {
  char *sql;
  sqlite3_stmt *statement;
};

struct db {
  sqlite3 *handle;
  struct sqlite_fts *fts;
  struct cached cache[CACHE_SIZE];
  sqlite3_stmt *loose[LOOSE_MAX]; /* running statements that are not in the cache */
  int loose_count;
  int64_t busy_since; /* ticks when the present wait began */
  int busy_ms;
  bool read_only, lazy;
  bool wrote;   /* something was committed that must be on the disk */
  bool had_log; /* the log held something when this connection came */
  bool noted;   /* something was committed lazily */
  char path[4096];
};

sqlite3 *sqlite_handle(const struct db *db) { return db->handle; }
struct sqlite_fts *sqlite_fts_of(const struct db *db) { return db->fts; }
int db_set_busy(struct db *db, int busy_ms) {
  int former = db->busy_ms;
  db->busy_ms = busy_ms;
  return former;
}
bool db_read_only(const struct db *db) { return db->read_only; }
const char *db_path(const struct db *db) { return db->path; }

/* ---- errors ---- */

static enum status code_of(const struct db *db, int rc) {
  switch (rc & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
  case SQLITE_PROTOCOL:
    return STATUS_BUSY;
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_AUTH:
    return STATUS_READONLY;
  case SQLITE_FULL:
    return STATUS_NO_SPACE;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return STATUS_CORRUPT;
  case SQLITE_CONSTRAINT:
    return STATUS_CONFLICT;
  case SQLITE_NOMEM:
    return STATUS_NOMEM;
  case SQLITE_TOOBIG:
    return STATUS_TOO_LARGE;
  case SQLITE_INTERRUPT:
    return STATUS_INTERRUPTED;
  case SQLITE_CANTOPEN:
  case SQLITE_IOERR: {
    int e = db && db->handle ? sqlite3_system_errno(db->handle) : 0;
    return e == ENOSPC || e == EDQUOT ? STATUS_NO_SPACE : e == EACCES || e == EROFS ? STATUS_READONLY : STATUS_IO;
  }
  default:
    return STATUS_INTERNAL;
  }
}

enum status sqlite_fail(const struct db *db, int rc, struct error *err) {
  enum status code = code_of(db, rc);
  const char *text = db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc);
  switch (code) {
  case STATUS_BUSY:
    error_set(err, code, "another process kept %s locked for %d seconds", db->path, db->busy_ms / 1000);
    return error_fix(err, "try again; if it stays so, look for a process that is stuck while it writes to the store");
  case STATUS_NO_SPACE:
    error_set(err, code, "the disk that holds %s is full; nothing was changed", db->path);
    return error_fix(err, "free some space and repeat the command");
  case STATUS_READONLY:
    error_set(err, code, "%s cannot be written: %s", db->path, text);
    return error_fix(err, "check the permissions of the file and of its folder, or name another store with --db");
  case STATUS_CORRUPT:
    if ((rc & 0xff) == SQLITE_NOTADB) {
      error_set(err, code, "%s is not a Cairn store; it was left untouched", db->path);
      return error_fix(err, "name another file with --db; a new store is created there");
    }
    error_set(err, code, "%s is damaged or is not a store: %s", db->path, text);
    return error_fix(err, "run 'cairn doctor', or bring back a backup with 'cairn restore FILE'");
  case STATUS_NOMEM:
    return error_set(err, code, "out of memory");
  case STATUS_CONFLICT:
    return error_set(err, code, "%s", text);
  default:
    error_set(err, code, "%s: %s", db->path, text);
    return error_fix(err, "'cairn doctor' checks the store; is the disk in order, and its folder still there?");
  }
}

/* ---- connection ---- */

/* Waits a little longer each time, with jitter so that writers do not march in step. */
static int on_busy(void *arg, int count) {
  struct db *db = arg;
  int64_t now = clock_ticks_us();
  if (count == 0)
    db->busy_since = now;
  if (now - db->busy_since > (int64_t)db->busy_ms * 1000)
    return 0;
  unsigned jitter;
  sqlite3_randomness(sizeof(jitter), &jitter);
  long us = 200L << (count < 5 ? count : 5);
  us += (long)(jitter % (unsigned)us);
  struct timespec ts = {0, us * 1000};
  nanosleep(&ts, NULL);
  return 1;
}

static enum status check_path(const char *path, bool must_exist, struct error *err) {
  struct stat st;
  if (stat(path, &st) != 0) {
    if (errno == ENOENT && !must_exist)
      return STATUS_OK;
    error_errno(err, errno, "cannot open the store %s", path);
    return error_fix(err, "check the path given by --db or CAIRN_DB, and its permissions");
  }
  if (S_ISDIR(st.st_mode)) {
    error_set(err, STATUS_USAGE, "%s is a folder, not a store", path);
    return error_fix(err, "name a file, for example --db %s/cairn.db", path);
  }
  return STATUS_OK;
}

/* Creates an empty file that is private to its owner from the first byte on; SQLite gives its side files the same
 * mode. The file is made under another name and linked: opening and closing a store's own file would drop the locks
 * that another connection of this process holds on it. */
static enum status create_private(const char *path, struct error *err) {
  char fresh[4200];
  unsigned salt;
  sqlite3_randomness(sizeof(salt), &salt);
  snprintf(fresh, sizeof(fresh), "%s.new-%08x", path, salt);
  if (access(path, F_OK) == 0)
    return STATUS_OK;
  int fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    error_errno(err, errno, "cannot create the store %s", path);
    return error_fix(err, "check that the folder exists and can be written, or name another file with --db");
  }
  close(fd);
  int bad = link(fresh, path) == 0 || errno == EEXIST ? 0 : errno;
  unlink(fresh);
  return bad ? error_errno(err, bad, "cannot create the store %s", path) : STATUS_OK;
}

/* A store in a folder that cannot be written, with no log beside it, can still be read: nobody changes it. */
static int open_immutable(struct db *db, const char *path, int flags) {
  char uri[8300] = "file:";
  size_t n = 5;
  static const char hex[] = "0123456789ABCDEF";
  for (const char *p = path; *p && n < sizeof(uri) - 32; p++) {
    if (ascii_alnum(*p) || strchr("/._-", *p)) {
      uri[n++] = *p;
      continue;
    }
    uri[n++] = '%';
    uri[n++] = hex[(unsigned char)*p >> 4];
    uri[n++] = hex[(unsigned char)*p & 15];
  }
  snprintf(uri + n, sizeof(uri) - n, "?immutable=1");
  sqlite3_close(db->handle);
  db->handle = NULL;
  return sqlite3_open_v2(uri, &db->handle, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
}

static int open_read_only(struct db *db, const char *path, int flags) {
  char wal[4200];
  snprintf(wal, sizeof(wal), "%s-wal", path);
  db->read_only = true;
  int rc = sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_READONLY, NULL);
  if (rc != SQLITE_OK)
    return rc;
  rc = sqlite3_exec(db->handle, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
  bool closed = (rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY;
  return closed && access(wal, F_OK) != 0 ? open_immutable(db, path, flags) : SQLITE_OK;
}

static int open_handle(struct db *db, const struct db_options *o) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  int rc = SQLITE_CANTOPEN;
  if (!o->read_only)
    rc = sqlite3_open_v2(o->path, &db->handle, flags | SQLITE_OPEN_READWRITE, NULL);
  if (rc == SQLITE_OK && sqlite3_db_readonly(db->handle, "main") != 1)
    return rc;
  sqlite3_close(db->handle);
  db->handle = NULL;
  return open_read_only(db, o->path, flags);
}

static enum status configure(struct db *db, struct error *err) {
  sqlite3_busy_handler(db->handle, on_busy, db);
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  /* One plan for each text: else a value bound where a partial index could apply compiles the statement again, at every
   * call. */
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
  sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, 64 << 20);
  int rc = sqlite_fts_open(db->handle, &db->fts);
  if (rc != SQLITE_OK)
    return sqlite_fail(db, rc, err);
  return db_script(db, err,
                   "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA mmap_size = 0;"
                   "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -128000; PRAGMA recursive_triggers = ON;"
                   "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;");
}

enum status db_open(const struct db_options *o, struct db **ret_db, struct error *err) {
  enum status s = check_path(o->path, o->must_exist || o->read_only, err);
  if (s == STATUS_OK && !o->must_exist && !o->read_only)
    s = create_private(o->path, err);
  if (s != STATUS_OK)
    return s;
  struct db *db = mem_zalloc(sizeof(*db));
  if (!db)
    return error_set(err, STATUS_NOMEM, "out of memory");
  db->busy_ms = o->busy_ms;
  if ((size_t)snprintf(db->path, sizeof(db->path), "%s", o->path) >= sizeof(db->path)) {
    mem_free(db);
    return error_set(err, STATUS_USAGE, "the path of the store is too long");
  }
  char wal[sizeof(db->path) + 8];
  struct stat log;
  snprintf(wal, sizeof(wal), "%s-wal", o->path);
  db->had_log = stat(wal, &log) == 0 && log.st_size > 0;
  int rc = open_handle(db, o);
  s = rc == SQLITE_OK ? configure(db, err) : sqlite_fail(db, rc, err);
  if (s != STATUS_OK) {
    db_close(&db);
    return s;
  }
  *ret_db = db;
  return STATUS_OK;
}

void db_close(struct db **db) {
  if (!*db)
    return;
  /* The last one out moves the log into the file, so that the file alone is the store. A reader, who at most noted what
   * it read, does not make its caller wait for that. */
  if ((*db)->handle && !(*db)->wrote && ((*db)->noted || (*db)->had_log))
    sqlite3_db_config((*db)->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  for (int i = 0; i < CACHE_SIZE; i++) {
    sqlite3_finalize((*db)->cache[i].statement);
    mem_free((*db)->cache[i].sql);
  }
  sqlite3_close_v2((*db)->handle);
  sqlite_fts_close(&(*db)->fts);
  mem_free(*db);
  *db = NULL;
}

/* Changing the journal mode does not go through the busy handler, hence the loop. A store that is one already is only
 * looked at. */
enum status db_use_wal(struct db *db, struct error *err) {
  int rc, count = 0;
  do
    rc = sqlite3_exec(db->handle, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
  while ((rc & 0xff) == SQLITE_BUSY && on_busy(db, count++));
  return rc == SQLITE_OK ? STATUS_OK : sqlite_fail(db, rc, err);
}

/* While it waits for readers nobody can write: an export that takes minutes must not stop everybody for so long. */
enum status db_checkpoint(struct db *db, bool truncate, bool *ret_done, struct error *err) {
  enum { TRUNCATE_BUSY_MS = 2000 };
  int busy = db_set_busy(db, db->busy_ms < TRUNCATE_BUSY_MS ? db->busy_ms : TRUNCATE_BUSY_MS);
  int rc = sqlite3_wal_checkpoint_v2(db->handle, NULL,
                                     truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
  db_set_busy(db, busy);
  if (ret_done)
    *ret_done = rc == SQLITE_OK;
  return rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY ? STATUS_OK : sqlite_fail(db, rc, err);
}

/* ---- statements ---- */

/* FNV, eight bytes at a time. */
static size_t hash_sql(const char *sql) {
  uint64_t h = 14695981039346656037u, word;
  size_t n = strlen(sql);
  for (; n >= sizeof(word); n -= sizeof(word), sql += sizeof(word)) {
    memcpy(&word, sql, sizeof(word));
    h = (h ^ word) * 1099511628211u;
    h ^= h >> 32;
  }
  for (; n > 0; n--, sql++)
    h = (h ^ (unsigned char)*sql) * 1099511628211u;
  return (size_t)(h ^ h >> 29);
}

/* The cached statement of this text, a new cache entry, or (when its places are taken or it is running) a fresh one. */
static int prepare(struct db *db, const char *sql, sqlite3_stmt **ret, bool *ret_cached) {
  size_t at = hash_sql(sql) % CACHE_SIZE;
  struct cached *free_slot = NULL;
  *ret_cached = false;
  for (size_t i = 0; i < 8; i++) {
    struct cached *c = &db->cache[(at + i) % CACHE_SIZE];
    if (!c->sql) {
      free_slot = c;
      break;
    }
    if (strcmp(c->sql, sql) == 0) {
      if (sqlite3_stmt_busy(c->statement))
        break;
      *ret = c->statement;
      *ret_cached = true;
      return SQLITE_OK;
    }
  }
  int rc = sqlite3_prepare_v3(db->handle, sql, -1, free_slot ? SQLITE_PREPARE_PERSISTENT : 0, ret, NULL);
  if (rc != SQLITE_OK)
    return rc;
  size_t n = strlen(sql) + 1;
  char *copy = free_slot ? mem_alloc(n) : NULL;
  if (copy) {
    memcpy(copy, sql, n);
    *free_slot = (struct cached){copy, *ret};
    *ret_cached = true;
  } else if (db->loose_count < LOOSE_MAX) {
    db->loose[db->loose_count++] = *ret;
  }
  return rc;
}

static void finish(struct db *db, sqlite3_stmt *statement, bool cached) {
  if (!cached) {
    for (int i = 0; i < db->loose_count; i++)
      if (db->loose[i] == statement)
        db->loose[i] = db->loose[--db->loose_count];
    sqlite3_finalize(statement);
    return;
  }
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

static int bind_value(sqlite3_stmt *st, int i, const struct db_value *v) {
  switch (v->form) {
  case 'i':
    return sqlite3_bind_int64(st, i, v->i);
  case 't':
    return v->i ? sqlite3_bind_int64(st, i, v->i) : sqlite3_bind_null(st, i);
  case 'd':
    return sqlite3_bind_double(st, i, v->d);
  case 's':
    return v->s.p ? sqlite3_bind_text64(st, i, v->s.p, v->s.n, SQLITE_STATIC, SQLITE_UTF8) : sqlite3_bind_null(st, i);
  case 'b':
    return sqlite3_bind_blob64(st, i, v->s.p ? v->s.p : "", v->s.n, SQLITE_STATIC);
  default:
    return SQLITE_MISUSE;
  }
}

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
    v.s = va_arg(*ap, struct str);
  }
  return v;
}

/* Text and bytes are bound where they are: the caller keeps them until the statement is done. */
static int start(struct db *db, const char *sql, const char *format, va_list *ap, sqlite3_stmt **ret, bool *cached) {
  int rc = prepare(db, sql, ret, cached);
  for (int i = 0; rc == SQLITE_OK && format && format[i]; i++) {
    struct db_value v = next_value(format[i], ap);
    rc = bind_value(*ret, i + 1, &v);
    if (rc != SQLITE_OK)
      finish(db, *ret, *cached);
  }
  return rc;
}

static int start_sql(struct db *db, const struct sql *sql, sqlite3_stmt **ret, bool *cached) {
  int rc = prepare(db, buf_str(&sql->text).p, ret, cached);
  for (size_t i = 0; rc == SQLITE_OK && i < sql->n; i++) {
    rc = bind_value(*ret, (int)i + 1, &sql->v[i]);
    if (rc != SQLITE_OK)
      finish(db, *ret, *cached);
  }
  return rc;
}

static enum status run_to_end(struct db *db, sqlite3_stmt *st, bool cached, struct error *err) {
  int rc;
  while ((rc = sqlite3_step(st)) == SQLITE_ROW)
    continue;
  enum status s = rc == SQLITE_DONE ? STATUS_OK : sqlite_fail(db, rc, err);
  finish(db, st, cached);
  return s;
}

enum status db_exec_sql(struct db *db, struct error *err, const struct sql *sql) {
  sqlite3_stmt *st = NULL;
  bool cached;
  int rc = start_sql(db, sql, &st, &cached);
  return rc == SQLITE_OK ? run_to_end(db, st, cached, err) : sqlite_fail(db, rc, err);
}

enum status db_exec(struct db *db, struct error *err, const char *sql, const char *format, ...) {
  sqlite3_stmt *st = NULL;
  bool cached;
  va_list ap;
  va_start(ap, format);
  int rc = start(db, sql, format, &ap, &st, &cached);
  va_end(ap);
  return rc == SQLITE_OK ? run_to_end(db, st, cached, err) : sqlite_fail(db, rc, err);
}

enum status db_script(struct db *db, struct error *err, const char *sql) {
  int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
  return rc == SQLITE_OK ? STATUS_OK : sqlite_fail(db, rc, err);
}

int64_t db_last_id(const struct db *db) { return sqlite3_last_insert_rowid(db->handle); }
int64_t db_changes(const struct db *db) { return sqlite3_changes64(db->handle); }

/* ---- rows ---- */

static void query(struct db *db, struct rows *r, struct error *err, const char *sql, const char *format, va_list *ap) {
  sqlite3_stmt *st = NULL;
  *r = (struct rows){.db = db, .err = err};
  int rc = start(db, sql, format, ap, &st, &r->cached);
  if (rc == SQLITE_OK)
    r->statement = st;
  else
    r->status = sqlite_fail(db, rc, err);
}

void db_query(struct db *db, struct rows *ret_rows, struct error *err, const char *sql, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  query(db, ret_rows, err, sql, format, &ap);
  va_end(ap);
}

void db_query_sql(struct db *db, struct rows *ret_rows, struct error *err, const struct sql *sql) {
  sqlite3_stmt *st = NULL;
  *ret_rows = (struct rows){.db = db, .err = err};
  int rc = start_sql(db, sql, &st, &ret_rows->cached);
  if (rc == SQLITE_OK)
    ret_rows->statement = st;
  else
    ret_rows->status = sqlite_fail(db, rc, err);
}

bool rows_next(struct rows *r) {
  if (r->status != STATUS_OK || !r->statement)
    return false;
  int rc = sqlite3_step(r->statement);
  if (rc == SQLITE_ROW)
    return true;
  if (rc != SQLITE_DONE)
    r->status = sqlite_fail(r->db, rc, r->err);
  finish(r->db, r->statement, r->cached);
  r->statement = NULL;
  return false;
}

enum status rows_end(struct rows *r) {
  if (r->statement)
    finish(r->db, r->statement, r->cached);
  r->statement = NULL;
  return r->status;
}

bool rows_null(const struct rows *r, int column) { return sqlite3_column_type(r->statement, column) == SQLITE_NULL; }
int64_t rows_int(const struct rows *r, int column) { return sqlite3_column_int64(r->statement, column); }
double rows_real(const struct rows *r, int column) { return sqlite3_column_double(r->statement, column); }

struct str rows_text(const struct rows *r, int column) {
  const void *p = sqlite3_column_blob(r->statement, column);
  int n = sqlite3_column_bytes(r->statement, column);
  if (!p && !rows_null(r, column))
    p = "";
  return (struct str){p, (size_t)n};
}

struct str rows_dup(const struct rows *r, int column, struct arena *a) {
  struct str s = rows_text(r, column);
  return s.p ? arena_dup(a, s) : STR_NONE;
}

enum status db_int(struct db *db, int64_t *ret_value, bool *ret_found, struct error *err, const char *sql,
                   const char *format, ...) {
  struct rows r;
  va_list ap;
  va_start(ap, format);
  query(db, &r, err, sql, format, &ap);
  va_end(ap);
  bool found = rows_next(&r);
  int64_t value = found ? rows_int(&r, 0) : 0;
  enum status s = rows_end(&r);
  if (s != STATUS_OK)
    return s;
  *ret_value = value;
  if (ret_found)
    *ret_found = found;
  return s;
}

/* data_version counts the commits of other connections, total_changes the rows that this one has changed. */
enum status db_stamp(struct db *db, struct db_stamp *ret_stamp, struct error *err) {
  int64_t own = sqlite3_total_changes64(db->handle);
  enum status s = db_int(db, &ret_stamp->others, NULL, err, "PRAGMA data_version", NULL);
  if (s == STATUS_OK)
    ret_stamp->own = own;
  return s;
}

/* ---- transactions ---- */

enum status db_begin(struct db *db, bool lazy, struct error *err) {
  if (db->read_only) {
    error_set(err, STATUS_READONLY, "%s cannot be written", db->path);
    return error_fix(err, "check the permissions of the file and of its folder, or name another store with --db");
  }
  if (lazy != db->lazy) {
    enum status s = db_script(db, err, lazy ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
    if (s != STATUS_OK)
      return s;
    db->lazy = lazy;
  }
  return db_exec(db, err, "BEGIN IMMEDIATE", NULL);
}

enum status db_commit(struct db *db, struct error *err) {
  enum status s = db_exec(db, err, "COMMIT", NULL);
  db->wrote |= s == STATUS_OK && !db->lazy;
  db->noted |= s == STATUS_OK && db->lazy;
  return s;
}

enum status db_snapshot(struct db *db, bool *ret_alone, struct error *err) {
  *ret_alone = sqlite3_get_autocommit(db->handle);
  return *ret_alone ? db_exec(db, err, "BEGIN", NULL) : STATUS_OK;
}

enum status db_snapshot_end(struct db *db, bool alone, enum status s, struct error *err) {
  if (!alone || sqlite3_get_autocommit(db->handle))
    return s;
  struct error ignored;
  enum status end = db_exec(db, s == STATUS_OK ? err : &ignored, "COMMIT", NULL);
  return s == STATUS_OK ? end : s;
}

void db_rollback(struct db *db) {
  for (int i = 0; i < CACHE_SIZE; i++)
    sqlite3_reset(db->cache[i].statement);
  /* What is not kept was left by a query that an out-of-memory jump cut off. */
  while (db->loose_count > 0)
    sqlite3_finalize(db->loose[--db->loose_count]);
  if (!sqlite3_get_autocommit(db->handle))
    sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

enum status db_mark(struct db *db, struct error *err) { return db_exec(db, err, "SAVEPOINT mark", NULL); }

enum status db_unmark(struct db *db, bool keep, struct error *err) {
  enum status s = keep ? STATUS_OK : db_exec(db, err, "ROLLBACK TO mark", NULL);
  return s == STATUS_OK ? db_exec(db, err, "RELEASE mark", NULL) : s;
}

bool db_in_transaction(const struct db *db) { return !sqlite3_get_autocommit(db->handle); }

bool db_writing(const struct db *db) { return sqlite3_txn_state(db->handle, NULL) == SQLITE_TXN_WRITE; }
