/* fs.h: whole files: read with a limit, written so that a crash leaves the old or the new one; folders, XDG paths. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

/* All that is left to read from an open file or pipe; `name` is what messages call it. More than `limit` bytes are
 * STATUS_TOO_LARGE, and no more than one byte over the limit is read. */
NODISCARD enum status fs_read_fd(struct arena *a, int fd, const char *name, size_t limit, struct str *ret_text,
                                 struct error *err);
NODISCARD enum status fs_read(struct arena *a, const char *path, size_t limit, struct str *ret_text, struct error *err);

/* Atomically: a temporary file beside it is written, synced and renamed. A file that exists keeps its mode, and a
 * symbolic link stays one; `mode` is that of a new file. */
NODISCARD enum status fs_write(const char *path, struct str text, mode_t mode, struct error *err);

/* A descriptor that the arena closes; -1 so far. It is asked for before open(): reading allocates, and an out-of-memory
 * jump would leave the file open. */
int *fs_descriptor(struct arena *a);
/* Closes it now, if it is open. */
void fs_close(int *fd);

/* All of the text, from where the file stands; false with errno. */
bool fs_put(int fd, struct str text);
/* A file that is new in a folder, or renamed there, is on disk only when the folder is; false with errno. */
bool fs_sync_dir(const char *folder);
/* The same for the folder that holds the file. */
bool fs_sync_around(const char *path);

/* The folder and its parents, each missing one with mode 0700. */
NODISCARD enum status fs_mkdirs(const char *path, struct error *err);

enum xdg { XDG_DATA, XDG_CONFIG, XDG_STATE };

/* `rest` below the user's folder for this purpose, by the XDG base directory specification; NUL-terminated. Fails
 * when neither the XDG variable nor HOME is set. Nothing is created. */
NODISCARD enum status fs_xdg(struct arena *a, enum xdg which, const char *rest, struct str *ret_path,
                             struct error *err);

/* The part before the last slash ("." or "/" where there is none before it), and the part behind it. */
struct str fs_dirname(struct str path);
struct str fs_basename(struct str path);
