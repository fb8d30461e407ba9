/* test_graph.c: the knowledge graph: stored, read, corrected, undone, exported. */
#include "support/cli.h"

#define ALICE                                                                                                          \
  "{\"type\":\"entity\",\"name\":\"Alice\",\"entityType\":\"person\",\"observations\":[\"Speaks fluent Spanish\"]}"
#define ACME "{\"type\":\"entity\",\"name\":\"Acme\",\"entityType\":\"company\",\"observations\":[]}"
#define WORKS "{\"type\":\"relation\",\"from\":\"Alice\",\"to\":\"Acme\",\"relationType\":\"works at\"}"

TEST(entities_are_memories) {
  yyjson_val *r = OK("graph", "create", ALICE, ACME, WORKS);
  CHECK_INT(jlen(r, "entities"), 2);
  CHECK_INT(jlen(r, "relations"), 1);
  yyjson_val *m = OK("get", "1");
  CHECK_STR(jstr(m, "body"), "Alice: Speaks fluent Spanish");
  CHECK(jhas_str(m, "entity", "Alice") && jhas_str(m, "entity_type", "person"));
  CHECK_STR(jstr(m, "links[0].reason"), "works at");
  CHECK_INT(jint(OK("search", "who speaks Spanish"), "results[0].id"), 1);
  struct run text = CAIRN("graph", "read", "Alice");
  CHECK_STR(text.out, "Alice (person)\n  - Speaks fluent Spanish\nAlice -> works at -> Acme\n");
  CHECK_HEALTHY();
}

TEST(creating_again_changes_nothing) {
  OK("graph", "create", ALICE, ACME, WORKS);
  struct str before = snapshot();
  yyjson_val *r = OK("graph", "create", ALICE, ACME, WORKS);
  CHECK_INT(jlen(r, "entities"), 0);
  CHECK_INT(jlen(r, "relations"), 0);
  CHECK(!jget(r, "txn"));
  OK("graph", "observe", "{\"entityName\":\"Alice\",\"contents\":[\"Speaks fluent Spanish\"]}");
  OK("graph", "delete", "--entity", "Nobody");
  CHECK_UNCHANGED(before);
}

TEST(undo_restores_a_deleted_entity_with_its_relations) {
  OK("graph", "create", ALICE, ACME, WORKS);
  struct str before = jstr(OK("graph", "read"), "entities[0].name");
  yyjson_val *r = OK("graph", "delete", "--entity", "Alice");
  CHECK_INT(jlen(OK("graph", "read"), "entities"), 1);
  CHECK_INT(jlen(OK("graph", "read"), "relations"), 0);
  OK("undo", num(jint(r, "txn")));
  r = OK("graph", "read");
  CHECK_INT(jlen(r, "entities"), 2);
  CHECK_STR(jstr(r, "entities[0].name"), cstr(before));
  CHECK_STR(jstr(r, "relations[0].relationType"), "works at");
}

TEST(faded_memories_stay_in_the_graph) {
  OK("agent", "add", "bot", "--role", "admin");
  cli_set("CAIRN_AGENT=bot");
  OK("graph", "create", ALICE);
  cli_set("CAIRN_AGENT");
  cli_day(60);
  OK("maintain");
  CHECK_STR(sql_string("SELECT state FROM memory WHERE id = 1"), "faded");
  CHECK_STR(jstr(OK("graph", "read"), "entities[0].observations[0]"), "Speaks fluent Spanish");
  CHECK_INT(jlen(OK("graph", "create", ALICE), "entities"), 0);
}

TEST(many_observations_are_embedded_later) {
  static struct arena scratch; /* lives as long as the test */
  struct buf line = BUF(&scratch);
  buf_adds(&line, "{\"type\":\"entity\",\"name\":\"Log\",\"entityType\":\"journal\",\"observations\":[");
  for (int i = 0; i < 40; i++)
    buf_addf(&line, "%s\"entry %d of the journal\"", i ? "," : "", i);
  buf_adds(&line, "]}");
  OK("graph", "create", line.p);
  CHECK_INT(jlen(OK("graph", "read", "Log"), "entities[0].observations"), 40);
  CHECK_STR(jstr(OK("graph", "read", "Log"), "entities[0].observations[39]"), "entry 39 of the journal");
  CHECK(jint(OK("maintain"), "embedded") >= 40);
  CHECK_HEALTHY();
}

TEST(projects_have_separate_graphs) {
  OK("graph", "create", ALICE, "--project", "one");
  CHECK_INT(jlen(OK("graph", "read", "--project", "two"), "entities"), 0);
  OK("graph", "create", "{\"type\":\"entity\",\"name\":\"Alice\",\"entityType\":\"cat\",\"observations\":[\"Purrs\"]}",
     "--project", "two");
  CHECK_STR(jstr(OK("graph", "read", "--project", "two"), "entities[0].entityType"), "cat");
  CHECK_STR(jstr(OK("graph", "read", "--project", "one"), "entities[0].entityType"), "person");
}

TEST(an_export_restores_the_graph) {
  OK("graph", "create", ALICE, ACME, WORKS);
  const char *path = path_join(NULL, "all.jsonl");
  CHECK_INT(CAIRN("export", path).exit_code, 0);
  cli_set(textf("CAIRN_DB=%s", test_store("other.db")));
  OK("import", path);
  yyjson_val *r = OK("graph", "read", "Alice");
  CHECK_STR(jstr(r, "entities[0].entityType"), "person");
  CHECK_STR(jstr(r, "entities[0].observations[0]"), "Speaks fluent Spanish");
  CHECK_STR(jstr(r, "relations[0].to"), "Acme");
  CHECK_STR(jstr(OK("graph", "read", "Acme"), "entities[0].entityType"), "company");
}

TEST(bad_lines_are_refused) {
  OK("graph", "create", ALICE);
  REFUSED("usage", "graph", "create", "nonsense");
  REFUSED("usage", "graph", "create", "{\"type\":\"poem\"}");
  REFUSED("usage", "graph", "observe", "{\"entityName\":\"Alice\"}");
  REFUSED("usage", "graph", "delete", "{\"entityName\":\"Alice\"}");
  REFUSED("not_found", "graph", "observe", "{\"entityName\":\"Bob\",\"contents\":[\"x\"]}");
  REFUSED("not_found", "graph", "create", WORKS);
}
