/* reembed.h: embeds pending chunks, switches to the index of another embedder, and rolls back. */
#pragma once

#include "op/embedding/embedding.h"

/* Outcome of embedding the pending chunks. */
struct pass {
  int64_t embedded; /* chunks */
  int64_t failed;   /* texts that the embedder refuses; they stay without a vector */
  int64_t seen;     /* id of the last chunk that was checked */
  bool complete;    /* only failed chunks are left; false if it was stopped or timed out, or if `why` is set */
  struct error why; /* error of the embedder; code STATUS_OK: none */
};

/* Embeds all chunks of the team with ids above `after`, in batches, each in a short transaction; nothing is locked
 * while it embeds. Stops when clock_ticks_us() reaches `until`; 0: never. Fails only if the store does. */
NODISCARD enum status reembed_pass(struct op_call *call, const struct embedding *e, int64_t after, int64_t until,
                                   struct pass *ret_pass);

struct reembed_report {
  struct pass pass;
  bool flipped;
  struct str model, previous; /* absent: none */
  struct str note;            /* why something was not done; may be absent */
  int64_t txn;
};

/* Embeds the pending chunks for the embedder of the settings, and makes its index active when it is complete. */
NODISCARD enum status reembed_run(struct op_call *call, int64_t until, struct reembed_report *ret_report);
/* Drops vectors without an index, and a previous index after 30 days; trims the cache. */
NODISCARD enum status reembed_tidy(struct op_call *call, int64_t *ret_dropped);

/* Adds embedder, embedded {done, total} and indexes [...] to an object. Opens no embedder. */
NODISCARD enum status reembed_put_status(struct op_call *call, yyjson_mut_val *obj);
/* Adds a "note" if the active index does not match the settings. */
NODISCARD enum status reembed_put_note(struct op_call *call, yyjson_mut_val *obj);
