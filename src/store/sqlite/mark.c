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

/* One line of fixed length: "cairn-mark 1 EPOCH TXN LOST SUM\n", with the first 16 digits of the hash of the rest. */
enum { SUM = 16, NUMBER = 19, EPOCH = UUID_SIZE - 1, HEAD = 13 + EPOCH + 2 * (NUMBER + 1) + 1, SIZE = HEAD + SUM + 1 };

struct mark {
  char epoch[EVENTS_EPOCH_SIZE];
  int64_t txn;  /* last durable transaction */
  int64_t lost; /* transactions that were found missing and not accepted yet */
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
  snprintf(out, SIZE + 1, "cairn-mark 1 %-*s %0*lld %0*lld ", EPOCH, m->epoch, NUMBER, (long long)m->txn, NUMBER,
           (long long)m->lost);
  hash_text((struct str){out, HEAD}, sum);
  snprintf(out + HEAD, SUM + 2, "%.*s\n", SUM, sum);
}

/* True if the mark is whole and belongs to this epoch. */
static bool read_mark(int fd, const char *epoch, struct mark *ret) {
  char text[SIZE + 1] = "", same[SIZE + 1];
  if (fd < 0 || pread(fd, text, SIZE, 0) != SIZE)
    return false;
  snprintf(ret->epoch, sizeof(ret->epoch), "%s", epoch);
  ret->txn = strtoll(text + 13 + EPOCH + 1, NULL, 10);
  ret->lost = strtoll(text + 13 + EPOCH + 1 + NUMBER + 1, NULL, 10);
  format(ret, same);
  return memcmp(text, same, SIZE) == 0;
}

/* A mark that cannot be written is one that lags behind. */
static void write_mark(int fd, const struct mark *m) {
  char text[SIZE + 1];
  format(m, text);
  (void)!pwrite(fd, text, SIZE, 0);
}

/* Epoch and last transaction of the store, of one snapshot. */
static enum status read_store(struct store *st, struct mark *ret, struct error *err) {
  struct rows r;
  *ret = (struct mark){0};
  db_query(st->db, &r, err,
           "SELECT value, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'txn'), 0) FROM meta"
           " WHERE name = 'epoch'",
           NULL);
  if (rows_next(&r)) {
    snprintf(ret->epoch, sizeof(ret->epoch), "%.*s", STR_ARG(rows_text(&r, 0)));
    ret->txn = rows_int(&r, 1);
  }
  return rows_end(&r);
}

static bool applies(const struct store *st) { return db_engine(st->db) == DB_SQLITE; }

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
enum status mark_begin(struct store *st, int64_t txn, struct error *err) {
  if (!applies(st))
    return STATUS_OK;
  st->marked = txn;
  return events_epoch(st, st->mark_epoch, err);
}

/* Another process may have written a later number in between. */
void mark_commit(struct store *st, int64_t txn) {
  struct mark mark, now = {.txn = txn};
  bool durable = applies(st) && st->marked == txn;
  st->marked = 0;
  int fd = durable ? open_mark(db_path(st->db), true) : -1;
  if (fd < 0)
    return;
  snprintf(now.epoch, sizeof(now.epoch), "%s", st->mark_epoch);
  bool known = read_mark(fd, now.epoch, &mark);
  now.lost = known ? mark.lost : 0;
  if (!known || mark.txn < txn)
    write_mark(fd, &now);
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
