/* openbrain2_write.c: tools of brain_v2 that store memories, and its write gate. */
#include "base/os/clock.h"
#include "core/gate/similarity.h"
#include "core/memory/headline.h"
#include "core/memory/types.h"
#include "mcp/profiles/openbrain/openbrain2.h"

enum { BODY_CAP = 400 };

/* ---- memories ---- */

static void put_link(struct tool_run *run, yyjson_mut_val *to, const char *name, yyjson_mut_val *memory,
                     const char *direction) {
  yyjson_mut_val *l;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(memory, "links"), i, n, l) {
    if (str_is(result_text(l, "rel"), "supersedes") && str_is(result_text(l, "direction"), direction)) {
      result_copy(run, to, name, l, "id");
      return;
    }
  }
  brain_null(run, to, name);
}

void openbrain2_put_links(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  static const struct shape created[] = {COPY("created_at"), {0}}, now[] = {NOW("created_at"), {0}};
  if (yyjson_mut_obj_get(memory, "supersedes"))
    result_copy(run, to, "supersedes", memory, "supersedes");
  else
    put_link(run, to, "supersedes", memory, "out");
  put_link(run, to, "superseded_by", memory, "in");
  shape_add(run, to, memory, result_text(memory, "created_at").p ? created : now);
}

enum status openbrain2_check(struct tool_run *run, struct str kind, int64_t id, yyjson_mut_val **ret_memory) {
  enum kind known;
  yyjson_mut_val *m = NULL;
  if (!kind_parse(kind, &known)) {
    error_set(run->err, STATUS_USAGE, "'%.*s' is not a kind", STR_ARG(kind));
    return error_fix(run->err, "one of: rule, fact, incident, task");
  }
  TRY(brain_look(run, id, &m));
  struct str is = result_text(m, "kind");
  if (!str_ieq(is, kind)) {
    bool source = yyjson_obj_get(run->args, "source_kind") != NULL;
    error_set(run->err, STATUS_NOT_FOUND, "not found: %.*s id=%lld; that memory is of kind %.*s", STR_ARG(kind),
              (long long)id, STR_ARG(is));
    return error_fix(run->err, "repeat the call with %s=\"%.*s\"", source ? "source_kind" : "kind", STR_ARG(is));
  }
  *ret_memory = m;
  return STATUS_OK;
}

/* ---- the gate ---- */

static size_t count_words(struct str text) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++)
    n += !ascii_space(text.p[i]) && (i == 0 || ascii_space(text.p[i - 1]));
  return n;
}

/* Limits of that system's gate which Cairn's does not have. */
static enum status check_texts(struct tool_run *run, struct str headline, struct str body) {
  size_t in_headline = count_words(headline), in_body = count_words(body);
  if (!in_headline || in_headline > HEADLINE_WORDS) {
    if (in_headline)
      error_set(run->err, STATUS_REFUSED, "the headline has %zu words, at most %d are allowed", in_headline,
                HEADLINE_WORDS);
    else
      error_set(run->err, STATUS_REFUSED, "the headline is empty");
    error_step(run->err, "headline");
    return error_fix(run->err, "say it in at most %d words; details belong into the body", HEADLINE_WORDS);
  }
  if (!in_body || in_body > BODY_CAP) {
    if (!in_body)
      error_set(run->err, STATUS_REFUSED, "the body is empty");
    else
      error_set(run->err, STATUS_REFUSED, "the body has %zu words, at most %d are allowed", in_body, BODY_CAP);
    error_step(run->err, "atomic");
    return error_fix(run->err,
                     in_body ? "store each idea separately, or use capture_context_v2" : "say what it is about");
  }
  return STATUS_OK;
}

static void lower_severity(struct tool_run *run, yyjson_mut_val *args) {
  struct str severity = result_text(args, "severity");
  yyjson_mut_obj_remove_key(args, "severity");
  if (!str_empty(severity))
    json_put(run->doc, args, "severity", arena_lower(run->arena, severity));
}

/* Like that system, reads a timestamp without a zone; it is UTC. */
static void add_zone(struct tool_run *run, yyjson_mut_val *args) {
  struct str ttl = str_trim(result_text(args, "ttl")), zoned = arena_printf(run->arena, "%.*sZ", STR_ARG(ttl));
  int64_t ms;
  if (!time_parse(zoned, &ms))
    return;
  yyjson_mut_obj_remove_key(args, "ttl");
  json_put(run->doc, args, "ttl", zoned);
}

enum status openbrain2_prepare_remember(struct tool_run *run, yyjson_mut_val *args) {
  TRY(brain_prepare_write(run, args));
  add_zone(run, args);
  TRY(check_texts(run, json_str(run->args, "headline"), json_str(run->args, "body")));
  lower_severity(run, args);
  TRY(brain_skill_args(run, args));
  json_put_bool(run->doc, args, "keep_fields", true); /* a duplicate is reported, and changes nothing */
  return STATUS_OK;
}

enum status openbrain2_prepare_task(struct tool_run *run, yyjson_mut_val *args) {
  TRY(brain_prepare_write(run, args));
  json_put_bool(run->doc, args, "keep_fields", true);
  if (!str_empty(str_trim(json_str(run->args, "content"))))
    return STATUS_OK;
  error_set(run->err, STATUS_REFUSED, "the content is empty");
  error_step(run->err, "atomic");
  return error_fix(run->err, "say what is to be done");
}

enum status openbrain2_prepare_incident(struct tool_run *run, yyjson_mut_val *args) {
  size_t i, n;
  yyjson_val *id;
  yyjson_mut_val *links = yyjson_mut_arr(run->doc);
  yyjson_arr_foreach(yyjson_obj_get(run->args, "linked_rule_ids"), i, n, id) {
    json_add_str(run->doc, links, arena_printf(run->arena, "%lld", (long long)yyjson_get_sint(id)));
  }
  if (yyjson_mut_arr_size(links))
    yyjson_mut_obj_add_val(run->doc, args, "links", links);
  return openbrain2_prepare_remember(run, args);
}

/* ---- duplicates ---- */

static void put_duplicate(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *existing, int64_t id,
                          double similarity) {
  struct str kind = result_text(existing, "kind");
  json_put_bool(run->doc, to, "duplicate", true);
  json_put(run->doc, to, "kind", kind);
  json_put_int(run->doc, to, "existing_id", id);
  json_put_num(run->doc, to, "similarity", json_round(similarity, 4));
  result_copy(run, to, "existing_headline", existing, "headline");
  json_put(
      run->doc, to, "hint",
      arena_printf(run->arena,
                   "route to supersede_rule_v2(old_id=%lld, new_headline=..., new_body=..., reason=...) instead of "
                   "creating a parallel %.*s",
                   (long long)id, STR_ARG(kind)));
  json_put_num(run->doc, to, "threshold", str_is(kind, kind_names[KIND_RULE]) ? SIMILARITY_NEAR : SIMILARITY_SAME);
}

void openbrain2_error(struct tool_run *run, const struct error *err) {
  struct error e = *err;
  yyjson_mut_val *existing = NULL;
  bool corrects = run->tool->op && strcmp(run->tool->op, "supersede") == 0; /* then the old memory still stands */
  if (!corrects && e.code == STATUS_DUPLICATE && e.about && brain_look(run, e.about, &existing) == STATUS_OK) {
    run->result = yyjson_mut_obj(run->doc);
    put_duplicate(run, run->result, existing, e.about, e.similarity);
    run->is_error = false;
    return;
  }
  *run->err = e;
  brain_error(run, &e);
  if (e.code == STATUS_NOT_FOUND && run->tool->op && strcmp(run->tool->op, "skill load") == 0)
    json_put(run->doc, run->result, "blocked_by", STR("not_found"));
}

/* ---- results of writes ---- */

/* Rules below the threshold of a duplicate, as a search by the text of the new one finds them. */
static yyjson_mut_val *similar_rules(struct tool_run *run, yyjson_mut_val *stored) {
  enum { SHOWN = 5 };
  static const double least = 0.62;
  static const struct shape rows[] = {COPY("id headline"), CALL(brain_put_similarity), COPY("untrusted"), {0}};
  struct error *outer = run->err, ignored;
  yyjson_mut_val *args = new_args(run), *found = NULL, *m, *list = yyjson_mut_arr(run->doc);
  struct str headline = json_str(run->args, "headline"), body = json_str(run->args, "body");
  json_put(run->doc, args, "query", arena_printf(run->arena, "%.*s. %.*s", STR_ARG(headline), STR_ARG(body)));
  json_put(run->doc, args, "kind", str_from(kind_names[KIND_RULE]));
  json_put(run->doc, args, "detail", STR("headline"));
  json_put_bool(run->doc, args, "explain", true);
  json_put_int(run->doc, args, "limit", 2 * SHOWN);
  brain_project(run, args, BRAIN_WRITES);
  run->err = &ignored;
  enum status s = tool_op(run, "search", args, &found);
  run->err = outer;
  size_t i, n;
  yyjson_mut_arr_foreach(s == STATUS_OK ? yyjson_mut_obj_get(found, "results") : NULL, i, n, m) {
    double similarity = brain_num(yyjson_mut_obj_get(m, "parts"), "similarity", 0);
    if (similarity >= least && brain_int(m, "id", 0) != brain_int(stored, "id", 0) && yyjson_mut_arr_size(list) < SHOWN)
      yyjson_mut_arr_append(list, shape_object(run, m, rows));
  }
  return list;
}

static yyjson_mut_val *warned_of(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *list = yyjson_mut_obj_get(near_warning(brain_plain(run, result)), "memories");
  return list ? yyjson_mut_val_mut_copy(run->doc, list) : NULL;
}

static void put_neighbours(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  yyjson_mut_val *list = warned_of(run, result), *extra;
  if (!list && str_is(result_text(result, "kind"), kind_names[KIND_RULE]))
    list = similar_rules(run, result);
  if (!yyjson_mut_arr_size(list))
    return;
  extra = json_put_obj(run->doc, to, "extra");
  yyjson_mut_obj_add_val(run->doc, extra, "similar_existing", list);
  json_put(run->doc, extra, "hint",
           STR("This is close to what is stored already. If they conflict, supersede the wrong one with "
               "supersede_rule_v2(old_id, new_headline, new_body, reason)."));
}

static void put_skipped(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  put_duplicate(run, to, result, brain_int(result, "id", 0), brain_num(result, "similarity", 1));
}

/* Without the body: the caller has just sent it, and recall_v2 shows it. */
#define WRITTEN COPY("kind id memory_id=id headline project untrusted"), UPPER("severity"), CALL(openbrain2_put_links)

const struct shape openbrain2_remember_shape[] = {
    WHEN("action=skipped", CALL(put_skipped)), UNLESS("action=skipped", SUCCESS, WRITTEN, CALL(put_neighbours)), {0}};

enum status openbrain2_finish_capture(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run), *m;
  yyjson_mut_val *list = yyjson_mut_arr(run->doc);
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "memories"), i, n, m) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, list), *why = yyjson_mut_obj_get(m, "error");
    struct str code = result_text(why, "code"), action = result_text(m, "action");
    bool known = str_is(code, "duplicate") || str_is(action, "skipped");
    result_copy(run, v, "kind", m, "kind");
    if (why)
      result_copy(run, v, "id", why, "memory");
    else
      result_copy(run, v, "id", m, "id");
    result_copy(run, v, "headline", m, "headline");
    json_put(run->doc, v, "action",
             known                                               ? STR("duplicate")
             : str_is(code, "refused") || str_is(code, "secret") ? STR("rejected")
             : why                                               ? STR("error")
                                                                 : STR("stored"));
    result_copy(run, v, "similarity", known && why ? why : m, "similarity");
    if (why && !known)
      result_copy(run, v, "reason", why, "message");
    if (known)
      json_put(run->doc, v, "hint",
               arena_printf(run->arena, "supersede_rule_v2(old_id=%lld, new_headline=..., new_body=..., reason=...)",
                            (long long)brain_int(v, "id", 0)));
  }
  json_put_int(run->doc, to, "memories_stored", brain_int(result, "stored", 0));
  json_put_int(run->doc, to, "total_chunks", (int64_t)yyjson_mut_arr_size(list));
  yyjson_mut_obj_add_val(run->doc, to, "stored", list);
  return STATUS_OK;
}

/* ---- supersede, tasks ---- */

enum status openbrain2_prepare_supersede(struct tool_run *run, yyjson_mut_val *args) {
  TRY(brain_source(run, false));
  TRY(check_texts(run, json_str(run->args, "new_headline"), json_str(run->args, "new_body")));
  brain_drop_empty(args);
  brain_project(run, args, BRAIN_KEEPS);
  lower_severity(run, args);
  return brain_supersede_skill(run, args);
}

const struct shape openbrain2_supersede_shape[] = {SUCCESS, WRITTEN, CALL(brain_put_not_inherited), {0}};
const struct shape openbrain2_status_shape[] = {SUCCESS, COPY("task_id=id status"), {0}};
