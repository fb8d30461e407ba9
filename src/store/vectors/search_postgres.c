/* search_postgres.c: nearest-vector search in PostgreSQL.
 *
 * For large teams the HNSW index returns rows by distance. Each is joined with chunk and memory under the caller's
 * filter, and the scan continues until enough have passed. If that would take too long, the rows that pass the filter
 * are compared exactly instead. Small teams, which share an index partition with others, are always compared exactly.
 * Dot products of int8 vectors are integers that floats represent exactly, so cosines equal those of vec_cosine() and
 * the order is the same as in SQLite. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/engine.h"
#include "store/search/search_rows.h"
#include "store/vectors/postgres.h"

/* Measured; see docs/performance.md. */
enum {
  SMALL = 1000,          /* indexes up to this size are compared exactly; larger ones only if scanning costs more */
  SCAN_COST = 5,         /* cost of one HNSW row, in exact comparisons */
  EF_LEAST = 100,        /* minimum of hnsw.ef_search, the candidates that the index tracks, ... */
  EF_TIMES = 2,          /* ... or this many per wanted row */
  EF_MOST = 1000,        /* maximum that pgvector accepts */
  SCANNED_LEAST = 1000,  /* index rows scanned before falling back, ... */
  SCANNED_TIMES = 8,     /* ... or this many per wanted row */
  SCANNED_MOST = 200000, /* scan limit if too many chunks pass the filter to compare them all */
  COMPARED_MOST = 20000, /* chunks that pass the filter and are compared exactly */
};

struct search {
  struct store *st;
  const struct vec_query *q;
  struct str text; /* query vector in halfvec's text form */
  double own;      /* squared norm of the query vector */
  struct arena *a;
  struct vec_hits hits;
  bool beyond; /* a row below min_cosine was seen, so all similar ones have been found */
  struct error *err;
};

/* Asks for more rows than wanted: the index returns them only approximately in order. */
static size_t limit_of(const struct search *s) { return s->q->k + s->q->k / 4 + 8; }

/* ---- statements ---- */

/* A statement binds the filter's values first, then its own (?TEAM and so on). */
struct statement {
  struct sql q;
  size_t team, model, query;
};

static size_t keep_value(struct sql *q, struct str value) {
  list_push(q->text.a, q, (struct db_value){.form = 's', .s = value});
  return q->n;
}

static struct statement statement_of(const struct search *s) {
  struct statement t = {.q = SQL(s->a)};
  for (size_t i = 0; i < s->q->filter->where.n; i++)
    list_push(s->a, &t.q, s->q->filter->where.v[i]);
  t.team = keep_value(&t.q, s->q->model->team);
  return t;
}

/* Binds the index (team and model) and the query vector. */
static void add_index(struct statement *t, const struct search *s) {
  t->model = keep_value(&t->q, s->q->model->model);
  t->query = keep_value(&t->q, s->text);
}

static void add_filter(struct statement *t, const struct search *s) {
  sql_addf(&t->q, "c.team = ?%zu AND ", t->team);
  if (s->q->filter->where.text.n)
    buf_add(&t->q.text, buf_str(&s->q->filter->where.text));
  else
    sql_addf(&t->q, "m.team = ?%zu", t->team);
}

/* Result columns of every statement. Only by_filter() fills PASSED; features follow if requested. */
enum columns { CHUNK, DOT, NORM, PASSED, MEMORY, FEATURE };
static const char *memory_columns_of(const struct search *s) {
  return s->q->filter->features ? "m.id, " FEATURE_COLUMNS : "m.id";
}

/* Joins a chunk's memory if it passes the filter, row by row, in the order of the rows. */
static void add_lookup(struct statement *t, const struct search *s, const char *row) {
  sql_addf(&t->q,
           " CROSS JOIN LATERAL (SELECT %s FROM chunk c JOIN memory m ON m.team = c.team AND m.id = c.memory_id WHERE ",
           memory_columns_of(s));
  add_filter(t, s);
  sql_addf(&t->q, " AND c.id = %s.chunk_id OFFSET 0) m", row);
}

static void add_products(struct statement *t) {
  sql_addf(&t->q, "-(s.v <#> ?%zu::halfvec) AS dot, -(s.v <#> s.v) AS norm", t->query);
}

static void add_which(struct statement *t, const struct search *s) {
  sql_addf(&t->q, "s.team = ?%zu AND s.model = ?%zu AND s.dims = %d", t->team, t->model, s->q->model->dims);
}

/* A zero vector has no direction; its cosine is 0. No index supports this order. */
static void add_distance(struct statement *t) {
  sql_addf(&t->q, "coalesce(nullif(s.v <=> ?%zu::halfvec, 'NaN'), 1)", t->query);
}

static struct sql by_index(const struct search *s) {
  struct statement t = statement_of(s);
  int dims = s->q->model->dims;
  add_index(&t, s);
  sql_add(&t.q, "SELECT s.chunk_id, ");
  add_products(&t);
  sql_add(&t.q, ", 0, m.* FROM vec s");
  add_lookup(&t, s, "s");
  sql_add(&t.q, " WHERE ");
  add_which(&t, s);
  sql_addf(&t.q, " ORDER BY s.v::halfvec(%d) <=> ?%zu::halfvec(%d) LIMIT %zu", dims, t.query, dims, limit_of(s));
  return t.q;
}

/* All vectors in exact order; the filter is applied from the nearest on until enough have passed. */
static struct sql by_order(const struct search *s) {
  struct statement t = statement_of(s);
  add_index(&t, s);
  sql_add(&t.q, "SELECT x.chunk_id, x.dot, x.norm, 0, m.* FROM (SELECT s.chunk_id, ");
  add_products(&t);
  sql_add(&t.q, ", ");
  add_distance(&t);
  sql_add(&t.q, " AS distance FROM vec s WHERE ");
  add_which(&t, s);
  sql_add(&t.q, " ORDER BY distance, s.chunk_id OFFSET 0) x");
  add_lookup(&t, s, "x");
  sql_addf(&t.q, " ORDER BY x.distance, x.chunk_id LIMIT %zu", limit_of(s));
  return t.q;
}

/* Vectors that pass the filter, in exact order, unless there are too many; also returns their count. */
static struct sql by_filter(const struct search *s) {
  struct statement t = statement_of(s);
  add_index(&t, s);
  sql_add(&t.q, "WITH f AS MATERIALIZED (SELECT c.id AS chunk_id, m.id AS memory_id FROM memory m JOIN chunk c"
                " ON c.team = m.team AND c.memory_id = m.id WHERE ");
  add_filter(&t, s);
  sql_addf(&t.q, " LIMIT %d) SELECT x.chunk_id, x.dot, x.norm, (SELECT count(*) FROM f), %s FROM (SELECT s.chunk_id, ",
           COMPARED_MOST + 1, memory_columns_of(s));
  add_products(&t);
  sql_add(&t.q, ", f.memory_id, ");
  add_distance(&t);
  sql_add(&t.q, " AS distance FROM f JOIN vec s ON s.chunk_id = f.chunk_id WHERE ");
  add_which(&t, s);
  sql_addf(&t.q,
           " ORDER BY distance, s.chunk_id LIMIT %zu) x JOIN memory m ON m.id = x.memory_id AND m.team = ?%zu"
           " ORDER BY x.distance, x.chunk_id",
           limit_of(s), t.team);
  return t.q;
}

/* ---- execution ---- */

/* Same as vec_cosine(). */
static double cosine_of(double dot, double norm, double own) {
  double norms = norm * own;
  return norms > 0 ? dot / sqrt(norms) : 0;
}

static struct vec_hit hit_of(const struct search *s, const struct rows *r, double cosine) {
  struct vec_hit hit = {.chunk_id = rows_int(r, CHUNK), .memory_id = rows_int(r, MEMORY), .cosine = cosine};
  if (s->q->filter->features) {
    struct memory *m = arena_new(s->a, struct memory);
    m->id = hit.memory_id;
    features_read(r, FEATURE, s->a, m);
    hit.features = m;
  }
  return hit;
}

/* ret_passed (may be NULL) receives the count of by_filter(). */
static enum status gather(struct search *s, const struct sql *q, int64_t *ret_passed) {
  struct rows r;
  s->hits.n = 0;
  db_query_sql(s->st->db, &r, s->err, q);
  while (rows_next(&r)) {
    double cosine = cosine_of(rows_real(&r, DOT), rows_real(&r, NORM), s->own);
    if (ret_passed)
      *ret_passed = rows_int(&r, PASSED);
    if (cosine >= s->q->min_cosine)
      list_push(s->a, &s->hits, hit_of(s, &r, cosine));
    else
      s->beyond = true;
  }
  return rows_end(&r);
}

/* Number of vectors in the index, and in its partition over all teams, as estimated by the server. */
struct sizes {
  double own, all;
};

/* Reads the sizes and sets how many index rows a scan may visit: at least `scanned`, and enough for a filter that
 * passes one row in SCANNED_TIMES. The settings end with the transaction, because a pooler may hand the connection to
 * another client. */
static enum status configure_scan(const struct search *s, int64_t scanned, struct sizes *ret) {
  char ef[24];
  size_t wanted = limit_of(s) * EF_TIMES;
  struct rows r;
  wanted = wanted < EF_LEAST ? EF_LEAST : wanted > EF_MOST ? EF_MOST : wanted;
  snprintf(ef, sizeof(ef), "%zu", wanted);
  db_query(s->st->db, &r, s->err,
           "SELECT z.own, z.total, set_config('hnsw.iterative_scan', 'relaxed_order', true),"
           " set_config('hnsw.ef_search', ?3, true), set_config('hnsw.max_scan_tuples',"
           " CAST(CAST(least(greatest(?4, ?5 * z.total / greatest(z.own, 1)), ?6) AS bigint) AS text), true)"
           " FROM (SELECT c.n AS own, greatest(c.n, (SELECT p.reltuples FROM pg_class p"
           " WHERE p.oid = (SELECT v.tableoid FROM vec v WHERE v.team = ?1 LIMIT 1))) AS total"
           " FROM vec_count c WHERE c.team = ?1 AND c.model = ?2) z",
           "sssiii", s->q->model->team, s->q->model->model, str_from(ef), scanned,
           (int64_t)(limit_of(s) * SCANNED_TIMES), (int64_t)SCANNED_MOST);
  if (rows_next(&r))
    *ret = (struct sizes){rows_real(&r, 0), rows_real(&r, 1)};
  return rows_end(&r);
}

/* Only a share of the scanned rows belongs to the team. Skipping the others may cost more than comparing all of the
 * team's rows. */
static bool is_small(const struct search *s, const struct sizes *sizes) {
  double met = (double)limit_of(s) * sizes->all / sizes->own;
  return sizes->own <= (double)SMALL || sizes->own <= met * (double)SCAN_COST;
}

/* The index returned too few rows: the filter is narrow, or its matches are far away. */
static enum status search_wider(struct search *s) {
  struct sizes sizes = {0};
  int64_t passed = 0;
  struct sql q = by_filter(s);
  TRY(gather(s, &q, &passed));
  if (passed <= COMPARED_MOST)
    return STATUS_OK;
  q = by_index(s);
  TRY(configure_scan(s, SCANNED_MOST, &sizes));
  return gather(s, &q, NULL);
}

static enum status search_snapshot(struct search *s) {
  struct sizes sizes = {0};
  TRY(configure_scan(s, SCANNED_LEAST, &sizes));
  if (sizes.own < 1)
    return STATUS_OK;
  bool exact = is_small(s, &sizes) || s->own == 0 || s->q->model->dims > HNSW_MAX_DIMS;
  /* With a minimum cosine there may be no match at all; by_order() would look up every vector before that is known.
   */
  bool joined = exact && s->q->min_cosine > -1 && sizes.own <= (double)COMPARED_MOST;
  struct sql q = joined ? by_filter(s) : exact ? by_order(s) : by_index(s);
  TRY(gather(s, &q, NULL));
  if (!exact && s->hits.n < s->q->k && !s->beyond)
    TRY(search_wider(s));
  return STATUS_OK;
}

static enum status search(struct search *s) {
  bool began;
  TRY(db_snapshot(s->st->db, &began, s->err));
  return db_snapshot_end(s->st->db, began, search_snapshot(s), s->err);
}

static int by_cosine(const void *left, const void *right) {
  const struct vec_hit *a = left, *b = right;
  if (a->cosine != b->cosine)
    return a->cosine < b->cosine ? 1 : -1;
  return (a->chunk_id > b->chunk_id) - (a->chunk_id < b->chunk_id);
}

enum status postgres_vec_search(struct store *st, const struct vec_query *q, struct arena *a, struct vec_hits *ret_hits,
                                struct vec_health *ret_health, struct error *err) {
  struct search s = {.st = st, .q = q, .a = a, .err = err};
  s.own = vec_dot(q->vector, q->vector, q->model->dims);
  s.text = halfvec_write(q->vector, q->model->dims, arena_alloc(a, HALFVEC_TEXT));
  if (q->k > 0)
    TRY(search(&s));
  if (s.hits.n > 1)
    qsort(s.hits.v, s.hits.n, sizeof(*s.hits.v), by_cosine);
  s.hits.n = s.hits.n > q->k ? q->k : s.hits.n;
  *ret_hits = s.hits;
  if (ret_health)
    *ret_health = (struct vec_health){0};
  return STATUS_OK;
}
