/* openbrain2_observe.c: tools of brain_v2 for checkpoints and observability. */
#include "core/memory/types.h"
#include "mcp/profiles/openbrain/openbrain2.h"

enum { GUARDRAILS_SHOWN = 10 };

/* ---- checkpoint ---- */

static const struct shape rule_shape[] = {
    FIXED("\"kind\":\"rule\""),
    COPY("memory_id=id headline"),
    UPPER("severity"),
    COPY("project"),
    IS("pinned=delivery", "pinned"),
    UNLESS("trust=user", COPY("author=source")),
    {0},
};

static bool is_guardrail(yyjson_mut_val *memory, const void *run) { return !brain_needs_keyword(run, memory); }
static bool is_other_guardrail(yyjson_mut_val *memory, const void *run) {
  return !brain_pinned(memory) && is_guardrail(memory, run);
}

static enum status list_rules(struct tool_run *run, const char *filter, const char *value, wanted_fn wanted,
                              yyjson_mut_val **ret_list) {
  yyjson_mut_val *args = new_args(run);
  brain_project(run, args, BRAIN_READS);
  json_put(run->doc, args, "kind", str_from(kind_names[KIND_RULE]));
  json_put(run->doc, args, filter, str_from(value));
  json_put_bool(run->doc, args, "trusted", true); /* as at boot */
  return run_list(run, args, wanted, run, SIZE_MAX, ret_list);
}

static struct str list_call(struct tool_run *run) {
  struct str project = brain_project_name(run);
  if (str_empty(project))
    return STR("list_recent_v2(kind=\"rule\", limit=200)");
  return arena_printf(run->arena, "list_recent_v2(kind=\"rule\", project=\"%.*s\", limit=200)", STR_ARG(project));
}

/* Blockers and pinned rules: a person's first, and of each the pinned ones. */
static enum status put_guardrails(struct tool_run *run, yyjson_mut_val *to) {
  yyjson_mut_val *list = NULL, *others = NULL, *m;
  TRY(list_rules(run, "delivery", "pinned", is_guardrail, &list));
  TRY(list_rules(run, "type", "guardrail", is_other_guardrail, &others));
  while ((m = yyjson_mut_arr_remove_first(others)))
    yyjson_mut_arr_append(list, m);
  int64_t omitted = brain_persons_first(run, list, GUARDRAILS_SHOWN);
  yyjson_mut_obj_add_val(run->doc, to, "guardrails", shape_list(run, list, rule_shape));
  brain_put_omitted(run, to, "guardrails_omitted", omitted, list_call(run));
  return STATUS_OK;
}

static enum status put_relevant(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  yyjson_mut_val *list = json_put_arr(run->doc, to, "relevant"), *m;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "relevant"), i, n, m) {
    static const struct shape head[] = {COPY("kind memory_id=id headline"), {0}};
    static const struct shape scope[] = {UPPER("severity"), COPY("project"), {0}};
    static const struct shape similarity[] = {ROUND("similarity=score"), {0}};
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, list), *all = NULL;
    TRY(brain_look(run, brain_int(m, "id", 0), &all));
    shape_add(run, v, m, head);
    shape_add(run, v, all, scope);
    shape_add(run, v, m, similarity);
  }
  return STATUS_OK;
}

enum status openbrain2_finish_checkpoint(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run);
  if (brain_bool(result, "skipped")) {
    json_put_bool(run->doc, to, "skipped", true);
    json_put(run->doc, to, "reason",
             arena_printf(run->arena, "this action was checked already; it can be checked again in %lld s",
                          (long long)brain_int(result, "cooldown_s", 300)));
    return STATUS_OK;
  }
  json_put(run->doc, to, "action", json_str(run->args, "action"));
  struct str context = json_str(run->args, "context"), project = brain_project_name(run);
  json_put(run->doc, to, "context", context.p ? context : STR(""));
  json_put(run->doc, to, "project", project.p ? project : STR(""));
  TRY(put_guardrails(run, to));
  TRY(put_relevant(run, to, result));
  json_put_int(run->doc, to, "guardrails_count", (int64_t)brain_count(to, "guardrails"));
  json_put_int(run->doc, to, "relevant_count", (int64_t)brain_count(to, "relevant"));
  result_copy(run, to, "degraded", result, "degraded");
  json_put(run->doc, to, "message",
           arena_printf(run->arena, "Checkpoint complete. %zu guardrails, %zu relevant. Review before proceeding.",
                        brain_count(to, "guardrails"), brain_count(to, "relevant")));
  return STATUS_OK;
}

enum status openbrain2_reminder(struct tool_run *run) {
  return brain_reminder(
      run, "Open Brain v2: boot first",
      "Call boot_session_v2(project, task, source, cwd, pid, host) before any other tool. It returns BLOCKER rules, "
      "PATTERN rules ranked by your task, open tasks, the last handoff, other sessions and pending action items. "
      "Answer "
      "each pending item with acknowledge_action_item_v2 before you write: remember_*_v2, capture_context_v2 and "
      "supersede_rule_v2 are blocked until then. Bodies come with recall_v2(kind, memory_id). If another session works "
      "on the same project, tell the user. At the end call end_session_v2(handoff=...).");
}

/* ---- observability ---- */

/* Row counts by the names of that system's tables. */
static enum status put_tables(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *stats) {
  static const char *const names[][2] = {
      {"rules", "rule"}, {"facts", "fact"}, {"incidents", "incident"}, {"tasks", "task"}};
  yyjson_mut_val *v = json_put_obj(run->doc, to, "tables"), *args = new_args(run), *items = NULL, *sessions = NULL;
  yyjson_mut_val *by_kind = yyjson_mut_obj_get(stats, "by_kind");
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    json_put_int(run->doc, v, names[i][0], brain_int(by_kind, names[i][1], 0));
  json_put_bool(run->doc, args, "all_projects", true);
  TRY(tool_op(run, "action list", args, &items));
  TRY(tool_op(run, "session list", args, &sessions));
  result_copy(run, v, "memory_index", stats, "memories");
  json_put_int(run->doc, v, "action_items", brain_int(items, "pending", 0));
  json_put_int(run->doc, v, "active_sessions", brain_int(sessions, "count", 0));
  result_copy(run, v, "v2_audit", stats, "events");
  return STATUS_OK;
}

static void put_tools(struct tool_run *run, yyjson_mut_val *to) {
  yyjson_mut_val *v = json_put_obj(run->doc, to, "tools"), *names = yyjson_mut_arr(run->doc);
  for (const struct tool *t = run->profile->tools; t->name; t++)
    if (!(t->flags & TOOL_HIDDEN))
      json_add_str(run->doc, names, str_from(t->name));
  json_put_int(run->doc, v, "count", (int64_t)yyjson_mut_arr_size(names));
  yyjson_mut_obj_add_val(run->doc, v, "names", names);
}

/* Handle and number of the caller's session. */
static void put_session(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *health UNUSED) {
  static const struct shape rows[] = {COPY("session_id=session db_session_id=session_id"), {0}};
  struct error *outer = run->err, ignored;
  yyjson_mut_val *args = new_args(run), *result = NULL, *s;
  size_t i, n;
  json_put_bool(run->doc, args, "all_projects", true);
  run->err = &ignored;
  enum status status = tool_op(run, "session list", args, &result);
  run->err = outer;
  yyjson_mut_arr_foreach(status == STATUS_OK ? yyjson_mut_obj_get(result, "sessions") : NULL, i, n, s) {
    if (brain_bool(s, "self"))
      shape_add(run, to, s, rows);
  }
  if (!yyjson_mut_obj_get(to, "session_id"))
    json_put(run->doc, to, "session_id", STR(""));
}

static const struct shape health_shape[] = {
    OBJECT("server", COPY("pid=server.pid version=server.version"), CALL(put_session),
           REAL("uptime_seconds=server.uptime_s"), INTEGER("tool_calls_total=server.calls"),
           TEXT_OR_EMPTY("log_file=server.log_file")),
    OBJECT("db", FIXED("\"status\":\"connected\""), COPY("path=store.path writable=store.writable")),
    FIXED("\"ollama\":{\"status\":\"not used: the embedder is part of the server\"}"),
    COPY("embedder pending_embeddings"),
    LIST_OR_EMPTY("problems"),
    {0},
};

enum status openbrain2_health(struct tool_run *run) {
  yyjson_mut_val *health = NULL, *stats = NULL;
  TRY(tool_op(run, "health", new_args(run), &health));
  TRY(tool_op(run, "stats", new_args(run), &stats));
  yyjson_mut_val *to = shape_object(run, health, health_shape);
  TRY(put_tables(run, to, stats));
  put_tools(run, to);
  run->result = to;
  return STATUS_OK;
}

enum status openbrain2_metrics(struct tool_run *run) {
  yyjson_mut_val *metrics = NULL, *to = yyjson_mut_obj(run->doc), *t;
  TRY(tool_op(run, "metrics", new_args(run), &metrics));
  result_copy(run, to, "calls", metrics, "calls");
  result_copy(run, to, "errors", metrics, "errors");
  yyjson_mut_val *tools = json_put_obj(run->doc, to, "tools");
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(metrics, "tools"), i, n, t) {
    struct str name = result_text(t, "name");
    yyjson_mut_val *v = yyjson_mut_obj(run->doc);
    int64_t calls = brain_int(t, "calls", 0), errors = brain_int(t, "errors", 0);
    json_put_int(run->doc, v, "calls", calls);
    json_put_int(run->doc, v, "errors", errors);
    json_put_num(run->doc, v, "error_rate", calls ? json_round((double)errors / (double)calls, 4) : 0);
    result_copy(run, v, "avg_ms", t, "avg_ms");
    result_copy(run, v, "p99_ms", t, "p99_ms");
    yyjson_mut_obj_add(tools, yyjson_mut_strncpy(run->doc, name.p, name.n), v);
  }
  run->result = to;
  return STATUS_OK;
}

enum status openbrain2_recent_errors(struct tool_run *run) {
  static const struct shape error_shape[] = {
      COPY("occurred_at=at tool_name=name project source duration_ms error error_msg=message"), {0}};
  static const struct shape errors_shape[] = {EACH_OF("errors", error_shape), {0}};
  yyjson_mut_val *args = new_args(run), *found = NULL;
  int64_t n = json_int(run->args, "n", 20);
  json_put_int(run->doc, args, "limit", n < 1 ? 20 : n > 500 ? 500 : n);
  TRY(tool_op(run, "errors", args, &found));
  run->result = shape_object(run, found, errors_shape);
  return STATUS_OK;
}
