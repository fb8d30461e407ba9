/* fair.c: which of several callers may take one more place. */
#include "op/run/fair.h"

#include "op/access/authenticate.h"
#include "op/op.h"

enum { ACTIVE_US = 10 * 1000 * 1000 };

struct fair_id fair_id_of(const struct caller *c) {
  const struct principal *p = c->principal;
  uint64_t team = str_hash(STR_HASH, c->team);
  struct str name = !p ? STR("") : p->token.p ? p->token : p->name;
  return (struct fair_id){.caller = str_hash(team, name), .team = team};
}

static void note(struct fair_activity *a, uint64_t who, int64_t now) {
  if (!who)
    return;
  if (who != a->last) {
    a->others_at = a->last_at;
    a->last = who;
  }
  a->last_at = now;
}

void fair_note(struct fair *f, struct fair_id who, int64_t now) {
  note(&f->callers, who.caller, now);
  note(&f->teams, who.team, now);
}

static bool are_others_active(const struct fair_activity *a, uint64_t who, int64_t now) {
  int64_t at = who == a->last ? a->others_at : a->last_at;
  return at && now - at < ACTIVE_US;
}

bool fair_may_take(const struct fair *f, struct fair_id who, const struct fair_id *used, size_t n,
                   struct fair_places places, int64_t now) {
  size_t callers = 0, teams = 0, all = places.shared + places.reserved;
  for (size_t i = 0; i < n; i++) {
    callers += used[i].caller == who.caller;
    teams += used[i].team == who.team;
  }
  if (!who.caller)
    return n < all;
  if (places.reserved && callers == 0)
    return n < all - (who.team && teams ? 1 : 0);
  size_t most = places.shared > 1 ? places.shared - 1 : 1;
  return n < places.shared && !(callers >= most && are_others_active(&f->callers, who.caller, now)) &&
         !(who.team && teams >= most && are_others_active(&f->teams, who.team, now));
}
