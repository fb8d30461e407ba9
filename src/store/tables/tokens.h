/* tokens.h: rows of a team's access tokens: role, projects, access, expiry. */
#pragma once

#include "core/secrets/access_token.h"
#include "store/store.h"

struct token {
  struct str team, id, name;
  uint8_t hash[TOKEN_HASH_BYTES]; /* of the secret: token_hash() */
  enum role role;
  struct strs projects; /* only for ROLE_PROJECT */
  bool read_only;
  struct str profile; /* absent if any */
  struct str created_by;
  int64_t created_at, expires_at, revoked_at, used_at; /* 0: never */
};
struct tokens {
  struct token *v;
  size_t n, cap;
};

bool token_is_live(const struct token *token, int64_t now);

/* Needs no access rights, since it identifies the caller. */
NODISCARD enum status token_by_id(struct store *st, struct str team, struct str id, struct arena *a,
                                  struct token *ret_token, bool *ret_found, struct error *err);
/* Records the use, at most once in TOKEN_USE_MS, without waiting for the lock or the disk. */
enum { TOKEN_USE_MS = 60 * 1000 };
void token_record_use(struct store *st, const struct token *token, int64_t now);

/* True if any team has a valid token. */
NODISCARD enum status tokens_exist(struct store *st, int64_t now, bool *ret_any, struct error *err);

/* The rest needs administrator rights. Finds a token by name, else by id. */
NODISCARD enum status token_find(struct store *st, struct str team, struct str ref, struct arena *a,
                                 struct token *ret_token, bool *ret_found, struct error *err);
/* Sorted by name. */
NODISCARD enum status tokens_list(struct store *st, struct str team, struct arena *a, struct tokens *ret_list,
                                  struct error *err);
/* These write an event, without the secret. A taken name is STATUS_CONFLICT. */
NODISCARD enum status token_insert(struct txn *txn, struct arena *a, const struct token *token, struct error *err);
NODISCARD enum status token_revoke(struct txn *txn, struct arena *a, const struct token *token, struct error *err);
/* Valid tokens that this one has created. Names are reused, so only those since it was created itself. */
NODISCARD enum status token_children(struct store *st, const struct token *token, int64_t now, struct arena *a,
                                     struct tokens *ret_list, struct error *err);
/* Also deletes the token's grants of the vault: another token may get its name. */
NODISCARD enum status token_delete(struct txn *txn, struct arena *a, const struct token *token, struct error *err);
