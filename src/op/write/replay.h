/* replay.h: idempotency keys: a write that is repeated with its key returns the first result. */
#pragma once

#include "op/write/write.h"

/* Sets w->args_hash, to recognise the same call. */
void replay_hash_args(struct op_call *call, yyjson_val *args, struct write *w);
/* Sets w->replay if the same call was made before. Refuses a key that was used with other arguments, and one whose
 * memory was forgotten since. */
NODISCARD enum status replay_find(struct op_call *call, struct txn *txn, struct write *w);
/* Saves the result under the key of the write, if it has one. */
NODISCARD enum status replay_save(struct op_call *call, struct txn *txn, const struct write *w, yyjson_mut_val *result);
