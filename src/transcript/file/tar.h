/* tar.h: reading and writing tar archives of regular files (POSIX ustar, long names in pax headers). */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum { TAR_PATH_BYTES = 1024 };
#define TAR_FILE_BYTES (((int64_t)1 << 33) - 1) /* maximum size in a header */

/* An archive that is being written or read sequentially. */
struct tar {
  int fd;
  const char *name; /* for messages */
  int64_t at;       /* current offset */
  int64_t now;      /* modification time of written files, ms */
};

/* Starts a file of `bytes` bytes. Write all of them with tar_put(), then call tar_end(). */
NODISCARD enum status tar_begin(struct tar *t, struct str path, int64_t bytes, struct error *err);
NODISCARD enum status tar_put(struct tar *t, struct str bytes, struct error *err);
NODISCARD enum status tar_end(struct tar *t, struct error *err);
/* Writes the end of the archive. */
NODISCARD enum status tar_finish(struct tar *t, struct error *err);

struct tar_file {
  struct str path;
  int64_t at, bytes; /* offset and size of its content */
};
/* The next file; *ret_more is false after the last one. STATUS_CORRUPT if this is not such an archive, is truncated, or
 * contains other than regular files. */
NODISCARD enum status tar_next(struct tar *t, struct arena *a, struct tar_file *ret_file, bool *ret_more,
                               struct error *err);
/* Reads n bytes at offset `at`. */
NODISCARD enum status tar_read(const struct tar *t, int64_t at, void *out, size_t n, struct error *err);
/* Sets STATUS_CORRUPT with a reason. */
enum status tar_damaged(const struct tar *t, const char *why, struct error *err);
