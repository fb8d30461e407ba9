/* test_vectors.c: vectors in blocks: search, filters, removal, visibility to other handles. */
#include "embed/vec.h"
#include "fixture.h"
#include "store/search/candidates.h"
#include "store/search/search_rows.h"
#include "store/vectors/indexes.h"

enum { DIMS = 256, MANY = 1500 };

static const struct vec_model model = {STR_INIT("default"), STR_INIT("test-model"), DIMS};

static uint64_t seed = 88172645463325252u;

static uint32_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 16);
}

static void random_vector(int8_t *v) {
  for (int i = 0; i < DIMS; i++)
    v[i] = (int8_t)((int)(next_random() % 31) - 15);
}

/* A vector near another one. */
static void near_vector(const int8_t *from, int8_t *v) {
  for (int i = 0; i < DIMS; i++)
    v[i] = (int8_t)(from[i] + (int)(next_random() % 5) - 2);
}

static struct vec_hits search(struct fixture *f, struct store *st, const int8_t *query, size_t k) {
  struct vec_hits hits = {0};
  struct filter any = {0};
  struct near_query near = {&f->scope, &any, &model, query, k};
  CHECK_OK(search_near(st, &near, &f->arena, &hits, NULL, &f->err), &f->err);
  return hits;
}

/* `n` memories with a chunk each, without texts; ids are consecutive. Returns the first chunk. */
static int64_t plain_memories(struct fixture *f, int n, const char *project) {
  struct db *db = store_db(f->store);
  int64_t first = 0;
  CHECK_OK(db_exec(db, &f->err,
                   "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
                   " INSERT INTO memory (uid, team, project, kind, type, headline, trust, valid_from, created_at,"
                   " updated_at, source) SELECT '00000000-0000-7000-8000-' || substr('000000000000' || i,"
                   " length('' || i) + 1), 'default', ?2, 'fact', 'fact', 'A fact', 'user', ?3, ?3, ?3, 'test' FROM n",
                   "isi", (int64_t)n, str_from(project), f->now),
           &f->err);
  CHECK_OK(db_exec(db, &f->err,
                   "INSERT INTO chunk (team, memory_id, seq, hash, headline, body, extra)"
                   " SELECT team, id, 0, 'none', 'A fact', 'Nothing', '' FROM memory WHERE headline = 'A fact'"
                   " AND uid < '00000001' ORDER BY id",
                   NULL),
           &f->err);
  CHECK_OK(db_int(db, &first, NULL, &f->err, "SELECT min(id) FROM chunk WHERE hash = 'none'", NULL), &f->err);
  return first;
}

TEST(the_nearest_are_found_across_blocks, .slow = true) {
  struct fixture f = fixture_new();
  int8_t(*all)[DIMS] = arena_alloc(&f.arena, MANY * sizeof(*all));
  struct txn txn = fixture_begin(&f);
  int64_t first = plain_memories(&f, MANY, "");
  for (int i = 0; i < MANY; i++) {
    if (i % 3 == 1)
      near_vector(all[i - 1], all[i]);
    else
      random_vector(all[i]);
    CHECK_OK(vec_add(&txn, &model, first + i, all[i], &f.err), &f.err);
  }
  fixture_commit(&f, &txn);
  for (int q = 0; q < 60; q += 3) {
    int best = -1;
    for (int i = 0; i < MANY; i++)
      if (best < 0 || vec_cosine(all[q], all[i], DIMS) > vec_cosine(all[q], all[best], DIMS))
        best = i;
    struct vec_hits hits = search(&f, f.store, all[q], 5);
    CHECK_INT(hits.n, 5);
    CHECK_INT(hits.v[0].chunk_id, first + best);
    CHECK_INT(hits.v[1].chunk_id, first + q + 1); /* the one made near it */
    for (size_t i = 1; i < hits.n; i++)
      CHECK(hits.v[i - 1].cosine >= hits.v[i].cosine);
  }
  int64_t faults, done, total;
  CHECK_OK(vec_check(f.store, &faults, &f.err), &f.err);
  CHECK_INT(faults, 0);
  CHECK_OK(vec_count(f.store, &model, &done, &total, &f.err), &f.err);
  CHECK_INT(done, MANY);
  CHECK_INT(total, MANY);
  fixture_close(&f);
}

TEST(filters_come_before_the_limit) {
  struct fixture f = fixture_new();
  int8_t v[DIMS], query[DIMS];
  int64_t chunk, mine = 0;
  random_vector(query);
  struct txn txn = fixture_begin(&f);
  for (int i = 0; i < 300; i++) { /* nearer, but of another project */
    near_vector(query, v);
    fixture_fact(&f, &txn, STR("other"), arena_printf(&f.arena, "theirs %d", i), &chunk);
    CHECK_OK(vec_add(&txn, &model, chunk, v, &f.err), &f.err);
  }
  random_vector(v);
  fixture_fact(&f, &txn, STR("own"), STR("mine"), &mine);
  CHECK_OK(vec_add(&txn, &model, mine, v, &f.err), &f.err);
  fixture_commit(&f, &txn);
  f.scope.project = STR("own");
  struct vec_hits hits = search(&f, f.store, query, 3);
  CHECK_INT(hits.n, 1);
  CHECK_INT(hits.v[0].chunk_id, mine);
  fixture_close(&f);
}

TEST(another_handle_sees_later_writes) {
  struct fixture f = fixture_new();
  struct store *other = fixture_open("store.db");
  int8_t v[DIMS];
  int64_t chunk;
  for (int round = 0; round < 5; round++) {
    random_vector(v);
    struct txn txn = fixture_begin(&f);
    fixture_fact(&f, &txn, STR(""), arena_printf(&f.arena, "round %d", round), &chunk);
    CHECK_OK(vec_add(&txn, &model, chunk, v, &f.err), &f.err);
    fixture_commit(&f, &txn);
    struct vec_hits hits = search(&f, other, v, 1);
    CHECK_INT(hits.n, 1);
    CHECK_INT(hits.v[0].chunk_id, chunk);
  }
  store_close(&other);
  fixture_close(&f);
}

TEST(a_deleted_memory_leaves_no_vector) {
  struct fixture f = fixture_new();
  int8_t v[DIMS];
  int64_t chunk, faults, rest = -1, total = -1;
  random_vector(v);
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("soon gone"), &chunk);
  CHECK_OK(vec_add(&txn, &model, chunk, v, &f.err), &f.err);
  fixture_commit(&f, &txn);
  txn = fixture_begin(&f);
  CHECK_OK(memory_delete(&txn, &f.arena, &m, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(search(&f, f.store, v, 5).n, 0);
  CHECK_OK(vec_check(f.store, &faults, &f.err), &f.err);
  CHECK_INT(faults, 0);
  CHECK_OK(vec_count(f.store, &model, &rest, &total, &f.err), &f.err);
  CHECK_INT(rest, 0);
  CHECK_INT(total, 0);
  fixture_close(&f);
}

TEST(a_deleted_memory_leaves_nothing_in_blocks, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  int8_t v[DIMS];
  int64_t chunk, rest = -1;
  random_vector(v);
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("soon gone"), &chunk);
  CHECK_OK(vec_add(&txn, &model, chunk, v, &f.err), &f.err);
  CHECK_OK(memory_delete(&txn, &f.arena, &m, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_OK(db_int(store_db(f.store), &rest, NULL, &f.err,
                  "SELECT (SELECT count(*) FROM vec_slot) + (SELECT count(*) FROM vec_head WHERE places <> "
                  "zeroblob(length(places)))",
                  NULL),
           &f.err);
  CHECK_INT(rest, 0);
  fixture_close(&f);
}

/* ---- filters in a large index ---- */

/* Several blocks; a server takes longer to store them, and uses its index sooner. */
static int crowd_size(const struct fixture *f) { return db_engine(store_db(f->store)) == DB_SQLITE ? 6000 : 1500; }

/* A store in which all memories of project "other" are nearer to the query than those of "own". */
static void crowd(struct fixture *f, const int8_t *query, int own, int64_t *ret_best) {
  int8_t v[DIMS];
  double best = -2;
  struct txn txn = fixture_begin(f);
  int64_t chunk = plain_memories(f, crowd_size(f), "other");
  for (int i = 0; i < crowd_size(f); i++) {
    near_vector(query, v);
    CHECK_OK(vec_add(&txn, &model, chunk + i, v, &f->err), &f->err);
  }
  for (int i = 0; i < own; i++) {
    random_vector(v);
    fixture_fact(f, &txn, STR("own"), arena_printf(&f->arena, "text %d", i), &chunk);
    CHECK_OK(vec_add(&txn, &model, chunk, v, &f->err), &f->err);
    if (vec_cosine(query, v, DIMS) > best) {
      best = vec_cosine(query, v, DIMS);
      *ret_best = chunk;
    }
  }
  fixture_commit(f, &txn);
}

TEST(a_small_project_in_a_large_store_finds_all_of_its_own) {
  struct fixture f = fixture_new();
  int8_t query[DIMS];
  int64_t best = 0;
  random_vector(query);
  crowd(&f, query, 30, &best);
  f.scope.project = STR("own");
  struct vec_hits hits = search(&f, f.store, query, 100);
  CHECK_INT(hits.n, 30);
  CHECK_INT(hits.v[0].chunk_id, best);
  /* Archived memories use another index than active ones. */
  CHECK_OK(db_exec(store_db(f.store), &f.err,
                   "UPDATE memory SET state = 'archived', state_at = 5, state_reason = 'old' WHERE project = 'own' AND "
                   "id % 2 = 0",
                   NULL),
           &f.err);
  CHECK_INT(search(&f, f.store, query, 100).n, 30);
  struct filter archived = {.states = "'archived'"};
  struct vec_hits some = {0};
  int64_t n = 0;
  struct near_query near = {&f.scope, &archived, &model, query, 100};
  CHECK_OK(search_near(f.store, &near, &f.arena, &some, NULL, &f.err), &f.err);
  CHECK_OK(db_int(store_db(f.store), &n, NULL, &f.err, "SELECT count(*) FROM memory WHERE state = 'archived'", NULL),
           &f.err);
  CHECK(n > 0);
  CHECK_INT(some.n, n);
  /* As of a time when all of them were active. */
  f.scope.as_of = f.now + 1;
  CHECK_OK(
      db_exec(store_db(f.store), &f.err, "UPDATE memory SET state_at = ?1 WHERE state = 'archived'", "i", f.now + 2),
      &f.err);
  struct filter live = {.states = STATES_LIVE};
  some = (struct vec_hits){0};
  near.filter = &live;
  CHECK_OK(search_near(f.store, &near, &f.arena, &some, NULL, &f.err), &f.err);
  CHECK_INT(some.n, 30);
  fixture_close(&f);
}

TEST(a_rare_tag_in_a_large_store_is_found) {
  struct fixture f = fixture_new();
  int8_t query[DIMS];
  int64_t best = 0;
  random_vector(query);
  crowd(&f, query, 10, &best);
  CHECK_OK(
      db_exec(store_db(f.store), &f.err,
              "INSERT INTO label (team, memory_id, field, value, pos) SELECT 'default', memory_id, 'tags', 'rare', 0"
              " FROM chunk WHERE id = ?1",
              "i", best),
      &f.err);
  struct str tag = STR("rare");
  struct filter rare = {.tags = {&tag, 1, 1}};
  struct vec_hits hits = {0};
  f.scope.all_projects = true;
  struct near_query near = {&f.scope, &rare, &model, query, 10};
  CHECK_OK(search_near(f.store, &near, &f.arena, &hits, NULL, &f.err), &f.err);
  CHECK_INT(hits.n, 1);
  CHECK_INT(hits.v[0].chunk_id, best);
  fixture_close(&f);
}

TEST(a_near_memory_of_the_own_project_is_found_among_many, .slow = true) {
  struct fixture f = fixture_new();
  int8_t query[DIMS], v[DIMS];
  int64_t best = 0, mine;
  random_vector(query);
  crowd(&f, query, 10, &best);
  near_vector(query, v);
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR("own"), STR("said already"), &mine);
  CHECK_OK(vec_add(&txn, &model, mine, v, &f.err), &f.err);
  fixture_commit(&f, &txn);
  f.scope.project = STR("own");
  struct vec_hits hits = {0};
  struct candidate_query near = {&f.scope, STR("fact"), 0, &model, query, 0.9, 5};
  CHECK_OK(candidates_near(f.store, &near, &f.arena, &hits, &f.err), &f.err);
  CHECK_INT(hits.n, 1);
  CHECK_INT(hits.v[0].memory_id, m.id);
  hits = (struct vec_hits){0};
  near.except = m.id;
  CHECK_OK(candidates_near(f.store, &near, &f.arena, &hits, &f.err), &f.err);
  CHECK_INT(hits.n, 0);
  fixture_close(&f);
}

/* ---- several indexes ---- */

TEST(two_models_of_one_team_are_kept_apart) {
  struct fixture f = fixture_new();
  static const struct vec_model second = {STR_INIT("default"), STR_INIT("other-model"), 64};
  int8_t v[DIMS], w[DIMS];
  int64_t chunk[2];
  struct filter any = {0};
  random_vector(v);
  random_vector(w);
  struct txn txn = fixture_begin(&f);
  for (int i = 0; i < 2; i++) {
    fixture_fact(&f, &txn, STR(""), arena_printf(&f.arena, "text %d", i), &chunk[i]);
    CHECK_OK(vec_add(&txn, &model, chunk[i], i ? w : v, &f.err), &f.err);
    CHECK_OK(vec_add(&txn, &second, chunk[i], i ? v : w, &f.err), &f.err);
  }
  fixture_commit(&f, &txn);
  for (int round = 0; round < 3; round++) {
    struct vec_hits hits = {0};
    CHECK_INT(search(&f, f.store, v, 1).v[0].chunk_id, chunk[0]);
    struct near_query near = {&f.scope, &any, &second, v, 1};
    CHECK_OK(search_near(f.store, &near, &f.arena, &hits, NULL, &f.err), &f.err);
    CHECK_INT(hits.v[0].chunk_id, chunk[1]);
  }
  fixture_close(&f);
}

TEST(more_indexes_than_the_cache_holds) {
  struct fixture f = fixture_new();
  int8_t v[20][DIMS];
  int64_t chunk[20];
  struct filter any = {0};
  struct txn txn = fixture_begin(&f);
  for (int i = 0; i < 20; i++) {
    struct vec_model m = {STR("default"), arena_printf(&f.arena, "model-%d", i), DIMS};
    random_vector(v[i]);
    fixture_fact(&f, &txn, STR(""), arena_printf(&f.arena, "text %d", i), &chunk[i]);
    CHECK_OK(vec_add(&txn, &m, chunk[i], v[i], &f.err), &f.err);
  }
  fixture_commit(&f, &txn);
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 20; i++) {
      struct vec_model m = {STR("default"), arena_printf(&f.arena, "model-%d", i), DIMS};
      struct vec_hits hits = {0};
      struct near_query near = {&f.scope, &any, &m, v[i], 5};
      CHECK_OK(search_near(f.store, &near, &f.arena, &hits, NULL, &f.err), &f.err);
      CHECK_INT(hits.n, 1);
      CHECK_INT(hits.v[0].chunk_id, chunk[i]);
    }
  fixture_close(&f);
}

TEST(vectors_are_fetched_by_chunk) {
  struct fixture f = fixture_new();
  int8_t v[3][DIMS], got[4][DIMS];
  int64_t chunk[4], first = 0;
  bool found[4];
  struct vec_model theirs = {STR("another-team"), model.model, DIMS};
  struct txn txn = fixture_begin(&f);
  for (int i = 0; i < 3; i++) {
    random_vector(v[i]);
    int64_t id = fixture_fact(&f, &txn, STR(""), arena_printf(&f.arena, "text %d", i), &chunk[i]).id;
    first = i == 0 ? id : first;
    if (i != 1)
      CHECK_OK(vec_add(&txn, &model, chunk[i], v[i], &f.err), &f.err);
  }
  fixture_commit(&f, &txn);
  chunk[3] = 999;
  CHECK_OK(vec_fetch(f.store, &model, chunk, 4, got[0], found, &f.err), &f.err);
  CHECK(found[0] && !found[1] && found[2] && !found[3]);
  CHECK(memcmp(got[0], v[0], DIMS) == 0);
  CHECK(memcmp(got[2], v[2], DIMS) == 0);
  CHECK_OK(vec_fetch(f.store, &theirs, chunk, 1, got[0], found, &f.err), &f.err);
  CHECK(!found[0]);
  /* Removals and their replacements are seen although the places were cached. */
  txn = fixture_begin(&f);
  CHECK_OK(vec_remove(&txn, first, &f.err), &f.err);
  CHECK_OK(vec_add(&txn, &model, chunk[1], v[1], &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_OK(vec_fetch(f.store, &model, chunk, 3, got[0], found, &f.err), &f.err);
  CHECK(!found[0] && found[1] && found[2]);
  CHECK(memcmp(got[1], v[1], DIMS) == 0);
  fixture_close(&f);
}

TEST(an_index_without_an_owner_is_removed_in_batches) {
  struct fixture f = fixture_new();
  static const struct vec_model second = {STR_INIT("default"), STR_INIT("other-model"), DIMS};
  int8_t v[DIMS];
  int64_t done, total, left, dropped;
  struct txn txn = fixture_begin(&f);
  int64_t chunk = plain_memories(&f, crowd_size(&f), "");
  for (int i = 0; i < crowd_size(&f); i++) {
    random_vector(v);
    CHECK_OK(vec_add(&txn, &model, chunk + i, v, &f.err), &f.err);
  }
  CHECK_OK(vec_add(&txn, &second, chunk, v, &f.err), &f.err);
  struct vec_index active = {.model = second.model, .dims = DIMS, .config = STR("{}")};
  CHECK_OK(vec_index_set(&txn, &active, VEC_ACTIVE, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(search(&f, f.store, v, 1).n, 1);
  bool more = true;
  int portions = 0;
  for (; more; portions++) {
    txn = fixture_begin(&f);
    CHECK_OK(vec_drop_unowned(&txn, &dropped, &more, &f.err), &f.err);
    fixture_commit(&f, &txn);
  }
  CHECK(portions > 1);
  CHECK_INT(search(&f, f.store, v, 1).n, 0);
  CHECK_OK(vec_count(f.store, &model, &done, &total, &f.err), &f.err);
  CHECK_INT(done, 0);
  CHECK_OK(vec_count(f.store, &second, &done, &total, &f.err), &f.err);
  CHECK_INT(done, 1);
  if (db_engine(store_db(f.store)) == DB_SQLITE) {
    CHECK_OK(db_int(store_db(f.store), &left, NULL, &f.err, "SELECT count(*) FROM vec_centre", NULL), &f.err);
    CHECK_INT(left, 0);
  }
  CHECK_OK(vec_check(f.store, &left, &f.err), &f.err);
  CHECK_INT(left, 0);
  fixture_close(&f);
}

/* ---- damage ---- */

enum { SOUND = 2500, BLOCKS = 3 };

/* Three blocks of vectors; chunk i is i + 1. */
static struct fixture three_blocks(int8_t (*all)[DIMS]) {
  struct fixture f = fixture_new();
  int64_t chunk;
  struct txn txn = fixture_begin(&f);
  for (int i = 0; i < SOUND; i++) {
    random_vector(all[i]);
    fixture_fact(&f, &txn, STR(""), arena_printf(&f.arena, "text %d", i), &chunk);
    CHECK_INT(chunk, i + 1);
    CHECK_OK(vec_add(&txn, &model, chunk, all[i], &f.err), &f.err);
  }
  fixture_commit(&f, &txn);
  return f;
}

/* Nearest chunk as seen by a new handle, and the number of vectors that it skipped. */
static int64_t nearest(struct fixture *f, const int8_t *query, struct vec_health *health) {
  struct store *st = fixture_open("store.db");
  struct vec_hits hits = {0};
  struct filter any = {0};
  *health = (struct vec_health){0};
  struct near_query near = {&f->scope, &any, &model, query, 1};
  CHECK_OK(search_near(st, &near, &f->arena, &hits, health, &f->err), &f->err);
  store_close(&st);
  return hits.n ? hits.v[0].chunk_id : 0;
}

static int64_t faults(struct fixture *f) {
  int64_t n = -1;
  CHECK_OK(vec_check(f->store, &n, &f->err), &f->err);
  return n;
}

static void repair(struct fixture *f) {
  CHECK_OK(db_begin(store_db(f->store), STR_NONE, false, &f->err), &f->err);
  CHECK_OK(vec_repair(f->store, &f->err), &f->err);
  CHECK_OK(db_commit(store_db(f->store), &f->err), &f->err);
  CHECK_INT(faults(f), 0);
}

static int64_t stored(struct fixture *f) {
  int64_t done, total;
  CHECK_OK(vec_count(f->store, &model, &done, &total, &f->err), &f->err);
  CHECK_INT(total, SOUND);
  return done;
}

static void damage(struct fixture *f, const char *sql) {
  CHECK_OK(db_script(store_db(f->store), &f->err, sql), &f->err);
}

static int8_t all[SOUND][DIMS];

TEST(sound_blocks_are_healthy, .only = TEST_ON_SQLITE) {
  struct fixture f = three_blocks(all);
  struct vec_health health;
  for (int i = 0; i < SOUND; i += 199)
    CHECK_INT(nearest(&f, all[i], &health), i + 1);
  CHECK_INT(health.blocks + health.vectors, 0);
  CHECK_INT(faults(&f), 0);
  repair(&f);
  CHECK_INT(stored(&f), SOUND);
  fixture_close(&f);
}

/* Overwrites bytes in the head of block 2: an id in place 5, and bits in place 6. */
TEST(damaged_places_of_a_head_are_skipped_and_repaired, .only = TEST_ON_SQLITE) {
  struct fixture f = three_blocks(all);
  struct vec_health health;
  damage(&f,
         "UPDATE vec_head SET places = CAST(substr(places, 1, 5 * 40) || x'07' || substr(places, 5 * 40 + 2, 39 + 20)"
         " || x'ffffff' || substr(places, 7 * 40 - 16) AS BLOB) WHERE block = 2");
  int64_t size;
  CHECK_OK(db_int(store_db(f.store), &size, NULL, &f.err, "SELECT length(places) FROM vec_head WHERE block = 2", NULL),
           &f.err);
  CHECK_INT(size, 40 * 1024);
  CHECK(nearest(&f, all[1024 + 5], &health) != 1024 + 6);
  CHECK_INT(health.blocks, 1);
  CHECK(nearest(&f, all[1024 + 6], &health) != 1024 + 7);
  CHECK_INT(nearest(&f, all[1024 + 7], &health), 1024 + 8);
  CHECK_INT(nearest(&f, all[3], &health), 4);
  CHECK_INT(faults(&f), 2);
  repair(&f);
  CHECK_INT(stored(&f), SOUND); /* nothing was lost: the vectors themselves are intact */
  CHECK_INT(nearest(&f, all[1024 + 5], &health), 1024 + 6);
  CHECK_INT(nearest(&f, all[1024 + 6], &health), 1024 + 7);
  CHECK_INT(health.blocks, 0);
  fixture_close(&f);
}

TEST(a_head_of_the_wrong_size_is_skipped_and_repaired, .only = TEST_ON_SQLITE) {
  static const char *const ways[] = {
      "UPDATE vec_head SET places = substr(places, 1, 1000) WHERE block = 1",
      "UPDATE vec_head SET places = CAST(places || x'00' AS BLOB) WHERE block = 1",
      "DELETE FROM vec_head WHERE block = 1",
      "UPDATE vec_head SET places = x'' WHERE block = 1",
      "UPDATE vec_head SET places = randomblob(40 * 1024) WHERE block = 1",
  };
  struct fixture f = three_blocks(all);
  struct vec_health health;
  for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
    damage(&f, ways[i]);
    CHECK(nearest(&f, all[3], &health) != 4);
    CHECK_INT(health.blocks, 1);
    CHECK_INT(nearest(&f, all[1500], &health), 1501);
    CHECK(faults(&f) > 0);
    repair(&f);
    CHECK_INT(stored(&f), SOUND);
    CHECK_INT(nearest(&f, all[3], &health), 4);
    CHECK_INT(health.blocks, 0);
  }
  fixture_close(&f);
}

TEST(a_damaged_vector_is_skipped_and_dropped, .only = TEST_ON_SQLITE) {
  struct fixture f = three_blocks(all);
  struct vec_health health;
  damage(&f, "UPDATE vec_slot SET vector = CAST(substr(vector, 1, 100) || x'5a5a5a' || substr(vector, 104) AS BLOB) "
             "WHERE chunk_id = 10");
  damage(&f, "UPDATE vec_slot SET vector = substr(vector, 1, 50) WHERE chunk_id = 20");
  CHECK(nearest(&f, all[9], &health) != 10);
  CHECK(health.vectors >= 1);
  CHECK(nearest(&f, all[19], &health) != 20);
  CHECK_INT(nearest(&f, all[29], &health), 30);
  CHECK_INT(faults(&f), 2);
  repair(&f);
  CHECK_INT(stored(&f), SOUND - 2);
  struct txn txn = fixture_begin(&f);
  CHECK_OK(vec_add_missing(&txn, &model, 10, all[9], &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(nearest(&f, all[9], &health), 10);
  CHECK_INT(health.vectors, 0);
  CHECK_INT(faults(&f), 0);
  fixture_close(&f);
}

/* A too small `used` hides vectors, and would let a new vector overwrite another. */
TEST(a_wrong_number_of_used_places, .only = TEST_ON_SQLITE) {
  struct fixture f = three_blocks(all);
  struct vec_health health;
  int8_t v[DIMS];
  int64_t chunk;
  damage(&f, "UPDATE vec_block SET used = 100, version = version + 1 WHERE id = 3");
  CHECK(nearest(&f, all[2048 + 200], &health) != 2048 + 201);
  CHECK_INT(health.blocks, 1);
  CHECK_INT(nearest(&f, all[2048 + 50], &health), 2048 + 51);
  CHECK(faults(&f) > 0);
  random_vector(v);
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("one more"), &chunk);
  CHECK_OK(vec_add(&txn, &model, chunk, v, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(nearest(&f, v, &health), chunk);
  repair(&f);
  CHECK_INT(nearest(&f, all[2048 + 200], &health), 2048 + 201);
  CHECK_INT(nearest(&f, v, &health), chunk);
  CHECK_INT(health.blocks, 0);
  fixture_close(&f);
}

TEST(an_impossible_number_of_used_places, .only = TEST_ON_SQLITE) {
  struct fixture f = three_blocks(all);
  struct vec_health health;
  damage(&f, "PRAGMA ignore_check_constraints = ON; UPDATE vec_block SET used = 70000 WHERE id = 2;"
             "UPDATE vec_block SET used = -3 WHERE id = 3");
  CHECK(nearest(&f, all[1500], &health) != 1501);
  CHECK_INT(health.blocks, 2);
  CHECK_INT(nearest(&f, all[100], &health), 101);
  repair(&f);
  CHECK_INT(nearest(&f, all[1500], &health), 1501);
  CHECK_INT(nearest(&f, all[2100], &health), 2101);
  CHECK_INT(health.blocks, 0);
  CHECK_INT(stored(&f), SOUND);
  fixture_close(&f);
}

TEST(a_damaged_centre_is_reported_and_replaced, .only = TEST_ON_SQLITE) {
  static const char *const ways[] = {
      "UPDATE vec_centre SET centre = x'00'",
      "UPDATE vec_centre SET centre = randomblob(260)",
  };
  struct fixture f = three_blocks(all);
  struct vec_health health;
  for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
    damage(&f, ways[i]);
    nearest(&f, all[7], &health);
    CHECK_INT(health.blocks, BLOCKS);
    CHECK(faults(&f) > 0);
    repair(&f);
    CHECK_INT(nearest(&f, all[7], &health), 8);
    CHECK_INT(health.blocks, 0);
    CHECK_INT(stored(&f), SOUND);
  }
  fixture_close(&f);
}

TEST(impossible_dimensions_drop_the_block, .only = TEST_ON_SQLITE) {
  struct fixture f = three_blocks(all);
  struct vec_health health;
  damage(&f, "PRAGMA ignore_check_constraints = ON; UPDATE vec_block SET dims = 100000 WHERE id = 2");
  CHECK_INT(nearest(&f, all[100], &health), 101);
  CHECK_INT(health.blocks, 1);
  repair(&f);
  CHECK_INT(stored(&f), SOUND - 1024);
  CHECK_INT(nearest(&f, all[100], &health), 101);
  CHECK_INT(nearest(&f, all[2100], &health), 2101);
  CHECK_INT(health.blocks, 0);
  fixture_close(&f);
}

TEST(a_vector_at_a_wrong_place_is_found_and_repaired, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  int8_t v[DIMS];
  int64_t chunk, n, done, total;
  random_vector(v);
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("text"), &chunk);
  CHECK_OK(vec_add(&txn, &model, chunk, v, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(search(&f, f.store, v, 1).n, 1);
  damage(&f, "UPDATE vec_slot SET place = place + 5");
  CHECK_OK(vec_check(f.store, &n, &f.err), &f.err);
  CHECK(n > 0);
  repair(&f);
  CHECK_OK(vec_count(f.store, &model, &done, &total, &f.err), &f.err);
  CHECK_INT(done, 1);
  CHECK_INT(search(&f, f.store, v, 1).n, 1);
  damage(&f, "UPDATE vec_slot SET place = place + 5 * 1024"); /* no such block */
  repair(&f);
  CHECK_OK(vec_count(f.store, &model, &done, &total, &f.err), &f.err);
  CHECK_INT(done, 0);
  CHECK_INT(search(&f, f.store, v, 1).n, 0);
  fixture_close(&f);
}

/* A memory can be deleted whatever the state of its vector. */
TEST(a_memory_with_a_damaged_vector_can_be_deleted, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  int8_t v[DIMS];
  int64_t chunk, left;
  random_vector(v);
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("text"), &chunk);
  CHECK_OK(vec_add(&txn, &model, chunk, v, &f.err), &f.err);
  fixture_commit(&f, &txn);
  damage(&f, "UPDATE vec_head SET places = x'1234'");
  txn = fixture_begin(&f);
  CHECK_OK(memory_delete(&txn, &f.arena, &m, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_OK(db_int(store_db(f.store), &left, NULL, &f.err, "SELECT count(*) FROM vec_slot", NULL), &f.err);
  CHECK_INT(left, 0);
  fixture_close(&f);
}
