/* replace.h: superseding and shadowing: permission, inheritance, links of the chain. */
#pragma once

#include "op/write/write.h"

struct replacement {
  struct memory old; /* id 0: none */
  struct str reason;
  bool shadow;        /* a project's memory hides a global one in that project only */
  struct links links; /* of the old memory; some are copied to the new one */
};

/* False if an untrusted text would replace a trusted memory. Files are exempt: they are never shown unasked. */
bool replace_allowed(const struct write *w, const struct memory *old);
/* True if `old` is untrusted and a person writes: then `old` is not a duplicate that blocks the write. */
bool replace_outweighs(const struct write *w, const struct memory *old);
/* Kind, type, severity and similar fields that the caller left out default to those of the replaced memory. */
void replace_default_to(struct memory *m, const struct memory *old, bool weight_given);
NODISCARD enum status replace_defaults(struct op_call *call, struct write *w);
/* Finds the memory that the write replaces, by --supersedes or by its key, and checks that this is allowed. Marks the
 * write as skipped if its key already has the same text. */
NODISCARD enum status replace_resolve(struct op_call *call, struct txn *txn, struct write *w,
                                      struct replacement *ret_rep);
/* Makes `old` the memory to be replaced. */
NODISCARD enum status replace_choose(struct op_call *call, struct write *w, const struct memory *old, struct str reason,
                                     struct replacement *rep);
/* Before the new memory is stored: copies inherited fields to it and retires the old one. */
NODISCARD enum status replace_retire(struct op_call *call, struct txn *txn, struct write *w, struct replacement *rep);
/* After the new memory is stored: links it to the old one. */
NODISCARD enum status replace_link(struct op_call *call, struct txn *txn, struct write *w,
                                   const struct replacement *rep);
/* Reverts a replacement: makes `old` active, with the weight and severity from before, which the link has. */
NODISCARD enum status replace_restore(struct op_call *call, struct txn *txn, const struct memory *old,
                                      const struct link *l);
