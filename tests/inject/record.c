/* record.c: preloaded into the program, records every change of the files below RECORD_DIR in RECORD_LOG, in the order
 * in which they happen, for the power-cut tests. Shared memory of SQLite (-shm) is left out: it does not survive. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "support/disk_log.h"

#define EXPORT __attribute__((visibility("default")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The part of the path below the recorded folder; NULL if it is not recorded. */
static const char *below(const char *path) {
  const char *folder = getenv("RECORD_DIR");
  size_t n = folder ? strlen(folder) : 0, len = strlen(path);
  if (!n || strncmp(path, folder, n) != 0 || (path[n] != '/' && path[n] != 0))
    return NULL;
  if (len > 4 && strcmp(path + len - 4, "-shm") == 0)
    return NULL;
  return path[n] ? path + n + 1 : "";
}

static const char *below_fd(int fd, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, PATH_MAX - 1);
  if (n <= 0)
    return NULL;
  path[n] = 0;
  return below(path);
}

static uint64_t inode_of(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static void record(enum disk_op op, uint64_t a, uint64_t b, const char *name, const void *data, size_t size) {
  struct disk_record r = {.op = op, .a = a, .b = b, .name = (uint32_t)strlen(name), .data = (uint32_t)size};
  const char *path = getenv("RECORD_LOG");
  int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
  struct iovec v[] = {{&r, sizeof(r)}, {(void *)(uintptr_t)name, r.name}, {(void *)(uintptr_t)data, size}};
  if (fd < 0 || syscall(SYS_writev, fd, v, 3) != (ssize_t)(sizeof(r) + r.name + size))
    abort();
  syscall(SYS_close, fd);
}

/* ---- names ---- */

static int open_file(const char *path, int flags, mode_t mode) {
  const char *name = path[0] == '/' ? below(path) : NULL;
  pthread_mutex_lock(&lock);
  bool is_new = name && (flags & O_CREAT) && access(path, F_OK) != 0;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  int failed = errno;
  if (fd >= 0 && is_new)
    record(DISK_CREATE, inode_of(fd), 0, name, NULL, 0);
  else if (fd >= 0 && name && (flags & O_TRUNC))
    record(DISK_TRUNCATE, inode_of(fd), 0, "", NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = failed;
  return fd;
}

#define OPEN(name_)                                                                                                    \
  EXPORT int name_(const char *path, int flags, ...) {                                                                 \
    va_list ap;                                                                                                        \
    va_start(ap, flags);                                                                                               \
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;                                                            \
    va_end(ap);                                                                                                        \
    return open_file(path, flags, mode);                                                                               \
  }
OPEN(open)
OPEN(open64)

EXPORT int mkostemp(char *path, int flags) {
  int (*real)(char *, int) = (int (*)(char *, int))dlsym(RTLD_NEXT, "mkostemp");
  pthread_mutex_lock(&lock);
  int fd = real(path, flags);
  if (fd >= 0 && below(path))
    record(DISK_CREATE, inode_of(fd), 0, below(path), NULL, 0);
  pthread_mutex_unlock(&lock);
  return fd;
}

/* Runs a system call on names and records it if it succeeds. */
#define NAMES(op, from, to, call)                                                                                      \
  pthread_mutex_lock(&lock);                                                                                           \
  int failed = (int)(call), why = errno;                                                                               \
  const char *a = below(from), *b = below(to);                                                                         \
  if (!failed && a && b)                                                                                               \
    record(op, 0, 0, a, b, strlen(b));                                                                                 \
  pthread_mutex_unlock(&lock);                                                                                         \
  errno = why;                                                                                                         \
  return failed

EXPORT int link(const char *from, const char *to) { NAMES(DISK_LINK, from, to, syscall(SYS_link, from, to)); }
EXPORT int rename(const char *from, const char *to) { NAMES(DISK_RENAME, from, to, syscall(SYS_rename, from, to)); }
EXPORT int renameat2(int d1, const char *from, int d2, const char *to, unsigned flags) {
  NAMES(flags & RENAME_EXCHANGE ? DISK_EXCHANGE : DISK_RENAME, from, to,
        syscall(SYS_renameat2, d1, from, d2, to, flags));
}
EXPORT int unlink(const char *path) { NAMES(DISK_UNLINK, path, path, syscall(SYS_unlink, path)); }
EXPORT int mkdir(const char *path, mode_t mode) { NAMES(DISK_FOLDER, path, path, syscall(SYS_mkdir, path, mode)); }

/* ---- contents ---- */

static ssize_t note_write(int fd, const void *data, ssize_t n, off_t at) {
  char path[PATH_MAX];
  if (n > 0 && below_fd(fd, path))
    record(DISK_WRITE, inode_of(fd), (uint64_t)at, "", data, (size_t)n);
  return n;
}

static ssize_t write_at(int fd, const void *data, size_t n, off_t at) {
  pthread_mutex_lock(&lock);
  ssize_t done = note_write(fd, data, syscall(SYS_pwrite64, fd, data, n, at), at);
  pthread_mutex_unlock(&lock);
  return done;
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return write_at(fd, data, n, at); }
EXPORT ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) { return write_at(fd, data, n, at); }

EXPORT ssize_t write(int fd, const void *data, size_t n) {
  pthread_mutex_lock(&lock);
  ssize_t done = syscall(SYS_write, fd, data, n);
  int why = errno;
  off_t end = done > 0 ? lseek(fd, 0, SEEK_CUR) : -1;
  if (end >= done)
    note_write(fd, data, done, end - done);
  pthread_mutex_unlock(&lock);
  errno = why;
  return done;
}

static int truncate_fd(int fd, off_t size) {
  char path[PATH_MAX];
  pthread_mutex_lock(&lock);
  int failed = (int)syscall(SYS_ftruncate, fd, size);
  if (!failed && below_fd(fd, path))
    record(DISK_TRUNCATE, inode_of(fd), (uint64_t)size, "", NULL, 0);
  pthread_mutex_unlock(&lock);
  return failed;
}

EXPORT int ftruncate(int fd, off_t size) { return truncate_fd(fd, size); }
EXPORT int ftruncate64(int fd, off64_t size) { return truncate_fd(fd, size); }

/* Not synced in fact: the tests need only the order. */
static int sync_fd(int fd) {
  char path[PATH_MAX];
  struct stat st;
  pthread_mutex_lock(&lock);
  const char *name = below_fd(fd, path);
  if (name && fstat(fd, &st) == 0)
    record(S_ISDIR(st.st_mode) ? DISK_SYNC_FOLDER : DISK_SYNC, st.st_ino, 0, S_ISDIR(st.st_mode) ? name : "", NULL, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}

EXPORT int fsync(int fd) { return sync_fd(fd); }
EXPORT int fdatasync(int fd) { return sync_fd(fd); }
