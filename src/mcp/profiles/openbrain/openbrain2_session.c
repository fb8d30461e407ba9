/* openbrain2_session.c: tools of brain_v2 for sessions: boot, handoffs, action items. */
#include "core/boot/budget.h"
#include "core/boot/render.h"
#include "core/memory/types.h"
#include "core/text/token_count.h"
#include "mcp/profiles/openbrain/openbrain2.h"

enum { HANDOFF_CHARS = 2000, TRUNCATED_NAMED = 50, TOKEN_CAP = 2000, BLOCKERS_CAP = 5, ITEMS_CAP = 100 };
/* fit_cap() cuts the reply, so the operation may return all of its sections. SESSIONS_FIRST other sessions are kept
 * before tasks and patterns are cut. */
enum { BOOT_BUDGET = 100000, SESSIONS_FIRST = 5 };

/* ---- boot ---- */

struct boot {
  struct tool_run *run;
  yyjson_mut_val *booted; /* result of the operation */
  yyjson_mut_val *to;
  struct str project, task;
  bool capped, tasks_capped;               /* rules or tasks beyond the caps were removed */
  int64_t items_omitted, sessions_omitted; /* from the lists of the reply */
  int64_t unnamed;                         /* omitted, but not in `truncated` */
};

static yyjson_mut_val *items_of(struct boot *b, const char *name) {
  yyjson_mut_val *s;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(b->booted, "sections"), i, n, s) {
    if (str_is(result_text(s, "name"), name))
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
  yyjson_mut_val *args = new_args(run);
  brain_project(run, args, BRAIN_WRITES);
  brain_boot_args(run, args);
  json_put_bool(run->doc, args, "register", true);
  json_put(run->doc, args, "only", STR("sections"));
  json_put_int(run->doc, args, "budget", BOOT_BUDGET);
  TRY(tool_op(run, "boot", args, &b->booted));
  b->booted = brain_plain(run, b->booted);
  return STATUS_OK;
}

static void append_all(yyjson_mut_val *to, yyjson_mut_val *from) {
  yyjson_mut_val *item;
  while ((item = yyjson_mut_arr_remove_first(from)))
    yyjson_mut_arr_append(to, item);
}

/* Moves patterns and tasks from the section `relevant` to the start of their own sections. */
static enum status sort_relevant(struct boot *b) {
  yyjson_mut_val *relevant = items_of(b, "relevant"), *rest = yyjson_mut_arr(b->run->doc), *item, *m = NULL;
  yyjson_mut_val *to[] = {items_of(b, "patterns"), items_of(b, "tasks")};
  size_t at[] = {0, 0}, i, n;
  yyjson_mut_arr_foreach(relevant, i, n, item) {
    yyjson_mut_val *copy = yyjson_mut_val_mut_copy(b->run->doc, item);
    TRY(brain_look(b->run, brain_int(item, "id", 0), &m));
    bool task = str_is(result_text(m, "kind"), "task"), pattern = str_is(result_text(m, "severity"), "pattern");
    if (to[task] && (task || pattern))
      yyjson_mut_arr_insert(to[task], copy, at[task]++);
    else
      yyjson_mut_arr_append(rest, copy);
  }
  yyjson_mut_arr_clear(relevant);
  append_all(relevant, rest);
  return STATUS_OK;
}

/* Orders the tasks by priority, and of each those that match the task of the session first. */
static void cap_tasks(struct boot *b) {
  static const char *const priorities[] = {"high", "medium", "low"};
  yyjson_mut_val *tasks = items_of(b, "tasks"), *kept = yyjson_mut_arr(b->run->doc), *item;
  size_t i, n;
  for (size_t p = 0; p < ARRAY_LEN(priorities); p++) {
    yyjson_mut_arr_foreach(tasks, i, n, item) {
      if (!str_is(result_text(item, "priority"), priorities[p]))
        continue;
      if (yyjson_mut_arr_size(kept) < BOOT_TASKS_SHOWN)
        yyjson_mut_arr_append(kept, yyjson_mut_val_mut_copy(b->run->doc, item));
      else
        b->tasks_capped = true;
    }
  }
  yyjson_mut_arr_clear(tasks);
  append_all(tasks, kept);
}

static enum status is_always_shown(struct boot *b, int64_t id, bool *ret_always) {
  yyjson_mut_val *m = NULL;
  TRY(brain_look(b->run, id, &m));
  *ret_always = (!str_is(result_text(m, "delivery"), "on_demand") && !str_is(result_text(m, "delivery"), "skill")) ||
                brain_bool(m, "skill_always_on");
  return STATUS_OK;
}

/* Removes rules beyond the cap of a section; memories that are always delivered stay. */
static enum status cap_rules(struct boot *b, const char *section, size_t cap) {
  yyjson_mut_val *items = items_of(b, section), *kept = yyjson_mut_arr(b->run->doc), *item;
  bool always = false;
  while ((item = yyjson_mut_arr_remove_first(items))) {
    TRY(is_always_shown(b, brain_int(item, "id", 0), &always));
    if (yyjson_mut_arr_size(kept) < cap || always)
      yyjson_mut_arr_append(kept, item);
    else
      b->capped = true;
  }
  append_all(items, kept);
  return STATUS_OK;
}

/* Search results for the task, for the similarities of the patterns. */
static enum status similarities(struct boot *b, yyjson_mut_val **ret_results) {
  struct tool_run *run = b->run;
  yyjson_mut_val *args = new_args(run), *result = NULL;
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
    static const struct shape rule_shape[] = {COPY("kind memory_id=id headline project"), {0}};
    yyjson_mut_val *m = NULL, *v = yyjson_mut_arr_add_obj(run->doc, list);
    TRY(brain_look(run, brain_int(item, "id", 0), &m));
    shape_add(run, v, m, rule_shape);
    json_put_opt(run->doc, v, "author", result_text(item, "author"));
    if (patterns)
      json_put_num(run->doc, v, "similarity", similarity_of(near, brain_int(item, "id", 0)));
  }
  return STATUS_OK;
}

static void put_tasks(struct boot *b) {
  static const struct shape rows[] = {COPY("id content=headline priority status"), {0}};
  yyjson_mut_obj_add_val(b->run->doc, b->to, "active_tasks", shape_list(b->run, items_of(b, "tasks"), rows));
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
  yyjson_mut_val *list = json_put_arr(run->doc, b->to, "pending_action_items"), *item, *args = new_args(run);
  yyjson_mut_val *result = NULL;
  size_t i, n;
  brain_project(run, args, BRAIN_WRITES);
  json_put_int(run->doc, args, "limit", ITEMS_CAP);
  TRY(tool_op(run, "action list", args, &result));
  b->items_omitted =
      brain_int(result, "pending", 0) - (int64_t)yyjson_mut_arr_size(yyjson_mut_obj_get(result, "items"));
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "items"), i, n, item) {
    static const struct shape id_shape[] = {COPY("id"), {0}}, kind_shape[] = {NULLABLE("source_kind=kind"), {0}};
    static const struct shape rest_shape[] = {NULLABLE("source_id=memory"), COPY("text project kind created_at"), {0}};
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, list), *m = NULL;
    int64_t id = brain_int(item, "memory", 0);
    enum status s = id ? brain_look(run, id, &m) : STATUS_OK;
    if (s != STATUS_OK && s != STATUS_NOT_FOUND)
      return s;
    shape_add(run, v, item, id_shape);
    shape_add(run, v, m, kind_shape);
    shape_add(run, v, item, rest_shape);
  }
  json_put_bool(run->doc, b->to, "writes_blocked", brain_bool(b->booted, "writes_blocked"));
  return STATUS_OK;
}

static void put_handoff(struct boot *b) {
  struct tool_run *run = b->run;
  struct str given = str_trim(json_str(run->args, "handoff"));
  yyjson_mut_val *last = yyjson_mut_obj_get(b->booted, "handoff");
  if (!str_empty(given)) {
    json_put(run->doc, b->to, "handoff", text_preview(given, HANDOFF_CHARS));
  } else if (yyjson_mut_is_obj(last)) {
    static const struct shape source[] = {COPY("handoff_id=id source created_at"), {0}};
    static const struct shape rows[] = {COPY("handoff=text"), OBJECT_OF("handoff_source", source), {0}};
    shape_add(run, b->to, last, rows);
    return;
  } else {
    json_put(run->doc, b->to, "handoff", STR(""));
  }
  brain_null(run, b->to, "handoff_source");
}

static void name_cut(struct boot *b, const char *prefix, int64_t id) {
  yyjson_mut_val *names = yyjson_mut_obj_get(b->to, "truncated");
  if (yyjson_mut_arr_size(names) < TRUNCATED_NAMED)
    json_add_str(b->run->doc, names, arena_printf(b->run->arena, "%s:%lld", prefix, (long long)id));
  else
    b->unnamed++;
}

/* Lists the ids of items that did not fit, so they can be recalled. */
static enum status name_dropped(struct boot *b, const char *section) {
  struct tool_run *run = b->run;
  bool tasks = str_is(str_from(section), "tasks"), blockers = str_is(str_from(section), "blockers");
  yyjson_mut_val *args = new_args(run), *result = NULL, *m;
  brain_project(run, args, BRAIN_WRITES);
  json_put_int(run->doc, args, "limit", 1000);
  if (!tasks)
    json_put(run->doc, args, "kind", str_from(kind_names[KIND_RULE]));
  enum status s = tool_op(run, tasks ? "task list" : "list", args, &result);
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, tasks ? "tasks" : "memories"), i, n, m) {
    int64_t id = brain_int(m, "id", 0);
    bool here =
        tasks || (str_is(result_text(m, "severity"), blockers ? "blocker" : "pattern") && !brain_needs_keyword(run, m));
    if (here && !has_item(items_of(b, section), id))
      name_cut(b, tasks ? "task" : blockers ? "blocker:rule" : "pattern:rule", id);
  }
  return s;
}

static enum status put_truncated(struct boot *b) {
  yyjson_mut_val *d;
  json_put_arr(b->run->doc, b->to, "truncated");
  static const char *const known[] = {"tasks", "patterns", "blockers"};
  bool dropped[] = {b->tasks_capped, b->capped, b->capped};
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(b->booted, "dropped"), i, n, d) {
    struct str section = result_text(d, "section");
    for (size_t k = 0; k < ARRAY_LEN(known); k++)
      dropped[k] |= str_is(section, known[k]);
  }
  for (size_t k = 0; k < ARRAY_LEN(known); k++)
    if (dropped[k])
      TRY(name_dropped(b, known[k]));
  return STATUS_OK;
}

/* Sections that brain_v2 does not have, if they are not empty. */
static enum status put_others(struct boot *b) {
  static const char *const names[] = {"relevant", "identity", "lessons", "pinned", "decisions", "context"};
  static const struct shape rows[] = {COPY("kind memory_id=id headline"), {0}};
  yyjson_mut_val *others = NULL, *item, *m = NULL;
  size_t i, n;
  for (size_t k = 0; k < ARRAY_LEN(names); k++) {
    yyjson_mut_val *items = items_of(b, names[k]);
    if (!yyjson_mut_arr_size(items))
      continue;
    others = others ? others : json_put_obj(b->run->doc, b->to, "also");
    yyjson_mut_val *list = json_put_arr(b->run->doc, others, names[k]);
    yyjson_mut_arr_foreach(items, i, n, item) {
      TRY(brain_look(b->run, brain_int(item, "id", 0), &m));
      yyjson_mut_arr_append(list, shape_object(b->run, m, rows));
    }
  }
  return STATUS_OK;
}

/* Memories that boot leaves out whatever its caps are: untrusted ones, and those that maintenance has retired. */
static void put_left_out(struct boot *b) {
  static const struct shape rows[] = {COPY("section state count"), {0}};
  struct tool_run *run = b->run;
  int64_t untrusted = brain_int(b->booted, "untrusted", 0);
  yyjson_mut_val *retired = yyjson_mut_arr(run->doc), *d;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(b->booted, "dropped"), i, n, d) {
    if (result_text(d, "state").p)
      yyjson_mut_arr_append(retired, shape_object(run, d, rows));
  }
  if (yyjson_mut_arr_size(retired))
    yyjson_mut_obj_add_val(run->doc, b->to, "retired_omitted", retired);
  if (!untrusted)
    return;
  yyjson_mut_val *v = json_put_obj(run->doc, b->to, "untrusted_omitted");
  json_put_int(run->doc, v, "count", untrusted);
  json_put(run->doc, v, "note", boot_untrusted_note(run->arena, untrusted));
}

static enum status put_registry(struct boot *b) {
  struct tool_run *run = b->run;
  yyjson_mut_val *args = new_args(run), *result = NULL;
  brain_project(run, args, BRAIN_WRITES);
  json_put_bool(run->doc, args, "exclude_self", true);
  static const struct shape rows[] = {EACH_OF("other_active_sessions=sessions", brain_session_shape),
                                      NULLABLE("registry_staleness_seconds=staleness_s"),
                                      BOOLEAN("registry_trustworthy=trustworthy"),
                                      {0}};
  TRY(tool_op(run, "session list", args, &result));
  shape_add(run, b->to, result, rows);
  brain_copy_list(run, b->to, "self_healed_ended_ids", b->booted, "ended");
  return STATUS_OK;
}

static void put_caps(struct boot *b) {
  yyjson_mut_doc *doc = b->run->doc;
  yyjson_mut_val *caps = json_put_obj(doc, b->to, "caps");
  json_put_int(doc, caps, "blockers", BLOCKERS_CAP);
  json_put_int(doc, caps, "patterns", BOOT_PATTERNS);
  json_put_int(doc, caps, "tasks", BOOT_TASKS_SHOWN);
  json_put_int(doc, caps, "handoff_chars", HANDOFF_CHARS);
  json_put_int(doc, caps, "tokens", TOKEN_CAP);
}

/* ---- the token cap ---- */

static void put_omitted(struct boot *b, const char *name, int64_t count, const char *call) {
  brain_put_omitted(b->run, b->to, name, count, str_from(call));
}

static yyjson_mut_val *cut_last(struct boot *b, const char *list) {
  return yyjson_mut_arr_remove_last(yyjson_mut_obj_get(b->to, list));
}

/* Cuts a line of the first section of `also`. */
static bool cut_also(struct boot *b) {
  yyjson_mut_val *also = yyjson_mut_obj_get(b->to, "also"), *key, *list, *last;
  size_t i, n;
  yyjson_mut_obj_foreach(also, i, n, key, list) {
    last = yyjson_mut_arr_remove_last(list);
    if (!last)
      continue;
    name_cut(b, arena_printf(b->run->arena, "also:%.*s", STR_ARG(result_text(last, "kind"))).p,
             brain_int(last, "memory_id", 0));
    return true;
  }
  return false;
}

/* Cuts one line of the reply: the least important one. The handoff and blockers stay. */
static enum status cut_one(struct boot *b, bool *ret_cut) {
  yyjson_mut_val *last;
  size_t sessions = brain_count(b->to, "other_active_sessions");
  bool always = true;
  *ret_cut = true;
  if (sessions > SESSIONS_FIRST) {
    cut_last(b, "other_active_sessions");
    b->sessions_omitted++;
    return STATUS_OK;
  }
  if ((last = cut_last(b, "active_tasks"))) {
    name_cut(b, "task", brain_int(last, "id", 0));
    return STATUS_OK;
  }
  last = yyjson_mut_arr_get_last(yyjson_mut_obj_get(b->to, "patterns"));
  if (last)
    TRY(is_always_shown(b, brain_int(last, "memory_id", 0), &always));
  if (last && !always) {
    name_cut(b, "pattern:rule", brain_int(last, "memory_id", 0));
    cut_last(b, "patterns");
    return STATUS_OK;
  }
  if (cut_also(b))
    return STATUS_OK;
  if (sessions) {
    cut_last(b, "other_active_sessions");
    b->sessions_omitted++;
  } else if (brain_count(b->to, "pending_action_items") > 1) {
    cut_last(b, "pending_action_items");
    b->items_omitted++;
  } else {
    *ret_cut = false;
  }
  return STATUS_OK;
}

/* Fits the reply into TOKEN_CAP, measured as it is sent. What is cut is named or counted. */
static enum status fit_cap(struct boot *b) {
  bool cut = true;
  size_t tokens;
  json_put_int(b->run->doc, b->to, "token_estimate", TOKEN_CAP);
  for (;;) {
    put_omitted(b, "other_active_sessions_omitted", b->sessions_omitted, "list_active_sessions_v2()");
    put_omitted(b, "truncated_omitted", b->unnamed, "list_recent_v2(limit=200)");
    put_omitted(b, "pending_action_items_omitted", b->items_omitted,
                "acknowledge_action_item_v2 for each one listed, then boot_session_v2 lists the others");
    tokens = tokens_estimate(json_write(b->run->arena, b->to, false));
    if (tokens <= TOKEN_CAP || !cut)
      break;
    TRY(cut_one(b, &cut));
  }
  yyjson_mut_set_sint(yyjson_mut_obj_get(b->to, "token_estimate"), (int64_t)tokens);
  return STATUS_OK;
}

static enum status put_parts(struct boot *b) {
  yyjson_mut_val *near = NULL;
  TRY(sort_relevant(b));
  TRY(cap_rules(b, "blockers", BLOCKERS_CAP));
  TRY(cap_rules(b, "patterns", BOOT_PATTERNS));
  cap_tasks(b);
  TRY(similarities(b, &near));
  TRY(put_rules(b, "blockers", NULL));
  TRY(put_rules(b, "patterns", near));
  put_tasks(b);
  put_context(b);
  TRY(put_items(b));
  result_copy(b->run, b->to, "session_id", b->booted, "session_id");
  put_handoff(b);
  TRY(put_truncated(b));
  return put_registry(b);
}

enum status openbrain2_boot(struct tool_run *run) {
  struct boot b = {.run = run,
                   .to = yyjson_mut_obj(run->doc),
                   .project = brain_project_name(run),
                   .task = str_trim(json_str(run->args, "task"))};
  TRY(brain_source(run, false));
  TRY(register_session(&b));
  if (result_text(b.booted, "session").p)
    run->caller.session = result_text(b.booted, "session");
  json_put_bool(run->doc, b.to, "success", true);
  result_copy(run, b.to, "worker_session_id", b.booted, "session");
  TRY(put_parts(&b));
  put_caps(&b);
  TRY(put_others(&b));
  put_left_out(&b);
  result_copy(run, b.to, "degraded", b.booted, "degraded");
  TRY(fit_cap(&b));
  run->result = b.to;
  return STATUS_OK;
}

/* ---- handoffs ---- */

/* A note that is too long is truncated, as in that system. */
enum status openbrain2_prepare_end(struct tool_run *run, yyjson_mut_val *args) {
  struct str note = str_trim(json_str(run->args, "handoff"));
  yyjson_mut_obj_remove_key(args, "handoff");
  if (!str_empty(note))
    json_put(run->doc, args, "handoff", text_preview(note, HANDOFF_CHARS));
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
  json_put(run->doc, args, "text", text_preview(text, HANDOFF_CHARS));
  return s;
}

enum status openbrain2_finish_handoff(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run), *sessions = NULL, *s, *args = new_args(run);
  result_copy(run, to, "handoff_id", result, "id");
  /* The result has the session's handle; the list maps it to the number. */
  json_put_bool(run->doc, args, "all_projects", true);
  enum status status = tool_op(run, "session list", args, &sessions);
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(sessions, "sessions"), i, n, s) {
    if (str_eq(result_text(s, "session"), result_text(result, "session")))
      result_copy(run, to, "session_id", s, "session_id");
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

const struct shape openbrain2_item_shape[] = {SUCCESS, COPY("id text kind project"), {0}};
const struct shape openbrain2_ack_shape[] = {
    SUCCESS, COPY("id status text"), NOT("already_acked=removed"), COPY("remaining"), {0}};
