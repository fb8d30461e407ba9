/* test_vec_index.c: vector indexes of a team, and the removal of vectors without an index. */
#include <sqlite3.h>

#include "fixture.h"
#include "store/vectors/indexes.h"
#include "support/proc.h"

enum { DIMS = 64 };

static const int8_t some_vector[DIMS] = {90, 90};

static struct vec_index index_of(const char *model) {
  return (struct vec_index){.model = str_from(model), .dims = DIMS, .config = STR("{}")};
}

static struct vec_indexes indexes(struct fixture *f) {
  struct vec_indexes rows;
  CHECK_OK(vec_indexes_of(f->store, STR("default"), &f->arena, &rows, &f->err), &f->err);
  return rows;
}

static void set(struct fixture *f, const char *model, enum vec_state state) {
  struct txn txn = fixture_begin(f);
  struct vec_index index = index_of(model);
  CHECK_OK(vec_index_set(&txn, &index, state, &f->err), &f->err);
  fixture_commit(f, &txn);
}

static void flip(struct fixture *f, const char *model) {
  struct txn txn = fixture_begin(f);
  struct vec_index index = index_of(model);
  CHECK_OK(vec_index_flip(&txn, &index, &f->err), &f->err);
  fixture_commit(f, &txn);
}

/* A fact with a vector of each of these models. */
static int64_t fact(struct fixture *f, const char *text, const char *const *models) {
  struct txn txn = fixture_begin(f);
  int64_t chunk;
  fixture_fact(f, &txn, STR(""), str_from(text), &chunk);
  for (; *models; models++) {
    struct vec_model model = {STR("default"), str_from(*models), DIMS};
    CHECK_OK(vec_add(&txn, &model, chunk, some_vector, &f->err), &f->err);
  }
  fixture_commit(f, &txn);
  return chunk;
}

TEST(an_index_has_one_state_and_a_state_one_index) {
  struct fixture f = fixture_new();
  fact(&f, "one", ARGS("a", "b", "c"));
  set(&f, "a", VEC_ACTIVE);
  set(&f, "b", VEC_BUILDING);
  struct vec_indexes rows = indexes(&f);
  CHECK_STR(rows.of[VEC_ACTIVE].model, "a");
  CHECK_STR(rows.of[VEC_BUILDING].model, "b");
  CHECK(!rows.of[VEC_PREVIOUS].model.p);
  set(&f, "c", VEC_BUILDING); /* b is dropped */
  CHECK_STR(indexes(&f).of[VEC_BUILDING].model, "c");
  flip(&f, "c");
  rows = indexes(&f);
  CHECK_STR(rows.of[VEC_ACTIVE].model, "c");
  CHECK_STR(rows.of[VEC_PREVIOUS].model, "a");
  CHECK(!rows.of[VEC_BUILDING].model.p);
  set(&f, "a", VEC_BUILDING); /* resumes building the previous one */
  rows = indexes(&f);
  CHECK_STR(rows.of[VEC_BUILDING].model, "a");
  CHECK(!rows.of[VEC_PREVIOUS].model.p);
  flip(&f, "a");
  rows = indexes(&f);
  CHECK_STR(rows.of[VEC_ACTIVE].model, "a");
  CHECK_STR(rows.of[VEC_PREVIOUS].model, "c");
  CHECK(rows.of[VEC_ACTIVE].flipped_at > 0);
  fixture_close(&f);
}

TEST(an_active_index_without_vectors_is_none) {
  struct fixture f = fixture_new();
  set(&f, "a", VEC_ACTIVE);
  CHECK(!indexes(&f).of[VEC_ACTIVE].model.p);
  fact(&f, "one", ARGS("a"));
  CHECK_STR(indexes(&f).of[VEC_ACTIVE].model, "a");
  fixture_close(&f);
}

TEST(only_vectors_without_an_index_are_removed) {
  struct fixture f = fixture_new();
  int64_t chunk = fact(&f, "one", ARGS("a", "b"));
  fact(&f, "two", ARGS("b"));
  set(&f, "a", VEC_ACTIVE);
  int64_t dropped = 0, sum = 0;
  bool more = true, has;
  while (more) {
    struct txn txn = fixture_begin(&f);
    CHECK_OK(vec_drop_unowned(&txn, &dropped, &more, &f.err), &f.err);
    fixture_commit(&f, &txn);
    sum += dropped;
  }
  CHECK_INT(sum, 2);
  CHECK_OK(vec_has(f.store, STR("default"), STR("a"), chunk, &has, &f.err), &f.err);
  CHECK(has);
  CHECK_OK(vec_has(f.store, STR("default"), STR("b"), chunk, &has, &f.err), &f.err);
  CHECK(!has);
  int64_t faults;
  CHECK_OK(vec_check(f.store, &faults, &f.err), &f.err);
  CHECK_INT(faults, 0);
  fixture_close(&f);
}

TEST(the_last_chunk_is_counted_per_team) {
  struct fixture f = fixture_new();
  int64_t last;
  CHECK_OK(chunk_last_id(f.store, STR("default"), &last, &f.err), &f.err);
  CHECK_INT(last, 0);
  int64_t chunk = fact(&f, "one", ARGS("a"));
  CHECK_OK(chunk_last_id(f.store, STR("default"), &last, &f.err), &f.err);
  CHECK_INT(last, chunk);
  CHECK_OK(chunk_last_id(f.store, STR("other"), &last, &f.err), &f.err);
  CHECK_INT(last, 0);
  fixture_close(&f);
}

TEST(a_store_of_the_first_schema_has_an_index_afterwards, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "first.db");
  sqlite3 *db;
  CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
  struct str sql = file_read(CAIRN_SOURCE_DIR "/src/store/schema/sqlite/0001_init.sql");
  CHECK_INT(sqlite3_exec(db, sql.p, NULL, NULL, NULL), SQLITE_OK);
  CHECK_INT(
      sqlite3_exec(db,
                   "INSERT INTO meta VALUES ('epoch', 'e');"
                   "INSERT INTO vec_block (team, model, dims, used, version) VALUES ('red', 'hash-v1', 256, 0, 1);"
                   "PRAGMA user_version = 1; PRAGMA application_id = 1128354382",
                   NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close(db);
  struct store_options o = {.path = path, .now = 1763200000000};
  struct store *st = NULL;
  struct error err;
  CHECK_OK(store_open(&o, &st, &err), &err);
  int64_t n;
  CHECK_OK(db_int(store_db(st), &n, NULL, &err,
                  "SELECT count(*) FROM vec_index WHERE team = 'red' AND model = 'hash-v1' AND state = 'active'"
                  " AND dims = 256 AND config = '{\"embedder\":\"hash-v1\"}'",
                  NULL),
           &err);
  CHECK_INT(n, 1);
  store_close(&st);
}
