/* vault.c: named values of a team: set, get, list, delete, and a counter that nobody can lose an increment of. */
#include "store/vault.h"

#include "base/utf8.h"
#include "core/gate.h"
#include "core/redact.h"
#include "op/common.h"
#include "op/handlers.h"

/* ---- what may be stored ---- */

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

/* A secret in a memory may be replaced by a mark; a value with a hole in it is of no use, so it is always refused. */
static enum status refuse_secret(struct op_call *call, struct str text, const char *what) {
  struct secret_hits hits = {0};
  redact_find(call->arena, text, NULL, &hits);
  if (hits.n == 0)
    return STATUS_OK;
  struct str preview = redact_preview(call->arena, text, &hits.v[0]);
  error_set(call->err, STATUS_SECRET, "%s holds what looks like a secret (%s, %.*s)", what, hits.v[0].pattern,
            STR_ARG(preview));
  error_step(call->err, "secrets");
  return error_fix(call->err, "the vault keeps no secrets yet: store where it is kept, not the secret itself");
}

static enum status check_entry(struct op_call *call, struct str key, struct str value) {
  enum status s = check_key(call, key);
  if (s == STATUS_OK && json_bool(call->args, "secret", false)) {
    error_set(call->err, STATUS_REFUSED, "the vault keeps no secrets yet: they would be stored unencrypted");
    error_step(call->err, "secrets");
    s = error_fix(call->err, "leave secrets in your secret manager; what is no secret is stored without --secret");
  }
  if (s == STATUS_OK && value.n > VAULT_VALUE_BYTES) {
    error_set(call->err, STATUS_TOO_LARGE, "the value has %zu bytes, at most %d are allowed", value.n,
              VAULT_VALUE_BYTES);
    s = error_fix(call->err, "keep large data in a file, and its path in the vault");
  }
  if (s == STATUS_OK)
    s = refuse_secret(call, key, "the key");
  return s == STATUS_OK ? refuse_secret(call, value, "the value") : s;
}

static enum status no_such_key(struct op_call *call, struct str key) {
  error_set(call->err, STATUS_NOT_FOUND, "the vault has no key '%.*s'", STR_ARG(utf8_cut(key, 200)));
  return error_fix(call->err, "'cairn vault list' shows the keys there are");
}

/* ---- the operations ---- */

static void put_entry(struct op_call *call, yyjson_mut_val *obj, const struct vault_entry *e) {
  char time[TIME_TEXT_SIZE];
  json_put(call->doc, obj, "key", e->key);
  json_put(call->doc, obj, "value", e->value);
  json_put_bool(call->doc, obj, "is_secret", e->is_secret);
  json_put(call->doc, obj, "created_at", time_format(e->created_at, time));
  json_put(call->doc, obj, "updated_at", time_format(e->updated_at, time));
  json_put(call->doc, obj, "updated_by", e->updated_by);
}

static enum status find(struct op_call *call, struct str key, struct vault_entry *ret_entry, bool *ret_found) {
  return vault_find(call->engine->store, call->caller.team, key, call->arena, ret_entry, ret_found, call->err);
}

enum status op_vault_set(struct op_call *call) {
  struct str key = json_str(call->args, "key"), value = json_str(call->args, "value");
  struct vault_entry was;
  struct txn txn;
  bool found;
  enum status s = check_entry(call, key, value);
  if (s == STATUS_OK)
    s = call_begin(call, &txn);
  if (s == STATUS_OK)
    s = find(call, key, &was, &found);
  if (s == STATUS_OK)
    s = vault_put(&txn, call->arena, key, value, "vault:set", call->err);
  if (s != STATUS_OK)
    return s;
  struct vault_entry now = {.key = key,
                            .value = value,
                            .updated_by = txn.source,
                            .created_at = found ? was.created_at : txn.now,
                            .updated_at = txn.now};
  put_entry(call, call->result, &now);
  json_put(call->doc, call->result, "action", found ? STR("updated") : STR("created"));
  return call_commit(call, &txn);
}

enum status op_vault_get(struct op_call *call) {
  struct str key = json_str(call->args, "key");
  struct vault_entry e;
  bool found;
  enum status s = find(call, key, &e, &found);
  if (s != STATUS_OK)
    return s;
  if (!found)
    return no_such_key(call, key);
  put_entry(call, call->result, &e);
  return STATUS_OK;
}

enum status op_vault_list(struct op_call *call) {
  struct vault_entries list = {0};
  enum status s =
      vault_walk(call->engine->store, call->caller.team, json_str(call->args, "prefix"), call->arena, &list, call->err);
  if (s != STATUS_OK)
    return s;
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "entries");
  for (size_t i = 0; i < list.n; i++)
    put_entry(call, yyjson_mut_arr_add_obj(call->doc, arr), &list.v[i]);
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  return STATUS_OK;
}

enum status op_vault_delete(struct op_call *call) {
  struct str key = json_str(call->args, "key");
  struct txn txn;
  bool found = false;
  enum status s = call_begin(call, &txn);
  if (s == STATUS_OK)
    s = vault_remove(&txn, call->arena, key, &found, call->err);
  if (s != STATUS_OK)
    return s;
  if (!found)
    return no_such_key(call, key);
  json_put(call->doc, call->result, "key", key);
  json_put_bool(call->doc, call->result, "deleted", true);
  return call_commit(call, &txn);
}

/* Read and written under the write lock: of many that count at once, none is lost. */
enum status op_vault_add(struct op_call *call) {
  struct str key = json_str(call->args, "key");
  int64_t by = json_int(call->args, "by", 1), now = 0;
  struct vault_entry was;
  struct txn txn;
  bool found;
  enum status s = check_entry(call, key, STR(""));
  if (s == STATUS_OK)
    s = call_begin(call, &txn);
  if (s == STATUS_OK)
    s = find(call, key, &was, &found);
  if (s != STATUS_OK)
    return s;
  if (found && !str_int64(was.value, &now)) {
    error_set(call->err, STATUS_CONFLICT, "the value of '%.*s' is not a whole number", STR_ARG(key));
    return error_fix(call->err, "set it to one first: cairn vault set KEY 0");
  }
  if (__builtin_add_overflow(now, by, &now)) {
    error_set(call->err, STATUS_CONFLICT, "the counter '%.*s' cannot go further", STR_ARG(key));
    return error_fix(call->err, "start it again: cairn vault set KEY 0");
  }
  struct str text = arena_printf(call->arena, "%lld", (long long)now);
  s = vault_put(&txn, call->arena, key, text, "vault:add", call->err);
  if (s != STATUS_OK)
    return s;
  json_put(call->doc, call->result, "key", key);
  json_put_int(call->doc, call->result, "value", now);
  return call_commit(call, &txn);
}
