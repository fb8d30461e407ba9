/* test_import_graph.c: parser for the official memory server's graph. */
#include "base/id.h"
#include "op/transfer/import.h"
#include "support/harness.h"

static struct arena arena;

static struct str refused(const char *line) {
  struct graph_line g;
  struct error *err = arena_new(&arena, struct error);
  if (graph_read(&arena, str_from(line), &g, err) == STATUS_OK)
    FAIL("was read: %s", line);
  CHECK(err->fix[0]);
  return str_from(err->message);
}

TEST(an_entity_has_a_name_a_type_and_observations) {
  struct graph_line g;
  struct error err;
  CHECK_OK(graph_read(&arena,
                      STR("{\"type\":\"entity\",\"name\":\"John Smith\",\"entityType\":\"person\","
                          "\"observations\":[\"Speaks Spanish\",\"  \",\"Likes tea\"],\"added\":\"later\"}"),
                      &g, &err),
           &err);
  CHECK(!g.relation);
  CHECK_STR(g.name, "John Smith");
  CHECK_STR(g.type, "person");
  CHECK_INT(g.observations.n, 2); /* blank observations are dropped */
  CHECK_STR(g.observations.v[1], "Likes tea");
}

TEST(a_relation_has_two_ends) {
  struct graph_line g;
  struct error err;
  CHECK_OK(graph_read(&arena, STR("{\"type\":\"relation\",\"from\":\"A\",\"to\":\"B\",\"relationType\":\"owns\"}"), &g,
                      &err),
           &err);
  CHECK(g.relation);
  CHECK_STR(g.from, "A");
  CHECK_STR(g.to, "B");
  CHECK_STR(g.type, "owns");
}

TEST(other_lines_are_refused) {
  CHECK(str_starts(refused("{"), STR("not valid JSON")));
  CHECK_STR(refused("[]"), "the line is neither an entity nor a relation");
  CHECK_STR(refused("{\"type\":\"node\"}"), "the line is neither an entity nor a relation");
  CHECK_STR(refused("{\"type\":\"entity\",\"name\":\" \",\"entityType\":\"x\",\"observations\":[]}"),
            "the entity has no name");
  CHECK_STR(refused("{\"type\":\"entity\",\"name\":\"A\",\"observations\":[]}"),
            "the entity has no entityType or no list of observations");
  CHECK_STR(refused("{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"x\",\"observations\":\"o\"}"),
            "the entity has no entityType or no list of observations");
  CHECK_STR(refused("{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"x\",\"observations\":[1]}"),
            "an observation is not a text");
  CHECK_STR(refused("{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"x\",\"observations\":[\"a\\u0000\"]}"),
            "an observation is not a text");
  CHECK_STR(refused("{\"type\":\"relation\",\"from\":\"A\",\"relationType\":\"x\"}"),
            "the relation has no from, to or relationType");
}

TEST(types_become_tags) {
  CHECK_STR(graph_slug(&arena, STR("Programming Language")), "programming-language");
  CHECK_STR(graph_slug(&arena, STR("  C++ / C# ")), "c-c");
  CHECK_STR(graph_slug(&arena, STR("Café")), "cafe");
  CHECK_STR(graph_slug(&arena, STR("人物")), "人物");
  CHECK_STR(graph_slug(&arena, STR("!?")), "");
}

TEST(format_is_detected_by_the_first_line) {
  CHECK_INT(import_detect_format(&arena, STR("{\"cairn\":\"export\",\"version\":1,\"schema\":1}")), FORMAT_NATIVE);
  CHECK_INT(import_detect_format(&arena, STR("{\"cairn\":\"export\",\"version\":99}")), FORMAT_NATIVE);
  CHECK_INT(import_detect_format(&arena, STR("{\"type\":\"entity\",\"name\":\"x\"}")), FORMAT_GRAPH);
  CHECK_INT(import_detect_format(&arena, STR("{\"type\":\"relation\"}")), FORMAT_GRAPH);
  CHECK_INT(import_detect_format(&arena, STR("{\"type\":\"other\"}")), FORMAT_UNKNOWN);
  CHECK_INT(import_detect_format(&arena, STR("# A title")), FORMAT_UNKNOWN);
  CHECK_INT(import_detect_format(&arena, STR("[]")), FORMAT_UNKNOWN);
}

TEST(uids_depend_only_on_the_texts) {
  const struct str ab[] = {STR("a"), STR("b")}, joined[] = {STR("ab"), STR("")}, again[] = {STR("a"), STR("b")};
  struct str first = import_uid(&arena, ab, 2);
  CHECK(str_eq(first, import_uid(&arena, again, 2)));
  CHECK(!str_eq(first, import_uid(&arena, joined, 2)));
  CHECK(uuid_is_valid(first));
  CHECK_INT(first.p[14], '8'); /* UUIDv8 of RFC 9562: custom hash */
}
