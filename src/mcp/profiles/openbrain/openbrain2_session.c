/* openbrain2_session.c: tools of brain_v2 for sessions: boot, handoffs, action items. */
#include "core/boot/budget.h"
#include "core/memory/types.h"
#include "mcp/profiles/openbrain/openbrain2.h"

enum { HANDOFF_CHARS = 2000, TRUNCATED_NAMED = 50, TOKEN_CAP = 2000 };

/* ---- boot ---- */

struct boot {
  struct tool_run *run;
  yyjson_mut_val *booted; /* result of the operation */
  yyjson_mut_val *to;
  struct str project, task;
};

static yyjson_mut_val *items_of(struct boot *b, const char *name) {
  yyjson_mut_val *s;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(b->booted, "sections"), i, n, s) {
    if (str_is(brain_str(s, "name"), name))
      return yyjson_mut_obj_get(s, "items");
  }
  return NULL;
}

static bool has_item(yyjson_mut_val *items, int64_t id) {
  size_t i, n;
  yyjson_mut_val *m;
  yyjson_mut_arr_foreach(items, i, n, m) {
    if (brain_int(m, "id", 0) == id)
      return true;
  }
  return false;
}

static enum status register_session(struct boot *b) {
  struct tool_run *run = b->run;
  yyjson_mut_val *args = brain_args(run);
  brain_project(run, args, BRAIN_WRITES);
  brain_boot_args(run, args);
  json_put_bool(run->doc, args, "register", true);
  json_put(run->doc, args, "only", STR("sections"));
  json_put_int(run->doc, args, "budget", TOKEN_CAP);
  TRY(tool_op(run, "boot", args, &b->booted));
  b->booted = brain_plain(run, b->booted);
  return STATUS_OK;
}

/* Search results for the task, for the similarities of the patterns. */
static enum status similarities(struct boot *b, yyjson_mut_val **ret_results) {
  struct tool_run *run = b->run;
  yyjson_mut_val *args = brain_args(run), *result = NULL;
  if (str_empty(b->task) || !yyjson_mut_arr_size(items_of(b, "patterns")))
    return STATUS_OK;
  brain_project(run, args, BRAIN_WRITES);
  json_put(run->doc, args, "query", b->task);
  json_put(run->doc, args, "kind", str_from(kind_names[KIND_RULE]));
  json_put(run->doc, args, "detail", STR("headline"));
  json_put_bool(run->doc, args, "explain", true);
  json_put_int(run->doc, args, "limit", 50);
  TRY(tool_op(run, "search", args, &result));
  *ret_results = yyjson_mut_obj_get(result, "results");
  return STATUS_OK;
}

static double similarity_of(yyjson_mut_val *results, int64_t id) {
  size_t i, n;
  yyjson_mut_val *m;
  yyjson_mut_arr_foreach(results, i, n, m) {
    if (brain_int(m, "id", 0) == id)
      return json_round(brain_num(yyjson_mut_obj_get(m, "parts"), "similarity", 0), 4);
  }
  return 0;
}

static enum status put_rules(struct boot *b, const char *section, yyjson_mut_val *near) {
  struct tool_run *run = b->run;
  yyjson_mut_val *list = json_put_arr(run->doc, b->to, section), *item;
  bool patterns = str_is(str_from(section), "patterns");
  size_t i, n;
  yyjson_mut_arr_foreach(items_of(b, section), i, n, item) {
    yyjson_mut_val *m = NULL, *v = yyjson_mut_arr_add_obj(run->doc, list);
    enum status s = brain_look(run, brain_int(item, "id", 0), &m);
    if (s != STATUS_OK)
      return s;
    brain_copy(run, v, "kind", m, "kind");
    brain_copy(run, v, "memory_id", m, "id");
    brain_copy(run, v, "headline", m, "headline");
    brain_copy(run, v, "project", m, "project");
    if (patterns)
      json_put_num(run->doc, v, "similarity", similarity_of(near, brain_int(item, "id", 0)));
  }
  return STATUS_OK;
}

static void put_tasks(struct boot *b) {
  struct tool_run *run = b->run;
  yyjson_mut_val *list = json_put_arr(run->doc, b->to, "active_tasks"), *item;
  size_t i, n;
  yyjson_mut_arr_foreach(items_of(b, "tasks"), i, n, item) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, list);
    brain_copy(run, v, "id", item, "id");
    brain_copy(run, v, "content", item, "headline");
    brain_copy(run, v, "priority", item, "priority");
    brain_copy(run, v, "status", item, "status");
  }
}

static void put_context(struct boot *b) {
  struct tool_run *run = b->run;
  yyjson_mut_val *v = json_put_obj(run->doc, b->to, "working_context");
  json_put(run->doc, v, "task", b->task.p ? b->task : STR(""));
  json_put(run->doc, v, "project", b->project.p ? b->project : STR(""));
  json_put(run->doc, v, "source", run->caller.source);
  json_put(run->doc, v, "note", STR("made from the task, not stored"));
}

static enum status put_items(struct boot *b) {
  struct tool_run *run = b->run;
  yyjson_mut_val *list = json_put_arr(run->doc, b->to, "pending_action_items"), *item;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(b->booted, "action_items"), i, n, item) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, list), *m = NULL;
    int64_t id = brain_int(item, "memory", 0);
    enum status s = id ? brain_look(run, id, &m) : STATUS_OK;
    if (s != STATUS_OK && s != STATUS_NOT_FOUND)
      return s;
    brain_copy(run, v, "id", item, "id");
    if (m)
      brain_copy(run, v, "source_kind", m, "kind");
    else
      brain_null(run, v, "source_kind");
    if (id)
      brain_copy(run, v, "source_id", item, "memory");
    else
      brain_null(run, v, "source_id");
    brain_copy(run, v, "text", item, "text");
    brain_copy(run, v, "project", item, "project");
    brain_copy(run, v, "kind", item, "kind");
    brain_copy(run, v, "created_at", item, "created_at");
  }
  json_put_bool(run->doc, b->to, "writes_blocked", brain_bool(b->booted, "writes_blocked"));
  return STATUS_OK;
}

static void put_handoff(struct boot *b) {
  struct tool_run *run = b->run;
  struct str given = str_trim(json_str(run->args, "handoff"));
  yyjson_mut_val *last = yyjson_mut_obj_get(b->booted, "handoff");
  if (!str_empty(given)) {
    json_put(run->doc, b->to, "handoff", brain_preview(given, HANDOFF_CHARS));
  } else if (yyjson_mut_is_obj(last)) {
    brain_copy(run, b->to, "handoff", last, "text");
    yyjson_mut_val *v = json_put_obj(run->doc, b->to, "handoff_source");
    brain_copy(run, v, "handoff_id", last, "id");
    brain_copy(run, v, "source", last, "source");
    brain_copy(run, v, "created_at", last, "created_at");
    return;
  } else {
    json_put(run->doc, b->to, "handoff", STR(""));
  }
  brain_null(run, b->to, "handoff_source");
}

/* Lists the ids of items that did not fit, so that they can be recalled. */
static enum status name_dropped(struct boot *b, yyjson_mut_val *names, const char *section) {
  struct tool_run *run = b->run;
  bool tasks = str_is(str_from(section), "tasks"), blockers = str_is(str_from(section), "blockers");
  yyjson_mut_val *args = brain_args(run), *result = NULL, *m;
  brain_project(run, args, BRAIN_WRITES);
  json_put_int(run->doc, args, "limit", 1000);
  if (!tasks)
    json_put(run->doc, args, "kind", str_from(kind_names[KIND_RULE]));
  enum status s = tool_op(run, tasks ? "task list" : "list", args, &result);
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, tasks ? "tasks" : "memories"), i, n, m) {
    int64_t id = brain_int(m, "id", 0);
    bool here = tasks || str_is(brain_str(m, "severity"), blockers ? "blocker" : "pattern");
    if (!here || has_item(items_of(b, section), id) || yyjson_mut_arr_size(names) >= TRUNCATED_NAMED)
      continue;
    json_add_str(run->doc, names,
                 tasks ? arena_printf(run->arena, "task:%lld", (long long)id)
                       : arena_printf(run->arena, "%s:rule:%lld", blockers ? "blocker" : "pattern", (long long)id));
  }
  return s;
}

static enum status put_truncated(struct boot *b) {
  struct tool_run *run = b->run;
  yyjson_mut_val *names = json_put_arr(run->doc, b->to, "truncated"), *d;
  enum status s = STATUS_OK;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(b->booted, "dropped"), i, n, d) {
    struct str section = brain_str(d, "section");
    static const char *const known[] = {"tasks", "patterns", "blockers"};
    for (size_t k = 0; k < ARRAY_LEN(known) && s == STATUS_OK; k++)
      if (str_is(section, known[k]))
        s = name_dropped(b, names, known[k]);
  }
  return s;
}

/* Sections that brain_v2 does not have, if they are not empty. */
static void put_others(struct boot *b) {
  static const char *const names[] = {"identity", "lessons", "pinned", "decisions", "context"};
  struct tool_run *run = b->run;
  yyjson_mut_val *others = NULL, *item;
  for (size_t k = 0; k < ARRAY_LEN(names); k++) {
    yyjson_mut_val *items = items_of(b, names[k]);
    size_t i, n;
    if (!yyjson_mut_arr_size(items))
      continue;
    others = others ? others : json_put_obj(run->doc, b->to, "also");
    yyjson_mut_val *list = json_put_arr(run->doc, others, names[k]);
    yyjson_mut_arr_foreach(items, i, n, item) {
      yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, list);
      brain_copy(run, v, "memory_id", item, "id");
      brain_copy(run, v, "headline", item, "headline");
    }
  }
}

static enum status put_registry(struct boot *b) {
  struct tool_run *run = b->run;
  yyjson_mut_val *args = brain_args(run), *result = NULL;
  brain_project(run, args, BRAIN_WRITES);
  json_put_bool(run->doc, args, "exclude_self", true);
  enum status s = tool_op(run, "session list", args, &result);
  brain_put_sessions(run, b->to, "other_active_sessions", result, "sessions");
  if (yyjson_mut_is_num(yyjson_mut_obj_get(result, "staleness_s")))
    brain_copy(run, b->to, "registry_staleness_seconds", result, "staleness_s");
  else
    brain_null(run, b->to, "registry_staleness_seconds");
  json_put_bool(run->doc, b->to, "registry_trustworthy", brain_bool(result, "trustworthy"));
  brain_copy_list(run, b->to, "self_healed_ended_ids", b->booted, "ended");
  return s;
}

static void put_caps(struct boot *b) {
  yyjson_mut_doc *doc = b->run->doc;
  yyjson_mut_val *caps = json_put_obj(doc, b->to, "caps");
  json_put_int(doc, caps, "blockers", BOOT_BLOCKERS);
  json_put_int(doc, caps, "patterns", BOOT_PATTERNS);
  json_put_int(doc, caps, "tasks", BOOT_TASKS_SHOWN);
  json_put_int(doc, caps, "handoff_chars", HANDOFF_CHARS);
  json_put_int(doc, caps, "tokens", TOKEN_CAP);
}

static enum status put_parts(struct boot *b) {
  yyjson_mut_val *near = NULL;
  enum status s = similarities(b, &near);
  if (s == STATUS_OK)
    s = put_rules(b, "blockers", NULL);
  if (s == STATUS_OK)
    s = put_rules(b, "patterns", near);
  put_tasks(b);
  put_context(b);
  if (s == STATUS_OK)
    s = put_items(b);
  brain_copy(b->run, b->to, "session_id", b->booted, "session_id");
  put_handoff(b);
  brain_copy(b->run, b->to, "token_estimate", b->booted, "tokens");
  if (s == STATUS_OK)
    s = put_truncated(b);
  if (s == STATUS_OK)
    s = put_registry(b);
  return s;
}

enum status openbrain2_boot(struct tool_run *run) {
  struct boot b = {.run = run,
                   .to = yyjson_mut_obj(run->doc),
                   .project = json_str(run->args, "project"),
                   .task = str_trim(json_str(run->args, "task"))};
  TRY(brain_source(run, false));
  TRY(register_session(&b));
  if (brain_str(b.booted, "session").p)
    run->caller.session = brain_str(b.booted, "session");
  json_put_bool(run->doc, b.to, "success", true);
  brain_copy(run, b.to, "worker_session_id", b.booted, "session");
  TRY(put_parts(&b));
  put_caps(&b);
  put_others(&b);
  brain_copy(run, b.to, "degraded", b.booted, "degraded");
  run->result = b.to;
  return STATUS_OK;
}

/* ---- handoffs ---- */

/* A note that is too long is truncated, as in that system. */
enum status openbrain2_prepare_end(struct tool_run *run, yyjson_mut_val *args) {
  struct str note = str_trim(json_str(run->args, "handoff"));
  yyjson_mut_obj_remove_key(args, "handoff");
  if (!str_empty(note))
    json_put(run->doc, args, "handoff", brain_preview(note, HANDOFF_CHARS));
  return brain_prepare_session(run, args);
}

enum status openbrain2_prepare_handoff(struct tool_run *run, yyjson_mut_val *args) {
  struct str text = str_trim(json_str(run->args, "content"));
  enum status s = brain_source(run, false);
  brain_session(run);
  brain_project(run, args, BRAIN_WRITES);
  yyjson_mut_obj_remove_key(args, "text");
  if (str_empty(text)) {
    error_set(run->err, STATUS_USAGE, "handoff content is empty");
    return error_fix(run->err, "say what is done and what is left");
  }
  json_put(run->doc, args, "text", brain_preview(text, HANDOFF_CHARS));
  return s;
}

enum status openbrain2_finish_handoff(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run), *sessions = NULL, *s, *args = brain_args(run);
  brain_copy(run, to, "handoff_id", result, "id");
  /* The result has the session's handle; the list maps it to the number. */
  json_put_bool(run->doc, args, "all_projects", true);
  enum status status = tool_op(run, "session list", args, &sessions);
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(sessions, "sessions"), i, n, s) {
    if (str_eq(brain_str(s, "session"), brain_str(result, "session")))
      brain_copy(run, to, "session_id", s, "session_id");
  }
  if (!yyjson_mut_obj_get(to, "session_id"))
    brain_null(run, to, "session_id");
  return status;
}

/* ---- action items ---- */

enum status openbrain2_prepare_item(struct tool_run *run, yyjson_mut_val *args) {
  yyjson_mut_val *m = NULL;
  enum status s = openbrain2_check(run, json_str(run->args, "source_kind"), json_int(run->args, "source_id", 0), &m);
  brain_drop_empty(args);
  brain_project(run, args, BRAIN_WRITES);
  return s;
}

enum status openbrain2_finish_item(struct tool_run *run, yyjson_mut_val *result) {
  static const char *const same[] = {"id", "text", "kind", "project"};
  yyjson_mut_val *to = brain_success(run);
  for (size_t i = 0; i < ARRAY_LEN(same); i++)
    brain_copy(run, to, same[i], result, same[i]);
  return STATUS_OK;
}

enum status openbrain2_finish_ack(struct tool_run *run, yyjson_mut_val *result) {
  static const char *const same[] = {"id", "status", "text"};
  yyjson_mut_val *to = brain_success(run);
  for (size_t i = 0; i < ARRAY_LEN(same); i++)
    brain_copy(run, to, same[i], result, same[i]);
  json_put_bool(run->doc, to, "already_acked", brain_int(result, "removed", 0) == 0);
  brain_copy(run, to, "remaining", result, "remaining");
  return STATUS_OK;
}
