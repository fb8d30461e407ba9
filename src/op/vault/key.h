/* key.h: the master key of a team's vault.
 *
 * A key comes from CAIRN_VAULT_KEY, else from CAIRN_VAULT_PASSPHRASE, else from the key file (CAIRN_VAULT_KEY_FILE, or
 * cairn/vault.key in the user's configuration folder), which the first secret creates. The store has the id of the
 * team's key, so a wrong key is an error, and the right one is chosen from several. */
#pragma once

#include "op/op.h"
#include "store/tables/vault.h"

struct key_ring;

/* Context for finding or creating a key. */
struct key_search {
  struct engine *engine;
  struct str team;
  const struct op_hooks *hooks; /* asks for a passphrase; may be NULL */
  struct arena *a;              /* in locked memory */
  struct error *err;
};

/* The key that `row` names; STATUS_UNAVAILABLE if it cannot be found. */
NODISCARD enum status key_open(const struct key_search *in, const struct vault_key *row, struct master_key *ret_key);
/* A key for a team that has none, and its row for the store. */
NODISCARD enum status key_first(const struct key_search *in, struct vault_key *ret_row, struct master_key *ret_key);
/* A key to replace the current one: from CAIRN_VAULT_NEW_KEY, else CAIRN_VAULT_NEW_PASSPHRASE, else a typed passphrase
 * (if `ask`), else a random key, added to the key file. */
NODISCARD enum status key_next(const struct key_search *in, bool ask, struct vault_key *ret_row,
                               struct master_key *ret_key);

/* Path of the key file, whether or not it exists; NUL-terminated. */
NODISCARD enum status vault_key_file_path(struct arena *a, struct str *ret_path, struct error *err);

/* Wipes and frees the engine's cache of keys. */
void key_ring_free(struct key_ring **ring);
