/* search_rows.c: nearest chunks under filters, and their texts. */
#include "store/search_rows.h"

#include "core/types.h"
#include "store/store_internal.h"

static void chunk_where(struct sql *q, const struct chunk_filter *f) {
  visible(q, f->scope, f->states);
  filter_where(q, f->filter);
  if (f->beginnings)
    sql_add(q, " AND c.seq = 0");
  if (f->except) {
    sql_add(q, " AND m.id <> ");
    sql_int(q, f->except);
  }
  if (f->no_entries) {
    struct str types = types_of_sequence(q->text.a);
    sql_addf(q, " AND (coalesce(m.session, '') = '' OR m.type NOT IN (%.*s))", STR_ARG(types));
  }
}

/* Active memories and others have an index each; the condition that names it is given beside the real one. */
static void list_half(struct sql *q, const struct chunk_filter *f, const char *half) {
  sql_add(q, "SELECT c.id FROM memory m CROSS JOIN chunk c WHERE ");
  chunk_where(q, f);
  sql_addf(q, " AND m.state %s 'active'", half);
  filter_by_label(q, f->scope->team, "tags", &f->filter->tags);
  filter_by_label(q, f->scope->team, "people", &f->filter->people);
  sql_add(q, " AND c.memory_id = m.id");
}

struct vec_filter chunk_filter_sql(struct arena *a, const struct chunk_filter *f) {
  struct vec_filter filter = {SQL(a), SQL(a)};
  bool past = f->scope->as_of != 0, live = past || strstr(f->states, STATES_LIVE);
  bool rest = past || strcmp(f->states, STATES_LIVE) != 0;
  sql_add(&filter.one, "SELECT m.id FROM chunk c JOIN memory m ON m.id = c.memory_id WHERE ");
  chunk_where(&filter.one, f);
  sql_add(&filter.one, " AND c.id = ");
  sql_int(&filter.one, 0);
  if (live)
    list_half(&filter.all, f, "=");
  if (live && rest)
    sql_add(&filter.all, " UNION ALL ");
  if (rest)
    list_half(&filter.all, f, "<>");
  sql_add(&filter.all, " LIMIT ");
  sql_int(&filter.all, 0);
  return filter;
}

enum status search_near(struct store *st, const struct scope *scope, const struct filter *f,
                        const struct vec_model *model, const int8_t *vector, size_t k, struct arena *a,
                        struct vec_hits *ret_hits, struct vec_health *ret_health, struct error *err) {
  struct chunk_filter chunks = {.scope = scope, .filter = f, .states = f->states ? f->states : STATES_SEARCHED};
  struct vec_filter filter = chunk_filter_sql(a, &chunks);
  return vec_search(st, model, vector, -1, k, &filter, a, ret_hits, ret_health, err);
}

void features_read(const struct rows *r, int column, struct arena *a, struct memory *m) {
  m->type = rows_dup(r, column, a);
  m->weight = rows_real(r, column + 1);
  m->created_at = rows_int(r, column + 2);
  m->last_accessed = rows_int(r, column + 3);
  m->access_count = rows_int(r, column + 4);
  m->upvotes = rows_int(r, column + 5);
  m->downvotes = rows_int(r, column + 6);
  m->valid_from = rows_int(r, column + 7);
  m->session = rows_dup(r, column + 8, a);
  m->project = rows_dup(r, column + 9, a);
}

enum status search_features(struct store *st, struct str team, struct arena *a, struct memory *m, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT " FEATURE_COLUMNS " FROM memory m WHERE m.team = ?1 AND m.id = ?2", "si", team,
           m->id);
  if (rows_next(&r))
    features_read(&r, 0, a, m);
  return rows_end(&r);
}

enum status chunk_snippet(struct store *st, struct str team, int64_t chunk_id, struct arena *a, struct str *ret_text,
                          struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT body FROM chunk WHERE id = ?1 AND team = ?2", "is", chunk_id, team);
  *ret_text = rows_next(&r) ? rows_dup(&r, 0, a) : STR("");
  return rows_end(&r);
}
