/* vault.h: what the operations of the vault share: who may do what, and keys that are held for a call. */
#pragma once

#include "op/run/common.h"
#include "op/vault/key.h"

/* Who the caller is, for grants and for the log. */
struct str vault_caller(const struct op_call *call);
/* STATUS_DENIED for agents: `what` is for persons, and for tokens with the role admin. */
NODISCARD enum status vault_manage(struct op_call *call, const char *what);

/* That the key is one, and the value not too large. */
NODISCARD enum status vault_check_entry(struct op_call *call, struct str key, struct str value);
/* STATUS_SECRET when the text looks like one; `fix` says what to do then. */
NODISCARD enum status vault_refuse_secret(struct op_call *call, struct str text, const char *what, const char *fix);

NODISCARD enum status vault_no_such_key(struct op_call *call, struct str key);
NODISCARD enum status vault_get_entry(struct op_call *call, struct str key, struct vault_entry *ret_entry,
                                      bool *ret_found);
/* Of a secret its handle, and no value. */
void vault_put_entry(struct op_call *call, yyjson_mut_val *obj, const struct vault_entry *e);

/* The key of the team's secrets. It is found or made before the transaction, because that may take a second or a
 * person, and settled in it. */
struct held_key {
  struct vault_key row;
  struct master_key *key; /* in the call's memory */
  bool is_new;            /* the store is to learn of it */
};
struct key_search vault_search(struct op_call *call);
/* `make`: a team without a key gets one; else that is STATUS_NOT_FOUND. */
NODISCARD enum status vault_hold_key(struct op_call *call, bool make, struct held_key *ret_held);
/* Under the write lock: STATUS_CONFLICT when somebody has changed the team's key meanwhile. */
NODISCARD enum status vault_settle_key(struct op_call *call, struct txn *txn, const struct held_key *held);
/* The value of a secret. */
NODISCARD enum status vault_open_secret(struct op_call *call, const struct held_key *held, const struct vault_entry *e,
                                        struct str *ret_value);
