/* backup.c: backup of a server's store into an SQLite store file, and restore.
 *
 * A backup reads one snapshot while others continue to write. A restore replaces everything in one transaction under
 * the lock of the whole store. */
#include <stdio.h>
#include <unistd.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "store/copy/readmit.h"
#include "store/engine.h"
#include "store/postgres/backup.h"
#include "store/sqlite/sqlite.h"

/* ---- location of automatic backups ---- */

static void add_clean(struct buf *b, struct str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    buf_addc(b, plain ? c : '_');
  }
}

/* Value of a URL parameter; empty if absent. */
static struct str parameter(struct str query, const char *name) {
  for (size_t at = 0; at < query.n;) {
    size_t end = str_find(query, STR("&"), at);
    struct str part = str_slice(query, at, end == SIZE_MAX ? query.n : end);
    size_t equal = str_find(part, STR("="), 0);
    if (equal != SIZE_MAX && str_is(str_slice(part, 0, equal), name))
      return str_slice(part, equal + 1, part.n);
    at += part.n + 1;
  }
  return STR("");
}

struct str postgres_backup_name(struct arena *a, const char *url) {
  struct str s = str_from(url), query = STR("");
  struct buf b = BUF(a);
  if (!s.p)
    return STR("");
  size_t at = str_find(s, STR("://"), 0);
  s = str_slice(s, at == SIZE_MAX ? 0 : at + 3, s.n);
  at = str_find(s, STR("?"), 0);
  if (at != SIZE_MAX) {
    query = str_slice(s, at + 1, s.n);
    s = str_slice(s, 0, at);
  }
  for (size_t i = s.n; i-- > 0;)
    if (s.p[i] == '@') { /* the user does not matter, and a password must never be part of a file name */
      s = str_slice(s, i + 1, s.n);
      break;
    }
  add_clean(&b, s);
  static const char *const parameters[] = {"host", "port", "dbname"};
  for (size_t i = 0; i < ARRAY_LEN(parameters); i++) {
    struct str value = parameter(query, parameters[i]);
    if (!str_empty(value)) {
      buf_addc(&b, '_');
      add_clean(&b, value);
    }
  }
  return buf_str(&b);
}

enum status postgres_backup_base(struct store *st, struct arena *a, struct str *ret_base, struct error *err) {
  struct str name = postgres_backup_name(a, db_path(st->db));
  return fs_xdg(a, XDG_STATE, arena_printf(a, "cairn/backups/%.*s", STR_ARG(name)).p, ret_base, err);
}

/* ---- backup ---- */

struct progress_hook {
  db_progress progress;
  void *arg;
};

static void report_progress(void *arg, const char *what UNUSED, int64_t done, int64_t total) {
  const struct progress_hook *t = arg;
  t->progress(t->arg, done, total);
}

static enum status copy_all(struct copy *c, struct error *err) {
  struct copy_cursor cursor = {0};
  struct str epoch;
  TRY(copy_count(c, err));
  TRY(copy_rows(c, &cursor, err));
  TRY(copy_verify(c, err));
  TRY(copy_finish(c, err));
  TRY(store_meta(c->from, "epoch", c->arena, &epoch, err));
  return store_set_meta(c->to, "epoch", epoch, err);
}

/* A new file that no other process has open needs no journal. It is synced once, when complete, and then has no side
 * files. */
static enum status fill(struct copy *c, struct error *err) {
  struct db *to = c->to->db;
  bool began = false;
  TRY(db_script(to, err, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF"));
  TRY(db_team(c->from->db, STR_NONE, err));
  TRY(db_snapshot(c->from->db, &began, err));
  enum status s = db_begin(to, STR_NONE, false, err);
  if (s == STATUS_OK)
    s = copy_all(c, err);
  if (s == STATUS_OK)
    s = db_commit(to, err);
  s = db_snapshot_end(c->from->db, began, s, err);
  return s == STATUS_OK ? db_script(to, err, "PRAGMA journal_mode = DELETE") : s;
}

static enum status write_file(struct store *st, const char *part, const struct progress_hook *hook, struct error *err) {
  struct store_options o = {.path = part, .must_exist = true};
  struct copy c = {.from = st};
  struct arena a;
  jmp_buf oom;
  volatile enum status s = store_open(&o, &c.to, err);
  if (s != STATUS_OK)
    return s;
  arena_init(&a);
  c.arena = &a;
  if (hook->progress)
    c.hooks = (struct copy_hooks){.arg = (void *)(uintptr_t)hook, .progress = report_progress};
  if (ARENA_BOUNDARY(&a, oom))
    s = error_set(err, STATUS_NOMEM, "out of memory");
  else
    s = fill(&c, err);
  if (s != STATUS_OK)
    store_rollback(c.to);
  arena_release(&a);
  store_close(&c.to);
  return s;
}

enum status postgres_store_copy_to(struct store *st, const char *path, db_progress progress, void *arg,
                                   struct error *err) {
  struct progress_hook hook = {progress, arg};
  char part[SQLITE_PART_SIZE];
  TRY(sqlite_part_new(path, part, err));
  enum status s = write_file(st, part, &hook, err);
  return sqlite_part_end(part, path, s, err);
}

/* ---- restore ---- */

/* Everything happens under one lock: the safety backup has exactly the replaced content. */
static enum status replace(struct copy *c, int64_t now, struct restored *restored, struct error *err) {
  struct copy_cursor cursor = {0};
  struct admission known;
  char epoch[UUID_SIZE];
  uuid7_new(now, epoch);
  TRY(store_backup_path(c->to, "before-restore", now, c->arena, &restored->safety, err));
  TRY(store_copy_to(c->to, restored->safety.p, NULL, NULL, err));
  TRY(readmit_note(c->to, c->arena, &known, err));
  TRY(db_script(c->to->db, err, "SET LOCAL statement_timeout = 0"));
  TRY(copy_clear(c->to, c->arena, err));
  TRY(copy_prepare(c->to, err));
  TRY(copy_rows(c, &cursor, err));
  TRY(copy_settle(c->to, err));
  TRY(copy_verify(c, err));
  TRY(copy_finish(c, err));
  TRY(readmit_apply(c->to, &known, now, c->arena, restored, err));
  TRY(store_set_meta(c->to, "epoch", str_from(epoch), err));
  return db_commit(c->to->db, err);
}

static void close_backup(void *arg) { store_close(arg); }

enum status postgres_store_restore(struct store *st, const char *path, int64_t now, struct arena *a,
                                   struct restored *ret_restored, struct error *err) {
  struct copy *c = arena_new(a, struct copy);
  struct store_options o = {.path = path, .must_exist = true, .read_only = true, .now = now};
  struct restored restored = {0};
  c->to = st;
  c->arena = a;
  arena_defer(a, close_backup, &c->from);
  TRY(store_open(&o, &c->from, err));
  TRY(db_team(st->db, STR_NONE, err));
  TRY(db_begin(st->db, STR_NONE, false, err));
  enum status s = replace(c, now, &restored, err);
  if (s != STATUS_OK)
    store_rollback(st);
  store_close(&c->from);
  if (s == STATUS_OK)
    *ret_restored = restored;
  return s;
}
