/* search_rows.c: nearest chunks under filters, and their texts. */
#include "store/search_rows.h"

#include "store/store_internal.h"

enum { EXAMINE = 4096 };

enum status search_near(struct store *st, const struct scope *scope, const struct filter *f,
                        const struct vec_model *model, const int8_t *vector, size_t k, struct arena *a,
                        struct vec_hits *ret_hits, struct error *err) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT m.id FROM chunk c JOIN memory m ON m.id = c.memory_id WHERE ");
  visible(&q, scope, f->states ? f->states : STATES_SEARCHED);
  filter_where(&q, f);
  sql_add(&q, " AND c.id = ");
  sql_int(&q, 0);
  return vec_search(st, model, vector, -1, k, EXAMINE, &q, a, ret_hits, err);
}

enum status chunk_snippet(struct store *st, struct str team, int64_t chunk_id, struct arena *a, struct str *ret_text,
                          struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT body FROM chunk WHERE id = ?1 AND team = ?2", "is", chunk_id, team);
  *ret_text = rows_next(&r) ? rows_dup(&r, 0, a) : STR("");
  return rows_end(&r);
}
