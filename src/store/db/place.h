/* place.h: location of a store: its URL for messages, files beside it, and its size. */
#pragma once

#include <sys/stat.h>

#include "store/store.h"

enum { PLACE_MAX = 4200 };

/* The path, or the server URL without passwords, neither before an '@' nor in parameters. */
void place_public(const char *store, char ret_text[PLACE_MAX]);

/* Is the port of the URL invalid? Then a '/' or '?' of the password is not escaped as %2F or %3F, and libpq would
 * repeat the password in its error message. */
bool place_is_broken(const char *store);

/* Path of a private local file or folder that belongs to the store: "<store><tail>" beside a file; for a server
 * "cairn/servers/<hash of its URL><tail>" in the user's state folder (XDG_STATE_HOME), which is created. "" if there is
 * no such folder. The password is not part of the hash. */
void place_side(const char *store, const char *tail, char ret_path[PLACE_MAX]);

struct store_room {
  int64_t bytes;     /* size of the file, or of all tables and indexes */
  int64_t log_bytes; /* size of the file's log; 0 for a server, whose log is shared */
  int64_t free;      /* bytes free on the disk of the file; -1: unknown */
};
NODISCARD enum status store_room(struct store *st, struct store_room *ret_room, struct error *err);

/* Is this the store itself, or one of its side files? A store on a server has none. */
bool store_is_file(const struct store *st, const struct stat *given);
