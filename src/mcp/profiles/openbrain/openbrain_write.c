/* openbrain_write.c: tools of Open Brain v1 that change memories. */
#include "base/utf8.h"
#include "core/memory/extract.h"
#include "core/memory/types.h"
#include "core/secrets/redact.h"
#include "mcp/profiles/foreign.h"
#include "mcp/profiles/openbrain/openbrain.h"

/* ---- remember ---- */

/* The default is a note, unless the first words suggest another type of fact. Rules and tasks have consequences and
 * must be requested explicitly. */
static struct str default_type(struct str content) {
  const char *hint = extract_type_hint(content);
  const struct mem_type *t = hint ? type_find(str_from(hint)) : NULL;
  return t && t->kind == KIND_FACT ? str_from(t->name) : str_from(type_of_prose()->name);
}

enum status openbrain_prepare_remember(struct tool_run *run, yyjson_mut_val *args) {
  TRY(brain_prepare_write_signed(run, args));
  TRY(brain_skill_args(run, args));
  struct str type = result_text(args, "type");
  if (!type.p) {
    json_put(run->doc, args, "type", default_type(json_str(run->args, "content")));
    json_put_bool(run->doc, args, "keep_fields", true); /* a guessed type must not change a stored one */
  } else if (str_is(type, "guardrail") && !str_empty(json_str(run->args, "project"))) {
    json_put(run->doc, args, "delivery", STR("pinned"));
  }
  add_headline(run, args, json_str(run->args, "content"), type.p ? type : STR("note"));
  return STATUS_OK;
}

static const char *action_name(struct str action) {
  bool updated = str_is(action, "superseded") || str_is(action, "updated");
  return updated ? "updated" : str_is(action, "skipped") ? "skipped" : "stored";
}

/* They must not name a piece of a secret that the setting secrets.mode redacts. */
static void put_metadata(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  struct extracted found = {0};
  extract_metadata(run->arena, STR(""), redact_all(run->arena, json_str(run->args, "content"), NULL), &found);
  json_put_strs(run->doc, to, "people", &found.people);
  json_put_strs(run->doc, to, "topics", &found.topics);
  if (str_is(result_text(memory, "kind"), kind_names[KIND_RULE])) /* a rule is never done */
    json_put_arr(run->doc, to, "action_items");
  else
    json_put_strs(run->doc, to, "action_items", &found.action_items);
}

/* Reports a near duplicate with the call that replaces it. */
static void put_near(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  yyjson_mut_val *w = near_warning(result);
  result_copy(run, to, "warning", w, "message");
  result_copy(run, to, "similar_existing", w, "memories");
}

static void put_action(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  json_put(run->doc, to, "action", str_from(action_name(result_text(result, "action"))));
}

static void put_auto_pinned(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result UNUSED) {
  if (str_is(json_str(run->args, "type_override"), "guardrail") && !str_empty(json_str(run->args, "project")) &&
      str_is(result_text(to, "action"), "stored"))
    json_put_bool(run->doc, to, "auto_pinned", true);
}

const struct shape openbrain_remember_shape[] = {
    SUCCESS,
    CALL(put_action),
    COPY("id"),
    CALL(openbrain_put_type),
    CALL(put_metadata),
    NOW("stored_at"),
    CALL(put_auto_pinned),
    COPY("similarity superseded_id=supersedes"),
    CALL(put_near),
    {0},
};

void openbrain_error(struct tool_run *run, const struct error *err) {
  struct error e = *err;
  yyjson_mut_val *existing = NULL;
  bool skipped = e.code == STATUS_DUPLICATE && e.about && str_is(str_from(run->tool->op), "remember");
  if (!skipped || brain_look(run, e.about, &existing) != STATUS_OK) {
    *run->err = e;
    brain_error(run, &e);
    return;
  }
  yyjson_mut_val *to = brain_success(run);
  json_put(run->doc, to, "action", STR("skipped"));
  json_put_int(run->doc, to, "id", e.about);
  json_put(run->doc, to, "type", openbrain_type(existing));
  put_metadata(run, to, existing);
  json_put_num(run->doc, to, "similarity", json_round(e.similarity, 4));
  json_put(run->doc, to, "reason", str_from(e.message));
  struct str source = run->caller.source;
  json_put(run->doc, to, "hint",
           arena_printf(run->arena,
                        "nothing was stored; to replace it: supersede(old_memory_id=%lld, new_content=..., "
                        "reason=\"what changed\", source=\"%.*s\")",
                        (long long)e.about, STR_ARG(source)));
  run->is_error = false;
}

/* ---- capture_context ---- */

/* Reports a piece that was not stored; true if it has a secret. */
static bool put_refused(struct tool_run *run, yyjson_mut_val *errors, struct str preview, yyjson_mut_val *why) {
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, errors);
  bool secret = str_is(result_text(why, "code"), "secret");
  json_put(run->doc, v, "preview", preview);
  result_copy(run, v, "error", why, "message");
  if (secret)
    json_put(run->doc, v, "blocked_by", STR("secrets_filter"));
  return secret;
}

enum status openbrain_finish_capture(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run), *m;
  json_put_int(run->doc, to, "memories_stored", brain_int(result, "stored", 0));
  yyjson_mut_val *stored = json_put_arr(run->doc, to, "stored"), *errors = json_put_arr(run->doc, to, "errors");
  bool secret = false;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "memories"), i, n, m) {
    yyjson_mut_val *why = yyjson_mut_obj_get(m, "error"), *there = NULL;
    struct str preview = text_preview(result_text(m, "headline"), 100);
    int64_t id = brain_int(why, "memory", brain_int(m, "id", 0));
    bool known = why && str_is(result_text(why, "code"), "duplicate") && brain_look(run, id, &there) == STATUS_OK;
    if (why && !known) {
      secret |= put_refused(run, errors, preview, why);
      continue;
    }
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, stored);
    json_put_int(run->doc, v, "id", id);
    json_put(run->doc, v, "preview", preview);
    json_put(run->doc, v, "type", openbrain_type(known ? there : m));
    json_put(run->doc, v, "action", known ? STR("skipped") : str_from(action_name(result_text(m, "action"))));
  }
  if (!secret || yyjson_mut_arr_size(stored))
    return STATUS_OK;
  error_set(run->err, STATUS_SECRET, "the context seems to hold a secret: nothing was stored");
  return error_fix(run->err, "remove it and store its location instead");
}

/* ---- belief revision ---- */

enum status openbrain_prepare_supersede(struct tool_run *run, yyjson_mut_val *args) {
  TRY(brain_source(run, true));
  brain_drop_empty(args);
  brain_project(run, args, BRAIN_KEEPS);
  return strcmp(run->tool->op, "supersede") == 0 ? brain_supersede_skill(run, args) : STATUS_OK;
}

enum status openbrain_finish_supersede(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *old = NULL, *now = NULL;
  TRY(brain_look(run, json_int(run->args, "old_memory_id", 0), &old));
  TRY(brain_look(run, brain_int(result, "id", 0), &now));
  yyjson_mut_val *to = brain_success(run);
  result_copy(run, to, "old_id", result, "supersedes");
  result_copy(run, to, "new_id", result, "id");
  json_put(run->doc, to, "new_action", STR("stored"));
  json_put_bool(run->doc, to, "old_pinned", brain_pinned(old));
  json_put_bool(run->doc, to, "new_pinned", brain_pinned(now));
  json_put(run->doc, to, "type", openbrain_type(now));
  result_copy(run, to, "project", now, "project");
  result_copy(run, to, "skill_name", now, "skill_name");
  brain_put_not_inherited(run, to, result);
  return STATUS_OK;
}

const struct shape openbrain_unsupersede_shape[] = {
    SUCCESS,
    INTEGER("id former_corrector=retired"),
    FIXED("\"corrector_retired\":true"),
    FORMAT("note", "memory {id} is current again; its correction {retired} was forgotten"),
    {0}};

/* ---- signals ---- */

const struct shape openbrain_rate_shape[] = {SUCCESS, COPY("id upvotes downvotes"), CALL(brain_put_score), {0}};

enum status openbrain_prepare_pin(struct tool_run *run, yyjson_mut_val *args UNUSED) {
  yyjson_mut_val *m = NULL;
  TRY(brain_look(run, json_int(run->args, "memory_id", 0), &m));
  if (str_empty(result_text(m, "project")))
    return brain_refuse_global_pin(run);
  return STATUS_OK;
}

static const struct shape pin_shape[] = {
    SUCCESS,
    COPY("id"),
    IS("pinned=delivery", "pinned"),
    COPY("project"),
    PREVIEW("preview=body|headline", 100),
    WHEN("delivery=pinned", FORMAT("message", "Memory {id} is pinned: it comes first in searches of '{project}'.")),
    UNLESS("delivery=pinned", FORMAT("message", "Memory {id} is not pinned.")),
    {0}};

enum status openbrain_finish_pin(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *m = NULL;
  TRY(brain_look(run, brain_int(result, "id", 0), &m));
  run->result = shape_object(run, m, pin_shape);
  return STATUS_OK;
}

/* ---- cleanup ---- */

#define CRITERIA                                                                                                       \
  COPY("max_per_call"), FORMAT("criteria", "not used for {criteria.days} days, accessed <= {criteria.min_access} "     \
                                           "times")
const struct shape openbrain_prune_shape[] = {
    SUCCESS,
    BOOLEAN("dry_run"),
    WHEN("dry_run", COPY("would_delete=total"), PLUCK("would_delete_ids=would_prune", "id"), CRITERIA,
         FORMAT("message", "Would delete {total} memories (max {max_per_call} per call). dry_run=false does it.")),
    UNLESS("dry_run", COUNT("deleted=pruned"), PLUCK("deleted_ids=pruned", "id"), CRITERIA, COPY("txn"),
           FORMAT("message", "Pruned {pruned} memories (max {max_per_call} per call).")),
    {0}};

/* Forgets the existing ones in one transaction; adds the others to `missing`. */
static enum status forget_ids(struct tool_run *run, yyjson_val *wanted, yyjson_mut_val *missing,
                              yyjson_mut_val **ret_result) {
  yyjson_mut_val *args = new_args(run), *m;
  yyjson_mut_val *ids = json_put_arr(run->doc, args, "ids");
  json_put(run->doc, args, "reason", arena_printf(run->arena, "forgotten with %s", run->tool->name));
  size_t i, n;
  yyjson_val *id;
  yyjson_arr_foreach(wanted, i, n, id) {
    enum status s = brain_look(run, yyjson_get_sint(id), &m);
    if (s == STATUS_NOT_FOUND)
      yyjson_mut_arr_add_sint(run->doc, missing, yyjson_get_sint(id));
    else if (s != STATUS_OK)
      return s;
    else
      json_add_str(run->doc, ids, arena_printf(run->arena, "%lld", (long long)yyjson_get_sint(id)));
  }
  json_put_bool(run->doc, args, "confirm", true); /* Open Brain does not ask, and undo restores them */
  if (yyjson_mut_arr_size(ids))
    return tool_op(run, "forget", args, ret_result);
  *ret_result = yyjson_mut_obj(run->doc);
  return STATUS_OK;
}

enum status openbrain_forget(struct tool_run *run) {
  yyjson_mut_val *args = new_args(run), *result = NULL;
  int64_t id = json_int(run->args, "memory_id", 0);
  json_add_str(run->doc, json_put_arr(run->doc, args, "ids"), arena_printf(run->arena, "%lld", (long long)id));
  json_put(run->doc, args, "reason", STR("forgotten with forget"));
  TRY(tool_op(run, "forget", args, &result));
  if (brain_count(result, "already")) /* Open Brain has deleted it, and does not find it */
    return error_set(run->err, STATUS_NOT_FOUND, "memory %lld was forgotten before", (long long)id);
  yyjson_mut_val *to = brain_success(run);
  json_put_int(run->doc, to, "id", id);
  json_put_bool(run->doc, to, "deleted", true);
  json_put(run->doc, to, "message", arena_printf(run->arena, "Memory %lld deleted.", (long long)id));
  return STATUS_OK;
}

enum status openbrain_forget_many(struct tool_run *run) {
  yyjson_mut_val *missing = yyjson_mut_arr(run->doc), *result = NULL, *id;
  TRY(forget_ids(run, yyjson_obj_get(run->args, "memory_ids"), missing, &result));
  yyjson_mut_val *to = brain_success(run);
  json_put_int(run->doc, to, "deleted", (int64_t)brain_count(result, "forgotten"));
  while ((id = yyjson_mut_arr_remove_first(yyjson_mut_obj_get(result, "already"))))
    yyjson_mut_arr_append(missing, id);
  yyjson_mut_obj_add_val(run->doc, to, "not_found", missing);
  return STATUS_OK;
}
