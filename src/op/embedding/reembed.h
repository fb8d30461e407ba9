/* reembed.h: embedding what waits, changing from one index to another, and going back. */
#pragma once

#include "op/embedding/embedding.h"

/* What came of embedding the chunks that lack a vector. */
struct pass {
  int64_t embedded; /* chunks that got one */
  int64_t failed;   /* texts that the embedder does not take; they stay without */
  int64_t seen;     /* chunks up to this id were looked at */
  bool complete;    /* nothing is left but what failed; else it was stopped, ran out of time, or: */
  struct error why; /* code STATUS_OK, or the embedder is down, and this is why */
};

/* Embeds all chunks of the team behind the id `after`, in portions, each a short transaction; nothing is locked while
 * it embeds. `until`: clock_ticks_us() at which it stops; 0: never. Fails when the store does. */
NODISCARD enum status reembed_pass(struct op_call *call, const struct embedding *e, int64_t after, int64_t until,
                                   struct pass *ret_pass);

struct reembed_report {
  struct pass pass;
  bool flipped;
  struct str model, previous; /* absent when there is none */
  struct str note;            /* why something was left undone; absent */
  int64_t txn;
};

/* Everything that can be done now: embeds for the index that the settings ask for, and makes it the active one when it
 * is complete. */
NODISCARD enum status reembed_run(struct op_call *call, int64_t until, struct reembed_report *ret_report);
/* Drops vectors that belong to no index any more, and a previous index of long ago; keeps the cache within bounds. */
NODISCARD enum status reembed_tidy(struct op_call *call, int64_t *ret_dropped);

/* embedder, embedded {done, total}, indexes [...] into an object. Opens no embedder. */
NODISCARD enum status reembed_put_status(struct op_call *call, yyjson_mut_val *obj);
/* A "note" when the settings ask for another index than the active one. */
NODISCARD enum status reembed_put_note(struct op_call *call, yyjson_mut_val *obj);
