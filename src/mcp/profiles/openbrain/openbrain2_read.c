/* openbrain2_read.c: tools of brain_v2 that find, show and count memories. */
#include "core/memory/memory.h"
#include "mcp/profiles/openbrain/openbrain2.h"

enum { SEARCH_MAX = 100, LIST_MAX = 200, TASKS_MAX = 1000 };

static int64_t clamp(int64_t n, int64_t low, int64_t high) { return n < low ? low : n > high ? high : n; }

/* ---- recall ---- */

enum status openbrain2_prepare_kind(struct tool_run *run, yyjson_mut_val *args UNUSED) {
  yyjson_mut_val *m = NULL;
  return openbrain2_check(run, json_str(run->args, "kind"), json_int(run->args, "memory_id", 0), &m);
}

static void put_state(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  struct str state = brain_str(result, "state");
  if (str_is(state, "forgotten")) {
    yyjson_mut_val *f = json_put_obj(run->doc, to, "forgotten");
    brain_copy(run, f, "forgotten_at", result, "state_at");
    brain_copy(run, f, "forgotten_reason", result, "state_reason");
    brain_copy(run, f, "forgotten_by", result, "state_by");
    json_put(run->doc, f, "banner",
             STR("This memory has been FORGOTTEN. It is shown for the record; do not take it for current truth."));
  } else {
    brain_copy(run, to, "banner", result, "banner");
  }
}

enum status openbrain2_finish_recall(struct tool_run *run, yyjson_mut_val *result) {
  static const char *const more[] = {"status",     "priority", "due",          "root_cause",    "resolution", "tags",
                                     "expires_at", "state",    "access_count", "last_accessed", "claimed_by"};
  yyjson_mut_val *to = brain_success(run);
  openbrain2_put_memory(run, to, result, brain_str(result, "body"));
  yyjson_mut_val *extra = json_put_obj(run->doc, to, "extra");
  for (size_t i = 0; i < ARRAY_LEN(more); i++)
    brain_copy(run, extra, more[i], result, more[i]);
  struct str note = brain_annotation(run, result);
  if (!str_empty(note))
    json_put(run->doc, to, "annotation", note);
  if (brain_str(result, "skill_name").p)
    brain_put_skill(run, to, result);
  put_state(run, to, result);
  return STATUS_OK;
}

/* ---- search and lists ---- */

enum status openbrain2_prepare_search(struct tool_run *run, yyjson_mut_val *args) {
  enum status s = brain_prepare_read(run, args);
  yyjson_mut_obj_remove_key(args, "limit");
  json_put_int(run->doc, args, "limit", clamp(json_int(run->args, "limit", 10), 1, SEARCH_MAX));
  json_put(run->doc, args, "detail", STR("headline"));
  json_put_bool(run->doc, args, "explain", true);
  return s;
}

static yyjson_mut_val *put_row(struct tool_run *run, yyjson_mut_val *list, yyjson_mut_val *m) {
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, list);
  brain_copy(run, v, "kind", m, "kind");
  brain_copy(run, v, "memory_id", m, "id");
  brain_copy(run, v, "headline", m, "headline");
  openbrain2_put_severity(run, v, m);
  brain_copy(run, v, "project", m, "project");
  brain_copy(run, v, "untrusted", m, "untrusted");
  return v;
}

enum status openbrain2_finish_search(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = run->result = yyjson_mut_obj(run->doc), *m;
  yyjson_mut_val *list = json_put_arr(run->doc, to, "results");
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "results"), i, n, m) {
    yyjson_mut_val *v = put_row(run, list, m), *parts = yyjson_mut_obj_get(m, "parts");
    double by_meaning = brain_num(parts, "similarity", 0), by_all = brain_num(m, "score", 0);
    json_put_num(run->doc, v, "similarity", json_round(by_meaning > 0 ? by_meaning : by_all, 4));
    brain_copy(run, v, "via_skill_trigger", m, "via_skill_trigger");
  }
  json_put_int(run->doc, to, "count", (int64_t)yyjson_mut_arr_size(list));
  brain_copy(run, to, "degraded", result, "degraded");
  return STATUS_OK;
}

static enum status list_of(struct tool_run *run, const char *kind, const char *state, int64_t limit,
                           yyjson_mut_val **ret_result) {
  yyjson_mut_val *args = brain_args(run);
  json_put_int(run->doc, args, "limit", limit);
  json_put(run->doc, args, "state", str_from(state));
  if (kind && *kind)
    json_put(run->doc, args, "kind", str_from(kind));
  int64_t days = json_int(run->args, "days", 0);
  if (days > 0)
    json_put(run->doc, args, "since", arena_printf(run->arena, "%lldd", (long long)clamp(days, 1, 36500)));
  brain_project(run, args, BRAIN_READS);
  return tool_op(run, "list", args, ret_result);
}

static bool is_newer(yyjson_mut_val *x, yyjson_mut_val *y) {
  int order = str_cmp(brain_str(x, "created_at"), brain_str(y, "created_at"));
  return order > 0 || (order == 0 && brain_int(x, "id", 0) > brain_int(y, "id", 0));
}

enum status openbrain2_list_recent(struct tool_run *run) {
  const char *states[] = {"active", json_bool(run->args, "include_forgotten", false) ? "forgotten" : NULL};
  int64_t limit = clamp(json_int(run->args, "limit", 20), 1, LIST_MAX);
  char *kind = arena_cstr(run->arena, json_str(run->args, "kind"));
  yyjson_mut_val *from[ARRAY_LEN(states)] = {NULL}, *to, *list = yyjson_mut_arr(run->doc);
  size_t at[ARRAY_LEN(states)] = {0};
  for (size_t i = 0; i < ARRAY_LEN(states) && states[i]; i++) {
    yyjson_mut_val *result = NULL;
    enum status s = list_of(run, kind, states[i], limit, &result);
    if (s != STATUS_OK)
      return s;
    from[i] = yyjson_mut_obj_get(result, "memories");
  }
  while ((int64_t)yyjson_mut_arr_size(list) < limit) {
    yyjson_mut_val *x = yyjson_mut_arr_get(from[0], at[0]), *y = yyjson_mut_arr_get(from[1], at[1]);
    if (!x && !y)
      break;
    bool first = x && (!y || is_newer(x, y));
    at[first ? 0 : 1]++;
    yyjson_mut_val *m = first ? x : y, *v = put_row(run, list, m);
    json_put_bool(run->doc, v, "pinned", brain_pinned(m));
    json_put_bool(run->doc, v, "active", str_is(brain_str(m, "state"), "active"));
    brain_copy(run, v, "created_at", m, "created_at");
    if (str_is(brain_str(m, "state"), "forgotten"))
      brain_copy(run, v, "forgotten_reason", m, "state_reason");
  }
  to = run->result = yyjson_mut_obj(run->doc);
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
      enum status s = list_of(run, kind_names[k], *state, 1, &result);
      if (s != STATUS_OK)
        return s;
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
  yyjson_mut_val *args = brain_args(run), *blockers = NULL, *rules = NULL;
  json_put_int(run->doc, args, "limit", 1);
  json_put(run->doc, args, "type", STR("guardrail"));
  brain_project(run, args, BRAIN_READS);
  TRY(tool_op(run, "list", args, &blockers));
  TRY(list_of(run, kind_names[KIND_RULE], "active", 1, &rules));
  yyjson_mut_val *v = json_put_obj(run->doc, to, "rules_by_severity");
  json_put_int(run->doc, v, "BLOCKER", brain_int(blockers, "total", 0));
  json_put_int(run->doc, v, "PATTERN", brain_int(rules, "total", 0) - brain_int(blockers, "total", 0));
  return STATUS_OK;
}

static enum status count_tasks(struct tool_run *run, yyjson_mut_val *to) {
  yyjson_mut_val *v = json_put_obj(run->doc, to, "tasks_by_status");
  enum status s = STATUS_OK;
  for (const char *const *status = task_statuses; s == STATUS_OK && *status; status++) {
    yyjson_mut_val *args = brain_args(run), *result = NULL;
    json_put(run->doc, args, "status", str_from(*status));
    json_put_int(run->doc, args, "limit", TASKS_MAX);
    brain_project(run, args, BRAIN_READS);
    s = tool_op(run, "task list", args, &result);
    json_put_int(run->doc, v, *status, brain_int(result, "count", 0));
  }
  return s;
}

static void put_stickiness(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *stats) {
  yyjson_mut_val *v = json_put_obj(run->doc, to, "correction_stickiness"), *c;
  yyjson_mut_val *list = json_put_arr(run->doc, v, "revised_lineages");
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(stats, "corrections"), i, n, c) {
    yyjson_mut_val *one = yyjson_mut_arr_add_obj(run->doc, list);
    brain_copy(run, one, "head_rule_id", c, "id");
    brain_copy(run, one, "headline", c, "headline");
    brain_copy(run, one, "revisions", c, "versions");
  }
  json_put_int(run->doc, v, "revised_lineage_count", (int64_t)yyjson_mut_arr_size(list));
}

enum status openbrain2_stats(struct tool_run *run) {
  yyjson_mut_val *to = yyjson_mut_obj(run->doc), *items = NULL, *sessions = NULL, *stats = NULL;
  yyjson_mut_val *args = brain_args(run);
  struct str project = json_str(run->args, "project");
  int64_t archived = 0, active = 0;
  brain_project(run, args, BRAIN_READS);
  json_put(run->doc, to, "project", str_empty(project) ? STR("(global)") : project);
  TRY(count_kinds(run, to, &archived, &active));
  TRY(count_severities(run, to));
  TRY(count_tasks(run, to));
  TRY(tool_op(run, "action list", args, &items));
  TRY(tool_op(run, "session list", args, &sessions));
  TRY(tool_op(run, "stats", brain_args(run), &stats));
  json_put_int(run->doc, to, "incidents_archived", archived);
  json_put_int(run->doc, to, "incidents_active", active);
  json_put_int(run->doc, to, "pending_action_items", brain_int(items, "pending", 0));
  json_put_int(run->doc, to, "active_sessions", brain_int(sessions, "count", 0));
  put_stickiness(run, to, stats);
  run->result = to;
  return STATUS_OK;
}

/* ---- skills ---- */

enum status openbrain2_finish_skill(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run);
  brain_copy(run, to, "kind", result, "kind");
  brain_copy(run, to, "memory_id", result, "id");
  brain_copy(run, to, "headline", result, "headline");
  brain_copy(run, to, "body", result, "body");
  brain_copy(run, to, "project", result, "project");
  openbrain2_put_severity(run, to, result);
  brain_put_skill(run, to, result);
  brain_copy(run, to, "via_skill_trigger", result, "skill_name");
  brain_copy(run, to, "created_at", result, "created_at");
  return STATUS_OK;
}
