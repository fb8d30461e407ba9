/* tokens.c: rows of access tokens. */
#include "store/tables/tokens.h"

#include <assert.h>

#include "base/json.h"
#include "store/store_internal.h"
#include "store/tables/vault.h"

#define COLUMNS                                                                                                        \
  "SELECT id, name, hash, role, projects, access, profile, created_at, created_by, expires_at, revoked_at, used_at"    \
  " FROM token WHERE team = ?1"

bool token_is_live(const struct token *token, int64_t now) {
  return !token->revoked_at && (!token->expires_at || now < token->expires_at);
}

static void read_projects(struct str json, struct arena *a, struct strs *ret_projects) {
  struct error ignored;
  yyjson_val *list, *name;
  size_t i, n;
  if (!json.p || json_read(a, json, &list, &ignored) != STATUS_OK)
    return;
  yyjson_arr_foreach(list, i, n, name) {
    strs_push(a, ret_projects, json_val_str(name));
  }
}

/* Unknown values are read as the least access: ROLE_SKILL, read-only. */
static struct token read_row(const struct rows *r, struct str team, struct arena *a) {
  struct token t = {.team = arena_dup(a, team),
                    .id = rows_dup(r, 0, a),
                    .name = rows_dup(r, 1, a),
                    .read_only = !str_is(rows_text(r, 5), "write"),
                    .profile = rows_dup(r, 6, a),
                    .created_at = rows_int(r, 7),
                    .created_by = rows_dup(r, 8, a),
                    .expires_at = rows_int(r, 9),
                    .revoked_at = rows_int(r, 10),
                    .used_at = rows_int(r, 11)};
  struct str hash = rows_text(r, 2);
  if (!role_find(rows_text(r, 3), &t.role) || hash.n != TOKEN_HASH_BYTES)
    t.role = ROLE_SKILL;
  else
    memcpy(t.hash, hash.p, TOKEN_HASH_BYTES);
  read_projects(rows_dup(r, 4, a), a, &t.projects);
  return t;
}

static enum status read_one(struct rows *r, struct str team, struct arena *a, struct token *ret_token,
                            bool *ret_found) {
  bool found = rows_next(r);
  struct token token = {0};
  if (found)
    token = read_row(r, team, a);
  TRY(rows_end(r));
  *ret_found = found;
  if (found)
    *ret_token = token;
  return STATUS_OK;
}

enum status token_by_id(struct store *st, struct str team, struct str id, struct arena *a, struct token *ret_token,
                        bool *ret_found, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, COLUMNS " AND id = ?2", "ss", team, id);
  return read_one(&r, team, a, ret_token, ret_found);
}

enum status tokens_exist(struct store *st, int64_t now, bool *ret_any, struct error *err) {
  int64_t one;
  bool found = false;
  TRY(db_team(st->db, STR_NONE, err));
  TRY(db_int(st->db, &one, &found, err,
             "/* all teams: a server accepts tokens of any team */ SELECT 1 FROM token"
             " WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1) LIMIT 1",
             "i", now));
  *ret_any = found;
  return STATUS_OK;
}

void token_record_use(struct store *st, const struct token *token, int64_t now) {
  assert(!db_in_transaction(st->db));
  struct error err;
  if ((now >= token->used_at && now - token->used_at < TOKEN_USE_MS) || db_read_only(st->db))
    return;
  int busy = db_set_busy(st->db, 0);
  enum status s = db_begin(st->db, token->team, true, &err);
  if (s == STATUS_OK) {
    s = db_exec(st->db, &err, "UPDATE token SET used_at = ?3 WHERE team = ?1 AND id = ?2", "ssi", token->team,
                token->id, now);
    if (s == STATUS_OK)
      s = db_commit(st->db, &err);
    if (s != STATUS_OK)
      db_rollback(st->db);
  }
  db_set_busy(st->db, busy);
}

/* ---- administration ---- */

enum status token_find(struct store *st, struct str team, struct str ref, struct arena *a, struct token *ret_token,
                       bool *ret_found, struct error *err) {
  struct rows r;
  TRY(reach_check_admin(st, "the list of tokens", err));
  db_query(st->db, &r, err,
           COLUMNS " AND (name = ?2 OR id = ?2) ORDER BY CASE WHEN name = ?2 THEN 0 ELSE 1 END LIMIT 1", "ss", team,
           ref);
  return read_one(&r, team, a, ret_token, ret_found);
}

enum status tokens_list(struct store *st, struct str team, struct arena *a, struct tokens *ret_list,
                        struct error *err) {
  struct rows r;
  TRY(reach_check_admin(st, "the list of tokens", err));
  db_query(st->db, &r, err, COLUMNS " ORDER BY name", "s", team);
  while (rows_next(&r))
    list_push(a, ret_list, read_row(&r, team, a));
  return rows_end(&r);
}

static enum status add_event(struct txn *txn, struct arena *a, const struct token *t, const char *action,
                             struct error *err) {
  char time[TIME_TEXT_SIZE];
  yyjson_mut_doc *doc = json_new(a);
  assert((unsigned)t->role <= ROLE_SKILL);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "token", t->id);
  json_put(doc, detail, "name", t->name);
  json_put(doc, detail, "role", str_from(role_names[t->role]));
  if (t->projects.n)
    json_put_strs(doc, detail, "projects", &t->projects);
  json_put(doc, detail, "access", t->read_only ? STR("read") : STR("write"));
  json_put_opt(doc, detail, "profile", t->profile);
  if (t->expires_at)
    json_put(doc, detail, "expires_at", time_format(t->expires_at, time));
  struct event e = {.action = str_from(action), .detail = json_write(a, detail, false)};
  return event_add(txn, &e, err);
}

static struct str write_projects(struct arena *a, const struct token *t) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *list = yyjson_mut_arr(doc);
  for (size_t i = 0; i < t->projects.n; i++)
    json_add_str(doc, list, t->projects.v[i]);
  return t->role == ROLE_PROJECT ? json_write(a, list, false) : STR_NONE;
}

enum status token_insert(struct txn *txn, struct arena *a, const struct token *t, struct error *err) {
  struct db *db = txn->store->db;
  TRY(reach_check_admin(txn->store, "making tokens", err));
  TRY(grants_remove(txn, grantee_of_token(a, t->name), err)); /* left by an earlier version */
  TRY(db_exec(db, err,
              "INSERT INTO token (team, id, name, hash, role, projects, access, profile, created_at, created_by,"
              " expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING",
              "sssbssssist", txn->team, t->id, t->name, (struct str){(const char *)t->hash, TOKEN_HASH_BYTES},
              str_from(role_names[t->role]), write_projects(a, t), t->read_only ? STR("read") : STR("write"),
              t->profile, txn->now, t->created_by, t->expires_at));
  if (db_changes(db) == 0) {
    error_set(err, STATUS_CONFLICT, "token '%.*s' exists already", STR_ARG(t->name));
    return error_fix(err, "'cairn token list' shows it; give the new one another name");
  }
  return add_event(txn, a, t, "token:add", err);
}

enum status token_revoke(struct txn *txn, struct arena *a, const struct token *t, struct error *err) {
  TRY(reach_check_admin(txn->store, "revoking tokens", err));
  TRY(db_exec(txn->store->db, err, "UPDATE token SET revoked_at = ?3 WHERE team = ?1 AND id = ?2", "ssi", txn->team,
              t->id, txn->now));
  return add_event(txn, a, t, "token:revoke", err);
}

enum status token_children(struct store *st, const struct token *t, int64_t now, struct arena *a,
                           struct tokens *ret_list, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, COLUMNS " AND created_by = ?2 AND created_at >= ?3 AND id <> ?4 ORDER BY name", "ssis",
           t->team, grantee_of_token(a, t->name), t->created_at, t->id);
  while (rows_next(&r)) {
    struct token child = read_row(&r, t->team, a);
    if (token_is_live(&child, now))
      list_push(a, ret_list, child);
  }
  return rows_end(&r);
}

enum status token_delete(struct txn *txn, struct arena *a, const struct token *t, struct error *err) {
  TRY(reach_check_admin(txn->store, "deleting tokens", err));
  TRY(grants_remove(txn, grantee_of_token(a, t->name), err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM token WHERE team = ?1 AND id = ?2", "ss", txn->team, t->id));
  return add_event(txn, a, t, "token:delete", err);
}
