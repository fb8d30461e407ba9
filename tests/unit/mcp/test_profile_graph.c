/* test_profile_graph.c: conversation with the nine tools of the official memory server: names, arguments, results,
 * errors. */
#include "support/harness.h"
#include "support/proc.h"
#include "tooling.h"

static struct tool_run run;
static struct engine *engine;
static const struct profile *profile;

static void begin(void) {
  engine = tooling_engine();
  profile = profile_find(STR("graph"));
  CHECK(profile != NULL);
}

/* The text as JSON. */
static yyjson_val *call(const char *tool, const char *json) {
  yyjson_val *v;
  tooling_ok(&run, profile, engine, tool, json);
  CHECK_OK(json_read(&tooling_arena, run.text, &v, &tooling_error), &tooling_error);
  return v;
}

/* Compact JSON for comparisons. */
static struct str compact(yyjson_val *v) { return json_write_val(&tooling_arena, v); }
static struct str structured(void) { return json_write(&tooling_arena, run.result, false); }

static struct str said(const char *tool, const char *json) {
  tooling_ok(&run, profile, engine, tool, json);
  return run.text;
}

static struct str refused(const char *tool, const char *json) {
  CHECK_OK(tooling_call(&run, profile, engine, tool, json), &tooling_error);
  CHECK(run.is_error);
  return run.text;
}

#define ALICE                                                                                                          \
  "{\"name\":\"Alice Smith\",\"entityType\":\"Team Member\",\"observations\":[\"Speaks fluent Spanish\",\"Started in " \
  "2021\"]}"
#define ACME "{\"name\":\"Acme\",\"entityType\":\"company\",\"observations\":[]}"
#define BOB "{\"name\":\"Bob\",\"entityType\":\"person\",\"observations\":[\"Plays chess\"]}"
#define WORKS "{\"from\":\"Alice Smith\",\"to\":\"Acme\",\"relationType\":\"works_at\"}"
#define OWNS "{\"from\":\"Alice Smith\",\"to\":\"Acme\",\"relationType\":\"owns shares of\"}"
#define KNOWS "{\"from\":\"Bob\",\"to\":\"Alice Smith\",\"relationType\":\"knows\"}"

static void fill(void) {
  call("create_entities", "{\"entities\":[" ALICE "," ACME "," BOB "]}");
  call("create_relations", "{\"relations\":[" WORKS "," KNOWS "]}");
}

TEST(there_are_nine_tools) {
  static const char *const names[] = {"create_entities", "create_relations",    "add_observations",
                                      "delete_entities", "delete_observations", "delete_relations",
                                      "read_graph",      "search_nodes",        "open_nodes"};
  begin();
  size_t n = 0;
  for (const struct tool *t = profile->tools; t->name; t++)
    n++;
  CHECK_INT(n, ARRAY_LEN(names));
  for (size_t i = 0; i < n; i++)
    CHECK(tool_find(profile, str_from(names[i])) != NULL);
  engine_close(&engine);
}

TEST(a_graph_is_made_and_read) {
  begin();
  CHECK_STR(compact(call("read_graph", "{}")), "{\"entities\":[],\"relations\":[]}");
  CHECK_STR(compact(call("create_entities", "{\"entities\":[" ALICE "," ACME "]}")), "[" ALICE "," ACME "]");
  CHECK_STR(structured(), "{\"entities\":[" ALICE "," ACME "]}");
  /* An existing name is not changed. */
  CHECK_STR(
      compact(call("create_entities", "{\"entities\":[{\"name\":\"Acme\",\"entityType\":\"bank\",\"observations\":"
                                      "[\"New\"]}," BOB "]}")),
      "[" BOB "]");
  CHECK_STR(compact(call("create_relations", "{\"relations\":[" WORKS "," KNOWS "]}")), "[" WORKS "," KNOWS "]");
  CHECK_STR(structured(), "{\"relations\":[" WORKS "," KNOWS "]}");
  CHECK_STR(compact(call("create_relations", "{\"relations\":[" WORKS "," OWNS "]}")), "[" OWNS "]");
  CHECK_STR(compact(call("create_relations", "{\"relations\":[" WORKS "]}")), "[]");
  yyjson_val *g = call("read_graph", "{}");
  CHECK_STR(compact(yyjson_obj_get(g, "entities")), "[" ALICE "," ACME "," BOB "]");
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(g, "relations")), 3);
  CHECK(tooling_has(compact(g), WORKS) && tooling_has(compact(g), OWNS) && tooling_has(compact(g), KNOWS));
  CHECK_STR(structured(), compact(g).p);
  engine_close(&engine);
}

TEST(observations_are_added_once) {
  begin();
  fill();
  CHECK_STR(compact(call("add_observations",
                         "{\"observations\":[{\"entityName\":\"Bob\",\"contents\":[\"Plays chess\",\"Likes tea\"]},"
                         "{\"entityName\":\"Acme\",\"contents\":[\"Makes anvils\"]}]}")),
            "[{\"entityName\":\"Bob\",\"addedObservations\":[\"Likes tea\"]},{\"entityName\":\"Acme\","
            "\"addedObservations\":[\"Makes anvils\"]}]");
  CHECK(tooling_has(structured(), "{\"results\":[{\"entityName\":\"Bob\""));
  CHECK_STR(
      compact(call("add_observations", "{\"observations\":[{\"entityName\":\"Bob\",\"contents\":[\"Likes tea\"]}]}")),
      "[{\"entityName\":\"Bob\",\"addedObservations\":[]}]");
  /* An unknown name refuses the whole call. */
  CHECK_STR(refused("add_observations", "{\"observations\":[{\"entityName\":\"Bob\",\"contents\":[\"Rows\"]},"
                                        "{\"entityName\":\"Nobody\",\"contents\":[\"x\"]}]}"),
            "Entity with name Nobody not found");
  yyjson_val *g = call("open_nodes", "{\"names\":[\"Bob\",\"Acme\"]}");
  CHECK_STR(compact(yyjson_obj_get(g, "entities")),
            "[{\"name\":\"Acme\",\"entityType\":\"company\",\"observations\":[\"Makes anvils\"]},{\"name\":\"Bob\","
            "\"entityType\":\"person\",\"observations\":[\"Plays chess\",\"Likes tea\"]}]");
  engine_close(&engine);
}

TEST(nodes_are_opened_with_their_relations) {
  begin();
  fill();
  yyjson_val *g = call("open_nodes", "{\"names\":[\"Acme\",\"Nobody\"]}");
  CHECK_STR(compact(yyjson_obj_get(g, "entities")), "[" ACME "]");
  /* Relations with one requested entity are included. */
  CHECK_STR(compact(yyjson_obj_get(g, "relations")), "[" WORKS "]");
  CHECK_STR(compact(call("open_nodes", "{\"names\":[\"Nobody\"]}")), "{\"entities\":[],\"relations\":[]}");
  CHECK_STR(compact(call("open_nodes", "{\"names\":[]}")), "{\"entities\":[],\"relations\":[]}");
  engine_close(&engine);
}

TEST(nodes_are_found_by_name_type_and_observation) {
  begin();
  fill();
  static const char *const queries[][2] = {{"alice", ALICE},     {"LICE SM", ALICE}, {"company", ACME},
                                           {"team memb", ALICE}, {"panish", ALICE},  {"CHESS", BOB}};
  for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
    test_note("%s", queries[i][0]);
    yyjson_val *g = call("search_nodes", arena_printf(&tooling_arena, "{\"query\":\"%s\"}", queries[i][0]).p);
    CHECK_STR(compact(yyjson_obj_get(g, "entities")), arena_printf(&tooling_arena, "[%s]", queries[i][1]).p);
  }
  yyjson_val *g = call("search_nodes", "{\"query\":\"chess\"}");
  CHECK_STR(compact(yyjson_obj_get(g, "relations")), "[" KNOWS "]");
  CHECK_STR(compact(call("search_nodes", "{\"query\":\"zeppelin\"}")), "{\"entities\":[],\"relations\":[]}");
  /* Words need not be adjacent. */
  g = call("search_nodes", "{\"query\":\"fluent in Spanish\"}");
  CHECK(tooling_has(compact(yyjson_obj_get(g, "entities")), "Alice Smith"));
  engine_close(&engine);
}

TEST(deleting_missing_items_succeeds) {
  begin();
  fill();
  CHECK_STR(said("delete_observations",
                 "{\"deletions\":[{\"entityName\":\"Alice Smith\",\"observations\":[\"Started in "
                 "2021\",\"Never said\"]},{\"entityName\":\"Nobody\",\"observations\":[\"x\"]}]}"),
            "Observations deleted successfully");
  CHECK_STR(structured(), "{\"success\":true,\"message\":\"Observations deleted successfully\"}");
  yyjson_val *g = call("open_nodes", "{\"names\":[\"Alice Smith\"]}");
  CHECK(tooling_has(compact(g), "\"observations\":[\"Speaks fluent Spanish\"]"));
  /* An entity without observations stays, with its relations. */
  said("delete_observations",
       "{\"deletions\":[{\"entityName\":\"Alice Smith\",\"observations\":[\"Speaks fluent Spanish\"]}]}");
  g = call("open_nodes", "{\"names\":[\"Alice Smith\"]}");
  CHECK_STR(compact(yyjson_obj_get(g, "entities")),
            "[{\"name\":\"Alice Smith\",\"entityType\":\"Team Member\",\"observations\":[]}]");
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(g, "relations")), 2);

  call("create_relations", "{\"relations\":[" OWNS "]}");
  CHECK_STR(said("delete_relations",
                 "{\"relations\":[" WORKS ",{\"from\":\"Acme\",\"to\":\"Moon\",\"relationType\":\"x\"}]}"),
            "Relations deleted successfully");
  g = call("read_graph", "{}");
  CHECK(!tooling_has(compact(g), "works_at"));
  CHECK(tooling_has(compact(g), OWNS) && tooling_has(compact(g), KNOWS));

  CHECK_STR(said("delete_entities", "{\"entityNames\":[\"Alice Smith\",\"Nobody\"]}"), "Entities deleted successfully");
  CHECK_STR(structured(), "{\"success\":true,\"message\":\"Entities deleted successfully\"}");
  CHECK_STR(compact(call("read_graph", "{}")), "{\"entities\":[" ACME "," BOB "],\"relations\":[]}");
  /* The name can be reused; nothing of the deleted entity is left. */
  call("create_entities",
       "{\"entities\":[{\"name\":\"Alice Smith\",\"entityType\":\"cat\",\"observations\":[\"Purrs\"]}]}");
  g = call("open_nodes", "{\"names\":[\"Alice Smith\"]}");
  CHECK_STR(compact(g),
            "{\"entities\":[{\"name\":\"Alice Smith\",\"entityType\":\"cat\",\"observations\":[\"Purrs\"]}],"
            "\"relations\":[]}");
  engine_close(&engine);
}

TEST(an_imported_graph_is_the_same_graph) {
  begin();
  const char *path = path_join(NULL, "memory.jsonl");
  file_write(path,
             STR("{\"type\":\"entity\",\"name\":\"Alice Smith\",\"entityType\":\"Team Member\",\"observations\":["
                 "\"Speaks fluent Spanish\",\"Started in 2021\"]}\n"
                 "{\"type\":\"entity\",\"name\":\"Acme\",\"entityType\":\"company\",\"observations\":[]}\n"
                 "{\"type\":\"relation\",\"from\":\"Alice Smith\",\"to\":\"Acme\",\"relationType\":\"works_at\"}\n"
                 "{\"type\":\"relation\",\"from\":\"Alice Smith\",\"to\":\"Acme\",\"relationType\":\"owns shares "
                 "of\"}\n"));
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  yyjson_val *args;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&tooling_arena, arena_printf(&tooling_arena, "{\"file\":\"%s\"}", path), &args, &tooling_error),
           &tooling_error);
  CHECK_OK(op_run(engine, op_find(STR("import")), &caller, NULL, &tooling_arena, args, &result, &tooling_error),
           &tooling_error);
  CHECK_STR(compact(call("read_graph", "{}")),
            "{\"entities\":[" ALICE "," ACME "],\"relations\":[" WORKS "," OWNS "]}");
  CHECK_STR(compact(call("create_entities", "{\"entities\":[" ALICE "]}")), "[]");
  engine_close(&engine);
}

TEST(a_corrected_observation_stays_with_its_entity) {
  begin();
  fill();
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  yyjson_val *args;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&tooling_arena, STR("{\"id\":\"1\",\"text\":\"Alice Smith: Speaks Portuguese\",\"soft\":true}"),
                     &args, &tooling_error),
           &tooling_error);
  CHECK_OK(op_run(engine, op_find(STR("supersede")), &caller, NULL, &tooling_arena, args, &result, &tooling_error),
           &tooling_error);
  yyjson_val *g = call("open_nodes", "{\"names\":[\"Alice Smith\"]}");
  CHECK(tooling_has(compact(g), "Speaks Portuguese") && !tooling_has(compact(g), "Spanish"));
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(g, "relations")), 2);
  engine_close(&engine);
}

TEST(invalid_graphs_are_refused) {
  begin();
  fill();
  CHECK_STR(
      refused("create_relations", "{\"relations\":[{\"from\":\"Acme\",\"to\":\"Moon\",\"relationType\":\"owns\"}]}"),
      "Entity with name Moon not found");
  CHECK(tooling_has(
      refused("create_relations", "{\"relations\":[{\"from\":\"Acme\",\"to\":\"Acme\",\"relationType\":\"is\"}]}"),
      "cannot have a relation to itself\nstore it as an observation"));
  static const char *const members[][2] = {{"name", "entityType"}, {"entityType", "name"}};
  for (size_t i = 0; i < ARRAY_LEN(members); i++) {
    struct buf b = BUF(&tooling_arena);
    buf_addf(&b, "{\"entities\":[{\"%s\":\"", members[i][0]);
    for (int n = 0; n < 801; n++)
      buf_addc(&b, 'n');
    buf_addf(&b, "\",\"%s\":\"x\",\"observations\":[]}]}", members[i][1]);
    CHECK(tooling_has(refused("create_entities", buf_str(&b).p),
                      arena_printf(&tooling_arena, "the %s of an entity has 801 bytes", members[i][0]).p));
  }
  CHECK(tooling_has(refused("create_entities",
                            "{\"entities\":[{\"name\":\"Vault\",\"entityType\":\"x\",\"observations\":["
                            "\"ghp_16C7e42F292c6912E7710c838347Ae178B4a\"]}]}"),
                    "secret"));
  CHECK(tooling_has(run.text, "\nremove it"));
  refused("create_entities", "{\"entities\":[{\"name\":\"\",\"entityType\":\"x\",\"observations\":[]}]}");
  refused("create_entities", "{\"entities\":[{\"name\":\"Half\"}]}");
  CHECK_STATUS(tooling_call(&run, profile, engine, "create_entities", "{}"), STATUS_USAGE);
  CHECK_STATUS(tooling_call(&run, profile, engine, "search_nodes", "{}"), STATUS_USAGE);
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(call("read_graph", "{}"), "entities")), 3);
  engine_close(&engine);
}

TEST(texts_round_trip) {
  begin();
  const char *odd = "{\"name\":\"42\",\"entityType\":\"\",\"observations\":[\"  two  blanks \\n and a line\",\"Update: "
                    "1\\nUpdate: 2\",\"42: 42\",\"\\u4eba\"]}";
  CHECK_STR(compact(call("create_entities", arena_printf(&tooling_arena, "{\"entities\":[%s]}", odd).p)),
            arena_printf(&tooling_arena, "[%s]",
                         "{\"name\":\"42\",\"entityType\":\"\",\"observations\":[\"  two  blanks \\n "
                         "and a line\",\"Update: 1\\nUpdate: 2\",\"42: 42\",\"\xe4\xba\xba\"]}")
                .p);
  yyjson_val *g = call("open_nodes", "{\"names\":[\"42\"]}");
  CHECK_STR(
      compact(yyjson_obj_get(g, "entities")),
      "[{\"name\":\"42\",\"entityType\":\"\",\"observations\":[\"  two  blanks \\n and a line\",\"Update: 1\\nUpdate: "
      "2\",\"42: 42\",\"\xe4\xba\xba\"]}]");
  engine_close(&engine);
}

TEST(the_graph_is_a_resource) {
  begin();
  fill();
  struct str text;
  const struct profile_resource *r = profile->resources;
  CHECK_STR(str_from(r->uri), "memory://knowledge-graph");
  CHECK_OK(r->read(&run, STR_NONE, &text), run.err);
  yyjson_val *v;
  CHECK_OK(json_read(&tooling_arena, text, &v, &tooling_error), &tooling_error);
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(v, "entities")), 3);
  engine_close(&engine);
}
