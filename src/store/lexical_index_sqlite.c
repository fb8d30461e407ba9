/* lexical_index_sqlite.c: the full-text index itself: filled in one go, checked, rebuilt, merged. */
#include "store/fts.h"
#include "store/lexical.h"
#include "store/store_internal.h"

enum status lexical_hold(struct txn *txn, struct error *err) {
  return db_exec(txn->store->db, err,
                 "INSERT INTO meta (name, value) SELECT 'full_text_held', coalesce(max(id), 0) FROM chunk", NULL);
}

enum status lexical_release(struct txn *txn, struct error *err) {
  enum status s =
      db_exec(txn->store->db, err,
              "INSERT INTO chunk_fts (rowid, headline, body, extra, terms) SELECT id, headline, body, extra, terms"
              " FROM chunk WHERE id > (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'full_text_held')",
              NULL);
  return s == STATUS_OK ? db_exec(txn->store->db, err, "DELETE FROM meta WHERE name = 'full_text_held'", NULL) : s;
}

/* The index against the texts, then the derived terms, which are part of what is indexed, against the same. */
enum status lexical_check(struct store *st, bool *ret_ok, struct error *err) {
  struct error why;
  int64_t stale = 0;
  enum status s = db_exec(st->db, &why, "INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('integrity-check', 1)", NULL);
  bool damaged = fts_is_damage(s);
  if (s == STATUS_OK)
    s = db_int(st->db, &stale, NULL, &why,
               "SELECT EXISTS (SELECT 1 FROM chunk c JOIN memory m ON m.id = c.memory_id"
               " WHERE c.terms <> cairn_terms(m.project, c.headline, c.body, c.extra))",
               NULL);
  if (s != STATUS_OK && !damaged) {
    *err = why;
    return s;
  }
  *ret_ok = !damaged && !stale;
  return STATUS_OK;
}

/* The index first: the triggers of a changed text need a sound one. */
enum status lexical_rebuild(struct store *st, struct error *err) {
  static const char rebuild[] = "INSERT INTO chunk_fts (chunk_fts) VALUES ('rebuild')";
  enum status s = db_exec(st->db, err, rebuild, NULL);
  if (fts_is_damage(s)) {
    s = fts_reset(st->db, err);
    if (s == STATUS_OK)
      s = db_exec(st->db, err, rebuild, NULL);
  }
  if (s == STATUS_OK)
    s = db_exec(st->db, err,
                "UPDATE chunk SET terms = d.terms FROM (SELECT c.id AS id, cairn_terms(m.project, c.headline, c.body,"
                " c.extra) AS terms FROM chunk c JOIN memory m ON m.id = c.memory_id) d"
                " WHERE chunk.id = d.id AND chunk.terms <> d.terms",
                NULL);
  return s;
}

enum status lexical_optimize(struct store *st, struct error *err) {
  return db_exec(st->db, err, "INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')", NULL);
}
