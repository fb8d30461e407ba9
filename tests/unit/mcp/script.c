/* script.c: scripted conversation with a profile. */
#include "script.h"

#include "base/utf8.h"
#include "support/proc.h"
#include "support/schema_check.h"
#include "support/store.h"

static struct arena arena;
static struct error err;
static struct engine *engine;
static const struct profile *profile;
static struct origin origin;
static bool called[200];
static const char *project;

void script_open(const char *name) {
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  struct engine_options o = {.path = test_store("script.db"), .clock = {.fixed = 1763208000000}};
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  profile = profile_find(str_from(name));
  CHECK(profile);
  script_as("one");
}

void script_close(void) { engine_close(&engine); }
void script_wait(int64_t ms) { engine->clock.fixed += ms; }
void script_as(const char *connection) { origin = (struct origin){.connection = str_from(connection)}; }

void script_in(const char *name) { project = name; }

static enum status call(struct tool_run *run, const char *tool, const char *args) {
  *run = (struct tool_run){.profile = profile,
                           .tool = tool_find(profile, str_from(tool)),
                           .engine = engine,
                           .caller = {.team = STR("default"),
                                      .project = project ? str_from(project) : STR(""),
                                      .project_given = project != NULL,
                                      .source = STR("agent"),
                                      .trust = STR("agent"),
                                      .origin = &origin},
                           .arena = &arena,
                           .doc = json_new(&arena),
                           .err = &err};
  test_note("%s %s", tool, args);
  if (!run->tool)
    FAIL("no tool %s", tool);
  called[run->tool - profile->tools] = true;
  CHECK_OK(json_read(&arena, str_from(args), &run->args, &err), &err);
  enum status s = tool_call(run);
  if (s == STATUS_OK && run->result && !(run->is_error && run->tool->output)) {
    yyjson_val *content = NULL;
    struct error unread;
    CHECK_OK(json_read(&arena, json_write(&arena, run->result, false), &content, &unread), &unread);
    check_answer(__FILE__, __LINE__, profile, run->tool, run->action ? run->action->op : run->tool->op, content);
  }
  return s;
}

static yyjson_mut_val *answer(const char *tool, const char *args, bool refused) {
  struct tool_run run;
  CHECK_OK(call(&run, tool, args), &err);
  if (run.is_error != refused)
    FAIL("%s %s: %.*s", tool, args, STR_ARG(run.text));
  CHECK(yyjson_mut_is_obj(run.result));
  CHECK(str_eq(run.text, json_write(&arena, run.result, false)));
  return run.result;
}

yyjson_mut_val *script_call(const char *tool, const char *args) { return answer(tool, args, false); }

yyjson_mut_val *script_refused(const char *tool, const char *args) {
  yyjson_mut_val *r = answer(tool, args, true);
  CHECK(yyjson_mut_is_false(yyjson_mut_obj_get(r, "success")));
  CHECK(!str_empty(result_text(r, "error")));
  return r;
}

void script_wrong(const char *tool, const char *args) {
  struct tool_run run;
  CHECK_STATUS(call(&run, tool, args), STATUS_USAGE);
}

yyjson_mut_val *script_op(const char *name, const char *args) {
  struct caller caller = {
      .team = STR("default"), .project = STR(""), .source = STR("agent"), .trust = STR("user"), .origin = &origin};
  yyjson_mut_val *result = NULL;
  yyjson_val *in = NULL;
  CHECK_OK(json_read(&arena, str_from(args), &in, &err), &err);
  CHECK_OK(op_run(engine, op_find(str_from(name)), &caller, NULL, &arena, in, &result, &err), &err);
  return result;
}

size_t script_tools(const char *names) {
  struct str rest = str_from(names), name;
  size_t n = 0, listed = 0;
  while (str_next(&rest, ' ', &name)) {
    const struct tool *t = tool_find(profile, name);
    if (!t || (t->flags & TOOL_HIDDEN))
      FAIL("%.*s is not listed", STR_ARG(name));
    n++;
  }
  for (const struct tool *t = profile->tools; t->name; t++)
    listed += !(t->flags & TOOL_HIDDEN);
  CHECK_INT(listed, n);
  return n;
}

yyjson_mut_val *script_at(yyjson_mut_val *obj, const char *list, size_t i) {
  yyjson_mut_val *v = yyjson_mut_arr_get(yyjson_mut_obj_get(obj, list), i);
  if (!v)
    FAIL("%s has no element %zu: %.*s", list, i, STR_ARG(json_write(&arena, obj, false)));
  return v;
}

yyjson_mut_val *script_with(yyjson_mut_val *obj, const char *list, const char *name, int64_t number) {
  size_t i, n;
  yyjson_mut_val *v;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(obj, list), i, n, v) {
    if (brain_int(v, name, -1) == number)
      return v;
  }
  return NULL;
}

bool script_is_null(yyjson_mut_val *obj, const char *name) { return yyjson_mut_is_null(yyjson_mut_obj_get(obj, name)); }

bool script_says(yyjson_mut_val *obj, const char *name, const char *part) {
  return str_find(result_text(obj, name), str_from(part), 0) != SIZE_MAX;
}

bool script_ends_with(yyjson_mut_val *text, const char *end) {
  size_t n = yyjson_mut_get_len(text), part = strlen(end);
  return n >= part && strcmp(yyjson_mut_get_str(text) + n - part, end) == 0;
}

void script_all_called(void) {
  for (const struct tool *t = profile->tools; t->name; t++)
    if (!called[t - profile->tools])
      FAIL("%s was not called", t->name);
}
