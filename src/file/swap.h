/* swap.h: compare-and-swap of a file that others may be editing. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

/* Replaces the content `was` (absent if there was no file) with `text`, atomically and synced to disk. If the file has
 * other content by now, it is left unchanged and ret_done is false. On file systems with RENAME_EXCHANGE there is no
 * race in which another's edit could be overwritten. Follows links and keeps the file's mode; `mode` is for a new file.
 */
NODISCARD enum status file_swap(struct arena *a, struct str path, struct str was, struct str text, mode_t mode,
                                bool *ret_done, struct error *err);
