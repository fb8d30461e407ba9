/* tar.c: reading and writing tar archives. */
#include "transcript/file/tar.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"

enum { BLOCK = 512, NAME_BYTES = 100, SUM_AT = 148, SUM_BYTES = 8, EXTRA_BYTES = 1 << 16 };

/* ustar header; numbers are octal text. */
struct header {
  char name[NAME_BYTES], mode[8], uid[8], gid[8], size[12], mtime[12], sum[SUM_BYTES], type, link[100];
  char magic[6], version[2], owner[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

static unsigned checksum(const struct header *h) {
  const unsigned char *p = (const unsigned char *)h;
  unsigned sum = 0;
  for (size_t i = 0; i < BLOCK; i++)
    sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : p[i];
  return sum;
}

/* ---- writing ---- */

enum status tar_put(struct tar *t, struct str bytes, struct error *err) {
  if (!fs_write_all(t->fd, bytes))
    return error_errno(err, errno, "cannot write '%s'", t->name);
  t->at += (int64_t)bytes.n;
  return STATUS_OK;
}

static void put_octal(char *out, size_t digits, uint64_t v) {
  for (; digits-- > 0; v /= 8)
    out[digits] = (char)('0' + v % 8);
}

static enum status put_header(struct tar *t, char type, struct str name, int64_t bytes, struct error *err) {
  assert(t->at % BLOCK == 0 && bytes >= 0 && bytes <= TAR_FILE_BYTES);
  struct header h = {.mode = "0000600", .uid = "0000000", .gid = "0000000", .type = type, .magic = "ustar"};
  h.version[0] = h.version[1] = '0';
  memcpy(h.name, name.p, name.n < NAME_BYTES ? name.n : NAME_BYTES);
  put_octal(h.size, sizeof(h.size) - 1, (uint64_t)bytes);
  put_octal(h.mtime, sizeof(h.mtime) - 1, (uint64_t)(t->now > 0 ? t->now / 1000 : 0));
  put_octal(h.sum, SUM_BYTES - 2, checksum(&h)); /* followed by NUL and space */
  h.sum[SUM_BYTES - 1] = ' ';
  return tar_put(t, (struct str){(const char *)&h, sizeof(h)}, err);
}

enum status tar_end(struct tar *t, struct error *err) {
  static const char zeros[BLOCK];
  size_t over = (size_t)(t->at % BLOCK);
  return over ? tar_put(t, (struct str){zeros, BLOCK - over}, err) : STATUS_OK;
}

/* "<length> path=<path>\n"; the length includes its own digits. */
static enum status put_long_name(struct tar *t, struct str path, struct error *err) {
  char text[TAR_PATH_BYTES + 32];
  size_t rest = path.n + sizeof(" path=\n") - 1, n = rest + 1;
  while (n != rest + (size_t)snprintf(NULL, 0, "%zu", n))
    n = rest + (size_t)snprintf(NULL, 0, "%zu", n);
  assert(n < sizeof(text));
  snprintf(text, sizeof(text), "%zu path=%.*s\n", n, STR_ARG(path));
  TRY(put_header(t, 'x', STR("long-name"), (int64_t)n, err));
  TRY(tar_put(t, (struct str){text, n}, err));
  return tar_end(t, err);
}

enum status tar_begin(struct tar *t, struct str path, int64_t bytes, struct error *err) {
  if (path.n == 0 || path.n > TAR_PATH_BYTES || bytes < 0 || bytes > TAR_FILE_BYTES)
    return error_set(err, STATUS_TOO_LARGE, "'%.*s' is too large for '%s'", STR_ARG(path), t->name);
  if (path.n > NAME_BYTES)
    TRY(put_long_name(t, path, err));
  return put_header(t, '0', path, bytes, err);
}

enum status tar_finish(struct tar *t, struct error *err) {
  static const char zeros[2 * BLOCK];
  assert(t->at % BLOCK == 0);
  return tar_put(t, (struct str){zeros, sizeof(zeros)}, err);
}

/* ---- reading ---- */

enum status tar_damaged(const struct tar *t, const char *why, struct error *err) {
  error_set(err, STATUS_CORRUPT, "'%s' is damaged: %s", t->name, why);
  return error_fix(err, "use another backup");
}

enum status tar_read(const struct tar *t, int64_t at, void *out, size_t n, struct error *err) {
  for (size_t done = 0; done < n;) {
    ssize_t got = pread(t->fd, (char *)out + done, n - done, at + (int64_t)done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return error_errno(err, errno, "cannot read '%s'", t->name);
    if (got == 0)
      return tar_damaged(t, "it is truncated", err);
    done += (size_t)got;
  }
  return STATUS_OK;
}

/* Octal digits, up to a NUL or a space. */
static bool parse_octal(const char *p, size_t n, int64_t *ret_value) {
  int64_t v = 0;
  size_t i = 0;
  for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
    v = v * 8 + (p[i] - '0');
  *ret_value = v;
  return i > 0 && (i == n || p[i] == 0 || p[i] == ' ');
}

static bool is_zero(const struct header *h) {
  const char *p = (const char *)h;
  for (size_t i = 0; i < BLOCK; i++)
    if (p[i])
      return false;
  return true;
}

static enum status read_header(struct tar *t, struct header *h, int64_t *ret_bytes, struct error *err) {
  assert(t->at % BLOCK == 0);
  int64_t sum;
  TRY(tar_read(t, t->at, h, sizeof(*h), err));
  if (is_zero(h))
    return STATUS_OK;
  if (memcmp(h->magic, "ustar", 5) != 0 || !parse_octal(h->sum, SUM_BYTES, &sum) || sum != (int64_t)checksum(h) ||
      !parse_octal(h->size, sizeof(h->size), ret_bytes) || *ret_bytes > TAR_FILE_BYTES || h->prefix[0])
    return tar_damaged(t, "a header was not written by Cairn", err);
  t->at += BLOCK;
  return STATUS_OK;
}

static int64_t padded(int64_t bytes) { return (bytes + BLOCK - 1) / BLOCK * BLOCK; }

/* We support only the pax `path` record. */
static enum status read_long_name(struct tar *t, struct arena *a, int64_t bytes, struct str *ret_path,
                                  struct error *err) {
  if (bytes > EXTRA_BYTES)
    return tar_damaged(t, "a name is too long", err);
  char *text = arena_alloc(a, (size_t)bytes + 1);
  TRY(tar_read(t, t->at, text, (size_t)bytes, err));
  struct str rest = {text, (size_t)bytes};
  size_t at = str_find(rest, STR(" path="), 0);
  int64_t length;
  if (at == SIZE_MAX || !str_int64(str_slice(rest, 0, at), &length) || length != bytes || rest.p[rest.n - 1] != '\n')
    return tar_damaged(t, "a long name was not written by Cairn", err);
  *ret_path = str_slice(rest, at + sizeof(" path=") - 1, rest.n - 1);
  t->at += padded(bytes);
  return STATUS_OK;
}

enum status tar_next(struct tar *t, struct arena *a, struct tar_file *ret_file, bool *ret_more, struct error *err) {
  struct header h;
  struct stat sb;
  struct str path = STR_NONE;
  int64_t bytes = 0;
  TRY(read_header(t, &h, &bytes, err));
  if (h.type == 'x') {
    TRY(read_long_name(t, a, bytes, &path, err));
    TRY(read_header(t, &h, &bytes, err));
    if (is_zero(&h))
      return tar_damaged(t, "a long name has no file", err);
  }
  if (is_zero(&h)) {
    *ret_more = false;
    return STATUS_OK;
  }
  if (h.type != '0')
    return tar_damaged(t, "it contains an entry that is not a regular file", err);
  if (fstat(t->fd, &sb) != 0 || bytes > (int64_t)sb.st_size - t->at)
    return tar_damaged(t, "it is truncated", err);
  if (!path.p)
    path = arena_dup(a, (struct str){h.name, strnlen(h.name, NAME_BYTES)});
  *ret_file = (struct tar_file){path, t->at, bytes};
  t->at += padded(bytes);
  *ret_more = true;
  return STATUS_OK;
}
