/* vault.c: vault set, get, list, delete, add: named values and secrets of a team. */
#include "op/vault/vault.h"

#include "op/access/roles.h"
#include "op/handlers.h"
#include "op/run/vault_values.h"

/* ---- set ---- */

static void put_warning(struct op_call *call, const char *code, struct str message, const char *fix) {
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, yyjson_mut_obj_get(call->result, "warnings"));
  json_put(call->doc, v, "code", str_from(code));
  json_put(call->doc, v, "message", message);
  json_put(call->doc, v, "fix", str_from(fix));
}

/* A value that was not a secret until now may still be in the log, in backups, or in a server's pages. */
static enum status warn_former_value(struct op_call *call) {
  struct store *st = call->engine->store;
  bool emptied = false, server = db_engine(store_db(st)) != DB_SQLITE;
  struct strs backups = {0};
  TRY(db_checkpoint(store_db(st), true, &emptied, call->err));
  store_list_backups(st, call->arena, &backups);
  if (server || !emptied)
    put_warning(call, "former_value",
                server ? STR("the value was stored unencrypted before: the server's pages and log hold it until they "
                             "are vacuumed and reused")
                       : STR("the value was stored unencrypted before: an active reader keeps it in the log until the "
                             "next checkpoint"),
                "if others may have read it, have a new secret issued");
  if (backups.n)
    put_warning(call, "former_value",
                arena_printf(call->arena, "the value was stored unencrypted before: %zu backup%s may hold it",
                             backups.n, backups.n == 1 ? "" : "s"),
                "if others may have read it, have a new secret issued");
  return STATUS_OK;
}

/* Lists memories that contain the secret; they are not changed. */
static enum status warn_held(struct op_call *call, struct str value) {
  struct int64s ids = {0};
  TRY(vault_value_memories(call, value, &ids));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "held_by");
  for (size_t i = 0; i < ids.n; i++)
    yyjson_mut_arr_add_sint(call->doc, arr, ids.v[i]);
  if (ids.n)
    put_warning(
        call, "held_already",
        arena_printf(call->arena, "%zu %s (held_by)", ids.n,
                     ids.n == 1 ? "memory holds this secret in its text" : "memories hold this secret in their text"),
        "'cairn get ID' shows each; 'cairn supersede ID --reason WHY TEXT' replaces its text");
  return STATUS_OK;
}

struct vault_write {
  struct str key, value;
  struct vault_entry was;
  struct held_key held;
  bool found, secret;
};

/* A secret stays a secret even without --secret: a forgotten option must not expose it. */
static enum status prepare_set(struct op_call *call, struct vault_write *w) {
  TRY(vault_check_entry(call, w->key, w->value));
  TRY(vault_get_entry(call, w->key, &w->was, &w->found));
  w->secret = json_bool(call->args, "secret", false) || (w->found && w->was.is_secret);
  if (!w->secret)
    return vault_refuse_secret(call, w->value, "the value",
                               "if it is one, store it encrypted: 'cairn vault set KEY VALUE --secret'");
  if (w->found && w->was.is_secret)
    TRY(vault_require_manager(call, "replacing a secret"));
  return vault_load_key(call, true, &w->held);
}

static enum status store_value(struct op_call *call, struct txn *txn, struct vault_write *w) {
  bool was_secret = w->found && w->was.is_secret;
  TRY(vault_get_entry(call, w->key, &w->was, &w->found));
  if (!was_secret && w->found && w->was.is_secret) {
    error_set(call->err, STATUS_CONFLICT, "'%.*s' became a secret at the same time", STR_ARG(w->key));
    return error_fix(call->err, "repeat the call");
  }
  if (!w->secret)
    return vault_put(txn, call->arena, w->key, w->value, "vault:set", call->err);
  TRY(vault_commit_key(call, txn, &w->held));
  struct str sealed = seal(call->arena, w->held.key, txn->team, w->key, w->value);
  return vault_put_secret(txn, call->arena, w->key, sealed, call->err);
}

/* The secret is stored by now: errors here become warnings. */
static void warn_traces(struct op_call *call, const struct vault_write *w) {
  bool was_open = w->found && !w->was.is_secret;
  json_put_arr(call->doc, call->result, "warnings");
  if (warn_held(call, w->value) != STATUS_OK || (was_open && warn_former_value(call) != STATUS_OK))
    put_warning(call, "not_looked_up", STR("the secret is stored, but the store could not be searched for its value"),
                "'cairn doctor' checks the store");
}

enum status op_vault_set(struct op_call *call) {
  struct vault_write w = {.key = json_str(call->args, "key"), .value = json_str(call->args, "value")};
  struct txn txn;
  TRY(prepare_set(call, &w));
  TRY(call_begin(call, &txn));
  TRY(store_value(call, &txn, &w));
  struct vault_entry now = {.key = w.key,
                            .value = w.value,
                            .is_secret = w.secret,
                            .updated_by = txn.source,
                            .created_at = w.found ? w.was.created_at : txn.now,
                            .updated_at = txn.now};
  vault_put_entry(call, call->result, &now);
  json_put(call->doc, call->result, "action", w.found ? STR("updated") : STR("created"));
  TRY(call_commit(call, &txn));
  if (w.secret)
    warn_traces(call, &w);
  return STATUS_OK;
}

/* ---- get, list ---- */

/* The log keeps refusals, too, so the transaction is committed before the call fails. */
static enum status refuse_reveal(struct op_call *call, struct txn *txn, struct str key) {
  struct str who = vault_caller(call);
  if (roles_record_refusal(call)) {
    TRY(vault_add_event(txn, call->arena, key, "vault:refused", "to", who, call->err));
    TRY(txn_commit(txn, call->err));
  } else {
    store_rollback(txn->store);
  }
  error_set(call->err, STATUS_DENIED, "'%.*s' has no grant to see the secret '%.*s'", STR_ARG(who), STR_ARG(key));
  return error_fix(call->err, "use the handle, or ask a person to run: cairn vault grant %.*s --to %.*s --ttl 1h",
                   STR_ARG(arena_shell_quote(call->arena, key)), STR_ARG(arena_shell_quote(call->arena, who)));
}

/* The event is committed before the value is returned. */
static enum status reveal(struct op_call *call, struct str key) {
  struct vault_entry e;
  struct held_key held;
  struct txn txn;
  struct str value, by = STR("");
  bool found = false;
  TRY(vault_load_key(call, false, &held));
  TRY(call_begin(call, &txn));
  TRY(vault_commit_key(call, &txn, &held));
  TRY(vault_get_entry(call, key, &e, &found));
  if (!found || !e.is_secret)
    return vault_refuse_unknown(call, key);
  if (!call_is_by_person(call))
    TRY(grant_use(&txn, key, vault_caller(call), call->arena, &by, call->err));
  if (!by.p)
    return refuse_reveal(call, &txn, key);
  TRY(vault_open_secret(call, &held, &e, &value));
  TRY(vault_add_event(&txn, call->arena, key, "vault:reveal", "to", vault_caller(call), call->err));
  TRY(txn_commit(&txn, call->err));
  vault_put_entry(call, call->result, &e);
  json_put(call->doc, call->result, "value", value);
  return STATUS_OK;
}

enum status op_vault_get(struct op_call *call) {
  struct str key = json_str(call->args, "key");
  struct vault_entry e;
  bool found;
  TRY(vault_get_entry(call, key, &e, &found));
  if (!found)
    return vault_refuse_unknown(call, key);
  if (e.is_secret && json_bool(call->args, "reveal", false))
    return reveal(call, key);
  vault_put_entry(call, call->result, &e);
  return STATUS_OK;
}

enum status op_vault_list(struct op_call *call) {
  struct vault_entries list = {0};
  TRY(vault_walk(call->engine->store, call->caller.team, json_str(call->args, "prefix"), call->arena, &list,
                 call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "entries");
  for (size_t i = 0; i < list.n; i++)
    vault_put_entry(call, yyjson_mut_arr_add_obj(call->doc, arr), &list.v[i]);
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  return STATUS_OK;
}

/* ---- delete, add ---- */

enum status op_vault_delete(struct op_call *call) {
  struct str key = json_str(call->args, "key");
  struct vault_entry was;
  struct txn txn;
  bool found = false;
  TRY(call_begin(call, &txn));
  TRY(vault_get_entry(call, key, &was, &found));
  if (!found)
    return vault_refuse_unknown(call, key);
  if (was.is_secret)
    TRY(vault_require_manager(call, "deleting a secret"));
  TRY(vault_remove(&txn, call->arena, key, &found, call->err));
  json_put(call->doc, call->result, "key", key);
  json_put_bool(call->doc, call->result, "deleted", true);
  return call_commit(call, &txn);
}

static enum status count_of(struct op_call *call, const struct vault_entry *e, int64_t *ret_count) {
  if (!e->is_secret && str_int64(e->value, ret_count))
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "the value of '%.*s' is %s", STR_ARG(e->key),
            e->is_secret ? "a secret, not a counter" : "not an integer");
  if (e->is_secret)
    return error_fix(call->err, "count under another key");
  return error_fix(call->err, "count under another key, or set this one to a number first: cairn vault set %.*s 0",
                   STR_ARG(arena_shell_quote(call->arena, e->key)));
}

/* Reads and writes in one transaction, so concurrent increments are not lost. */
enum status op_vault_add(struct op_call *call) {
  struct str key = json_str(call->args, "key");
  int64_t by = json_int(call->args, "by", 1), now = 0;
  struct vault_entry was;
  struct txn txn;
  bool found = false;
  TRY(vault_check_entry(call, key, STR("")));
  TRY(call_begin(call, &txn));
  TRY(vault_get_entry(call, key, &was, &found));
  if (found)
    TRY(count_of(call, &was, &now));
  if (__builtin_add_overflow(now, by, &now)) {
    error_set(call->err, STATUS_CONFLICT, "the counter '%.*s' overflows", STR_ARG(key));
    return error_fix(call->err, "reset it: cairn vault set %.*s 0", STR_ARG(arena_shell_quote(call->arena, key)));
  }
  struct str text = arena_printf(call->arena, "%lld", (long long)now);
  TRY(vault_put(&txn, call->arena, key, text, "vault:add", call->err));
  json_put(call->doc, call->result, "key", key);
  json_put_int(call->doc, call->result, "value", now);
  return call_commit(call, &txn);
}
