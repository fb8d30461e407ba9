/* search_rows.c: filtered nearest chunks, features and snippets. */
#include "store/search/search_rows.h"

#include <assert.h>

#include "core/memory/types.h"
#include "store/memories/documents.h"
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
    struct str types = type_sequence_sql_list(q->text.a);
    sql_addf(q, " AND (coalesce(m.session, '') = '' OR m.type NOT IN (%.*s))", STR_ARG(types));
  }
}

/* Active and other memories have separate indexes; `half` is the condition that selects one, in addition to the real
 * condition. The chunk's team is not checked: it equals its memory's, and the index then answers without the chunk row.
 */
static void list_half(struct sql *q, const struct chunk_filter *f, const char *half) {
  sql_add(q, "SELECT c.id FROM memory m CROSS JOIN chunk c WHERE ");
  chunk_where(q, f);
  sql_addf(q, " AND m.state %s 'active'", half);
  filter_by_tag(q, f->scope->team, f->filter);
  filter_by_label(q, f->scope->team, "people", f->filter->people.v);
  sql_add(q, " AND c.memory_id = m.id");
}

/* Memories and documents also have separate indexes, and documents are always active. */
static void list_live(struct sql *q, const struct chunk_filter *f) {
  unsigned memories = 1U << CORPUS_MEMORY, asked = f->scope->corpora;
  if (!(asked & memories) || asked == memories) {
    list_half(q, f, "=");
    return;
  }
  struct scope part = *f->scope;
  struct chunk_filter one = *f;
  one.scope = &part;
  part.corpora = memories;
  list_half(q, &one, "=");
  sql_add(q, " UNION ALL ");
  part.corpora = asked & ~memories;
  list_half(q, &one, "=");
}

struct vec_filter chunk_filter_sql(struct store *st, struct arena *a, const struct chunk_filter *f) {
  assert(f->scope && f->filter && f->states);
  unsigned memories = 1U << CORPUS_MEMORY, asked = f->scope->corpora ? f->scope->corpora : memories;
  struct vec_filter filter = {SQL(a), SQL(a), SQL(a), f->features, asked == memories, !(asked & memories)};
  if (db_engine(st->db) == DB_POSTGRES) {
    chunk_where(&filter.where, f);
    return filter;
  }
  bool past = f->scope->as_of != 0, live = past || strstr(f->states, STATES_LIVE);
  bool rest = past || strcmp(f->states, STATES_LIVE) != 0;
  sql_addf(&filter.one, "SELECT m.id%s FROM chunk c JOIN memory m ON m.team = c.team AND m.id = c.memory_id WHERE ",
           f->features ? ", " FEATURE_COLUMNS : "");
  chunk_where(&filter.one, f);
  sql_add(&filter.one, " AND c.id = ");
  sql_int(&filter.one, 0);
  if (live)
    list_live(&filter.all, f);
  if (live && rest)
    sql_add(&filter.all, " UNION ALL ");
  if (rest)
    list_half(&filter.all, f, "<>");
  sql_add(&filter.all, " LIMIT ");
  sql_int(&filter.all, 0);
  return filter;
}

enum status search_near(struct store *st, const struct near_query *q, struct arena *a, struct vec_hits *ret_hits,
                        struct vec_health *ret_health, struct error *err) {
  const char *states = q->filter->states ? q->filter->states : STATES_SEARCHED;
  struct chunk_filter chunks = {.scope = q->scope, .filter = q->filter, .states = states, .features = true};
  struct vec_filter filter = chunk_filter_sql(st, a, &chunks);
  struct vec_query near = {q->model, q->vector, -1, q->k, &filter};
  return vec_search(st, &near, a, ret_hits, ret_health, err);
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
  m->corpus = rows_dup(r, column + 10, a);
  m->trust = rows_dup(r, column + 11, a);
  m->suspect = rows_dup(r, column + 12, a);
}

static enum status features_of_some(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                    size_t n, struct error *err) {
  int64_t ids[SQL_IDS];
  assert(n <= SQL_IDS);
  struct sql q = SQL(a);
  struct rows r;
  for (size_t i = 0; i < n; i++)
    ids[i] = list[i]->id;
  sql_add(&q, "SELECT m.id, " FEATURE_COLUMNS " FROM memory m WHERE m.team = ");
  sql_text(&q, team);
  sql_add(&q, " AND m.id IN ");
  sql_ids(&q, ids, n);
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r))
    for (size_t i = 0; i < n; i++)
      if (ids[i] == rows_int(&r, 0))
        features_read(&r, 1, a, list[i]);
  return rows_end(&r);
}

enum status search_features(struct store *st, struct str team, struct arena *a, struct memory *const *list, size_t n,
                            struct error *err) {
  for (size_t at = 0; at < n; at += SQL_IDS)
    TRY(features_of_some(st, team, a, list + at, n - at < SQL_IDS ? n - at : SQL_IDS, err));
  return STATUS_OK;
}

static enum status snippets_of_some(struct store *st, struct str team, const int64_t *chunk_ids, size_t n,
                                    struct arena *a, struct str *ret_texts, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_add(&q, "SELECT id, body FROM chunk WHERE team = ");
  sql_text(&q, team);
  sql_add(&q, " AND id IN ");
  sql_ids(&q, chunk_ids, n);
  for (size_t i = 0; i < n; i++)
    ret_texts[i] = STR("");
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r)) {
    struct str text = rows_dup(&r, 1, a);
    for (size_t i = 0; i < n; i++)
      if (chunk_ids[i] == rows_int(&r, 0))
        ret_texts[i] = text;
  }
  return rows_end(&r);
}

enum status chunk_snippets(struct store *st, struct str team, const int64_t *chunk_ids, size_t n, struct arena *a,
                           struct str *ret_texts, struct error *err) {
  for (size_t at = 0; at < n; at += SQL_IDS)
    TRY(snippets_of_some(st, team, chunk_ids + at, n - at < SQL_IDS ? n - at : SQL_IDS, a, ret_texts + at, err));
  return STATUS_OK;
}

static enum status places_of_some(struct store *st, struct str team, const int64_t *chunk_ids, size_t n,
                                  struct arena *a, int64_t *ret_places, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_add(&q, "SELECT id, seq FROM chunk WHERE team = ");
  sql_text(&q, team);
  sql_add(&q, " AND id IN ");
  sql_ids(&q, chunk_ids, n);
  for (size_t i = 0; i < n; i++)
    ret_places[i] = -1;
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r))
    for (size_t i = 0; i < n; i++)
      if (chunk_ids[i] == rows_int(&r, 0))
        ret_places[i] = rows_int(&r, 1);
  return rows_end(&r);
}

enum status chunk_places(struct store *st, struct str team, const int64_t *chunk_ids, size_t n, struct arena *a,
                         int64_t *ret_places, struct error *err) {
  for (size_t at = 0; at < n; at += SQL_IDS)
    TRY(places_of_some(st, team, chunk_ids + at, n - at < SQL_IDS ? n - at : SQL_IDS, a, ret_places + at, err));
  return STATUS_OK;
}
