/* before_boot.h: calls that came before boot, in a file beside the store: they have no session yet. Boot moves them
 * into the store's table of calls; what never sees a boot is moved there after a while, without a session.
 *
 * The file is JSON Lines, private, shared by all processes under a lock; at most 1,000 lines, none older than a day. */
#pragma once

#include "store/db/place.h"
#include "store/tables/calls.h"

enum { BEFORE_BOOT_LINES = 1000, BEFORE_BOOT_WAIT_MS = 60000, BEFORE_BOOT_PATH = PLACE_MAX };

/* "<store>.before-boot.jsonl", as place_side() says; "": there is no place for it. */
void before_boot_path(const char *store, char ret_path[BEFORE_BOOT_PATH]);
/* One line, with its line end. `from` tells clients apart: "PID/CLIENT", the process that served it and the client. */
struct str before_boot_line(struct arena *a, const struct call_row *row, struct str from);
/* Adds lines; the oldest go when there are too many. */
NODISCARD enum status before_boot_add(const char *path, struct arena *a, struct str lines, struct error *err);
/* Moves into the store the calls of `from` ("PID/": of all clients of that process), with this session (absent: with
 * none), and of everybody those that came before `older`, with none. ret_moved may be NULL. Nothing happens when there
 * is no file. A jump for want of memory leaves a transaction open. */
NODISCARD enum status before_boot_move(struct store *st, const char *path, struct arena *a, struct str from,
                                       struct str session, int64_t older, int64_t now, int64_t *ret_moved,
                                       struct error *err);
