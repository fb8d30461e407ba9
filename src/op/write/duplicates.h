/* duplicates.h: step 5 of the gate: finds what is close to a draft among the visible memories, and acts on the
 * verdict. */
#pragma once

#include "op/write/replace.h"

/* Skips, refuses, makes the write a replacement, or adds a warning. The memory being replaced does not count. */
NODISCARD enum status duplicates_decide(struct op_call *call, struct txn *txn, struct write *w,
                                        struct replacement *rep);
/* After the new memory is stored: links to what it contradicts. */
NODISCARD enum status duplicates_link(struct op_call *call, struct txn *txn, struct write *w);
