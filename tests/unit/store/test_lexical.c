/* test_lexical.c: full-text search: any text is a valid query; ranking, pruning, scripts and names, damage. */
#include <sqlite3.h>

#include "fixture.h"
#include "store/search/lexical.h"
#include "store/search/lexical_query.h"

static size_t hits_of(struct fixture *f, struct str query) {
  struct lexical_hits hits = {0};
  struct filter any = {0};
  struct chunk_query q = {.scope = &f->scope, .filter = &any, .text = query, .limit = 10};
  CHECK_OK(lexical_search(f->store, &q, &f->arena, &hits, &f->err), &f->err);
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

static double best_score(struct fixture *f, struct store *st) {
  struct lexical_hits hits = {0};
  struct filter any = {0};
  struct chunk_query q = {.scope = &f->scope, .filter = &any, .text = STR("proxy"), .limit = 10};
  CHECK_OK(lexical_search(st, &q, &f->arena, &hits, &f->err), &f->err);
  CHECK_INT(hits.n, 1);
  return hits.v[0].score;
}

/* Lengths are cached between searches; a new handle has none. */
TEST(a_changed_text_scores_by_its_new_length, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("the proxy listens"), NULL);
  fixture_fact(&f, &txn, STR(""), STR("lunch is at noon"), NULL);
  fixture_commit(&f, &txn);
  double before = best_score(&f, f.store);
  CHECK(best_score(&f, f.store) == before);
  struct store *other = fixture_open("store.db");
  CHECK_OK(db_exec(store_db(other), &f.err,
                   "/* all teams: ids are the test's */ "
                   "UPDATE chunk SET body = body || ' to all that comes in on any of its many ports, day and night'"
                   " WHERE memory_id = ?1",
                   "i", m.id),
           &f.err);
  double after = best_score(&f, f.store);
  CHECK(after < before);
  CHECK(after == best_score(&f, other));
  store_close(&other);
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
  struct chunk_query q = {.scope = &f.scope, .filter = &any, .text = STR("staging proxy port"), .limit = 10};
  CHECK_OK(lexical_search(f.store, &q, &f.arena, &hits, &f.err), &f.err);
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
                     on_postgres()
                         ? "UPDATE chunk_text SET tokens = 'other'"
                         : "/* all teams: damage */ INSERT INTO chunk_fts (chunk_fts, rowid, headline, body, extra)"
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

/* ---- ranking ---- */

static struct lexical_hits search_as(struct fixture *f, const struct scope *scope, const struct filter *filter,
                                     const char *query, size_t limit) {
  struct lexical_hits hits = {0};
  struct chunk_query q = {.scope = scope, .filter = filter, .text = str_from(query), .limit = limit};
  CHECK_OK(lexical_search(f->store, &q, &f->arena, &hits, &f->err), &f->err);
  CHECK(!hits.damaged);
  return hits;
}

static struct lexical_hits find(struct fixture *f, const char *query) {
  struct filter any = {0};
  return search_as(f, &f->scope, &any, query, 10);
}

/* BM25 by hand: three texts of 5, 5 and 8 words (headline "A fact" and the body), average 6. */
TEST(scores_are_bm25) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("walrus walrus lemur"), NULL);
  fixture_fact(&f, &txn, STR(""), STR("walrus bison gecko"), NULL);
  fixture_fact(&f, &txn, STR(""), STR("bison gecko gecko gecko gecko otter"), NULL);
  fixture_commit(&f, &txn);
  struct lexical_hits hits = find(&f, "walrus");
  CHECK_INT(hits.n, 2);
  double idf = 0.47000363; /* ln(1 + 1.5 / 2.5) */
  CHECK_NEAR(hits.v[0].score, idf * 2 * 1.9 / (2 + 0.9 * (0.6 + 0.4 * 5 / 6)), 1e-6);
  CHECK_NEAR(hits.v[1].score, idf * 1 * 1.9 / (1 + 0.9 * (0.6 + 0.4 * 5 / 6)), 1e-6);
  hits = find(&f, "otter");
  CHECK_INT(hits.n, 1);
  CHECK_NEAR(hits.v[0].score, 0.98082925 * 1.9 / (1 + 0.9 * (0.6 + 0.4 * 8 / 6)), 1e-6); /* ln(1 + 2.5 / 1.5) */
  fixture_close(&f);
}

TEST(stop_words_are_ignored_beside_other_words) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("what is the thing with the walrus"), NULL);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("gecko food"), NULL);
  fixture_commit(&f, &txn);
  struct lexical_hits hits = find(&f, "what is it with the gecko?");
  CHECK_INT(hits.n, 1);
  CHECK_INT(hits.v[0].memory_id, m.id);
  CHECK_INT(find(&f, "what is the").n, 1); /* stop words count if there is nothing else */
  fixture_close(&f);
}

/* ---- scripts and names ---- */

TEST(texts_without_spaces_are_found_by_any_part) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory tokyo = fixture_fact(&f, &txn, STR(""), STR("明日は東京都庁で会議があります"), NULL);
  struct memory kyoto = fixture_fact(&f, &txn, STR(""), STR("京都の寺は静かです"), NULL);
  struct memory thai = fixture_fact(&f, &txn, STR(""), STR("ฉันกินข้าวที่บ้าน"), NULL);
  fixture_commit(&f, &txn);
  CHECK_INT(find(&f, "庁").v[0].memory_id, tokyo.id);
  CHECK_INT(find(&f, "庁").n, 1);
  CHECK_INT(find(&f, "京").n, 2);
  CHECK_INT(find(&f, "東京").n, 1);
  CHECK_INT(find(&f, "東京").v[0].memory_id, tokyo.id);
  CHECK_INT(find(&f, "東京都").v[0].memory_id, tokyo.id);
  CHECK_INT(find(&f, "京都").n, 2); /* also in 東京都 */
  CHECK_INT(find(&f, "京都の寺").v[0].memory_id, kyoto.id);
  CHECK_INT(find(&f, "東京都庁で会議があります").v[0].memory_id, tokyo.id);
  CHECK_INT(find(&f, "犬").n, 0);
  CHECK_INT(find(&f, "กินข้าว").v[0].memory_id, thai.id);
  fixture_close(&f);
}

TEST(names_are_found_in_any_spelling) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory snake = fixture_fact(&f, &txn, STR(""), STR("the function parse_ttl reads it"), NULL);
  struct memory camel = fixture_fact(&f, &txn, STR(""), STR("call openStoreFile first"), NULL);
  struct memory path = fixture_fact(&f, &txn, STR(""), STR("it lives in src/store/sqlite/driver.c there"), NULL);
  struct memory code = fixture_fact(&f, &txn, STR(""), STR("fails with ERR4042 on arm"), NULL);
  struct memory mail = fixture_fact(&f, &txn, STR(""), STR("send an e-mail"), NULL);
  fixture_fact(&f, &txn, STR(""), STR("version 1.2.4 has 3 faults"), NULL);
  struct memory version = fixture_fact(&f, &txn, STR(""), STR("version 1.2.3 is fine"), NULL);
  fixture_commit(&f, &txn);
  static const char *const ttl[] = {"parse_ttl", "parseTtl", "ParseTTL", "parsettl", "ttl"};
  for (size_t i = 0; i < ARRAY_LEN(ttl); i++) {
    test_note("%s", ttl[i]);
    CHECK_INT(find(&f, ttl[i]).v[0].memory_id, snake.id);
  }
  static const char *const store[] = {"openStoreFile", "open_store_file", "openstorefile"};
  for (size_t i = 0; i < ARRAY_LEN(store); i++) {
    test_note("%s", store[i]);
    CHECK_INT(find(&f, store[i]).v[0].memory_id, camel.id);
  }
  CHECK_INT(find(&f, "sqlite.c").v[0].memory_id, path.id);
  CHECK_INT(find(&f, "4042").v[0].memory_id, code.id);
  CHECK_INT(find(&f, "email").v[0].memory_id, mail.id);
  CHECK_INT(find(&f, "is 1.2.3 fine?").v[0].memory_id, version.id);
  fixture_close(&f);
}

TEST(a_note_is_found_by_its_derived_terms) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("plain text"), NULL);
  struct notes none = {0}, one = {0};
  list_push(&f.arena, &one, (struct note){.at = f.now, .by = STR("t"), .text = STR("東京 and parseTtl")});
  CHECK_OK(notes_set(&txn, &f.arena, &m, &none, &one, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(find(&f, "東京").n, 1);
  CHECK_INT(find(&f, "parse").n, 1);
  txn = fixture_begin(&f);
  CHECK_OK(notes_set(&txn, &f.arena, &m, &one, &none, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(find(&f, "東京").n, 0);
  bool ok;
  CHECK_OK(lexical_check(f.store, &ok, &f.err), &f.err);
  CHECK(ok);
  fixture_close(&f);
}

/* ---- frequencies ---- */

enum { GROUPED = 12000 };

/* Texts on one topic are adjacent, as in a list that was sorted before it was stored. */
static bool holds(size_t word, size_t i) {
  switch (word) {
  case 0: /* evenly */
    return i % 12 < 5;
  case 1: /* none at the start and the end */
    return i >= 3000 && i < 9000;
  case 2: /* many in the middle, few elsewhere */
    return i % 20 == 0 || (i >= 4800 && i < 7200);
  case 3: /* many at the start, few elsewhere */
    return i < 500 || i % 40 == 0;
  case 4: /* many at the end */
    return i >= GROUPED - 700;
  default: /* few, all adjacent */
    return i >= 8000 && i < 8100;
  }
}

/* The weight of a word depends on its frequency, not on where its texts are stored. */
TEST(the_weight_of_a_word_does_not_depend_on_row_order, .seconds = 120, .slow = true) {
  static const char *const words[] = {"lantern", "harvest", "granite", "copper", "walnut", "ember"};
  size_t rows[ARRAY_LEN(words)] = {0};
  struct fixture f = fixture_new();
  struct filter any = {0};
  struct txn txn = fixture_begin(&f);
  CHECK_OK(lexical_hold(&txn, &f.err), &f.err);
  for (size_t i = 0; i < GROUPED; i++) {
    struct buf b = BUF(&f.arena);
    buf_addf(&b, "text%zu", i);
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
      if (holds(k, i)) {
        buf_addf(&b, " %s", words[k]);
        rows[k]++;
      }
    fixture_fact(&f, &txn, STR(""), buf_str(&b), NULL);
  }
  CHECK_OK(lexical_release(&txn, &f.err), &f.err);
  fixture_commit(&f, &txn);
  for (size_t k = 0; k < ARRAY_LEN(words); k++) {
    struct lexical_hits hits = search_as(&f, &f.scope, &any, words[k], 10);
    test_note("%s: %.0f rows of %zu", words[k], hits.terms->v[0].df, rows[k]);
    CHECK_INT(hits.terms->n, 1);
    CHECK_NEAR(hits.terms->v[0].df, (double)rows[k], rows[k] < 128 ? 0.5 : (double)rows[k] * 0.2);
  }
  fixture_close(&f);
}

/* ---- pruning ---- */

enum { MANY = 6000, WORDS = 400 };

static uint32_t roll(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* A few words are in every third text; most are in few. */
static size_t some_word(uint32_t *state) {
  size_t most = (size_t)1 << (1 + roll(state) % 9);
  size_t word = roll(state) % most;
  return word < WORDS ? word : word % WORDS;
}

static struct str some_text(struct arena *a, uint32_t *state, size_t n) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < n; i++) {
    size_t word = some_word(state);
    buf_addf(&b, "zo%c%ck ", (char)('a' + word / 20), (char)('a' + word % 20));
  }
  return buf_str(&b);
}

/* Memory i is in project "p<i % every>" if that is below 3, else in "rest". */
static void fill(struct fixture *f, size_t every) {
  uint32_t state = 5;
  struct txn txn = fixture_begin(f);
  CHECK_OK(lexical_hold(&txn, &f->err), &f->err);
  for (size_t i = 0; i < MANY; i++) {
    struct str project = i % every < 3 ? arena_printf(&f->arena, "p%zu", i % every) : STR("rest");
    fixture_fact(f, &txn, project, some_text(&f->arena, &state, 12 + roll(&state) % 20), NULL);
  }
  CHECK_OK(lexical_release(&txn, &f->err), &f->err);
  fixture_commit(f, &txn);
}

static struct lexical_hits unpruned(struct fixture *f, const struct scope *scope, const struct filter *filter,
                                    const char *query) {
  struct lexical_hits hits = {0};
  struct chunk_query q = {.scope = scope, .filter = filter, .text = str_from(query), .limit = 10};
  CHECK_OK(lexical_search_all(f->store, &q, &f->arena, &hits, &f->err), &f->err);
  return hits;
}

static void same_hits(const struct lexical_hits *got, const struct lexical_hits *want) {
  CHECK_INT(got->n, want->n);
  for (size_t i = 0; i < got->n; i++) {
    CHECK_INT(got->v[i].chunk_id, want->v[i].chunk_id);
    CHECK_NEAR(got->v[i].score, want->v[i].score, 1e-9);
  }
}

TEST(pruning_does_not_change_the_best_hits, .seconds = 60, .slow = true) {
  struct fixture f = fixture_new();
  fill(&f, 500);
  f.scope.all_projects = true;
  struct filter any = {0};
  uint32_t state = 77;
  size_t pruned = 0;
  for (int i = 0; i < 40; i++) {
    struct str query = some_text(&f.arena, &state, 4 + roll(&state) % 5);
    test_note("query %d: %.*s", i, STR_ARG(query));
    struct lexical_hits got = search_as(&f, &f.scope, &any, query.p, 10), want = unpruned(&f, &f.scope, &any, query.p);
    CHECK_INT(want.n, 10);
    CHECK_INT(got.n, 10);
    for (size_t k = 0; k < 10; k++) {
      if (got.v[k].chunk_id != want.v[k].chunk_id)
        pruned++;
    }
    CHECK_INT(got.v[0].chunk_id, want.v[0].chunk_id);
  }
  CHECK(pruned <= 8); /* of 400 */
  fixture_close(&f);
}

/* The same texts, written one by one and in other batches, give the same answers. */
TEST(answers_do_not_depend_on_the_order_of_writes, .seconds = 60, .slow = true) {
  struct fixture f = fixture_new();
  fill(&f, 500);
  f.scope.all_projects = true;
  struct filter any = {0};
  struct lexical_hits before = search_as(&f, &f.scope, &any, "zoaak zobbk zocck zodik", 20);
  CHECK_OK(lexical_optimize(f.store, &f.err), &f.err);
  struct lexical_hits after = search_as(&f, &f.scope, &any, "zoaak zobbk zocck zodik", 20);
  same_hits(&after, &before);
  CHECK_OK(lexical_rebuild(f.store, &f.err), &f.err);
  after = search_as(&f, &f.scope, &any, "zoaak zobbk zocck zodik", 20);
  same_hits(&after, &before);
  fixture_close(&f);
}

/* A dozen memories among thousands: common words find all that contain one. */
TEST(a_small_project_in_a_large_store_loses_nothing, .seconds = 60, .slow = true) {
  struct fixture f = fixture_new();
  fill(&f, 500);
  f.scope.project = STR("p1");
  struct filter any = {0};
  static const char *const queries[] = {"zoaak", "zoaak zoabk", "zoaak zoabk zoack zoadk zoaek", "zobak zotak"};
  for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
    test_note("%s", queries[i]);
    struct lexical_hits got = search_as(&f, &f.scope, &any, queries[i], 10), want;
    want = unpruned(&f, &f.scope, &any, queries[i]);
    CHECK(want.n > 0);
    same_hits(&got, &want);
  }
  fixture_close(&f);
}

/* A project of several hundred memories is restricted inside the index. */
TEST(a_project_of_a_seventh_of_the_store_is_restricted_in_the_index, .seconds = 60, .slow = true) {
  struct fixture f = fixture_new();
  fill(&f, 7);
  struct filter any = {0};
  uint32_t state = 99;
  f.scope.project = STR("p2");
  for (int i = 0; i < 20; i++) {
    struct str query = some_text(&f.arena, &state, 3 + roll(&state) % 5);
    test_note("query %d: %.*s", i, STR_ARG(query));
    struct lexical_hits got = search_as(&f, &f.scope, &any, query.p, 10), want;
    want = unpruned(&f, &f.scope, &any, query.p);
    CHECK_INT(want.n, 10);
    same_hits(&got, &want);
  }
  fixture_close(&f);
}

TEST(narrow_filters_lose_nothing, .seconds = 60, .slow = true) {
  struct fixture f = fixture_new();
  fill(&f, 500);
  f.scope.all_projects = true;
  CHECK_OK(db_script(store_db(f.store), &f.err,
                     "/* all teams: some of each */ "
                     "UPDATE memory SET state = 'faded', state_reason = 'r', state_at = 1 WHERE id % 700 = 3;"
                     "UPDATE memory SET state = 'archived', state_reason = 'r', state_at = 1 WHERE id % 700 = 4;"
                     "INSERT INTO label (team, memory_id, field, pos, value)"
                     " SELECT team, id, 'tags', 0, 'few' FROM memory WHERE id % 900 = 5"),
           &f.err);
  struct filter filters[] = {{.states = "'faded'"}, {.states = "'archived', 'faded'"}, {.limit = 0}};
  strs_push(&f.arena, &filters[2].tags, STR("few"));
  for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
    test_note("filter %zu", i);
    struct lexical_hits got = search_as(&f, &f.scope, &filters[i], "zoaak zoabk zoack", 10), want;
    want = unpruned(&f, &f.scope, &filters[i], "zoaak zoabk zoack");
    CHECK(want.n > 2);
    same_hits(&got, &want);
  }
  fixture_close(&f);
}

/* ---- damage ---- */

static void damage(const char *sql) {
  sqlite3 *db;
  CHECK_INT(sqlite3_open(test_store("store.db"), &db), SQLITE_OK);
  char *why = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
    FAIL("%s: %s", sql, why);
  sqlite3_close(db);
}

#define GARBAGE                                                                                                        \
  "UPDATE chunk_fts_data SET block = CAST(replace(hex(zeroblob(length(block) / 2)), '0', '~') AS BLOB) WHERE id > 10"

static struct fixture many_texts(void) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  for (int i = 0; i < 300; i++)
    fixture_fact(&f, &txn, STR(""), arena_printf(&f.arena, "findable text %d of many words", i), NULL);
  fixture_commit(&f, &txn);
  return f;
}

/* Search reports the damage and continues, the check finds it, and a rebuild repairs it. */
static void check_damaged(struct fixture *f) {
  struct lexical_hits hits = {0};
  struct filter any = {0};
  struct chunk_query q = {.scope = &f->scope, .filter = &any, .text = STR("findable words 17"), .limit = 10};
  CHECK_OK(lexical_search(f->store, &q, &f->arena, &hits, &f->err), &f->err);
  CHECK(hits.damaged);
  CHECK_INT(hits.n, 0);
  bool ok;
  CHECK_OK(lexical_check(f->store, &ok, &f->err), &f->err);
  CHECK(!ok);
  CHECK_OK(lexical_rebuild(f->store, &f->err), &f->err);
  CHECK_OK(lexical_check(f->store, &ok, &f->err), &f->err);
  CHECK(ok);
  CHECK_INT(find(f, "findable words 17").n, 10);
}

TEST(a_damaged_index_is_reported_and_repaired, .only = TEST_ON_SQLITE) {
  static const char *const damages[] = {
      "UPDATE chunk_fts_data SET block = zeroblob(length(block)) WHERE id > 10",
      GARBAGE,
      "UPDATE chunk_fts_data SET block = x'ff' WHERE id = 10",
      "UPDATE chunk_fts_data SET block = x'ffffffffffffffffffff' WHERE id = 1",
      "UPDATE chunk_fts_data SET block = substr(block, 1, 9) WHERE id > 10",
      "DELETE FROM chunk_fts_data WHERE id > 10",
      "DELETE FROM chunk_fts_data WHERE id = 10",
      "DELETE FROM chunk_fts_data; DELETE FROM chunk_fts_config",
  };
  struct fixture f = many_texts();
  for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
    test_note("%s", damages[i]);
    store_close(&f.store);
    damage(damages[i]);
    f.store = fixture_open("store.db");
    check_damaged(&f);
  }
  fixture_close(&f);
}

/* Makes the rows of a word repeat: clears the differences between their ids. */
static void repeat_rows(sqlite3 *db, const char *word) {
  sqlite3_stmt *read, *write;
  int cleared = 0;
  CHECK_INT(sqlite3_prepare_v2(db, "SELECT id, block FROM chunk_fts_data WHERE id > 10", -1, &read, NULL), SQLITE_OK);
  CHECK_INT(sqlite3_prepare_v2(db, "UPDATE chunk_fts_data SET block = ?2 WHERE id = ?1", -1, &write, NULL), SQLITE_OK);
  while (sqlite3_step(read) == SQLITE_ROW) {
    unsigned char block[8192];
    size_t n = (size_t)sqlite3_column_bytes(read, 1);
    CHECK(n <= sizeof(block));
    memcpy(block, sqlite3_column_blob(read, 1), n);
    const unsigned char *at = memmem(block, n, word, strlen(word));
    /* After the word: the first id; for each row, twice the size of its positions, these, and the difference. */
    for (size_t i = at ? (size_t)(at - block) + strlen(word) + 1 : n; i < n && (i += 1 + block[i] / 2) < n;
         i++, cleared++) {
      if (block[i] != 1)
        break;
      block[i] = 0;
    }
    sqlite3_bind_int64(write, 1, sqlite3_column_int64(read, 0));
    sqlite3_bind_blob(write, 2, block, (int)n, SQLITE_TRANSIENT);
    CHECK_INT(sqlite3_step(write), SQLITE_DONE);
    sqlite3_reset(write);
  }
  sqlite3_finalize(read);
  sqlite3_finalize(write);
  CHECK(cleared > 64);
}

TEST(an_index_that_repeats_rows_is_reported_and_repaired, .only = TEST_ON_SQLITE) {
  struct fixture f = many_texts();
  sqlite3 *db;
  CHECK_OK(lexical_optimize(f.store, &f.err), &f.err);
  store_close(&f.store);
  CHECK_INT(sqlite3_open(test_store("store.db"), &db), SQLITE_OK);
  repeat_rows(db, "indabl");
  sqlite3_close(db);
  f.store = fixture_open("store.db");
  check_damaged(&f);
  fixture_close(&f);
}
