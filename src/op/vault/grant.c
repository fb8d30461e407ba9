/* grant.c: vault grant, grants, revoke: access to the values of secrets. */
#include "op/handlers.h"
#include "op/vault/vault.h"
#include "store/tables/tokens.h"

enum { USES_MAX = 1000000 };

static enum status check_grantee(struct op_call *call, struct str name) {
  bool plain = name.n >= 1 && name.n <= GRANTEE_BYTES;
  for (size_t i = 0; plain && i < name.n; i++)
    plain = name.p[i] > 0x20 && name.p[i] != 0x7f && (name.p[i] != '*' || name.n == 1);
  if (plain)
    return STATUS_OK;
  error_set(call->err, STATUS_USAGE, "a grantee is a name of 1 to %d characters without spaces, or '*'", GRANTEE_BYTES);
  return error_fix(call->err,
                   "--to NAME for an agent, --to token:NAME for a token, --to agent for an agent without a name");
}

static void put_grant(struct op_call *call, yyjson_mut_val *obj, const struct grant *g) {
  char time[TIME_TEXT_SIZE];
  json_put(call->doc, obj, "key", g->key);
  json_put(call->doc, obj, "to", g->grantee);
  if (g->uses >= 0)
    json_put_int(call->doc, obj, "uses_left", g->uses);
  if (g->expires_at)
    json_put(call->doc, obj, "expires_at", time_format(g->expires_at, time));
  json_put_bool(call->doc, obj, "live", g->uses != 0 && (!g->expires_at || g->expires_at > call->now));
  json_put(call->doc, obj, "created_at", time_format(g->created_at, time));
  json_put(call->doc, obj, "created_by", g->created_by);
}

static enum status check_grant(struct op_call *call, struct grant *ret_grant) {
  struct grant g = {.key = json_str(call->args, "key"), .grantee = json_str(call->args, "to"), .uses = -1};
  TRY(check_grantee(call, g.grantee));
  TRY(call_time(call, "ttl", 1, &g.expires_at));
  if (yyjson_obj_get(call->args, "uses"))
    TRY(call_int(call, "uses", 1, 1, USES_MAX, &g.uses));
  *ret_grant = g;
  return STATUS_OK;
}

/* Only secrets have grants: anyone with access to the vault may read the other values. */
static enum status check_secret(struct op_call *call, struct str key) {
  struct vault_entry e;
  bool found = false;
  TRY(vault_get_entry(call, key, &e, &found));
  if (!found)
    return vault_refuse_unknown(call, key);
  if (e.is_secret)
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "'%.*s' is not a secret: anyone with access to the vault can read it",
            STR_ARG(key));
  return error_fix(call->err, "cairn vault set KEY - --secret   makes it one");
}

/* A grant belongs to the token, not to its name: it is deleted with the token. */
static enum status check_token(struct op_call *call, struct str grantee) {
  struct token token;
  bool found = false;
  struct str prefix = STR("token:");
  if (!str_starts(grantee, prefix))
    return STATUS_OK;
  struct str name = str_slice(grantee, prefix.n, grantee.n);
  TRY(token_find(call->engine->store, call->caller.team, name, call->arena, &token, &found, call->err));
  if (found && str_eq(token.name, name))
    return STATUS_OK;
  error_set(call->err, STATUS_NOT_FOUND, "there is no token '%.*s'", STR_ARG(name));
  return error_fix(call->err, "create it first: cairn token add %.*s", STR_ARG(name));
}

enum status op_vault_grant(struct op_call *call) {
  struct grant g;
  struct txn txn;
  TRY(vault_require_manager(call, "granting a secret"));
  TRY(check_grant(call, &g));
  TRY(call_begin(call, &txn));
  TRY(check_secret(call, g.key));
  TRY(check_token(call, g.grantee));
  TRY(grant_put(&txn, &g, call->err));
  TRY(vault_add_event(&txn, call->arena, g.key, "vault:grant", "to", g.grantee, call->err));
  g.created_at = txn.now;
  g.created_by = txn.source;
  put_grant(call, call->result, &g);
  return call_commit(call, &txn);
}

enum status op_vault_grants(struct op_call *call) {
  struct grants list = {0};
  TRY(grants_list(call->engine->store, call->caller.team, json_str(call->args, "key"), call->arena, &list, call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "grants");
  for (size_t i = 0; i < list.n; i++)
    put_grant(call, yyjson_mut_arr_add_obj(call->doc, arr), &list.v[i]);
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  return STATUS_OK;
}

enum status op_vault_revoke(struct op_call *call) {
  struct str key = json_str(call->args, "key"), to = json_str(call->args, "to");
  struct txn txn;
  bool found = false;
  TRY(vault_require_manager(call, "revoking a grant"));
  TRY(call_begin(call, &txn));
  TRY(grant_remove(&txn, key, to, &found, call->err));
  if (!found) {
    error_set(call->err, STATUS_NOT_FOUND, "'%.*s' has no grant for '%.*s'", STR_ARG(to), STR_ARG(key));
    return error_fix(call->err, "'cairn vault grants' shows the grants");
  }
  TRY(vault_add_event(&txn, call->arena, key, "vault:revoke", "to", to, call->err));
  json_put(call->doc, call->result, "key", key);
  json_put(call->doc, call->result, "to", to);
  json_put_bool(call->doc, call->result, "revoked", true);
  return call_commit(call, &txn);
}
