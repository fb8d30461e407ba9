/* vault.h: shared by the vault operations: permissions, checks of entries, the team's key. */
#pragma once

#include "op/run/common.h"
#include "op/vault/key.h"

/* Name of the caller, for grants and for the log. */
struct str vault_caller(const struct op_call *call);
/* STATUS_DENIED unless a person calls, or a token with the role admin; `what` names the action in the error. */
NODISCARD enum status vault_require_manager(struct op_call *call, const char *what);

/* Checks the form of the key, that it holds no secret, and the size of the value. */
NODISCARD enum status vault_check_entry(struct op_call *call, struct str key, struct str value);
/* STATUS_SECRET if the text contains what looks like a secret. */
NODISCARD enum status vault_refuse_secret(struct op_call *call, struct str text, const char *what, const char *fix);

NODISCARD enum status vault_refuse_unknown(struct op_call *call, struct str key);
NODISCARD enum status vault_get_entry(struct op_call *call, struct str key, struct vault_entry *ret_entry,
                                      bool *ret_found);
/* Writes the entry as JSON; a secret has a handle instead of its value. */
void vault_put_entry(struct op_call *call, yyjson_mut_val *obj, const struct vault_entry *e);

/* The team's key. It is found or created before the transaction, because that may take a second or ask a person, and
 * checked or stored inside it. */
struct held_key {
  struct vault_key row;
  struct master_key *key; /* in the call's arena */
  bool is_new;            /* not in the store yet */
};
struct key_search vault_key_search(struct op_call *call);
/* `make`: creates a key if the team has none; otherwise that is STATUS_NOT_FOUND. */
NODISCARD enum status vault_load_key(struct op_call *call, bool make, struct held_key *ret_held);
/* In the transaction: stores a new key; STATUS_CONFLICT if the team's key has changed meanwhile. */
NODISCARD enum status vault_commit_key(struct op_call *call, struct txn *txn, const struct held_key *held);
/* Decrypts the value of a secret. */
NODISCARD enum status vault_open_secret(struct op_call *call, const struct held_key *held, const struct vault_entry *e,
                                        struct str *ret_value);
