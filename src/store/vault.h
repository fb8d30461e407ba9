/* vault.h: named values of a team, as rows. A change is an event that names the key and never the value. */
#ifndef CAIRN_STORE_VAULT_H
#define CAIRN_STORE_VAULT_H

#include "store/store.h"

enum { VAULT_VALUE_BYTES = 1000000 };

struct vault_entry {
  struct str key, value, updated_by;
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
/* Stores or replaces; `action` is the event's name. */
NODISCARD enum status vault_put(struct txn *txn, struct arena *a, struct str key, struct str value, const char *action,
                                struct error *err);
NODISCARD enum status vault_remove(struct txn *txn, struct arena *a, struct str key, bool *ret_found,
                                   struct error *err);

#endif
