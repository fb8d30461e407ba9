/* readmit.h: whom a backup would let in again: its tokens and the grants of its vault, beside what the store that it
 * replaces says of them.
 *
 * What was taken away stays taken away. A token that the present store has as revoked, or does not have (it was deleted
 * there, or belongs to another store), comes back revoked; a grant that the present store does not have does not come
 * back, and one that it has is what it is there. Only a store that never knew anybody says nothing: into that one a
 * backup comes back as it is. */
#pragma once

#include "store/store.h"

struct known_token {
  struct str team, id;
  int64_t revoked_at; /* 0: it is not */
};
struct known_grant {
  struct str team, key, grantee;
  int64_t uses;       /* that are left; -1: any number */
  int64_t expires_at; /* 0: never */
};

/* What a store says of tokens and grants, of all teams. */
struct admission {
  bool empty; /* it never knew anybody */
  LIST(struct known_token) tokens;
  LIST(struct known_grant) grants;
};

/* Whether there is anybody in a backup who could be let in. */
NODISCARD enum status readmit_any(struct store *backup, bool *ret_any, struct error *err);
/* To be called when nobody can change the present store any more. */
NODISCARD enum status readmit_note(struct store *present, struct arena *a, struct admission *ret_known,
                                   struct error *err);
/* Inside a transaction of what comes back that concerns all teams; each token and grant that is held back has its
 * event. Adds to the counts. */
NODISCARD enum status readmit_apply(struct store *returned, const struct admission *known, int64_t now, struct arena *a,
                                    struct restored *counts, struct error *err);
