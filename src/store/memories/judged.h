/* judged.h: how far the memories of a team have been judged by the present rules of core/trust/suspect.h.
 *
 * A memory is judged when it is written, by the rules of that day. When the rules change, those that are there are
 * judged once more, in the order of their numbers; a row of the team's settings says how far that has come. */
#pragma once

#include "store/memories/memories.h"

struct judged {
  int64_t version; /* of the rules; 0: nobody has begun */
  int64_t last;    /* number of the last memory that was judged by them */
  bool done;
};
NODISCARD enum status judged_get(struct store *st, struct str team, struct arena *a, struct judged *ret_judged,
                                 struct error *err);
/* Inside of a write transaction. */
NODISCARD enum status judged_set(struct store *st, struct str team, struct arena *a, const struct judged *judged,
                                 struct error *err);

/* Memories behind the number `after` that are not suspect, in order, at most `limit`. */
NODISCARD enum status judged_next(struct store *st, struct str team, int64_t after, int64_t limit, struct arena *a,
                                  struct memories *ret_list, struct error *err);
/* How many there are. */
NODISCARD enum status judged_left(struct store *st, struct str team, int64_t after, int64_t *ret_count,
                                  struct error *err);
/* Whether a person has vouched for it: promoted it, or took back that it became suspect. */
NODISCARD enum status judged_cleared(struct store *st, const struct memory *m, bool *ret_cleared, struct error *err);
