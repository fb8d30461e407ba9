/* candidates.c: finds existing memories to compare a new one with. */
#include "store/search/candidates.h"

#include <assert.h>

#include "store/search/search_rows.h"
#include "store/store_internal.h"

/* Done and stale tasks do not count as duplicates of a new one. */
static struct sql candidate_sql(struct arena *a, const struct scope *scope, struct str kind, const char *from) {
  struct filter f = {.kind = kind, .no_retired_tasks = true};
  struct sql q = SQL(a);
  sql_add(&q, "SELECT m.id FROM ");
  sql_add(&q, from);
  sql_add(&q, " WHERE ");
  visible(&q, scope, STATES_LIVE);
  filter_where(&q, &f);
  return q;
}

enum status candidates_exact(struct store *st, const struct scope *scope, struct str kind, struct str hash,
                             struct arena *a, struct ids *ret_ids, struct error *err) {
  /* CROSS JOIN forces lookup by hash instead of a scan over the project's memories. */
  struct sql q = candidate_sql(a, scope, kind, "body b CROSS JOIN memory m");
  sql_add(&q, " AND m.id = b.memory_id AND b.team = m.team AND b.hash = ");
  sql_text(&q, hash);
  sql_add(&q, " ORDER BY m.id LIMIT 5");
  struct rows r;
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r))
    list_push(a, ret_ids, rows_int(&r, 0));
  return rows_end(&r);
}

enum status candidates_near(struct store *st, const struct candidate_query *q, struct arena *a,
                            struct vec_hits *ret_hits, struct error *err) {
  struct filter f = {.kind = q->kind, .no_retired_tasks = true};
  struct chunk_filter chunks = {.scope = q->scope, .filter = &f, .states = STATES_LIVE, .except = q->except};
  chunks.beginnings = chunks.no_entries = true;
  struct vec_filter filter = chunk_filter_sql(st, a, &chunks);
  struct vec_query near = {q->model, q->vector, q->min_cosine, q->k, &filter};
  return vec_search(st, &near, a, ret_hits, NULL, err);
}

enum status candidates_texts(struct store *st, struct str team, const int64_t *ids, size_t n, int limit,
                             struct arena *a, struct candidate_texts *ret_texts, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  assert(n > 0 && n <= SQL_IDS);
  sql_addf(&q, "SELECT m.id, m.headline, substr(b.text, 1, %d) FROM memory m", limit);
  sql_add(&q, " JOIN body b ON b.team = m.team AND b.memory_id = m.id WHERE m.team = ");
  sql_text(&q, team);
  sql_add(&q, " AND m.id IN ");
  sql_ids(&q, ids, n);
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r)) {
    struct candidate_text t = {rows_int(&r, 0), rows_dup(&r, 1, a), rows_dup(&r, 2, a)};
    list_push(a, ret_texts, t);
  }
  return rows_end(&r);
}
