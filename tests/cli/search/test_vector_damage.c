/* test_vector_damage.c: overwritten bytes in the vector index: search continues and reports it, doctor finds and
 * repairs it. */
#include "support/cli.h"

static void store_three(void) {
  OK("remember", "The harbour master counts seagulls at dawn");
  OK("remember", "Invoices are printed on yellow paper");
  OK("remember", "The telescope needs a new mirror");
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 3);
}

static bool check_is_ok(yyjson_val *doctor, const char *name) {
  yyjson_val *checks = yyjson_obj_get(doctor, "checks"), *c;
  yyjson_arr_iter it = yyjson_arr_iter_with(checks);
  while ((c = yyjson_arr_iter_next(&it)))
    if (strcmp(yyjson_get_str(yyjson_obj_get(c, "name")), name) == 0)
      return yyjson_get_bool(yyjson_obj_get(c, "ok"));
  FAIL("doctor has no check %s", name);
}

static void found_and_mended(int64_t lost) {
  yyjson_val *r = OK("search", "seagulls in the harbour");
  CHECK_INT(jint(r, "results[0].id"), 1); /* by full-text search if not by vector */
  CHECK(str_find(jstr(r, "degraded"), STR("damaged"), 0) != SIZE_MAX);
  struct run doctor = CAIRN("doctor", "--json");
  CHECK(doctor.exit_code > 0);
  CHECK(!check_is_ok(lines_of(doctor.out).v[0], "vectors"));
  CHECK(check_is_ok(OK("doctor", "--repair"), "vectors"));
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 3 - lost);
  OK("maintain");
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 3);
  r = OK("search", "seagulls in the harbour");
  CHECK_INT(jint(r, "results[0].id"), 1);
  CHECK(!yyjson_obj_get(r, "degraded"));
  CHECK_HEALTHY();
}

TEST(truncated_head, .only = TEST_ON_SQLITE) {
  store_three();
  sql_do("UPDATE vec_head SET places = substr(places, 1, 100)");
  found_and_mended(0);
}

TEST(overwritten_head, .only = TEST_ON_SQLITE) {
  store_three();
  sql_do("UPDATE vec_head SET places = CAST(x'ff' || substr(places, 2) AS BLOB)");
  found_and_mended(0);
}

TEST(overwritten_vector, .only = TEST_ON_SQLITE) {
  store_three();
  sql_do("UPDATE vec_slot SET vector = CAST(substr(vector, 1, 200) || x'0102030405' || substr(vector, 206) AS BLOB)"
         " WHERE chunk_id = 1");
  found_and_mended(1);
}

TEST(used_count_too_low, .only = TEST_ON_SQLITE) {
  store_three();
  sql_do("UPDATE vec_block SET used = 1");
  found_and_mended(0);
}

/* Damage never blocks a write. */
TEST(writes_succeed_despite_damage, .only = TEST_ON_SQLITE) {
  store_three();
  sql_do("UPDATE vec_block SET used = 0; UPDATE vec_head SET places = x'00'");
  OK("remember", "A fourth memory about lighthouses");
  yyjson_val *r = OK("search", "lighthouses");
  CHECK_INT(jint(r, "results[0].id"), 4);
  CHECK(check_is_ok(OK("doctor", "--repair"), "vectors"));
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 4);
}
