/* import_source.c: input of an import: opening it, reading its lines. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "op/transfer/import.h"

enum { FIRST_BUFFER = 256 * 1024 };

/* ---- opening ---- */

static void close_fd(void *p) {
  int *fd = p;
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

static enum status refuse_too_large(const char *name, struct error *err) {
  error_set(err, STATUS_TOO_LARGE, "%s is larger than the limit of 1 GiB", name);
  return error_fix(err, "split it; a file with links to memories of another file must be imported after it");
}

static enum status spool_failed(const char *name, struct error *err) {
  error_errno(err, errno, "cannot copy %s to a temporary file", name);
  return error_fix(err, "free some space, set TMPDIR to another folder, or import from a file");
}

/* Copies a pipe to a file, so the write lock is not held while data is still arriving. */
static enum status spool(struct op_call *call, int from, const char *name, int *ret_fd) {
  const char *dir = getenv("TMPDIR");
  char *path = arena_cstr(call->arena, arena_printf(call->arena, "%s/cairn-import-XXXXXX", dir && *dir ? dir : "/tmp"));
  char *buffer = arena_alloc(call->arena, FIRST_BUFFER);
  *ret_fd = mkostemp(path, O_CLOEXEC);
  if (*ret_fd < 0)
    return spool_failed(name, call->err);
  unlink(path);
  for (int64_t total = 0;;) {
    ssize_t n = read(from, buffer, FIRST_BUFFER);
    if (n < 0 && errno == EINTR) {
      if (cancelled(call))
        return error_set(call->err, STATUS_INTERRUPTED, "stopped; nothing was imported");
      continue;
    }
    if (n < 0)
      return error_errno(call->err, errno, "cannot read %s", name);
    if (n == 0)
      return STATUS_OK;
    total += n;
    if (total > IMPORT_MAX)
      return refuse_too_large(name, call->err);
    for (ssize_t done = 0; done < n;) {
      ssize_t written = write(*ret_fd, buffer + done, (size_t)(n - done));
      if (written < 0 && errno != EINTR)
        return spool_failed(name, call->err);
      done += written > 0 ? written : 0;
    }
  }
}

static enum status refuse_folder(const char *name, struct error *err) {
  error_set(err, STATUS_USAGE, "%s is a folder", name);
  return error_fix(err, "name a file; a folder is read as Markdown notes, with --format markdown");
}

enum status source_open(struct op_call *call, struct str path, struct source *ret_source) {
  int *fd = arena_alloc(call->arena, 2 * sizeof(*fd));
  struct source s = {.name = str_is(path, "-") ? "standard input" : arena_cstr(call->arena, path)};
  fd[0] = fd[1] = -1;
  arena_defer(call->arena, close_fd, &fd[0]);
  arena_defer(call->arena, close_fd, &fd[1]);
  fd[0] = str_is(path, "-") ? dup(STDIN_FILENO) : open(s.name, O_RDONLY | O_CLOEXEC);
  if (fd[0] < 0 || fstat(fd[0], &s.st) != 0) {
    error_errno(call->err, errno, "cannot read %s", s.name);
    return error_fix(call->err, "check the path; 'cairn export FILE' writes a file that can be imported");
  }
  if (S_ISDIR(s.st.st_mode))
    return refuse_folder(s.name, call->err);
  s.fd = fd[0];
  /* Standard input is copied even if it is a file: it may be read in part already, and we must not move its position.
   */
  if (!S_ISREG(s.st.st_mode) || str_is(path, "-")) {
    TRY(spool(call, fd[0], s.name, &fd[1]));
    s.fd = fd[1];
    if (fstat(s.fd, &s.st) != 0)
      return spool_failed(s.name, call->err);
  }
  if (s.st.st_size > IMPORT_MAX)
    return refuse_too_large(s.name, call->err);
  *ret_source = s;
  return STATUS_OK;
}

enum status source_check_unchanged(const struct source *s, struct error *err) {
  struct stat now;
  if (fstat(s->fd, &now) == 0 && now.st_size == s->st.st_size && now.st_mtim.tv_sec == s->st.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == s->st.st_mtim.tv_nsec)
    return STATUS_OK;
  error_set(err, STATUS_CONFLICT, "%s was changed while it was read; nothing was imported", s->name);
  return error_fix(err, "repeat the command when the file is complete");
}

/* ---- lines ---- */

void lines_open(struct lines *l, const struct source *source, struct arena *a, int64_t offset, int64_t number) {
  *l = (struct lines){.source = source, .arena = a, .offset = offset, .number = number - 1};
}

/* Reads more bytes after `end`; *ret_more is false at the end of the file. */
static enum status fill(struct lines *l, bool *ret_more, struct error *err) {
  assert(l->start <= l->end && l->end <= l->cap);
  if (l->start > 0) {
    memmove(l->buffer, l->buffer + l->start, l->end - l->start);
    l->end -= l->start;
    l->start = 0;
  }
  if (l->end == l->cap) {
    size_t cap = l->cap ? l->cap * 2 : FIRST_BUFFER;
    char *wider = arena_alloc(l->arena, cap);
    if (l->end)
      memcpy(wider, l->buffer, l->end);
    l->buffer = wider;
    l->cap = cap;
  }
  ssize_t n;
  do
    n = pread(l->source->fd, l->buffer + l->end, l->cap - l->end, l->offset);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return error_errno(err, errno, "cannot read %s", l->source->name);
  l->end += (size_t)n;
  l->offset += n;
  *ret_more = n > 0;
  return STATUS_OK;
}

static struct str without_bom(struct str line, int64_t at) {
  return at == 0 && str_starts(line, STR("\xef\xbb\xbf")) ? str_slice(line, 3, line.n) : line;
}

/* Skips the rest of a line that is too long. */
static enum status skip_rest(struct lines *l, struct error *err) {
  for (bool more = true; more;) {
    const char *end = memchr(l->buffer + l->start, '\n', l->end - l->start);
    if (end) {
      l->start = (size_t)(end + 1 - l->buffer);
      return STATUS_OK;
    }
    l->start = l->end;
    TRY(fill(l, &more, err));
  }
  return STATUS_OK;
}

enum status lines_next(struct lines *l, struct str *ret_line, bool *ret_more, struct error *err) {
  size_t looked = 0;
  l->at = l->offset - (int64_t)(l->end - l->start);
  l->number++;
  l->too_long = false;
  for (bool more = true;;) {
    const char *begin = l->buffer + l->start;
    size_t have = l->end - l->start;
    const char *end = have > looked ? memchr(begin + looked, '\n', have - looked) : NULL;
    if (end || (!more && have)) {
      size_t n = end ? (size_t)(end - begin) : have;
      l->start += n + (end ? 1 : 0);
      *ret_line = without_bom((struct str){begin, n}, l->at);
      *ret_more = true;
      l->too_long = n > IMPORT_LINE_MAX;
      return STATUS_OK;
    }
    if (!more) {
      *ret_more = false;
      return STATUS_OK;
    }
    if (have > IMPORT_LINE_MAX) {
      l->too_long = true;
      *ret_line = STR("");
      *ret_more = true;
      return skip_rest(l, err);
    }
    looked = have;
    TRY(fill(l, &more, err));
  }
}
