/* test_complete.c: completion of memory ids that the caller may see. */
#include "op/handlers.h"

#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct arena a;
static struct error err;
static struct engine *engine;

static yyjson_mut_val *run(const struct op *op, const char *project, const char *json) {
  struct caller caller = {
      .team = STR("default"), .project = str_from(project), .source = STR("test"), .trust = STR("user")};
  yyjson_val *args;
  yyjson_mut_val *result = NULL;
  CHECK_OK(json_read(&a, str_from(json), &args, &err), &err);
  CHECK_OK(op_run(engine, op, &caller, NULL, &a, args, &result, &err), &err);
  return result;
}

static struct str ids(const char *project, const char *prefix, int limit) {
  const char *args = arena_printf(&a, "{\"prefix\":\"%s\",\"limit\":%d}", prefix, limit).p;
  return json_write(&a, run(&complete_ids, project, args), false);
}

TEST(ids_by_their_first_digits) {
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  struct engine_options o = {.path = test_store("ids.db"), .clock = {.fixed = 1763208000000}};
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  for (int i = 1; i <= 112; i++)
    run(op_find(STR("remember")), i % 2 ? "odd" : "",
        arena_printf(&a, "{\"text\":\"House %d has colour%d and %d windows\"}", i, i * 31, i * 7).p);
  run(op_find(STR("forget")), "", "{\"ids\":[\"108\"],\"reason\":\"gone\"}");
  CHECK_STR(ids("odd", "1", 20), "{\"ids\":[1,10,11,12,13,14,15,16,17,18,19,100,101,102,103,104,105,106,107,109],"
                                 "\"more\":true}");
  CHECK_STR(ids("odd", "11", 20), "{\"ids\":[11,110,111,112],\"more\":false}");
  CHECK_STR(ids("", "11", 20), "{\"ids\":[110,112],\"more\":false}"); /* ids of another project are hidden */
  CHECK_STR(ids("odd", "", 3), "{\"ids\":[112,111,110],\"more\":true}");
  CHECK_STR(ids("odd", "9", 3), "{\"ids\":[9,90,91],\"more\":true}");
  CHECK_STR(ids("odd", "108", 3), "{\"ids\":[],\"more\":false}");
  static const char *const nothing[] = {"0", "-1", "1 ", "+1", "x", "999999999999999999", "9999999999999999999999"};
  for (size_t i = 0; i < ARRAY_LEN(nothing); i++) {
    test_note("%s", nothing[i]);
    CHECK_STR(ids("odd", nothing[i], 3), "{\"ids\":[],\"more\":false}");
  }
  engine_close(&engine);
}
