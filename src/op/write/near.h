/* near.h: memories to compare a draft with: duplicates, near ones, and those that it contradicts. */
#pragma once

#include "op/write/write.h"

struct near {
  struct similars list;     /* best match first */
  struct memories memories; /* of the list, with bodies */
};

/* Compares the draft with the memories near it, before the write lock is taken: it takes milliseconds. */
NODISCARD enum status near_prepare(struct op_call *call, struct write *w);
/* True if the caller named m as another memory than the draft. */
bool near_is_distinct(const struct write *w, const struct memory *m);
/* Finds visible memories near the draft. `except` is the memory that the draft replaces; 0: none. */
NODISCARD enum status near_find(struct op_call *call, const struct write *w, int64_t except, struct near *ret_near);
