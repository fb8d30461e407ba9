/* vault.h: named values of a team, as rows: values, secrets, the key that secrets are sealed with, and grants. A change
 * is an event that names the key and never the value. */
#pragma once

#include "store/store.h"
#include "store/tables/seal.h"

enum { VAULT_VALUE_BYTES = 1000000, GRANTEE_BYTES = 128 };

struct vault_entry {
  struct str key, value, updated_by;
  struct str sealed; /* of a secret, whose value is ""; else absent */
  bool is_secret;
  int64_t created_at, updated_at;
};
struct vault_entries {
  struct vault_entry *v;
  size_t n, cap;
};

NODISCARD enum status vault_find(struct store *st, struct str team, struct str key, struct arena *a,
                                 struct vault_entry *ret_entry, bool *ret_found, struct error *err);
/* Those whose key begins with `prefix`, by key. */
NODISCARD enum status vault_walk(struct store *st, struct str team, struct str prefix, struct arena *a,
                                 struct vault_entries *ret_list, struct error *err);
/* The secrets, by key. However far the caller reaches: for keeping them out of what it gets to see. */
NODISCARD enum status vault_secrets(struct store *st, struct str team, struct arena *a, struct vault_entries *ret_list,
                                    struct error *err);
/* Stores or replaces; `action` is the event's name. */
NODISCARD enum status vault_put(struct txn *txn, struct arena *a, struct str key, struct str value, const char *action,
                                struct error *err);
NODISCARD enum status vault_put_secret(struct txn *txn, struct arena *a, struct str key, struct str sealed,
                                       struct error *err);
/* The same secret under another key: nothing else of it changes, and one event tells of all of them. */
NODISCARD enum status vault_reseal(struct txn *txn, struct str key, struct str sealed, struct error *err);
NODISCARD enum status vault_remove(struct txn *txn, struct arena *a, struct str key, bool *ret_found,
                                   struct error *err);
/* An event about a key; `member` with `text` says more, or is NULL. */
NODISCARD enum status vault_note(struct txn *txn, struct arena *a, struct str key, const char *action,
                                 const char *member, struct str text, struct error *err);

/* ---- the key of a team ---- */

/* What the store knows of the master key: which one it is, and how it is made, when that is from a passphrase. */
struct vault_key {
  char id[MASTER_ID_SIZE];
  bool passphrase;
  struct stretch how;
  struct str proof; /* a known text, sealed: a wrong key is noticed before anything is sealed with it */
};
/* However far the caller reaches. */
NODISCARD enum status vault_key_find(struct store *st, struct str team, struct arena *a, struct vault_key *ret_key,
                                     bool *ret_found, struct error *err);
NODISCARD enum status vault_key_put(struct txn *txn, const struct vault_key *key, struct error *err);

/* ---- grants ---- */

struct grant {
  struct str key, grantee, created_by;
  int64_t uses; /* that are left; -1: any number */
  int64_t created_at, expires_at;
};
struct grants {
  struct grant *v;
  size_t n, cap;
};
/* To everybody of the team. */
#define GRANTEE_ALL "*"

/* Gives a grant, in place of one that the same grantee has for the key. */
NODISCARD enum status grant_put(struct txn *txn, const struct grant *g, struct error *err);
NODISCARD enum status grant_remove(struct txn *txn, struct str key, struct str grantee, bool *ret_found,
                                   struct error *err);
/* All of the team, or those for one key; by key and grantee. */
NODISCARD enum status grants_list(struct store *st, struct str team, struct str key, struct arena *a,
                                  struct grants *ret_list, struct error *err);
/* Uses a grant that the grantee has now, its own rather than everybody's; ret_by says whose, absent: there is none. */
NODISCARD enum status grant_use(struct txn *txn, struct str key, struct str grantee, struct arena *a,
                                struct str *ret_by, struct error *err);
