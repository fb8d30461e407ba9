/* openbrain2_read.c: tools of brain_v2 that find, show and count memories. */
#include "core/memory/memory.h"
#include "mcp/profiles/openbrain/openbrain2.h"

enum { SEARCH_MAX = 100, LIST_MAX = 200, TASKS_MAX = 1000 };

/* ---- recall ---- */

enum status openbrain2_prepare_kind(struct tool_run *run, yyjson_mut_val *args UNUSED) {
  yyjson_mut_val *m = NULL;
  return openbrain2_check(run, json_str(run->args, "kind"), json_int(run->args, "memory_id", 0), &m);
}

/* Of an incident. */
static void put_linked_rules(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  yyjson_mut_val *list, *l;
  size_t i, n;
  if (!str_is(result_text(memory, "kind"), kind_names[KIND_INCIDENT]))
    return;
  list = json_put_arr(run->doc, to, "linked_rule_ids");
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(memory, "links"), i, n, l) {
    if (str_is(result_text(l, "rel"), "relates") && str_is(result_text(l, "direction"), "out"))
      yyjson_mut_arr_add_sint(run->doc, list, brain_int(l, "id", 0));
  }
}

const struct shape openbrain2_recall_shape[] = {
    SUCCESS,
    MEMORY(COPY("body")),
    OBJECT("extra", COPY("status priority due_condition=due root_cause resolution"), CALL(put_linked_rules),
           COPY("tags expires_at state access_count last_accessed claimed_by")),
    CALL(brain_put_annotation),
    WHEN_OF("skill_name", brain_skill_shape),
    WHEN(
        "state=forgotten",
        OBJECT(
            "forgotten", COPY("forgotten_at=state_at forgotten_reason=state_reason forgotten_by=state_by"),
            FIXED("\"banner\":\"This memory has been FORGOTTEN. It is shown for the record; do not take it for current "
                  "truth.\""))),
    UNLESS("state=forgotten", COPY("banner")),
    {0},
};

/* ---- search and lists ---- */

enum status openbrain2_prepare_search(struct tool_run *run, yyjson_mut_val *args) {
  enum status s = brain_prepare_read(run, args);
  yyjson_mut_obj_remove_key(args, "limit");
  json_put_int(run->doc, args, "limit", brain_limit(run, 10, SEARCH_MAX));
  json_put(run->doc, args, "detail", STR("headline"));
  json_put_bool(run->doc, args, "explain", true);
  return s;
}

#define ROW COPY("kind memory_id=id headline"), UPPER("severity"), COPY("project untrusted")
static const struct shape listed_shape[] = {
    ROW,
    IS("pinned=delivery", "pinned"),
    IS("active=state", "active"),
    COPY("created_at"),
    WHEN("state=forgotten", COPY("forgotten_reason=state_reason")),
    {0},
};
const struct shape openbrain2_search_shape[] = {
    EACH("results", ROW, CALL(brain_put_similarity), COPY("via_skill_trigger"), UNLESS("state=active", COPY("state"))),
    COUNT("count=results"),
    COPY("degraded"),
    {0}};

static enum status list_of(struct tool_run *run, const char *kind, const char *state, int64_t limit,
                           yyjson_mut_val **ret_result) {
  yyjson_mut_val *args = new_args(run);
  json_put_int(run->doc, args, "limit", limit);
  json_put_opt(run->doc, args, "state", str_from(state));
  if (kind && *kind)
    json_put(run->doc, args, "kind", str_from(kind));
  brain_put_days(run, args, "days", "since");
  brain_project(run, args, BRAIN_READS);
  return tool_op(run, "list", args, ret_result);
}

enum status openbrain2_list_recent(struct tool_run *run) {
  int64_t limit = brain_limit(run, 20, LIST_MAX);
  char *kind = arena_cstr(run->arena, json_str(run->args, "kind"));
  yyjson_mut_val *now = NULL, *past = NULL, *m, *list = yyjson_mut_arr(run->doc);
  size_t i = 0, k = 0;
  TRY(list_of(run, kind, NULL, limit, &now));
  if (json_bool(run->args, "include_forgotten", false))
    TRY(list_of(run, kind, "forgotten", limit, &past));
  now = yyjson_mut_obj_get(now, "memories");
  past = yyjson_mut_obj_get(past, "memories");
  while ((int64_t)yyjson_mut_arr_size(list) < limit && (m = brain_next_newest(now, &i, past, &k)))
    yyjson_mut_arr_append(list, shape_object(run, m, listed_shape));
  yyjson_mut_val *to = run->result = yyjson_mut_obj(run->doc);
  json_put_int(run->doc, to, "count", (int64_t)yyjson_mut_arr_size(list));
  yyjson_mut_obj_add_val(run->doc, to, "rows", list);
  return STATUS_OK;
}

/* ---- stats ---- */

static enum status count_kinds(struct tool_run *run, yyjson_mut_val *to, int64_t *ret_archived, int64_t *ret_active) {
  yyjson_mut_val *by_kind = json_put_obj(run->doc, to, "by_kind");
  for (int k = 0; k < KIND_COUNT; k++) {
    int64_t total = 0, active = 0, forgotten = 0;
    for (const char *const *state = memory_states; *state; state++) {
      yyjson_mut_val *result = NULL;
      TRY(list_of(run, kind_names[k], *state, 1, &result));
      int64_t n = brain_int(result, "total", 0);
      total += n;
      active = str_is(str_from(*state), "active") ? n : active;
      forgotten = str_is(str_from(*state), "forgotten") ? n : forgotten;
      if (k == KIND_INCIDENT && str_is(str_from(*state), "archived"))
        *ret_archived = n;
    }
    if (k == KIND_INCIDENT)
      *ret_active = active;
    yyjson_mut_val *v = json_put_obj(run->doc, by_kind, kind_names[k]);
    json_put_int(run->doc, v, "total", total);
    json_put_int(run->doc, v, "active", active);
    json_put_int(run->doc, v, "forgotten", forgotten);
  }
  return STATUS_OK;
}

static enum status count_severities(struct tool_run *run, yyjson_mut_val *to) {
  yyjson_mut_val *args = new_args(run), *blockers = NULL, *rules = NULL, *retired = NULL;
  json_put_int(run->doc, args, "limit", 1);
  json_put(run->doc, args, "type", STR("guardrail"));
  brain_project(run, args, BRAIN_READS);
  TRY(tool_op(run, "list", args, &blockers));
  TRY(list_of(run, kind_names[KIND_RULE], "active", 1, &rules));
  TRY(list_of(run, kind_names[KIND_RULE], "superseded", 1, &retired));
  yyjson_mut_val *v = json_put_obj(run->doc, to, "rules_by_severity");
  json_put_int(run->doc, v, "BLOCKER", brain_int(blockers, "total", 0));
  json_put_int(run->doc, v, "PATTERN", brain_int(rules, "total", 0) - brain_int(blockers, "total", 0));
  json_put_int(run->doc, v, "DEPRECATED", brain_int(retired, "total", 0));
  return STATUS_OK;
}

static enum status count_tasks(struct tool_run *run, yyjson_mut_val *to) {
  yyjson_mut_val *v = json_put_obj(run->doc, to, "tasks_by_status");
  for (const char *const *status = task_statuses; *status; status++) {
    yyjson_mut_val *args = new_args(run), *result = NULL;
    json_put(run->doc, args, "status", str_from(*status));
    json_put_int(run->doc, args, "limit", TASKS_MAX);
    brain_project(run, args, BRAIN_READS);
    TRY(tool_op(run, "task list", args, &result));
    json_put_int(run->doc, v, *status, brain_int(result, "count", 0));
  }
  return STATUS_OK;
}

static const struct shape corrections_shape[] = {
    EACH("revised_lineages=corrections", COPY("head_rule_id=id kind project headline revisions=versions")),
    COUNT("revised_lineage_count=corrections"),
    {0}};

enum status openbrain2_stats(struct tool_run *run) {
  yyjson_mut_val *to = yyjson_mut_obj(run->doc), *items = NULL, *sessions = NULL, *stats = NULL;
  yyjson_mut_val *args = new_args(run);
  struct str project = brain_project_name(run);
  int64_t archived = 0, active = 0;
  brain_project(run, args, BRAIN_READS);
  json_put(run->doc, to, "project", str_empty(project) ? STR("(global)") : project);
  TRY(count_kinds(run, to, &archived, &active));
  TRY(count_severities(run, to));
  TRY(count_tasks(run, to));
  TRY(tool_op(run, "action list", args, &items));
  TRY(tool_op(run, "session list", args, &sessions));
  TRY(tool_op(run, "stats", new_args(run), &stats));
  json_put_int(run->doc, to, "incidents_archived", archived);
  json_put_int(run->doc, to, "incidents_active", active);
  json_put_int(run->doc, to, "pending_action_items", brain_int(items, "pending", 0));
  json_put_int(run->doc, to, "active_sessions", brain_int(sessions, "count", 0));
  yyjson_mut_obj_add_val(run->doc, to, "correction_stickiness", shape_object(run, stats, corrections_shape));
  run->result = to;
  return STATUS_OK;
}

/* ---- skills ---- */

enum status openbrain2_finish_skill(struct tool_run *run, yyjson_mut_val *result) {
  static const struct shape rows[] = {
      SUCCESS,       COPY("kind memory_id=id headline body project"), UPPER("severity"),
      SKILL_TRIGGER, COPY("via_skill_trigger=skill_name created_at"), {0},
  };
  TRY(brain_check_skill(run, result));
  run->result = shape_object(run, result, rows);
  return STATUS_OK;
}
