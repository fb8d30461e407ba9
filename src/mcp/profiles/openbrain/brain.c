/* brain.c: helpers shared by the profiles openbrain and openbrain2. */
#include "mcp/profiles/openbrain/brain.h"

#include <assert.h>

#include "op/access/authenticate.h"

/* ---- members of a result ---- */

int64_t brain_int(yyjson_mut_val *obj, const char *name, int64_t missing) {
  yyjson_mut_val *v = yyjson_mut_obj_get(obj, name);
  return yyjson_mut_is_int(v) ? yyjson_mut_get_sint(v) : missing;
}

double brain_num(yyjson_mut_val *obj, const char *name, double missing) {
  yyjson_mut_val *v = yyjson_mut_obj_get(obj, name);
  return yyjson_mut_is_num(v) ? yyjson_mut_get_num(v) : missing;
}

bool brain_bool(yyjson_mut_val *obj, const char *name) { return yyjson_mut_get_bool(yyjson_mut_obj_get(obj, name)); }

size_t brain_count(yyjson_mut_val *obj, const char *name) { return yyjson_mut_arr_size(yyjson_mut_obj_get(obj, name)); }

/* ---- building ---- */

yyjson_mut_val *brain_success(struct tool_run *run) {
  run->result = yyjson_mut_obj(run->doc);
  json_put_bool(run->doc, run->result, "success", true);
  return run->result;
}

void brain_copy_list(struct tool_run *run, yyjson_mut_val *to, const char *name, yyjson_mut_val *from,
                     const char *member) {
  if (yyjson_mut_is_arr(yyjson_mut_obj_get(from, member)))
    result_copy(run, to, name, from, member);
  else
    json_put_arr(run->doc, to, name);
}

void brain_null(struct tool_run *run, yyjson_mut_val *to, const char *name) {
  yyjson_mut_obj_add_null(run->doc, to, name);
}

yyjson_mut_val *brain_plain(struct tool_run *run, yyjson_mut_val *result) {
  struct error ignored;
  yyjson_val *read = NULL;
  if (json_read(run->arena, json_write(run->arena, result, false), &read, &ignored) != STATUS_OK)
    return result;
  return yyjson_val_mut_copy(run->doc, read);
}

struct str brain_upper(struct tool_run *run, struct str text) {
  struct str copy = arena_dup(run->arena, text);
  char *p = (char *)(uintptr_t)copy.p;
  for (size_t i = 0; i < copy.n; i++)
    p[i] = p[i] >= 'a' && p[i] <= 'z' ? (char)(p[i] - 32) : p[i];
  return copy;
}

/* ---- arguments ---- */

enum status brain_source(struct tool_run *run, bool required) {
  struct str source = str_trim(json_str(run->args, "source"));
  if (!str_empty(source)) {
    run->caller.source = source;
    return STATUS_OK;
  }
  if (!required)
    return STATUS_OK;
  error_set(run->err, STATUS_USAGE, "source is required for %s", run->tool->name);
  error_step(run->err, "source_required");
  return error_fix(run->err, "repeat the call with your name, for example source=\"claude\"");
}

void brain_session(struct tool_run *run) {
  int64_t id = json_int(run->args, "session_id", 0);
  if (id > 0)
    run->caller.session = arena_printf(run->arena, "%lld", (long long)id);
}

void brain_project(struct tool_run *run, yyjson_mut_val *args, enum brain_scope scope) {
  struct str project = json_str(run->args, "project");
  assert(scope <= BRAIN_KEEPS);
  yyjson_mut_obj_remove_key(args, "project");
  if (!str_empty(project))
    json_put(run->doc, args, "project", project);
  if (scope == BRAIN_KEEPS && str_empty(project))
    run->caller.project_given = false;
  if (scope == BRAIN_KEEPS || !str_empty(project) || run->caller.project_given)
    return;
  if (scope == BRAIN_READS)
    json_put_bool(run->doc, args, "all_projects", true);
  else
    json_put(run->doc, args, "project", STR(""));
}

struct str brain_project_name(const struct tool_run *run) {
  struct str project = json_str(run->args, "project");
  if (str_empty(project) && run->caller.project_given)
    project = run->caller.project;
  return project.p ? project : STR("");
}

void brain_drop_empty(yyjson_mut_val *args) {
  yyjson_mut_obj_iter it = yyjson_mut_obj_iter_with(args);
  yyjson_mut_val *key;
  while ((key = yyjson_mut_obj_iter_next(&it))) {
    yyjson_mut_val *v = yyjson_mut_obj_iter_get_val(key);
    bool empty =
        (yyjson_mut_is_str(v) && yyjson_mut_get_len(v) == 0) || (yyjson_mut_is_arr(v) && yyjson_mut_arr_size(v) == 0);
    if (empty && !yyjson_mut_equals_str(key, "text") && !yyjson_mut_equals_str(key, "query"))
      yyjson_mut_obj_iter_remove(&it);
  }
}

bool brain_is_limited(const struct tool_run *run) {
  const struct principal *p = run->caller.principal;
  return p ? p->role != ROLE_ADMIN : run->engine->agent[0] != 0;
}

static bool is_absent(yyjson_val *v) { return !v || yyjson_is_null(v); }

/* A skill that could not be found later is refused, not stored without its trigger. */
static enum status check_trigger(struct tool_run *run, yyjson_val *skill) {
  yyjson_val *always_on = yyjson_obj_get(skill, "always_on");
  static const char *const lists[] = {"keywords", "projects"};
  const char *wrong = str_empty(str_trim(json_str(skill, "name"))) ? "has no name" : NULL;
  for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
    yyjson_val *list = yyjson_obj_get(skill, lists[i]);
    if (!is_absent(list) && !yyjson_is_arr(list))
      wrong = i == 0 ? "has keywords that are not a list" : "has projects that are not a list";
  }
  if (!is_absent(always_on) && !yyjson_is_bool(always_on))
    wrong = "has an always_on that is not true or false";
  if (!wrong)
    return STATUS_OK;
  error_set(run->err, STATUS_USAGE, "skill_trigger %s", wrong);
  return error_fix(run->err, "for example {\"name\": \"release\", \"keywords\": [\"release\", \"publish\"]}");
}

enum status brain_skill_args(struct tool_run *run, yyjson_mut_val *args) {
  static const char *const lists[][2] = {{"keywords", "skill_keywords"}, {"projects", "skill_projects"}};
  yyjson_val *skill = yyjson_obj_get(run->args, "skill_trigger");
  if (yyjson_obj_size(skill) == 0)
    return STATUS_OK;
  TRY(check_trigger(run, skill));
  json_put(run->doc, args, "skill_name", json_str(skill, "name"));
  for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
    struct strs list = {0};
    json_strs(run->arena, skill, lists[i][0], &list);
    if (i == 1 && !list.n && !brain_is_limited(run)) /* agents of a project cannot store a skill for others */
      strs_push(run->arena, &list, STR("*"));
    if (list.n)
      json_put_strs(run->doc, args, lists[i][1], &list);
  }
  json_put_bool(run->doc, args, "skill_always_on", json_bool(skill, "always_on", false));
  return STATUS_OK;
}

/* In these systems no project means every project. */
static void put_skill_projects(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  yyjson_mut_val *list = json_put_arr(run->doc, to, "projects"), *v;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(memory, "skill_projects"), i, n, v) {
    if (!yyjson_mut_equals_str(v, "*"))
      yyjson_mut_arr_append(list, yyjson_mut_val_mut_copy(run->doc, v));
  }
}

const struct shape brain_skill_shape[] = {OBJECT("skill_trigger", COPY("name=skill_name"),
                                                 LIST_OR_EMPTY("keywords=skill_keywords"), CALL(put_skill_projects),
                                                 BOOLEAN("always_on=skill_always_on")),
                                          {0}};
const struct shape brain_no_skill_shape[] = {FIXED("\"skill_trigger\":null"), {0}};

static enum status prepare(struct tool_run *run, yyjson_mut_val *args, enum brain_scope scope, bool with_source) {
  enum status s = brain_source(run, with_source);
  brain_drop_empty(args);
  brain_project(run, args, scope);
  return s;
}

enum status brain_prepare_read(struct tool_run *run, yyjson_mut_val *args) {
  return prepare(run, args, BRAIN_READS, false);
}
enum status brain_prepare_write(struct tool_run *run, yyjson_mut_val *args) {
  return prepare(run, args, BRAIN_WRITES, false);
}
enum status brain_prepare_read_signed(struct tool_run *run, yyjson_mut_val *args) {
  return prepare(run, args, BRAIN_READS, true);
}
enum status brain_prepare_write_signed(struct tool_run *run, yyjson_mut_val *args) {
  return prepare(run, args, BRAIN_WRITES, true);
}

static bool is_skill_here(const struct tool_run *run, yyjson_mut_val *memory) {
  yyjson_mut_val *projects = yyjson_mut_obj_get(memory, "skill_projects"), *v;
  struct str project = brain_project_name(run);
  bool here = yyjson_mut_arr_size(projects) == 0;
  size_t i, n;
  yyjson_mut_arr_foreach(projects, i, n, v) {
    here |= yyjson_mut_equals_str(v, "*") || yyjson_mut_equals_strn(v, project.p, project.n);
  }
  return here;
}

enum status brain_check_skill(struct tool_run *run, yyjson_mut_val *memory) {
  if (is_skill_here(run, memory))
    return STATUS_OK;
  return error_set(run->err, STATUS_NOT_FOUND, "no skill '%.*s' here", STR_ARG(json_str(run->args, "name")));
}

bool brain_needs_keyword(const struct tool_run *run, yyjson_mut_val *memory) {
  bool always_on = brain_bool(memory, "skill_always_on");
  return result_text(memory, "skill_name").p && !(always_on && is_skill_here(run, memory));
}

enum status brain_supersede_skill(struct tool_run *run, yyjson_mut_val *args) {
  TRY(brain_skill_args(run, args));
  if (!result_text(args, "skill_name").p)
    json_put_bool(run->doc, args, "inherit_skill", true);
  return STATUS_OK;
}

enum status brain_prepare_prune(struct tool_run *run, yyjson_mut_val *args) {
  json_put_bool(run->doc, args, "apply", !json_bool(run->args, "dry_run", true));
  brain_project(run, args, BRAIN_READS);
  return STATUS_OK;
}

enum status brain_prepare_annotate(struct tool_run *run, yyjson_mut_val *args) {
  brain_drop_empty(args);
  if (json_bool(run->args, "clear", false))
    yyjson_mut_obj_remove_key(args, "note");
  return STATUS_OK;
}

static int64_t clamp(int64_t n, int64_t most) { return n < 1 ? 1 : n > most ? most : n; }

int64_t brain_limit(const struct tool_run *run, int64_t missing, int64_t most) {
  assert(missing >= 1 && missing <= most);
  int64_t limit = json_int(run->args, "limit", missing);
  return limit < 1 ? missing : clamp(limit, most);
}

void brain_put_days(struct tool_run *run, yyjson_mut_val *args, const char *name, const char *arg) {
  enum { DAYS_MAX = 36500 };
  int64_t days = json_int(run->args, name, 0);
  if (days > 0)
    json_put(run->doc, args, arg, arena_printf(run->arena, "%lldd", (long long)clamp(days, DAYS_MAX)));
}

/* ---- memories ---- */

enum status brain_look(struct tool_run *run, int64_t id, yyjson_mut_val **ret_memory) {
  yyjson_mut_val *args = new_args(run), *result = NULL, *m;
  json_put(run->doc, args, "id", arena_printf(run->arena, "%lld", (long long)id));
  TRY(tool_op(run, "history", args, &result));
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "chain"), i, n, m) {
    if (brain_int(m, "id", 0) == id) {
      *ret_memory = m;
      return STATUS_OK;
    }
  }
  return error_set(run->err, STATUS_NOT_FOUND, "no memory '%lld'", (long long)id);
}

struct str brain_annotation(struct tool_run *run, yyjson_mut_val *memory) {
  struct buf b = BUF(run->arena);
  size_t i, n;
  yyjson_mut_val *note;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(memory, "annotations"), i, n, note) {
    struct str text = result_text(note, "text");
    if (b.n)
      buf_addc(&b, '\n');
    buf_add(&b, text.p ? text : STR(""));
  }
  return buf_str(&b);
}

void brain_put_annotation(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  struct str note = brain_annotation(run, memory);
  if (!str_empty(note))
    json_put(run->doc, to, "annotation", note);
}

void brain_put_score(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  json_put_int(run->doc, to, "score", brain_int(memory, "upvotes", 0) - brain_int(memory, "downvotes", 0));
}

void brain_put_similarity(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  double semantic = brain_num(yyjson_mut_obj_get(memory, "parts"), "similarity", 0);
  json_put_num(run->doc, to, "similarity", json_round(semantic > 0 ? semantic : brain_num(memory, "score", 0), 4));
}

bool brain_pinned(yyjson_mut_val *memory) { return str_is(result_text(memory, "delivery"), "pinned"); }

/* A memory names the trust of its writer; a warning of a checkpoint only the agent that wrote it. */
static bool is_by_person(yyjson_mut_val *memory) {
  struct str trust = result_text(memory, "trust");
  return trust.p ? str_is(trust, "user") : !result_text(memory, "author").p;
}

int64_t brain_persons_first(struct tool_run *run, yyjson_mut_val *list, size_t most) {
  yyjson_mut_val *parts[] = {yyjson_mut_arr(run->doc), yyjson_mut_arr(run->doc)}, *m;
  size_t total = yyjson_mut_arr_size(list);
  assert(most > 0);
  while ((m = yyjson_mut_arr_remove_first(list)))
    yyjson_mut_arr_append(parts[!is_by_person(m)], m);
  for (size_t i = 0; i < ARRAY_LEN(parts); i++)
    while (yyjson_mut_arr_size(list) < most && (m = yyjson_mut_arr_remove_first(parts[i])))
      yyjson_mut_arr_append(list, m);
  return (int64_t)(total - yyjson_mut_arr_size(list));
}

void brain_put_omitted(struct tool_run *run, yyjson_mut_val *to, const char *name, int64_t count, struct str call) {
  yyjson_mut_obj_remove_key(to, name);
  if (!count)
    return;
  yyjson_mut_val *v = json_put_obj(run->doc, to, name);
  json_put_int(run->doc, v, "count", count);
  json_put(run->doc, v, "call", call);
}

static bool is_newer(yyjson_mut_val *x, yyjson_mut_val *y) {
  int order = str_cmp(result_text(x, "created_at"), result_text(y, "created_at"));
  return order > 0 || (order == 0 && brain_int(x, "id", 0) > brain_int(y, "id", 0));
}

yyjson_mut_val *brain_next_newest(yyjson_mut_val *a, size_t *i, yyjson_mut_val *b, size_t *k) {
  yyjson_mut_val *x = yyjson_mut_arr_get(a, *i), *y = yyjson_mut_arr_get(b, *k);
  bool first = x && (!y || is_newer(x, y));
  assert(*i <= yyjson_mut_arr_size(a) && *k <= yyjson_mut_arr_size(b));
  if (first)
    (*i)++;
  else if (y)
    (*k)++;
  return first ? x : y;
}

enum status brain_refuse_global_pin(struct tool_run *run) {
  error_set(run->err, STATUS_CONFLICT, "Cannot pin a global memory: a pin belongs to a project");
  return error_fix(run->err, "store this memory again with a project, and pin that one");
}

void brain_put_not_inherited(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  yyjson_mut_val *w, *list = NULL;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "warnings"), i, n, w) {
    if (!str_is(result_text(w, "code"), "not_inherited"))
      continue;
    if (!list)
      list = json_put_arr(run->doc, to, "not_inherited");
    json_add_str(run->doc, list, result_text(w, "message"));
  }
}
