/* tar.h: an archive of plain files as tar(1) reads it (POSIX ustar, long names by pax headers), to and from an open
 * file.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum { TAR_PATH_BYTES = 1024 };
#define TAR_FILE_BYTES (((int64_t)1 << 33) - 1) /* what a header can say */

/* An archive that is being written or read from its beginning. */
struct tar {
  int fd;
  const char *name; /* for messages */
  int64_t at;       /* how far it is */
  int64_t now;      /* of writing: the time of its files, ms */
};

/* A file of so many bytes follows: all of them with tar_put(), then tar_end(). */
NODISCARD enum status tar_begin(struct tar *t, struct str path, int64_t bytes, struct error *err);
NODISCARD enum status tar_put(struct tar *t, struct str bytes, struct error *err);
NODISCARD enum status tar_end(struct tar *t, struct error *err);
/* The end of the archive. */
NODISCARD enum status tar_finish(struct tar *t, struct error *err);

struct tar_file {
  struct str path;
  int64_t at, bytes; /* where its content lies in the archive */
};
/* The next file; *ret_more is false behind the last one. STATUS_CORRUPT when it is no such archive, is cut off, or
 * holds anything but plain files. */
NODISCARD enum status tar_next(struct tar *t, struct arena *a, struct tar_file *ret_file, bool *ret_more,
                               struct error *err);
/* All bytes from `at` on, into `out`. */
NODISCARD enum status tar_read(const struct tar *t, int64_t at, void *out, size_t n, struct error *err);
