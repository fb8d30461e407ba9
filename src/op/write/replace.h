/* replace.h: replacing one memory by another: who may replace whom, what is handed on, links of the chain. */
#pragma once

#include "op/write/write.h"

struct replacement {
  struct memory old; /* id 0: nothing is replaced */
  struct str reason;
  bool shadow;        /* a project's memory hides a global one in that project alone */
  struct links links; /* of the old memory: some are carried over */
};

/* Whether the write may take the place of a memory: what nobody vouches for replaces nothing that is trusted. A file is
 * its editor's own, and is never shown unasked. */
bool replace_allowed(const struct write *w, const struct memory *old);
/* Whether a memory does not stand in the way of the write: a person's words do not wait for what nobody vouches for. */
bool replace_outweighs(const struct write *w, const struct memory *old);
/* Kind, type, severity and the like that the caller did not give are those of the memory to be replaced. */
NODISCARD enum status replace_defaults(struct op_call *call, struct write *w);
/* Finds what the write replaces, by --supersedes or by its key, and refuses what may not be. May settle the write as
 * skipped, when the same text is stored under its key already. */
NODISCARD enum status replace_resolve(struct op_call *call, struct txn *txn, struct write *w,
                                      struct replacement *ret_rep);
/* Makes `old` the memory to be replaced, as the gate's verdict asks. */
NODISCARD enum status replace_choose(struct op_call *call, struct write *w, const struct memory *old, struct str reason,
                                     struct replacement *rep);
/* Before the new memory is stored: hands on what is inherited, and retires the old one. */
NODISCARD enum status replace_retire(struct op_call *call, struct txn *txn, struct write *w, struct replacement *rep);
/* After it: the link of the chain. */
NODISCARD enum status replace_link(struct op_call *call, struct txn *txn, struct write *w,
                                   const struct replacement *rep);
