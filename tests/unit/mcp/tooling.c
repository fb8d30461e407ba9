/* tooling.c: store and caller for tests of tools. */
#include "tooling.h"

#include "support/harness.h"
#include "support/proc.h"
#include "support/schema_check.h"
#include "support/store.h"

struct arena tooling_arena;
struct error tooling_error;
struct str tooling_trust = STR("user");
struct str tooling_project = STR("");

struct engine *tooling_engine(void) {
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  struct engine_options o = {.path = test_store("tools.db"), .clock = {.fixed = 1763208000000}};
  struct engine *e = NULL;
  CHECK_OK(engine_open(&o, &e, &tooling_error), &tooling_error);
  return e;
}

enum status tooling_call(struct tool_run *run, const struct profile *profile, struct engine *engine, const char *tool,
                         const char *json) {
  bool confirmed = run->confirmed;
  *run = (struct tool_run){
      .profile = profile,
      .tool = tool_find(profile, str_from(tool)),
      .engine = engine,
      .caller = {.team = STR("default"), .project = tooling_project, .source = STR("test"), .trust = tooling_trust},
      .arena = &tooling_arena,
      .doc = json_new(&tooling_arena),
      .confirmed = confirmed,
      .err = &tooling_error};
  if (!run->tool)
    FAIL("no tool %s", tool);
  CHECK_OK(json_read(&tooling_arena, str_from(json), &run->args, &tooling_error), &tooling_error);
  enum status s = tool_call(run);
  if (s == STATUS_OK && run->result && !(run->is_error && run->tool->output)) {
    yyjson_val *content = NULL;
    struct error unread;
    CHECK_OK(json_read(&tooling_arena, json_write(&tooling_arena, run->result, false), &content, &unread), &unread);
    check_answer(__FILE__, __LINE__, profile, run->tool, run->action ? run->action->op : run->tool->op, content);
  }
  return s;
}

yyjson_mut_val *tooling_ok(struct tool_run *run, const struct profile *profile, struct engine *engine, const char *tool,
                           const char *json) {
  CHECK_OK(tooling_call(run, profile, engine, tool, json), &tooling_error);
  if (run->is_error)
    FAIL("%s %s: %.*s", tool, json, STR_ARG(run->text));
  CHECK(yyjson_mut_is_obj(run->result));
  return run->result;
}

bool tooling_has(struct str text, const char *part) { return str_find(text, str_from(part), 0) != SIZE_MAX; }
