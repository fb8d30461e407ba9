/* backups.c: automatic backups of a store: naming, listing, rotation, restore. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "store/copy/readmit.h"
#include "store/engine.h"
#include "store/postgres/backup.h"
#include "store/sqlite/sqlite.h"
#include "store/store_internal.h"

enum { STRAY_SECONDS = 24 * 3600 }; /* age from which an unfinished copy is assumed to be left by a killed process */

/* Common prefix of the backups' paths: the store file, or for a server a path in the user's state folder. */
static enum status backup_base(struct store *st, struct arena *a, struct str *ret_base, struct error *err) {
  if (db_engine(st->db) == DB_POSTGRES)
    return postgres_backup_base(st, a, ret_base, err);
  *ret_base = str_from(db_path(st->db));
  return STATUS_OK;
}

/* Splits a path into folder and file name. */
static struct str split_path(struct arena *a, const char *path, const char **ret_name) {
  const char *slash = strrchr(path, '/');
  *ret_name = slash ? slash + 1 : path;
  return slash ? arena_dup(a, (struct str){path, (size_t)(slash - path) + 1}) : STR("./");
}

static int by_text(const void *x, const void *y) { return str_cmp(*(const struct str *)x, *(const struct str *)y); }

/* Compares the time at the end of the name first, so the label does not matter. */
static int by_time(const void *x, const void *y) {
  struct str a = *(const struct str *)x, b = *(const struct str *)y;
  enum { STAMP = 20 };
  struct str ta = a.n > STAMP ? str_slice(a, a.n - STAMP, a.n) : a,
             tb = b.n > STAMP ? str_slice(b, b.n - STAMP, b.n) : b;
  int c = str_cmp(ta, tb);
  return c ? c : by_text(x, y);
}

enum backup_file { WHOLE, UNFINISHED, ARCHIVE };

static enum backup_file classify(struct str file) {
  if (str_ends(file, STR(".part")) || str_ends(file, STR("-journal")) || str_ends(file, STR("-wal")) ||
      str_ends(file, STR("-shm")))
    return UNFINISHED;
  return str_ends(file, STR(BACKUP_TRANSCRIPTS)) ? ARCHIVE : WHOLE;
}

static void close_folder(void *arg) {
  DIR **dir = arg;
  if (*dir)
    closedir(*dir);
  *dir = NULL;
}

/* Files of one kind with the prefix of automatic backups. */
static void list_files(struct store *st, struct arena *a, enum backup_file kind, struct strs *ret_paths) {
  const char *name;
  struct str base;
  struct error ignored;
  if (backup_base(st, a, &base, &ignored) != STATUS_OK || !base.p)
    return;
  struct str folder = split_path(a, base.p, &name);
  struct str prefix = arena_printf(a, "%s.backup-", name);
  DIR **dir = arena_new(a, DIR *); /* closed by the arena if noting a name leaves by a jump */
  arena_defer(a, close_folder, dir);
  *dir = opendir(folder.p);
  for (struct dirent *e; *dir && (e = readdir(*dir));) {
    struct str file = str_from(e->d_name);
    if (str_starts(file, prefix) && classify(file) == kind)
      strs_push(a, ret_paths, arena_printf(a, "%s%s", folder.p, e->d_name));
  }
  close_folder(dir);
}

void store_list_backups(struct store *st, struct arena *a, struct strs *ret_paths) {
  list_files(st, a, WHOLE, ret_paths);
  if (ret_paths->n)
    qsort(ret_paths->v, ret_paths->n, sizeof(struct str), by_time);
}

static void remove_stray(const char *path) {
  struct stat sb;
  if (stat(path, &sb) == 0 && time(NULL) - sb.st_mtime > STRAY_SECONDS)
    unlink(path);
}

static struct str created_at(struct db *db, struct arena *a) {
  struct rows r;
  struct error ignored;
  db_query(db, &r, &ignored, "SELECT value FROM meta WHERE name = 'created_at'", NULL);
  struct str value = rows_next(&r) ? rows_dup(&r, 0, a) : STR_NONE;
  return rows_end(&r) == STATUS_OK ? value : STR_NONE;
}

/* False if the backup was made of another store, which was at the same place before. */
static bool is_of_store(struct store *st, const char *path, struct arena *a) {
  struct db_options o = {.path = path, .must_exist = true, .read_only = true};
  struct db *db = NULL;
  struct error ignored;
  if (db_open(&o, &db, &ignored) != STATUS_OK)
    return false;
  struct str theirs = created_at(db, a);
  db_close(&db);
  return theirs.p && str_eq(theirs, created_at(st->db, a));
}

/* Backups of one kind never push out those of another. */
enum backup_kind { BY_PERSON, BY_AGENT, AUTOMATIC, BACKUP_KINDS };

static bool has_label(struct str path, const char *prefix, const char *label) {
  size_t at = str_find(path, str_from(prefix), 0), n = strlen(prefix) + strlen(label);
  return at != SIZE_MAX && str_starts(str_slice(path, at + strlen(prefix), path.n), str_from(label)) &&
         at + n < path.n && (path.p[at + n] == '-' || path.p[at + n] == '.');
}

static enum backup_kind kind_of(struct str path, struct str base) {
  struct str rest = str_slice(path, base.n < path.n ? base.n : 0, path.n);
  return has_label(rest, ".backup-", "manual")  ? BY_PERSON
         : has_label(rest, ".backup-", "agent") ? BY_AGENT
                                                : AUTOMATIC;
}

/* The archive first: without its backup it could not be found. */
static void remove_backup(struct arena *a, const char *path) {
  unlink(arena_printf(a, "%s" BACKUP_TRANSCRIPTS, path).p);
  unlink(path);
}

/* Only backups of this store are counted and removed. */
void store_tidy_backups(struct store *st, struct arena *a) {
  struct strs all = {0}, parts = {0}, archives = {0};
  struct str base = STR("");
  struct error ignored;
  size_t kept[BACKUP_KINDS] = {0};
  if (backup_base(st, a, &base, &ignored) != STATUS_OK)
    return;
  store_list_backups(st, a, &all);
  for (size_t i = all.n; i-- > 0;)
    if (all.n > BACKUPS_KEPT && is_of_store(st, all.v[i].p, a) && ++kept[kind_of(all.v[i], base)] > BACKUPS_KEPT)
      remove_backup(a, all.v[i].p);
  list_files(st, a, UNFINISHED, &parts);
  for (size_t i = 0; i < parts.n; i++)
    remove_stray(parts.v[i].p);
  list_files(st, a, ARCHIVE, &archives); /* the process may have been killed before it named the backup */
  for (size_t i = 0; i < archives.n; i++) {
    struct str path = archives.v[i];
    if (access(arena_cstr(a, str_slice(path, 0, path.n - strlen(BACKUP_TRANSCRIPTS))), F_OK) != 0)
      remove_stray(path.p);
  }
}

enum status store_backup_path(struct store *st, const char *label, int64_t now, struct arena *a, struct str *ret_path,
                              struct error *err) {
  char text[TIME_TEXT_SIZE], stamp[24];
  time_format(now, text);
  size_t n = 0;
  for (const char *p = text; *p && n < 19; p++) /* 20261115T114510.123Z: some file systems refuse colons */
    if (*p != '-' && *p != ':')
      stamp[n++] = *p;
  stamp[n] = 0;
  struct str base;
  TRY(backup_base(st, a, &base, err));
  if (db_engine(st->db) == DB_POSTGRES)
    TRY(fs_mkdirs(arena_cstr(a, fs_dirname(base)), err));
  struct str path = arena_printf(a, "%s.backup-%s-%s", base.p, label, stamp);
  for (int again = 2; access(path.p, F_OK) == 0; again++)
    path = arena_printf(a, "%s.backup-%s.%d-%s", base.p, label, again, stamp);
  *ret_path = path;
  return STATUS_OK;
}

enum status store_auto_backup(struct store *st, const char *label, int64_t now, struct arena *a, struct str *ret_path,
                              struct error *err) {
  struct str path;
  TRY(store_backup_path(st, label, now, a, &path, err));
  TRY(store_copy_to(st, path.p, NULL, NULL, err));
  store_tidy_backups(st, a);
  *ret_path = path;
  return STATUS_OK;
}

/* ---- note about the archive of transcripts ---- */

static enum status write_note(struct db *db, struct str transcripts, struct error *err) {
  TRY(db_begin(db, STR_NONE, false, err));
  TRY(db_exec(db, err,
              "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
              "ss", STR(META_TRANSCRIPTS), transcripts));
  return db_commit(db, err);
}

/* Keeps the journal mode of the backup, which has no side files. */
enum status store_set_backup_note(const char *path, struct str transcripts, struct error *err) {
  struct db_options o = {.path = path, .must_exist = true};
  struct db *db = NULL;
  TRY(db_open(&o, &db, err));
  enum status s = write_note(db, transcripts, err);
  db_close(&db);
  return s;
}

enum status store_get_backup_note(const char *path, struct arena *a, struct str *ret_transcripts, struct error *err) {
  struct db_options o = {.path = path, .must_exist = true, .read_only = true};
  struct db *db = NULL;
  struct rows r;
  TRY(db_open(&o, &db, err));
  db_query(db, &r, err, "SELECT value FROM meta WHERE name = ?1", "s", STR(META_TRANSCRIPTS));
  *ret_transcripts = rows_next(&r) ? rows_dup(&r, 0, a) : STR_NONE;
  enum status s = rows_end(&r);
  db_close(&db);
  return s;
}

enum status store_clear_transcript_note(struct store *st, struct error *err) {
  TRY(db_begin(st->db, STR_NONE, false, err));
  TRY(db_exec(st->db, err, "DELETE FROM meta WHERE name = ?1", "s", STR(META_TRANSCRIPTS)));
  return db_commit(st->db, err);
}

enum status sqlite_store_copy_to(struct store *st, const char *path, db_progress progress, void *arg,
                                 struct error *err) {
  return sqlite_backup_to(st->db, path, progress, arg, err);
}

/* ---- restore ---- */

struct change {
  struct store *into; /* writable copy of the backup; NULL if the backup has no tokens or grants to revoke */
  const char *store;
  int64_t now;
  int mark; /* descriptor of mark_suspend() */
  char epoch[UUID_SIZE];
  char safety[4200];
  char replaced[1024]; /* see struct admission */
  struct restored counts;
};

static enum status change_content(struct store *st, const struct admission *known, struct arena *a, struct change *c,
                                  struct error *err) {
  TRY(db_begin(st->db, STR_NONE, false, err));
  TRY(readmit_apply(st, known, c->now, a, &c->counts, err));
  TRY(store_set_meta(st, "epoch", str_from(c->epoch), err));
  return db_commit(st->db, err);
}

/* Revokes tokens and grants in the restored content and gives it a new epoch, in one transaction. */
static enum status make_new(struct store *st, const struct admission *known, struct arena *a, struct change *c,
                            struct error *err) {
  enum status s = change_content(st, known, a, c, err);
  if (s != STATUS_OK)
    store_rollback(st);
  return s;
}

static enum status back_up_present(struct store *present, struct arena *a, struct change *c, struct error *err) {
  struct str path;
  struct admission known;
  TRY(store_backup_path(present, "before-restore", c->now, a, &path, err));
  TRY(store_copy_to(present, path.p, NULL, NULL, err));
  snprintf(c->safety, sizeof(c->safety), "%.*s", STR_ARG(path));
  TRY(readmit_note(present, a, &known, err));
  snprintf(c->replaced, sizeof(c->replaced), "%.*s", STR_ARG(known.replaced));
  if (!c->into)
    return STATUS_OK;
  return make_new(c->into, &known, a, c, err);
}

/* Runs while the restore holds the lock. The restore uses its own connection, so this opens a read-only one. Must not
 * longjmp out. */
static enum status on_locked(void *arg, struct error *err) {
  struct change *c = arg;
  struct store_options o = {.path = c->store, .must_exist = true, .read_only = true, .now = c->now};
  struct store *st = NULL;
  struct arena a;
  jmp_buf oom;
  volatile enum status s = store_open(&o, &st, err);
  if (s != STATUS_OK)
    return s;
  arena_init(&a);
  if (ARENA_BOUNDARY(&a, oom))
    s = error_set(err, STATUS_NOMEM, "out of memory; nothing was changed");
  else
    s = back_up_present(st, &a, c, err);
  if (s != STATUS_OK && c->into)
    store_rollback(c->into);
  if (s == STATUS_OK) /* the content of the backup has the epoch of the present one for a moment */
    c->mark = mark_suspend(c->store);
  arena_release(&a);
  store_close(&st);
  return s;
}

/* Copies the backup, so tokens and grants are revoked before it becomes visible. Even if the process is killed,
 * others see either the old content or the new content with the revocations. */
static enum status open_copy(const char *backup, const char *copy, int64_t now, struct store **ret_copy,
                             struct error *err) {
  struct store_options from = {.path = backup, .must_exist = true, .read_only = true, .now = now},
                       to = {.path = copy, .must_exist = true, .now = now};
  struct store *st = NULL;
  bool any = false;
  enum status s = store_open(&from, &st, err);
  if (s == STATUS_OK)
    s = readmit_any(st, &any, err);
  if (s == STATUS_OK && any)
    s = sqlite_backup_to(st->db, copy, NULL, NULL, err);
  store_close(&st);
  if (s != STATUS_OK || !any)
    return s;
  s = store_open(&to, &st, err);
  if (s == STATUS_OK) /* a single file without WAL: the restore reads it with its own connection */
    s = db_script(st->db, err, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF");
  if (s == STATUS_OK)
    *ret_copy = st;
  else
    store_close(&st);
  return s;
}

static void remove_copy(struct store **copy, const char *path) {
  static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
  char file[4300];
  store_close(copy);
  for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
    snprintf(file, sizeof(file), "%s%s", path, tails[i]);
    unlink(file);
  }
}

enum status sqlite_store_restore(struct store *st, const char *path, int64_t now, struct arena *a,
                                 struct restored *ret_restored, struct error *err) {
  struct change *c = arena_new(a, struct change);
  c->store = db_path(st->db);
  c->now = now;
  c->mark = -1;
  uuid7_new(now, c->epoch);
  /* Named like an unfinished backup, so store_tidy_backups() removes it if the process is killed. */
  const char *copy = arena_printf(a, "%s.backup-restore-%s.part", c->store, c->epoch).p;
  struct store *into = NULL;
  enum status s = open_copy(path, copy, now, &into, err);
  c->into = into;
  if (s == STATUS_OK)
    s = sqlite_restore_from(st->db, into ? copy : path, on_locked, c, err);
  struct admission nobody = {.replaced = str_from(c->replaced)};
  if (s == STATUS_OK && !into)
    s = make_new(st, &nobody, a, c, err);
  if (s == STATUS_OK && !into) /* opening the copy has done it already */
    s = store_update_types(st, err);
  remove_copy(&into, copy);
  if (c->mark >= 0)
    close(c->mark);
  if (s == STATUS_OK)
    s = store_accept_loss(st, err);
  if (s != STATUS_OK)
    return s;
  c->counts.safety = str_from(c->safety);
  *ret_restored = c->counts;
  return STATUS_OK;
}
