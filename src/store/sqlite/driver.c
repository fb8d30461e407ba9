/* driver.c: database driver for SQLite: connection, statements, rows, transactions.
 *
 * Locking: writers wait for their turn in this process (turns.c), then begin IMMEDIATE and wait for other processes in
 * the busy handler; readers never wait (write-ahead log). mmap is off,
 * because another process may truncate the log at any time. Never open() and close() a store's file directly: that
 * drops the locks of every connection that this process has on it. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/clock.h"
#include "store/db/driver.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/sqlite.h"

enum {
  CACHE_SIZE = 128, /* cached prepared statements; others are prepared each time */
  UNCACHED_MAX = 16,
  CHECKPOINT_PAGES = 1000, /* size of the log that starts a checkpoint, as SQLite's default */
};

struct cached {
  char *sql;
  sqlite3_stmt *statement;
  int64_t query; /* last query that it was prepared for; see struct db_scope */
};

/* A running statement that is not cached. */
struct uncached {
  sqlite3_stmt *statement;
  int64_t query;
};

struct sqlite {
  struct db base;
  sqlite3 *handle;
  struct sqlite_fts *fts;
  struct cached cache[CACHE_SIZE];
  struct cached *last; /* most recently used; loops repeat the same statement */
  struct uncached uncached[UNCACHED_MAX];
  int uncached_count;
  int64_t busy_since; /* ticks at the start of the current wait */
  int64_t asked_at;   /* ticks when a transaction asked for its turn; 0: none is being begun */
  struct sqlite_turns *turns;
  bool has_turn;
  int busy_ms;
  bool read_only, lazy;
  bool wrote;        /* a commit must reach the disk */
  bool had_log;      /* the log was not empty when the connection was opened */
  bool wrote_lazily; /* a lazy transaction was committed */
  bool has_seen;     /* wait_for_news() has set `seen` */
  int64_t seen;
  struct sqlite_files files;
  char path[4096];
};

static struct sqlite *own(struct db *db) { return (struct sqlite *)db; }
static const struct sqlite *own_const(const struct db *db) { return (const struct sqlite *)db; }

sqlite3 *sqlite_handle(const struct db *db) { return own_const(db)->handle; }

bool sqlite_had_log(const struct db *db) { return own_const(db)->had_log; }
struct sqlite_fts *sqlite_fts_of(const struct db *db) { return own_const(db)->fts; }

static int set_busy(struct db *db, int busy_ms) {
  int former = own(db)->busy_ms;
  own(db)->busy_ms = busy_ms;
  return former;
}

static int set_limit(struct db *db UNUSED, int ms UNUSED) { return 0; }

static bool is_read_only(const struct db *db) { return own_const(db)->read_only; }
static const char *path_of(const struct db *db) { return own_const(db)->path; }

/* ---- errors ---- */

/* Limit of the size of files (ulimit -f), -1: none. SQLite does not report EFBIG. */
static int64_t size_limit(void) {
  struct rlimit limit;
  bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? (int64_t)limit.rlim_cur : -1;
}

static enum status code_of(const struct sqlite *db, int rc) {
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
    if (rc == SQLITE_IOERR_WRITE && size_limit() >= 0)
      return STATUS_NO_SPACE;
    return e == ENOSPC || e == EDQUOT ? STATUS_NO_SPACE : e == EACCES || e == EROFS ? STATUS_READONLY : STATUS_IO;
  }
  default:
    return STATUS_INTERNAL;
  }
}

enum status sqlite_fail(const struct db *base, int rc, struct error *err) {
  const struct sqlite *db = own_const(base);
  enum status code = code_of(db, rc);
  const char *text = db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc);
  switch (code) {
  case STATUS_BUSY:
    error_set(err, code, "another process kept %s locked for %d seconds", db->path, db->busy_ms / 1000);
    return error_fix(err, "try again; if it persists, look for a stuck process that is writing to the store");
  case STATUS_NO_SPACE:
    if (rc == SQLITE_IOERR_WRITE) {
      error_set(err, code, "%s cannot grow: the file size limit of this process is %lld bytes; nothing was changed",
                db->path, (long long)size_limit());
      return error_fix(err, "raise the limit (ulimit -f, or LimitFSIZE= of a service), and restart");
    }
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
    return error_fix(err, "run 'cairn doctor', or restore a backup with 'cairn restore FILE'");
  case STATUS_NOMEM:
    return error_set(err, code, "out of memory");
  case STATUS_CONFLICT:
    return error_set(err, code, "%s", text);
  default:
    error_set(err, code, "%s: %s", db->path, text);
    return error_fix(err, "run 'cairn doctor', and check the disk and the folder of the store");
  }
}

/* ---- connection ---- */

void db_disable_memstats(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/* Waits a little longer each time, with jitter so that writers do not retry in step. */
static int on_busy(void *arg, int count) {
  struct sqlite *db = arg;
  int64_t now = clock_ticks_us();
  if (count == 0)
    db->busy_since = db->asked_at ? db->asked_at : now;
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

static bool take_turn(struct sqlite *db) {
  db->has_turn |= !db->turns || sqlite_turn_take(db->turns, db->asked_at + (int64_t)db->busy_ms * 1000);
  return db->has_turn;
}

static void leave_turn(struct sqlite *db) {
  if (db->has_turn && db->turns)
    sqlite_turn_leave(db->turns);
  db->has_turn = false;
}

/* Called after a commit has released the lock: others write during the checkpoint. */
static int on_committed(void *arg, sqlite3 *handle, const char *name, int pages) {
  leave_turn(arg);
  if (pages >= CHECKPOINT_PAGES)
    sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
  return SQLITE_OK;
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

/* Creates an empty file that is private from the start; SQLite gives its side files the same mode. The file is created
 * under another name and linked: opening and closing the store's own file would drop the locks of other connections of
 * this process. */
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

int sqlite_open_without_log(const char *path, int flags, sqlite3 **ret_handle) {
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
  return sqlite3_open_v2(uri, ret_handle, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
}

/* A store in a read-only folder without a log can still be read: it cannot change. */
static int open_immutable(struct sqlite *db, const char *path, int flags) {
  sqlite3_close(db->handle);
  db->handle = NULL;
  return sqlite_open_without_log(path, flags, &db->handle);
}

static int open_read_only(struct sqlite *db, const char *path, int flags) {
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

static int open_handle(struct sqlite *db, const struct db_options *o) {
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

static enum status configure(struct sqlite *db, struct error *err) {
  sqlite3_busy_handler(db->handle, on_busy, db);
  sqlite3_wal_hook(db->handle, on_committed, db);
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  /* One plan per statement text. Otherwise binding a value that could match a partial index recompiles the statement at
   * every call. */
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
  sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, 64 << 20);
  int rc = sqlite_fts_open(db->handle, &db->fts);
  if (rc != SQLITE_OK)
    return sqlite_fail(&db->base, rc, err);
  return db_script(&db->base, err,
                   "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA mmap_size = 0;"
                   "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -128000; PRAGMA recursive_triggers = ON;"
                   "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;");
}

static void close_connection(struct db *base) {
  struct sqlite *db = own(base);
  /* The last connection to close moves the log into the file, so the file is complete by itself. A reader, which
   * at most recorded its reads, does not make its caller wait for that. */
  if (db->handle && !db->wrote && (db->wrote_lazily || db->had_log))
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  for (int i = 0; i < CACHE_SIZE; i++) {
    sqlite3_finalize(db->cache[i].statement);
    mem_free(db->cache[i].sql);
  }
  for (int i = 0; i < db->uncached_count; i++)
    sqlite3_finalize(db->uncached[i].statement);
  if (db->handle)
    sqlite_set_log_aside(db->handle, &db->files);
  sqlite3_close_v2(db->handle);
  sqlite_fts_close(&db->fts);
  leave_turn(db);
  sqlite_turns_close(&db->turns);
  mem_free(db);
}

static enum status open_connection(const struct db_options *o, struct db **ret_db, struct error *err) {
  TRY(check_path(o->path, o->must_exist || o->read_only, err));
  if (!o->must_exist && !o->read_only)
    TRY(create_private(o->path, err));
  struct sqlite *db = mem_zalloc(sizeof(*db));
  if (!db)
    return error_set(err, STATUS_NOMEM, "out of memory");
  db->base.driver = &sqlite_driver;
  db->busy_ms = o->busy_ms;
  if ((size_t)snprintf(db->path, sizeof(db->path), "%s", o->path) >= sizeof(db->path)) {
    mem_free(db);
    return error_set(err, STATUS_USAGE, "the store path is too long");
  }
  char wal[sizeof(db->path) + 8];
  struct stat log;
  snprintf(wal, sizeof(wal), "%s-wal", o->path);
  db->had_log = stat(wal, &log) == 0 && log.st_size > 0;
  int rc = open_handle(db, o);
  enum status s = rc == SQLITE_OK ? configure(db, err) : sqlite_fail(&db->base, rc, err);
  if (s != STATUS_OK) {
    close_connection(&db->base);
    return s;
  }
  db->files.store = db_file_at(sqlite3_db_filename(db->handle, "main"));
  db->turns = sqlite_turns_open(db->files.store);
  *ret_db = &db->base;
  return STATUS_OK;
}

/* Changing the journal mode bypasses the busy handler, hence the loop. If the mode is already set, it is only read. */
enum status sqlite_use_wal(struct db *db, struct error *err) {
  int rc, count = 0;
  do
    rc = sqlite3_exec(own(db)->handle, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
  while ((rc & 0xff) == SQLITE_BUSY && on_busy(own(db), count++));
  return rc == SQLITE_OK ? STATUS_OK : sqlite_fail(db, rc, err);
}

/* Waits only briefly for readers: it blocks writers meanwhile, and an export may read for minutes. */
static enum status checkpoint(struct db *db, bool truncate, bool *ret_done, struct error *err) {
  enum { TRUNCATE_BUSY_MS = 2000 };
  int former = own(db)->busy_ms, busy = former < TRUNCATE_BUSY_MS ? former : TRUNCATE_BUSY_MS;
  set_busy(db, busy);
  int rc = sqlite3_wal_checkpoint_v2(own(db)->handle, NULL,
                                     truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
  set_busy(db, former);
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

static bool is_last(const struct sqlite *db, const char *sql) {
  return db->last && strcmp(db->last->sql, sql) == 0 && !sqlite3_stmt_busy(db->last->statement);
}

/* Returns the cached statement, a new cache entry, or an uncached one if the slots are taken or the statement is
 * running. */
static int prepare(struct sqlite *db, const char *sql, sqlite3_stmt **ret, bool *ret_cached) {
  if (is_last(db, sql)) {
    db->last->query = db->base.queries;
    *ret = db->last->statement;
    *ret_cached = true;
    return SQLITE_OK;
  }
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
      c->query = db->base.queries;
      *ret = c->statement;
      *ret_cached = true;
      db->last = c;
      return SQLITE_OK;
    }
  }
  int rc = sqlite3_prepare_v3(db->handle, sql, -1, free_slot ? SQLITE_PREPARE_PERSISTENT : 0, ret, NULL);
  if (rc != SQLITE_OK)
    return rc;
  size_t n = strlen(sql) + 1;
  char *copy = free_slot ? mem_alloc(n) : NULL;
  assert(*ret);
  if (copy) {
    memcpy(copy, sql, n);
    *free_slot = (struct cached){copy, *ret, db->base.queries};
    *ret_cached = true;
  } else if (db->uncached_count < UNCACHED_MAX) {
    db->uncached[db->uncached_count++] = (struct uncached){*ret, db->base.queries};
  }
  return rc;
}

static void finish(struct sqlite *db, sqlite3_stmt *statement, bool cached) {
  if (!cached) {
    for (int i = 0; i < db->uncached_count; i++)
      if (db->uncached[i].statement == statement)
        db->uncached[i] = db->uncached[--db->uncached_count];
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
    return v->s.p ? sqlite3_bind_blob64(st, i, v->s.p, v->s.n, SQLITE_STATIC) : sqlite3_bind_null(st, i);
  default:
    assert(false); /* a form of db.h */
    return SQLITE_MISUSE;
  }
}

/* Text and bytes are not copied: the caller keeps them until the statement is done. */
static int start(struct sqlite *db, const char *sql, struct db_values values, sqlite3_stmt **ret, bool *cached) {
  int rc = prepare(db, sql, ret, cached);
  assert(rc != SQLITE_OK || values.n == (size_t)sqlite3_bind_parameter_count(*ret));
  for (size_t i = 0; rc == SQLITE_OK && i < values.n; i++) {
    rc = bind_value(*ret, (int)i + 1, &values.v[i]);
    if (rc != SQLITE_OK)
      finish(db, *ret, *cached);
  }
  return rc;
}

static enum status exec(struct db *base, const char *sql, struct db_values values, struct error *err) {
  struct sqlite *db = own(base);
  sqlite3_stmt *st = NULL;
  bool cached;
  int rc = start(db, sql, values, &st, &cached);
  if (rc != SQLITE_OK)
    return sqlite_fail(base, rc, err);
  while ((rc = sqlite3_step(st)) == SQLITE_ROW)
    continue;
  enum status s = rc == SQLITE_DONE ? STATUS_OK : sqlite_fail(base, rc, err);
  finish(db, st, cached);
  return s;
}

static enum status script(struct db *db, const char *sql, struct error *err) {
  int rc = sqlite3_exec(own(db)->handle, sql, NULL, NULL, NULL);
  return rc == SQLITE_OK ? STATUS_OK : sqlite_fail(db, rc, err);
}

int64_t sqlite_last_id(const struct db *db) { return sqlite3_last_insert_rowid(own_const(db)->handle); }
static int64_t changes(struct db *db) { return sqlite3_changes64(own(db)->handle); }

/* ---- rows ---- */

static void query(struct rows *r, const char *sql, struct db_values values) {
  sqlite3_stmt *st = NULL;
  int rc = start(own(r->db), sql, values, &st, &r->cached);
  if (rc == SQLITE_OK)
    r->statement = st;
  else
    r->status = sqlite_fail(r->db, rc, r->err);
}

static void end_rows(struct rows *r) {
  if (r->statement)
    finish(own(r->db), r->statement, r->cached);
  r->statement = NULL;
}

static bool next_row(struct rows *r) {
  int rc = sqlite3_step(r->statement);
  if (rc == SQLITE_ROW)
    return true;
  if (rc != SQLITE_DONE)
    r->status = sqlite_fail(r->db, rc, r->err);
  end_rows(r);
  return false;
}

UNUSED static bool has_column(const struct rows *r, int column) {
  return column >= 0 && column < sqlite3_column_count(r->statement);
}

static bool is_null(const struct rows *r, int column) {
  assert(has_column(r, column));
  return sqlite3_column_type(r->statement, column) == SQLITE_NULL;
}

static int64_t int_at(const struct rows *r, int column) {
  assert(has_column(r, column));
  return sqlite3_column_int64(r->statement, column);
}

static double real_at(const struct rows *r, int column) {
  assert(has_column(r, column));
  return sqlite3_column_double(r->statement, column);
}

static struct str text_at(const struct rows *r, int column) {
  assert(has_column(r, column));
  const void *p = sqlite3_column_blob(r->statement, column);
  int n = sqlite3_column_bytes(r->statement, column);
  if (!p && !is_null(r, column))
    p = "";
  return (struct str){p, (size_t)n};
}

/* data_version counts commits of other connections, total_changes the rows changed by this one. */
static enum status stamp(struct db *db, struct db_stamp *ret_stamp, struct error *err) {
  int64_t mine = sqlite3_total_changes64(own(db)->handle);
  TRY(db_int(db, &ret_stamp->others, NULL, err, "PRAGMA data_version", NULL));
  ret_stamp->own = mine;
  return STATUS_OK;
}

/* ---- transactions ---- */

static enum status run(struct db *db, const char *sql, struct error *err) {
  return exec(db, sql, (struct db_values){0}, err);
}

static enum status check_present(struct db *base, struct error *err) {
  return sqlite_check_files(own(base)->handle, &own(base)->files, err);
}

static bool in_transaction(const struct db *db) { return !sqlite3_get_autocommit(own_const(db)->handle); }

/* An error may have ended the transaction already. */
static void roll_back(struct sqlite *db) {
  if (in_transaction(&db->base))
    sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
  leave_turn(db);
}

static enum status take_lock(struct sqlite *db, struct error *err) {
  db->asked_at = clock_ticks_us();
  enum status s = take_turn(db) ? run(&db->base, "BEGIN IMMEDIATE", err) : sqlite_fail(&db->base, SQLITE_BUSY, err);
  db->asked_at = 0;
  if (s != STATUS_OK)
    leave_turn(db);
  return s;
}

/* The lock is taken first: waiting for it may take a minute. */
static enum status begin(struct db *base, struct str team UNUSED, bool lazy, struct error *err) {
  struct sqlite *db = own(base);
  if (db->read_only) {
    error_set(err, STATUS_READONLY, "%s cannot be written", db->path);
    return error_fix(err, "check the permissions of the file and of its folder, or name another store with --db");
  }
  if (lazy != db->lazy) {
    enum status s = script(base, lazy ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL", err);
    if (s != STATUS_OK)
      return s;
    db->lazy = lazy;
  }
  TRY(take_lock(db, err));
  enum status s = check_present(base, err);
  if (s != STATUS_OK)
    roll_back(db);
  return s;
}

/* On failure the caller rolls back. */
static enum status commit(struct db *base, struct error *err) {
  struct sqlite *db = own(base);
  TRY(check_present(base, err));
  enum status s = run(base, "COMMIT", err);
  if (s == STATUS_OK) /* without changes there is no log to write, and on_committed() is not called */
    leave_turn(db);
  db->wrote |= s == STATUS_OK && !db->lazy;
  db->wrote_lazily |= s == STATUS_OK && db->lazy;
  return s;
}

static enum status snapshot(struct db *db, bool *ret_began, struct error *err) {
  *ret_began = !in_transaction(db);
  return *ret_began ? run(db, "BEGIN", err) : STATUS_OK;
}

static enum status snapshot_end(struct db *db, bool began, enum status s, struct error *err) {
  if (!began || !in_transaction(db))
    return s;
  struct error ignored;
  enum status end = run(db, "COMMIT", s == STATUS_OK ? err : &ignored);
  return s == STATUS_OK ? end : s;
}

static void rollback(struct db *base) {
  struct sqlite *db = own(base);
  for (int i = 0; i < CACHE_SIZE; i++)
    sqlite3_reset(db->cache[i].statement);
  /* Uncached statements were left by a query that an out-of-memory jump aborted. */
  while (db->uncached_count > 0)
    sqlite3_finalize(db->uncached[--db->uncached_count].statement);
  roll_back(db);
}

static void scope_abort(struct db *base, struct db_scope scope) {
  struct sqlite *db = own(base);
  for (int i = 0; i < CACHE_SIZE; i++)
    if (db->cache[i].statement && db->cache[i].query > scope.queries) {
      sqlite3_reset(db->cache[i].statement);
      sqlite3_clear_bindings(db->cache[i].statement);
    }
  for (int i = db->uncached_count - 1; i >= 0; i--)
    if (db->uncached[i].query > scope.queries) {
      sqlite3_finalize(db->uncached[i].statement);
      db->uncached[i] = db->uncached[--db->uncached_count];
    }
  if (!scope.in_transaction)
    roll_back(db);
}

static enum status savepoint(struct db *db, struct error *err) { return run(db, "SAVEPOINT mark", err); }

static enum status savepoint_end(struct db *db, bool keep, struct error *err) {
  if (!keep)
    TRY(run(db, "ROLLBACK TO mark", err));
  return run(db, "RELEASE mark", err);
}

static bool writing(const struct db *db) { return sqlite3_txn_state(own_const(db)->handle, NULL) == SQLITE_TXN_WRITE; }

/* A file has no row-level security: the conditions in the statements are the only isolation. */
static enum status team(struct db *db UNUSED, struct str name UNUSED, struct error *err UNUSED) { return STATUS_OK; }

/* There is no notification of commits by other processes, so this polls. */
static enum status wait_for_news(struct db *base, int ms, bool *ret_news, struct error *err) {
  struct sqlite *db = own(base);
  struct db_stamp now = {0};
  if (ms > 0) {
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&ts, NULL);
  }
  TRY(stamp(base, &now, err));
  *ret_news = !db->has_seen || now.others != db->seen;
  db->seen = now.others;
  db->has_seen = true;
  return STATUS_OK;
}

const struct db_driver sqlite_driver = {
    .engine = DB_SQLITE,
    .open = open_connection,
    .close = close_connection,
    .exec = exec,
    .script = script,
    .changes = changes,
    .query = query,
    .rows_next = next_row,
    .rows_end = end_rows,
    .rows_null = is_null,
    .rows_int = int_at,
    .rows_real = real_at,
    .rows_text = text_at,
    .begin = begin,
    .commit = commit,
    .snapshot = snapshot,
    .snapshot_end = snapshot_end,
    .rollback = rollback,
    .scope_abort = scope_abort,
    .savepoint = savepoint,
    .savepoint_end = savepoint_end,
    .in_transaction = in_transaction,
    .writing = writing,
    .team = team,
    .stamp = stamp,
    .wait = wait_for_news,
    .checkpoint = checkpoint,
    .set_busy = set_busy,
    .set_limit = set_limit,
    .read_only = is_read_only,
    .check_present = check_present,
    .path = path_of,
};
