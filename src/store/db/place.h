/* place.h: where a store is: its address for messages, files that lie beside it, and how much room it takes. */
#pragma once

#include <sys/stat.h>

#include "store/store.h"

enum { PLACE_MAX = 4200 };

/* The path as it is, or the address of a server without passwords: neither before an '@', nor among the parameters. */
void place_public(const char *store, char ret_text[PLACE_MAX]);

/* Whether what stands where an address has its port cannot be one: somebody has not written the '/' or '?' of a
 * password as %2F or %3F, and whoever reads such an address repeats the password in its complaint. */
bool place_is_broken(const char *store);

/* A private file or folder of this machine that belongs to the store: "<store><tail>" beside a file; for a server
 * "cairn/servers/<hash of its address><tail>" in the user's state folder (XDG_STATE_HOME), which is made. "" when there
 * is no such folder. The password is no part of the hash. */
void place_side(const char *store, const char *tail, char ret_path[PLACE_MAX]);

struct store_room {
  int64_t bytes;     /* of the file, or of all tables and indexes */
  int64_t log_bytes; /* of the file's log; 0 for a server, whose log is not the store's alone */
  int64_t free;      /* bytes left on the disk of the file; -1: not known */
};
NODISCARD enum status store_room(struct store *st, struct store_room *ret_room, struct error *err);

/* Whether this is the store itself, or one of the files that belong to it; a store on a server has none. */
bool store_is_file(const struct store *st, const struct stat *given);
