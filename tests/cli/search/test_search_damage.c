/* test_search_damage.c: a search with a part of the store broken: it answers by what is left and says what to do;
 * doctor finds the damage and mends it. */
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

/* doctor ends with the code of "degraded", and names what to do about this check. */
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
  /* Where words alone are asked for, there is nothing; and that is said. */
  r = OK("search", "--mode", "keyword", "seagulls");
  CHECK_INT(jlen(r, "results"), 0);
  CHECK(has(jstr(r, "degraded"), "full-text"));
  /* Vectors alone miss nothing. */
  CHECK(!jget(OK("search", "--mode", "vector", "seagulls"), "degraded"));
  doctor_finds("full_text");
  yyjson_val *mended = OK("doctor", option);
  CHECK(jbool(mended, "ok"));
  CHECK(fine(mended, "full_text"));
  hybrid_again(id);
}

TEST(an_overwritten_full_text_index, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("UPDATE chunk_fts_data SET block = zeroblob(length(block)) WHERE id > 10");
  words_are_lost(id, "--repair");
}

TEST(a_full_text_index_of_noise, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("UPDATE chunk_fts_data SET block = randomblob(length(block)) WHERE id > 10");
  words_are_lost(id, "--repair");
}

TEST(a_full_text_index_without_its_structure, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("DELETE FROM chunk_fts_data WHERE id = 10");
  words_are_lost(id, "--fix"); /* the other name of it */
}

/* ---- the vector index ---- */

TEST(an_overwritten_vector_block, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("UPDATE vec_head SET places = randomblob(length(places))");
  yyjson_val *r = OK("search", "seagulls at the harbour");
  CHECK_INT(jint(r, "results[0].id"), id); /* by its words */
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

TEST(both_at_once, .only = TEST_ON_SQLITE) {
  int64_t id = store_some();
  sql_do("UPDATE chunk_fts_data SET block = zeroblob(length(block)) WHERE id > 10;"
         "UPDATE vec_head SET places = x'00'; UPDATE vec_slot SET vector = zeroblob(length(vector))");
  yyjson_val *r = OK("search", "seagulls at the harbour");
  CHECK_INT(jlen(r, "results"), 0);
  CHECK(has(jstr(r, "degraded"), "full-text"));
  CHECK_INT(jint(OK("get", num(id)), "id"), id);           /* no text is lost */
  OK("remember", "Rosemary is cheap at the market today"); /* and none is refused */
  CHECK(jbool(OK("doctor", "--repair"), "ok"));
  OK("maintain");
  hybrid_again(id);
}

/* ---- the embedder ---- */

/* A team that never had another embedder than a file that is not there. */
TEST(a_model_file_that_is_missing_or_damaged) {
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
    CHECK_STR(jstr(r, "search_mode"), "keyword"); /* words are better than nothing */
    CHECK_INT(jint(r, "results[0].id"), 1);
    CHECK(has(jstr(r, "degraded"), "model.cairn"));
    CHECK(!jget(OK("search", "--mode", "keyword", "seagulls"), "results[1]"));
  }
  OK("config", "embedder", "hash-v1");
  OK("reembed");
  hybrid_again(1);
}

TEST(no_embedder_by_choice_is_no_fault) {
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
