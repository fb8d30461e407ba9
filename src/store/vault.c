/* vault.c: the rows of the vault. */
#include "store/vault.h"

#include "base/json.h"
#include "store/store_internal.h"

#define COLUMNS "SELECT key, value, updated_by, is_secret, created_at, updated_at FROM vault WHERE team = "

static void read_entry(const struct rows *r, struct arena *a, struct vault_entry *e) {
  *e = (struct vault_entry){.key = rows_dup(r, 0, a),
                            .value = rows_dup(r, 1, a),
                            .updated_by = rows_dup(r, 2, a),
                            .is_secret = rows_int(r, 3) != 0,
                            .created_at = rows_int(r, 4),
                            .updated_at = rows_int(r, 5)};
}

enum status vault_find(struct store *st, struct str team, struct str key, struct arena *a,
                       struct vault_entry *ret_entry, bool *ret_found, struct error *err) {
  struct rows r;
  bool found = false;
  enum status may = reach_admin(st, "the vault", err);
  if (may != STATUS_OK)
    return may;
  db_query(st->db, &r, err, COLUMNS "?1 AND key = ?2", "ss", team, key);
  if (rows_next(&r)) {
    read_entry(&r, a, ret_entry);
    found = true;
  }
  *ret_found = found;
  return rows_end(&r);
}

enum status vault_walk(struct store *st, struct str team, struct str prefix, struct arena *a,
                       struct vault_entries *ret_list, struct error *err) {
  struct rows r;
  enum status may = reach_admin(st, "the vault", err);
  if (may != STATUS_OK)
    return may;
  /* Keys are compared by their bytes: those with the prefix lie together, from the prefix on. */
  db_query(st->db, &r, err, COLUMNS "?1 AND key >= ?2 ORDER BY key", "ss", team, prefix.p ? prefix : STR(""));
  while (rows_next(&r)) {
    struct vault_entry e;
    if (!str_starts(rows_text(&r, 0), prefix))
      break;
    read_entry(&r, a, &e);
    list_push(a, ret_list, e);
  }
  return rows_end(&r);
}

/* The log names the key: what was stored under it is nobody's business but the reader's. */
static enum status note(struct txn *txn, struct arena *a, struct str key, const char *action, struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put(doc, obj, "key", key);
  struct event e = {.action = str_from(action), .detail = json_write(a, obj, false)};
  return event_add(txn, &e, err);
}

enum status vault_put(struct txn *txn, struct arena *a, struct str key, struct str value, const char *action,
                      struct error *err) {
  enum status s = reach_admin(txn->store, "the vault", err);
  if (s == STATUS_OK)
    s = db_exec(txn->store->db, err,
                "INSERT INTO vault (team, key, value, created_at, updated_at, updated_by)"
                " VALUES (?1, ?2, ?3, ?4, ?4, ?5) ON CONFLICT (team, key) DO UPDATE"
                " SET value = excluded.value, updated_at = excluded.updated_at,"
                " updated_by = excluded.updated_by",
                "sssis", txn->team, key, value, txn->now, txn->source);
  return s == STATUS_OK ? note(txn, a, key, action, err) : s;
}

enum status vault_remove(struct txn *txn, struct arena *a, struct str key, bool *ret_found, struct error *err) {
  enum status s = reach_admin(txn->store, "the vault", err);
  if (s == STATUS_OK)
    s = db_exec(txn->store->db, err, "DELETE FROM vault WHERE team = ?1 AND key = ?2", "ss", txn->team, key);
  if (s != STATUS_OK)
    return s;
  *ret_found = db_changes(txn->store->db) > 0;
  return *ret_found ? note(txn, a, key, "vault:delete", err) : STATUS_OK;
}
