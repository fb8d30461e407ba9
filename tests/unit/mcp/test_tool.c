/* test_tool.c: tools on a real store: arguments, answers, errors, confirmation. */
#include "mcp/tools/tool.h"

#include "support/harness.h"
#include "tooling.h"

static const struct tool_arg id_args[] = {{.name = "id", .form = TOOL_ID}, {0}};
static const struct tool_arg store_args[] = {
    {.name = "note", .form = TOOL_TEXT, .flags = ARG_REQUIRED, .to = "text"},
    {.name = "weight", .form = TOOL_NUMBER},
    {.name = "tags", .form = TOOL_LIST},
    {.name = "session", .form = TOOL_TEXT},
    {.name = "more", .form = TOOL_OBJECT, .flags = ARG_SPREAD},
    {0},
};
static const struct tool_arg change_args[] = {
    {.name = "id", .form = TOOL_ID},
    {.name = "reason", .form = TOOL_TEXT},
    {.name = "direction", .form = TOOL_TEXT},
    {0},
};
static const struct tool_action change_actions[] = {
    {.name = "forget", .op = "forget", .needs = "id reason", .renames = "id=ids"},
    {.name = "purge", .op = "purge", .needs = "id", .renames = "id=ids", .flags = TOOL_DESTROYS},
    {.name = "rate", .op = "rate", .needs = "id direction"},
    {.name = "history", .op = "history", .needs = "id", .flags = TOOL_READS},
    {0},
};
static const struct tool tools[] = {
    {.name = "show", .description = "Shows.", .op = "get", .flags = TOOL_READS, .args = id_args},
    {.name = "keep", .description = "Keeps.", .op = "remember", .args = store_args},
    {.name = "change", .description = "Changes.", .args = change_args, .actions = change_actions},
    {.name = "memory_list", .op = "list", .flags = TOOL_READS},
    {0},
};
static const struct profile profile = {.name = "test", .tools = tools};
static const struct profile reading = {.name = "reading", .tools = tools, .read_only = true};

static struct tool_run run;
static struct engine *engine;

static const char *refusal(const char *tool, const char *json) {
  CHECK_STATUS(tooling_call(&run, &profile, engine, tool, json), STATUS_USAGE);
  return tooling_error.message;
}

TEST(arguments_reach_the_operation_under_its_names) {
  engine = tooling_engine();
  yyjson_mut_val *r = tooling_ok(&run, &profile, engine, "keep",
                                 "{\"note\":\"The build server has 64 cores\",\"weight\":\"0.5\",\"tags\":\"ci\","
                                 "\"more\":{\"type\":\"decision\",\"weight\":0.25}}");
  CHECK_STR(arena_dup(&tooling_arena, str_from(yyjson_mut_get_str(yyjson_mut_obj_get(r, "type")))), "decision");
  r = tooling_ok(&run, &profile, engine, "show", "{\"id\":1}");
  CHECK_NEAR(yyjson_mut_get_num(yyjson_mut_obj_get(r, "weight")), 0.25, 1e-9);
  CHECK_INT(yyjson_mut_arr_size(yyjson_mut_obj_get(r, "tags")), 1);
  CHECK(tooling_has(run.text, "The build server has 64 cores"));
  CHECK(tooling_has(run.text, TOOL_NOTICE));
  tooling_ok(&run, &profile, engine, "show", "{\"id\":\"1\",\"id\":\"1\"}");
  engine_close(&engine);
}

TEST(errors_name_the_argument) {
  engine = tooling_engine();
  CHECK(tooling_has(str_from(refusal("keep", "{\"nots\":\"x\"}")), "'nots'"));
  CHECK(tooling_has(str_from(tooling_error.fix), "did you mean 'note'"));
  CHECK(tooling_has(str_from(refusal("keep", "{}")), "'note' is missing"));
  CHECK(tooling_has(str_from(refusal("keep", "{\"note\":\"x\",\"weight\":\"heavy\"}")), "'weight' must be a number"));
  CHECK(tooling_has(str_from(refusal("keep", "{\"note\":[1]}")), "'note' must be a text"));
  CHECK(tooling_has(str_from(refusal("keep", "{\"note\":null}")), "'note' is missing"));
  CHECK(tooling_has(str_from(refusal("change", "{\"id\":1}")), "'action' is missing"));
  CHECK(tooling_has(str_from(refusal("change", "{\"action\":\"forgt\",\"id\":1}")), "'forgt'"));
  CHECK(tooling_has(str_from(tooling_error.fix), "did you mean 'forget'"));
  CHECK(tooling_has(str_from(refusal("change", "{\"action\":\"forget\",\"id\":1}")), "'forget' needs 'reason'"));
  engine_close(&engine);
}

TEST(refusals_of_operations_are_answers) {
  engine = tooling_engine();
  CHECK_OK(tooling_call(&run, &profile, engine, "show", "{\"id\":77}"), &tooling_error);
  CHECK(run.is_error);
  CHECK(tooling_has(run.text, "77"));
  CHECK(yyjson_mut_is_obj(yyjson_mut_obj_get(run.result, "error")));
  CHECK(tooling_has(run.text, "memory_list {}"));
  engine_close(&engine);
}

TEST(an_action_accepts_the_arguments_of_its_operation) {
  engine = tooling_engine();
  tooling_ok(&run, &profile, engine, "keep", "{\"note\":\"Lunch is at noon\"}");
  CHECK_OK(tooling_call(&run, &profile, engine, "change",
                        "{\"action\":\"rate\",\"id\":1,\"direction\":\"up\",\"reason\":\"x\"}"),
           &tooling_error);
  CHECK(run.is_error && tooling_has(run.text, "takes no 'reason'"));
  yyjson_mut_val *r =
      tooling_ok(&run, &profile, engine, "change", "{\"action\":\"forget\",\"id\":1,\"reason\":\"no longer true\"}");
  CHECK_INT(yyjson_mut_arr_size(yyjson_mut_obj_get(r, "forgotten")), 1);
  engine_close(&engine);
}

TEST(irreversible_changes_need_consent) {
  engine = tooling_engine();
  tooling_ok(&run, &profile, engine, "keep", "{\"note\":\"The code of the door is on the fridge\"}");
  CHECK_STATUS(tooling_call(&run, &profile, engine, "change", "{\"action\":\"purge\",\"id\":1}"), STATUS_CONFIRM);
  run.confirmed = true;
  CHECK_OK(tool_call(&run), &tooling_error);
  CHECK(!run.is_error);
  run.confirmed = false;
  engine_close(&engine);
}

/* Eleven memories in one call of the full profile: forgotten, and restored. */
TEST(bulk_changes_need_consent) {
  const struct profile *full = profile_find(STR("full"));
  engine = tooling_engine();
  struct buf ids = BUF(&tooling_arena);
  for (int i = 1; i <= 11; i++) {
    static const char *const things[] = {"anchor", "barrel", "candle", "drum",   "easel", "fence",
                                         "goblet", "hammer", "icicle", "jacket", "kettle"};
    tooling_ok(&run, &profile, engine, "keep",
               arena_printf(&tooling_arena, "{\"note\":\"The %s stands in room %d\"}", things[i - 1], i * 7).p);
    buf_addf(&ids, "%s\"%d\"", i > 1 ? "," : "", i);
  }
  tooling_trust = STR("agent");
  const char *few = "{\"ids\":[\"1\",\"2\"],\"reason\":\"sold\"}";
  struct str all = arena_printf(&tooling_arena, "{\"ids\":[%.*s],\"reason\":\"sold\"}", (int)ids.n, ids.p);
  tooling_ok(&run, full, engine, "memory_forget", few);
  CHECK_STATUS(tooling_call(&run, full, engine, "memory_forget", all.p), STATUS_CONFIRM);
  run.confirmed = true;
  CHECK_OK(tool_call(&run), &tooling_error);
  CHECK(!run.is_error);
  CHECK_INT(yyjson_mut_arr_size(yyjson_mut_obj_get(run.result, "forgotten")), 9);
  run.confirmed = false;
  /* Undoing a transaction with nine memories needs no consent, with more it does. */
  int64_t txn = yyjson_mut_get_sint(yyjson_mut_obj_get(run.result, "txn"));
  tooling_ok(&run, full, engine, "memory_undo", arena_printf(&tooling_arena, "{\"txn\":%lld}", (long long)txn).p);
  tooling_trust = STR("user");
  buf_addf(&ids, ",\"12\",\"13\"");
  tooling_ok(&run, &profile, engine, "keep", "{\"note\":\"The ladder leans in room 91\"}");
  tooling_ok(&run, &profile, engine, "keep", "{\"note\":\"The mirror hangs in room 98\"}");
  all = arena_printf(&tooling_arena, "{\"ids\":[%.*s],\"reason\":\"sold\"}", (int)ids.n, ids.p);
  yyjson_mut_val *r = tooling_ok(&run, full, engine, "memory_forget", all.p);
  txn = yyjson_mut_get_sint(yyjson_mut_obj_get(r, "txn"));
  tooling_trust = STR("agent");
  struct str undo = arena_printf(&tooling_arena, "{\"txn\":%lld}", (long long)txn);
  CHECK_STATUS(tooling_call(&run, full, engine, "memory_undo", undo.p), STATUS_CONFIRM);
  run.confirmed = true;
  CHECK_OK(tool_call(&run), &tooling_error);
  CHECK(!run.is_error);
  run.confirmed = false;
  engine_close(&engine);
}

TEST(a_read_only_profile_refuses_writes) {
  engine = tooling_engine();
  tooling_ok(&run, &profile, engine, "keep", "{\"note\":\"Lunch is at noon\"}");
  CHECK_OK(tooling_call(&run, &reading, engine, "keep", "{\"note\":\"Dinner is at six\"}"), &tooling_error);
  CHECK(run.is_error && tooling_has(run.text, "is read-only"));
  CHECK_OK(tooling_call(&run, &reading, engine, "change", "{\"action\":\"forget\",\"id\":1,\"reason\":\"x\"}"),
           &tooling_error);
  CHECK(run.is_error);
  tooling_ok(&run, &reading, engine, "change", "{\"action\":\"history\",\"id\":1}");
  engine_close(&engine);
}

TEST(the_session_of_a_call_is_the_callers) {
  engine = tooling_engine();
  tooling_ok(&run, &profile, engine, "keep", "{\"note\":\"Lunch is at noon\",\"session\":\"s-1\"}");
  CHECK_STR(run.caller.session, "s-1");
  CHECK_STR(run.caller.tool, "keep");
  engine_close(&engine);
}

/* ---- fading ---- */

static int64_t count(const char *where) {
  int64_t n = 0;
  CHECK_OK(db_int(store_db(engine->store), &n, NULL, &tooling_error,
                  arena_printf(&tooling_arena, "SELECT count(*) FROM memory WHERE team = ?1 AND %s", where).p, "s",
                  STR("default")),
           &tooling_error);
  return n;
}

static int64_t by_person(const char *op, const char *json, const char *member) {
  struct caller person = {
      .team = STR("default"), .project = STR(""), .source = STR("cli"), .trust = STR("user"), .project_given = true};
  yyjson_val *args;
  yyjson_mut_val *result = NULL;
  CHECK_OK(json_read(&tooling_arena, str_from(json), &args, &tooling_error), &tooling_error);
  CHECK_OK(op_run(engine, op_find(str_from(op)), &person, NULL, &tooling_arena, args, &result, &tooling_error),
           &tooling_error);
  return yyjson_mut_get_sint(yyjson_mut_obj_get(result, member));
}

static int64_t maintain(const char *json, const char *member) { return by_person("maintain", json, member); }

static void store_with(const char *name, const char *tool, const char *json) {
  test_note("%s", name);
  tooling_ok(&run, profile_find(str_from(name)), engine, tool, json);
}

TEST(only_memories_of_cairns_own_tools_fade) {
  engine = tooling_engine();
  tooling_trust = STR("agent");
  store_with("default", "memory_store", "{\"text\":\"The sails are white\",\"type\":\"fact\"}");
  store_with("full", "memory_remember", "{\"text\":\"Anchors weigh a ton\",\"type\":\"meeting\"}");
  store_with("mememory", "remember", "{\"content\":\"Lamps burn whale oil\",\"type\":\"fact\"}");
  store_with("openhive", "memory_save", "{\"key\":\"ropes\",\"content\":\"Ropes are hemp\",\"type\":\"context\"}");
  store_with("openhive", "memory_save",
             "{\"key\":\"storm\",\"content\":\"A storm broke the mast\",\"type\":\"historical\"}");
  store_with("openbrain", "remember", "{\"content\":\"Barrels hold fresh water\",\"source\":\"test\"}");
  store_with("openbrain2", "remember_fact_v2",
             "{\"headline\":\"Masts are spruce\",\"body\":\"Masts are made of spruce\",\"source\":\"test\"}");
  store_with("graph", "create_entities",
             "{\"entities\":[{\"name\":\"Ann\",\"entityType\":\"sailor\",\"observations\":[\"Ann ties knots\"]}]}");
  store_with("anthropic", "memory",
             "{\"command\":\"create\",\"path\":\"/memories/hold.md\",\"file_text\":\"The hold is dry\"}");
  test_note("maintenance");
  int64_t all = count("1 = 1");
  engine->clock.fixed += 400 * MS_PER_DAY;
  CHECK_INT(maintain("{}", "faded"), 1);
  CHECK_INT(count("state = 'faded' AND headline LIKE 'The sails%'"), 1);
  CHECK_INT(count("state = 'archived' AND headline LIKE 'Anchors%'"), 1);
  CHECK_INT(count("state = 'active'"), all - 2);
  /* A client that asks for it by name gets it: openbrain2 has such tools. */
  CHECK(maintain("{\"only\":[\"faded\"]}", "faded") > 0);
  CHECK_INT(count("state = 'faded' AND headline LIKE 'Masts%'"), 1);
  tooling_trust = STR("user");
  engine_close(&engine);
}

TEST(a_restored_memory_fades_only_if_it_did_before) {
  engine = tooling_engine();
  tooling_trust = STR("agent");
  store_with("default", "memory_store", "{\"text\":\"The sails are white\",\"type\":\"fact\"}");
  store_with("mememory", "remember", "{\"content\":\"Lamps burn whale oil\",\"type\":\"fact\"}");
  engine->clock.fixed += 100 * MS_PER_DAY;
  int64_t txn = by_person("prune", "{\"apply\":true}", "txn");
  CHECK_INT(count("1 = 1"), 0);
  CHECK_INT(by_person("undo", arena_printf(&tooling_arena, "{\"txn\":%lld}", (long long)txn).p, "changes"), 2);
  CHECK_INT(count("state = 'active'"), 2);
  engine->clock.fixed += 400 * MS_PER_DAY;
  CHECK_INT(maintain("{}", "faded"), 1);
  CHECK_INT(count("state = 'faded' AND headline LIKE 'The sails%'"), 1);
  tooling_trust = STR("user");
  engine_close(&engine);
}
