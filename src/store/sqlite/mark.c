/* mark.c: the number of the last durable transaction, kept outside the store in "<store>-mark".
 *
 * A store that lacks its log, or an older copy in its place, is a consistent store: only the mark shows that
 * transactions are missing. It is written after a commit has reached the disk and is not synced, so it may lag behind
 * after a power cut but never claims more than was durable. A mark of another epoch (another store, or the content
 * before a restore), without a valid checksum, or absent says nothing. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "store/engine.h"
#include "store/sqlite/internal.h"

/* One line of fixed length: "cairn-mark 1 EPOCH UID TXN LOST SUM\n", with the first 16 digits of the hash of the rest.
 */
enum {
  SUM = 16,
  NUMBER = 19,
  UUID = UUID_SIZE - 1,
  HEAD = 13 + 2 * (UUID + 1) + 2 * (NUMBER + 1),
  SIZE = HEAD + SUM + 1
};

struct mark {
  char epoch[EVENTS_EPOCH_SIZE];
  char uid[UUID_SIZE]; /* of that transaction; blank if unknown */
  int64_t txn;         /* last durable transaction */
  int64_t lost;        /* transactions that were found missing and not accepted yet */
};

/* Beside the file and its log, also if the store is opened through a link. */
static void mark_path(const char *store, char *out, size_t size) {
  char real[PATH_MAX];
  snprintf(out, size, "%s-mark", realpath(store, real) ? real : store);
}

/* Returns the locked file, -1 if there is none or it stays locked: a restore holds the lock for long, and a commit must
 * not wait for it. */
static int open_mark(const char *store, bool write) {
  enum { TRIES = 50, PAUSE_NS = 200000 };
  char path[PATH_MAX + sizeof("-mark")];
  mark_path(store, path, sizeof(path));
  int fd = open(path, (write ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  for (int i = 0; fd >= 0 && flock(fd, (write ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0; i++) {
    struct timespec pause = {0, PAUSE_NS};
    if (i < TRIES && nanosleep(&pause, NULL) == 0)
      continue;
    close(fd);
    fd = -1;
  }
  return fd;
}

static void format(const struct mark *m, char out[SIZE + 1]) {
  char sum[HASH_TEXT_SIZE];
  snprintf(out, SIZE + 1, "cairn-mark 1 %-*s %-*s %0*lld %0*lld ", UUID, m->epoch, UUID, m->uid, NUMBER,
           (long long)m->txn, NUMBER, (long long)m->lost);
  hash_text((struct str){out, HEAD}, sum);
  snprintf(out + HEAD, SUM + 2, "%.*s\n", SUM, sum);
}

/* True if the mark is whole. */
static bool read_any_mark(int fd, struct mark *ret) {
  char text[SIZE + 1] = "", same[SIZE + 1];
  if (fd < 0 || pread(fd, text, SIZE, 0) != SIZE)
    return false;
  const char *uid = text + 13 + UUID + 1, *txn = uid + UUID + 1;
  snprintf(ret->epoch, sizeof(ret->epoch), "%.*s", UUID, text + 13);
  snprintf(ret->uid, sizeof(ret->uid), "%.*s", UUID, uid);
  ret->txn = strtoll(txn, NULL, 10);
  ret->lost = strtoll(txn + NUMBER + 1, NULL, 10);
  format(ret, same);
  return memcmp(text, same, SIZE) == 0;
}

/* True if the mark is whole and belongs to this epoch. */
static bool read_mark(int fd, const char *epoch, struct mark *ret) {
  return read_any_mark(fd, ret) && strcmp(ret->epoch, epoch) == 0;
}

/* A mark that cannot be written is one that lags behind. */
static void write_mark(int fd, const struct mark *m) {
  char text[SIZE + 1];
  format(m, text);
  (void)!pwrite(fd, text, SIZE, 0);
}

#define STATE                                                                                                          \
  "/* all teams: the log is that of the store */ SELECT m.value, l.seq, t.uid FROM meta m LEFT JOIN"                   \
  " (SELECT coalesce(max(seq), 0) AS seq FROM sqlite_sequence WHERE name = 'txn') l LEFT JOIN txn t ON t.id = l.seq"   \
  " WHERE m.name = 'epoch'"

static void set_state(struct mark *m, struct str epoch, int64_t txn, struct str uid) {
  snprintf(m->epoch, sizeof(m->epoch), "%.*s", STR_ARG(epoch));
  snprintf(m->uid, sizeof(m->uid), "%.*s", STR_ARG(uid));
  m->txn = txn;
}

/* Epoch and last transaction of the store, of one snapshot. */
static enum status read_store(struct store *st, struct mark *ret, struct error *err) {
  struct rows r;
  *ret = (struct mark){0};
  db_query(st->db, &r, err, STATE, NULL);
  if (rows_next(&r))
    set_state(ret, rows_text(&r, 0), rows_int(&r, 1), rows_text(&r, 2));
  return rows_end(&r);
}

/* The same of the file without its log; false if there is none. */
static bool read_file(const char *path, struct mark *ret) {
  sqlite3 *file = NULL;
  sqlite3_stmt *q = NULL;
  bool found = sqlite_open_without_log(path, 0, &file) == SQLITE_OK &&
               sqlite3_prepare_v2(file, STATE, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW;
  *ret = (struct mark){0};
  if (found)
    set_state(ret, str_from((const char *)sqlite3_column_text(q, 0)), sqlite3_column_int64(q, 1),
              str_from((const char *)sqlite3_column_text(q, 2)));
  sqlite3_finalize(q);
  sqlite3_close(file);
  return found;
}

static bool applies(const struct store *st) { return db_engine(st->db) == DB_SQLITE; }

/* True if the store has another transaction with the number of the marked one. */
static enum status is_marked_replaced(struct store *st, const struct mark *mark, bool *ret_replaced,
                                      struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "/* all teams: the log is that of the store */ SELECT uid FROM txn WHERE id = ?1", "i",
           mark->txn);
  *ret_replaced = rows_next(&r) && mark->uid[0] != ' ' && !str_is(rows_text(&r, 0), mark->uid);
  return rows_end(&r);
}

/* Does the log fit to the file? SQLite applies any intact log: pages of another store, or of an older state, then
 * replace those of the file, and a checkpoint makes that permanent. */
static bool is_foreign(struct store *st, const struct mark *mark) {
  struct mark now, file;
  struct error ignored = {0};
  bool replaced = false;
  bool readable =
      read_store(st, &now, &ignored) == STATUS_OK && is_marked_replaced(st, mark, &replaced, &ignored) == STATUS_OK;
  bool same = readable && strcmp(now.epoch, mark->epoch) == 0;
  if (same && !replaced && mark->txn <= now.txn)
    return false;
  /* A restore or a migration empties the mark before it changes the epoch. */
  return read_file(db_path(st->db), &file) && strcmp(file.epoch, mark->epoch) == 0 &&
         (!same || replaced || file.txn > now.txn);
}

enum status mark_check_log(struct store *st, struct error *err) {
  struct mark mark;
  if (!applies(st) || !sqlite_had_log(st->db))
    return STATUS_OK;
  int fd = open_mark(db_path(st->db), false);
  bool foreign = read_any_mark(fd, &mark) && is_foreign(st, &mark);
  if (fd >= 0)
    close(fd);
  if (!foreign)
    return STATUS_OK;
  error_set(err, STATUS_CORRUPT, "%s-wal is not the log of this store; nothing was changed", db_path(st->db));
  return error_fix(err,
                   "move that file to another folder, put the store's own log in its place if it still exists, and "
                   "run 'cairn doctor'");
}

enum status mark_check(struct store *st, int64_t *ret_missing, struct error *err) {
  struct mark mark, now;
  *ret_missing = 0;
  if (!applies(st))
    return STATUS_OK;
  int fd = open_mark(db_path(st->db), false);
  /* The lock is held until the store was read: otherwise a restore could come between the two. */
  enum status s = fd >= 0 ? read_store(st, &now, err) : STATUS_OK;
  if (s == STATUS_OK && read_mark(fd, now.epoch, &mark))
    *ret_missing = mark.lost + (mark.txn > now.txn ? mark.txn - now.txn : 0);
  if (fd >= 0)
    close(fd);
  return s;
}

/* Moves the missing transactions into `lost`: the numbers of new ones would reach the mark. */
enum status mark_settle(struct store *st, bool accept, struct error *err) {
  struct mark mark, now;
  if (!applies(st) || db_read_only(st->db))
    return STATUS_OK;
  int fd = open_mark(db_path(st->db), true);
  if (fd < 0)
    return STATUS_OK;
  enum status s = read_store(st, &now, err);
  if (s == STATUS_OK && !accept && read_mark(fd, now.epoch, &mark))
    now.lost = mark.lost + (mark.txn > now.txn ? mark.txn - now.txn : 0);
  if (s == STATUS_OK)
    write_mark(fd, &now);
  close(fd);
  return s;
}

/* The epoch is read inside the transaction: a restore may follow it at once. */
enum status mark_begin(struct store *st, int64_t txn, const char uid[UUID_SIZE], struct error *err) {
  if (!applies(st))
    return STATUS_OK;
  st->marked = txn;
  snprintf(st->mark_uid, sizeof(st->mark_uid), "%s", uid);
  return events_epoch(st, st->mark_epoch, err);
}

/* Another process may have written a later number in between. */
void mark_commit(struct store *st, int64_t txn) {
  struct mark mark, now = {.txn = txn};
  bool durable =
      applies(st) && txn > 0 && st->marked == txn; /* sessions and tokens have transactions without a number */
  st->marked = 0;
  int fd = durable ? open_mark(db_path(st->db), true) : -1;
  if (fd < 0)
    return;
  snprintf(now.epoch, sizeof(now.epoch), "%s", st->mark_epoch);
  snprintf(now.uid, sizeof(now.uid), "%s", st->mark_uid);
  bool known = read_mark(fd, now.epoch, &mark);
  now.lost = known ? mark.lost : 0;
  if (!known || mark.txn < txn)
    write_mark(fd, &now);
  close(fd);
}

void mark_forget(const struct store *st) {
  int fd = applies(st) ? mark_suspend(db_path(st->db)) : -1;
  if (fd >= 0)
    close(fd);
}

int mark_suspend(const char *store) {
  int fd = open_mark(store, true);
  if (fd >= 0)
    (void)!ftruncate(fd, 0);
  return fd;
}

void store_remove_mark(const char *store) {
  char path[PATH_MAX + sizeof("-mark")];
  mark_path(store, path, sizeof(path));
  unlink(path);
}
