/* brain.c: helpers shared by the profiles openbrain and openbrain2. */
#include "mcp/profiles/openbrain/brain.h"

#include "base/utf8.h"

/* ---- members of a result ---- */

struct str brain_str(yyjson_mut_val *obj, const char *name) {
  yyjson_mut_val *v = yyjson_mut_obj_get(obj, name);
  return yyjson_mut_is_str(v) ? (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)} : STR_NONE;
}

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

yyjson_mut_val *brain_args(struct tool_run *run) { return yyjson_mut_obj(run->doc); }

yyjson_mut_val *brain_success(struct tool_run *run) {
  run->result = yyjson_mut_obj(run->doc);
  json_put_bool(run->doc, run->result, "success", true);
  return run->result;
}

void brain_copy(struct tool_run *run, yyjson_mut_val *to, const char *name, yyjson_mut_val *from, const char *member) {
  yyjson_mut_val *v = yyjson_mut_obj_get(from, member);
  if (v)
    yyjson_mut_obj_add_val(run->doc, to, name, yyjson_mut_val_mut_copy(run->doc, v));
}

void brain_copy_list(struct tool_run *run, yyjson_mut_val *to, const char *name, yyjson_mut_val *from,
                     const char *member) {
  if (yyjson_mut_is_arr(yyjson_mut_obj_get(from, member)))
    brain_copy(run, to, name, from, member);
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

struct str brain_preview(struct str text, size_t characters) {
  size_t at = 0;
  for (size_t i = 0; i < characters && at < text.n; i++)
    utf8_next(text, &at);
  return (struct str){text.p, at};
}

struct str brain_upper(struct tool_run *run, struct str text) {
  struct str copy = arena_dup(run->arena, text);
  char *p = (char *)(uintptr_t)copy.p;
  for (size_t i = 0; i < copy.n; i++)
    p[i] = p[i] >= 'a' && p[i] <= 'z' ? (char)(p[i] - 32) : p[i];
  return copy;
}

int64_t brain_now(const struct tool_run *run) { return clock_now(&run->engine->clock); }

struct str brain_time(struct tool_run *run, int64_t ms) {
  char text[TIME_TEXT_SIZE];
  return arena_dup(run->arena, time_format(ms, text));
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

void brain_skill_args(struct tool_run *run, yyjson_mut_val *args) {
  static const char *const lists[][2] = {{"keywords", "skill_keywords"}, {"projects", "skill_projects"}};
  yyjson_val *skill = yyjson_obj_get(run->args, "skill_trigger");
  if (!yyjson_is_obj(skill) || str_empty(json_str(skill, "name")))
    return;
  json_put(run->doc, args, "skill_name", json_str(skill, "name"));
  for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
    struct strs list = {0};
    json_strs(run->arena, skill, lists[i][0], &list);
    if (list.n)
      json_put_strs(run->doc, args, lists[i][1], &list);
  }
  json_put_bool(run->doc, args, "skill_always_on", json_bool(skill, "always_on", false));
}

void brain_put_skill(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory) {
  struct str name = brain_str(memory, "skill_name");
  if (!name.p) {
    brain_null(run, to, "skill_trigger");
    return;
  }
  yyjson_mut_val *skill = json_put_obj(run->doc, to, "skill_trigger");
  json_put(run->doc, skill, "name", name);
  brain_copy_list(run, skill, "keywords", memory, "skill_keywords");
  brain_copy_list(run, skill, "projects", memory, "skill_projects");
  json_put_bool(run->doc, skill, "always_on", brain_bool(memory, "skill_always_on"));
}

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

/* ---- memories ---- */

enum status brain_look(struct tool_run *run, int64_t id, yyjson_mut_val **ret_memory) {
  yyjson_mut_val *args = brain_args(run), *result = NULL, *m;
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
    struct str text = brain_str(note, "text");
    if (b.n)
      buf_addc(&b, '\n');
    buf_add(&b, text.p ? text : STR(""));
  }
  return buf_str(&b);
}

bool brain_pinned(yyjson_mut_val *memory) { return str_is(brain_str(memory, "delivery"), "pinned"); }

enum status brain_refuse_global_pin(struct tool_run *run) {
  error_set(run->err, STATUS_CONFLICT, "Cannot pin a global memory: a pin belongs to a project");
  return error_fix(run->err, "store this memory again with a project, and pin that one");
}
