/* judge.h: memories that were judged by older rules of core/trust/suspect.h, or by none, are judged by the present
 * ones. */
#pragma once

#include "op/run/common.h"

/* Judges what is left, portion by portion, each a transaction of its own; `until` (clock_ticks_us(); 0: no limit) is
 * looked at after each. It only ever marks: what is suspect stays so, and what a person has vouched for is left alone.
 * Puts `judged` and what came of it into the result, when there was something to do. */
NODISCARD enum status judge_again(struct op_call *call, int64_t until);
/* How many memories of the team wait for it. */
NODISCARD enum status judge_left(struct op_call *call, int64_t *ret_count);
