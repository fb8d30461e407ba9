/* test_lexical.c: any text is a valid query. */
#include "fixture.h"
#include "store/lexical.h"

static size_t hits_of(struct fixture *f, struct str query) {
  struct lexical_hits hits = {0};
  struct filter any = {0};
  CHECK_OK(lexical_search(f->store, &f->scope, &any, query, 10, &f->arena, &hits, &f->err), &f->err);
  return hits.n;
}

TEST(every_sort_of_text_is_a_query) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("the cafe serves naïve tea, 東京, and C++ at 10:30"), NULL);
  fixture_commit(&f, &txn);
  static const char *const odd[] = {
      "",          "\"",        "'",       "*",          "(",           ")",      "a AND",  "NOT",   "NEAR(a b",
      "a:b",       "^x",        "-",       "--",         "{x}",         "[",      "?",      ",",     "x OR OR y",
      "@user",     "/a/b.c",    "100%",    "\\",         ";DROP TABLE", "😀",     "東京",   "ﷺ",     "\xe2\x80\xae",
      "headline:", "body : x*", "\"a\" b", "a\"b\"c\"d", "\x01\x02",    "col1 +", "x NEAR", "AND OR"};
  for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
    test_note("query %zu", i);
    hits_of(&f, str_from(odd[i]));
  }
  CHECK_INT(hits_of(&f, STR("???")), 0);
  CHECK_INT(hits_of(&f, STR("naive")), 1);
  CHECK_INT(hits_of(&f, STR("CAFÉ, please!")), 1);
  CHECK_INT(hits_of(&f, STR("serving teas")), 1); /* stemmed */
  CHECK_INT(hits_of(&f, STR("submarine")), 0);
  fixture_close(&f);
}

TEST(a_megabyte_of_noise_is_a_query) {
  struct fixture f = fixture_new();
  char *noise = arena_alloc(&f.arena, 1 << 20);
  for (size_t i = 0; i < 1 << 20; i++)
    noise[i] = (char)(32 + (i * 2654435761u >> 7) % 95);
  hits_of(&f, (struct str){noise, 1 << 20});
  fixture_close(&f);
}

/* The best keyword hit comes first and scores highest. */
TEST(more_matching_words_score_higher) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("the proxy listens somewhere"), NULL);
  struct memory best = fixture_fact(&f, &txn, STR(""), STR("the staging proxy listens on port 8443"), NULL);
  fixture_fact(&f, &txn, STR(""), STR("lunch is at noon"), NULL);
  fixture_commit(&f, &txn);
  struct lexical_hits hits = {0};
  struct filter any = {0};
  CHECK_OK(lexical_search(f.store, &f.scope, &any, STR("staging proxy port"), 10, &f.arena, &hits, &f.err), &f.err);
  CHECK_INT(hits.n, 2);
  CHECK_INT(hits.v[0].memory_id, best.id);
  CHECK(hits.v[0].score > hits.v[1].score);
  CHECK(hits.v[1].score > 0);
  fixture_close(&f);
}

TEST(a_broken_index_is_found_and_rebuilt) {
  struct fixture f = fixture_new();
  bool ok;
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("findable text"), NULL);
  fixture_commit(&f, &txn);
  CHECK_OK(lexical_check(f.store, &ok, &f.err), &f.err);
  CHECK(ok);
  CHECK_OK(db_script(store_db(f.store), &f.err,
                     "INSERT INTO chunk_fts (chunk_fts, rowid, headline, body, extra)"
                     " SELECT 'delete', id, headline, body, extra FROM chunk"),
           &f.err);
  CHECK_OK(lexical_check(f.store, &ok, &f.err), &f.err);
  CHECK(!ok);
  CHECK_OK(lexical_rebuild(f.store, &f.err), &f.err);
  CHECK_OK(lexical_check(f.store, &ok, &f.err), &f.err);
  CHECK(ok);
  CHECK_INT(hits_of(&f, STR("findable")), 1);
  fixture_close(&f);
}
