/* lexical_sqlite.c: full-text search by FTS5. */
#include "core/text.h"
#include "store/lexical.h"
#include "store/store_internal.h"

enum { QUERY_WORDS = 64 }; /* more words add cost, hardly ever a better answer */

struct str lexical_expression(struct arena *a, struct str query) {
  struct buf b = BUF(a);
  struct str word;
  size_t pos = 0, n = 0;
  while (n < QUERY_WORDS && text_next_word(query, &pos, &word)) {
    if (word.n > 200)
      continue;
    /* A word has no quotes, but a quoted string is safe whatever it holds. */
    buf_addf(&b, "%s\"", n++ ? " OR " : "");
    for (size_t i = 0; i < word.n; i++) {
      if (word.p[i] == '"')
        buf_addc(&b, '"');
      buf_addc(&b, word.p[i]);
    }
    buf_addc(&b, '"');
  }
  return buf_str(&b);
}

enum status lexical_search(struct store *st, const struct scope *scope, const struct filter *f, struct str query,
                           int64_t limit, struct arena *a, struct lexical_hits *ret_hits, struct error *err) {
  struct str expression = lexical_expression(a, query);
  if (str_empty(expression))
    return STATUS_OK;
  struct sql q = SQL(a);
  sql_add(&q, "SELECT c.id, c.memory_id, bm25(chunk_fts, 2.0, 1.0, 1.0) FROM chunk_fts"
              " JOIN chunk c ON c.id = chunk_fts.rowid JOIN memory m ON m.id = c.memory_id WHERE chunk_fts MATCH ");
  sql_text(&q, expression);
  sql_add(&q, " AND ");
  visible(&q, scope, f->states ? f->states : STATES_SEARCHED);
  filter_where(&q, f);
  sql_add(&q, " ORDER BY 3, c.id LIMIT ");
  sql_int(&q, limit);
  struct rows r;
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r))
    list_push(a, ret_hits, (struct lexical_hit){rows_int(&r, 0), rows_int(&r, 1), -rows_real(&r, 2)});
  return rows_end(&r);
}

enum status lexical_hold(struct txn *txn, struct error *err) {
  return db_exec(txn->store->db, err,
                 "INSERT INTO meta (name, value) SELECT 'full_text_held', coalesce(max(id), 0) FROM chunk", NULL);
}

enum status lexical_release(struct txn *txn, struct error *err) {
  enum status s =
      db_exec(txn->store->db, err,
              "INSERT INTO chunk_fts (rowid, headline, body, extra) SELECT id, headline, body, extra"
              " FROM chunk WHERE id > (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'full_text_held')",
              NULL);
  return s == STATUS_OK ? db_exec(txn->store->db, err, "DELETE FROM meta WHERE name = 'full_text_held'", NULL) : s;
}

enum status lexical_check(struct store *st, bool *ret_ok, struct error *err) {
  struct error why;
  enum status s = db_exec(st->db, &why, "INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('integrity-check', 1)", NULL);
  *ret_ok = s == STATUS_OK;
  if (s == STATUS_OK || s == STATUS_CORRUPT)
    return STATUS_OK;
  *err = why;
  return s;
}

enum status lexical_rebuild(struct store *st, struct error *err) {
  return db_exec(st->db, err, "INSERT INTO chunk_fts (chunk_fts) VALUES ('rebuild')", NULL);
}

enum status lexical_optimize(struct store *st, struct error *err) {
  return db_exec(st->db, err, "INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')", NULL);
}
