/* openbrain_session.c: tools of Open Brain v1 for sessions: boot, action items, checkpoint, reminder. */
#include "core/boot/render.h"
#include "mcp/profiles/openbrain/openbrain.h"

enum {
  CONTEXT_SHOWN = 5,
  CONTEXT_CHARS = 500,
  HISTORY_CHARS = 300,
  HITS_MAX = 100,
  ITEMS_SHOWN = 1000, /* all: what blocks a session is not hidden from it */
  GUARDRAIL_CHARS = 500,
  RELEVANT_CHARS = 300,
};

struct boot {
  struct tool_run *run;
  struct str project, task;
  yyjson_mut_val *context; /* sections */
  int64_t pinned;          /* number of memories in the first section */
  struct str degraded;     /* first error; absent: none */
};

/* A failed part is left out: boot must succeed. */
static bool succeeded(struct boot *b, enum status s) {
  if (s != STATUS_OK && !b->degraded.p)
    b->degraded = arena_dup(b->run->arena, str_from(b->run->err->message));
  return s == STATUS_OK;
}

static yyjson_mut_val *args_of(struct boot *b) {
  yyjson_mut_val *args = new_args(b->run);
  if (str_empty(b->project) && !b->run->caller.project_given)
    json_put_bool(b->run->doc, args, "all_projects", true);
  else if (!str_empty(b->project))
    json_put(b->run->doc, args, "project", b->project);
  return args;
}

static yyjson_mut_val *section(struct boot *b, const char *name) {
  yyjson_mut_val *v = yyjson_mut_obj(b->run->doc);
  json_put(b->run->doc, v, "section", str_from(name));
  json_put_int(b->run->doc, v, "count", 0);
  json_put_arr(b->run->doc, v, "content");
  return v;
}

/* Empty sections are left out. */
static void close_section(struct boot *b, yyjson_mut_val *v) {
  size_t n = brain_count(v, "content");
  yyjson_mut_set_sint(yyjson_mut_obj_get(v, "count"), (int64_t)n);
  if (n)
    yyjson_mut_arr_append(b->context, v);
}

static void add_line(struct boot *b, yyjson_mut_val *v, struct str text) {
  json_add_str(b->run->doc, yyjson_mut_obj_get(v, "content"), text);
}

/* For the first section, and for the others: pinned memories and skills are in the first one, or need a keyword. */
static bool is_always_shown(yyjson_mut_val *memory, const void *run) { return !brain_needs_keyword(run, memory); }
static bool is_shown_later(yyjson_mut_val *memory, const void *run) {
  return !brain_pinned(memory) && !str_is(result_text(memory, "delivery"), "skill") && is_always_shown(memory, run);
}

/* "[#12] text", truncated to `characters`; 0: whole, with the type and the agent that wrote it. */
static struct str line_of(struct boot *b, yyjson_mut_val *m, size_t characters) {
  struct str body = result_text(m, "body"), type = openbrain_type(m), by = result_text(m, "source");
  long long id = (long long)brain_int(m, "id", 0);
  bool by_agent = !str_is(result_text(m, "trust"), "user");
  if (characters)
    return arena_printf(b->run->arena, "[#%lld] %.*s", id, STR_ARG(text_preview(body, characters)));
  return arena_printf(b->run->arena, "[GUARDRAIL #%lld] (%.*s%s%.*s)\n%.*s", id, STR_ARG(type),
                      by_agent ? ", written by " : "", STR_ARG(by_agent ? by : STR("")), STR_ARG(body));
}

/* Adds memories to one of the later sections, truncated. */
static void add_memories(struct boot *b, yyjson_mut_val *v, yyjson_mut_val *list, size_t characters) {
  size_t i, n;
  yyjson_mut_val *m;
  yyjson_mut_arr_foreach(list, i, n, m) {
    if (is_shown_later(m, b->run) && brain_count(v, "content") < CONTEXT_SHOWN)
      add_line(b, v, line_of(b, m, characters));
  }
}

static yyjson_mut_val *listed(struct boot *b, const char *name, const char *value, wanted_fn wanted, size_t most) {
  yyjson_mut_val *args = args_of(b), *list = NULL;
  json_put(b->run->doc, args, name, str_from(value));
  json_put_bool(b->run->doc, args, "trusted", true);
  return succeeded(b, run_list(b->run, args, wanted, b->run, most, &list)) ? list : NULL;
}

/* A person's first, so that agents cannot displace them. Skills that are always on are like pinned memories. */
static void add_pinned(struct boot *b) {
  yyjson_mut_val *v = section(b, "PINNED GUARDRAILS"), *list = yyjson_mut_arr(b->run->doc), *skills, *m;
  static const char *const deliveries[] = {"pinned", "skill"};
  for (size_t k = 0; k < ARRAY_LEN(deliveries); k++) {
    skills = listed(b, "delivery", deliveries[k], is_always_shown, SIZE_MAX);
    while ((m = yyjson_mut_arr_remove_first(skills)))
      yyjson_mut_arr_append(list, m);
  }
  int64_t omitted = brain_persons_first(b->run, list, OPENBRAIN_PINNED_MOST);
  while ((m = yyjson_mut_arr_remove_first(list)))
    add_line(b, v, line_of(b, m, 0));
  close_section(b, v);
  b->pinned = (int64_t)brain_count(v, "content");
  if (omitted)
    add_line(b, v,
             arena_printf(b->run->arena, "%lld more are not shown here; '%.*s' lists all", (long long)omitted,
                          STR_ARG(openbrain_pinned_call(b->run))));
}

static void add_context(struct boot *b) {
  struct tool_run *run = b->run;
  yyjson_mut_val *v = section(b, "PROJECT CONTEXT"), *args = args_of(b), *result = NULL;
  struct str query = str_empty(b->task) ? b->project : b->task;
  if (str_empty(query))
    return;
  json_put(run->doc, args, "query", query);
  json_put_bool(run->doc, args, "trusted", true);
  json_put(run->doc, args, "detail", STR("full"));
  json_put_int(run->doc, args, "limit",
               b->pinned < HITS_MAX - 4 * CONTEXT_SHOWN ? b->pinned + 4 * CONTEXT_SHOWN : HITS_MAX);
  if (succeeded(b, tool_op(run, "search", args, &result)))
    add_memories(b, v, yyjson_mut_obj_get(result, "results"), CONTEXT_CHARS);
  close_section(b, v);
}

static void add_history(struct boot *b) {
  yyjson_mut_val *v = section(b, "RECENT HISTORY (7 days)");
  add_memories(b, v, listed(b, "since", "7d", is_shown_later, CONTEXT_SHOWN), HISTORY_CHARS);
  close_section(b, v);
}

static void add_issues(struct boot *b) {
  yyjson_mut_val *v = section(b, "KNOWN ISSUES & CORRECTIONS");
  add_memories(b, v, listed(b, "kind", "incident", is_shown_later, CONTEXT_SHOWN), HISTORY_CHARS);
  add_memories(b, v, listed(b, "kind", "rule", is_shown_later, CONTEXT_SHOWN), HISTORY_CHARS);
  close_section(b, v);
}

static void add_repeats(struct boot *b) {
  struct tool_run *run = b->run;
  yyjson_mut_val *v = section(b, "REPEATED CORRECTIONS (CRITICAL)"), *result = NULL, *p;
  struct str where = str_empty(b->project) ? STR_NONE : b->project;
  size_t i, n;
  if (succeeded(b, openbrain_repeats(run, where, 5, &result)))
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "pairs"), i, n, p) {
      yyjson_mut_val *x = yyjson_mut_obj_get(p, "a"), *y = yyjson_mut_obj_get(p, "b");
      add_line(b, v,
               arena_printf(run->arena, "[%lld] %.*s / [%lld] %.*s (similarity %.2f)", (long long)brain_int(x, "id", 0),
                            STR_ARG(result_text(x, "headline")), (long long)brain_int(y, "id", 0),
                            STR_ARG(result_text(y, "headline")), brain_num(p, "similarity", 0)));
    }
  close_section(b, v);
}

static void add_sessions(struct boot *b, yyjson_mut_val *booted) {
  struct tool_run *run = b->run;
  yyjson_mut_val *v = section(b, "OTHER ACTIVE SESSIONS"), *s;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(booted, "sessions"), i, n, s) {
    struct str task = result_text(s, "task");
    add_line(b, v,
             arena_printf(run->arena, "session %lld: %.*s since %.*s: %.*s", (long long)brain_int(s, "session_id", 0),
                          STR_ARG(result_text(s, "source")), STR_ARG(result_text(s, "booted_at")),
                          STR_ARG(task.p ? task : STR("(no task given)"))));
  }
  close_section(b, v);
}

/* ---- action items ---- */

static void put_items(struct boot *b, yyjson_mut_val *to) {
  struct tool_run *run = b->run;
  static const struct shape item_shape[] = {COPY("id"), INTEGER("memory_id=memory"), COPY("text"), {0}};
  yyjson_mut_val *v = section(b, "ACTION ITEMS PENDING"), *args = new_args(run), *result = NULL, *item;
  size_t i, n;
  brain_project(run, args, BRAIN_WRITES);
  json_put_int(run->doc, args, "limit", ITEMS_SHOWN);
  yyjson_mut_val *items =
      succeeded(b, tool_op(run, "action list", args, &result)) ? yyjson_mut_obj_get(result, "items") : NULL;
  yyjson_mut_arr_foreach(items, i, n, item) {
    add_line(b, v, result_text(item, "text"));
  }
  yyjson_mut_obj_add_val(run->doc, to, "pending_action_items", shape_list(run, items, item_shape));
  close_section(b, v);
}

/* ---- boot_session ---- */

/* Memories of the booted projects that no section shows until a person promotes them. */
static int64_t count_untrusted(struct boot *b) {
  yyjson_mut_val *args = args_of(b), *result = NULL;
  json_put_bool(b->run->doc, args, "untrusted", true);
  json_put_int(b->run->doc, args, "limit", 1);
  return succeeded(b, tool_op(b->run, "list", args, &result)) ? brain_int(result, "total", 0) : 0;
}

static enum status register_session(struct boot *b, yyjson_mut_val **ret_booted) {
  struct tool_run *run = b->run;
  yyjson_mut_val *args = new_args(run);
  brain_project(run, args, BRAIN_WRITES);
  brain_boot_args(run, args);
  json_put_bool(run->doc, args, "register", true);
  TRY(tool_op(run, "boot", args, ret_booted));
  *ret_booted = brain_plain(run, *ret_booted);
  return STATUS_OK;
}

enum status openbrain_boot(struct tool_run *run) {
  struct boot b = {.run = run,
                   .project = brain_project_name(run),
                   .task = json_str(run->args, "task"),
                   .context = yyjson_mut_arr(run->doc)};
  yyjson_mut_val *booted = NULL;
  TRY(brain_source(run, true));
  if (succeeded(&b, register_session(&b, &booted)) && result_text(booted, "session").p)
    run->caller.session = result_text(booted, "session");
  add_pinned(&b);
  add_context(&b);
  add_history(&b);
  add_issues(&b);
  add_repeats(&b);
  add_sessions(&b, booted);
  yyjson_mut_val *to = brain_success(run);
  json_put_bool(run->doc, to, "booted", true);
  json_put(run->doc, to, "project", b.project);
  json_put(run->doc, to, "source", run->caller.source);
  result_copy(run, to, "session_id", booted, "session_id");
  put_items(&b, to);
  json_put_int(run->doc, to, "sections_loaded", (int64_t)yyjson_mut_arr_size(b.context));
  yyjson_mut_obj_add_val(run->doc, to, "context", b.context);
  size_t items = brain_count(to, "pending_action_items");
  int64_t untrusted = count_untrusted(&b);
  struct buf message = BUF(run->arena);
  buf_addf(&message, "Brain booted: %zu sections loaded.", yyjson_mut_arr_size(b.context));
  if (items)
    buf_addf(&message,
             " %zu action item%s pending: call acknowledge_action_item(source, memory_id, text, decision) for each; "
             "remember, capture_context, supersede and forget are blocked until then.",
             items, items == 1 ? " is" : "s are");
  if (untrusted)
    buf_addf(&message, " %.*s.", STR_ARG(boot_untrusted_note(run->arena, untrusted)));
  if (b.degraded.p) {
    json_put_bool(run->doc, to, "degraded", true);
    buf_addf(&message, " Something is missing: %.*s", STR_ARG(b.degraded));
  }
  json_put(run->doc, to, "message", buf_str(&message));
  return STATUS_OK;
}

/* ---- the rest ---- */

/* An item that a person added comes from no memory: the boot and the hint show memory_id 0. The tool has no project, so
 * its text may be that of an item of any project; one of the session's project comes first. */
enum status openbrain_prepare_ack(struct tool_run *run, yyjson_mut_val *args) {
  if (json_int(run->args, "memory_id", -1) == 0) {
    yyjson_mut_obj_remove_key(args, "memory");
    json_put_bool(run->doc, args, "all_projects", !brain_is_limited(run));
  }
  return brain_prepare_session_signed(run, args);
}

const struct shape openbrain_ack_shape[] = {SUCCESS, COPY("decision text removed remaining"), {0}};

#define WARNING(text) COPY("id"), FIXED("\"type\":\"guardrail\""), PREVIEW("content=" text, GUARDRAIL_CHARS)

static const struct shape pinned_shape[] = {WARNING("body"), UNLESS("trust=user", COPY("author=source")), {0}};

/* Adds the other pinned memories of the project, of any type, and returns how many are omitted. A checkpoint never
 * blocks: an error leaves them out. */
static int64_t add_pinned_warnings(struct tool_run *run, yyjson_mut_val *list) {
  struct error *outer = run->err, ignored;
  yyjson_mut_val *pinned = NULL, *m;
  int64_t omitted = 0;
  run->err = &ignored;
  enum status s = openbrain_pinned(run, true, &pinned, &omitted);
  run->err = outer;
  size_t i, n;
  yyjson_mut_arr_foreach(s == STATUS_OK ? pinned : NULL, i, n, m) {
    if (!str_is(result_text(m, "severity"), "blocker")) /* blockers are in the list already */
      yyjson_mut_arr_append(list, shape_object(run, m, pinned_shape));
  }
  return omitted;
}

static void put_warnings(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  static const struct shape rows[] = {WARNING("text"), COPY("author"), {0}};
  yyjson_mut_val *list = shape_list(run, yyjson_mut_obj_get(result, "guardrails"), rows);
  int64_t omitted = add_pinned_warnings(run, list);
  omitted += brain_persons_first(run, list, SIZE_MAX);
  size_t warnings = yyjson_mut_arr_size(list), relevant = brain_count(result, "relevant");
  json_put_int(run->doc, to, "guardrails", (int64_t)warnings);
  json_put_int(run->doc, to, "relevant_memories", (int64_t)relevant);
  yyjson_mut_obj_add_val(run->doc, to, "warnings", list);
  brain_put_omitted(run, to, "warnings_omitted", omitted, openbrain_pinned_call(run));
  json_put(run->doc, to, "message",
           arena_printf(run->arena, "Checkpoint complete: %zu guardrails, %zu relevant memories. Read them first.",
                        warnings, relevant));
}

const struct shape openbrain_checkpoint_shape[] = {
    SUCCESS,
    COPY("action"),
    BOOLEAN("skipped"),
    WHEN("skipped", FORMAT("reason", "checked already; the cooldown ends in {cooldown_s} s")),
    UNLESS("skipped", ARGUMENT("context"), CALL(put_warnings),
           EACH("relevant", COPY("id"), PREVIEW("content=snippet", RELEVANT_CHARS), CALL(openbrain_put_type),
                ROUND("similarity=score")),
           COPY("degraded")),
    {0}};

enum status openbrain_reminder(struct tool_run *run) {
  return brain_reminder(run, "Open Brain: boot first",
                        "Call boot_session(project, source) before anything else: it loads pinned guardrails, project "
                        "context, recent history, known issues and pending action items. Answer each pending item with "
                        "acknowledge_action_item before you store anything. Search before you begin a task, store what "
                        "was decided and learned with remember or capture_context, and call end_session when you are "
                        "done.");
}
