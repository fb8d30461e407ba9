/* vault.c: the rows of the vault: values, secrets, and the key that secrets are sealed with. */
#include "store/tables/vault.h"

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
  TRY(reach_admin(st, "the vault", err));
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
  TRY(reach_admin(st, "the vault", err));
  /* Keys are compared by their bytes: those with the prefix lie together, from the prefix on. */
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

/* The log names the key: what was stored under it is nobody's business but the reader's. */
enum status vault_note(struct txn *txn, struct arena *a, struct str key, const char *action, const char *member,
                       struct str text, struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put(doc, obj, "key", key);
  if (member)
    json_put(doc, obj, member, text);
  struct event e = {.action = str_from(action), .detail = json_write(a, obj, false)};
  return event_add(txn, &e, err);
}

static enum status put(struct txn *txn, struct arena *a, struct str key, struct str value, struct str sealed,
                       const char *action, struct error *err) {
  TRY(reach_admin(txn->store, "the vault", err));
  TRY(db_exec(txn->store->db, err,
              "INSERT INTO vault (team, key, value, is_secret, cipher, created_at, updated_at, updated_by)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7) ON CONFLICT (team, key) DO UPDATE"
              " SET value = excluded.value, is_secret = excluded.is_secret, cipher = excluded.cipher,"
              " updated_at = excluded.updated_at, updated_by = excluded.updated_by",
              "sssibis", txn->team, key, value, (int64_t)(sealed.p != NULL), sealed, txn->now, txn->source));
  return vault_note(txn, a, key, action, NULL, STR_NONE, err);
}

enum status vault_put(struct txn *txn, struct arena *a, struct str key, struct str value, const char *action,
                      struct error *err) {
  return put(txn, a, key, value, STR_NONE, action, err);
}

enum status vault_put_secret(struct txn *txn, struct arena *a, struct str key, struct str sealed, struct error *err) {
  return put(txn, a, key, STR(""), sealed, "vault:set", err);
}

enum status vault_reseal(struct txn *txn, struct str key, struct str sealed, struct error *err) {
  TRY(reach_admin(txn->store, "the vault", err));
  return db_exec(txn->store->db, err, "UPDATE vault SET cipher = ?3 WHERE team = ?1 AND key = ?2 AND is_secret = 1",
                 "ssb", txn->team, key, sealed);
}

enum status vault_remove(struct txn *txn, struct arena *a, struct str key, bool *ret_found, struct error *err) {
  TRY(reach_admin(txn->store, "the vault", err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM vault WHERE team = ?1 AND key = ?2", "ss", txn->team, key));
  *ret_found = db_changes(txn->store->db) > 0;
  return *ret_found ? vault_note(txn, a, key, "vault:delete", NULL, STR_NONE, err) : STATUS_OK;
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
  error_set(err, STATUS_CORRUPT, "what the store says of the vault's key is damaged");
  return error_fix(err, "'cairn restore' brings a backup back");
}

enum status vault_key_put(struct txn *txn, const struct vault_key *key, struct error *err) {
  TRY(reach_admin(txn->store, "the vault", err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM vault_key WHERE team = ?1", "s", txn->team));
  struct str salt = key->passphrase ? (struct str){(const char *)key->how.salt, SALT_BYTES} : STR_NONE;
  return db_exec(txn->store->db, err,
                 "INSERT INTO vault_key (team, id, way, salt, passes, memory, proof, created_at)"
                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                 "sssbttbi", txn->team, str_from(key->id), key->passphrase ? STR("passphrase") : STR("key"), salt,
                 key->how.passes, key->how.memory, key->proof, txn->now);
}
