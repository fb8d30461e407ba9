/* openbrain_read.c: tools of Open Brain v1 that find and show memories. */
#include "mcp/profiles/openbrain/openbrain.h"

enum { SEARCH_MAX = 50, HITS_MAX = 100, SEARCH_PREVIEW = 200, LIST_MAX = 100, LIST_PREVIEW = 150, REPEATS_SHOWN = 5 };

/* ---- entries ---- */

struct str openbrain_type(yyjson_mut_val *memory) {
  struct str type = result_text(memory, "type");
  if (str_is(type, "rule") && str_is(result_text(memory, "severity"), "blocker"))
    return STR("guardrail");
  return str_is(type, "lesson") ? STR("insight") : type;
}

void openbrain_put_type(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  json_put(run->doc, to, "type", openbrain_type(memory));
}

static const struct shape superseded_shape[] = {
    FIXED("\"superseded\":true"), COPY("superseded_by_id=superseded_by"), {0}};

#define ENTRY(characters)                                                                                              \
  COPY("id"), PREVIEW("preview=body|headline", characters), CALL(openbrain_put_type),                                  \
      LIST_OR_EMPTY("people topics action_items"), COPY("created_at project"), IS("pinned=delivery", "pinned"),        \
      CALL(brain_put_annotation), CALL(brain_put_score), COPY("untrusted"),                                            \
      WHEN_OF("state=superseded", superseded_shape)
static const struct shape listed_shape[] = {ENTRY(LIST_PREVIEW), {0}};
static const struct shape pinned_shape[] = {ENTRY(SEARCH_PREVIEW), FIXED("\"similarity\":1.0"), {0}};
static const struct shape found_shape[] = {
    ENTRY(SEARCH_PREVIEW), CALL(brain_put_similarity), COPY("via_skill_trigger"), {0}};

/* ---- search ---- */

static int64_t search_limit(const struct tool_run *run) { return brain_limit(run, 10, SEARCH_MAX); }

static yyjson_mut_val *pinned_args(struct tool_run *run) {
  yyjson_mut_val *args = new_args(run);
  json_put(run->doc, args, "project", brain_project_name(run));
  json_put_bool(run->doc, args, "own", true);
  json_put(run->doc, args, "delivery", STR("pinned"));
  return args;
}

static enum status count_pinned(struct tool_run *run, int64_t *ret_count) {
  yyjson_mut_val *args = pinned_args(run), *result = NULL;
  *ret_count = 0;
  if (str_empty(brain_project_name(run)))
    return STATUS_OK;
  json_put_int(run->doc, args, "limit", 1);
  TRY(tool_op(run, "list", args, &result));
  *ret_count = brain_int(result, "total", 0);
  return STATUS_OK;
}

/* Finds as many more as there are pinned memories, which openbrain_finish_search() takes out. */
enum status openbrain_prepare_search(struct tool_run *run, yyjson_mut_val *args) {
  int64_t pinned = 0, limit = search_limit(run);
  TRY(brain_prepare_read_signed(run, args));
  TRY(count_pinned(run, &pinned));
  yyjson_mut_obj_remove_key(args, "limit");
  json_put_int(run->doc, args, "limit", pinned < HITS_MAX - limit ? limit + pinned : HITS_MAX);
  brain_put_days(run, args, "since_days", "since");
  brain_put_days(run, args, "until_days", "until");
  json_put(run->doc, args, "detail", STR("full"));
  json_put_bool(run->doc, args, "explain", true);
  return STATUS_OK;
}

static bool is_shown_first(yyjson_mut_val *memory, const void *run) { return !brain_needs_keyword(run, memory); }

enum status openbrain_pinned(struct tool_run *run, bool trusted, yyjson_mut_val **ret_list, int64_t *ret_omitted) {
  yyjson_mut_val *args = pinned_args(run);
  *ret_list = yyjson_mut_arr(run->doc);
  *ret_omitted = 0;
  if (str_empty(brain_project_name(run)))
    return STATUS_OK;
  json_put_bool(run->doc, args, "trusted", trusted);
  TRY(run_list(run, args, is_shown_first, run, SIZE_MAX, ret_list));
  *ret_omitted = brain_persons_first(run, *ret_list, OPENBRAIN_PINNED_MOST);
  return STATUS_OK;
}

struct str openbrain_pinned_call(struct tool_run *run) {
  struct str project = brain_project_name(run);
  return arena_printf(run->arena, "cairn list --delivery pinned%s%.*s%s",
                      project.n ? " --project '" : " --all-projects", STR_ARG(project), project.n ? "'" : "");
}

static bool is_pinned_here(const struct tool_run *run, yyjson_mut_val *memory) {
  struct str project = brain_project_name(run);
  return brain_pinned(memory) && !str_empty(project) && str_eq(result_text(memory, "project"), project) &&
         !brain_needs_keyword(run, memory);
}

/* The pinned memories of the project come first. They do not count against the limit, as skills do not. */
enum status openbrain_finish_search(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run), *m, *pinned = NULL, *list;
  int64_t omitted = 0, left = search_limit(run);
  TRY(openbrain_pinned(run, false, &pinned, &omitted));
  list = shape_list(run, pinned, pinned_shape);
  yyjson_mut_obj_add_val(run->doc, to, "results", list);
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "results"), i, n, m) {
    bool skill = result_text(m, "via_skill_trigger").p;
    if (is_pinned_here(run, m) || (!skill && left == 0))
      continue;
    left -= !skill;
    yyjson_mut_arr_append(list, shape_object(run, m, found_shape));
  }
  json_put_int(run->doc, to, "count", (int64_t)yyjson_mut_arr_size(list));
  brain_put_omitted(run, to, "pinned_omitted", omitted, openbrain_pinned_call(run));
  result_copy(run, to, "degraded", result, "degraded");
  return STATUS_OK;
}

/* ---- recall ---- */

/* The id of the memory that superseded it. */
static int64_t successor(yyjson_mut_val *memory) {
  yyjson_mut_val *l;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(memory, "links"), i, n, l) {
    if (str_is(result_text(l, "rel"), "supersedes") && str_is(result_text(l, "direction"), "in"))
      return brain_int(l, "id", 0);
  }
  return 0;
}

static void put_successor(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  json_put_int(run->doc, to, "superseded_by_id", successor(memory));
}

static void put_notes(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  json_put(run->doc, to, "annotation", brain_annotation(run, memory));
}

const struct shape openbrain_recall_shape[] = {
    SUCCESS,
    COPY("id content=body"),
    CALL(openbrain_put_type),
    LIST_OR_EMPTY("people topics action_items tags"),
    COPY("created_at project access_count last_accessed upvotes downvotes source untrusted valid_time=valid_from"),
    CALL(put_notes),
    IS("pinned=delivery", "pinned"),
    BOOLEAN("auto_captured"),
    SKILL_TRIGGER,
    COPY("banner"),
    WHEN("state=superseded", CALL(put_successor), COPY("superseded_at=state_at superseded_reason=state_reason")),
    {0},
};
const struct shape openbrain_annotate_shape[] = {SUCCESS, COPY("id"), CALL(put_notes), ARGUMENT("cleared=clear"), {0}};

/* ---- list_recent ---- */

static enum status list_state(struct tool_run *run, const char *state, int64_t limit, yyjson_mut_val **ret_list) {
  yyjson_mut_val *args = new_args(run), *result = NULL;
  json_put_int(run->doc, args, "limit", limit);
  json_put_opt(run->doc, args, "state", str_from(state));
  json_put(run->doc, args, "detail", STR("full"));
  brain_put_days(run, args, "days", "since");
  brain_project(run, args, BRAIN_READS);
  TRY(tool_op(run, "list", args, &result));
  *ret_list = yyjson_mut_obj_get(result, "memories");
  return STATUS_OK;
}

enum status openbrain_list_recent(struct tool_run *run) {
  int64_t limit = brain_limit(run, 20, LIST_MAX);
  yyjson_mut_val *now = NULL, *past = NULL, *m;
  TRY(list_state(run, NULL, limit, &now));
  if (json_bool(run->args, "include_superseded", false))
    TRY(list_state(run, "superseded", limit, &past));
  yyjson_mut_val *to = brain_success(run), *list = yyjson_mut_arr(run->doc);
  size_t i = 0, k = 0;
  while ((int64_t)yyjson_mut_arr_size(list) < limit && (m = brain_next_newest(now, &i, past, &k)))
    yyjson_mut_arr_append(list, shape_object(run, m, listed_shape));
  json_put_int(run->doc, to, "count", (int64_t)yyjson_mut_arr_size(list));
  yyjson_mut_obj_add_val(run->doc, to, "memories", list);
  return STATUS_OK;
}

/* ---- stats ---- */

enum status openbrain_repeats(struct tool_run *run, struct str project, int64_t limit, yyjson_mut_val **ret_result) {
  yyjson_mut_val *args = new_args(run);
  if (project.p)
    json_put(run->doc, args, "project", project);
  else
    json_put_bool(run->doc, args, "all_projects", true);
  json_put(run->doc, args, "severity", STR("blocker"));
  json_put_bool(run->doc, args, "trusted", true); /* boot shows only trusted ones */
  json_put_num(run->doc, args, "above", 0.70);
  json_put_int(run->doc, args, "limit", limit);
  return tool_op(run, "repeats", args, ret_result);
}

/* Counts by the names of that system: insights are stored as lessons, guardrails as rules. */
static enum status put_types(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *stats) {
  yyjson_mut_val *types = json_put_obj(run->doc, to, "by_type"), *args = new_args(run), *list = NULL, *key, *v;
  json_put(run->doc, args, "type", STR("guardrail"));
  json_put_int(run->doc, args, "limit", 1);
  json_put_bool(run->doc, args, "all_projects", true);
  TRY(tool_op(run, "list", args, &list));
  int64_t guardrails = brain_int(list, "total", 0);
  size_t i, n;
  yyjson_mut_val *counts = yyjson_mut_obj_get(stats, "by_type");
  if (!counts)
    return STATUS_OK;
  yyjson_mut_obj_foreach(counts, i, n, key, v) {
    bool rule = yyjson_mut_equals_str(key, "rule"), lesson = yyjson_mut_equals_str(key, "lesson");
    int64_t count = yyjson_mut_get_sint(v) - (rule ? guardrails : 0);
    yyjson_mut_val *name = lesson ? yyjson_mut_str(run->doc, "insight") : yyjson_mut_val_mut_copy(run->doc, key);
    if (count > 0)
      yyjson_mut_obj_add(types, name, yyjson_mut_sint(run->doc, count));
  }
  if (guardrails)
    json_put_int(run->doc, types, "guardrail", guardrails);
  return STATUS_OK;
}

/* A pair of guardrails by the names of that system. */
static void put_pair(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *pair) {
  static const struct shape rest[] = {
      COPY("similarity"), PREVIEW("preview_a=a.headline", 100), PREVIEW("preview_b=b.headline", 100), {0}};
  yyjson_mut_val *ids = json_put_arr(run->doc, to, "ids");
  yyjson_mut_arr_add_sint(run->doc, ids, brain_int(yyjson_mut_obj_get(pair, "a"), "id", 0));
  yyjson_mut_arr_add_sint(run->doc, ids, brain_int(yyjson_mut_obj_get(pair, "b"), "id", 0));
  shape_add(run, to, pair, rest);
}

static const struct shape repeats_shape[] = {EACH("repeated_corrections=pairs", CALL(put_pair)), {0}};

enum status openbrain_finish_stats(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *repeats = NULL;
  TRY(openbrain_repeats(run, STR_NONE, REPEATS_SHOWN, &repeats));
  yyjson_mut_val *to = brain_success(run);
  int64_t rules = brain_int(repeats, "rules", 0), repeated = brain_int(repeats, "repeated", 0);
  json_put_int(run->doc, to, "total_memories", brain_int(yyjson_mut_obj_get(result, "by_state"), "active", 0));
  static const struct shape recent[] = {COPY("last_7_days last_30_days"), {0}};
  TRY(put_types(run, to, result));
  shape_add(run, to, result, recent);
  json_put_num(run->doc, to, "correction_repeat_rate", rules ? json_round((double)repeated / (double)rules, 4) : 0);
  shape_add(run, to, repeats, repeats_shape);
  if (repeated)
    json_put(run->doc, to, "correction_warning",
             arena_printf(run->arena, "%lld of %lld guardrails nearly duplicate another one: supersede one of each",
                          (long long)repeated, (long long)rules));
  else
    brain_null(run, to, "correction_warning");
  return STATUS_OK;
}

/* ---- load_skill ---- */

enum status openbrain_finish_skill(struct tool_run *run, yyjson_mut_val *result) {
  static const struct shape rows[] = {SUCCESS,
                                      COPY("name=skill_name content=body id"),
                                      CALL(openbrain_put_type),
                                      COPY("project untrusted"),
                                      SKILL_TRIGGER,
                                      {0}};
  TRY(brain_check_skill(run, result));
  run->result = shape_object(run, result, rows);
  return STATUS_OK;
}
