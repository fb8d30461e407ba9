/* mememory.c: profile with the seven tools and the resources of mememory. */
#include "core/text/token_count.h"
#include "core/trust/present.h"
#include "mcp/profiles/foreign.h"
#include "mcp/profiles/profiles.h"

enum { BOOTSTRAP_TOKENS = 30000, PINNED_TOKENS = 5000, NEAR_SHOWN = 5 };

/* ---- memories ---- */

static struct str to_foreign_delivery(struct str ours) {
  if (str_is(ours, "boot"))
    return STR("bootstrap");
  return str_is(ours, "pinned") ? ours : STR("on_demand");
}

static struct str from_foreign_delivery(struct str theirs) {
  return str_is(theirs, "bootstrap") ? STR("boot") : theirs;
}

static void put_delivery(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *m) {
  add_text(run, to, "delivery", to_foreign_delivery(result_text(m, "delivery")));
}

static void put_superseded(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *m) {
  yyjson_mut_val *l;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(m, "links"), i, n, l) {
    if (str_is(result_text(l, "direction"), "out") &&
        (str_is(result_text(l, "rel"), "supersedes") || str_is(result_text(l, "rel"), "shadows")))
      result_copy(run, to, "supersedes", l, "uid");
  }
  result_copy(run, to, "supersedes", m, "supersedes"); /* of a hit, which has no links */
}

static const struct shape memory_shape[] = {
    COPY("id=uid content=body"),
    WHEN("project", FIXED("\"scope\":\"project\""), COPY("project")),
    UNLESS("project", FIXED("\"scope\":\"global\"")),
    COPY("type"),
    CALL(put_delivery),
    COPY("tags weight"),
    CALL(put_superseded),
    COPY("created_at updated_at=created_at"), /* a text never changes after its creation */
    COPY("ttl=expires_at untrusted"),
    {0},
};
static const struct shape hit_shape[] = {OBJECT_OF("memory", memory_shape), COPY("score"), {0}};

/* Reason of a memory that another one supersedes by `remember`. */
#define REPLACED "superseded by a newer memory"

/* The current version of a memory: ids that an agent has noted stay valid after updates. */
static enum status current(struct tool_run *run, struct str id, yyjson_mut_val **ret_memory) {
  enum status s = run_get(run, id, ret_memory);
  if (s != STATUS_OK || !str_is(result_text(*ret_memory, "state"), "superseded"))
    return s;
  int64_t head = result_int(*ret_memory, "head");
  return head ? run_get(run, arena_printf(run->arena, "%lld", (long long)head), ret_memory) : s;
}

/* The last version that `update` has made of a memory; *ret_successor is the id of the memory that superseded it since,
 * another one with its own life, or absent. */
static enum status last_version(struct tool_run *run, struct str id, yyjson_mut_val **ret_memory,
                                struct str *ret_successor) {
  yyjson_mut_val *l;
  size_t i, n;
  *ret_successor = STR_NONE;
  TRY(run_get(run, id, ret_memory));
  while (str_is(result_text(*ret_memory, "state"), "superseded")) {
    struct str next = STR_NONE;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(*ret_memory, "links"), i, n, l) {
      if (str_is(result_text(l, "direction"), "in") && str_is(result_text(l, "rel"), "supersedes"))
        next = result_text(l, "uid");
    }
    if (str_is(result_text(*ret_memory, "state_reason"), REPLACED))
      *ret_successor = next;
    if (!next.p || ret_successor->p)
      break;
    TRY(run_get(run, next, ret_memory));
  }
  return STATUS_OK;
}

/* ---- scope ---- */

static enum status need_project(struct tool_run *run) {
  error_set(run->err, STATUS_USAGE, "project is required when scope is project");
  return error_fix(run->err, "repeat the call with project");
}

/* A call that reads the scope `project` without naming one, in a server without a project, reads all of them. */
static bool wants_every_project(struct tool_run *run) {
  return str_is(json_str(run->args, "scope"), "project") && str_empty(json_str(run->args, "project")) &&
         str_empty(run->caller.project);
}

/* The project of a call; "" is the global scope. */
static enum status project_of(struct tool_run *run, struct str *ret_project) {
  struct str scope = json_str(run->args, "scope"), project = json_str(run->args, "project");
  if (str_is(scope, "global") || (str_empty(scope) && str_empty(project)))
    *ret_project = STR("");
  else if (!str_empty(project))
    *ret_project = project;
  else if (!str_empty(run->caller.project))
    *ret_project = run->caller.project;
  else
    return need_project(run);
  return STATUS_OK;
}

/* ---- remember ---- */

static void add_tags(struct tool_run *run, yyjson_mut_val *args) {
  struct str rest = json_str(run->args, "tags"), tag;
  yyjson_mut_val *list = json_put_arr(run->doc, args, "tags");
  while (str_next(&rest, ',', &tag))
    if (!str_empty(str_trim(tag)))
      json_add_str(run->doc, list, str_trim(tag));
}

static void add_weight(struct tool_run *run, yyjson_mut_val *args) {
  double w = json_num(run->args, "weight", 1.0);
  if (!yyjson_obj_get(run->args, "weight")) /* the default must not change a stored weight */
    return;
  w = w > 0 && w <= 1 ? w : 1.0;
  json_put_num(run->doc, args, "weight", w < 0.1 ? 0.1 : w);
}

/* A replacement without a scope keeps that of the old memory. */
static enum status add_replaced(struct tool_run *run, yyjson_mut_val *args, struct str *project) {
  struct str old = str_trim(json_str(run->args, "supersedes"));
  yyjson_mut_val *m;
  if (str_empty(old))
    return STATUS_OK;
  TRY(current(run, old, &m));
  if (!json_str(run->args, "scope").n && !json_str(run->args, "project").n)
    *project = result_text(m, "project");
  add_text(run, args, "supersedes", result_text(m, "uid"));
  add_text(run, args, "reason", STR(REPLACED));
  return STATUS_OK;
}

/* The memories near the stored one; NULL if there are none. For mememory, a similarity of 75 % is a contradiction. */
static yyjson_mut_val *contradiction(struct tool_run *run, yyjson_mut_val *stored) {
  yyjson_val *copy;
  struct error ignored;
  /* Parts of a result may be raw JSON. */
  if (json_read(run->arena, json_write(run->arena, stored, false), &copy, &ignored) != STATUS_OK)
    return NULL;
  return yyjson_mut_obj_get(near_warning(yyjson_val_mut_copy(run->doc, copy)), "memories");
}

static enum status report_conflict(struct tool_run *run, yyjson_mut_val *memory, yyjson_mut_val *near) {
  yyjson_mut_val *list = json_put_arr(run->doc, run->result, "contradictions"), *o, *other;
  struct buf b = BUF(run->arena);
  size_t i, n;
  buf_adds(&b,
           "CONTRADICTION DETECTED\n\nThe memory was stored, but it is close to existing memories that may conflict "
           "with it.\nAsk the user to clarify before you go on.\n\nNew memory:\n");
  buf_addf(&b, "  [%.*s] %.*s\n\nPotentially conflicting memories:\n", STR_ARG(result_text(memory, "id")),
           STR_ARG(result_text(memory, "content")));
  yyjson_mut_arr_foreach(near, i, n, o) {
    if (i >= NEAR_SHOWN)
      break;
    TRY(run_get(run, arena_printf(run->arena, "%lld", (long long)result_int(o, "id")), &other));
    double similarity = yyjson_mut_get_num(yyjson_mut_obj_get(o, "similarity"));
    buf_addf(&b, "  [%.*s] (similarity: %.0f%%) %.*s\n", STR_ARG(result_text(other, "uid")), similarity * 100,
             STR_ARG(result_text(other, "body")));
    yyjson_mut_val *c = yyjson_mut_arr_add_obj(run->doc, list);
    yyjson_mut_obj_add_val(run->doc, c, "memory", shape_object(run, other, memory_shape));
    json_put_num(run->doc, c, "similarity", similarity);
  }
  buf_adds(&b, "\nOptions:\n  1. Keep both: if they complement each other\n"
               "  2. Update old: call update(id=<old_id>, content=<new_content>)\n"
               "  3. Supersede: call remember(content=..., supersedes=<old_id>)\n"
               "  4. Delete old: call forget(id=<old_id>) if it no longer holds\n\nStored memory details:\n");
  buf_add(&b, pretty_json(run, memory));
  run->text = present_neutral(run->arena, buf_str(&b));
  return STATUS_OK;
}

/* Estimated tokens of the memories that are shown with this delivery. */
static enum status count_tokens(struct tool_run *run, struct str delivery, struct str project, size_t *ret_tokens) {
  yyjson_mut_val *args = new_args(run), *list, *m;
  size_t i, n, bytes = 0;
  add_text(run, args, "delivery", delivery);
  add_text(run, args, "project", project);
  add_bool(run, args, "trusted", true);
  TRY(run_list(run, args, NULL, NULL, SIZE_MAX, &list));
  yyjson_mut_arr_foreach(list, i, n, m) {
    bytes += result_text(m, "body").n;
  }
  *ret_tokens = (bytes * 2 + 3) / 7; /* 3.5 bytes per token */
  return STATUS_OK;
}

static enum status check_budget(struct tool_run *run, yyjson_mut_val *memory, struct str delivery, struct str project) {
  bool boot = str_is(delivery, "boot");
  size_t tokens = 0, most = boot ? BOOTSTRAP_TOKENS : PINNED_TOKENS;
  if (!boot && !str_is(delivery, "pinned"))
    return STATUS_OK;
  TRY(count_tokens(run, delivery, project, &tokens));
  if (tokens <= most)
    return STATUS_OK;
  struct str json = pretty_json(run, memory);
  run->text =
      arena_printf(run->arena,
                   "WARNING: %s memories take %zu tokens, the budget is %zu (%zu%%). Shorten them, or make some "
                   "of them on_demand.\n\nStored memory:\n%.*s",
                   boot ? "bootstrap" : "pinned", tokens, most, tokens * 100 / most, STR_ARG(json));
  return STATUS_OK;
}

/* Adds it behind the answer. */
static void report_ideas(struct tool_run *run, yyjson_mut_val *stored) {
  struct str warning = ideas_warning(run, stored);
  if (!warning.p)
    return;
  add_text(run, run->result, "warning", warning);
  run->text = arena_printf(run->arena, "%.*s\n\nWARNING: %.*s", STR_ARG(run->text), STR_ARG(warning));
}

static enum status run_remember(struct tool_run *run) {
  yyjson_mut_val *args = new_args(run), *stored, *m;
  struct str project, delivery = from_foreign_delivery(json_str(run->args, "delivery"));
  struct str content = json_str(run->args, "content"), type = json_str(run->args, "type");
  TRY(project_of(run, &project));
  TRY(add_replaced(run, args, &project));
  add_text(run, args, "text", content);
  add_text(run, args, "project", project);
  add_text(run, args, "type", type);
  add_headline(run, args, content, str_empty(type) ? STR("fact") : type);
  if (!str_empty(delivery))
    add_text(run, args, "delivery", delivery);
  if (!str_empty(json_str(run->args, "ttl")))
    add_text(run, args, "ttl", json_str(run->args, "ttl"));
  add_tags(run, args);
  add_weight(run, args);
  add_bool(run, args, "keep_both", true);
  TRY(tool_op(run, "remember", args, &stored));
  TRY(run_get(run, result_text(stored, "uid"), &m));
  yyjson_mut_val *memory = shape_object(run, m, memory_shape), *near = contradiction(run, stored);
  run->result = yyjson_mut_obj(run->doc);
  yyjson_mut_obj_add_val(run->doc, run->result, "memory", memory);
  run->text = pretty_json(run, memory);
  if (near && yyjson_mut_arr_size(near))
    TRY(report_conflict(run, memory, near));
  else
    TRY(check_budget(run, memory, result_text(m, "delivery"), project));
  report_ideas(run, stored);
  return STATUS_OK;
}

/* ---- recall and list ---- */

/* Adds the project to the arguments of an operation. `exact`: without global memories. */
static enum status add_scope(struct tool_run *run, yyjson_mut_val *args, bool exact) {
  struct str project;
  bool every = wants_every_project(run);
  add_bool(run, args, "own", exact || every);
  if (every) {
    add_bool(run, args, "all_projects", true);
    return STATUS_OK;
  }
  TRY(project_of(run, &project));
  add_text(run, args, "project", project);
  return STATUS_OK;
}

static enum status run_recall(struct tool_run *run) {
  yyjson_mut_val *args = new_args(run), *found, *m;
  int64_t limit = json_int(run->args, "limit", 5);
  size_t i, n;
  limit = limit <= 0 ? 5 : limit > 100 ? 100 : limit;
  TRY(add_scope(run, args, str_is(json_str(run->args, "scope"), "project")));
  add_text(run, args, "query", json_str(run->args, "query"));
  add_text(run, args, "detail", STR("full"));
  add_int(run, args, "limit", limit);
  TRY(tool_op(run, "search", args, &found));
  run->result = yyjson_mut_obj(run->doc);
  yyjson_mut_val *list = json_put_arr(run->doc, run->result, "results");
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(found, "results"), i, n, m) {
    if ((int64_t)yyjson_mut_arr_size(list) < limit) /* skills do not count against the limit of a search */
      yyjson_mut_arr_append(list, shape_object(run, m, hit_shape));
  }
  answer_json(run, run->result, list);
  return STATUS_OK;
}

static enum status run_memories(struct tool_run *run) {
  yyjson_mut_val *args = new_args(run), *all;
  struct str scope = json_str(run->args, "scope"), project = json_str(run->args, "project");
  int64_t limit = json_int(run->args, "limit", 20);
  if (str_empty(scope) && str_empty(project)) /* no filter: all projects */
    add_bool(run, args, "all_projects", true);
  else
    TRY(add_scope(run, args, true));
  if (!str_empty(json_str(run->args, "type")))
    add_text(run, args, "type", json_str(run->args, "type"));
  if (!str_empty(json_str(run->args, "delivery")))
    add_text(run, args, "delivery", from_foreign_delivery(json_str(run->args, "delivery")));
  TRY(run_list(run, args, NULL, NULL, limit <= 0 ? 20 : (size_t)limit, &all));
  run->result = yyjson_mut_obj(run->doc);
  yyjson_mut_val *list = shape_list(run, all, memory_shape);
  yyjson_mut_obj_add_val(run->doc, run->result, "memories", list);
  answer_json(run, run->result, list);
  return STATUS_OK;
}

/* ---- forget and update ---- */

static enum status run_forget(struct tool_run *run) {
  struct str id = str_trim(json_str(run->args, "id")), successor = STR_NONE;
  yyjson_mut_val *m, *args = new_args(run), *result;
  if (str_empty(id)) {
    error_set(run->err, STATUS_USAGE, "id is empty");
    return error_fix(run->err, "recall and list show the id of each memory");
  }
  enum status s = last_version(run, id, &m, &successor);
  if (s == STATUS_OK && !successor.p) {
    json_add_str(run->doc, json_put_arr(run->doc, args, "ids"), result_text(m, "uid"));
    add_text(run, args, "reason", STR("deleted by forget"));
    s = tool_op(run, "forget", args, &result);
  }
  if (s != STATUS_OK && s != STATUS_NOT_FOUND) /* a missing memory counts as deleted */
    return s;
  run->result = yyjson_mut_obj(run->doc);
  add_text(run, run->result, "id", id);
  run->text = arena_printf(run->arena, "Memory %.*s deleted", STR_ARG(id));
  if (successor.p)
    run->text = arena_printf(run->arena, "Memory %.*s deleted; %.*s, which superseded it, stays", STR_ARG(id),
                             STR_ARG(successor));
  return STATUS_OK;
}

static enum status refuse_gone(struct tool_run *run, struct str id, struct str state) {
  error_set(run->err, STATUS_NOT_FOUND, "memory %.*s is %.*s", STR_ARG(id), STR_ARG(state));
  return error_fix(run->err, "store the text: remember(content=...)");
}

static enum status refuse_superseded(struct tool_run *run, struct str id, struct str successor) {
  error_set(run->err, STATUS_CONFLICT, "memory %.*s is superseded by %.*s", STR_ARG(id), STR_ARG(successor));
  return error_fix(run->err, "update(id=\"%.*s\", content=...)", STR_ARG(successor));
}

static enum status run_update(struct tool_run *run) {
  struct str id = str_trim(json_str(run->args, "id")), content = json_str(run->args, "content"), state, successor;
  yyjson_mut_val *m, *args = new_args(run), *stored;
  TRY(last_version(run, id, &m, &successor));
  if (successor.p)
    return refuse_superseded(run, id, successor);
  state = result_text(m, "state");
  if (str_is(state, "forgotten") || str_is(state, "expired"))
    return refuse_gone(run, id, state);
  add_text(run, args, "id", result_text(m, "uid"));
  add_text(run, args, "text", content);
  add_headline(run, args, content, result_text(m, "type"));
  add_text(run, args, "project", result_text(m, "project"));
  add_text(run, args, "ttl", result_text(m, "expires_at"));
  static const char *const flags[] = {"soft", "inherit_pin", "inherit_skill", "inherit_key"};
  for (size_t i = 0; i < ARRAY_LEN(flags); i++)
    add_bool(run, args, flags[i], true);
  TRY(tool_op(run, "supersede", args, &stored));
  TRY(run_get(run, result_text(stored, "uid"), &m));
  yyjson_mut_val *memory = shape_object(run, m, memory_shape);
  answer_json(run, memory, memory);
  report_ideas(run, stored);
  return STATUS_OK;
}

/* ---- stats and help ---- */

/* Counts of memories that are not in the total, which only agents with Cairn's own tools stored. */
static void put_retired(struct tool_run *run, yyjson_mut_val *into, yyjson_mut_val *states) {
  static const char *const names[] = {"faded", "archived"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    if (result_int(states, names[i]))
      add_int(run, into, names[i], result_int(states, names[i]));
}

static enum status finish_stats(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *r = yyjson_mut_obj(run->doc), *scopes, *projects, *deliveries, *key, *v;
  int64_t global = 0, total = 0, on_demand = 0;
  size_t i, n;
  add_int(run, r, "total", 0);
  scopes = json_put_obj(run->doc, r, "by_scope");
  projects = json_put_obj(run->doc, r, "by_project");
  yyjson_mut_obj_foreach(yyjson_mut_obj_get(result, "by_project"), i, n, key, v) {
    int64_t count = yyjson_mut_get_sint(v);
    total += count;
    if (yyjson_mut_get_len(key) == 0)
      global = count;
    else
      yyjson_mut_obj_add(projects, yyjson_mut_val_mut_copy(run->doc, key), yyjson_mut_sint(run->doc, count));
  }
  yyjson_mut_obj_put(r, yyjson_mut_str(run->doc, "total"), yyjson_mut_sint(run->doc, total));
  add_int(run, scopes, "global", global);
  add_int(run, scopes, "project", total - global);
  result_copy(run, r, "by_type", result, "by_type");
  deliveries = json_put_obj(run->doc, r, "by_delivery");
  yyjson_mut_obj_foreach(yyjson_mut_obj_get(result, "by_delivery"), i, n, key, v) {
    struct str name = to_foreign_delivery((struct str){yyjson_mut_get_str(key), yyjson_mut_get_len(key)});
    if (str_is(name, "on_demand"))
      on_demand += yyjson_mut_get_sint(v);
    else
      yyjson_mut_obj_add(deliveries, yyjson_mut_strncpy(run->doc, name.p, name.n),
                         yyjson_mut_sint(run->doc, yyjson_mut_get_sint(v)));
  }
  add_int(run, deliveries, "on_demand", on_demand);
  put_retired(run, r, yyjson_mut_obj_get(result, "by_state"));
  answer_json(run, r, r);
  return STATUS_OK;
}

static const char *const topic_names[] = {"overview", "tools", "scopes", "types", "examples", "best-practices", NULL};

static const struct help_topic {
  const char *name, *text;
} topics[] = {
    {"overview",
     "# Overview\n\nThis memory outlives the conversation. Text is stored with remember, found again by meaning "
     "and by words with recall, replaced with update or supersedes, and removed with forget. Replaced "
     "text stays in the history; secrets are refused."},
    {"tools",
     "# Tools\n\n"
     "- help(topic): this text\n"
     "- remember(content, scope, project, type, delivery, tags, ttl, weight, supersedes): store a memory; tags are "
     "separated by commas, ttl is 24h, 7d or 720h, weight is 0.1 to 1.0\n"
     "- recall(query, scope, project, limit): search; limit is 5 unless given\n"
     "- forget(id): delete\n"
     "- update(id, content): replace the text; the new version has its own id, and the former id still "
     "resolves to it\n"
     "- list(scope, project, type, delivery, limit): newest first; limit is 20 unless given\n"
     "- stats(): counts"},
    {"scopes",
     "# Scopes\n\n"
     "- global: seen in every project\n"
     "- project: seen only in the named project\n\n"
     "recall with a project searches that project and global memories. A memory of a project that supersedes a "
     "global one hides it only in that project."},
    {"types",
     "# Types\n\n"
     "- fact: a statement that is true\n- rule: something that must be followed, with its reason\n"
     "- decision: a choice and why it was made\n- feedback: a correction by the user\n"
     "- context: temporary, best with a ttl\n- bootstrap: a rule that every session starts with\n\n"
     "delivery says when a memory is shown without a search: bootstrap at the start of a session, pinned with every "
     "turn, on_demand only when it is recalled."},
    {"examples", "# Examples\n\n"
                 "remember(content=\"pnpm only: CI enforces the lockfile\", type=\"rule\")\n"
                 "remember(content=\"The demo is on April 5\", type=\"context\", scope=\"project\", project=\"match\", "
                 "ttl=\"7d\")\n"
                 "remember(content=\"Zustand replaced Redux\", type=\"decision\", supersedes=\"<old id>\")\n"
                 "recall(query=\"which package manager\", project=\"match\")"},
    {"best-practices", "# Best practices\n\n"
                       "1. Recall before you assert.\n2. One idea per memory, self-contained.\n"
                       "3. Say why, not only what.\n4. Ask the user when a contradiction is reported.\n"
                       "5. Use supersedes when a view has changed, a low weight when it is uncertain, a ttl when it is "
                       "temporary.\n6. Keep bootstrap and pinned memories few and short."},
    {NULL, NULL},
};

static enum status run_help(struct tool_run *run) {
  struct str topic = json_str(run->args, "topic");
  struct buf b = BUF(run->arena);
  for (const struct help_topic *t = topics; t->name; t++)
    if (str_empty(topic) || str_is(topic, t->name))
      buf_addf(&b, "%s%s", b.n ? "\n\n" : "", t->text);
  run->text = buf_str(&b);
  return STATUS_OK;
}

/* ---- resources ---- */

static enum status read_bootstrap(struct tool_run *run, struct str project, struct str *ret_text) {
  yyjson_mut_val *args = new_args(run), *result;
  add_text(run, args, "project", project.p ? project : STR(""));
  add_text(run, args, "format", STR("full"));
  const struct origin *origin = run->caller.origin;
  run->caller.origin = NULL; /* reading it must not start a session */
  enum status s = tool_op(run, "boot", args, &result);
  run->caller.origin = origin;
  if (s == STATUS_OK)
    *ret_text = arena_dup(run->arena, result_text(result, "text"));
  return s;
}

/* Number of pinned memories that are not shown until a person promotes them. */
static enum status count_untrusted_pins(struct tool_run *run, struct str project, int64_t *ret_count) {
  yyjson_mut_val *args = new_args(run), *page;
  add_text(run, args, "delivery", STR("pinned"));
  add_bool(run, args, "untrusted", true);
  add_text(run, args, "project", project);
  add_int(run, args, "limit", 1);
  TRY(tool_op(run, "list", args, &page));
  *ret_count = result_int(page, "total");
  return STATUS_OK;
}

static enum status read_pinned(struct tool_run *run, struct str project, struct str *ret_text) {
  yyjson_mut_val *args = new_args(run), *list, *m;
  struct buf b = BUF(run->arena);
  size_t i, n;
  int64_t untrusted;
  project = project.p ? project : STR("");
  add_text(run, args, "delivery", STR("pinned"));
  add_bool(run, args, "trusted", true);
  add_text(run, args, "project", project);
  TRY(run_list(run, args, NULL, NULL, SIZE_MAX, &list));
  TRY(count_untrusted_pins(run, project, &untrusted));
  /* Global memories first. */
  for (int own = 0; own < 2; own++)
    yyjson_mut_arr_foreach(list, i, n, m) {
      struct str of = result_text(m, "project");
      if ((of.n > 0) != (own == 1))
        continue;
      buf_addf(&b, b.n ? ""
                       : "<system-reminder>\nThese notes are pinned: they apply to every answer. Use recall before "
                         "you make claims about past work.\n");
      buf_addf(&b, "- %.*s\n", STR_ARG(result_text(m, "body")));
    }
  if (b.n)
    buf_adds(&b, "Check your answer against each of them.\n</system-reminder>\n");
  if (untrusted)
    buf_addf(&b, "%lld pinned memor%s not shown: untrusted until a person promotes %s.\n", (long long)untrusted,
             untrusted == 1 ? "y is" : "ies are", untrusted == 1 ? "it" : "them");
  *ret_text = buf_str(&b);
  return STATUS_OK;
}

static const struct profile_resource resources[] = {
    {"mememory://bootstrap", "bootstrap", "Bootstrap", "Memories that every session starts with", "text/plain",
     read_bootstrap},
    {"mememory://bootstrap/{project}", "bootstrap-project", "Bootstrap of a project",
     "Memories that a session of this project starts with", "text/plain", read_bootstrap},
    {"mememory://pinned", "pinned", "Pinned", "Pinned memories for every answer", "text/plain", read_pinned},
    {"mememory://pinned/{project}", "pinned-project", "Pinned of a project",
     "Pinned memories for every answer in this project", "text/plain", read_pinned},
    {0},
};

/* ---- the table ---- */

static void format_error(struct tool_run *run, const struct error *err) {
  struct error said = *err;
  struct str fix = tool_rewrite_advice(run, str_from(err->fix));
  if (fix.n)
    error_fix(&said, "%.*s", STR_ARG(fix));
  run->text =
      arena_printf(run->arena, "%s failed: %s%s%.*s", run->tool->name, err->message, fix.n ? "\n" : "", STR_ARG(fix));
  run->result = op_error_json(run->doc, &said);
}

static const char *const scopes[] = {"global", "project", NULL};
static const char *const deliveries[] = {"bootstrap", "pinned", "on_demand", NULL};

#define SCOPE {.name = "scope", .form = TOOL_TEXT, .choices = scopes}
#define PROJECT {.name = "project", .form = TOOL_TEXT, .help = "project name; required when scope is project"}
#define TYPE {.name = "type", .form = TOOL_TEXT, .help = "fact (default), rule, decision, feedback, context, bootstrap"}
#define DELIVERY                                                                                                       \
  {.name = "delivery", .form = TOOL_TEXT, .choices = deliveries, .help = "at session start, every turn, on demand"}
#define ID {.name = "id", .form = TOOL_ID, .flags = ARG_REQUIRED}
static const struct tool_arg help_args[] = {{.name = "topic", .form = TOOL_TEXT, .choices = topic_names}, {0}};
static const struct tool_arg remember_args[] = {
    {.name = "content", .form = TOOL_TEXT, .flags = ARG_REQUIRED, .to = "text", .help = "self-contained, one idea"},
    SCOPE,
    PROJECT,
    TYPE,
    DELIVERY,
    {.name = "tags", .form = TOOL_TEXT, .help = "separated by commas"},
    {.name = "ttl", .form = TOOL_TEXT, .help = "24h, 7d, 720h"},
    {.name = "weight", .form = TOOL_NUMBER, .help = "confidence, 0.1 to 1.0"},
    {.name = "supersedes", .form = TOOL_ID, .help = "id of the memory that this one replaces"},
    {0},
};
static const struct tool_arg recall_args[] = {
    {.name = "query", .form = TOOL_TEXT, .flags = ARG_REQUIRED},
    SCOPE,
    {.name = "project", .form = TOOL_TEXT, .help = "also searches this project, besides global memories"},
    {.name = "limit", .form = TOOL_INT, .missing = "5"},
    {0},
};
static const struct tool_arg id_args[] = {ID, {0}};
static const struct tool_arg update_args[] = {
    ID, {.name = "content", .form = TOOL_TEXT, .flags = ARG_REQUIRED, .to = "text", .help = "the new text"}, {0}};
static const struct tool_arg list_args[] = {
    SCOPE,
    {.name = "project", .form = TOOL_TEXT},
    {.name = "type", .form = TOOL_TEXT},
    DELIVERY,
    {.name = "limit", .form = TOOL_INT, .missing = "20"},
    {0},
};
static const struct tool_arg no_args[] = {{0}};

static const struct tool tools[] = {
    {.name = "help",
     .title = "Help",
     .description = "How to use this memory: tools, scopes, types, examples.",
     .flags = TOOL_READS,
     .args = help_args,
     .run = run_help},
    {.name = "remember",
     .title = "Remember",
     .description = "Store a memory. Similar ones are reported: ask the user which is right.",
     .op = "remember",
     .flags = TOOL_ALWAYS,
     .args = remember_args,
     .run = run_remember},
    {.name = "recall",
     .title = "Recall",
     .description = "Search memories by meaning and words.",
     .op = "search",
     .flags = TOOL_READS | TOOL_ALWAYS,
     .args = recall_args,
     .run = run_recall},
    {.name = "forget",
     .title = "Forget",
     .description = "Delete a memory by its id.",
     .flags = TOOL_DESTROYS | TOOL_IDEMPOTENT,
     .args = id_args,
     .run = run_forget},
    {.name = "update",
     .title = "Update",
     .description = "Replace the text of a memory; the former text stays in its history.",
     .op = "supersede",
     .implies = "reason",
     .args = update_args,
     .run = run_update},
    {.name = "list",
     .title = "List",
     .description = "List memories by scope, project, type or delivery, newest first.",
     .op = "list",
     .flags = TOOL_READS,
     .args = list_args,
     .run = run_memories},
    {.name = "stats",
     .title = "Stats",
     .description = "How many memories there are, by scope, project, type and delivery.",
     .op = "stats",
     .flags = TOOL_READS,
     .args = no_args,
     .finish = finish_stats},
    {0},
};

const struct profile profile_mememory = {
    .name = "mememory",
    .title = "Cairn with the tools of mememory",
    .instructions =
        "Persistent memory. Recall before you answer; remember facts, rules, decisions, feedback and context "
        "as they come up, one idea each. When a memory is reported to contradict others, ask the user.",
    .tools = tools,
    .resources = resources,
    .foreign = true,
    .budget = -1,
    .error = format_error,
};
