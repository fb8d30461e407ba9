/* fs.h: reading whole files with a limit, atomic writes, directories, XDG paths. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

/* Reads an open file or pipe to its end; error messages call it `name`. More than `limit` bytes are STATUS_TOO_LARGE;
 * at most one byte over the limit is read. */
NODISCARD enum status fs_read_fd(struct arena *a, int fd, const char *name, size_t limit, struct str *ret_text,
                                 struct error *err);
NODISCARD enum status fs_read(struct arena *a, const char *path, size_t limit, struct str *ret_text, struct error *err);

/* Writes atomically: a temporary file in the same directory is written, synced and renamed. An existing file keeps its
 * mode; `mode` applies to new files. Symbolic links are followed. */
NODISCARD enum status fs_write(const char *path, struct str text, mode_t mode, struct error *err);

/* A descriptor that the arena closes, -1 at first. Get it before open(): reading allocates, and an out-of-memory jump
 * would leave the file open. */
int *fs_descriptor(struct arena *a);
/* Closes it if it is open. */
void fs_close(int *fd);

/* Writes all of the text at the current position; false with errno. */
bool fs_write_all(int fd, struct str text);
/* Syncs a directory, which makes new and renamed files in it durable; false with errno. */
bool fs_sync_dir(const char *folder);
/* The same for the folder that holds the file. */
bool fs_sync_around(const char *path);

/* Creates the directory and its missing parents with mode 0700, and syncs their names. */
NODISCARD enum status fs_mkdirs(const char *path, struct error *err);

enum xdg { XDG_DATA, XDG_CONFIG, XDG_STATE };

/* Path of `rest` below the XDG base directory, NUL-terminated. Fails if neither the XDG variable nor HOME is set.
 * Creates nothing. */
NODISCARD enum status fs_xdg(struct arena *a, enum xdg which, const char *rest, struct str *ret_path,
                             struct error *err);

/* Parts before and after the last slash. fs_dirname() of a name without a slash is "."; of "/name" it is "/". */
struct str fs_dirname(struct str path);
struct str fs_basename(struct str path);
