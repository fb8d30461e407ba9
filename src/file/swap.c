/* swap.c: compare-and-swap of a file that others may be editing. */
#include "file/swap.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"

enum { READ_MAX = 64 << 20 };

struct swap {
  struct arena *a;
  struct str was, text;
  char target[PATH_MAX], temp[PATH_MAX + sizeof(".XXXXXX")];
  mode_t mode;
};

static enum status failed(struct swap *w, struct error *err) {
  int why = errno;
  if (w->temp[0])
    unlink(w->temp);
  return error_errno(err, why, "cannot write '%s'", w->target);
}

/* Writes the new content to a temporary file in the same folder. */
static bool write_temp(struct swap *w) {
  struct stat st;
  if (stat(w->target, &st) == 0)
    w->mode = st.st_mode & 07777;
  snprintf(w->temp, sizeof(w->temp), "%s.XXXXXX", w->target);
  int fd = mkostemp(w->temp, O_CLOEXEC);
  if (fd < 0) {
    w->temp[0] = 0;
    return false;
  }
  bool ok = fs_write_all(fd, w->text) && fchmod(fd, w->mode) == 0 && fsync(fd) == 0;
  int why = errno;
  close(fd);
  errno = why;
  return ok;
}

static bool has_content(struct swap *w, const char *path, struct str text) {
  struct str found;
  struct error ignored;
  return fs_read(w->a, path, READ_MAX, &found, &ignored) == STATUS_OK && str_eq(found, text);
}

/* For file systems without RENAME_EXCHANGE: leaves a short race between comparing and renaming. */
static enum status rename_over(struct swap *w, bool *ret_done, struct error *err) {
  assert(w->temp[0]);
  *ret_done = w->was.p ? has_content(w, w->target, w->was) : access(w->target, F_OK) != 0;
  if (*ret_done && rename(w->temp, w->target) != 0)
    return failed(w, err);
  if (!*ret_done)
    unlink(w->temp);
  return STATUS_OK;
}

static enum status exchange(struct swap *w, bool *ret_done, struct error *err) {
  unsigned how = w->was.p ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  if (renameat2(AT_FDCWD, w->temp, AT_FDCWD, w->target, how) != 0) {
    if (errno == EINVAL || errno == ENOSYS)
      return rename_over(w, ret_done, err);
    *ret_done = false;
    if (errno != EEXIST && errno != ENOENT)
      return failed(w, err);
    unlink(w->temp);
    return STATUS_OK;
  }
  *ret_done = !w->was.p || has_content(w, w->temp, w->was);
  if (!*ret_done && renameat2(AT_FDCWD, w->temp, AT_FDCWD, w->target, RENAME_EXCHANGE) != 0)
    return error_errno(err, errno, "'%s' was changed while it was written; the change is in '%s'", w->target, w->temp);
  /* If someone edited the new content while it was in place, the edit stays in the temporary file. */
  if (w->was.p && (*ret_done || has_content(w, w->temp, w->text)))
    unlink(w->temp);
  return STATUS_OK;
}

enum status file_swap(struct arena *a, struct str path, struct str was, struct str text, mode_t mode, bool *ret_done,
                      struct error *err) {
  struct swap *w = arena_new(a, struct swap);
  *w = (struct swap){.a = a, .was = was, .text = text, .mode = mode};
  const char *name = arena_cstr(a, path);
  if (!realpath(name, w->target)) {
    if (errno != ENOENT)
      return error_errno(err, errno, "cannot write '%s'", name);
    if ((size_t)snprintf(w->target, sizeof(w->target), "%s", name) >= sizeof(w->target))
      return error_errno(err, ENAMETOOLONG, "cannot write '%s'", name);
  }
  bool done = false;
  if (!write_temp(w))
    return failed(w, err);
  TRY(exchange(w, &done, err));
  if (done)
    (void)fs_sync_dir(arena_cstr(a, fs_dirname(str_from(w->target))));
  *ret_done = done;
  return STATUS_OK;
}
