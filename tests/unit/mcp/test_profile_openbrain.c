/* test_profile_openbrain.c: conversation with the 26 tools of Open Brain v1: arguments, result fields, errors. */
#include "base/utf8.h"
#include "mcp/profiles/profiles.h"
#include "mcp/tools/internal.h"
#include "script.h"

/* Split, so no file of the repository has text that looks like a secret. */
#define TOKEN                                                                                                          \
  "ghp_"                                                                                                               \
  "x7Kq2mVn9Lr4Tz8Wc1Yb6Hs3Jd5Fg0Pa4Ee7"

static void blocked(const char *tool, const char *args, const char *by) {
  yyjson_mut_val *r = script_refused(tool, args);
  CHECK_STR(result_text(r, "blocked_by"), by);
}

static void remembering(void) {
  yyjson_mut_val *r =
      script_call("remember", J({
                    "content" : "We decided to use PostgreSQL 17 for the billing service. @alice will own it.",
                    "source" : "claude",
                    "type_override" : "",
                    "project" : "harbor",
                    "projects" : [],
                    "valid_time" : "2025-03-01"
                  }));
  CHECK_STR(result_text(r, "action"), "stored");
  CHECK_INT(brain_int(r, "id", 0), 1);
  CHECK_STR(result_text(r, "type"), "decision");
  CHECK_INT(brain_count(r, "people"), 1);
  CHECK(yyjson_mut_equals_str(script_at(r, "people", 0), "alice"));
  CHECK(yyjson_mut_is_arr(yyjson_mut_obj_get(r, "topics")));
  CHECK(yyjson_mut_is_arr(yyjson_mut_obj_get(r, "action_items")));
  CHECK_STR(result_text(r, "stored_at"), "2025-11-15T12:00:00.000Z");
  /* a duplicate is skipped and names the existing memory */
  r = script_call("remember", J({
                    "content" : "We decided to use PostgreSQL 17 for the billing service. @alice will own it.",
                    "source" : "claude",
                    "project" : "harbor"
                  }));
  CHECK_STR(result_text(r, "action"), "skipped");
  CHECK_INT(brain_int(r, "id", 0), 1);
  /* a guardrail of a project is pinned automatically, a global one is not */
  r = script_call("remember", J({
                    "content" : "Never deploy on Friday without a rollback plan",
                    "source" : "claude",
                    "type_override" : "guardrail",
                    "project" : "harbor"
                  }));
  CHECK_INT(brain_int(r, "id", 0), 2);
  CHECK_STR(result_text(r, "type"), "guardrail");
  CHECK(brain_bool(r, "auto_pinned"));
  CHECK_INT(brain_count(r, "action_items"), 0);
  r = script_call("remember", J({"content" : "The office cat is called Turbine", "source" : "claude"}));
  CHECK_INT(brain_int(r, "id", 0), 3);
  CHECK_STR(result_text(r, "type"), "note");
  CHECK(!yyjson_mut_obj_get(r, "auto_pinned"));
  /* refusals */
  blocked("remember", J({"content" : "Nobody says who I am"}), "source_required");
  blocked("remember", J({"content" : "Nobody says who I am", "source" : ""}), "source_required");
  blocked("remember", "{\"content\":\"The deploy token is " TOKEN "\",\"source\":\"claude\"}", "secrets_filter");
  r = script_refused("remember", J({"content" : "x y z", "source" : "claude", "type_override" : "poem"}));
  CHECK(script_says(r, "error", "poem"));
  script_wrong("remember", J({"source" : "claude"}));
}

static void capturing(void) {
  yyjson_mut_val *r =
      script_call("capture_context", J({
                    "context" : "The ingest queue has three workers.\n\nThe nightly export writes Parquet files.",
                    "source" : "claude",
                    "project" : "harbor"
                  }));
  CHECK_INT(brain_int(r, "memories_stored", 0), 2);
  CHECK_INT(brain_count(r, "stored"), 2);
  CHECK_INT(brain_count(r, "errors"), 0);
  CHECK_INT(brain_int(script_at(r, "stored", 0), "id", 0), 4);
  CHECK_STR(result_text(script_at(r, "stored", 0), "action"), "stored");
  CHECK(script_says(script_at(r, "stored", 0), "preview", "The ingest queue"));
  CHECK(result_text(script_at(r, "stored", 1), "type").p);
  blocked("capture_context", J({"context" : "The ingest queue is drained by three workers."}), "source_required");
  blocked("capture_context",
          "{\"context\":\"The token for the archive bucket is " TOKEN " since May.\",\"source\":\"claude\"}",
          "secrets_filter");
}

static void searching(void) {
  yyjson_mut_val *r = script_call("search", J({
                                    "query" : "which database does billing use",
                                    "source" : "claude",
                                    "project" : "harbor",
                                    "limit" : 1,
                                    "type_filter" : "",
                                    "people_filter" : [],
                                    "since_days" : 0,
                                    "until_days" : 0,
                                    "as_of" : ""
                                  })),
                 *e;
  /* pinned first, outside the limit: limit 1 leaves room for one more */
  CHECK_INT(brain_int(r, "count", 0), 2);
  e = script_at(r, "results", 0);
  CHECK_INT(brain_int(e, "id", 0), 2);
  CHECK(brain_bool(e, "pinned"));
  CHECK_NEAR(brain_num(e, "similarity", 0), 1.0, 1e-9);
  e = script_at(r, "results", 1);
  CHECK_INT(brain_int(e, "id", 0), 1);
  CHECK_STR(result_text(e, "preview"), "We decided to use PostgreSQL 17 for the billing service. @alice will own it.");
  CHECK_STR(result_text(e, "type"), "decision");
  CHECK_STR(result_text(e, "project"), "harbor");
  CHECK_STR(result_text(e, "created_at"), "2025-11-15T12:00:00.000Z");
  CHECK(!brain_bool(e, "pinned"));
  CHECK_INT(brain_int(e, "score", -1), 0);
  CHECK(brain_num(e, "similarity", 0) > 0 && brain_num(e, "similarity", 0) <= 1);
  CHECK(yyjson_mut_equals_str(script_at(e, "people", 0), "alice"));
  /* also if the pinned memory is the best hit */
  r = script_call("search", J({
                    "query" : "Never deploy billing on Friday without a rollback plan",
                    "source" : "claude",
                    "project" : "harbor",
                    "limit" : 1
                  }));
  CHECK_INT(brain_int(r, "count", 0), 2);
  CHECK_INT(brain_int(script_at(r, "results", 0), "id", 0), 2);
  CHECK(!brain_bool(script_at(r, "results", 1), "pinned"));
  /* filters */
  r = script_call("search", J({"query" : "billing", "source" : "claude", "people_filter" : ["alice"]}));
  CHECK_INT(brain_int(r, "count", 0), 1);
  r = script_call("search", J({"query" : "billing", "source" : "claude", "type_filter" : "decision"}));
  CHECK_INT(brain_int(script_at(r, "results", 0), "id", 0), 1);
  r = script_call("search", J({"query" : "billing", "source" : "claude", "until_days" : 3}));
  CHECK_INT(brain_int(r, "count", -1), 0);
  /* valid since March, known since November */
  r = script_call("search",
                  J({"query" : "billing", "source" : "claude", "type_filter" : "decision", "as_of" : "2025-11-16"}));
  CHECK_INT(brain_int(r, "count", -1), 1);
  r = script_call("search",
                  J({"query" : "billing", "source" : "claude", "type_filter" : "decision", "as_of" : "2025-02-01"}));
  CHECK_INT(brain_int(r, "count", -1), 0);
  /* no results: an empty list of the same shape */
  r = script_call("search", J({"query" : "billing", "source" : "claude", "people_filter" : ["nobody"]}));
  CHECK_INT(brain_int(r, "count", -1), 0);
  CHECK(yyjson_mut_is_arr(yyjson_mut_obj_get(r, "results")));
  blocked("search", J({"query" : "billing"}), "source_required");
}

static void reading(void) {
  yyjson_mut_val *r = script_call("recall", J({"memory_id" : 1}));
  CHECK_STR(result_text(r, "content"), "We decided to use PostgreSQL 17 for the billing service. @alice will own it.");
  CHECK_STR(result_text(r, "type"), "decision");
  CHECK_STR(result_text(r, "source"), "claude");
  CHECK_STR(result_text(r, "valid_time"), "2025-03-01T00:00:00.000Z");
  CHECK(!yyjson_mut_obj_get(r, "banner"));
  CHECK(brain_bool(script_call("recall", J({"memory_id" : 4})), "auto_captured"));
  script_refused("recall", J({"memory_id" : 999}));

  r = script_call("rate", J({"memory_id" : 1, "direction" : "up"}));
  CHECK_INT(brain_int(r, "upvotes", 0), 1);
  CHECK_INT(brain_int(r, "downvotes", -1), 0);
  CHECK_INT(brain_int(r, "score", 0), 1);
  script_call("rate", J({"memory_id" : 1, "direction" : "up"}));
  CHECK_INT(brain_int(script_call("rate", J({"memory_id" : 1, "direction" : "down"})), "score", 0), 1);
  script_refused("rate", J({"memory_id" : 1, "direction" : "sideways"}));
  script_refused("rate", J({"memory_id" : 999, "direction" : "up"}));

  CHECK_STR(result_text(script_call("annotate", J({"memory_id" : 1})), "annotation"), "");
  r = script_call("annotate", J({"memory_id" : 1, "note" : "The port is 5433", "clear" : false}));
  CHECK_STR(result_text(r, "annotation"), "The port is 5433");
  CHECK_STR(result_text(script_call("annotate", J({"memory_id" : 1, "note" : ""})), "annotation"), "The port is 5433");
  r = script_call("search", J({"query" : "billing", "source" : "claude", "type_filter" : "decision"}));
  CHECK_STR(result_text(script_at(r, "results", 0), "annotation"), "The port is 5433");
  CHECK_INT(brain_int(script_at(r, "results", 0), "score", 0), 1);
  CHECK_STR(result_text(script_call("annotate", J({"memory_id" : 1, "clear" : true})), "annotation"), "");
}

/* A text of n characters of two bytes each. */
static struct str long_text(char out[1000], size_t n) {
  for (size_t i = 0; i < n; i++) {
    out[2 * i] = (char)0xc3;
    out[2 * i + 1] = i % 6 == 5 ? (char)0xa4 : (char)0xa9;
  }
  for (size_t i = 0; i + 12 < 2 * n; i += 12)
    out[i] = out[i + 1] = ' ';
  out[2 * n] = 0;
  return (struct str){out, 2 * n};
}

static void listing(void) {
  char text[1000], args[1200];
  long_text(text, 300);
  snprintf(args, sizeof(args), "{\"content\":\"Long%s\",\"source\":\"claude\"}", text);
  script_wait(1000);
  int64_t id = brain_int(script_call("remember", args), "id", 0);
  CHECK_INT(id, 6);
  yyjson_mut_val *r = script_call("list_recent", J({"limit" : 2}));
  CHECK_INT(brain_int(r, "count", 0), 2);
  CHECK_INT(brain_int(script_at(r, "memories", 0), "id", 0), 6);
  CHECK_INT(utf8_length(result_text(script_at(r, "memories", 0), "preview")), 150);
  CHECK_INT(brain_int(script_call("list_recent", J({"limit" : 100000})), "count", 0), 6);
  r = script_call("search", "{\"query\":\"Long\",\"source\":\"claude\"}");
  yyjson_mut_val *e = script_with(r, "results", "id", 6);
  CHECK(e);
  CHECK_INT(utf8_length(result_text(e, "preview")), 200);
  script_wait(2 * MS_PER_DAY);
  CHECK_INT(brain_int(script_call("list_recent", J({"days" : 1})), "count", -1), 0);
  CHECK_INT(brain_int(script_call("list_recent", J({"days" : 3})), "count", 0), 6);

  r = script_call("stats", "{}");
  CHECK_INT(brain_int(r, "total_memories", 0), 6);
  CHECK_INT(brain_int(yyjson_mut_obj_get(r, "by_type"), "decision", 0), 1);
  CHECK_INT(brain_int(r, "last_7_days", 0), 6);
  CHECK_INT(brain_int(r, "last_30_days", 0), 6);
  CHECK_NEAR(brain_num(r, "correction_repeat_rate", -1), 0, 1e-9);
  CHECK_INT(brain_count(r, "repeated_corrections"), 0);
  CHECK(script_is_null(r, "correction_warning"));
}

static void correcting(void) {
  yyjson_mut_val *r = script_call("supersede", J({
                                    "old_memory_id" : 1,
                                    "new_content" : "The billing service uses PostgreSQL 18 since October.",
                                    "reason" : "upgraded",
                                    "source" : "claude"
                                  }));
  CHECK_INT(brain_int(r, "old_id", 0), 1);
  int64_t new_id = brain_int(r, "new_id", 0);
  CHECK_INT(new_id, 7);
  CHECK_STR(result_text(r, "new_action"), "stored");
  CHECK_STR(result_text(r, "type"), "decision");
  CHECK_STR(result_text(r, "project"), "harbor");
  CHECK(!brain_bool(r, "old_pinned") && !brain_bool(r, "new_pinned"));
  /* a superseded memory names its successor */
  r = script_call("recall", J({"memory_id" : 1}));
  CHECK(script_says(r, "banner", "7"));
  CHECK_INT(brain_int(r, "superseded_by_id", 0), 7);
  CHECK_STR(result_text(r, "superseded_reason"), "upgraded");
  CHECK_STR(result_text(r, "superseded_at"), "2025-11-17T12:00:01.000Z");
  r = script_call("search", J({"query" : "PostgreSQL billing service", "source" : "claude"}));
  CHECK(script_with(r, "results", "id", 7) && !script_with(r, "results", "id", 1));
  r = script_call("search",
                  J({"query" : "PostgreSQL billing service", "source" : "claude", "include_superseded" : true}));
  CHECK(script_with(r, "results", "id", 7) && script_with(r, "results", "id", 1));
  CHECK_INT(brain_int(script_call("list_recent", J({"include_superseded" : true})), "count", 0), 7);
  CHECK_INT(brain_int(script_call("list_recent", "{}"), "count", 0), 6);
  /* errors: a superseded target names the head of the chain */
  r = script_refused(
      "supersede",
      J({"old_memory_id" : 1, "new_content" : "Billing runs on SQLite.", "reason" : "moved", "source" : "claude"}));
  CHECK(script_says(r, "error", "7"));
  blocked("supersede", J({"old_memory_id" : 7, "new_content" : "Billing.", "reason" : "moved"}), "source_required");
  script_refused("supersede",
                 J({"old_memory_id" : 7, "new_content" : "Billing.", "reason" : " ", "source" : "claude"}));
  /* a pin is inherited on request */
  r = script_call("supersede", J({
                    "old_memory_id" : 2,
                    "new_content" : "Never deploy on Friday or before a holiday without a rollback plan",
                    "reason" : "holidays too",
                    "source" : "claude",
                    "inherit_pinned" : true
                  }));
  CHECK(brain_bool(r, "old_pinned") && brain_bool(r, "new_pinned"));
  CHECK_STR(result_text(r, "type"), "guardrail");
  CHECK_INT(brain_int(r, "new_id", 0), 8);
  /* and reverted */
  blocked("unsupersede", J({"memory_id" : 1}), "source_required");
  r = script_call("unsupersede", J({"memory_id" : 1, "source" : "claude"}));
  CHECK_INT(brain_int(r, "id", 0), 1);
  CHECK_INT(brain_int(r, "former_corrector", 0), 7);
  CHECK(result_text(r, "note").n);
  CHECK(!yyjson_mut_obj_get(script_call("recall", J({"memory_id" : 1})), "banner"));
  script_refused("unsupersede", J({"memory_id" : 3, "source" : "claude"}));
}

static void skills_and_pins(void) {
  yyjson_mut_val *r = script_call(
      "remember", J({
        "content" : "Drain the node, wait for zero connections, then stop the service.",
        "source" : "claude",
        "type_override" : "procedural",
        "skill_trigger" :
            {"name" : "graceful-shutdown", "keywords" : [ "shutdown", "drain" ], "projects" : [], "always_on" : false}
      }));
  int64_t id = brain_int(r, "id", 0);
  CHECK_INT(id, 9);
  r = script_call("search", J({"query" : "how does the SHUTDOWN go", "source" : "claude"}));
  CHECK_INT(brain_int(script_at(r, "results", 0), "id", 0), 9);
  CHECK_STR(result_text(script_at(r, "results", 0), "via_skill_trigger"), "graceful-shutdown");
  r = script_call("load_skill", J({"name" : "graceful-shutdown", "source" : "claude", "project" : ""}));
  CHECK_STR(result_text(r, "content"), "Drain the node, wait for zero connections, then stop the service.");
  CHECK_INT(brain_int(r, "id", 0), 9);
  CHECK_STR(result_text(r, "type"), "procedural");
  CHECK_STR(result_text(r, "name"), "graceful-shutdown");
  CHECK_STR(result_text(yyjson_mut_obj_get(r, "skill_trigger"), "name"), "graceful-shutdown");
  CHECK_INT(brain_count(yyjson_mut_obj_get(r, "skill_trigger"), "keywords"), 2);
  script_refused("load_skill", J({"name" : "levitate", "source" : "claude"}));
  blocked("load_skill", J({"name" : "graceful-shutdown"}), "source_required");

  r = script_refused("pin", J({"memory_id" : 3}));
  CHECK(script_says(r, "error", "project"));
  r = script_call("pin", J({"memory_id" : 4}));
  CHECK(brain_bool(r, "pinned"));
  CHECK_STR(result_text(r, "project"), "harbor");
  CHECK(result_text(r, "preview").n && script_says(r, "message", "Memory 4 is pinned"));
  r = script_call("unpin", J({"memory_id" : 4}));
  CHECK(!brain_bool(r, "pinned"));
  script_refused("pin", J({"memory_id" : 999}));
}

static void booting(void) {
  blocked("boot_session", J({"project" : "harbor"}), "source_required");
  yyjson_mut_val *r = script_call("boot_session", J({
                                    "project" : "harbor",
                                    "source" : "claude",
                                    "task" : "billing database",
                                    "cwd" : "/srv/harbor",
                                    "pid" : 4242,
                                    "host" : "elsewhere"
                                  })),
                 *c = script_at(r, "context", 0);
  CHECK(brain_bool(r, "booted"));
  CHECK_STR(result_text(r, "project"), "harbor");
  CHECK_STR(result_text(r, "source"), "claude");
  CHECK(brain_int(r, "session_id", 0) > 0);
  CHECK_INT(brain_int(r, "sections_loaded", 0), brain_count(r, "context"));
  CHECK(!yyjson_mut_obj_get(r, "degraded"));
  CHECK(result_text(r, "message").n);
  CHECK_STR(result_text(c, "section"), "PINNED GUARDRAILS");
  CHECK_INT(brain_int(c, "count", 0), 1);
  CHECK(yyjson_mut_equals_str(script_at(c, "content", 0),
                              "[GUARDRAIL #8] (guardrail, written by claude)\n"
                              "Never deploy on Friday or before a holiday without a rollback plan"));
  CHECK_STR(result_text(script_at(r, "context", 1), "section"), "PROJECT CONTEXT");
  CHECK(brain_int(script_at(r, "context", 1), "count", 0) >= 1 &&
        brain_int(script_at(r, "context", 1), "count", 0) <= 5);
  CHECK_STR(result_text(script_at(r, "context", 2), "section"), "RECENT HISTORY (7 days)");
  CHECK_INT(brain_count(r, "context"), 3); /* the only rule left is a skill that needs a keyword */
}

static void sessions(void) {
  blocked("update_active_task", J({"task" : "migrating"}), "source_required");
  blocked("list_active_sessions", "{}", "source_required");
  blocked("end_session", "{}", "source_required");
  yyjson_mut_val *r =
      script_call("update_active_task", J({"source" : "claude", "task" : "migrating the schema", "session_id" : 0}));
  int64_t mine = brain_int(r, "session_id", 0);
  CHECK(mine > 0);
  CHECK_STR(result_text(r, "task"), "migrating the schema");
  /* a second client of the same project sees the first */
  script_as("two");
  r = script_call("boot_session", J({"project" : "harbor", "source" : "cursor", "task" : "docs"}));
  int64_t other = brain_int(r, "session_id", 0);
  CHECK(other > 0 && other != mine);
  bool told = false;
  for (size_t i = 0; i < brain_count(r, "context"); i++)
    told |= str_is(result_text(script_at(r, "context", i), "section"), "OTHER ACTIVE SESSIONS");
  CHECK(told);
  script_as("one");
  r = script_call("list_active_sessions", J({"source" : "claude", "project" : "", "exclude_self" : true}));
  CHECK_INT(brain_int(r, "count", 0), 1);
  CHECK_INT(brain_int(script_at(r, "sessions", 0), "id", 0), other);
  CHECK_STR(result_text(script_at(r, "sessions", 0), "source"), "cursor");
  CHECK_STR(result_text(script_at(r, "sessions", 0), "current_task"), "docs");
  CHECK_STR(result_text(script_at(r, "sessions", 0), "status"), "active");
  CHECK(yyjson_mut_is_bool(yyjson_mut_obj_get(r, "registry_trustworthy")));
  CHECK(yyjson_mut_obj_get(r, "registry_staleness_seconds"));
  r = script_call("list_active_sessions", J({"source" : "claude", "exclude_self" : false}));
  CHECK_INT(brain_int(r, "count", 0), 2);

  r = script_call("scratch_set", J({"key" : "branch", "value" : "fix/login"}));
  CHECK_STR(result_text(r, "key"), "branch");
  r = script_call("scratch_get", J({"key" : "branch"}));
  CHECK(brain_bool(r, "found"));
  CHECK_STR(result_text(r, "value"), "fix/login");
  r = script_call("scratch_get", J({"key" : "nothing"}));
  CHECK(!brain_bool(r, "found"));
  CHECK(script_is_null(r, "value"));
  r = script_call("scratch_list", "{}");
  CHECK_INT(brain_int(r, "count", 0), 1);
  CHECK_STR(result_text(yyjson_mut_obj_get(r, "entries"), "branch"), "fix/login");
}

static void action_items(void) {
  yyjson_mut_val *r =
      script_call("remember", J({
                    "content" : "The audit found a weak signing key. We need to rotate the signing key.",
                    "source" : "claude",
                    "project" : "harbor"
                  }));
  int64_t id = brain_int(r, "id", 0);
  CHECK_INT(brain_count(r, "action_items"), 1);
  script_as("three");
  r = script_call("boot_session", J({"project" : "harbor", "source" : "windsurf"}));
  CHECK_INT(brain_count(r, "pending_action_items"), 1);
  yyjson_mut_val *item = script_at(r, "pending_action_items", 0);
  CHECK_INT(brain_int(item, "memory_id", 0), id);
  CHECK_STR(result_text(item, "text"), "We need to rotate the signing key.");
  CHECK(script_says(r, "message", "acknowledge_action_item"));
  yyjson_mut_val *last = script_at(r, "context", brain_count(r, "context") - 1);
  CHECK_STR(result_text(last, "section"), "ACTION ITEMS PENDING");

  /* writes are blocked until the item is answered, reads are not */
  const char *write = J({"content" : "Lunch is at noon on Mondays", "source" : "windsurf", "project" : "harbor"});
  r = script_refused("remember", write);
  CHECK_STR(result_text(r, "blocked_by"), "action_items_pending");
  CHECK_INT(brain_int(r, "pending_count", 0), 1);
  CHECK(script_says(r, "error", "acknowledge_action_item"));
  blocked("capture_context",
          J({"context" : "Lunch is always at noon on Mondays here.", "source" : "windsurf", "project" : "harbor"}),
          "action_items_pending");
  blocked("supersede", J({
            "old_memory_id" : 4,
            "new_content" : "Four workers drain the queue.",
            "reason" : "grown",
            "source" : "windsurf"
          }),
          "action_items_pending");
  script_call("search", J({"query" : "signing key", "source" : "windsurf"}));

  char args[400];
  snprintf(
      args, sizeof(args),
      "{\"source\":\"windsurf\",\"memory_id\":%lld,\"text\":\"We need to rotate the signing key.\",\"decision\":\"%s\","
      "\"reason\":\"%s\"}",
      (long long)id, "already_done", "");
  script_refused("acknowledge_action_item", args);
  snprintf(args, sizeof(args), "{\"memory_id\":%lld,\"text\":\"x\",\"decision\":\"will_execute\"}", (long long)id);
  blocked("acknowledge_action_item", args, "source_required");
  snprintf(
      args, sizeof(args),
      "{\"source\":\"windsurf\",\"memory_id\":%lld,\"text\":\"We need to rotate the signing key.\",\"decision\":\"%s\","
      "\"reason\":\"%s\"}",
      (long long)id, "already_done", "rotated yesterday");
  r = script_call("acknowledge_action_item", args);
  CHECK_STR(result_text(r, "decision"), "already_done");
  CHECK_STR(result_text(r, "text"), "We need to rotate the signing key.");
  CHECK_INT(brain_int(r, "removed", -1), 1);
  CHECK_INT(brain_int(r, "remaining", -1), 0);
  CHECK_INT(brain_int(script_call("acknowledge_action_item", args), "removed", -1), 0);
  CHECK_STR(result_text(script_call("remember", write), "action"), "stored");
  snprintf(args, sizeof(args), "{\"source\":\"windsurf\",\"memory_id\":%lld,\"text\":\"x\",\"decision\":\"maybe\"}",
           (long long)id);
  script_refused("acknowledge_action_item", args);
}

static void checkpoints(void) {
  const char *args = J(
      {"action" : "deploy to production", "source" : "windsurf", "context" : "billing service", "project" : "harbor"});
  blocked("brain_checkpoint", J({"action" : "deploy to production"}), "source_required");
  yyjson_mut_val *r = script_call("brain_checkpoint", args);
  CHECK(!brain_bool(r, "skipped"));
  CHECK_INT(brain_int(r, "guardrails", 0), 1);
  CHECK_INT(brain_count(r, "warnings"), 1);
  CHECK(script_says(script_at(r, "warnings", 0), "content", "Never deploy on Friday"));
  CHECK_STR(result_text(script_at(r, "warnings", 0), "type"), "guardrail");
  CHECK_STR(result_text(script_at(r, "warnings", 0), "author"), "claude");
  CHECK_STR(result_text(r, "context"), "billing service");
  CHECK_INT(brain_int(r, "relevant_memories", 0), brain_count(r, "relevant"));
  CHECK(brain_count(r, "relevant") >= 1 && brain_count(r, "relevant") <= 5);
  CHECK(brain_num(script_at(r, "relevant", 0), "similarity", -1) >= 0);
  CHECK_STR(result_text(script_with(r, "relevant", "id", 8), "type"), "guardrail");
  /* the same action within 300 s */
  script_wait(299 * MS_PER_SECOND);
  CHECK(brain_bool(script_call("brain_checkpoint", args), "skipped"));
  script_wait(2 * MS_PER_SECOND);
  CHECK(!brain_bool(script_call("brain_checkpoint", args), "skipped"));

  r = script_call("brain_startup_reminder", "{}");
  CHECK_STR(result_text(r, "type"), "system_message");
  CHECK_STR(result_text(r, "action"), "display_at_session_start");
  CHECK(result_text(r, "level").n && result_text(r, "title").n);
  CHECK(script_says(r, "message", "boot_session"));
}

static void cleaning(void) {
  blocked("prune", J({"days" : 29}), "prune_safeguard");
  yyjson_mut_val *r = script_call("prune", "{}");
  CHECK(brain_bool(r, "dry_run"));
  CHECK_INT(brain_int(r, "would_delete", -1), 0);
  CHECK_INT(brain_int(r, "max_per_call", 0), 50);
  CHECK_STR(result_text(r, "criteria"), "not used for 90 days, accessed <= 0 times");

  r = script_call("forget", J({"memory_id" : 5}));
  CHECK(brain_bool(r, "success"));
  CHECK(yyjson_mut_obj_get(script_call("recall", J({"memory_id" : 5})), "banner"));
  r = script_call("search", J({"query" : "nightly export Parquet", "source" : "claude"}));
  CHECK(!script_with(r, "results", "id", 5));
  script_refused("forget", J({"memory_id" : 999}));
  r = script_call("forget_many", J({"memory_ids" : [ 4, 999 ]}));
  CHECK_INT(brain_int(r, "deleted", 0), 1);
  CHECK_INT(brain_count(r, "not_found"), 1);
  CHECK_INT(yyjson_mut_get_sint(script_at(r, "not_found", 0)), 999);
  /* a forgotten memory is not found again */
  CHECK(script_says(script_refused("forget", J({"memory_id" : 5})), "error", "forgotten"));
  r = script_call("forget_many", J({"memory_ids" : [ 4, 5 ]}));
  CHECK_INT(brain_int(r, "deleted", -1), 0);
  CHECK_INT(brain_count(r, "not_found"), 2);

  script_wait(100 * MS_PER_DAY);
  int64_t would =
      brain_int(script_call("prune", J({"days" : 90, "min_access" : 0, "dry_run" : true})), "would_delete", 0);
  CHECK(would >= 1);
  r = script_call("prune", J({"days" : 90, "min_access" : 0, "dry_run" : false}));
  CHECK(!brain_bool(r, "dry_run"));
  CHECK_INT(brain_int(r, "deleted", 0), would);
  /* pinned memories and rules stay */
  CHECK(result_text(script_call("recall", J({"memory_id" : 8})), "content").n);
  CHECK(result_text(script_call("recall", J({"memory_id" : 9})), "content").n);
}

TEST(the_26_tools) {
  script_open("openbrain");
  CHECK_INT(
      script_tools("remember capture_context search recall rate annotate list_recent stats prune forget forget_many "
                   "scratch_set scratch_get scratch_list supersede unsupersede load_skill pin unpin boot_session "
                   "update_active_task list_active_sessions end_session acknowledge_action_item brain_checkpoint "
                   "brain_startup_reminder"),
      26);
  script_close();
}

TEST(a_conversation_with_open_brain) {
  script_open("openbrain");
  remembering();
  capturing();
  searching();
  reading();
  listing();
  correcting();
  skills_and_pins();
  booting();
  sessions();
  action_items();
  checkpoints();
  cleaning();
  script_as("one");
  script_call("boot_session", J({"project" : "harbor", "source" : "claude"}));
  yyjson_mut_val *r = script_call("end_session", J({"source" : "claude", "session_id" : 0}));
  CHECK(brain_bool(r, "ended"));
  CHECK(brain_int(r, "session_id", 0) > 0);
  script_all_called();
  script_close();
}

TEST(reports_near_duplicate_guardrails) {
  script_open("openbrain");
  script_call("remember", J({
                "content" : "Never deploy on Friday without a rollback plan",
                "source" : "a",
                "type_override" : "guardrail",
                "project" : "harbor"
              }));
  /* a near duplicate is not stored: the answer names the existing one and how to replace it */
  yyjson_mut_val *r = script_call("remember", J({
                                    "content" : "Never deploy on Friday without a rollback plan and two reviewers",
                                    "source" : "a",
                                    "type_override" : "guardrail",
                                    "project" : "harbor"
                                  }));
  CHECK_STR(result_text(r, "action"), "skipped");
  CHECK_INT(brain_int(r, "id", 0), 1);
  CHECK(script_says(r, "hint", "supersede(old_memory_id=1"));
  CHECK(brain_num(r, "similarity", 0) >= 0.75);
  r = script_call("capture_context", J({
                    "context" : "Never deploy on Friday without a rollback plan and two reviewers.",
                    "source" : "a",
                    "project" : "harbor"
                  }));
  CHECK_INT(brain_int(r, "memories_stored", -1), 0);
  CHECK_STR(result_text(script_at(r, "stored", 0), "action"), "skipped");
  CHECK_INT(brain_int(script_at(r, "stored", 0), "id", 0), 1);
  CHECK_INT(brain_int(script_call("stats", "{}"), "total_memories", 0), 1);
  /* two near duplicates that were kept count as a repeated correction */
  script_op("remember", J({
              "text" : "Never deploy on Friday without a rollback plan and two reviewers",
              "type" : "guardrail",
              "project" : "harbor",
              "distinct_from" : ["1"]
            }));
  script_call("remember", J({
                "content" : "The kitchen closes at nine",
                "source" : "a",
                "type_override" : "guardrail",
                "project" : "harbor"
              }));
  r = script_call("stats", "{}");
  CHECK_INT(brain_count(r, "repeated_corrections"), 1);
  yyjson_mut_val *pair = script_at(r, "repeated_corrections", 0);
  CHECK_INT(yyjson_mut_get_sint(script_at(pair, "ids", 0)), 1);
  CHECK_INT(yyjson_mut_get_sint(script_at(pair, "ids", 1)), 2);
  CHECK(brain_num(pair, "similarity", 0) > 0.7);
  CHECK(script_says(pair, "preview_a", "Never deploy") && script_says(pair, "preview_b", "Never deploy"));
  CHECK_NEAR(brain_num(r, "correction_repeat_rate", 0), 0.6667, 1e-9);
  CHECK(result_text(r, "correction_warning").n);
  r = script_call("boot_session", J({"project" : "harbor", "source" : "a"}));
  bool told = false;
  for (size_t i = 0; i < brain_count(r, "context"); i++)
    told |= str_is(result_text(script_at(r, "context", i), "section"), "REPEATED CORRECTIONS (CRITICAL)");
  CHECK(told);
  script_close();
}

TEST(a_server_of_one_project_stays_in_it) {
  script_open("openbrain");
  script_call("remember", J({"content" : "The harbor crane needs oil", "source" : "a", "project" : "harbor"}));
  script_call("remember", J({"content" : "The crane of the quarry is red", "source" : "a", "project" : "quarry"}));
  CHECK_INT(brain_int(script_call("search", J({"query" : "crane", "source" : "a"})), "count", 0), 2);
  script_in("quarry");
  yyjson_mut_val *r = script_call("remember", J({"content" : "Lunch is at noon", "source" : "a"}));
  CHECK_STR(result_text(script_call("recall", J({"memory_id" : 3})), "project"), "quarry");
  r = script_call("search", J({"query" : "crane", "source" : "a"}));
  CHECK_INT(brain_int(r, "count", 0), 1);
  CHECK_INT(brain_int(script_at(r, "results", 0), "id", 0), 2);
  /* a correction stays in the project of the corrected memory */
  r = script_call(
      "supersede",
      J({"old_memory_id" : 1, "new_content" : "The harbor crane was oiled", "reason" : "done", "source" : "a"}));
  CHECK_STR(result_text(r, "project"), "harbor");
  script_in(NULL);
  script_close();
}

TEST(boot_succeeds_without_its_failed_parts) {
  script_open("openbrain");
  yyjson_mut_val *r = script_call("boot_session", "{\"project\":\"bad\\u0001name\",\"source\":\"claude\"}");
  CHECK(brain_bool(r, "success") && brain_bool(r, "booted"));
  CHECK(brain_bool(r, "degraded"));
  CHECK_INT(brain_int(r, "sections_loaded", -1), 0);
  CHECK(script_says(r, "message", "project"));
  script_close();
}

TEST(a_lost_pin_is_named_and_a_skill_is_kept) {
  script_open("openbrain");
  script_call("remember", J({
                "content" : "Never deploy on Friday without a rollback plan",
                "source" : "claude",
                "type_override" : "guardrail",
                "project" : "harbor",
                "skill_trigger" : {"name" : "deploying", "keywords" : ["deploy"]}
              }));
  yyjson_mut_val *r = script_call("supersede", J({
                                    "old_memory_id" : 1,
                                    "new_content" : "Never deploy before a holiday",
                                    "reason" : "holidays too",
                                    "source" : "claude"
                                  }));
  CHECK(brain_bool(r, "old_pinned") && !brain_bool(r, "new_pinned"));
  CHECK_INT(brain_count(r, "not_inherited"), 1);
  CHECK_STR(result_text(r, "skill_name"), "deploying");
  script_close();
}

TEST(people_are_found_in_any_spelling) {
  static const char *const filters[] = {"@maria", "maria", "MARIA"};
  script_open("openbrain");
  script_call("remember", J({"content" : "@Maria owns the crane.", "source" : "claude"}));
  script_call("remember", J({"content" : "The crane was painted with @maria in May.", "source" : "claude"}));
  script_call("remember", J({"content" : "@bob repairs the crane.", "source" : "claude"}));
  for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
    char args[100];
    snprintf(args, sizeof(args), "{\"query\":\"crane\",\"source\":\"claude\",\"people_filter\":[\"%s\"]}", filters[i]);
    CHECK_INT(brain_int(script_call("search", args), "count", 0), 2);
  }
  script_close();
}

TEST(a_limit_of_0_is_the_default) {
  script_open("openbrain");
  script_call("remember", J({"content" : "The crane is yellow.", "source" : "claude"}));
  script_call("remember", J({"content" : "Cranes lift containers from ships.", "source" : "claude"}));
  CHECK_INT(brain_int(script_call("list_recent", J({"limit" : 0})), "count", 0), 2);
  CHECK_INT(brain_int(script_call("search", J({"query" : "crane", "source" : "claude", "limit" : 0})), "count", 0), 2);
  script_close();
}

TEST(stats_use_the_types_of_open_brain) {
  script_open("openbrain");
  script_call("remember", J({"content" : "Gulls steal food.", "source" : "claude", "type_override" : "insight"}));
  script_call("remember", J({
                "content" : "Never feed the gulls on the pier.",
                "source" : "claude",
                "type_override" : "guardrail",
                "project" : "harbor"
              }));
  yyjson_mut_val *types = yyjson_mut_obj_get(script_call("stats", "{}"), "by_type");
  CHECK_INT(brain_int(types, "insight", 0), 1);
  CHECK_INT(brain_int(types, "guardrail", 0), 1);
  CHECK_INT(yyjson_mut_obj_size(types), 2);
  script_close();
}

/* True if a section of a boot has this text. */
static bool boots_with(const char *project, const char *section, const char *text) {
  char args[100];
  snprintf(args, sizeof(args), "{\"project\":\"%s\",\"source\":\"claude\"}", project);
  yyjson_mut_val *r = script_call("boot_session", args), *line;
  for (size_t i = 0; i < brain_count(r, "context"); i++) {
    yyjson_mut_val *c = script_at(r, "context", i);
    size_t k, n;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(c, "content"), k, n, line) {
      if (str_is(result_text(c, "section"), section) && script_ends_with(line, text))
        return true;
    }
  }
  return false;
}

static bool boots_anywhere_with(const char *project, const char *text) {
  static const char *const sections[] = {"PINNED GUARDRAILS", "PROJECT CONTEXT", "RECENT HISTORY (7 days)",
                                         "KNOWN ISSUES & CORRECTIONS"};
  bool shown = false;
  for (size_t i = 0; i < ARRAY_LEN(sections); i++)
    shown |= boots_with(project, sections[i], text);
  return shown;
}

#define PINNED "PINNED GUARDRAILS"
TEST(boot_loads_a_skill_only_if_it_is_always_on_and_for_the_project) {
  script_open("openbrain");
  script_call("remember", J({
                "content" : "Drain a node before stopping it",
                "source" : "claude",
                "type_override" : "guardrail",
                "project" : "harbor",
                "skill_trigger" : {"name" : "drain", "keywords" : ["drain"], "projects" : [], "always_on" : false}
              }));
  script_call("remember", J({
                "content" : "Ferries never wait for cars",
                "source" : "claude",
                "type_override" : "guardrail",
                "project" : "harbor",
                "skill_trigger" : {"name" : "ferry", "keywords" : ["ferry"], "projects" : [], "always_on" : true}
              }));
  script_call(
      "remember", J({
        "content" : "Wear a helmet below the crane",
        "source" : "claude",
        "type_override" : "procedural",
        "skill_trigger" : {"name" : "helmet", "keywords" : ["helmet"], "projects" : ["quarry"], "always_on" : true}
      }));
  CHECK(brain_bool(script_call("recall", J({"memory_id" : 1})), "pinned"));
  CHECK(!boots_anywhere_with("harbor", "Drain a node before stopping it"));
  CHECK(boots_with("harbor", PINNED, "Ferries never wait for cars"));
  CHECK(boots_with("quarry", PINNED, "Wear a helmet below the crane"));
  CHECK(!boots_anywhere_with("harbor", "Wear a helmet below the crane"));
  CHECK(!boots_anywhere_with("", "Wear a helmet below the crane"));
  /* the first results of a search are what boot loads */
  yyjson_mut_val *r =
      script_call("search", J({"query" : "lunch", "source" : "claude", "project" : "harbor", "limit" : 1}));
  CHECK_INT(brain_int(script_at(r, "results", 0), "id", 0), 2);
  CHECK(!script_with(r, "results", "id", 1) || brain_num(script_with(r, "results", "id", 1), "similarity", 1) < 1);
  /* a correction turns a guardrail into a skill */
  script_call("remember", J({
                "content" : "Nobody smokes on the pier",
                "source" : "claude",
                "type_override" : "guardrail",
                "project" : "harbor"
              }));
  CHECK(boots_with("harbor", PINNED, "Nobody smokes on the pier"));
  r = script_call("supersede", J({
                    "old_memory_id" : 4,
                    "new_content" : "Nobody smokes or vapes on the pier",
                    "reason" : "only needed now and then",
                    "source" : "claude",
                    "inherit_pinned" : true,
                    "skill_trigger" : {"name" : "smoking", "keywords" : ["smok"]}
                  }));
  CHECK(brain_bool(r, "new_pinned"));
  CHECK_STR(result_text(r, "skill_name"), "smoking");
  CHECK(!boots_anywhere_with("harbor", "Nobody smokes or vapes on the pier"));
  r = script_call("search", J({"query" : "a smoking area", "source" : "claude", "project" : "harbor"}));
  CHECK_STR(result_text(script_with(r, "results", "id", 5), "via_skill_trigger"), "smoking");
  script_close();
}

TEST(a_skill_is_loaded_in_its_projects) {
  script_open("openbrain");
  script_call("remember", J({
                "content" : "Wear a helmet below the crane",
                "source" : "claude",
                "skill_trigger" : {"name" : "helmet", "keywords" : ["helmet"], "projects" : ["quarry"]}
              }));
  CHECK_INT(brain_int(script_call("load_skill", J({"name" : "helmet", "source" : "a", "project" : "quarry"})), "id", 0),
            1);
  script_refused("load_skill", J({"name" : "helmet", "source" : "a", "project" : "harbor"}));
  yyjson_mut_val *r = script_refused("load_skill", J({"name" : "helmet", "source" : "a"}));
  CHECK(script_says(r, "error", "needs the project"));
  /* the project of the server counts like the argument */
  script_in("quarry");
  CHECK_INT(brain_int(script_call("load_skill", J({"name" : "helmet", "source" : "a"})), "id", 0), 1);
  CHECK_STR(result_text(script_call("boot_session", J({"source" : "a"})), "project"), "quarry");
  script_in(NULL);
  /* its name is unique; the refusal says what to do, with tools of the profile */
  r = script_refused(
      "remember",
      J({"content" : "Hard hats", "source" : "a", "skill_trigger" : {"name" : "helmet", "keywords" : ["hat"]}}));
  CHECK(script_says(r, "error", "taken by memory 1") && script_says(r, "error", "supersede {\"old_memory_id\":1"));
  CHECK(!script_says(r, "error", "cairn "));
  script_close();
}

TEST(a_skill_that_could_not_be_found_is_refused) {
  static const char *const triggers[] = {"{\"keywords\":[\"x\"]}", "{\"name\":\" \",\"keywords\":[\"x\"]}",
                                         "{\"name\":\"x\",\"keywords\":\"x\"}", "{\"name\":\"x\",\"projects\":\"x\"}",
                                         "{\"name\":\"x\",\"always_on\":\"yes\"}"};
  script_open("openbrain");
  for (size_t i = 0; i < ARRAY_LEN(triggers); i++) {
    char args[200];
    snprintf(args, sizeof(args), "{\"content\":\"Wear a helmet\",\"source\":\"a\",\"skill_trigger\":%s}", triggers[i]);
    CHECK(script_says(script_refused("remember", args), "error", "skill_trigger has"));
  }
  script_call("remember", J({"content" : "Wear a helmet", "source" : "a", "skill_trigger" : {}}));
  CHECK_INT(brain_int(script_call("stats", "{}"), "total_memories", -1), 1);
  script_close();
}

/* An answer with success would make the agent believe that the old memory is corrected. */
TEST(a_correction_that_repeats_a_memory_is_refused) {
  script_open("openbrain");
  script_call("remember", J({"content" : "The crane is operated by Marta", "source" : "a"}));
  script_call("remember", J({"content" : "Gulls steal food on the pier", "source" : "a"}));
  yyjson_mut_val *r = script_refused(
      "supersede",
      J({"old_memory_id" : 1, "new_content" : "Gulls steal food on the pier", "reason" : "wrong", "source" : "a"}));
  CHECK(script_says(r, "error", "memory 2 says the same") && script_says(r, "error", "forget the old memory"));
  CHECK(!yyjson_mut_obj_get(script_call("recall", J({"memory_id" : 1})), "banner"));
  script_close();
}

TEST(recall_says_that_the_correction_was_forgotten) {
  script_open("openbrain");
  script_call("remember", J({"content" : "The crane is operated by Marta", "source" : "a"}));
  script_call("supersede",
              J({"old_memory_id" : 1, "new_content" : "Jonas operates the crane", "reason" : "new", "source" : "a"}));
  CHECK(script_says(script_call("recall", J({"memory_id" : 1})), "banner", "The current version is 2"));
  script_call("forget", J({"memory_id" : 2}));
  CHECK(script_says(script_call("recall", J({"memory_id" : 1})), "banner", "The last version, 2, is forgotten"));
  script_close();
}

TEST(a_checkpoint_warns_of_all_that_is_pinned) {
  script_open("openbrain");
  script_call("remember", J({
                "content" : "We decided to build the pier of oak",
                "source" : "a",
                "type_override" : "decision",
                "project" : "harbor"
              }));
  script_call("remember", J({
                "content" : "Lamps are lit at dusk",
                "source" : "a",
                "type_override" : "procedural",
                "project" : "harbor",
                "skill_trigger" : {"name" : "lamps", "keywords" : ["lamp"]}
              }));
  script_call("pin", J({"memory_id" : 1}));
  script_call("pin", J({"memory_id" : 2}));
  yyjson_mut_val *r =
      script_call("brain_checkpoint", J({"action" : "feed the gulls", "source" : "a", "project" : "harbor"}));
  CHECK_INT(brain_int(r, "guardrails", 0), 1); /* the skill needs its keyword */
  CHECK_INT(brain_int(script_at(r, "warnings", 0), "id", 0), 1);
  script_close();
}

TEST(a_checkpoint_without_a_project_covers_all) {
  script_open("openbrain");
  script_call("remember",
              J({"content" : "The key of the blue crane is in box nine", "source" : "a", "project" : "harbor"}));
  yyjson_mut_val *r =
      script_call("brain_checkpoint", J({"action" : "fetch the key of the blue crane", "source" : "a"}));
  CHECK_INT(brain_int(r, "relevant_memories", 0), 1);
  script_close();
}

/* What is redacted in the text is no topic of it. */
TEST(metadata_of_a_redacted_text_has_no_piece_of_the_secret) {
  script_open("openbrain");
  script_op("config", J({"name" : "secrets.mode", "value" : "redact"}));
  yyjson_mut_val *r = script_call(
      "remember",
      "{\"source\":\"a\",\"content\":\"The key of the QuayGate:\\n-----BEGIN RSA PRIVATE " /* not a key as a whole */
      "KEY-----\\nMIIEpAIBAAKCAQEA7Z\\nqWmBxKd3hVbYtNcRsLpQ\\n-----END RSA PRIVATE KEY-----\"}");
  CHECK_STR(result_text(r, "action"), "stored");
  yyjson_mut_val *topics = yyjson_mut_obj_get(r, "topics"), *topic;
  size_t i, n;
  bool named = false;
  yyjson_mut_arr_foreach(topics, i, n, topic) {
    named |= yyjson_mut_equals_str(topic, "QuayGate");
    CHECK(strncmp(yyjson_mut_get_str(topic), "MIIE", 4) != 0 && !yyjson_mut_equals_str(topic, "REDACTED"));
  }
  CHECK(named);
  script_close();
}

TEST(captured_pieces_get_the_types_of_their_words) {
  static const char *const types[] = {"decision", "idea", "guardrail", "fact"};
  static const char args[] = "{\"source\":\"a\",\"context\":\"We decided to build the pier of oak.\\n\\n"
                             "What if we painted the boats blue?\\n\\nNever sail in fog without a horn.\\n\\n"
                             "The harbor opens at six.\"}";
  script_open("openbrain");
  yyjson_mut_val *r = script_call("capture_context", args);
  CHECK_INT(brain_count(r, "stored"), ARRAY_LEN(types));
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    CHECK_STR(result_text(script_at(r, "stored", i), "type"), types[i]);
  script_close();
}

TEST(boot_lists_every_item_that_blocks) {
  enum { ITEMS = 60 };
  script_open("openbrain");
  for (int i = 0; i < ITEMS; i++) {
    char args[200];
    snprintf(args, sizeof(args), "{\"text\":\"Paint boat %d\",\"project\":\"harbor\"}", i);
    script_op("action add", args);
  }
  yyjson_mut_val *r = script_call("boot_session", J({"project" : "harbor", "source" : "a"}));
  CHECK_INT(brain_count(r, "pending_action_items"), ITEMS);
  CHECK(script_says(r, "message", "60 action items"));
  /* and each can be answered by what boot shows */
  for (size_t i = 0; i < ITEMS; i++) {
    char args[200];
    yyjson_mut_val *item = script_at(r, "pending_action_items", i);
    snprintf(args, sizeof(args),
             "{\"source\":\"a\",\"memory_id\":%lld,\"text\":\"%.*s\",\"decision\":\"will_execute\"}",
             (long long)brain_int(item, "memory_id", -1), STR_ARG(result_text(item, "text")));
    yyjson_mut_val *answer = script_call("acknowledge_action_item", args);
    CHECK_INT(brain_int(answer, "removed", 0), 1);
    CHECK_INT(brain_int(answer, "remaining", -1), ITEMS - 1 - (int64_t)i);
  }
  script_close();
}

TEST(remaining_counts_all_items_that_block_the_session) {
  script_open("openbrain");
  script_call("remember", J({"content" : "We need to oil the crane.", "source" : "a", "project" : "harbor"}));
  script_call("remember", J({"content" : "We need to order lamps.", "source" : "a"}));
  CHECK_INT(brain_count(script_call("boot_session", J({"project" : "harbor", "source" : "a"})), "pending_action_items"),
            2);
  yyjson_mut_val *r = script_call(
      "acknowledge_action_item",
      J({"source" : "a", "memory_id" : 2, "text" : "We need to order lamps.", "decision" : "will_execute"}));
  CHECK_INT(brain_int(r, "remaining", -1), 1);
  blocked("remember", J({"content" : "Lunch is at noon", "source" : "a", "project" : "harbor"}),
          "action_items_pending");
  r = script_call(
      "acknowledge_action_item",
      J({"source" : "a", "memory_id" : 1, "text" : "We need to oil the crane.", "decision" : "will_execute"}));
  CHECK_INT(brain_int(r, "remaining", -1), 0);
  script_close();
}

TEST(stats_count_what_is_left) {
  script_open("openbrain");
  script_call("remember", J({"content" : "Gulls steal food on the pier", "source" : "a"}));
  script_call("remember", J({"content" : "The crane is operated by Marta", "source" : "a"}));
  script_call("forget", J({"memory_id" : 1}));
  CHECK_INT(brain_int(script_call("stats", "{}"), "total_memories", -1), 1);
  script_close();
}

TEST(forgetting_takes_the_arguments_of_open_brain) {
  CHECK(!tool_needs_consent(tool_find(&profile_openbrain, STR("forget"))));
  CHECK(!tool_needs_consent(tool_find(&profile_openbrain, STR("forget_many"))));
}

TEST(a_text_without_letters_is_remembered) {
  script_open("openbrain");
  script_call("remember", J({"content" : "5433", "source" : "a"}));
  CHECK_STR(result_text(script_call("recall", J({"memory_id" : 1})), "content"), "5433");
  script_close();
}
