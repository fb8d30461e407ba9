/* test_profile_openbrain2.c: conversation with the 39 tools of brain_v2: arguments, result fields, errors. */
#include "mcp/tools/internal.h"
#include "script.h"

/* Split, so no file of the repository has text that looks like a secret. */
#define TOKEN                                                                                                          \
  "ghp_"                                                                                                               \
  "x7Kq2mVn9Lr4Tz8Wc1Yb6Hs3Jd5Fg0Pa4Ee7"

static yyjson_mut_val *gate(const char *tool, const char *args) {
  yyjson_mut_val *r = script_refused(tool, args);
  CHECK_STR(result_text(r, "step"), "write_gate");
  CHECK(str_starts(result_text(r, "error"), STR("write gate rejected: ")));
  return r;
}

static void blocked(const char *tool, const char *args, const char *by) {
  CHECK_STR(result_text(script_refused(tool, args), "blocked_by"), by);
}

/* ---- write ---- */

static void rules(void) {
  yyjson_mut_val *r = script_call("remember_rule_v2", J({
                                    "headline" : "Never deploy on Friday without a rollback plan",
                                    "body" : "In March a deploy on Friday took the shop down for two days.",
                                    "severity" : "BLOCKER",
                                    "project" : "harbor",
                                    "source" : "claude",
                                    "skill_trigger" : null
                                  }));
  CHECK_STR(result_text(r, "kind"), "rule");
  CHECK_INT(brain_int(r, "id", 0), 1);
  CHECK_STR(result_text(r, "headline"), "Never deploy on Friday without a rollback plan");
  CHECK(!yyjson_mut_obj_get(r, "body")); /* recall_v2 shows it */
  CHECK_STR(result_text(r, "project"), "harbor");
  CHECK_STR(result_text(r, "severity"), "BLOCKER");
  CHECK(script_is_null(r, "supersedes") && script_is_null(r, "superseded_by"));
  CHECK_STR(result_text(r, "created_at"), "2025-11-15T12:00:00.000Z");
  /* a duplicate: a result, not an error */
  r = script_call("remember_rule_v2", J({
                    "headline" : "Never deploy on Friday without a rollback plan",
                    "body" : "In March a deploy on Friday took the shop down for two days.",
                    "project" : "harbor"
                  }));
  CHECK(brain_bool(r, "duplicate"));
  CHECK_STR(result_text(r, "kind"), "rule");
  CHECK_INT(brain_int(r, "existing_id", 0), 1);
  CHECK_NEAR(brain_num(r, "similarity", 0), 1, 0.01);
  CHECK_STR(result_text(r, "existing_headline"), "Never deploy on Friday without a rollback plan");
  CHECK_NEAR(brain_num(r, "threshold", 0), 0.75, 1e-9);
  CHECK(script_says(r, "hint", "supersede_rule_v2(old_id=1"));
  /* also a near duplicate */
  r = script_call("remember_rule_v2", J({
                    "headline" : "Never deploy on Friday without a rollback plan and two reviewers",
                    "body" : "In March a deploy on Friday took the shop down for two days.",
                    "project" : "harbor"
                  }));
  CHECK(brain_bool(r, "duplicate"));
  CHECK_INT(brain_int(r, "existing_id", 0), 1);
  r = script_call("remember_rule_v2", J({
                    "headline" : "Prefer small pull requests",
                    "body" : "Reviews of less than 300 lines find more mistakes.",
                    "project" : "harbor"
                  }));
  CHECK_INT(brain_int(r, "id", 0), 2);
  CHECK_STR(result_text(r, "severity"), "PATTERN");
  /* the gate: severity, headline, body */
  gate("remember_rule_v2", J({"headline" : "Loud", "body" : "It is loud here.", "severity" : "CONTEXT"}));
  gate("remember_rule_v2", J({"headline" : "Loud", "body" : "It is loud here.", "severity" : "DEPRECATED"}));
  gate("remember_rule_v2", J({"headline" : " ", "body" : "It is loud here."}));
  gate(
      "remember_rule_v2", J({
        "headline" : "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
        "body" : "It is loud here."
      }));
  gate("remember_rule_v2", J({"headline" : "Loud", "body" : ""}));
  gate("remember_rule_v2",
       J({"headline" : "Loud", "body" : "GUARDRAIL (2026-03-01): close the door.\nUpdate: close both doors."}));
  char body[3000] = "{\"headline\":\"Loud\",\"body\":\"";
  for (int i = 0; i < 401; i++)
    strncat(body, "word ", sizeof(body) - strlen(body) - 1);
  strncat(body, "\"}", sizeof(body) - strlen(body) - 1);
  CHECK(script_says(gate("remember_rule_v2", body), "error", "401"));
  CHECK(script_says(gate("remember_fact_v2", body), "error", "400"));
  blocked("remember_rule_v2", "{\"headline\":\"Token\",\"body\":\"The deploy token is " TOKEN "\"}", "secrets_filter");
  script_wrong("remember_rule_v2", J({"headline" : "Loud"}));
}

static void other_kinds(void) {
  yyjson_mut_val *r = script_call("remember_fact_v2", J({
                                    "headline" : "Staging database is Postgres 17 on port 5433",
                                    "body" : "It runs in the container staging-db.",
                                    "project" : "harbor",
                                    "tags" : ["db"],
                                    "ttl" : "2026-01-15T00:00:00Z",
                                    "source" : "claude"
                                  }));
  CHECK_STR(result_text(r, "kind"), "fact");
  CHECK_INT(brain_int(r, "id", 0), 3);
  CHECK(script_is_null(r, "severity"));
  r = script_call("remember_fact_v2", J({
                    "headline" : "Staging database is Postgres 17 on port 5433",
                    "body" : "It runs in the container staging-db.",
                    "project" : "harbor"
                  }));
  CHECK(brain_bool(r, "duplicate"));
  CHECK_INT(brain_int(r, "existing_id", 0), 3);
  r = script_call("remember_incident_v2", J({
                    "headline" : "Checkout was down for two days",
                    "body" : "A deploy on Friday could not be rolled back.",
                    "project" : "harbor",
                    "root_cause" : "no rollback plan",
                    "resolution" : "restored from the backup",
                    "linked_rule_ids" : [1],
                    "source" : "claude"
                  }));
  CHECK_STR(result_text(r, "kind"), "incident");
  CHECK_INT(brain_int(r, "id", 0), 4);
  r = script_call("remember_task_v2", J({
                    "content" : "Write the release notes",
                    "project" : "harbor",
                    "priority" : "high",
                    "due_condition" : "before the freeze",
                    "source" : "claude"
                  }));
  CHECK_STR(result_text(r, "kind"), "task");
  CHECK_INT(brain_int(r, "id", 0), 5);
  CHECK(!yyjson_mut_obj_get(r, "body"));
  script_refused("remember_task_v2", J({"content" : "Write more", "priority" : "urgent"}));
  r = script_call("update_task_status_v2", J({"task_id" : 5, "status" : "blocked", "source" : "claude"}));
  CHECK_INT(brain_int(r, "task_id", 0), 5);
  CHECK_STR(result_text(r, "status"), "blocked");
  script_refused("update_task_status_v2", J({"task_id" : 5, "status" : "lost"}));
  script_refused("update_task_status_v2", J({"task_id" : 999, "status" : "done"}));
  script_refused("update_task_status_v2", J({"task_id" : 3, "status" : "done"}));
}

static void capturing(void) {
  yyjson_mut_val *r = script_call(
                     "capture_context_v2", J({
                       "context" :
                           "The nightly export writes Parquet files.\n\nTiny.\n\nNever commit generated files to git.",
                       "source" : "claude",
                       "project" : "harbor"
                     })),
                 *v;
  CHECK_INT(brain_int(r, "memories_stored", 0), 2);
  CHECK_INT(brain_int(r, "total_chunks", 0), 2);
  v = script_at(r, "stored", 0);
  CHECK_STR(result_text(v, "kind"), "fact");
  CHECK_INT(brain_int(v, "id", 0), 6);
  CHECK_STR(result_text(v, "action"), "stored");
  /* a prohibition is a rule with severity BLOCKER */
  CHECK_STR(result_text(script_at(r, "stored", 1), "kind"), "rule");
  r = script_call("capture_context_v2",
                  J({"context" : "The nightly export writes Parquet files.", "project" : "harbor"}));
  CHECK_INT(brain_int(r, "memories_stored", -1), 0);
  v = script_at(r, "stored", 0);
  CHECK_STR(result_text(v, "action"), "duplicate");
  CHECK_INT(brain_int(v, "id", 0), 6);
  CHECK(brain_num(v, "similarity", 0) > 0.9);
  r = script_call("capture_context_v2", "{\"context\":\"The token for the archive bucket is " TOKEN " since May.\"}");
  CHECK_STR(result_text(script_at(r, "stored", 0), "action"), "rejected");
  CHECK(result_text(script_at(r, "stored", 0), "reason").n);
  script_refused("capture_context_v2", J({"context" : ""}));
}

/* ---- read ---- */

static void reading(void) {
  yyjson_mut_val *r = script_call("recall_v2", J({"kind" : "rule", "memory_id" : 1})), *v;
  CHECK_STR(result_text(r, "kind"), "rule");
  CHECK_INT(brain_int(r, "id", 0), 1);
  CHECK_STR(result_text(r, "body"), "In March a deploy on Friday took the shop down for two days.");
  CHECK_STR(result_text(r, "severity"), "BLOCKER");
  r = script_call("recall_v2", J({"kind" : "task", "memory_id" : 5}));
  CHECK_STR(result_text(yyjson_mut_obj_get(r, "extra"), "status"), "blocked");
  CHECK_STR(result_text(yyjson_mut_obj_get(r, "extra"), "priority"), "high");
  /* a wrong kind is refused; the error names the right one */
  r = script_refused("recall_v2", J({"kind" : "fact", "memory_id" : 1}));
  CHECK(script_says(r, "error", "kind=\"rule\""));
  script_refused("recall_v2", J({"kind" : "poem", "memory_id" : 1}));
  script_refused("recall_v2", J({"kind" : "rule", "memory_id" : 999}));

  r = script_call(
      "search_v2",
      J({"query" : "which port does the staging database use", "kind" : "", "project" : "harbor", "limit" : 3}));
  CHECK_INT(brain_int(r, "count", 0), brain_count(r, "results"));
  v = script_at(r, "results", 0);
  CHECK_STR(result_text(v, "kind"), "fact");
  CHECK_INT(brain_int(v, "memory_id", 0), 3);
  CHECK_STR(result_text(v, "headline"), "Staging database is Postgres 17 on port 5433");
  CHECK_STR(result_text(v, "project"), "harbor");
  CHECK(brain_num(v, "similarity", 0) > 0);
  CHECK(!yyjson_mut_obj_get(v, "body"));
  r = script_call("search_v2", J({"query" : "deploy", "kind" : "incident"}));
  CHECK_INT(brain_int(r, "count", 0), 1);
  CHECK_INT(brain_int(script_at(r, "results", 0), "memory_id", 0), 4);
  script_refused("search_v2", J({"query" : "deploy", "kind" : "poem"}));

  r = script_call("list_recent_v2",
                  J({"limit" : 2, "days" : 0, "kind" : "", "project" : "", "include_forgotten" : false}));
  CHECK_INT(brain_int(r, "count", 0), 2);
  CHECK_INT(brain_int(script_at(r, "rows", 0), "memory_id", 0), 7);
  CHECK_STR(result_text(script_at(r, "rows", 0), "kind"), "rule");
  CHECK_INT(brain_int(script_call("list_recent_v2", J({"kind" : "rule"})), "count", 0), 3);
  CHECK_INT(brain_int(script_call("list_recent_v2", J({"limit" : 5000})), "count", 0), 7);
}

static void counting(void) {
  yyjson_mut_val *r = script_call("stats_v2", J({"project" : "harbor"})), *kinds = yyjson_mut_obj_get(r, "by_kind");
  CHECK_STR(result_text(r, "project"), "harbor");
  CHECK_INT(brain_int(yyjson_mut_obj_get(kinds, "rule"), "active", 0), 3);
  CHECK_INT(brain_int(yyjson_mut_obj_get(kinds, "rule"), "total", 0), 4);
  CHECK_INT(brain_int(yyjson_mut_obj_get(kinds, "fact"), "active", 0), 2);
  CHECK_INT(brain_int(yyjson_mut_obj_get(kinds, "fact"), "forgotten", -1), 0);
  CHECK_INT(brain_int(yyjson_mut_obj_get(r, "rules_by_severity"), "BLOCKER", 0), 2);
  CHECK_INT(brain_int(yyjson_mut_obj_get(r, "rules_by_severity"), "PATTERN", 0), 1);
  CHECK_INT(brain_int(yyjson_mut_obj_get(r, "tasks_by_status"), "blocked", 0), 1);
  CHECK_INT(brain_int(r, "incidents_active", 0), 1);
  CHECK_INT(brain_int(r, "incidents_archived", -1), 0);
  CHECK_INT(brain_int(r, "pending_action_items", -1), 0);
  CHECK_INT(brain_int(r, "active_sessions", -1), 0);
  yyjson_mut_val *sticky = yyjson_mut_obj_get(r, "correction_stickiness");
  CHECK_INT(brain_int(sticky, "revised_lineage_count", 0), 1);
  CHECK_INT(brain_int(script_at(sticky, "revised_lineages", 0), "head_rule_id", 0), 8);
  CHECK_INT(brain_int(script_at(sticky, "revised_lineages", 0), "revisions", 0), 2);
  CHECK_STR(result_text(script_at(sticky, "revised_lineages", 0), "kind"), "rule");
  CHECK_STR(result_text(script_at(sticky, "revised_lineages", 0), "project"), "harbor");
  CHECK_STR(result_text(script_call("stats_v2", "{}"), "project"), "(global)");
}

/* ---- correction ---- */

static void correcting(void) {
  yyjson_mut_val *r = script_call("supersede_rule_v2", J({
                                    "old_id" : 1,
                                    "new_headline" : "Never deploy on Friday or before a holiday",
                                    "new_body" : "The shop was down over Easter.",
                                    "reason" : "holidays too",
                                    "source" : "claude",
                                    "severity" : ""
                                  }));
  CHECK_INT(brain_int(r, "id", 0), 8);
  CHECK_INT(brain_int(r, "supersedes", 0), 1);
  CHECK_STR(result_text(r, "severity"), "BLOCKER");
  CHECK_STR(result_text(r, "project"), "harbor");
  r = script_call("recall_v2", J({"kind" : "rule", "memory_id" : 1}));
  CHECK_STR(result_text(r, "severity"), "DEPRECATED");
  CHECK_INT(brain_int(r, "superseded_by", 0), 8);
  CHECK(script_says(r, "banner", "8"));
  r = script_refused("supersede_rule_v2",
                     J({"old_id" : 1, "new_headline" : "Deploy daily", "new_body" : "Always.", "reason" : "new"}));
  CHECK(script_says(r, "error", "8"));
  script_refused("supersede_rule_v2",
                 J({"old_id" : 999, "new_headline" : "Deploy daily", "new_body" : "Always.", "reason" : "new"}));
  gate("supersede_rule_v2", J({"old_id" : 8, "new_headline" : "", "new_body" : "Always.", "reason" : "new"}));
  counting();
  /* facts can be corrected, too */
  r = script_call("supersede_rule_v2", J({
                    "old_id" : 3,
                    "new_headline" : "Staging database is Postgres 18 on port 5434",
                    "new_body" : "It runs in the container staging-db.",
                    "reason" : "upgraded"
                  }));
  CHECK_STR(result_text(r, "kind"), "fact");
  CHECK_INT(brain_int(r, "id", 0), 9);
  /* undone: the corrector is retired, the severity restored */
  blocked("unsupersede_v2", J({"old_id" : 1}), "source_required");
  r = script_call("unsupersede_v2", J({"old_id" : 1, "source" : "claude"}));
  CHECK_INT(brain_int(r, "old_id", 0), 1);
  CHECK_INT(brain_int(r, "former_corrector", 0), 8);
  CHECK(brain_bool(r, "corrector_retired"));
  CHECK_STR(result_text(r, "restored_severity"), "BLOCKER");
  CHECK(result_text(r, "note").n);
  script_refused("unsupersede_v2", J({"old_id" : 1, "source" : "claude"}));
  script_refused("unsupersede_v2", J({"old_id" : 999, "source" : "claude"}));
  /* in the middle of a chain it is refused */
  script_call("supersede_rule_v2", J({
                "old_id" : 2,
                "new_headline" : "Prefer pull requests under 300 lines",
                "new_body" : "They are read with care.",
                "reason" : "clearer"
              }));
  script_call("supersede_rule_v2", J({
                "old_id" : 10,
                "new_headline" : "Prefer pull requests under 200 lines",
                "new_body" : "They are read with more care.",
                "reason" : "measured"
              }));
  script_refused("unsupersede_v2", J({"old_id" : 2, "source" : "claude"}));
  r = script_call("unsupersede_v2", J({"old_id" : 10, "source" : "claude", "keep_corrector" : true}));
  CHECK(!brain_bool(r, "corrector_retired"));
  CHECK_INT(brain_int(r, "former_corrector", 0), 11);
  CHECK_STR(result_text(r, "restored_severity"), "PATTERN");
}

static void curating(void) {
  yyjson_mut_val *r = script_call("annotate_v2", J({"kind" : "rule", "memory_id" : 1, "note" : "", "clear" : false}));
  CHECK_STR(result_text(r, "annotation"), "");
  r = script_call("annotate_v2", J({"kind" : "rule", "memory_id" : 1, "note" : "Also true for QA"}));
  CHECK_STR(result_text(r, "annotation"), "Also true for QA");
  CHECK(!brain_bool(r, "cleared"));
  CHECK_INT(brain_int(r, "memory_id", 0), 1);
  CHECK_STR(result_text(r, "kind"), "rule");
  r = script_call("annotate_v2", J({"kind" : "rule", "memory_id" : 1, "clear" : true}));
  CHECK(brain_bool(r, "cleared"));
  CHECK(script_is_null(r, "annotation"));
  script_refused("annotate_v2", J({"kind" : "fact", "memory_id" : 1, "note" : "x"}));

  r = script_call("rate_v2", J({"kind" : "rule", "memory_id" : 1, "direction" : "down"}));
  CHECK_INT(brain_int(r, "upvotes", -1), 0);
  CHECK_INT(brain_int(r, "downvotes", 0), 1);
  CHECK_INT(brain_int(r, "score", 0), -1);
  script_refused("rate_v2", J({"kind" : "rule", "memory_id" : 1, "direction" : "neutral"}));
  script_refused("rate_v2", J({"kind" : "task", "memory_id" : 1, "direction" : "up"}));

  r = script_call("pin_v2", J({"kind" : "rule", "memory_id" : 1}));
  CHECK(brain_bool(r, "pinned"));
  CHECK_STR(result_text(r, "project"), "harbor");
  CHECK_STR(result_text(r, "headline"), "Never deploy on Friday without a rollback plan");
  int64_t global =
      brain_int(script_call("remember_fact_v2",
                            J({"headline" : "The office cat is called Turbine", "body" : "She sleeps on the router."})),
                "id", 0);
  CHECK_INT(global, 12);
  r = script_refused("pin_v2", J({"kind" : "fact", "memory_id" : 12}));
  CHECK(script_says(r, "error", "project"));
  r = script_call("unpin_v2", J({"kind" : "fact", "memory_id" : 12}));
  CHECK(!brain_bool(r, "pinned"));
}

static void skills(void) {
  yyjson_mut_val *r =
      script_call("remember_rule_v2", J({
                    "headline" : "Stop services gracefully",
                    "body" : "Drain the node, wait for zero connections, then stop it.",
                    "project" : "",
                    "skill_trigger" :
                        {"name" : "graceful-shutdown", "keywords" : ["shutdown"], "projects" : [], "always_on" : false}
                  }));
  CHECK_INT(brain_int(r, "id", 0), 13);
  r = script_call("search_v2", J({"query" : "how does a Shutdown work", "project" : "harbor"}));
  CHECK_STR(result_text(script_at(r, "results", 0), "via_skill_trigger"), "graceful-shutdown");
  r = script_call("load_skill_v2", J({"name" : "graceful-shutdown", "source" : "claude", "project" : "harbor"}));
  CHECK_INT(brain_int(r, "memory_id", 0), 13);
  CHECK_STR(result_text(r, "body"), "Drain the node, wait for zero connections, then stop it.");
  CHECK_STR(result_text(r, "via_skill_trigger"), "graceful-shutdown");
  CHECK(!brain_bool(yyjson_mut_obj_get(r, "skill_trigger"), "always_on"));
  blocked("load_skill_v2", J({"name" : "levitate"}), "not_found");
}

/* ---- sessions ---- */

static void booting(void) {
  yyjson_mut_val *r = script_call("boot_session_v2", J({
                                    "project" : "harbor",
                                    "task" : "review pull requests",
                                    "source" : "claude",
                                    "handoff" : "",
                                    "cwd" : "/srv/harbor",
                                    "pid" : 4242,
                                    "host" : "elsewhere"
                                  })),
                 *v;
  CHECK(result_text(r, "worker_session_id").n);
  CHECK(brain_int(r, "session_id", 0) > 0);
  v = script_at(r, "blockers", 0);
  CHECK_STR(result_text(v, "kind"), "rule");
  CHECK_INT(brain_int(v, "memory_id", 0), 1);
  CHECK_STR(result_text(v, "headline"), "Never deploy on Friday without a rollback plan");
  CHECK_STR(result_text(v, "project"), "harbor");
  CHECK(result_text(v, "author").n); /* no person wrote it */
  CHECK_INT(brain_count(r, "blockers"), 2);
  /* the skill that is not always on is left out */
  CHECK(!script_with(r, "patterns", "memory_id", 13));
  CHECK(brain_count(r, "patterns") >= 1 && brain_count(r, "patterns") <= 5);
  CHECK(yyjson_mut_is_num(yyjson_mut_obj_get(script_at(r, "patterns", 0), "similarity")));
  v = script_at(r, "active_tasks", 0);
  CHECK_INT(brain_int(v, "id", 0), 5);
  CHECK_STR(result_text(v, "content"), "Write the release notes");
  CHECK_STR(result_text(v, "priority"), "high");
  CHECK_STR(result_text(v, "status"), "blocked");
  v = yyjson_mut_obj_get(r, "working_context");
  CHECK_STR(result_text(v, "task"), "review pull requests");
  CHECK_STR(result_text(v, "project"), "harbor");
  CHECK_STR(result_text(v, "source"), "claude");
  CHECK_INT(brain_count(r, "pending_action_items"), 0);
  CHECK(!brain_bool(r, "writes_blocked"));
  CHECK_INT(brain_count(r, "other_active_sessions"), 0);
  CHECK_STR(result_text(r, "handoff"), "");
  CHECK(brain_int(r, "token_estimate", 0) > 0 && brain_int(r, "token_estimate", 0) <= 2000);
  CHECK_INT(brain_count(r, "truncated"), 0);
  CHECK(yyjson_mut_is_bool(yyjson_mut_obj_get(r, "registry_trustworthy")));
  CHECK(yyjson_mut_is_arr(yyjson_mut_obj_get(r, "self_healed_ended_ids")));
  CHECK_INT(brain_int(yyjson_mut_obj_get(r, "caps"), "tokens", 0), 2000);
}

static void sessions(void) {
  yyjson_mut_val *r = script_call("update_active_task_v2", J({"task" : "migrating", "session_id" : 0}));
  int64_t mine = brain_int(r, "session_id", 0);
  CHECK_STR(result_text(r, "task"), "migrating");
  r = script_call("scratch_set_v2", J({"key" : "branch", "value" : "fix/login"}));
  CHECK(brain_bool(r, "stored"));
  CHECK_STR(result_text(script_call("scratch_get_v2", J({"key" : "branch"})), "value"), "fix/login");
  CHECK(!brain_bool(script_call("scratch_get_v2", J({"key" : "nothing"})), "found"));
  CHECK_INT(brain_int(script_call("scratch_list_v2", "{}"), "count", 0), 1);

  r = script_call(
      "write_handoff_v2",
      J({"content" : "Tests pass; the docs are left.", "source" : "claude", "project" : "harbor", "session_id" : 0}));
  CHECK(brain_int(r, "handoff_id", 0) > 0);
  CHECK_INT(brain_int(r, "session_id", 0), mine);
  script_refused("write_handoff_v2", J({"content" : "  "}));

  script_as("two");
  r = script_call("boot_session_v2", J({"project" : "harbor", "source" : "cursor", "task" : "docs"}));
  CHECK_STR(result_text(r, "handoff"), "Tests pass; the docs are left.");
  CHECK_STR(result_text(yyjson_mut_obj_get(r, "handoff_source"), "source"), "claude");
  CHECK(brain_int(yyjson_mut_obj_get(r, "handoff_source"), "handoff_id", 0) > 0);
  CHECK_INT(brain_count(r, "other_active_sessions"), 1);
  CHECK_INT(brain_int(script_at(r, "other_active_sessions", 0), "id", 0), mine);
  CHECK_STR(result_text(script_at(r, "other_active_sessions", 0), "current_task"), "migrating");
  int64_t other = brain_int(r, "session_id", 0);
  r = script_call("list_active_sessions_v2", J({"project" : "harbor", "exclude_self" : true}));
  CHECK_INT(brain_int(r, "count", 0), 1);
  CHECK_INT(brain_int(script_at(r, "sessions", 0), "id", 0), mine);
  CHECK_INT(brain_int(script_call("list_active_sessions_v2", J({"exclude_self" : false})), "count", 0), 2);

  r = script_call("end_session_v2", J({"handoff" : "Docs are done.", "session_id" : 0, "source" : "cursor"}));
  CHECK_INT(brain_int(r, "session_id", 0), other);
  CHECK(brain_bool(r, "ended"));
  CHECK(brain_int(r, "handoff_written", 0) > 0);
  script_as("three");
  script_refused("update_active_task_v2", J({"task" : "nothing", "session_id" : 0}));
  r = script_call("boot_session_v2", J({"project" : "harbor", "source" : "windsurf"}));
  CHECK_STR(result_text(r, "handoff"), "Docs are done.");
  r = script_call("boot_session_v2",
                  J({"project" : "harbor", "source" : "windsurf", "handoff" : "Start with the tests"}));
  CHECK_STR(result_text(r, "handoff"), "Start with the tests");
}

static void action_items(void) {
  yyjson_mut_val *r = script_call("create_action_item_v2", J({
                                    "source_kind" : "incident",
                                    "source_id" : 4,
                                    "text" : "Write a rollback plan",
                                    "project" : "harbor",
                                    "kind" : "task"
                                  })),
                 *v;
  int64_t task = brain_int(r, "id", 0);
  CHECK_STR(result_text(r, "text"), "Write a rollback plan");
  CHECK_STR(result_text(r, "kind"), "task");
  r = script_call("create_action_item_v2", J({
                    "source_kind" : "rule",
                    "source_id" : 1,
                    "text" : "Check the calendar",
                    "project" : "harbor",
                    "kind" : "rule"
                  }));
  int64_t rule = brain_int(r, "id", 0);
  script_refused("create_action_item_v2", J({"source_kind" : "fact", "source_id" : 4, "text" : "x"}));
  script_refused("create_action_item_v2",
                 J({"source_kind" : "incident", "source_id" : 4, "text" : "x", "kind" : "wish"}));

  script_as("four");
  r = script_call("boot_session_v2", J({"project" : "harbor", "source" : "claude"}));
  CHECK(brain_bool(r, "writes_blocked"));
  CHECK_INT(brain_count(r, "pending_action_items"), 2);
  v = script_with(r, "pending_action_items", "id", task);
  CHECK(v);
  CHECK_STR(result_text(v, "source_kind"), "incident");
  CHECK_INT(brain_int(v, "source_id", 0), 4);
  CHECK_STR(result_text(v, "text"), "Write a rollback plan");
  CHECK_STR(result_text(v, "project"), "harbor");
  CHECK_STR(result_text(v, "kind"), "task");
  CHECK(result_text(v, "created_at").n);

  r = script_refused("remember_fact_v2",
                     J({"headline" : "Lunch is at noon", "body" : "On Mondays.", "project" : "harbor"}));
  CHECK_STR(result_text(r, "blocked_by"), "action_items_pending");
  CHECK_INT(brain_int(r, "pending_count", 0), 2);
  CHECK(script_says(r, "error", "acknowledge_action_item_v2(item_id="));
  /* the project of the superseded memory counts, too */
  blocked("supersede_rule_v2",
          J({"old_id" : 6, "new_headline" : "The export writes CSV", "new_body" : "Since May.", "reason" : "changed"}),
          "action_items_pending");
  r = script_refused("forget_v2", J({"kind" : "fact", "memory_id" : 6, "reason" : "old"}));
  CHECK_STR(result_text(r, "blocked_by"), "action_items_pending");
  CHECK_INT(brain_int(r, "pending_count", 0), 2);
  CHECK(!script_says(r, "error", "item_id=0"));
  script_call("search_v2", J({"query" : "export"}));

  char args[200];
  snprintf(args, sizeof(args), "{\"item_id\":%lld,\"decision\":\"not_relevant\"}", (long long)task);
  script_refused("acknowledge_action_item_v2", args);
  snprintf(args, sizeof(args), "{\"item_id\":%lld,\"decision\":\"perhaps\"}", (long long)task);
  script_refused("acknowledge_action_item_v2", args);
  snprintf(args, sizeof(args),
           "{\"item_id\":%lld,\"decision\":\"already_done\",\"source\":\"claude\",\"reason\":\"yes\"}",
           (long long)rule);
  r = script_refused("acknowledge_action_item_v2", args); /* a rule is never done */
  CHECK(script_says(r, "error", "will_execute, or not_relevant"));
  snprintf(args, sizeof(args), "{\"item_id\":%lld,\"decision\":\"will_execute\",\"source\":\"claude\",\"reason\":\"\"}",
           (long long)rule);
  r = script_call("acknowledge_action_item_v2", args);
  CHECK_INT(brain_int(r, "id", 0), rule);
  CHECK_STR(result_text(r, "status"), "will_execute");
  CHECK_STR(result_text(r, "text"), "Check the calendar");
  CHECK(!brain_bool(r, "already_acked"));
  CHECK_INT(brain_int(r, "remaining", -1), 1);
  CHECK(brain_bool(script_call("acknowledge_action_item_v2", args), "already_acked"));
  snprintf(args, sizeof(args), "{\"item_id\":%lld,\"decision\":\"already_done\",\"reason\":\"in the wiki\"}",
           (long long)task);
  CHECK_INT(brain_int(script_call("acknowledge_action_item_v2", args), "remaining", -1), 0);
  script_call("remember_fact_v2", J({"headline" : "Lunch is at noon", "body" : "On Mondays.", "project" : "harbor"}));
  script_refused("acknowledge_action_item_v2", J({"item_id" : 999, "decision" : "will_execute"}));
}

static void checkpoints(void) {
  const char *args =
      J({"action" : "deploy to production", "source" : "claude", "context" : "shop", "project" : "harbor"});
  blocked("brain_checkpoint_v2", J({"action" : "deploy", "source" : ""}), "source_required");
  script_refused("brain_checkpoint_v2", J({"action" : "", "source" : "claude"}));
  yyjson_mut_val *r = script_call("brain_checkpoint_v2", args), *v;
  CHECK_STR(result_text(r, "action"), "deploy to production");
  CHECK_STR(result_text(r, "context"), "shop");
  CHECK_INT(brain_int(r, "guardrails_count", 0), 2);
  v = script_at(r, "guardrails", 0);
  CHECK_INT(brain_int(v, "memory_id", 0), 1);
  CHECK_STR(result_text(v, "severity"), "BLOCKER");
  CHECK(brain_bool(v, "pinned"));
  CHECK_INT(brain_int(r, "relevant_count", 0), brain_count(r, "relevant"));
  CHECK(brain_count(r, "relevant") >= 1);
  CHECK(result_text(r, "message").n);
  r = script_call("brain_checkpoint_v2", args);
  CHECK(brain_bool(r, "skipped"));
  CHECK(script_says(r, "reason", "300"));
  r = script_call("brain_startup_reminder_v2", "{}");
  CHECK_STR(result_text(r, "type"), "system_message");
  CHECK_STR(result_text(r, "level"), "mandatory");
  CHECK_STR(result_text(r, "action"), "display_at_session_start");
  CHECK(script_says(r, "message", "boot_session_v2"));
  CHECK(script_says(r, "message", "acknowledge_action_item_v2"));
}

static void observing(void) {
  yyjson_mut_val *r = script_call("health_v2", "{}"), *v = yyjson_mut_obj_get(r, "server");
  CHECK(brain_int(v, "pid", 0) > 0);
  CHECK(yyjson_mut_is_num(yyjson_mut_obj_get(v, "uptime_seconds")));
  CHECK(yyjson_mut_is_int(yyjson_mut_obj_get(v, "tool_calls_total")));
  CHECK_STR(result_text(yyjson_mut_obj_get(r, "db"), "status"), "connected");
  CHECK_INT(brain_int(yyjson_mut_obj_get(r, "tables"), "incidents", 0), 1);
  CHECK_INT(brain_int(yyjson_mut_obj_get(r, "tools"), "count", 0), 39);
  CHECK_INT(brain_count(yyjson_mut_obj_get(r, "tools"), "names"), 39);
  r = script_call("metrics_v2", "{}");
  CHECK(yyjson_mut_is_obj(yyjson_mut_obj_get(r, "tools")));
  r = script_call("recent_errors_v2", J({"n" : 3}));
  CHECK(yyjson_mut_is_arr(yyjson_mut_obj_get(r, "errors")));
}

/* ---- cleanup and maintenance ---- */

static void forgetting(void) {
  yyjson_mut_val *r =
      script_call("forget_v2", J({"kind" : "fact", "memory_id" : 12, "reason" : "she moved out", "source" : "claude"}));
  CHECK(!brain_bool(r, "already_forgotten"));
  CHECK(result_text(r, "forgotten_at").n);
  CHECK_INT(brain_int(r, "memory_id", 0), 12);
  CHECK(brain_bool(script_call("forget_v2", J({"kind" : "fact", "memory_id" : 12})), "already_forgotten"));
  r = yyjson_mut_obj_get(script_call("recall_v2", J({"kind" : "fact", "memory_id" : 12})), "forgotten");
  CHECK_STR(result_text(r, "forgotten_reason"), "she moved out");
  CHECK_STR(result_text(r, "forgotten_by"), "claude");
  CHECK(script_says(r, "banner", "FORGOTTEN"));
  CHECK(!script_with(script_call("list_recent_v2", "{}"), "rows", "memory_id", 12));
  CHECK(script_with(script_call("list_recent_v2", J({"include_forgotten" : true})), "rows", "memory_id", 12));
  script_refused("forget_v2", J({"kind" : "rule", "memory_id" : 12}));

  r = script_call("forget_many_v2", J({
                    "kinds" : [ "rule", "fact", "fact", "task" ],
                    "memory_ids" : [ 11, 12, 999, 6 ],
                    "reason" : "cleaning",
                    "source" : "claude"
                  }));
  CHECK_INT(brain_int(r, "forgotten_count", 0), 1);
  CHECK_INT(brain_int(r, "total_requested", 0), 4);
  CHECK(yyjson_mut_equals_str(yyjson_mut_arr_get(script_at(r, "forgotten", 0), 0), "rule"));
  CHECK_INT(yyjson_mut_get_sint(yyjson_mut_arr_get(script_at(r, "forgotten", 0), 1)), 11);
  CHECK_INT(brain_count(r, "already_forgotten"), 1);
  CHECK_INT(brain_count(r, "not_found"), 2);
  script_refused("forget_many_v2", J({"kinds" : ["rule"], "memory_ids" : [ 1, 2 ]}));
}

static void maintaining(void) {
  blocked("prune_v2", J({"days" : 29, "dry_run" : false}), "prune_safeguard");
  yyjson_mut_val *r = script_call("run_maintenance_v2", "{}");
  static const char *const lists[] = {"facts_decayed", "facts_reactivated", "facts_ttl_expired", "incidents_archived"};
  for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
    char count[40];
    snprintf(count, sizeof(count), "%s_count", lists[i]);
    CHECK(yyjson_mut_is_arr(yyjson_mut_obj_get(r, lists[i])));
    CHECK_INT(brain_int(r, count, -1), 0);
  }
  r = script_call("run_maintenance_if_due_v2", J({"hours" : 24}));
  CHECK(brain_bool(r, "skipped"));
  CHECK(result_text(r, "skipped_reason").n);
  CHECK_STR(result_text(r, "last_run_at"), "2025-11-15T12:00:00.000Z");

  /* the fact that replaced one with a ttl has none; half-lives pass */
  script_wait(40 * MS_PER_DAY);
  r = script_call("decay_facts_v2", "{}");
  CHECK(brain_int(r, "deactivated_count", 0) >= 2);
  CHECK_INT(brain_int(r, "deactivated_count", 0), brain_count(r, "deactivated"));
  CHECK_INT(brain_int(r, "reactivated_count", -1), 0);
  CHECK_INT(brain_int(r, "ttl_expired_count", -1), 0);
  CHECK_INT(brain_int(script_call("decay_facts_v2", "{}"), "deactivated_count", -1), 0);
  /* recall reactivates a faded fact */
  CHECK(!script_with(script_call("list_recent_v2", J({"kind" : "fact"})), "rows", "memory_id", 6));
  script_call("recall_v2", J({"kind" : "fact", "memory_id" : 6}));
  CHECK(script_with(script_call("list_recent_v2", J({"kind" : "fact"})), "rows", "memory_id", 6));
  CHECK_INT(brain_int(script_call("archive_incidents_v2", "{}"), "archived_count", -1), 0);

  script_wait(60 * MS_PER_DAY);
  r = script_call("archive_incidents_v2", "{}");
  CHECK_INT(brain_int(r, "archived_count", 0), 1);
  CHECK_INT(yyjson_mut_get_sint(script_at(r, "archived", 0)), 4);
  r = script_call("run_maintenance_if_due_v2", J({"hours" : 24}));
  CHECK(!brain_bool(r, "skipped"));

  r = script_call("prune_v2", J({"days" : 90, "min_access" : 0, "dry_run" : true}));
  CHECK(brain_bool(r, "dry_run"));
  int64_t would = brain_int(r, "would_delete_this_call", 0);
  CHECK(would >= 1);
  CHECK_INT(brain_int(r, "would_delete_total", 0), would);
  CHECK_INT(brain_int(r, "max_per_call", 0), 50);
  CHECK(script_says(r, "criteria", "90 days"));
  r = script_call("prune_v2", J({"dry_run" : false}));
  CHECK_INT(brain_int(r, "deleted", 0), would);
  yyjson_mut_val *ids = yyjson_mut_obj_get(r, "deleted_ids");
  CHECK_INT(brain_count(ids, "fact") + brain_count(ids, "incident") + brain_count(ids, "task"), would);
  CHECK(!yyjson_mut_obj_get(ids, "rule"));
  CHECK(result_text(script_call("recall_v2", J({"kind" : "rule", "memory_id" : 1})), "body").n);
}

TEST(the_39_tools) {
  script_open("openbrain2");
  CHECK_INT(
      script_tools("boot_session_v2 end_session_v2 update_active_task_v2 list_active_sessions_v2 write_handoff_v2 "
                   "remember_rule_v2 remember_fact_v2 remember_incident_v2 remember_task_v2 capture_context_v2 "
                   "supersede_rule_v2 update_task_status_v2 recall_v2 search_v2 list_recent_v2 stats_v2 annotate_v2 "
                   "rate_v2 pin_v2 unpin_v2 forget_v2 forget_many_v2 unsupersede_v2 prune_v2 run_maintenance_v2 "
                   "run_maintenance_if_due_v2 decay_facts_v2 archive_incidents_v2 acknowledge_action_item_v2 "
                   "create_action_item_v2 load_skill_v2 scratch_set_v2 scratch_get_v2 scratch_list_v2 health_v2 "
                   "metrics_v2 recent_errors_v2 brain_checkpoint_v2 brain_startup_reminder_v2"),
      39);
  CHECK(!tool_needs_consent(tool_find(profile_find(STR("openbrain2")), STR("forget_v2")))); /* no argument confirm */
  script_close();
}

TEST(a_conversation_with_brain_v2, .seconds = 60) {
  script_open("openbrain2");
  rules();
  other_kinds();
  capturing();
  reading();
  correcting();
  curating();
  skills();
  booting();
  sessions();
  action_items();
  checkpoints();
  observing();
  forgetting();
  maintaining();
  script_all_called();
  script_close();
}
