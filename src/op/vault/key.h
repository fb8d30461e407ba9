/* key.h: the master key of a team's vault: found where the process may find it, asked for, or made.
 *
 * A key comes from CAIRN_VAULT_KEY, else from CAIRN_VAULT_PASSPHRASE, else from the key file (CAIRN_VAULT_KEY_FILE, or
 * cairn/vault.key in the user's configuration folder), which is made when the first secret needs it. The store says
 * which key a team has; so of several that are at hand the right one is taken, and a wrong one is an error. */
#pragma once

#include "op/op.h"
#include "store/tables/vault.h"

struct key_ring;

/* What a key is to be found or made with. */
struct key_search {
  struct engine *engine;
  struct str team;
  const struct op_hooks *hooks; /* whom to ask for a passphrase; NULL: nobody */
  struct arena *a;              /* guarded */
  struct error *err;
};

/* The key that the store names in `row`; STATUS_UNAVAILABLE when it is not at hand. */
NODISCARD enum status key_open(const struct key_search *in, const struct vault_key *row, struct master_key *ret_key);
/* A key for a team that has none, and what the store is to know of it. */
NODISCARD enum status key_first(const struct key_search *in, struct vault_key *ret_row, struct master_key *ret_key);
/* A key to follow the present one: CAIRN_VAULT_NEW_KEY, else CAIRN_VAULT_NEW_PASSPHRASE, else a passphrase that is
 * asked for, when `ask` says so, else a new one in the key file. */
NODISCARD enum status key_next(const struct key_search *in, bool ask, struct vault_key *ret_row,
                               struct master_key *ret_key);

/* Where the key file is, or would be; NUL-terminated. */
NODISCARD enum status key_file_place(struct arena *a, struct str *ret_path, struct error *err);

/* Wipes the keys that an engine has made from passphrases. */
void key_ring_free(struct key_ring **ring);
