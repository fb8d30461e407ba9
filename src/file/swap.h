/* swap.h: replacing a file that somebody else may be editing: only as long as it is what was read. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

/* Replaces the content `was` (absent: there was no file) by `text`, atomically and synced to disk. When the file holds
 * anything else by now it is left as it is, and ret_done is false: there is no moment at which another's edit could be
 * overwritten, where the file system can exchange two files. Links are followed, the mode of the file stays; `mode` is
 * that of a new one. */
NODISCARD enum status file_swap(struct arena *a, struct str path, struct str was, struct str text, mode_t mode,
                                bool *ret_done, struct error *err);
