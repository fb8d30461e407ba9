/* file.c: notices that the file of an open store was deleted, renamed, replaced or emptied, or its log deleted.
 *
 * SQLite keeps writing to a file that has lost its name, and everything is gone when the last process closes it. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/internal.h"

static struct db_file file_id(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0)
    return (struct db_file){0};
  return (struct db_file){.dev = st.st_dev, .ino = st.st_ino, .filled = st.st_size > 0};
}

struct db_file db_file_at(const char *path) {
  static const struct db_file none;
  return db_is_url(path) ? none : file_id(path);
}

static bool is_same(struct db_file a, struct db_file b) { return a.ino == b.ino && a.dev == b.dev; }

/* The files exist as long as this process has them open. */
static enum status lost(struct error *err, const char *path, const char *how) {
  error_set(err, STATUS_UNAVAILABLE, "%s was %s while the store was open; nothing was written", path, how);
  return error_fix(err,
                   "do not stop this process yet: rename the file back, or copy the deleted .db and .db-wal from "
                   "/proc/%d/fd; then restart it and run 'cairn doctor'",
                   (int)getpid());
}

/* SQLite does not notice, goes on with the pages in its cache, and would end with a damaged file. */
static enum status emptied(struct error *err, const char *path) {
  error_set(err, STATUS_UNAVAILABLE, "%s was emptied while the store was open; nothing was written", path);
  return error_fix(err, "copy its log, the .db-wal, which has the latest changes; then stop this process and restore a "
                        "backup with 'cairn restore FILE'");
}

enum status db_check_file(const char *path, struct db_file opened, struct error *err) {
  struct db_file now = opened.ino ? file_id(path) : opened;
  if (is_same(now, opened))
    return opened.filled && !now.filled ? emptied(err, path) : STATUS_OK;
  return lost(err, path, now.ino ? "replaced by another file" : "deleted or renamed");
}

static bool uses_wal(sqlite3 *handle) {
  sqlite3_stmt *st = NULL;
  bool wal = sqlite3_prepare_v2(handle, "PRAGMA journal_mode", -1, &st, NULL) != SQLITE_OK ||
             sqlite3_step(st) != SQLITE_ROW || sqlite3_stricmp((const char *)sqlite3_column_text(st, 0), "wal") == 0;
  sqlite3_finalize(st);
  return wal;
}

/* SQLite opens the log at its first use, and removes it if the journal mode changes. */
static enum status check_log(sqlite3 *handle, const char *path, struct db_file *log, struct error *err) {
  char wal[4200];
  snprintf(wal, sizeof(wal), "%s-wal", path);
  struct db_file now = file_id(wal);
  if (!log->ino)
    *log = now;
  if (is_same(now, *log) || !uses_wal(handle))
    return STATUS_OK;
  return lost(err, wal, "deleted or replaced");
}

enum status sqlite_check_files(sqlite3 *handle, struct sqlite_files *files, struct error *err) {
  const char *path = sqlite3_db_filename(handle, "main");
  TRY(db_check_file(path, files->store, err));
  if (!files->store.filled) /* new when it was opened */
    files->store.filled = db_file_at(path).filled;
  return check_log(handle, path, &files->log, err);
}

void sqlite_set_log_aside(sqlite3 *handle, const struct sqlite_files *files) {
  const char *path = sqlite3_db_filename(handle, "main");
  char wal[4200], aside[4210], shm[4200];
  snprintf(wal, sizeof(wal), "%s-wal", path);
  snprintf(aside, sizeof(aside), "%s-lost", wal);
  snprintf(shm, sizeof(shm), "%s-shm", path);
  struct db_file now = file_id(path);
  if (!now.ino || !files->store.ino || is_same(now, files->store))
    return;
  if (!files->log.ino || !is_same(file_id(wal), files->log))
    return;
  rename(wal, aside);
  unlink(shm);
}
