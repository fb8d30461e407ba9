/* test_reply_cache.c: a repeated search returns the cached result unless a memory has changed. */
#include "op/run/reply_cache.h"

#include <unistd.h>

#include "support/cli.h"

static struct arena a;
static struct engine *engine;
static struct caller caller;
static struct error err;

static void open_engine(void) {
  struct engine_options o = {.path = test_store("store.db"), .clock = {.fixed = INT64_C(1800000000000)}};
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  caller = (struct caller){.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
}

static struct str run(struct engine *e, const char *op, const char *args) {
  yyjson_val *v;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&a, str_from(args), &v, &err), &err);
  CHECK_OK(op_run(e, op_find(str_from(op)), &caller, NULL, &a, v, &result, &err), &err);
  return json_write(&a, result, false);
}

static struct str search(const char *query) {
  return run(engine, "search", textf("{\"query\":\"%s\",\"mode\":\"keyword\"}", query));
}

static int64_t searches(void) {
  reads_flush(engine->store);
  int64_t n;
  CHECK_OK(db_int(store_db(engine->store), &n, NULL, &err, "SELECT count(*) FROM event WHERE action = 'memory:search'",
                  NULL),
           &err);
  return n;
}

/* As op_run() would make it. */
static struct op_call call_of(const char *query) {
  struct op_call call = {.op = op_find(STR("search")),
                         .engine = engine,
                         .caller = caller,
                         .arena = &a,
                         .doc = json_new(&a),
                         .now = clock_now(&engine->clock),
                         .err = &err};
  CHECK_OK(json_read(&a, str_from(textf("{\"query\":\"%s\",\"mode\":\"keyword\"}", query)), &call.args, &err), &err);
  call.result = yyjson_mut_obj(call.doc);
  return call;
}

/* Is the reply in the cache? */
static bool cached(const char *query) {
  struct op_call call = call_of(query);
  return reply_cache_find(&call, reply_cache_key(&call));
}

TEST(the_same_query_gets_the_same_reply_and_is_recorded) {
  open_engine();
  run(engine, "remember", "{\"text\":\"The printer on floor two needs a driver from its vendor\"}");
  CHECK(!cached("printer driver"));
  struct str first = search("printer driver");
  CHECK(has(first, "floor two"));
  CHECK(cached("printer driver"));
  CHECK_STR(search("printer driver"), cstr(first));
  CHECK_INT(searches(), 3);        /* the lookup by cached() is a read, too */
  CHECK(cached("printer driver")); /* read events do not change memories */
  CHECK(!cached("another question"));
  engine_close(&engine);
}

TEST(a_change_by_this_or_another_handle_empties_it) {
  open_engine();
  struct engine *other;
  struct engine_options o = {.path = test_store("store.db"), .clock = {.fixed = INT64_C(1800000000000)}};
  CHECK_OK(engine_open(&o, &other, &err), &err);
  run(engine, "remember", "{\"text\":\"The printer on floor two needs a driver from its vendor\"}");
  search("printer");
  CHECK(cached("printer"));
  run(other, "remember", "{\"text\":\"The printer on floor nine was replaced by a plotter\"}");
  CHECK(!cached("printer"));
  CHECK(has(search("printer"), "floor nine"));
  run(other, "search", "{\"query\":\"printer\"}");
  reads_flush(other->store);
  CHECK(cached("printer")); /* nor do those of another caller */
  run(engine, "forget", "{\"ids\":[\"2\"],\"reason\":\"obsolete\"}");
  CHECK(!has(search("printer"), "floor nine"));
  engine_close(&other);
  engine_close(&engine);
}

TEST(other_callers_have_separate_replies) {
  open_engine();
  run(engine, "remember", "{\"text\":\"The printer on floor two needs a driver from its vendor\"}");
  search("printer");
  CHECK(cached("printer"));
  caller.project = STR("p");
  CHECK(!cached("printer"));
  caller.project = STR("");
  caller.all_projects = true;
  CHECK(!cached("printer"));
  caller.all_projects = false;
  caller.team = STR("others");
  CHECK(!cached("printer"));
  CHECK(!has(search("printer"), "floor two"));
  engine_close(&engine);
}

TEST(expired_memories_disappear_at_once) {
  open_engine();
  run(engine, "remember", "{\"text\":\"The printer on floor two is free until the meeting begins\",\"ttl\":\"20s\"}");
  CHECK(has(search("printer"), "floor two"));
  CHECK(cached("printer"));
  engine->clock.fixed += 21 * 1000;
  CHECK(!has(search("printer"), "floor two"));
  engine_close(&engine);
}

TEST(a_reply_expires_after_a_minute) {
  open_engine();
  run(engine, "remember", "{\"text\":\"The printer on floor two needs a driver from its vendor\"}");
  search("printer");
  CHECK(cached("printer"));
  engine->clock.fixed += 60 * 1000;
  CHECK(!cached("printer"));
  engine_close(&engine);
}

TEST(the_oldest_replies_are_evicted, .slow = true) {
  open_engine();
  run(engine, "remember", "{\"text\":\"The printer on floor two needs a driver from its vendor\"}");
  for (int i = 0; i < 1000; i++)
    search(textf("printer %d", i));
  CHECK(cached("printer 999"));
  int kept = 0;
  for (int i = 0; i < 1000; i++)
    kept += cached(textf("printer %d", i));
  CHECK(kept >= 100 && kept <= 256);
  engine_close(&engine);
}

/* ---- several teams ---- */

static bool team_cached(const char *team, const char *query) {
  caller.team = str_from(team);
  return cached(query);
}

static struct str team_search(const char *team, const char *query) {
  caller.team = str_from(team);
  return search(query);
}

TEST(a_team_does_not_clear_the_cache_of_another) {
  static const char *const teams[] = {"alpha", "beta", "gamma"};
  open_engine();
  for (size_t i = 0; i < ARRAY_LEN(teams); i++) {
    caller.team = str_from(teams[i]);
    for (size_t k = 0; k <= i; k++) /* a different transaction count for each team */
      run(engine, "remember", textf("{\"text\":\"Printer %zu of team %s stands on floor two\"}", k, teams[i]));
  }
  for (int round = 0; round < 3; round++)
    for (size_t i = 0; i < ARRAY_LEN(teams); i++) {
      test_note("round %d, %s", round, teams[i]);
      CHECK_INT(team_cached(teams[i], "printer"), round > 0);
      CHECK(has(team_search(teams[i], "printer"), teams[i]));
    }
  /* A change invalidates the replies of its team. */
  caller.team = STR("beta");
  run(engine, "remember", "{\"text\":\"A plotter replaced the printer on floor nine\"}");
  CHECK(!team_cached("beta", "printer"));
  CHECK(has(team_search("beta", "printer"), "plotter"));
  CHECK(team_cached("beta", "printer"));
  CHECK(!has(team_search("alpha", "printer"), "plotter"));
  engine_close(&engine);
}

/* In a file, all teams share the transaction counter. */
TEST(a_change_leaves_the_replies_of_other_teams, .only = TEST_ON_POSTGRES) {
  open_engine();
  caller.team = STR("alpha");
  run(engine, "remember", "{\"text\":\"The printer of the first team stands on floor two\"}");
  team_search("alpha", "printer");
  team_search("beta", "printer");
  run(engine, "remember", "{\"text\":\"A plotter replaced the printer on floor nine\"}");
  CHECK(team_cached("alpha", "printer"));
  CHECK(!team_cached("beta", "printer"));
  engine_close(&engine);
}

TEST(large_replies_of_many_teams_are_bounded) {
  enum { TEAMS = 80, BYTES = 60 << 10, MOST = (4 << 20) / BYTES };
  char text[BYTES];
  memset(text, 'x', sizeof(text));
  open_engine();
  for (int i = 0; i < TEAMS; i++) {
    struct generation now;
    caller.team = str_from(textf("team%d", i));
    struct op_call call = call_of("printer");
    CHECK_OK(store_generation(engine->store, caller.team, &now, &err), &err);
    json_put(call.doc, call.result, "text", (struct str){text, sizeof(text)});
    reply_cache_store(&call, reply_cache_key(&call), &now, STR("{}"));
  }
  int kept = 0;
  for (int i = 0; i < TEAMS; i++)
    kept += team_cached(textf("team%d", i), "printer");
  CHECK(kept <= MOST);
  CHECK(kept > MOST / 2); /* only the oldest were evicted */
  CHECK(!team_cached("team0", "printer"));
  CHECK(team_cached(textf("team%d", TEAMS - 1), "printer"));
  engine_close(&engine);
}
