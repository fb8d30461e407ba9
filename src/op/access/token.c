/* token.c: creates, lists, revokes and deletes access tokens. */
#include <sodium.h>

#include "core/gate/gate.h"
#include "op/access/authenticate.h"
#include "op/handlers.h"
#include "op/run/common.h"
#include "store/tables/sessions.h"
#include "store/tables/tokens.h"

enum { LIFETIME_DAYS = 90 };

/* Only people and admin tokens manage tokens, so a model cannot be tricked into creating one. */
static enum status check_manager(struct op_call *call) {
  const struct principal *who = call->caller.principal;
  if (call_is_by_person(call) || (who && who->role == ROLE_ADMIN))
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "only people and tokens with the role admin can manage tokens");
  return error_fix(call->err, "ask a person to run 'cairn %s' on the store's machine", call->op->name);
}

static void put_token(struct op_call *call, yyjson_mut_val *obj, const struct token *t) {
  char time[TIME_TEXT_SIZE];
  yyjson_mut_doc *doc = call->doc;
  json_put(doc, obj, "name", t->name);
  json_put(doc, obj, "id", t->id);
  json_put(doc, obj, "state",
           t->revoked_at                 ? STR("revoked")
           : token_is_live(t, call->now) ? STR("live")
                                         : STR("expired"));
  json_put(doc, obj, "role", str_from(role_names[t->role]));
  if (t->projects.n)
    json_put_strs(doc, obj, "projects", &t->projects);
  json_put(doc, obj, "access", t->read_only ? STR("read") : STR("write"));
  json_put_opt(doc, obj, "profile", t->profile);
  json_put(doc, obj, "created_at", time_format(t->created_at, time));
  json_put(doc, obj, "created_by", t->created_by);
  if (t->expires_at)
    json_put(doc, obj, "expires_at", time_format(t->expires_at, time));
  if (t->revoked_at)
    json_put(doc, obj, "revoked_at", time_format(t->revoked_at, time));
  if (t->used_at)
    json_put(doc, obj, "used_at", time_format(t->used_at, time));
}

/* ---- create ---- */

static enum status read_name(struct op_call *call, struct token *t) {
  t->name = json_str(call->args, "name");
  if (agent_name_is_valid(t->name))
    return STATUS_OK;
  error_set(call->err, STATUS_USAGE, "a token name is 1 to %d characters: A-Z a-z 0-9 _ . -", (int)AGENT_NAME_MAX);
  return error_fix(call->err, "for example ci-bot");
}

static enum status read_projects(struct op_call *call, struct token *t) {
  struct strs given = {0};
  json_strs(call->arena, call->args, "projects", &given);
  for (size_t i = 0; i < given.n; i++) {
    TRY(gate_check_project(given.v[i], call->err));
    if (str_empty(given.v[i]) || given.v[i].n > REACH_PROJECT_MAX) {
      error_set(call->err, STATUS_USAGE, "the project of a token must have 1 to %d bytes", (int)REACH_PROJECT_MAX);
      return error_fix(call->err, "cairn token add %.*s --project NAME", STR_ARG(t->name));
    }
    if (!strs_has(&t->projects, given.v[i]))
      strs_push(call->arena, &t->projects, given.v[i]);
  }
  if (t->projects.n <= REACH_PROJECTS_MAX)
    return STATUS_OK;
  error_set(call->err, STATUS_USAGE, "a token can have at most %d projects", (int)REACH_PROJECTS_MAX);
  return error_fix(call->err, "create several tokens, or one with the role admin");
}

/* Default: project if projects are named, otherwise admin. */
static enum status read_role(struct op_call *call, struct token *t) {
  struct str role = json_str(call->args, "role");
  t->role = t->projects.n ? ROLE_PROJECT : ROLE_ADMIN;
  if (role.p && !role_find(role, &t->role))
    return error_set(call->err, STATUS_USAGE, "the role must be admin, project or skill");
  if ((t->role == ROLE_PROJECT) == (t->projects.n > 0))
    return STATUS_OK;
  if (t->role == ROLE_PROJECT) {
    error_set(call->err, STATUS_USAGE, "the role project needs at least one project");
    return error_fix(call->err, "cairn token add %.*s --project NAME", STR_ARG(t->name));
  }
  error_set(call->err, STATUS_USAGE, "the role %s has no projects", role_names[t->role]);
  return error_fix(call->err, "omit --project, or use --role project");
}

/* INT64_MAX: never. */
static bool parse_ttl(struct str ttl, int64_t now, int64_t *ret_at) {
  if (str_ieq(ttl, STR("never"))) {
    *ret_at = INT64_MAX;
    return true;
  }
  return time_or_duration_parse(ttl, now, 1, ret_at) && *ret_at > now;
}

/* A token cannot create one with more access than its own. */
static enum status read_expiry(struct op_call *call, struct token *t) {
  const struct principal *who = call->caller.principal;
  struct str ttl = json_str(call->args, "ttl");
  int64_t last = who && who->expires_at ? who->expires_at : INT64_MAX, at = call->now + LIFETIME_DAYS * MS_PER_DAY;
  if (!ttl.p) {
    at = at < last ? at : last;
  } else if (!parse_ttl(ttl, call->now, &at)) {
    error_set(call->err, STATUS_USAGE, "'%.*s' is not a valid expiry", STR_ARG(ttl));
    return error_fix(call->err, "30d, 12h, a timestamp in the future, or never");
  }
  if (at > last) {
    error_set(call->err, STATUS_DENIED, "a token cannot create one that expires after it");
    return error_fix(call->err, "omit the ttl: the new token then expires no later than yours");
  }
  t->expires_at = at == INT64_MAX ? 0 : at;
  return STATUS_OK;
}

static enum status read_profile(struct op_call *call, struct token *t) {
  const struct principal *who = call->caller.principal;
  struct str own = who ? who->profile : STR_NONE;
  t->profile = json_str(call->args, "profile");
  if (!t->profile.p)
    t->profile = own;
  t->read_only |= str_is(t->profile, PROFILE_READ_ONLY);
  if (!own.p || str_eq(t->profile, own))
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "a token cannot create one with a different profile");
  return error_fix(call->err, "omit the profile: it is '%.*s'", STR_ARG(own));
}

static enum status read_token(struct op_call *call, struct token *t) {
  *t = (struct token){.team = call->caller.team,
                      .read_only = json_bool(call->args, "read", false),
                      .created_by = call->caller.source,
                      .created_at = call->now};
  TRY(read_name(call, t));
  TRY(read_projects(call, t));
  TRY(read_role(call, t));
  TRY(read_expiry(call, t));
  return read_profile(call, t);
}

/* Draws the id and the secret. The result shows the secret once; the store gets only its hash. */
static void generate(struct op_call *call, struct token *t) {
  uint8_t bytes[TOKEN_ID_CHARS];
  char *id = arena_alloc(call->arena, TOKEN_ID_CHARS + 1);
  randombytes_buf(bytes, sizeof(bytes));
  token_id(bytes, id);
  t->id = str_from(id);
  struct token_text text = {.team = t->team, .id = t->id};
  randombytes_buf(text.secret, sizeof(text.secret));
  token_hash(&text, t->hash);
  json_put(call->doc, call->result, "token", token_write(call->arena, &text));
  sodium_memzero(&text, sizeof(text));
}

/* A call that waited for the lock while its token was revoked would create one that the revocation did not see. */
static enum status check_not_revoked(struct op_call *call) {
  const struct principal *who = call->caller.principal;
  bool live = true;
  if (who)
    TRY(principal_is_live(call->engine->store, who, call->now, &live, call->err));
  return live ? STATUS_OK : error_set(call->err, STATUS_UNKNOWN_CALLER, "the token was revoked meanwhile");
}

enum status op_token_add(struct op_call *call) {
  struct token token;
  struct txn who = call_author(call), txn;
  TRY(check_manager(call));
  TRY(read_token(call, &token));
  generate(call, &token);
  put_token(call, call->result, &token);
  TRY(sessions_begin(call->engine->store, &who, &txn, call->err));
  TRY(check_not_revoked(call));
  TRY(token_insert(&txn, call->arena, &token, call->err));
  return txn_commit(&txn, call->err);
}

/* ---- list, revoke, delete ---- */

enum status op_token_list(struct op_call *call) {
  struct tokens list = {0};
  TRY(check_manager(call));
  TRY(tokens_list(call->engine->store, call->caller.team, call->arena, &list, call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "tokens");
  for (size_t i = 0; i < list.n; i++)
    put_token(call, yyjson_mut_arr_add_obj(call->doc, arr), &list.v[i]);
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  return STATUS_OK;
}

static enum status find(struct op_call *call, struct token *ret_token) {
  struct str ref = json_str(call->args, "name");
  bool found = false;
  TRY(token_find(call->engine->store, call->caller.team, ref, call->arena, ret_token, &found, call->err));
  if (found)
    return STATUS_OK;
  error_set(call->err, STATUS_NOT_FOUND, "there is no token '%.*s'", STR_ARG(ref));
  return error_fix(call->err, "'cairn token list' lists the tokens");
}

/* Begins a transaction and finds the token in it. */
static enum status begin(struct op_call *call, struct txn *ret_txn, struct token *ret_token) {
  struct txn who = call_author(call);
  TRY(check_manager(call));
  TRY(sessions_begin(call->engine->store, &who, ret_txn, call->err));
  return find(call, ret_token);
}

/* Revokes the tokens that it has created, and those that they have created: whoever holds a stolen token may have made
 * others with it. */
static enum status revoke_children(struct op_call *call, struct txn *txn, const struct token *token) {
  struct tokens list = {0};
  struct strs names = {0};
  TRY(token_children(txn->store, token, call->now, call->arena, &list, call->err));
  for (size_t i = 0; i < list.n; i++) {
    struct token child = list.v[i];
    strs_push(call->arena, &names, child.name);
    child.revoked_at = call->now;
    TRY(token_revoke(txn, call->arena, &child, call->err));
    TRY(token_children(txn->store, &child, call->now, call->arena, &list, call->err));
  }
  if (names.n)
    json_put_strs(call->doc, call->result, "also_revoked", &names);
  return STATUS_OK;
}

enum status op_token_revoke(struct op_call *call) {
  struct token token;
  struct txn txn;
  TRY(begin(call, &txn, &token));
  if (!token.revoked_at) {
    token.revoked_at = call->now;
    TRY(token_revoke(&txn, call->arena, &token, call->err));
  }
  put_token(call, call->result, &token);
  TRY(revoke_children(call, &txn, &token));
  return txn_commit(&txn, call->err);
}

enum status op_token_delete(struct op_call *call) {
  struct token token;
  struct txn txn;
  TRY(begin(call, &txn, &token));
  if (token_is_live(&token, call->now)) {
    error_set(call->err, STATUS_CONFLICT, "token '%.*s' is still valid", STR_ARG(token.name));
    return error_fix(call->err, "cairn token revoke %.*s", STR_ARG(token.name));
  }
  TRY(token_delete(&txn, call->arena, &token, call->err));
  put_token(call, call->result, &token);
  return txn_commit(&txn, call->err);
}
