/* test_profile_openbrain_details.c: Open Brain v1: action items of persons, and the order of pinned memories. */
#include "mcp/tools/internal.h"
#include "script.h"

/* ---- action items ---- */

static yyjson_mut_val *answer_plants(void) {
  return script_call("acknowledge_action_item",
                     J({"source" : "a", "memory_id" : 0, "text" : "Water the plants", "decision" : "will_execute"}));
}

static int64_t pending_in(const char *args) { return brain_int(script_op("action list", args), "pending", -1); }

TEST(an_item_that_a_person_added_can_be_answered) {
  script_open("openbrain");
  script_op("action add", J({"text" : "Water the plants", "project" : "quarry"}));
  script_op("action add", J({"text" : "Water the plants", "project" : "harbor"}));
  script_call("boot_session", J({"project" : "quarry", "source" : "a"}));
  const char *write = J({"content" : "Lunch is at noon", "source" : "a", "project" : "quarry"});
  yyjson_mut_val *r = script_refused("remember", write);
  CHECK(script_says(r, "error", "acknowledge_action_item(source=\"a\", memory_id=0, text=\"Water the plants\""));
  CHECK_INT(brain_int(script_at(r, "pending_action_items", 0), "memory_id", -1), 0);
  /* the item of the session's project comes first, though the other one is newer */
  CHECK_INT(brain_int(answer_plants(), "removed", 0), 1);
  CHECK_INT(pending_in(J({"project" : "quarry"})), 0);
  CHECK_INT(pending_in(J({"project" : "harbor"})), 1);
  CHECK_STR(result_text(script_call("remember", write), "action"), "stored");
  /* then that of another project, to which the session wants to write */
  script_refused("remember", J({"content" : "Boats are blue", "source" : "a", "project" : "harbor"}));
  CHECK_INT(brain_int(answer_plants(), "removed", 0), 1);
  script_call("remember", J({"content" : "Boats are blue", "source" : "a", "project" : "harbor"}));
  CHECK_INT(brain_int(answer_plants(), "removed", -1), 0);
  script_close();
}

TEST(a_server_of_one_project_answers_items_of_others) {
  script_open("openbrain");
  script_op("action add", J({"text" : "Water the plants", "project" : "harbor"}));
  script_in("quarry");
  script_call("boot_session", J({"source" : "a"}));
  script_refused("remember", J({"content" : "Boats are blue", "source" : "a", "project" : "harbor"}));
  CHECK_INT(brain_int(answer_plants(), "removed", 0), 1);
  script_in(NULL);
  script_close();
}

/* ---- pinned memories ---- */

static int64_t agents_pin(const char *text, const char *type) {
  char args[300];
  snprintf(args, sizeof(args), "{\"content\":\"%s\",\"source\":\"a\",\"type_override\":\"%s\",\"project\":\"harbor\"}",
           text, type);
  int64_t id = brain_int(script_call("remember", args), "id", 0);
  snprintf(args, sizeof(args), "{\"memory_id\":%lld}", (long long)id);
  script_call("pin", args);
  return id;
}

TEST(pins_of_agents_displace_none_of_a_person) {
  enum { PINS = 101 };
  script_open("openbrain");
  script_op(
      "remember",
      J({"text" : "Never delete the backups", "type" : "guardrail", "project" : "harbor", "delivery" : "pinned"}));
  for (int i = 0; i < PINS; i++) {
    char text[100];
    snprintf(text, sizeof(text), "Boat %d is at pier %d", 100 + i, 500 + i);
    agents_pin(text, "note");
  }
  yyjson_mut_val *r = script_call("boot_session", J({"project" : "harbor", "source" : "a"}));
  yyjson_mut_val *first = script_at(r, "context", 0);
  CHECK_INT(brain_int(first, "count", 0), PINS + 1);
  CHECK(script_ends_with(script_at(first, "content", 0), "Never delete the backups"));
  r = script_call("search", J({"query" : "lunch", "source" : "a", "project" : "harbor"}));
  CHECK_INT(brain_int(r, "count", 0), PINS + 1);
  CHECK_INT(brain_int(script_at(r, "results", 0), "id", 0), 1);
  CHECK(!yyjson_mut_obj_get(r, "pinned_omitted"));
  r = script_call("brain_checkpoint", J({"action" : "tidy up the disk", "source" : "a", "project" : "harbor"}));
  CHECK_INT(brain_int(r, "guardrails", 0), PINS + 1);
  CHECK_INT(brain_int(script_at(r, "warnings", 0), "id", 0), 1);
  script_close();
}

/* Of any type: an agent's guardrail does not precede what a person pinned. */
TEST(a_checkpoint_warns_of_a_persons_pins_first) {
  script_open("openbrain");
  script_op("remember", J({"text" : "The crane is being repaired", "project" : "harbor", "delivery" : "pinned"}));
  agents_pin("Never deploy on Friday", "guardrail");
  yyjson_mut_val *r = script_call("brain_checkpoint", J({"action" : "lift", "source" : "a", "project" : "harbor"}));
  CHECK_INT(brain_int(r, "guardrails", 0), 2);
  CHECK_INT(brain_int(script_at(r, "warnings", 0), "id", 0), 1);
  CHECK(!yyjson_mut_obj_get(script_at(r, "warnings", 0), "author"));
  CHECK_STR(result_text(script_at(r, "warnings", 1), "author"), "a");
  script_close();
}

TEST(a_list_that_is_cut_keeps_a_persons_memories) {
  struct arena a;
  arena_init(&a);
  struct tool_run run = {.arena = &a, .doc = json_new(&a)};
  yyjson_mut_val *list = yyjson_mut_arr(run.doc), *to = yyjson_mut_obj(run.doc);
  static const char *const trusts[] = {"agent", "user", "agent", "user", "agent"};
  for (size_t i = 0; i < ARRAY_LEN(trusts); i++) {
    yyjson_mut_val *m = yyjson_mut_arr_add_obj(run.doc, list);
    json_put_int(run.doc, m, "id", (int64_t)i);
    json_put(run.doc, m, "trust", str_from(trusts[i]));
  }
  CHECK_INT(brain_persons_first(&run, list, 3), 2);
  static const int64_t kept[] = {1, 3, 0};
  CHECK_INT(yyjson_mut_arr_size(list), ARRAY_LEN(kept));
  for (size_t i = 0; i < ARRAY_LEN(kept); i++)
    CHECK_INT(brain_int(yyjson_mut_arr_get(list, i), "id", -1), kept[i]);
  brain_put_omitted(&run, to, "omitted", 0, STR("list()"));
  CHECK(!yyjson_mut_obj_get(to, "omitted"));
  brain_put_omitted(&run, to, "omitted", 2, STR("list()"));
  CHECK_INT(brain_int(yyjson_mut_obj_get(to, "omitted"), "count", 0), 2);
  arena_release(&a);
}
