/* rotate.c: the vault rotate operation: a new key for the secrets of a team.
 *
 * The new key is on disk before the store names it, and one transaction changes all secrets and the key id. After a
 * crash at any point the secrets are encrypted with one of the two keys, and both exist. The old key stays in the key
 * file: backups need it, and other stores may, too. */
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
  TRY(call_begin(call, &txn));
  TRY(vault_commit_key(call, &txn, old));
  TRY(vault_secrets(call->engine->store, txn.team, call->arena, &list, call->err));
  for (size_t i = 0; i < list.n; i++)
    TRY(reseal(call, &txn, old, new, &list.v[i]));
  TRY(vault_key_put(&txn, &new->row, call->err));
  TRY(note(call, &txn, old, new, list.n));
  TRY(call_commit(call, &txn));
  *ret_count = list.n;
  return STATUS_OK;
}

enum status op_vault_rotate(struct op_call *call) {
  struct key_search in = vault_key_search(call);
  struct held_key old, new = {.key = arena_new(call->arena, struct master_key)};
  size_t count;
  TRY(vault_require_manager(call, "changing the key of the vault"));
  TRY(vault_load_key(call, false, &old));
  TRY(key_next(&in, json_bool(call->args, "passphrase", false), &new.row, new.key));
  TRY(rotate_all(call, &old, &new, &count));
  json_put_int(call->doc, call->result, "secrets", (int64_t)count);
  json_put(call->doc, call->result, "from", str_from(old.row.id));
  json_put(call->doc, call->result, "to", str_from(new.row.id));
  json_put(call->doc, call->result, "way", new.row.passphrase ? STR("passphrase") : STR("key"));
  return STATUS_OK;
}
