/* test_search_damage.c: search in a damaged store: it falls back to the intact indexes and says what to do; doctor
 * finds and repairs the damage. */
#include <unistd.h>

#include "support/cli.h"

static int64_t store_some(void) {
  int64_t id = STORE("The harbour master counts seagulls at noon");
  STORE("Quince jam needs an hour on the stove");
  STORE("The telescope wants a new mirror");
  return id;
}

static bool fine(yyjson_val *doctor, const char *name) {
  for (size_t i = 0; i < jlen(doctor, "checks"); i++)
    if (str_is(jstr(doctor, textf("checks[%zu].name", i)), name))
      return jbool(doctor, textf("checks[%zu].ok", i));
  FAIL("doctor has no check %s", name);
}

static struct str fix_of(yyjson_val *doctor, const char *name) {
  for (size_t i = 0; i < jlen(doctor, "checks"); i++)
    if (str_is(jstr(doctor, textf("checks[%zu].name", i)), name))
      return jstr(doctor, textf("checks[%zu].fix", i));
  FAIL("doctor has no check %s", name);
}

/* doctor exits with the "degraded" code and suggests a fix for this check. */
static void doctor_finds(const char *name) {
  struct run r = CAIRN("doctor", "--json");
  CHECK_INT(r.exit_code, 11);
  yyjson_val *v = lines_of(r.out).v[0];
  CHECK(!jbool(v, "ok"));
  CHECK(!fine(v, name));
  CHECK(has(fix_of(v, name), "cairn doctor --repair"));
}

static void hybrid_again(int64_t id) {
  yyjson_val *r = OK("search", "seagulls at the harbour");
  CHECK_STR(jstr(r, "search_mode"), "hybrid");
  CHECK(!jget(r, "degraded"));
  CHECK_INT(jint(r, "results[0].id"), id);
  CHECK_STR(jstr(r, "results[0].source"), "hybrid");
  CHECK_HEALTHY();
}

/* ---- the full-text index ---- */

static void words_are_lost(int64_t id, const char *option) {
  yyjson_val *r = OK("search", "seagulls at the harbour");
  CHECK_STR(jstr(r, "search_mode"), "vector");
  CHECK_INT(jint(r, "results[0].id"), id);
  CHECK_STR(jstr(r, "results[0].source"), "vector");
  CHECK(has(jstr(r, "degraded"), "full-text"));
  CHECK(has(jstr(r, "degraded"), "cairn doctor --repair"));
  /* A keyword search has no results and says why. */
  r = OK("search", "--mode", "keyword", "seagulls");
  CHECK_INT(jlen(r, "results"), 0);
  CHECK(has(jstr(r, "degraded"), "full-text"));
  /* A vector search is not affected. */
  CHECK(!jget(OK("search", "--mode", "vector", "seagulls"), "degraded"));
  doctor_finds("full_text");
  yyjson_val *mended = OK("doctor", option);
  CHECK(jbool(mended, "ok"));
  CHECK(fine(mended, "full_text"));
  hybrid_again(id);
}

TEST(overwritten_full_text_index, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("UPDATE chunk_fts_data SET block = zeroblob(length(block)) WHERE id > 10");
  words_are_lost(id, "--repair");
}

TEST(random_full_text_index, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("UPDATE chunk_fts_data SET block = randomblob(length(block)) WHERE id > 10");
  words_are_lost(id, "--repair");
}

TEST(full_text_index_without_structure_record, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("DELETE FROM chunk_fts_data WHERE id = 10");
  words_are_lost(id, "--fix"); /* alias of --repair */
}

/* ---- the vector index ---- */

TEST(overwritten_vector_head, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("UPDATE vec_head SET places = randomblob(length(places))");
  yyjson_val *r = OK("search", "seagulls at the harbour");
  CHECK_INT(jint(r, "results[0].id"), id); /* by full-text search */
  CHECK(has(jstr(r, "degraded"), "vector index"));
  CHECK(has(jstr(r, "degraded"), "cairn doctor --repair"));
  doctor_finds("vectors");
  CHECK(fine(OK("doctor", "--repair"), "vectors"));
  OK("maintain");
  hybrid_again(id);
}

TEST(overwritten_vectors, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("UPDATE vec_slot SET vector = randomblob(length(vector))");
  yyjson_val *r = OK("search", "seagulls at the harbour");
  CHECK_INT(jint(r, "results[0].id"), id);
  CHECK(has(jstr(r, "degraded"), "cairn doctor --repair"));
  doctor_finds("vectors");
  CHECK(fine(OK("doctor", "--repair"), "vectors"));
  OK("maintain");
  hybrid_again(id);
}

TEST(both_indexes_damaged, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("UPDATE chunk_fts_data SET block = zeroblob(length(block)) WHERE id > 10;"
         "UPDATE vec_head SET places = x'00'; UPDATE vec_slot SET vector = zeroblob(length(vector))");
  yyjson_val *r = OK("search", "seagulls at the harbour");
  CHECK_INT(jlen(r, "results"), 0);
  CHECK(has(jstr(r, "degraded"), "full-text"));
  CHECK_INT(jint(OK("get", num(id)), "id"), id);           /* no text is lost */
  OK("remember", "Rosemary is cheap at the market today"); /* writes still succeed */
  CHECK(jbool(OK("doctor", "--repair"), "ok"));
  OK("maintain");
  hybrid_again(id);
}

/* ---- the embedder ---- */

/* A team whose only embedder is a missing file. */
TEST(missing_or_damaged_model_file) {
  const char *path = path_join(NULL, "model.cairn");
  cli_set("CAIRN_EMBEDDER");
  OK("config", "embedder.file", path);
  OK("config", "embedder", "file");
  yyjson_val *r = OK("remember", "The harbour master counts seagulls at noon");
  CHECK(!jbool(r, "embedded"));
  for (int i = 0; i < 4; i++) {
    test_note("step %d", i);
    if (i == 1)
      file_write(path, STR(""));
    if (i == 2)
      file_write(path, STR("this is no model"));
    if (i == 3)
      file_write(path, str_from(words("damage", 5000)));
    r = OK("search", "seagulls at the harbour");
    CHECK_STR(jstr(r, "search_mode"), "keyword");
    CHECK_INT(jint(r, "results[0].id"), 1);
    CHECK_STR(jstr(r, "results[0].source"), "keyword");
    CHECK(has(jstr(r, "degraded"), "model.cairn"));
    r = OK("search", "--mode", "vector", "seagulls at the harbour");
    CHECK_STR(jstr(r, "search_mode"), "keyword"); /* falls back to keywords */
    CHECK_INT(jint(r, "results[0].id"), 1);
    CHECK(has(jstr(r, "degraded"), "model.cairn"));
    CHECK(!jget(OK("search", "--mode", "keyword", "seagulls"), "results[1]"));
  }
  OK("config", "embedder", "hash-v1");
  OK("reembed");
  hybrid_again(1);
}

TEST(disabled_embedding_is_not_an_error) {
  cli_set("CAIRN_EMBEDDER=none");
  store_some();
  yyjson_val *r = OK("search", "seagulls at the harbour");
  CHECK_STR(jstr(r, "search_mode"), "keyword");
  CHECK(!jget(r, "degraded") && !jget(r, "embedded"));
  CHECK_INT(jint(r, "results[0].id"), 1);
  r = OK("search", "--mode", "vector", "seagulls at the harbour");
  CHECK_STR(jstr(r, "search_mode"), "keyword");
  CHECK_INT(jint(r, "results[0].id"), 1);
}
