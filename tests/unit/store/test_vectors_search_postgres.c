/* test_vectors_search_postgres.c: nearest-vector search in an index large enough for candidate selection: recall,
 * narrow filters, isolation of teams. */
#include "embed/vec.h"
#include "fixture.h"
#include "store/search/search_rows.h"
#include "store/vectors/indexes.h"

/* Enough for a server to use its index. */
enum { DIMS = 256, MANY = 2000, CLUSTERS = 50, NEAREST = 10, RARE = 40 };

static const struct vec_model model = {STR_INIT("default"), STR_INIT("test-model"), DIMS};

static uint64_t seed = 88172645463325252u;

static int random_below(int n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (int)((seed >> 16) % (uint64_t)n);
}

static int8_t centres[CLUSTERS][DIMS];

static void make_centres(void) {
  for (int c = 0; c < CLUSTERS; c++)
    for (int i = 0; i < DIMS; i++)
      centres[c][i] = (int8_t)(random_below(121) - 60);
}

static void clustered_vector(int8_t *v) {
  const int8_t *centre = centres[random_below(CLUSTERS)];
  for (int i = 0; i < DIMS; i++)
    v[i] = (int8_t)(centre[i] + random_below(61) - 30);
}

struct made {
  int8_t v[DIMS];
  int64_t chunk;
};

static int64_t add_chunk(struct fixture *f, int64_t memory, int seq) {
  int64_t id = 0;
  CHECK_OK(db_int(store_db(f->store), &id, NULL, &f->err,
                  "INSERT INTO chunk (team, memory_id, seq, hash, headline, body, extra)"
                  " VALUES ('default', ?1, ?2, '', 'A fact', 'Nothing', '') RETURNING id",
                  "ii", memory, (int64_t)seq),
           &f->err);
  return id;
}

/* A common memory with many chunks, and a rare one with RARE, whose chunks lie among the others. */
static struct made *fill(struct fixture *f, int n) {
  struct made *all = arena_array(&f->arena, struct made, (size_t)n);
  struct txn txn = fixture_begin(f);
  int64_t usual = fixture_fact(f, &txn, STR("usual"), STR("a long text"), NULL).id;
  int64_t rare = fixture_fact(f, &txn, STR("rare"), STR("another one"), NULL).id;
  for (int i = 0; i < n; i++) {
    clustered_vector(all[i].v);
    all[i].chunk = add_chunk(f, i % (n / RARE) == 1 ? rare : usual, i + 1);
    CHECK_OK(vec_add(&txn, &model, all[i].chunk, all[i].v, &f->err), &f->err);
  }
  fixture_commit(f, &txn);
  return all;
}

static struct vec_hits search(struct fixture *f, const struct vec_model *m, const int8_t *query, size_t k) {
  struct vec_hits hits = {0};
  struct filter any = {0};
  struct near_query near = {&f->scope, &any, m, query, k};
  CHECK_OK(search_near(f->store, &near, &f->arena, &hits, NULL, &f->err), &f->err);
  return hits;
}

/* Number of vectors nearer to the query than this cosine. */
static int nearer(const struct made *all, const int8_t *query, double cosine) {
  int n = 0;
  for (int i = 0; i < MANY; i++)
    n += vec_cosine(query, all[i].v, DIMS) > cosine;
  return n;
}

TEST(nearly_all_of_the_nearest_are_found_with_their_exact_cosines) {
  enum { QUERIES = 50 };
  struct fixture f = fixture_new();
  make_centres();
  struct made *all = fill(&f, MANY);
  int found = 0;
  f.scope.all_projects = true;
  for (int q = 0; q < QUERIES; q++) {
    int8_t query[DIMS];
    clustered_vector(query);
    struct vec_hits hits = search(&f, &model, query, NEAREST);
    CHECK_INT(hits.n, NEAREST);
    for (size_t i = 0; i < hits.n; i++) {
      int at = 0;
      while (all[at].chunk != hits.v[i].chunk_id)
        at++;
      CHECK(hits.v[i].cosine == vec_cosine(query, all[at].v, DIMS));
      CHECK(i == 0 || hits.v[i - 1].cosine >= hits.v[i].cosine);
      found += nearer(all, query, hits.v[i].cosine) < NEAREST;
    }
  }
  CHECK(found >= QUERIES * NEAREST * 98 / 100);
  fixture_close(&f);
}

TEST(narrow_filters_and_a_minimum_cosine_limit_a_search) {
  struct fixture f = fixture_new();
  make_centres();
  struct made *all = fill(&f, MANY);
  int8_t query[DIMS];
  clustered_vector(query);
  f.scope.project = STR("rare");
  CHECK_INT(search(&f, &model, query, 100).n, RARE);
  /* A minimum cosine ends the search: rows beyond it are not scanned. */
  f.scope.all_projects = true;
  struct vec_hits hits = {0};
  struct filter any = {0};
  struct chunk_filter chunks = {.scope = &f.scope, .filter = &any, .states = STATES_LIVE};
  struct vec_filter filter = chunk_filter_sql(f.store, &f.arena, &chunks);
  struct vec_query near = {&model, all[7].v, 0.9999, 20, &filter};
  CHECK_OK(vec_search(f.store, &near, &f.arena, &hits, NULL, &f.err), &f.err);
  CHECK_INT(hits.n, 1);
  CHECK_INT(hits.v[0].chunk_id, all[7].chunk);
  int8_t nothing[DIMS] = {0}; /* equally far from all of them */
  hits = search(&f, &model, nothing, 3);
  CHECK_INT(hits.n, 3);
  CHECK(hits.v[0].cosine == 0);
  fixture_close(&f);
}

TEST(teams_do_not_see_each_others_vectors) {
  struct fixture f = fixture_new();
  struct vec_model theirs = {STR("another-team"), model.model, DIMS};
  int64_t done, total;
  make_centres();
  struct made *all = fill(&f, RARE * 2);
  f.scope.all_projects = true;
  CHECK_INT(search(&f, &model, all[0].v, 5).n, 5);
  CHECK_OK(db_team(store_db(f.store), theirs.team, &f.err), &f.err);
  f.scope.team = theirs.team;
  CHECK_INT(search(&f, &theirs, all[0].v, 5).n, 0);
  CHECK_OK(vec_count(f.store, &theirs, &done, &total, &f.err), &f.err);
  CHECK_INT(done, 0);
  CHECK_INT(total, 0);
  fixture_close(&f);
}

/* Vectors of any size are found; a server creates an index for each size. */
TEST(vectors_of_other_sizes_are_found) {
  static const int sizes[] = {8, 384, 1024, 4096};
  struct fixture f = fixture_new();
  int8_t *v = arena_array(&f.arena, int8_t, 4096 * 2);
  f.scope.all_projects = true;
  for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
    struct vec_index index = {.model = arena_printf(&f.arena, "model-%d", sizes[i]), .dims = sizes[i]};
    struct vec_model m = {STR("default"), index.model, sizes[i]};
    int64_t chunks[2];
    index.config = STR("{}");
    struct txn txn = fixture_begin(&f);
    CHECK_OK(vec_index_set(&txn, &index, VEC_ACTIVE, &f.err), &f.err);
    for (int k = 0; k < 2; k++) {
      for (int d = 0; d < sizes[i]; d++)
        v[k * sizes[i] + d] = (int8_t)(random_below(255) - 127);
      fixture_fact(&f, &txn, STR(""), arena_printf(&f.arena, "%d dimensions %d", sizes[i], k), &chunks[k]);
      CHECK_OK(vec_add(&txn, &m, chunks[k], v + k * sizes[i], &f.err), &f.err);
    }
    fixture_commit(&f, &txn);
    struct vec_hits hits = search(&f, &m, v + sizes[i], 2);
    CHECK_INT(hits.n, 2);
    CHECK_INT(hits.v[0].chunk_id, chunks[1]);
    CHECK(hits.v[1].cosine == vec_cosine(v, v + sizes[i], sizes[i]));
    int8_t *got = arena_array(&f.arena, int8_t, (size_t)sizes[i]);
    bool found;
    CHECK_OK(vec_fetch(f.store, &m, &chunks[1], 1, got, &found, &f.err), &f.err);
    CHECK(found && memcmp(got, v + sizes[i], (size_t)sizes[i]) == 0);
  }
  fixture_close(&f);
}
