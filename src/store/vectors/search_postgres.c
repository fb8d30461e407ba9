/* search_postgres.c: the nearest vectors in PostgreSQL.
 *
 * A large team's are found by the HNSW index: rows come in the order of their distance, each is looked up in chunk and
 * memory under the caller's filter, and the scan goes on until enough have passed. Where that would not end soon, the
 * rows that pass the filter are compared one by one instead; and so are all of a small team, which shares its index
 * with others. Dot products of int8 vectors are whole numbers that floats hold exactly, so cosines are those of
 * vec_cosine(), and the order is that of SQLite. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/engine.h"
#include "store/search/search_rows.h"
#include "store/vectors/postgres.h"

/* Chosen by measurement (docs/performance.md). */
enum {
  SMALL = 1000,          /* vectors of an index that are all compared; a larger one is, where scanning costs more: */
  SCAN_COST = 5,         /* a row of the HNSW index costs as much as so many comparisons */
  EF_LEAST = 100,        /* hnsw.ef_search: candidates that the index keeps at hand, ... */
  EF_TIMES = 2,          /* ... or so many for each that is wanted */
  EF_MOST = 1000,        /* what pgvector takes */
  SCANNED_LEAST = 1000,  /* rows of the index that are tried before another way is taken, ... */
  SCANNED_TIMES = 8,     /* ... or so many for each that is wanted */
  SCANNED_MOST = 200000, /* where too many pass the filter to compare them all */
  COMPARED_MOST = 20000, /* chunks that pass the filter */
};

struct search {
  struct store *st;
  const struct vec_model *model;
  const int8_t *query;
  struct str text; /* the query, as the server takes it */
  double own;      /* its norm, squared */
  double min_cosine;
  size_t k;
  const struct vec_filter *filter;
  struct arena *a;
  struct vec_hits hits;
  bool beyond; /* one was found that is not similar enough: all that are have been found */
  struct error *err;
};

/* More than are wanted, because rows that the index gives are almost in order. */
static size_t limit_of(const struct search *s) { return s->k + s->k / 4 + 8; }

/* ---- statements ---- */

/* A statement begins with the values of the filter; those of its own are ?TEAM and so on. */
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
  for (size_t i = 0; i < s->filter->where.n; i++)
    list_push(s->a, &t.q, s->filter->where.v[i]);
  t.team = keep_value(&t.q, s->model->team);
  return t;
}

/* The index, and the query in it. */
static void add_index(struct statement *t, const struct search *s) {
  t->model = keep_value(&t->q, s->model->model);
  t->query = keep_value(&t->q, s->text);
}

static void add_filter(struct statement *t, const struct search *s) {
  sql_addf(&t->q, "c.team = ?%zu AND ", t->team);
  if (s->filter->where.text.n)
    buf_add(&t->q.text, buf_str(&s->filter->where.text));
  else
    sql_addf(&t->q, "m.team = ?%zu", t->team);
}

/* What every statement gives; PASSED counts in by_filter() alone, features are there when they were asked for. */
enum columns { CHUNK, DOT, NORM, PASSED, MEMORY, FEATURE };
static const char *memory_columns_of(const struct search *s) {
  return s->filter->features ? "m.id, " FEATURE_COLUMNS : "m.id";
}

/* The memory of a chunk, when it passes the filter: looked up row by row, in the order in which the rows come. */
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
  sql_addf(&t->q, "s.team = ?%zu AND s.model = ?%zu AND s.dims = %d", t->team, t->model, s->model->dims);
}

/* A vector without length has no direction: its cosine is zero. No index can serve this order. */
static void add_distance(struct statement *t) {
  sql_addf(&t->q, "coalesce(nullif(s.v <=> ?%zu::halfvec, 'NaN'), 1)", t->query);
}

static struct sql by_index(const struct search *s) {
  struct statement t = statement_of(s);
  int dims = s->model->dims;
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

/* All vectors in the exact order; the filter is asked from the nearest on, until enough have passed. */
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

/* Those that pass the filter, in the exact order, as long as there are not too many; and how many there are. */
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

/* ---- running them ---- */

/* As vec_cosine() has it. */
static double cosine_of(double dot, double norm, double own) {
  double norms = norm * own;
  return norms > 0 ? dot / sqrt(norms) : 0;
}

static struct vec_hit hit_of(const struct search *s, const struct rows *r, double cosine) {
  struct vec_hit hit = {.chunk_id = rows_int(r, CHUNK), .memory_id = rows_int(r, MEMORY), .cosine = cosine};
  if (s->filter->features) {
    struct memory *m = arena_new(s->a, struct memory);
    m->id = hit.memory_id;
    features_read(r, FEATURE, s->a, m);
    hit.features = m;
  }
  return hit;
}

/* ret_passed (may be NULL) is what by_filter() counts. */
static enum status gather(struct search *s, const struct sql *q, int64_t *ret_passed) {
  struct rows r;
  s->hits.n = 0;
  db_query_sql(s->st->db, &r, s->err, q);
  while (rows_next(&r)) {
    double cosine = cosine_of(rows_real(&r, DOT), rows_real(&r, NORM), s->own);
    if (ret_passed)
      *ret_passed = rows_int(&r, PASSED);
    if (cosine >= s->min_cosine)
      list_push(s->a, &s->hits, hit_of(s, &r, cosine));
    else
      s->beyond = true;
  }
  return rows_end(&r);
}

/* How many vectors the index has, and how many its partition has, of all teams, as far as the server knows. */
struct sizes {
  double own, all;
};

/* Asks for the sizes, and says how many rows of the index a scan may try: at least so many, and enough for a filter
 * that lets one of SCANNED_TIMES pass. The settings end with the transaction: a pooler may give the connection away. */
static enum status settle(const struct search *s, int64_t scanned, struct sizes *ret) {
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
           "sssiii", s->model->team, s->model->model, str_from(ef), scanned, (int64_t)(limit_of(s) * SCANNED_TIMES),
           (int64_t)SCANNED_MOST);
  if (rows_next(&r))
    *ret = (struct sizes){rows_real(&r, 0), rows_real(&r, 1)};
  return rows_end(&r);
}

/* Of the rows that a scan meets, only a share belongs to the team: what the others cost may be more than to compare all
 * that do. */
static bool is_small(const struct search *s, const struct sizes *sizes) {
  double met = (double)limit_of(s) * sizes->all / sizes->own;
  return sizes->own <= (double)SMALL || sizes->own <= met * (double)SCAN_COST;
}

/* The index gave too few: the filter is narrow, or it asks for what lies far away. */
static enum status look_further(struct search *s) {
  struct sizes sizes = {0};
  int64_t passed = 0;
  struct sql q = by_filter(s);
  TRY(gather(s, &q, &passed));
  if (passed <= COMPARED_MOST)
    return STATUS_OK;
  q = by_index(s);
  TRY(settle(s, SCANNED_MOST, &sizes));
  return gather(s, &q, NULL);
}

static enum status look_inside(struct search *s) {
  struct sizes sizes = {0};
  TRY(settle(s, SCANNED_LEAST, &sizes));
  if (sizes.own < 1)
    return STATUS_OK;
  bool exact = is_small(s, &sizes) || s->own == 0 || s->model->dims > HNSW_MAX_DIMS;
  /* Who asks for similar ones alone may find none, and would have looked up every vector before that is known. */
  bool joined = exact && s->min_cosine > -1 && sizes.own <= (double)COMPARED_MOST;
  struct sql q = joined ? by_filter(s) : exact ? by_order(s) : by_index(s);
  TRY(gather(s, &q, NULL));
  if (!exact && s->hits.n < s->k && !s->beyond)
    TRY(look_further(s));
  return STATUS_OK;
}

static enum status look(struct search *s) {
  bool alone;
  TRY(db_snapshot(s->st->db, &alone, s->err));
  return db_snapshot_end(s->st->db, alone, look_inside(s), s->err);
}

static int by_cosine(const void *left, const void *right) {
  const struct vec_hit *a = left, *b = right;
  if (a->cosine != b->cosine)
    return a->cosine < b->cosine ? 1 : -1;
  return (a->chunk_id > b->chunk_id) - (a->chunk_id < b->chunk_id);
}

enum status postgres_vec_search(struct store *st, const struct vec_model *m, const int8_t *query, double min_cosine,
                                size_t k, struct vec_filter *filter, struct arena *a, struct vec_hits *ret_hits,
                                struct vec_health *ret_health, struct error *err) {
  struct search s = {.st = st, .model = m, .query = query, .min_cosine = min_cosine, .k = k, .filter = filter};
  s.a = a;
  s.err = err;
  s.own = vec_dot(query, query, m->dims);
  s.text = halfvec_write(query, m->dims, arena_alloc(a, HALFVEC_TEXT));
  if (k > 0)
    TRY(look(&s));
  if (s.hits.n > 1)
    qsort(s.hits.v, s.hits.n, sizeof(*s.hits.v), by_cosine);
  s.hits.n = s.hits.n > k ? k : s.hits.n;
  *ret_hits = s.hits;
  if (ret_health)
    *ret_health = (struct vec_health){0};
  return STATUS_OK;
}
