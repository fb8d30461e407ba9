/* duplicates.h: step 5 of the gate: finds visible memories near a draft and acts on the verdict. */
#pragma once

#include "op/write/replace.h"

/* Skips, refuses, makes the write a replacement, or adds a warning. The memory being replaced is not a duplicate. */
NODISCARD enum status duplicates_decide(struct op_call *call, struct write *w, struct replacement *rep);
/* Adds the warning that names the existing duplicate of a skipped write. */
void duplicates_warn(struct op_call *call, struct write *w);
/* After the new memory is stored: adds links to the memories it contradicts. */
NODISCARD enum status duplicates_link(struct op_call *call, struct txn *txn, struct write *w);
