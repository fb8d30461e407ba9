/* test_embed_cache.c: embedding cache: keyed by team, text, model and dimensions; bounded; deletion. */
#include "core/memory/chunk.h"
#include "fixture.h"
#include "store/vectors/embed_cache.h"

enum { DIMS = 16 };

static const int64_t start = 1763200000000;
static const int8_t vector[DIMS] = {1, 2, 3, 4, 5, 6, 7, 8, -9, -10, -11, -12, -13, -14, -15, -16};

static struct txn begin(struct fixture *f, struct str team) {
  struct txn who = {.team = team, .project = STR(""), .source = STR("test"), .op = "test", .now = f->now}, txn;
  CHECK_OK(txn_begin(f->store, &who, 0, &txn, &f->err), &f->err);
  return txn;
}

static void put(struct fixture *f, const struct vec_model *m, const char *text, int64_t at) {
  char hash[HASH_TEXT_SIZE];
  hash_text(str_from(text), hash);
  struct txn txn = begin(f, m->team);
  CHECK_OK(embed_cache_put(f->store, m, hash, vector, at, &f->err), &f->err);
  fixture_commit(f, &txn);
}

static bool get(struct fixture *f, const struct vec_model *m, const char *text, int64_t at, bool *ret_stale) {
  char hash[HASH_TEXT_SIZE];
  int8_t out[64] = {0};
  enum embed_cached cached;
  hash_text(str_from(text), hash);
  CHECK_OK(embed_cache_get(f->store, m, hash, at, out, &cached, &f->err), &f->err);
  if (cached != CACHE_MISS)
    CHECK(memcmp(out, vector, sizeof(vector)) == 0);
  if (ret_stale)
    *ret_stale = cached == CACHE_STALE;
  return cached != CACHE_MISS;
}

TEST(the_cache_key_covers_text_model_and_dimensions) {
  struct fixture f = fixture_new();
  struct vec_model m = {STR("red"), STR("openai:m@16"), DIMS};
  put(&f, &m, "text", start);
  CHECK(get(&f, &m, "text", start, NULL));
  CHECK(!get(&f, &m, "other text", start, NULL));
  struct vec_model team = m, model = m, dims = m;
  team.team = STR("blue");
  model.model = STR("openai:m@16+12345678");
  dims.dims = 8;
  CHECK(!get(&f, &team, "text", start, NULL));
  CHECK(!get(&f, &model, "text", start, NULL));
  CHECK(!get(&f, &dims, "text", start, NULL));
  fixture_close(&f);
}

TEST(a_use_is_recorded_once_a_day) {
  struct fixture f = fixture_new();
  struct vec_model m = {STR("red"), STR("m"), DIMS};
  bool stale;
  put(&f, &m, "text", start);
  CHECK(get(&f, &m, "text", start + MS_PER_HOUR, &stale) && !stale);
  CHECK(get(&f, &m, "text", start + 2 * MS_PER_DAY, &stale) && stale);
  put(&f, &m, "text", start + 2 * MS_PER_DAY);
  CHECK(get(&f, &m, "text", start + 2 * MS_PER_DAY, &stale) && !stale);
  fixture_close(&f);
}

TEST(the_least_recently_used_is_evicted_first) {
  struct fixture f = fixture_new();
  struct vec_model m = {STR("red"), STR("m"), DIMS}, other = {STR("blue"), STR("m"), DIMS};
  put(&f, &m, "oldest", start - 5);
  put(&f, &m, "older", start - 4);
  put(&f, &other, "oldest", start - 9);
  struct txn txn = begin(&f, m.team);
  char zeros[54];
  memset(zeros, '0', sizeof(zeros));
  CHECK_OK(db_exec(store_db(f.store), &f.err,
                   "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
                   " INSERT INTO embed_cache SELECT 'red', ?3 || (1000000000 + i), 'm', 16, ?4, ?2 + i FROM n",
                   "iisb", (int64_t)EMBED_CACHE_ROWS - 1, start, (struct str){zeros, sizeof(zeros)},
                   (struct str){zeros, DIMS}),
           &f.err);
  int64_t dropped;
  CHECK_OK(embed_cache_trim(f.store, STR("red"), &dropped, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(dropped, 1);
  CHECK(!get(&f, &m, "oldest", start, NULL));
  CHECK(get(&f, &m, "older", start, NULL));
  CHECK(get(&f, &other, "oldest", start, NULL)); /* another team's entry */
  fixture_close(&f);
}

TEST(deleting_a_memory_deletes_its_cached_texts) {
  struct fixture f = fixture_new();
  struct vec_model m = {STR("default"), STR("m"), DIMS}, question = {STR("default"), STR("m?"), DIMS};
  struct txn txn = fixture_begin(&f);
  int64_t chunk, found;
  struct memory m1 = fixture_fact(&f, &txn, STR(""), STR("The harbour master counts seagulls"), &chunk);
  fixture_commit(&f, &txn);
  struct rows r;
  db_query(store_db(f.store), &r, &f.err, "SELECT headline, body FROM chunk WHERE id = ?1", "i", chunk);
  CHECK(rows_next(&r));
  struct str headline = rows_dup(&r, 0, &f.arena), body = rows_dup(&r, 1, &f.arena);
  CHECK_OK(rows_end(&r), &f.err);
  const char *text = arena_cstr(&f.arena, embed_text(&f.arena, STR_NONE, headline, body));
  put(&f, &m, text, start);
  put(&f, &question, text, start);
  put(&f, &m, "another text", start);
  txn = fixture_begin(&f);
  CHECK_OK(embed_cache_forget(&txn, &f.arena, m1.id, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_OK(db_int(store_db(f.store), &found, NULL, &f.err, "SELECT count(*) FROM embed_cache", NULL), &f.err);
  CHECK_INT(found, 1);
  CHECK(get(&f, &m, "another text", start, NULL));
  fixture_close(&f);
}
