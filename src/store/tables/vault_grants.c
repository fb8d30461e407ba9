/* vault_grants.c: who may see the value of a secret, as rows. */
#include "store/store_internal.h"
#include "store/tables/vault.h"

enum status grant_put(struct txn *txn, const struct grant *g, struct error *err) {
  TRY(reach_admin(txn->store, "grants of the vault", err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM vault_grant WHERE team = ?1 AND key = ?2 AND grantee = ?3", "sss",
              txn->team, g->key, g->grantee));
  return db_exec(txn->store->db, err,
                 "INSERT INTO vault_grant (team, key, grantee, uses, created_at, created_by, expires_at)"
                 " VALUES (?1, ?2, ?3, CASE WHEN ?4 < 0 THEN NULL ELSE ?4 END, ?5, ?6, ?7)",
                 "sssiist", txn->team, g->key, g->grantee, g->uses, txn->now, txn->source, g->expires_at);
}

enum status grant_remove(struct txn *txn, struct str key, struct str grantee, bool *ret_found, struct error *err) {
  TRY(reach_admin(txn->store, "grants of the vault", err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM vault_grant WHERE team = ?1 AND key = ?2 AND grantee = ?3", "sss",
              txn->team, key, grantee));
  *ret_found = db_changes(txn->store->db) > 0;
  return STATUS_OK;
}

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
  TRY(reach_admin(st, "grants of the vault", err));
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
  /* '*' stands before every name. */
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
