/* lexical_index_sqlite.c: full-text index in SQLite: fill (by triggers or in bulk), check, rebuild, merge. */
#include "store/engine.h"
#include "store/search/lexical.h"
#include "store/sqlite/fts.h"
#include "store/store_internal.h"

enum status sqlite_lexical_add(struct txn *txn, struct arena *a UNUSED, const struct chunk_text *t, int64_t *ret_id,
                               struct error *err) {
  return db_int(txn->store->db, ret_id, NULL, err,
                "INSERT INTO chunk (team, memory_id, seq, hash, headline, body, extra, terms)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
                "siisssss", t->team, t->memory_id, t->seq, t->hash, t->headline, t->body, t->extra, t->terms);
}

/* Triggers on the table have indexed them. */
enum status sqlite_lexical_fill(struct txn *txn UNUSED, struct arena *a UNUSED, const struct chunk_text *texts UNUSED,
                                size_t n UNUSED, struct error *err UNUSED) {
  return STATUS_OK;
}

enum status sqlite_lexical_update(struct txn *txn, struct arena *a UNUSED, const struct chunk_text *t,
                                  struct error *err) {
  return db_exec(txn->store->db, err,
                 "UPDATE chunk SET extra = ?1, terms = ?2 WHERE team = ?3 AND memory_id = ?4 AND seq = 0", "sssi",
                 t->extra, t->terms, t->team, t->memory_id);
}

enum status sqlite_lexical_hold(struct txn *txn, struct error *err) {
  return db_exec(txn->store->db, err,
                 "/* all teams: one index of words */ "
                 "INSERT INTO meta (name, value) SELECT 'full_text_held', coalesce(max(id), 0) FROM chunk",
                 NULL);
}

enum status sqlite_lexical_release(struct txn *txn, struct error *err) {
  TRY(db_exec(txn->store->db, err,
              "/* all teams: one index of words */ "
              "INSERT INTO chunk_fts (rowid, headline, body, extra, terms) SELECT id, headline, body, extra, terms"
              " FROM chunk WHERE id > (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'full_text_held')",
              NULL));
  return db_exec(txn->store->db, err, "DELETE FROM meta WHERE name = 'full_text_held'", NULL);
}

/* Checks the index against the texts, then the derived terms, which are also indexed. */
enum status sqlite_lexical_check(struct store *st, bool *ret_ok, struct error *err) {
  struct error why;
  int64_t stale = 0;
  enum status s = db_exec(st->db, &why, "INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('integrity-check', 1)", NULL);
  bool damaged = fts_is_damage(s);
  if (s == STATUS_OK)
    s = db_int(st->db, &stale, NULL, &why,
               "/* all teams: doctor */ "
               "SELECT EXISTS (SELECT 1 FROM chunk c JOIN memory m ON m.id = c.memory_id"
               " WHERE c.terms <> cairn_terms(m.project, c.headline, c.body, c.extra, m.corpus))",
               NULL);
  if (s != STATUS_OK && !damaged) {
    *err = why;
    return s;
  }
  *ret_ok = !damaged && !stale;
  return STATUS_OK;
}

/* The index comes first: triggers on changed texts need an intact one. */
enum status sqlite_lexical_rebuild(struct store *st, struct error *err) {
  static const char rebuild[] = "INSERT INTO chunk_fts (chunk_fts) VALUES ('rebuild')";
  enum status s = db_exec(st->db, err, rebuild, NULL);
  if (fts_is_damage(s)) {
    s = fts_reset(st->db, err);
    if (s == STATUS_OK)
      s = db_exec(st->db, err, rebuild, NULL);
  }
  if (s == STATUS_OK)
    s = db_exec(st->db, err,
                "/* all teams: doctor */ "
                "UPDATE chunk SET terms = d.terms FROM (SELECT c.id AS id, cairn_terms(m.project, c.headline, c.body,"
                " c.extra, m.corpus) AS terms FROM chunk c JOIN memory m ON m.id = c.memory_id) d"
                " WHERE chunk.id = d.id AND chunk.terms <> d.terms",
                NULL);
  return s;
}

enum status sqlite_lexical_optimize(struct store *st, struct error *err) {
  return db_exec(st->db, err, "INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')", NULL);
}
