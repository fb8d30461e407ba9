/* test_vectors.c: vectors in blocks: found, filtered, removed, seen by other handles. */
#include "embed/vec.h"
#include "fixture.h"
#include "store/search_rows.h"
#include "store/vectors.h"

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
  CHECK_OK(search_near(st, &f->scope, &any, &model, query, k, &f->arena, &hits, &f->err), &f->err);
  return hits;
}

TEST(the_nearest_are_found_across_blocks) {
  struct fixture f = fixture_new();
  int8_t(*all)[DIMS] = arena_alloc(&f.arena, MANY * sizeof(*all));
  int64_t *chunks = arena_array(&f.arena, int64_t, MANY);
  struct txn txn = fixture_begin(&f);
  for (int i = 0; i < MANY; i++) {
    if (i % 3 == 1)
      near_vector(all[i - 1], all[i]);
    else
      random_vector(all[i]);
    fixture_fact(&f, &txn, STR(""), arena_printf(&f.arena, "fact %d", i), &chunks[i]);
    CHECK_OK(vec_add(&txn, &model, chunks[i], all[i], &f.err), &f.err);
  }
  fixture_commit(&f, &txn);
  for (int q = 0; q < 60; q += 3) {
    int best = -1;
    for (int i = 0; i < MANY; i++)
      if (best < 0 || vec_cosine(all[q], all[i], DIMS) > vec_cosine(all[q], all[best], DIMS))
        best = i;
    struct vec_hits hits = search(&f, f.store, all[q], 5);
    CHECK_INT(hits.n, 5);
    CHECK_INT(hits.v[0].chunk_id, chunks[best]);
    CHECK_INT(hits.v[1].chunk_id, chunks[q + 1]); /* the one that was made near it */
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

TEST(another_handle_sees_what_was_written_since) {
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
  int64_t chunk, faults, rest = -1;
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
  CHECK_OK(db_int(store_db(f.store), &rest, NULL, &f.err,
                  "SELECT (SELECT count(*) FROM vec_slot) + (SELECT count(*) FROM vec_head WHERE places <> "
                  "zeroblob(length(places)))",
                  NULL),
           &f.err);
  CHECK_INT(rest, 0);
  fixture_close(&f);
}

TEST(a_wrong_slot_is_found_and_repaired) {
  struct fixture f = fixture_new();
  int8_t v[DIMS];
  int64_t chunk, faults, done, total;
  random_vector(v);
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("text"), &chunk);
  CHECK_OK(vec_add(&txn, &model, chunk, v, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(search(&f, f.store, v, 1).n, 1);
  CHECK_OK(db_exec(store_db(f.store), &f.err, "UPDATE vec_slot SET place = place + 5", NULL), &f.err);
  CHECK_OK(vec_check(f.store, &faults, &f.err), &f.err);
  CHECK(faults > 0);
  CHECK_OK(vec_repair(f.store, &f.err), &f.err);
  CHECK_OK(vec_check(f.store, &faults, &f.err), &f.err);
  CHECK_INT(faults, 0);
  CHECK_OK(vec_count(f.store, &model, &done, &total, &f.err), &f.err);
  CHECK_INT(done, 0);
  CHECK_INT(search(&f, f.store, v, 1).n, 0);
  fixture_close(&f);
}
