/* fair.h: fair use of a few places (engines, workers) by many callers.
 *
 * While others are active, a caller gets all shared places but one, and so do all callers of a team together: a free
 * place is left for the next caller. A caller that is alone gets all shared places. A caller that was silent finds a
 * reserved place: only callers that have no place may take one, and the last one is for a team that has none. Pure: the
 * time is passed in, and the user locks. */
#pragma once

#include "base/str.h"

struct caller;

/* Reserved places of a server: three more callers of a team, and one of another team. */
enum { FAIR_RESERVED = 4 };

struct fair_places {
  size_t shared, reserved; /* reserved ones are in addition to the shared ones */
};

struct fair_id {
  uint64_t caller, team; /* 0: unknown, not limited */
};

/* When two different ids were last active: enough to tell for each id whether another one is. */
struct fair_activity {
  uint64_t last;
  int64_t last_at, others_at;
};

struct fair {
  struct fair_activity callers, teams;
};

struct fair_id fair_id_of(const struct caller *c);
/* Times are ticks. */
void fair_note(struct fair *f, struct fair_id who, int64_t now);
/* True if `who` may take one of `places`, of which `n` are used. */
bool fair_may_take(const struct fair *f, struct fair_id who, const struct fair_id *used, size_t n,
                   struct fair_places places, int64_t now);
