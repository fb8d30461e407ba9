/* bench_search.c: hybrid search: latency in one process and from a cold start, the vector stage with its recall, a
 * narrow filter, and index sizes, compared with sqlite-vec and FTS5 on the same content, in alternation. Hybrid search
 * is measured in wall time, because a part of it runs on another core. The stages are measured in CPU time, because
 * they do not wait for the disk.
 *
 * Usage: bench_search PROGRAM EXTENSION|- SIZE=STORE... (stores of bench_search_make; the peer's is STORE.peer) */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cairn.h"
#include "store/search/search_rows.h"
#include "support/measure.h"
#include "support/searchable.h"

/* A process loads its vectors into memory block by block, one with each search: at 100,000 memories all are loaded
 * after a hundred searches. That is the state of a server; `cairn search` pays the cold start, which has its own
 * row. */
enum { QUERIES = 200, WARM_UP = 120, VECTOR_QUERIES = 300, RECALL_QUERIES = 50, NARROW = 30, COLD = 15 };
enum { LISTED = 100, SHOWN = 10, LARGE = 500000, MEDIUM = 50000 };

/* The peer's time grows with the store, so it gets fewer queries in large ones. */
static size_t peer_queries(int64_t size) { return size >= LARGE ? 15 : size >= MEDIUM ? 60 : QUERIES; }

struct target {
  int64_t size;
  const char *hybrid, *vector, *narrow, *cold, *ratio;
};
static const struct target targets[] = {
    {100000, "target: p50 under 6 ms", "target: p50 under 1.5 ms", "", "target: under 80 ms", "target: 20 and more"},
    {1000000, "target: p50 under 30 ms", "target: p50 under 10 ms", "target: under 20 ms", "", ""},
    {0, "", "", "", "", ""},
};

static const struct target *target_of(int64_t size) {
  const struct target *t = targets;
  while (t->size && t->size != size)
    t++;
  return t;
}

static void name_of(char *out, size_t n, const char *what, int64_t size) {
  snprintf(out, n, "%s, at %lld", what, (long long)size);
}

/* ---- the peer: the k nearest by sqlite-vec, the best by FTS5, reciprocal rank fusion ---- */

struct peer {
  sqlite3 *db;
  sqlite3_stmt *near, *match, *body;
};

static struct peer peer_start(const char *path, const char *extension) {
  struct peer p = {.db = peer_open(path, extension)};
  if (sqlite3_prepare_v2(p.db, "SELECT rowid FROM vectors WHERE embedding MATCH ?1 AND k = 100", -1, &p.near, NULL) ||
      sqlite3_prepare_v2(p.db, "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT 100", -1, &p.match,
                         NULL) ||
      sqlite3_prepare_v2(p.db, "SELECT body FROM text WHERE id = ?1", -1, &p.body, NULL))
    fail("sqlite-vec: %s", sqlite3_errmsg(p.db));
  return p;
}

static void peer_end(struct peer *p) {
  sqlite3_finalize(p->near);
  sqlite3_finalize(p->match);
  sqlite3_finalize(p->body);
  sqlite3_close(p->db);
}

struct ranked {
  int64_t id;
  double score;
};

static size_t add_ranks(sqlite3_stmt *st, struct ranked *list, size_t n) {
  int rc;
  for (int rank = 1; (rc = sqlite3_step(st)) == SQLITE_ROW; rank++) {
    int64_t id = sqlite3_column_int64(st, 0);
    size_t i = 0;
    while (i < n && list[i].id != id)
      i++;
    if (i == n)
      list[n++] = (struct ranked){id, 0};
    list[i].score += 1.0 / (60 + rank);
  }
  if (rc != SQLITE_DONE)
    fail("sqlite-vec: %s", sqlite3_errmsg(sqlite3_db_handle(st)));
  sqlite3_reset(st);
  return n;
}

static int by_score(const void *left, const void *right) {
  const struct ranked *a = left, *b = right;
  return (a->score < b->score) - (a->score > b->score);
}

static struct str or_query(struct arena *a, struct str words) {
  struct buf b = BUF(a);
  struct str word;
  while (str_next(&words, ' ', &word))
    buf_addf(&b, "%s\"%.*s\"", b.n ? " OR " : "", STR_ARG(word));
  return buf_str(&b);
}

static void peer_search(struct peer *p, struct str expression, const float *vector, int dims) {
  struct ranked list[2 * LISTED];
  sqlite3_bind_blob(p->near, 1, vector, dims * (int)sizeof(float), SQLITE_STATIC);
  size_t n = add_ranks(p->near, list, 0);
  sqlite3_bind_text(p->match, 1, expression.p, (int)expression.n, SQLITE_STATIC);
  n = add_ranks(p->match, list, n);
  qsort(list, n, sizeof(list[0]), by_score);
  for (size_t i = 0; i < n && i < SHOWN; i++) {
    sqlite3_bind_int64(p->body, 1, list[i].id);
    if (sqlite3_step(p->body) != SQLITE_ROW)
      fail("sqlite-vec: a text is missing");
    sqlite3_reset(p->body);
  }
}

/* ---- hybrid search ---- */

static void search(struct cairn *db, struct str query, struct arena *a) {
  struct str args = arena_printf(a, "{\"query\":\"%.*s\",\"limit\":%d}", STR_ARG(query), SHOWN);
  char *json = NULL;
  if (cairn_call(db, "search", args.p, args.n, &json, NULL) != CAIRN_OK) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    fail("search: %s", e.message);
  }
  if (!strstr(json, "\"search_mode\":\"hybrid\""))
    fail("search was not hybrid: %.200s", json);
  cairn_free(json);
}

/* Returns the median in ms. The peer gets a precomputed vector; Cairn's time includes embedding the question. */
static double hybrid(struct searchable *s, const char *path, const char *extension) {
  static struct samples ours, theirs;
  static float v[TOPICS_DIMS_MAX];
  ours.n = theirs.n = 0;
  char peer_path[4200], name[100];
  snprintf(peer_path, sizeof(peer_path), "%s.peer", path);
  struct peer peer = {0};
  if (extension)
    peer = peer_start(peer_path, extension);
  struct cairn_options o = {.size = sizeof(o), .path = path, .all_projects = true, .source = "bench"};
  struct cairn *db = NULL;
  if (cairn_open(&o, &db) != CAIRN_OK)
    fail("cannot open %s", path);
  for (int i = 0; i < QUERIES + WARM_UP; i++) {
    struct str query = topics_query(&s->topics, i, &s->arena), expression = or_query(&s->arena, query);
    topics_vector(&s->topics, s->size + i, v);
    double t0 = now_us();
    search(db, query, &s->arena);
    double t1 = now_us();
    if (i >= WARM_UP)
      samples_add(&ours, (t1 - t0) / 1000);
    if (peer.db && (i < 2 || i >= WARM_UP) && theirs.n < peer_queries(s->size)) {
      t1 = now_us();
      peer_search(&peer, expression, v, s->model.dims);
      if (i >= WARM_UP)
        samples_add(&theirs, (now_us() - t1) / 1000);
    }
  }
  cairn_close(&db);
  const struct target *t = target_of(s->size);
  name_of(name, sizeof(name), "hybrid search, the query's embedding included", s->size);
  report_tail(name, &ours, "ms", t->hybrid);
  if (peer.db) {
    report_tail("  sqlite-vec and FTS5, in turn with it", &theirs, "ms", "(its query vector is ready)");
    report_text("  times faster, by medians", "%9.1f   %s", samples_at(&theirs, 0.5) / samples_at(&ours, 0.5),
                t->ratio);
    peer_end(&peer);
  }
  return samples_at(&ours, 0.5);
}

/* ---- the vector stage ---- */

static void near(struct searchable *s, const struct scope *scope, const int8_t *vector, struct vec_hits *ret) {
  struct filter any = {0};
  *ret = (struct vec_hits){0};
  struct near_query q = {scope, &any, &s->model, vector, LISTED};
  if (search_near(s->store, &q, &s->arena, ret, NULL, &s->err) != STATUS_OK)
    fail("%s", s->err.message);
}

struct exact {
  float vector[TOPICS_DIMS_MAX];
  double cosine[SHOWN];
  int64_t number[SHOWN];
};

static void keep(struct exact *e, double cosine, int64_t number) {
  int at = SHOWN;
  while (at > 0 && (e->number[at - 1] < 0 || e->cosine[at - 1] < cosine))
    at--;
  for (int i = SHOWN - 1; i > at; i--) {
    e->cosine[i] = e->cosine[i - 1];
    e->number[i] = e->number[i - 1];
  }
  if (at < SHOWN) {
    e->cosine[at] = cosine;
    e->number[at] = number;
  }
}

/* Rounds a vector to int8, as it is stored. */
static void round_vector(float *v, int dims) {
  static int8_t rounded[TOPICS_DIMS_MAX];
  topics_quantise(v, dims, rounded);
  for (int i = 0; i < dims; i++)
    v[i] = rounded[i];
}

/* The exact ten nearest of all vectors, rounded as they are stored or unrounded, without an index. Chunk n + 1
 * belongs to memory number n. */
static void find_exact(struct searchable *s, struct exact *queries, int n, bool rounded) {
  static float v[TOPICS_DIMS_MAX];
  int dims = s->model.dims;
  for (int q = 0; q < n; q++) {
    topics_vector(&s->topics, s->size + q, queries[q].vector);
    memset(queries[q].number, 0xff, sizeof(queries[q].number));
    if (rounded)
      round_vector(queries[q].vector, dims);
  }
  for (int64_t number = 0; number < s->size; number++) {
    if (number >= TOPICS)
      topics_vector(&s->topics, number, v);
    for (int i = 0; number < TOPICS && i < dims; i++)
      v[i] = s->topics.vectors[number * dims + i];
    if (rounded)
      round_vector(v, dims);
    float squares = 0;
    for (int i = 0; i < dims; i++)
      squares += v[i] * v[i];
    for (int q = 0; q < n; q++) {
      float dot = 0;
      for (int i = 0; i < dims; i++)
        dot += queries[q].vector[i] * v[i];
      double cosine = (double)dot / __builtin_sqrt((double)squares);
      if (queries[q].number[SHOWN - 1] < 0 || cosine > queries[q].cosine[SHOWN - 1])
        keep(&queries[q], cosine, number);
    }
  }
}

static void vector_stage(struct searchable *s) {
  static struct samples times, loading;
  static struct exact stored[RECALL_QUERIES], floats[RECALL_QUERIES];
  static int8_t vector[TOPICS_DIMS_MAX];
  static float v[TOPICS_DIMS_MAX];
  times.n = loading.n = 0;
  struct scope scope = {.team = STR("default"), .all_projects = true, .now = 1770000000001};
  int found = 0, near_floats = 0, recall = s->size >= LARGE ? RECALL_QUERIES / 5 : RECALL_QUERIES;
  char name[100];
  double began = work_us();
  if (vec_warm(s->store, &s->model, &s->err) != STATUS_OK)
    fail("%s", s->err.message);
  samples_add(&loading, (work_us() - began) / 1000);
  find_exact(s, stored, recall, true);
  find_exact(s, floats, recall, false);
  for (int q = 0; q < VECTOR_QUERIES; q++) {
    struct vec_hits hits;
    topics_vector(&s->topics, s->size + q, v);
    topics_quantise(v, s->model.dims, vector);
    began = work_us();
    near(s, &scope, vector, &hits);
    samples_add(&times, (work_us() - began) / 1000);
    for (size_t i = 0; q < recall && i < hits.n && i < SHOWN; i++)
      for (int k = 0; k < SHOWN; k++) {
        found += stored[q].number[k] + 1 == hits.v[i].chunk_id;
        near_floats += floats[q].number[k] + 1 == hits.v[i].chunk_id;
      }
  }
  name_of(name, sizeof(name), "the vector stage alone, 100 nearest", s->size);
  report_tail(name, &times, "ms", target_of(s->size)->vector);
  report_text("  its recall of the 10 nearest, against all of them", "%9.4f   target: 0.99 and more",
              (double)found / (recall * SHOWN));
  report_text("  the same against vectors that were never rounded", "%9.4f", (double)near_floats / (recall * SHOWN));
  report_text("  loading its index", "%9.1f   ms", samples_at(&loading, 0.5));
}

/* A project of 50 memories in a large store; every project sees the topics. */
static void narrow(struct searchable *s) {
  static struct samples times;
  static float v[TOPICS_DIMS_MAX];
  static int8_t vector[TOPICS_DIMS_MAX];
  times.n = 0;
  struct scope scope = {.team = STR("default"), .project = STR("small"), .now = 1770000000001};
  char name[100];
  for (int q = 0; q < NARROW; q++) {
    struct vec_hits hits;
    topics_vector(&s->topics, s->size + q, v);
    topics_quantise(v, s->model.dims, vector);
    double began = work_us();
    near(s, &scope, vector, &hits);
    samples_add(&times, (work_us() - began) / 1000);
  }
  name_of(name, sizeof(name), "the same for a project of 50 and 1,000 for all", s->size);
  report_tail(name, &times, "ms", target_of(s->size)->narrow);
}

/* ---- the program ---- */

static void cold(struct searchable *s, const char *program, const char *path) {
  static struct samples times;
  times.n = 0;
  char name[100];
  for (int i = 0; i < COLD; i++) {
    const char *query = arena_cstr(&s->arena, topics_query(&s->topics, 1000 + i, &s->arena));
    const char *const command[] = {program, "--db", path, "search", query, "--all-projects", "--json", NULL};
    samples_add(&times, run_command(command, NULL));
  }
  name_of(name, sizeof(name), "cold start: cairn search", s->size);
  report_tail(name, &times, "ms", target_of(s->size)->cold);
}

static double bytes_of(struct searchable *s, const char *like) {
  int64_t bytes = 0;
  if (db_int(store_db(s->store), &bytes, NULL, &s->err,
             "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = 1 AND name LIKE ?1", "s",
             str_from(like)) != STATUS_OK)
    return 0;
  return (double)bytes / (double)s->size;
}

static void sizes(struct searchable *s) {
  char name[100];
  name_of(name, sizeof(name), "bytes a memory", s->size);
  report_text(name, "%9.0f   vectors %.0f, full text %.0f", bytes_of(s, "%"), bytes_of(s, "vec_%"),
              bytes_of(s, "chunk_fts%"));
}

int main(int argc, char **argv) {
  static struct searchable s;
  double before = 0;
  int64_t size_before = 0;
  if (argc < 4)
    fail("usage: bench_search PROGRAM EXTENSION|- SIZE=STORE...");
  const char *extension = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
  printf("\n  %-52s %9s   %8s .. %-8s\n", "", "median", "p95", "p99");
  for (int i = 3; i < argc; i++) {
    char *equals = strchr(argv[i], '=');
    if (!equals)
      fail("not SIZE=STORE: %s", argv[i]);
    searchable_open(&s, equals + 1, strtoll(argv[i], NULL, 10));
    if (i == 3)
      printf("  vectors around %d topics that %.*s has embedded\n", TOPICS, STR_ARG(s.model.model));
    double median = hybrid(&s, equals + 1, extension);
    vector_stage(&s);
    narrow(&s);
    cold(&s, argv[1], equals + 1);
    sizes(&s);
    if (before > 0)
      report_text("  growth of the median", "%9.1f   for %lld times the memories; target: no more than that",
                  median / before, (long long)(s.size / size_before));
    before = median;
    size_before = s.size;
    searchable_close(&s);
  }
  return 0;
}
