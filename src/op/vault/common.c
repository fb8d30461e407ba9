/* common.c: shared by the vault operations: permissions, checks of entries, the team's key. */
#include <assert.h>

#include "op/vault/vault.h"

#include "base/utf8.h"
#include "core/gate/gate.h"
#include "core/secrets/redact.h"
#include "op/access/authenticate.h"

/* ---- permissions ---- */

struct str vault_caller(const struct op_call *call) {
  if (call->caller.principal)
    return call->caller.principal->name;
  if (call->engine->agent[0])
    return str_from(call->engine->agent);
  return call_is_by_person(call) ? STR("user") : STR("agent");
}

enum status vault_require_manager(struct op_call *call, const char *what) {
  const struct principal *p = call->caller.principal;
  if (call_is_by_person(call) || (p && p->role == ROLE_ADMIN))
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "%s is not allowed for agents: they can only use secrets granted to them", what);
  return error_fix(call->err, "ask the person you work for to do it at the command line");
}

/* ---- checks ---- */

static enum status check_key(struct op_call *call, struct str key) {
  bool plain = !str_empty(str_trim(key)) && key.n <= KEY_BYTES;
  for (size_t i = 0; plain && i < key.n; i++)
    plain = (unsigned char)key.p[i] >= 0x20 && key.p[i] != 0x7f;
  if (plain)
    return STATUS_OK;
  error_set(call->err, STATUS_REFUSED, "a key of the vault is 1 to %d bytes of plain text", KEY_BYTES);
  error_step(call->err, "key");
  return error_fix(call->err, "use a short name such as 'reports:last-run'");
}

/* Always refuses, whatever secrets.mode says: a redacted value would be useless. */
enum status vault_refuse_secret(struct op_call *call, struct str text, const char *what, const char *fix) {
  struct secret_hits hits = {0};
  redact_find(call->arena, text, call->secrets, &hits);
  if (hits.n == 0)
    return STATUS_OK;
  struct str preview = redact_preview(call->arena, text, &hits.v[0]);
  error_set(call->err, STATUS_SECRET, "%s contains what looks like a secret (%s, %.*s)", what, hits.v[0].pattern,
            STR_ARG(preview));
  error_step(call->err, "secrets");
  return error_fix(call->err, "%s", fix);
}

enum status vault_check_entry(struct op_call *call, struct str key, struct str value) {
  TRY(check_key(call, key));
  if (value.n > VAULT_VALUE_BYTES) {
    error_set(call->err, STATUS_TOO_LARGE, "the value has %zu bytes, at most %d are allowed", value.n,
              VAULT_VALUE_BYTES);
    return error_fix(call->err, "keep large data in a file, and its path in the vault");
  }
  return vault_refuse_secret(call, key, "the key",
                             "choose a name that says what the secret is for, and store the secret as the value");
}

enum status vault_refuse_unknown(struct op_call *call, struct str key) {
  error_set(call->err, STATUS_NOT_FOUND, "the vault has no key '%.*s'", STR_ARG(utf8_cut(key, 200)));
  return error_fix(call->err, "'cairn vault list' shows the keys");
}

/* ---- the team's key ---- */

struct key_search vault_key_search(struct op_call *call) {
  return (struct key_search){
      .engine = call->engine, .team = call->caller.team, .hooks = &call->hooks, .a = call->arena, .err = call->err};
}

enum status vault_load_key(struct op_call *call, bool make, struct held_key *ret_held) {
  struct key_search in = vault_key_search(call);
  struct held_key held = {.key = arena_new(call->arena, struct master_key)};
  bool found;
  TRY(vault_key_find(call->engine->store, in.team, in.a, &held.row, &found, in.err));
  held.is_new = !found;
  if (found) {
    TRY(key_open(&in, &held.row, held.key));
  } else if (make) {
    TRY(key_first(&in, &held.row, held.key));
  } else {
    error_set(call->err, STATUS_NOT_FOUND, "team '%.*s' has no secrets", STR_ARG(in.team));
    return error_fix(call->err, "cairn vault set KEY - --secret   stores the first");
  }
  *ret_held = held;
  return STATUS_OK;
}

enum status vault_commit_key(struct op_call *call, struct txn *txn, const struct held_key *held) {
  assert(db_in_transaction(store_db(txn->store)));
  struct vault_key now;
  bool found;
  TRY(vault_key_find(txn->store, txn->team, call->arena, &now, &found, call->err));
  if (found ? strcmp(now.id, held->row.id) != 0 : !held->is_new) {
    error_set(call->err, STATUS_CONFLICT,
              "another call changed the key of the vault at the same time; nothing was stored");
    return error_fix(call->err, "repeat the call");
  }
  return found ? STATUS_OK : vault_key_put(txn, &held->row, call->err);
}

enum status vault_open_secret(struct op_call *call, const struct held_key *held, const struct vault_entry *e,
                              struct str *ret_value) {
  assert(call->arena->guarded && e->is_secret);
  if (unseal(call->arena, held->key, call->caller.team, e->key, e->sealed, ret_value))
    return STATUS_OK;
  error_set(call->err, STATUS_CORRUPT, "the secret '%.*s' is damaged: it cannot be decrypted with the vault's key",
            STR_ARG(utf8_cut(e->key, 200)));
  return error_fix(call->err, "a person can store it again, or restore a backup with 'cairn restore'");
}

/* ---- entries ---- */

void vault_put_entry(struct op_call *call, yyjson_mut_val *obj, const struct vault_entry *e) {
  char time[TIME_TEXT_SIZE];
  json_put(call->doc, obj, "key", e->key);
  if (e->is_secret)
    json_put(call->doc, obj, "handle", arena_printf(call->arena, "vault:%.*s", STR_ARG(e->key)));
  else
    json_put(call->doc, obj, "value", e->value);
  json_put_bool(call->doc, obj, "is_secret", e->is_secret);
  json_put(call->doc, obj, "created_at", time_format(e->created_at, time));
  json_put(call->doc, obj, "updated_at", time_format(e->updated_at, time));
  json_put(call->doc, obj, "updated_by", e->updated_by);
}

enum status vault_get_entry(struct op_call *call, struct str key, struct vault_entry *ret_entry, bool *ret_found) {
  return vault_find(call->engine->store, call->caller.team, key, call->arena, ret_entry, ret_found, call->err);
}
