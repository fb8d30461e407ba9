/* sqlite_copy.c: the parts of the driver that move bytes in bulk: blobs in place, backup, restore. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/db.h"
#include "store/sqlite_internal.h"

enum status db_blob_write(struct db *db, const char *table, const char *column, int64_t row, size_t offset,
                          struct str bytes, struct error *err) {
  sqlite3_blob *blob = NULL;
  int rc = sqlite3_blob_open(sqlite_handle(db), "main", table, column, row, 1, &blob);
  if (rc == SQLITE_OK)
    rc = sqlite3_blob_write(blob, bytes.p, (int)bytes.n, (int)offset);
  enum status s = rc == SQLITE_OK ? STATUS_OK : sqlite_fail(db, rc, err);
  sqlite3_blob_close(blob);
  return s;
}

/* Copies in steps, so that writers get their turn; starts over by itself when one changes a copied page. */
static int copy_all(sqlite3 *from, sqlite3 *to, int pages, db_progress progress, void *arg) {
  sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
  if (!b)
    return sqlite3_extended_errcode(to);
  int rc, waits = 0;
  do {
    rc = sqlite3_backup_step(b, pages);
    if (progress)
      progress(arg, sqlite3_backup_pagecount(b) - sqlite3_backup_remaining(b), sqlite3_backup_pagecount(b));
    if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED) {
      struct timespec ts = {0, 5000000};
      nanosleep(&ts, NULL);
      waits++;
    }
  } while (rc == SQLITE_OK || ((rc == SQLITE_BUSY || rc == SQLITE_LOCKED) && waits < 6000));
  int end = sqlite3_backup_finish(b);
  return rc == SQLITE_DONE ? end : rc;
}

static enum status sync_file(const char *path, struct error *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  int bad = fd < 0 || fsync(fd) != 0 ? errno : 0;
  if (fd >= 0)
    close(fd);
  return bad ? error_errno(err, bad, "cannot write %s", path) : STATUS_OK;
}

enum status db_backup_to(struct db *db, const char *path, db_progress progress, void *arg, struct error *err) {
  char part[4200];
  snprintf(part, sizeof(part), "%s.part", path);
  int fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    error_errno(err, errno, "cannot create the backup %s", part);
    return error_fix(err, "name a file in a folder that can be written");
  }
  close(fd);
  sqlite3 *to = NULL;
  int rc = sqlite3_open_v2(part, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, NULL);
  if (rc == SQLITE_OK)
    rc = copy_all(sqlite_handle(db), to, 1024, progress, arg);
  /* One file, no side files: a backup can be copied as it is. */
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  enum status s = STATUS_OK;
  if (rc != SQLITE_OK)
    s = error_set(err, (rc & 0xff) == SQLITE_FULL ? STATUS_NO_SPACE : STATUS_IO, "the backup %s failed: %s", path,
                  sqlite3_errstr(rc));
  sqlite3_close(to);
  if (s == STATUS_OK)
    s = sync_file(part, err);
  if (s == STATUS_OK && rename(part, path) != 0)
    s = error_errno(err, errno, "cannot name the backup %s", path);
  if (s != STATUS_OK)
    unlink(part);
  return s;
}

enum status db_restore_from(struct db *db, const char *path, struct error *err) {
  sqlite3 *from = NULL;
  int rc = sqlite3_open_v2(path, &from, SQLITE_OPEN_READONLY | SQLITE_OPEN_EXRESCODE, NULL);
  /* All pages in one step: other processes see the old content or the new, nothing between. */
  if (rc == SQLITE_OK)
    rc = copy_all(from, sqlite_handle(db), -1, NULL, NULL);
  enum status s = rc == SQLITE_OK ? STATUS_OK : sqlite_fail(db, rc, err);
  sqlite3_close(from);
  return s;
}
