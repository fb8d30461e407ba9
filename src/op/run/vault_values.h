/* vault_values.h: decrypted values of a team's secrets, for redaction.
 *
 * They are decrypted once per version of the vault and kept in locked memory that is excluded from core dumps. */
#pragma once

#include "op/op.h"

/* Values; empty if the team has no secrets or no key is available. The engine's lock must be held; valid until the
 * engine's next call. Never fails: values that cannot be decrypted are skipped, and doctor reports them. The version is
 * unique to this list: a cache key for data derived from it. With `may_be_recent`, a store on a server is not queried
 * if it was within the last second and this process has not written since. */
const struct strs *vault_values_versioned(struct engine *engine, struct str team, bool may_be_recent,
                                          uint64_t *ret_version);

/* For doctor: problem with the team's secrets ("": none), and its fix. */
NODISCARD enum status vault_values_check(struct engine *engine, struct str team, struct arena *a, struct str *ret_fault,
                                         struct str *ret_fix, struct error *err);

/* Ids of the caller's team's memories and documents whose text contains the value, in any form that redaction finds. */
struct int64s {
  int64_t *v;
  size_t n, cap;
};
NODISCARD enum status vault_value_memories(struct op_call *call, struct str value, struct int64s *ret_ids);

void secrets_free(struct secrets **secrets);
