/* test_profile_skills.c: skills and sessions of Open Brain v1 and v2, as their documents describe them. */
#include "script.h"

/* True if a section of a v1 boot shows the text. */
static bool boot_shows(const char *project, const char *text) {
  yyjson_mut_val *r = script_call("boot_session", project), *s, *line;
  size_t i, n, k, m;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(r, "context"), i, n, s) {
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(s, "content"), k, m, line) {
      if (script_ends_with(line, text))
        return true;
    }
  }
  return false;
}

static void v1_skill(const char *args) { CHECK(brain_bool(script_call("remember", args), "success")); }

TEST(v1_boot_leaves_out_skills_that_are_not_always_on) {
  script_open("openbrain");
  v1_skill(J({
    "content" : "Never stop Ollama with kill -9.",
    "source" : "claude",
    "type_override" : "guardrail",
    "project" : "harbor",
    "skill_trigger" : {"name" : "ollama", "keywords" : ["ollama"]}
  }));
  v1_skill(J({
    "content" : "Drain the queue before a restart.",
    "source" : "claude",
    "project" : "harbor",
    "skill_trigger" : {"name" : "drain", "keywords" : ["queue"], "always_on" : true}
  }));
  v1_skill(J({
    "content" : "Wait for the tide before the pier is tested.",
    "source" : "claude",
    "project" : "harbor",
    "type_override" : "procedural"
  }));
  yyjson_mut_val *r = script_call("boot_session", J({"source" : "claude", "project" : "harbor"}));
  yyjson_mut_val *last = script_at(r, "context", brain_count(r, "context") - 1);
  CHECK_STR(result_text(last, "section"), "KNOWN ISSUES & CORRECTIONS");
  CHECK_INT(brain_count(last, "content"), 1);
  CHECK(!boot_shows(J({"source" : "claude", "project" : "harbor"}), "Never stop Ollama with kill -9."));
  CHECK(boot_shows(J({"source" : "claude", "project" : "harbor"}), "Drain the queue before a restart."));
  /* A pinned skill still comes by its keyword, labelled as such. */
  r = script_call("search", J({"query" : "is ollama running", "source" : "claude", "project" : "harbor"}));
  CHECK_STR(result_text(script_with(r, "results", "id", 1), "via_skill_trigger"), "ollama");
  script_close();
}

TEST(v1_skills_are_offered_in_their_projects) {
  script_open("openbrain");
  v1_skill(J({
    "content" : "Releases are signed by hand.",
    "source" : "claude",
    "project" : "harbor",
    "skill_trigger" : {"name" : "sign", "keywords" : ["release"], "projects" : []}
  }));
  v1_skill(J({
    "content" : "The lake is fed by two rivers.",
    "source" : "claude",
    "project" : "harbor",
    "skill_trigger" : {"name" : "rivers", "keywords" : ["river"], "projects" : ["lake"]}
  }));
  /* No projects: everywhere. */
  yyjson_mut_val *r = script_call("load_skill", J({"name" : "sign", "source" : "claude", "project" : "lake"}));
  CHECK_INT(yyjson_mut_arr_size(yyjson_mut_obj_get(yyjson_mut_obj_get(r, "skill_trigger"), "projects")), 0);
  script_call("load_skill", J({"name" : "sign", "source" : "claude"}));
  r = script_call("search", J({"query" : "make a release", "source" : "claude", "project" : "lake"}));
  CHECK_STR(result_text(script_with(r, "results", "id", 1), "via_skill_trigger"), "sign");
  /* Otherwise only there, wherever the memory is stored. */
  script_call("load_skill", J({"name" : "rivers", "source" : "claude", "project" : "lake"}));
  script_refused("load_skill", J({"name" : "rivers", "source" : "claude", "project" : "harbor"}));
  script_refused("load_skill", J({"name" : "rivers", "source" : "claude"}));
  r = script_call("search", J({"query" : "which river", "source" : "claude", "project" : "lake"}));
  CHECK_STR(result_text(script_with(r, "results", "id", 2), "via_skill_trigger"), "rivers");
  r = script_call("search", J({"query" : "which river", "source" : "claude", "project" : "harbor"}));
  CHECK(!result_text(script_with(r, "results", "id", 2), "via_skill_trigger").p);
  script_close();
}

TEST(v1_a_correction_carries_a_skill) {
  script_open("openbrain");
  script_call("remember", J({"content" : "Restart the cache at night.", "source" : "claude", "project" : "harbor"}));
  yyjson_mut_val *r = script_call("supersede", J({
                                    "old_memory_id" : 1,
                                    "new_content" : "Restart the cache at noon.",
                                    "reason" : "nobody is there at night",
                                    "source" : "claude",
                                    "skill_trigger" : {"name" : "cache", "keywords" : ["cache"]}
                                  }));
  CHECK_STR(result_text(r, "skill_name"), "cache");
  /* The next correction keeps it. */
  script_call("supersede", J({
                "old_memory_id" : 2,
                "new_content" : "Restart the cache at noon or at six.",
                "reason" : "more choice",
                "source" : "claude"
              }));
  r = script_call("load_skill", J({"name" : "cache", "source" : "claude", "project" : "harbor"}));
  CHECK_STR(result_text(r, "content"), "Restart the cache at noon or at six.");
  script_close();
}

TEST(v2_a_correction_carries_a_skill_but_not_a_pin) {
  script_open("openbrain2");
  script_call("remember_rule_v2", J({
                "headline" : "Drain the queue first",
                "body" : "A restart loses what is queued.",
                "project" : "harbor",
                "skill_trigger" : {"name" : "drain", "keywords" : ["queue"]}
              }));
  script_call("pin_v2", J({"kind" : "rule", "memory_id" : 1}));
  script_call("supersede_rule_v2", J({
                "old_id" : 1,
                "new_headline" : "Drain the queue and the cache first",
                "new_body" : "A restart loses what is queued or cached.",
                "reason" : "the cache too"
              }));
  yyjson_mut_val *r = script_call("load_skill_v2", J({"name" : "drain", "project" : "lake"}));
  CHECK_INT(brain_int(r, "memory_id", 0), 2);
  r = script_call("list_recent_v2", J({"kind" : "rule"}));
  CHECK(!brain_bool(script_with(r, "rows", "memory_id", 2), "pinned"));
  script_close();
}

TEST(v2_the_session_id_of_boot_is_accepted) {
  script_open("openbrain2");
  script_as("one");
  yyjson_mut_val *r = script_call("boot_session_v2", J({"project" : "harbor", "source" : "claude"}));
  CHECK_INT(brain_int(r, "session_id", 0), 1);
  r = script_call("update_active_task_v2", J({"task" : "paint the pier", "session_id" : 1}));
  CHECK_STR(result_text(r, "task"), "paint the pier");
  script_call("write_handoff_v2", J({"content" : "The pier is half done.", "session_id" : 1}));
  /* Not for another client. */
  script_as("two");
  script_refused("update_active_task_v2", J({"task" : "sink the pier", "session_id" : 1}));
  script_as("one");
  r = script_call("end_session_v2", J({"handoff" : "done", "session_id" : 1}));
  CHECK(brain_bool(r, "ended"));
  script_close();
}

TEST(v2_similar_existing_names_near_memories) {
  script_open("openbrain2");
  script_call("remember_fact_v2",
              J({"headline" : "The shop runs on three nodes", "body" : "The shop runs on three nodes in Frankfurt."}));
  yyjson_mut_val *r = script_call(
      "remember_fact_v2",
      J({"headline" : "The shop runs on four nodes", "body" : "The shop runs on four nodes in Frankfurt."}));
  yyjson_mut_val *near = script_at(yyjson_mut_obj_get(r, "extra"), "similar_existing", 0);
  CHECK_INT(brain_int(near, "id", 0), 1);
  CHECK_STR(result_text(near, "headline"), "The shop runs on three nodes");
  CHECK(brain_num(near, "similarity", 0) > 0.75);
  script_close();
}

/* Near memories without a difference are reported like contradictions. */
TEST(v1_similar_existing_names_near_memories_without_a_difference) {
  script_open("openbrain");
  script_call(
      "remember",
      J({"source" : "claude", "content" : "The mail server of the office is in the basement next to the boiler"}));
  yyjson_mut_val *r =
      script_call("remember", J({
                    "source" : "claude",
                    "content" : "The mail server of the office stands in the basement beside the old boiler room"
                  }));
  CHECK(yyjson_mut_obj_get(r, "similar_existing"));
  CHECK(str_starts(result_text(r, "warning"), STR("close to memory 1: ")));
  script_close();
}

TEST(v2_similar_existing_names_near_memories_without_a_difference) {
  script_open("openbrain2");
  script_call(
      "remember_fact_v2",
      J({"headline" : "Mail server", "body" : "The mail server of the office is in the basement next to the boiler"}));
  yyjson_mut_val *r =
      script_call("remember_fact_v2", J({
                    "headline" : "Mail server",
                    "body" : "The mail server of the office stands in the basement beside the old boiler"
                  }));
  CHECK_INT(brain_int(script_at(yyjson_mut_obj_get(r, "extra"), "similar_existing", 0), "id", 0), 1);
  script_close();
}
