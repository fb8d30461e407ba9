/* vault.c: rows of the vault: values, secrets, the team's key, grants. */
#include "store/tables/vault.h"

#include <assert.h>

#include "base/json.h"
#include "store/store_internal.h"

#define COLUMNS "SELECT key, value, updated_by, is_secret, cipher, created_at, updated_at FROM vault WHERE team = ?1"

static struct vault_entry read_entry(const struct rows *r, struct arena *a) {
  return (struct vault_entry){.key = rows_dup(r, 0, a),
                              .value = rows_dup(r, 1, a),
                              .updated_by = rows_dup(r, 2, a),
                              .is_secret = rows_int(r, 3) != 0,
                              .sealed = rows_dup(r, 4, a),
                              .created_at = rows_int(r, 5),
                              .updated_at = rows_int(r, 6)};
}

enum status vault_find(struct store *st, struct str team, struct str key, struct arena *a,
                       struct vault_entry *ret_entry, bool *ret_found, struct error *err) {
  struct rows r;
  bool found = false;
  TRY(reach_check_admin(st, "the vault", err));
  db_query(st->db, &r, err, COLUMNS " AND key = ?2", "ss", team, key);
  if (rows_next(&r)) {
    *ret_entry = read_entry(&r, a);
    found = true;
  }
  *ret_found = found;
  return rows_end(&r);
}

enum status vault_walk(struct store *st, struct str team, struct str prefix, struct arena *a,
                       struct vault_entries *ret_list, struct error *err) {
  struct rows r;
  TRY(reach_check_admin(st, "the vault", err));
  /* Keys are compared bytewise, so those with the prefix are adjacent. */
  db_query(st->db, &r, err, COLUMNS " AND key >= ?2 ORDER BY key", "ss", team, prefix.p ? prefix : STR(""));
  while (rows_next(&r) && str_starts(rows_text(&r, 0), prefix))
    list_push(a, ret_list, read_entry(&r, a));
  return rows_end(&r);
}

enum status vault_secrets(struct store *st, struct str team, struct arena *a, struct vault_entries *ret_list,
                          struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, COLUMNS " AND is_secret = 1 ORDER BY key", "s", team);
  while (rows_next(&r))
    list_push(a, ret_list, read_entry(&r, a));
  return rows_end(&r);
}

/* The event has only the key, never the value. */
enum status vault_add_event(struct txn *txn, struct arena *a, struct str key, const char *action, const char *member,
                            struct str text, struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put(doc, obj, "key", key);
  if (member)
    json_put(doc, obj, member, text);
  struct event e = {.action = str_from(action), .detail = json_write(a, obj, false)};
  return event_add(txn, &e, err);
}

static enum status put_row(struct txn *txn, struct arena *a, struct str key, struct str value, struct str sealed,
                           const char *action, struct error *err) {
  TRY(reach_check_admin(txn->store, "the vault", err));
  assert(key.n > 0 && !(sealed.p && value.n));
  TRY(db_exec(txn->store->db, err,
              "INSERT INTO vault (team, key, value, is_secret, cipher, created_at, updated_at, updated_by)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7) ON CONFLICT (team, key) DO UPDATE"
              " SET value = excluded.value, is_secret = excluded.is_secret, cipher = excluded.cipher,"
              " updated_at = excluded.updated_at, updated_by = excluded.updated_by",
              "sssibis", txn->team, key, value, (int64_t)(sealed.p != NULL), sealed, txn->now, txn->source));
  return vault_add_event(txn, a, key, action, NULL, STR_NONE, err);
}

enum status vault_put(struct txn *txn, struct arena *a, struct str key, struct str value, const char *action,
                      struct error *err) {
  return put_row(txn, a, key, value, STR_NONE, action, err);
}

enum status vault_put_secret(struct txn *txn, struct arena *a, struct str key, struct str sealed, struct error *err) {
  return put_row(txn, a, key, STR(""), sealed, "vault:set", err);
}

enum status vault_reseal(struct txn *txn, struct str key, struct str sealed, struct error *err) {
  TRY(reach_check_admin(txn->store, "the vault", err));
  return db_exec(txn->store->db, err, "UPDATE vault SET cipher = ?3 WHERE team = ?1 AND key = ?2 AND is_secret = 1",
                 "ssb", txn->team, key, sealed);
}

enum status vault_remove(struct txn *txn, struct arena *a, struct str key, bool *ret_found, struct error *err) {
  TRY(reach_check_admin(txn->store, "the vault", err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM vault WHERE team = ?1 AND key = ?2", "ss", txn->team, key));
  *ret_found = db_changes(txn->store->db) > 0;
  return *ret_found ? vault_add_event(txn, a, key, "vault:delete", NULL, STR_NONE, err) : STATUS_OK;
}

/* ---- the key of a team ---- */

static bool read_key(const struct rows *r, struct arena *a, struct vault_key *ret_key) {
  struct vault_key key = {.proof = rows_dup(r, 5, a)};
  struct str id = rows_text(r, 0);
  if (id.n != sizeof(key.id) - 1)
    return false;
  memcpy(key.id, id.p, id.n);
  key.passphrase = str_is(rows_text(r, 1), "passphrase");
  struct str salt = rows_text(r, 2);
  if (key.passphrase && salt.n != SALT_BYTES)
    return false;
  if (key.passphrase) {
    memcpy(key.how.salt, salt.p, SALT_BYTES);
    key.how.passes = rows_int(r, 3);
    key.how.memory = rows_int(r, 4);
  }
  *ret_key = key;
  return true;
}

enum status vault_key_find(struct store *st, struct str team, struct arena *a, struct vault_key *ret_key,
                           bool *ret_found, struct error *err) {
  struct rows r;
  bool found = false, readable = true;
  db_query(st->db, &r, err, "SELECT id, way, salt, passes, memory, proof FROM vault_key WHERE team = ?1", "s", team);
  if (rows_next(&r)) {
    found = true;
    readable = read_key(&r, a, ret_key);
  }
  *ret_found = found;
  TRY(rows_end(&r));
  if (readable)
    return STATUS_OK;
  error_set(err, STATUS_CORRUPT, "the store's record of the vault key is damaged");
  return error_fix(err, "restore a backup with 'cairn restore'");
}

enum status vault_key_put(struct txn *txn, const struct vault_key *key, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  TRY(reach_check_admin(txn->store, "the vault", err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM vault_key WHERE team = ?1", "s", txn->team));
  struct str salt = key->passphrase ? (struct str){(const char *)key->how.salt, SALT_BYTES} : STR_NONE;
  return db_exec(txn->store->db, err,
                 "INSERT INTO vault_key (team, id, way, salt, passes, memory, proof, created_at)"
                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                 "sssbttbi", txn->team, str_from(key->id), key->passphrase ? STR("passphrase") : STR("key"), salt,
                 key->how.passes, key->how.memory, key->proof, txn->now);
}

/* ---- grants ---- */

enum status grant_put(struct txn *txn, const struct grant *g, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  TRY(reach_check_admin(txn->store, "grants of the vault", err));
  assert(g->key.n > 0 && g->grantee.n > 0 && g->uses >= -1);
  TRY(db_exec(txn->store->db, err, "DELETE FROM vault_grant WHERE team = ?1 AND key = ?2 AND grantee = ?3", "sss",
              txn->team, g->key, g->grantee));
  return db_exec(txn->store->db, err,
                 "INSERT INTO vault_grant (team, key, grantee, uses, created_at, created_by, expires_at)"
                 " VALUES (?1, ?2, ?3, CASE WHEN ?4 < 0 THEN NULL ELSE ?4 END, ?5, ?6, ?7)",
                 "sssiist", txn->team, g->key, g->grantee, g->uses, txn->now, txn->source, g->expires_at);
}

enum status grant_remove(struct txn *txn, struct str key, struct str grantee, bool *ret_found, struct error *err) {
  TRY(reach_check_admin(txn->store, "grants of the vault", err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM vault_grant WHERE team = ?1 AND key = ?2 AND grantee = ?3", "sss",
              txn->team, key, grantee));
  *ret_found = db_changes(txn->store->db) > 0;
  return STATUS_OK;
}

enum status grants_remove(struct txn *txn, struct str grantee, struct error *err) {
  TRY(reach_check_admin(txn->store, "grants of the vault", err));
  return db_exec(txn->store->db, err, "DELETE FROM vault_grant WHERE team = ?1 AND grantee = ?2", "ss", txn->team,
                 grantee);
}

struct str grantee_of_token(struct arena *a, struct str name) { return arena_printf(a, "token:%.*s", STR_ARG(name)); }

static struct grant read_grant(const struct rows *r, struct arena *a) {
  return (struct grant){.key = rows_dup(r, 0, a),
                        .grantee = rows_dup(r, 1, a),
                        .uses = rows_int(r, 2),
                        .created_at = rows_int(r, 3),
                        .created_by = rows_dup(r, 4, a),
                        .expires_at = rows_int(r, 5)};
}

enum status grants_list(struct store *st, struct str team, struct str key, struct arena *a, struct grants *ret_list,
                        struct error *err) {
  struct rows r;
  TRY(reach_check_admin(st, "grants of the vault", err));
  db_query(st->db, &r, err,
           "SELECT key, grantee, coalesce(uses, -1), created_at, created_by, expires_at FROM vault_grant"
           " WHERE team = ?1 ORDER BY key, grantee",
           "s", team);
  while (rows_next(&r))
    if (!key.p || str_eq(rows_text(&r, 0), key))
      list_push(a, ret_list, read_grant(&r, a));
  return rows_end(&r);
}

enum status grant_use(struct txn *txn, struct str key, struct str grantee, struct arena *a, struct str *ret_by,
                      struct error *err) {
  struct rows r;
  struct str by = STR_NONE;
  /* DESC: '*' sorts before every name, so the grantee's own grant is used first. */
  db_query(txn->store->db, &r, err,
           "SELECT grantee FROM vault_grant WHERE team = ?1 AND key = ?2 AND grantee IN (?3, '" GRANTEE_ALL "')"
           " AND (uses IS NULL OR uses > 0) AND (expires_at IS NULL OR expires_at > ?4) ORDER BY grantee DESC LIMIT 1",
           "sssi", txn->team, key, grantee, txn->now);
  if (rows_next(&r))
    by = rows_dup(&r, 0, a);
  TRY(rows_end(&r));
  if (by.p)
    TRY(db_exec(txn->store->db, err,
                "UPDATE vault_grant SET uses = uses - 1 WHERE team = ?1 AND key = ?2 AND grantee = ?3"
                " AND uses IS NOT NULL",
                "sss", txn->team, key, by));
  *ret_by = by;
  return STATUS_OK;
}
