/* fs.c: whole files, directories, XDG paths. */
#include "base/os/fs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ = 64 * 1024, DIR_MODE = 0700 };

static enum status too_large(const char *name, size_t limit, struct error *err) {
  return error_set(err, STATUS_TOO_LARGE, "%s is larger than the limit of %zu bytes", name, limit);
}

/* The size of a regular file, or a default, plus one byte to detect the end or an overflow of the limit. */
static size_t initial_capacity(int fd, size_t limit) {
  struct stat st;
  size_t size = FIRST_READ;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
    size = (size_t)st.st_size;
  return (size < limit ? size : limit) + 1;
}

enum status fs_read_fd(struct arena *a, int fd, const char *name, size_t limit, struct str *ret_text,
                       struct error *err) {
  size_t cap = initial_capacity(fd, limit), n = 0;
  assert(limit < SIZE_MAX - 1);
  char *p = arena_alloc(a, cap + 1);
  for (;;) {
    assert(n < cap && cap <= limit + 1);
    ssize_t got = read(fd, p + n, cap - n);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return error_errno(err, errno, "cannot read %s", name);
    if (got == 0)
      break;
    n += (size_t)got;
    if (n > limit)
      return too_large(name, limit, err);
    if (n < cap)
      continue;
    size_t wider = cap > limit / 2 ? limit + 1 : cap * 2;
    char *q = arena_alloc(a, wider + 1);
    memcpy(q, p, n);
    p = q;
    cap = wider;
  }
  p[n] = 0;
  *ret_text = (struct str){p, n};
  return STATUS_OK;
}

void fs_close(int *fd) {
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

static void close_deferred(void *fd) { fs_close(fd); }

int *fs_descriptor(struct arena *a) {
  int *fd = arena_alloc(a, sizeof(*fd));
  *fd = -1;
  arena_defer(a, close_deferred, fd);
  return fd;
}

enum status fs_read(struct arena *a, const char *path, size_t limit, struct str *ret_text, struct error *err) {
  int *fd = fs_descriptor(a);
  *fd = open(path, O_RDONLY | O_CLOEXEC);
  if (*fd < 0)
    return error_errno(err, errno, "cannot open '%s'", path);
  enum status s;
  struct stat st;
  if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > limit)
    s = too_large(path, limit, err);
  else
    s = fs_read_fd(a, *fd, path, limit, ret_text, err);
  fs_close(fd);
  return s;
}

bool fs_write_all(int fd, struct str text) {
  assert(fd >= 0);
  for (size_t done = 0; done < text.n;) {
    ssize_t n = write(fd, text.p + done, text.n - done);
    if (n < 0 && errno != EINTR)
      return false;
    if (n > 0)
      done += (size_t)n;
  }
  return true;
}

bool fs_sync_dir(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return false;
  /* Some file systems cannot sync a directory; that is not a failed write. */
  bool ok = fsync(fd) == 0 || errno == EINVAL;
  int why = errno;
  close(fd);
  errno = why;
  return ok;
}

bool fs_sync_around(const char *path) {
  char dir[PATH_MAX];
  struct str name = fs_dirname(str_from(path));
  snprintf(dir, sizeof(dir), "%.*s", STR_ARG(name));
  return fs_sync_dir(dir);
}

static enum status write_failed(const char *path, const char *temp, struct error *err) {
  int why = errno;
  unlink(temp);
  return error_errno(err, why, "cannot write '%s'", path);
}

enum status fs_write(const char *path, struct str text, mode_t mode, struct error *err) {
  char target[PATH_MAX], temp[PATH_MAX + sizeof(".XXXXXX")];
  struct stat st;
  /* Resolve links, so the target is replaced and not the link. */
  if (!realpath(path, target)) {
    if (errno != ENOENT)
      return error_errno(err, errno, "cannot write '%s'", path);
    if ((size_t)snprintf(target, sizeof(target), "%s", path) >= sizeof(target))
      return error_errno(err, ENAMETOOLONG, "cannot write '%s'", path);
  } else if (stat(target, &st) == 0) {
    mode = st.st_mode & 07777;
  }
  snprintf(temp, sizeof(temp), "%s.XXXXXX", target);
  int fd = mkostemp(temp, O_CLOEXEC);
  if (fd < 0)
    return error_errno(err, errno, "cannot write '%s'", path);
  bool ok = fs_write_all(fd, text) && fchmod(fd, mode) == 0 && fsync(fd) == 0;
  int why = errno;
  if (close(fd) != 0 && ok) {
    ok = false;
    why = errno;
  }
  errno = why;
  if (!ok || rename(temp, target) != 0)
    return write_failed(path, temp, err);
  return fs_sync_around(target) ? STATUS_OK : error_errno(err, errno, "cannot sync the folder of '%s'", path);
}

enum status fs_mkdirs(const char *path, struct error *err) {
  char part[PATH_MAX];
  size_t n = strlen(path);
  if (n == 0 || n >= sizeof(part))
    return error_errno(err, n ? ENAMETOOLONG : ENOENT, "cannot create the folder '%s'", path);
  memcpy(part, path, n + 1);
  for (size_t i = 1; i <= n; i++) {
    if (part[i] != '/' && part[i] != 0)
      continue;
    char kept = part[i];
    part[i] = 0;
    int made = mkdir(part, DIR_MODE), why = errno;
    struct stat st;
    /* An existing directory may give other errors than EEXIST, for example on a read-only file system. */
    if (made != 0 && (stat(part, &st) != 0 || !S_ISDIR(st.st_mode)))
      return error_errno(err, why == EEXIST ? ENOTDIR : why, "cannot create the folder '%s'", part);
    if (made == 0) /* a synced file in a folder that a power cut takes away is lost, too; it may be unreadable */
      (void)fs_sync_around(part);
    part[i] = kept;
  }
  return STATUS_OK;
}

enum status fs_xdg(struct arena *a, enum xdg which, const char *rest, struct str *ret_path, struct error *err) {
  static const struct {
    const char *variable, *below_home;
  } places[] = {
      [XDG_DATA] = {"XDG_DATA_HOME", ".local/share"},
      [XDG_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
      [XDG_STATE] = {"XDG_STATE_HOME", ".local/state"},
  };
  assert((unsigned)which < ARRAY_LEN(places));
  /* The XDG specification requires relative paths to be ignored. */
  const char *base = getenv(places[which].variable), *home = getenv("HOME");
  if (base && base[0] == '/')
    *ret_path = arena_printf(a, "%s/%s", base, rest);
  else if (home && home[0] == '/')
    *ret_path = arena_printf(a, "%s/%s/%s", home, places[which].below_home, rest);
  else
    return error_set(err, STATUS_USAGE, "neither %s nor HOME names a folder", places[which].variable);
  return STATUS_OK;
}

static size_t last_slash(struct str path) {
  size_t i = path.n;
  while (i > 0 && path.p[i - 1] != '/')
    i--;
  return i ? i - 1 : SIZE_MAX;
}

struct str fs_dirname(struct str path) {
  size_t slash = last_slash(path);
  if (slash == SIZE_MAX)
    return STR(".");
  return slash == 0 ? STR("/") : str_slice(path, 0, slash);
}

struct str fs_basename(struct str path) {
  size_t slash = last_slash(path);
  return slash == SIZE_MAX ? path : str_slice(path, slash + 1, path.n);
}
