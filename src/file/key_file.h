/* key_file.h: file with the master keys of vaults: one line "id key" each, the newest last.
 *
 * Keys are never removed: backups and other stores may still need an old key. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "store/tables/seal.h"

struct master_keys {
  struct master_key *v;
  size_t n, cap;
};

/* Parses keys; ignores empty lines and those that start with '#'. `name` is used in messages. */
NODISCARD enum status key_file_parse(struct arena *a, struct str text, const char *name, struct master_keys *ret_keys,
                                     struct error *err);
/* Returns no keys if there is no such file. Refuses a file that is not regular or that other users can access. */
NODISCARD enum status key_file_read(struct arena *a, const char *path, struct master_keys *ret_keys, struct error *err);
/* The newest key; creates one if there is none. */
NODISCARD enum status key_file_first(struct arena *a, const char *path, struct master_key *ret_key, struct error *err);
/* Appends a new key, which is on disk when this returns. */
NODISCARD enum status key_file_add(struct arena *a, const char *path, struct master_key *ret_key, struct error *err);
