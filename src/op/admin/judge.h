/* judge.h: checks stored memories with the current rules of core/trust/suspect.h, after the rules have changed. */
#pragma once

#include "op/run/common.h"

/* Checks the remaining memories in batches, each in its own transaction, until `until` (clock_ticks_us(); 0: no limit).
 * It only labels memories as suspect: it removes no label, and skips memories that a person has promoted. Adds `judged`
 * and its outcome to the result if there was anything to do. */
NODISCARD enum status judge_again(struct op_call *call, int64_t until);
/* Number of memories of the team that have not been checked with the current rules. */
NODISCARD enum status judge_left(struct op_call *call, int64_t *ret_count);
