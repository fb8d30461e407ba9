/* output.h: files outside of the agent's folder that an operation writes again and again. */
#pragma once

#include "op/run/common.h"

/* Refuses to replace a file that this project has not written, or that was changed since, unless the argument `force`
 * is true. */
NODISCARD enum status output_check(struct op_call *call, struct str out);
/* Notes what was written. */
NODISCARD enum status output_note(struct op_call *call, struct str out, struct str text);
