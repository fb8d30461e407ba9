/* rotate.c: another key for the secrets of a team.
 *
 * The order is what makes it safe: the new key is on disk before the store names it, and all secrets change in one
 * transaction together with that name. Whatever ends the program in between, the store is sealed with the old key or
 * with the new one, and both are there. The old one stays in the key file: backups need it, and other stores may. */
#include "op/handlers.h"
#include "op/vault/vault.h"

static enum status reseal(struct op_call *call, struct txn *txn, const struct held_key *old, const struct held_key *new,
                          const struct vault_entry *e) {
  struct str value;
  struct op_call part = *call;
  part.arena = arena_child(call->arena); /* one value at a time */
  enum status s = vault_open_secret(&part, old, e, &value);
  if (s == STATUS_OK)
    s = vault_reseal(txn, e->key, seal(part.arena, new->key, txn->team, e->key, value), call->err);
  arena_release(part.arena);
  return s;
}

static enum status note(struct op_call *call, struct txn *txn, const struct held_key *old, const struct held_key *new,
                        size_t count) {
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put(doc, obj, "from", str_from(old->row.id));
  json_put(doc, obj, "to", str_from(new->row.id));
  json_put_int(doc, obj, "secrets", (int64_t)count);
  struct event e = {.action = STR("vault:rotate"), .detail = json_write(call->arena, obj, false)};
  return event_add(txn, &e, call->err);
}

static enum status rotate_all(struct op_call *call, const struct held_key *old, const struct held_key *new,
                              size_t *ret_count) {
  struct vault_entries list = {0};
  struct txn txn;
  enum status s = call_begin(call, &txn);
  if (s == STATUS_OK)
    s = vault_settle_key(call, &txn, old);
  if (s == STATUS_OK)
    s = vault_secrets(call->engine->store, txn.team, call->arena, &list, call->err);
  for (size_t i = 0; s == STATUS_OK && i < list.n; i++)
    s = reseal(call, &txn, old, new, &list.v[i]);
  if (s == STATUS_OK)
    s = vault_key_put(&txn, &new->row, call->err);
  if (s == STATUS_OK)
    s = note(call, &txn, old, new, list.n);
  if (s == STATUS_OK)
    s = call_commit(call, &txn);
  if (s == STATUS_OK)
    *ret_count = list.n;
  return s;
}

enum status op_vault_rotate(struct op_call *call) {
  struct key_search in = vault_search(call);
  struct held_key old, new = {.key = arena_new(call->arena, struct master_key)};
  size_t count;
  enum status s = vault_manage(call, "changing the key of the vault");
  if (s == STATUS_OK)
    s = vault_hold_key(call, false, &old);
  if (s == STATUS_OK)
    s = key_next(&in, json_bool(call->args, "passphrase", false), &new.row, new.key);
  if (s == STATUS_OK)
    s = rotate_all(call, &old, &new, &count);
  if (s != STATUS_OK)
    return s;
  json_put_int(call->doc, call->result, "secrets", (int64_t)count);
  json_put(call->doc, call->result, "from", str_from(old.row.id));
  json_put(call->doc, call->result, "to", str_from(new.row.id));
  json_put(call->doc, call->result, "way", new.row.passphrase ? STR("passphrase") : STR("key"));
  return STATUS_OK;
}
