/* judged.h: progress of screening a team's memories with the current rules of core/trust/suspect.h.
 *
 * A memory is screened when it is written. When the rules change, stored memories are screened again in the order of
 * their ids; a row of the team's settings records the progress. */
#pragma once

#include "store/memories/memories.h"

struct judged {
  int64_t version; /* of the rules; 0 if not started */
  int64_t last;    /* id of the last memory screened with them */
  bool done;
};
NODISCARD enum status judged_get(struct store *st, struct str team, struct arena *a, struct judged *ret_judged,
                                 struct error *err);
/* Call inside a write transaction. */
NODISCARD enum status judged_set(struct store *st, struct str team, struct arena *a, const struct judged *judged,
                                 struct error *err);

/* Up to `limit` memories with ids greater than `after` that are not suspect, by id. */
NODISCARD enum status judged_candidates(struct store *st, struct str team, int64_t after, int64_t limit,
                                        struct arena *a, struct memories *ret_list, struct error *err);
/* Number of such memories. */
NODISCARD enum status judged_count_left(struct store *st, struct str team, int64_t after, int64_t *ret_count,
                                        struct error *err);
/* True if a person has promoted the memory or cleared its suspect flag. */
NODISCARD enum status judged_is_cleared(struct store *st, const struct memory *m, bool *ret_cleared, struct error *err);
