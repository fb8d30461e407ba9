/* vault_values.h: the values of a team's secrets, for whoever must keep them out of what is written and shown.
 *
 * They are decrypted once for each state of the vault and kept in locked memory that no core dump holds. */
#pragma once

#include "op/op.h"

/* The values as they are now; none when the team has no secrets, or when no key is at hand. Valid until the engine's
 * next call, with its lock held. Never fails a call: what cannot be decrypted is not known, and doctor says so. */
const struct strs *secrets_known(struct engine *engine, struct str team);
/* The same, with a number that another list never has: what was made of the list can be kept as long as it stays.
 * `lately` will do where a store on a server would have to be asked for every call: as they were within the last
 * second, and since the last call of this process that wrote. */
const struct strs *secrets_known_as(struct engine *engine, struct str team, bool lately, uint64_t *ret_number);

/* For doctor: what is wrong with the team's secrets ("": nothing), and what to do about it. */
NODISCARD enum status secrets_check(struct engine *engine, struct str team, struct arena *a, struct str *ret_fault,
                                    struct str *ret_fix, struct error *err);

/* The memories and documents of the caller's team in whose text the value stands, in whatever form it can be found. */
struct int64s {
  int64_t *v;
  size_t n, cap;
};
NODISCARD enum status secrets_held(struct op_call *call, struct str value, struct int64s *ret_ids);

void secrets_free(struct secrets **secrets);
