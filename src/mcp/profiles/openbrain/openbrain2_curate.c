/* openbrain2_curate.c: tools of brain_v2 that rate, pin, forget and prune. */
#include "core/memory/types.h"
#include "mcp/profiles/openbrain/openbrain2.h"

/* Start of an answer about one memory. */
#define ABOUT SUCCESS, ARGUMENT("kind memory_id")

/* ---- notes, ratings, pins ---- */

enum status openbrain2_prepare_annotate(struct tool_run *run, yyjson_mut_val *args) {
  TRY(brain_prepare_annotate(run, args));
  return openbrain2_prepare_kind(run, args);
}

static void put_notes(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  if (json_bool(run->args, "clear", false))
    brain_null(run, to, "annotation");
  else
    json_put(run->doc, to, "annotation", brain_annotation(run, memory));
}

const struct shape openbrain2_annotate_shape[] = {ABOUT, CALL(put_notes), ARGUMENT("cleared=clear"), {0}};
const struct shape openbrain2_rate_shape[] = {ABOUT, COPY("upvotes downvotes"), CALL(brain_put_score), {0}};

enum status openbrain2_prepare_pin(struct tool_run *run, yyjson_mut_val *args UNUSED) {
  yyjson_mut_val *m = NULL;
  TRY(openbrain2_check(run, json_str(run->args, "kind"), json_int(run->args, "memory_id", 0), &m));
  if (str_empty(result_text(m, "project")))
    return brain_refuse_global_pin(run);
  return STATUS_OK;
}

enum status openbrain2_finish_pin(struct tool_run *run, yyjson_mut_val *result) {
  static const struct shape pinned[] = {ABOUT, IS("pinned=delivery", "pinned"), COPY("project headline"), {0}};
  yyjson_mut_val *m = NULL;
  TRY(brain_look(run, brain_int(result, "id", 0), &m));
  run->result = shape_object(run, m, pinned);
  return STATUS_OK;
}

/* ---- forget ---- */

static struct str number(struct tool_run *run, int64_t id) { return arena_printf(run->arena, "%lld", (long long)id); }

static bool has_number(yyjson_mut_val *list, int64_t id) {
  size_t i, n;
  yyjson_mut_val *v;
  yyjson_mut_arr_foreach(list, i, n, v) {
    if (yyjson_mut_get_sint(v) == id)
      return true;
  }
  return false;
}

/* All or none: an action item of one project blocks the whole call. */
static enum status forget_all(struct tool_run *run, const struct strs *ids, yyjson_mut_val **ret_already) {
  yyjson_mut_val *args = new_args(run), *result = NULL;
  struct str reason = str_trim(json_str(run->args, "reason"));
  json_put_strs(run->doc, args, "ids", ids);
  json_put(run->doc, args, "reason", str_empty(reason) ? STR("no reason was given") : reason);
  json_put_bool(run->doc, args, "confirm", true); /* that system does not ask; 'cairn undo' restores them */
  TRY(tool_op(run, "forget", args, &result));
  *ret_already = yyjson_mut_obj_get(result, "already");
  return STATUS_OK;
}

enum status openbrain2_forget(struct tool_run *run) {
  static const struct shape before[] = {ABOUT, FIXED("\"already_forgotten\":true"), {0}};
  static const struct shape now[] = {ABOUT, FIXED("\"already_forgotten\":false"), NOW("forgotten_at"), {0}};
  yyjson_mut_val *m = NULL, *already = NULL;
  int64_t id = json_int(run->args, "memory_id", 0);
  struct strs ids = {0};
  strs_push(run->arena, &ids, number(run, id));
  TRY(brain_source(run, false));
  TRY(openbrain2_check(run, json_str(run->args, "kind"), id, &m));
  TRY(forget_all(run, &ids, &already));
  run->result = shape_object(run, m, has_number(already, id) ? before : now);
  return STATUS_OK;
}

static void add_pair(struct tool_run *run, yyjson_mut_val *list, struct str kind, int64_t id) {
  yyjson_mut_val *pair = yyjson_mut_arr_add_arr(run->doc, list);
  json_add_str(run->doc, pair, kind);
  yyjson_mut_arr_add_sint(run->doc, pair, id);
}

/* The ids of the memories that are there. Missing ones are listed in the answer, and do not stop the others. */
static enum status find_many(struct tool_run *run, yyjson_mut_val *missing, struct strs *ret_ids) {
  yyjson_val *id;
  size_t i, n;
  yyjson_arr_foreach(yyjson_obj_get(run->args, "memory_ids"), i, n, id) {
    struct str kind = json_val_str(yyjson_arr_get(yyjson_obj_get(run->args, "kinds"), i));
    yyjson_mut_val *m = NULL;
    enum status s = openbrain2_check(run, kind, yyjson_get_sint(id), &m);
    if (s == STATUS_OK)
      strs_push(run->arena, ret_ids, number(run, yyjson_get_sint(id)));
    else if (s == STATUS_NOT_FOUND || s == STATUS_USAGE)
      add_pair(run, missing, kind, yyjson_get_sint(id));
    else
      return s;
  }
  return STATUS_OK;
}

enum status openbrain2_forget_many(struct tool_run *run) {
  yyjson_val *kinds = yyjson_obj_get(run->args, "kinds"), *ids = yyjson_obj_get(run->args, "memory_ids"), *v;
  struct strs known = {0};
  yyjson_mut_val *before = NULL;
  size_t i, n = yyjson_arr_size(ids);
  if (yyjson_arr_size(kinds) != n) {
    error_set(run->err, STATUS_USAGE, "kinds and memory_ids must have the same length (%zu and %zu)",
              yyjson_arr_size(kinds), n);
    return error_fix(run->err, "give one kind for each id");
  }
  TRY(brain_source(run, false));
  yyjson_mut_val *to = yyjson_mut_obj(run->doc);
  json_put_bool(run->doc, to, "success", true);
  yyjson_mut_val *forgotten = json_put_arr(run->doc, to, "forgotten");
  yyjson_mut_val *already = json_put_arr(run->doc, to, "already_forgotten");
  TRY(find_many(run, json_put_arr(run->doc, to, "not_found"), &known));
  if (known.n)
    TRY(forget_all(run, &known, &before));
  before = before ? before : yyjson_mut_arr(run->doc);
  yyjson_arr_foreach(ids, i, n, v) {
    int64_t id = yyjson_get_sint(v);
    if (!strs_has(&known, number(run, id)))
      continue;
    add_pair(run, has_number(before, id) ? already : forgotten, json_val_str(yyjson_arr_get(kinds, i)), id);
    yyjson_mut_arr_add_sint(run->doc, before, id); /* if it is named again */
  }
  json_put_int(run->doc, to, "forgotten_count", (int64_t)yyjson_mut_arr_size(forgotten));
  json_put_int(run->doc, to, "total_requested", (int64_t)n);
  run->result = to;
  return STATUS_OK;
}

/* ---- unsupersede ---- */

/* The id of the memory that superseded this one; 0 if there is none. */
static enum status corrector_of(struct tool_run *run, struct str id, int64_t *ret_id) {
  yyjson_mut_val *args = new_args(run), *result = NULL, *m;
  json_put(run->doc, args, "id", id);
  enum status s = tool_op(run, "history", args, &result);
  bool next = false;
  size_t i, n;
  *ret_id = 0;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "chain"), i, n, m) {
    if (next && !*ret_id)
      *ret_id = brain_int(m, "id", 0);
    next |= str_eq(arena_printf(run->arena, "%lld", (long long)brain_int(m, "id", 0)), id);
  }
  return s;
}

enum status openbrain2_unsupersede(struct tool_run *run) {
  struct str id = arena_printf(run->arena, "%lld", (long long)json_int(run->args, "old_id", 0));
  yyjson_mut_val *args = new_args(run), *result = NULL, *m = NULL;
  bool keep = json_bool(run->args, "keep_corrector", false);
  int64_t corrector = 0;
  json_put(run->doc, args, "id", id);
  json_put_bool(run->doc, args, "keep_corrector", keep);
  TRY(brain_source(run, true));
  TRY(corrector_of(run, id, &corrector));
  TRY(tool_op(run, "unsupersede", args, &result));
  TRY(brain_look(run, brain_int(result, "id", 0), &m));
  yyjson_mut_val *to = brain_success(run);
  result_copy(run, to, "old_id", result, "id");
  json_put_int(run->doc, to, "former_corrector", corrector);
  json_put_bool(run->doc, to, "corrector_retired", !keep);
  json_put(run->doc, to, "restored_severity", brain_upper(run, result_text(m, "severity")));
  json_put(run->doc, to, "note",
           arena_printf(run->arena,
                        keep ? "%.*s and its corrector %lld are both active"
                             : "%.*s is active again; its corrector %lld is retired",
                        STR_ARG(id), (long long)corrector));
  return STATUS_OK;
}

/* ---- prune ---- */

static void put_deleted(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  static const enum kind kinds[] = {KIND_FACT, KIND_INCIDENT, KIND_TASK};
  yyjson_mut_val *ids = json_put_obj(run->doc, to, "deleted_ids"), *m;
  size_t i, n;
  for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
    yyjson_mut_val *of_kind = json_put_arr(run->doc, ids, kind_names[kinds[k]]);
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "pruned"), i, n, m) {
      if (str_is(result_text(m, "kind"), kind_names[kinds[k]]))
        yyjson_mut_arr_add_sint(run->doc, of_kind, brain_int(m, "id", 0));
    }
  }
}

#define CRITERIA                                                                                                       \
  COPY("max_per_call"), FORMAT("criteria", "older than {criteria.days} days, not pinned; facts read at most "          \
                                           "{criteria.min_access} times, archived incidents, done or stale tasks")
const struct shape openbrain2_prune_shape[] = {
    SUCCESS,
    BOOLEAN("dry_run"),
    WHEN("dry_run", COUNT("would_delete_this_call=would_prune"), COPY("would_delete_total=total"), CRITERIA,
         FORMAT("message", "Would delete {would_prune} memories. dry_run=false does it.")),
    UNLESS("dry_run", COUNT("deleted=pruned"), CALL(put_deleted), COPY("txn"), CRITERIA,
           FORMAT("message", "Pruned {pruned} memories.")),
    {0}};

/* ---- maintenance ---- */

#define STEP(name, step) LIST_OR_EMPTY(name "=ids." step), COUNT(name "_count=ids." step)
/* A faded fact is reactivated by a recall, not by maintenance. */
#define DECAY                                                                                                          \
  STEP("deactivated", "faded"), FIXED("\"reactivated\":[],\"reactivated_count\":0"), STEP("ttl_expired", "expired")

const struct shape openbrain2_decay_shape[] = {SUCCESS, DECAY, {0}};
const struct shape openbrain2_archive_shape[] = {SUCCESS, STEP("archived", "archived"), {0}};
static const struct shape maintenance_shape[] = {STEP("facts_decayed", "faded"),
                                                 FIXED("\"facts_reactivated\":[],\"facts_reactivated_count\":0"),
                                                 STEP("facts_ttl_expired", "expired"),
                                                 STEP("incidents_archived", "archived"),
                                                 STEP("stale_tasks", "stale"),
                                                 COPY("duration_ms"),
                                                 {0}};

/* Always due after 0 hours; the operation would take the interval of its setting. */
enum status openbrain2_prepare_due(struct tool_run *run, yyjson_mut_val *args) {
  if (json_num(run->args, "hours", 0) <= 0)
    yyjson_mut_obj_remove_key(args, "if_due");
  return STATUS_OK;
}

enum status openbrain2_finish_maintenance(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run), *stats = NULL;
  bool skipped = brain_bool(result, "skipped");
  json_put_bool(run->doc, to, "skipped", skipped);
  if (skipped) {
    enum status s = tool_op(run, "stats", new_args(run), &stats);
    json_put(run->doc, to, "skipped_reason",
             arena_printf(run->arena, "the last run was less than %g hours ago", json_num(run->args, "hours", 24)));
    result_copy(run, to, "last_run_at", stats, "maintained_at");
    return s;
  }
  shape_add(run, to, result, maintenance_shape);
  return STATUS_OK;
}
