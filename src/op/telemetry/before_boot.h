/* before_boot.h: buffer file next to the store for calls made before boot, which have no session yet. Boot moves them
 * into the table of calls; without a boot they are moved after BEFORE_BOOT_WAIT_MS, without a session.
 *
 * The file is JSON Lines, private, shared by all processes under a lock; at most 1,000 lines, none older than a day. */
#pragma once

#include "store/db/place.h"
#include "store/tables/calls.h"

enum { BEFORE_BOOT_LINES = 1000, BEFORE_BOOT_WAIT_MS = 60000, BEFORE_BOOT_PATH = PLACE_MAX };

/* "<store>.before-boot.jsonl", see place_side(); "" if there is no directory for it. */
void before_boot_path(const char *store, char ret_path[BEFORE_BOOT_PATH]);
/* One line, with its newline. `from` identifies the client: "PID/CLIENT", the serving process and the client. */
struct str before_boot_line(struct arena *a, const struct call_row *row, struct str from);
/* Appends lines; drops the oldest if there are too many. */
NODISCARD enum status before_boot_add(const char *path, struct arena *a, struct str lines, struct error *err);

struct before_boot_move {
  struct str from;    /* "PID/CLIENT"; "PID/": all clients of that process; absent: none */
  struct str session; /* for the calls of `from`; may be absent */
  int64_t older;      /* ms; also moves all calls before this time, without a session */
  int64_t now;
};
/* Moves calls into the store. ret_moved may be NULL. Does nothing if there is no file. An out-of-memory jump leaves the
 * transaction open. */
NODISCARD enum status before_boot_move(struct store *st, const char *path, struct arena *a,
                                       const struct before_boot_move *move, int64_t *ret_moved, struct error *err);
