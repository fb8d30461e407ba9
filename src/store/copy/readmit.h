/* readmit.h: what a restored backup keeps of the store that it replaces: access revoked since the backup stays revoked,
 * and the files of both stores belong to the restored one.
 *
 * A token that the present store has revoked or does not have (it was deleted, or belongs to another store) is restored
 * as revoked. A grant that the present store does not have is not restored; one that it has keeps its present state. If
 * the present store was never used, the backup is restored unchanged. */
#pragma once

#include "store/store.h"

struct known_token {
  struct str team, id;
  int64_t revoked_at; /* 0 if not revoked */
};
struct known_grant {
  struct str team, key, grantee;
  int64_t uses;       /* remaining; -1 if unlimited */
  int64_t expires_at; /* 0 if never */
};

/* Tokens and grants of all teams of a store. */
struct admission {
  bool empty;          /* the store was never used */
  struct str replaced; /* creation times of the store and of those that it has replaced, separated by blanks */
  LIST(struct known_token) tokens;
  LIST(struct known_grant) grants;
};

/* True if the backup has unrevoked tokens or grants. */
NODISCARD enum status readmit_any(struct store *backup, bool *ret_any, struct error *err);
/* Call it while the present store is locked. */
NODISCARD enum status readmit_note(struct store *present, struct arena *a, struct admission *ret_known,
                                   struct error *err);
/* Inside a transaction for all teams of the restored store. Writes an event for each revoked token and grant, and adds
 * to the counts. */
NODISCARD enum status readmit_apply(struct store *returned, const struct admission *known, int64_t now, struct arena *a,
                                    struct restored *counts, struct error *err);
