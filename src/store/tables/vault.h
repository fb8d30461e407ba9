/* vault.h: rows of a team's vault: values, encrypted secrets, the key that seals them, grants. Events of changes have
 * the key, never the value. */
#pragma once

#include "store/store.h"
#include "store/tables/seal.h"

enum { VAULT_VALUE_BYTES = 1000000, GRANTEE_BYTES = 128 };

struct vault_entry {
  struct str key, value, updated_by;
  struct str sealed; /* of a secret, whose value is ""; absent otherwise */
  bool is_secret;
  int64_t created_at, updated_at;
};
struct vault_entries {
  struct vault_entry *v;
  size_t n, cap;
};

NODISCARD enum status vault_find(struct store *st, struct str team, struct str key, struct arena *a,
                                 struct vault_entry *ret_entry, bool *ret_found, struct error *err);
/* Entries whose key starts with `prefix`, by key. */
NODISCARD enum status vault_walk(struct store *st, struct str team, struct str prefix, struct arena *a,
                                 struct vault_entries *ret_list, struct error *err);
/* All secrets, by key. Ignores the caller's access rights: used to redact secrets from results. */
NODISCARD enum status vault_secrets(struct store *st, struct str team, struct arena *a, struct vault_entries *ret_list,
                                    struct error *err);
/* Inserts or replaces; `action` is the event's name. */
NODISCARD enum status vault_put(struct txn *txn, struct arena *a, struct str key, struct str value, const char *action,
                                struct error *err);
NODISCARD enum status vault_put_secret(struct txn *txn, struct arena *a, struct str key, struct str sealed,
                                       struct error *err);
/* Replaces only the ciphertext, after a change of the master key. Writes no event: the caller writes one for all. */
NODISCARD enum status vault_reseal(struct txn *txn, struct str key, struct str sealed, struct error *err);
NODISCARD enum status vault_remove(struct txn *txn, struct arena *a, struct str key, bool *ret_found,
                                   struct error *err);
/* Adds an event about a key; `member` (may be NULL) with `text` is an extra detail. */
NODISCARD enum status vault_add_event(struct txn *txn, struct arena *a, struct str key, const char *action,
                                      const char *member, struct str text, struct error *err);

/* ---- the key of a team ---- */

/* The stored facts about the master key: its id, and how to derive it if it comes from a passphrase. */
struct vault_key {
  char id[MASTER_ID_SIZE];
  bool passphrase;
  struct stretch how;
  struct str proof; /* a known text, sealed; detects a wrong key before it is used */
};
/* Ignores the caller's access rights. */
NODISCARD enum status vault_key_find(struct store *st, struct str team, struct arena *a, struct vault_key *ret_key,
                                     bool *ret_found, struct error *err);
NODISCARD enum status vault_key_put(struct txn *txn, const struct vault_key *key, struct error *err);

/* ---- grants ---- */

struct grant {
  struct str key, grantee, created_by;
  int64_t uses; /* remaining; -1 if unlimited */
  int64_t created_at, expires_at;
};
struct grants {
  struct grant *v;
  size_t n, cap;
};
/* Grants to all members of the team. */
#define GRANTEE_ALL "*"

/* Adds a grant; replaces the grantee's existing one for the key. */
NODISCARD enum status grant_put(struct txn *txn, const struct grant *g, struct error *err);
NODISCARD enum status grant_remove(struct txn *txn, struct str key, struct str grantee, bool *ret_found,
                                   struct error *err);
/* Removes all grants of a grantee that no longer exists. */
NODISCARD enum status grants_remove(struct txn *txn, struct str grantee, struct error *err);
/* "token:NAME" */
struct str grantee_of_token(struct arena *a, struct str name);
/* Grants of the team, or of one key; by key and grantee. */
NODISCARD enum status grants_list(struct store *st, struct str team, struct str key, struct arena *a,
                                  struct grants *ret_list, struct error *err);
/* Uses one of the grantee's own grants, else one for all. ret_by is the grantee of the grant used; absent if there is
 * none. */
NODISCARD enum status grant_use(struct txn *txn, struct str key, struct str grantee, struct arena *a,
                                struct str *ret_by, struct error *err);
