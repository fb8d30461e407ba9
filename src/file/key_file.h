/* key_file.h: the file that holds the master keys of vaults: a line "id key" for each, the newest last.
 *
 * Keys are added and never taken away: what was sealed with a former key, in a backup or in another store, would be
 * lost with it. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "store/tables/seal.h"

struct master_keys {
  struct master_key *v;
  size_t n, cap;
};

/* The keys of a text; lines that are empty or begin with '#' are left out. `name` is what messages call it. */
NODISCARD enum status key_file_parse(struct arena *a, struct str text, const char *name, struct master_keys *ret_keys,
                                     struct error *err);
/* No keys when there is no such file. Refused when it is not a plain file, or not this user's alone. */
NODISCARD enum status key_file_read(struct arena *a, const char *path, struct master_keys *ret_keys, struct error *err);
/* The newest key, or a new one when there is none. */
NODISCARD enum status key_file_first(struct arena *a, const char *path, struct master_key *ret_key, struct error *err);
/* A new key behind the others. When it returns, the key is on disk. */
NODISCARD enum status key_file_add(struct arena *a, const char *path, struct master_key *ret_key, struct error *err);
