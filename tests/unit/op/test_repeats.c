/* test_repeats.c: near-duplicate rules are found; single steps of maintenance. */
#include "base/json.h"
#include "cairn.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct arena a; /* lives as long as the test */
static struct cairn *db;

static void open_store(void) {
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  struct cairn_options o = {.size = sizeof(o), .path = test_store("a.db"), .source = "test"};
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
}

static yyjson_val *call(const char *operation, const char *args) {
  char *json = NULL;
  size_t n = 0;
  struct error err;
  yyjson_val *root = NULL;
  test_note("%s %s", operation, args);
  CHECK_INT(cairn_call(db, operation, args, 0, &json, &n), CAIRN_OK);
  CHECK_OK(json_read(&a, arena_dup(&a, (struct str){json, n}), &root, &err), &err);
  cairn_free(json);
  return root;
}

TEST(pairs_of_rules_closest_first) {
  open_store();
  CHECK_INT(json_int(call("repeats", "{}"), "rules", -1), 0);
  call("remember", "{\"text\":\"Never deploy on Friday without a rollback plan\",\"type\":\"guardrail\"}");
  call("remember", "{\"text\":\"Never deploy on Friday without a rollback plan and two reviewers\",\"type\":\"rule\","
                   "\"distinct_from\":[\"1\"]}");
  call("remember", "{\"text\":\"The kitchen closes at nine\",\"type\":\"rule\"}");
  yyjson_val *r = call("repeats", "{}"), *pairs = yyjson_obj_get(r, "pairs"), *p = yyjson_arr_get_first(pairs);
  CHECK_INT(json_int(r, "rules", 0), 3);
  CHECK_INT(json_int(r, "repeated", 0), 2);
  CHECK_INT(yyjson_arr_size(pairs), 1);
  CHECK_INT(json_int(yyjson_obj_get(p, "a"), "id", 0), 1);
  CHECK_INT(json_int(yyjson_obj_get(p, "b"), "id", 0), 2);
  CHECK(json_num(p, "similarity", 0) > 0.7);
  /* a threshold that nothing reaches, and only rules of one severity */
  CHECK_INT(json_int(call("repeats", "{\"above\":0.999}"), "repeated", -1), 0);
  r = call("repeats", "{\"severity\":\"blocker\"}");
  CHECK_INT(json_int(r, "rules", 0), 1);
  CHECK_INT(json_int(r, "repeated", -1), 0);
  /* superseded rules are not compared */
  call("supersede", "{\"id\":\"2\",\"text\":\"Two people review every change\",\"reason\":\"one idea each\"}");
  CHECK_INT(json_int(call("repeats", "{}"), "repeated", -1), 0);
  cairn_close(&db);
}

TEST(single_steps_of_maintenance) {
  open_store();
  call("remember", "{\"text\":\"The build takes nine minutes\"}");
  yyjson_val *r = call("maintain", "{\"only\":[\"faded\"],\"named\":true}");
  CHECK_INT(json_int(r, "faded", -1), 0);
  CHECK(!yyjson_obj_get(r, "archived") && !yyjson_obj_get(r, "embedded"));
  CHECK(yyjson_is_arr(yyjson_obj_get(yyjson_obj_get(r, "ids"), "faded")));
  /* a single step does not count as a run: maintenance is still due */
  r = call("maintain", "{}");
  CHECK_INT(json_int(r, "archived", -1), 0);
  CHECK(json_bool(call("maintain", "{\"if_due\":true,\"hours\":1}"), "skipped", false));
  cairn_close(&db);
}
