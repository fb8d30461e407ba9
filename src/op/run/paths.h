/* paths.h: shortens paths of the machine in errors, for callers with a token. */
#pragma once

#include "base/error.h"
#include "base/json.h"

/* Removes the folders of absolute paths in the message and the fix, and the process id from "/proc/PID/fd". Leaves
 * paths of the API, those below /memories, and text that the caller sent itself, as an argument. `store`: path of the
 * store, which may contain spaces; NULL: unknown. `args` may be NULL. Idempotent; allocates nothing. */
void paths_shorten(const char *store, yyjson_val *args, struct error *err);
