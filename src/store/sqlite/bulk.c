/* bulk.c: bulk operations of the SQLite driver: in-place blob writes, backup, restore. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/sqlite.h"

enum status sqlite_blob_write(struct db *db, const char *table, const char *column, int64_t row, size_t offset,
                              struct str bytes, struct error *err) {
  assert(bytes.n <= INT_MAX && offset <= INT_MAX - bytes.n);
  sqlite3_blob *blob = NULL;
  int rc = sqlite3_blob_open(sqlite_handle(db), "main", table, column, row, 1, &blob);
  if (rc == SQLITE_OK)
    rc = sqlite3_blob_write(blob, bytes.p, (int)bytes.n, (int)offset);
  enum status s = rc == SQLITE_OK ? STATUS_OK : sqlite_fail(db, rc, err);
  sqlite3_blob_close(blob);
  return s;
}

/* One step of a copy; waits up to 30 seconds for a lock. */
static int step(sqlite3_backup *b, int pages) {
  enum { WAIT_NS = 5000000, WAITS = 6000 };
  for (int waits = 0;; waits++) {
    int rc = sqlite3_backup_step(b, pages);
    if ((rc != SQLITE_BUSY && rc != SQLITE_LOCKED) || waits == WAITS)
      return rc;
    struct timespec ts = {0, WAIT_NS};
    nanosleep(&ts, NULL);
  }
}

static enum status sync_file(const char *path, struct error *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  int bad = fd < 0 || fsync(fd) != 0 ? errno : 0;
  if (fd >= 0)
    close(fd);
  return bad ? error_errno(err, bad, "cannot write %s", path) : STATUS_OK;
}

/* Holds one snapshot from the first page to the last. Otherwise a copy would restart at every write and never end while
 * others write. Writers are not blocked by it. */
static int copy_to(struct db *db, sqlite3 *to, db_progress progress, void *arg) {
  sqlite3 *from = sqlite_handle(db);
  bool own = !db_in_transaction(db);
  int rc = own ? sqlite3_exec(from, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) : SQLITE_OK;
  /* A new file that no other process has open needs no journal; it is synced once, when complete. */
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(to, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL, NULL, NULL);
  sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from, "main") : NULL;
  if (rc == SQLITE_OK && !b)
    rc = sqlite3_extended_errcode(to);
  while (rc == SQLITE_OK) {
    rc = step(b, 1024);
    if (progress)
      progress(arg, sqlite3_backup_pagecount(b) - sqlite3_backup_remaining(b), sqlite3_backup_pagecount(b));
  }
  int end = b ? sqlite3_backup_finish(b) : rc;
  if (own && db_in_transaction(db))
    sqlite3_exec(from, "COMMIT", NULL, NULL, NULL);
  return rc == SQLITE_DONE ? end : rc;
}

enum status sqlite_part_new(const char *path, char ret_part[SQLITE_PART_SIZE], struct error *err) {
  char part[SQLITE_PART_SIZE];
  unsigned salt; /* avoids the leftovers of an earlier, killed backup */
  sqlite3_randomness(sizeof(salt), &salt);
  snprintf(part, sizeof(part), "%s.%08x.part", path, salt);
  int fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    error_errno(err, errno, "cannot create the backup %s", part);
    return error_fix(err, "name a file in a folder that can be written");
  }
  close(fd);
  memcpy(ret_part, part, sizeof(part));
  return STATUS_OK;
}

/* Syncs the folder too: callers go on to change or replace the store, and the backup must survive a crash then. */
enum status sqlite_part_end(const char *part, const char *path, enum status s, struct error *err) {
  static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
  if (s == STATUS_OK)
    s = sync_file(part, err);
  if (s == STATUS_OK && rename(part, path) != 0)
    s = error_errno(err, errno, "cannot name the backup %s", path);
  else if (s == STATUS_OK && !fs_sync_around(path))
    s = error_errno(err, errno, "cannot sync the folder of the backup %s", path);
  for (size_t i = 0; s != STATUS_OK && i < ARRAY_LEN(tails); i++) {
    char file[SQLITE_PART_SIZE + 16];
    snprintf(file, sizeof(file), "%s%s", part, tails[i]);
    unlink(file);
  }
  return s;
}

enum status sqlite_backup_to(struct db *db, const char *path, db_progress progress, void *arg, struct error *err) {
  char part[SQLITE_PART_SIZE];
  enum status s = sqlite_part_new(path, part, err);
  if (s != STATUS_OK)
    return s;
  sqlite3 *to = NULL;
  int rc = sqlite3_open_v2(part, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, NULL);
  if (rc == SQLITE_OK)
    rc = copy_to(db, to, progress, arg);
  /* Leaves a single file without side files, so a backup can be copied as is. */
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  if (rc != SQLITE_OK)
    s = error_set(err, (rc & 0xff) == SQLITE_FULL ? STATUS_NO_SPACE : STATUS_IO, "the backup %s failed: %s", path,
                  sqlite3_errstr(rc));
  sqlite3_close(to);
  return sqlite_part_end(part, path, s, err);
}

enum status sqlite_restore_from(struct db *db, const char *path, db_locked locked, void *arg, struct error *err) {
  sqlite3 *from = NULL, *to = sqlite_handle(db);
  int rc = sqlite3_open_v2(path, &from, SQLITE_OPEN_READONLY | SQLITE_OPEN_EXRESCODE, NULL);
  sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from, "main") : NULL;
  if (rc == SQLITE_OK && !b)
    rc = sqlite3_extended_errcode(to);
  /* A step of zero pages takes the lock. All pages are then copied in one step: others see the old content or the new.
   */
  if (rc == SQLITE_OK)
    rc = step(b, 0);
  enum status s = rc == SQLITE_OK && locked ? locked(arg, err) : STATUS_OK;
  if (rc == SQLITE_OK && s == STATUS_OK)
    rc = step(b, -1);
  int end = b ? sqlite3_backup_finish(b) : rc;
  if (rc == SQLITE_DONE)
    rc = end;
  if (s == STATUS_OK && rc != SQLITE_OK)
    s = sqlite_fail(db, rc, err);
  sqlite3_close(from);
  return s;
}
