/* test_profile_default.c: default profile: small, and covers every operation of an agent. */
#include "core/text/token_count.h"
#include "mcp/tools/tool.h"
#include "support/harness.h"
#include "tooling.h"

enum { TOOLS_MAX = 10, TOKENS_MAX = 2000, NAME_MAX_LENGTH = 24, INSTRUCTIONS_MAX = 2048 };

/* All of it is sent with every conversation. */
TEST(definitions_and_instructions_are_small) {
  const struct profile *p = profiles[0];
  CHECK(strcmp(p->name, "default") == 0);
  size_t n = 0, total = tokens_estimate(str_from(p->instructions)), bytes = strlen(p->instructions);
  struct buf sizes = BUF(&tooling_arena);
  for (const struct tool *t = p->tools; t->name; t++, n++) {
    struct str json = json_write(&tooling_arena, tool_definition(json_new(&tooling_arena), p, t), false);
    size_t tokens = tokens_estimate(json);
    buf_addf(&sizes, "%s %zu, ", t->name, tokens);
    total += tokens;
    bytes += json.n;
  }
  test_note("%.*s total %zu tokens, %zu bytes", STR_ARG(buf_str(&sizes)), total, bytes);
  CHECK(total < TOKENS_MAX);
  CHECK_INT(n, TOOLS_MAX);
  CHECK(strlen(p->instructions) <= INSTRUCTIONS_MAX);
}

TEST(names_are_short_and_plain) {
  for (const struct tool *t = profiles[0]->tools; t->name; t++) {
    test_note("%s", t->name);
    CHECK(strlen(t->name) <= NAME_MAX_LENGTH);
    for (const char *c = t->name; *c; c++)
      CHECK((*c >= 'a' && *c <= 'z') || *c == '_');
  }
}

/* Operations without a tool, and why. */
static const struct {
  const char *op, *why;
} left_out[] = {
    {"export", "writes a file, or more than a model can read"},
    {"import", "reads a file"},
    {"transcript import", "reads files"},
    {"backup", "writes a file"},
    {"restore", "reads a file; replaces everything"},
    {"migrate", "copies the whole store to another place"},
    {"doctor", "repairs the store: for its operator"},
    {"eval", "reads folders"},
    {"model convert", "reads and writes files"},
    {"model show", "reads a file"},
    {"task sync", "writes a file"},
    {"sync", "writes a file"},
    {"extract", "reads a folder and writes a file"},
    {"page", "the resource cairn://memory.md"},
    {"source ", "reads folders"},
    {"file ", "the tool of the profile anthropic"},
    {"vault ", "state of programs; the profile openhive has it"},
    {"graph ", "the tools of the profile graph"},
    {"transcript ", "for the program that runs the conversation; the profile full has it"},
    {"agent ", "access control is for the operator of the store"},
    {"token ", "authentication is for the operator of the store"},
    {"team ", "teams are for the operator of the store"},
};

static const char *why_left_out(const char *op) {
  for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
    struct str name = str_from(left_out[i].op);
    if (name.p[name.n - 1] == ' ' ? str_starts(str_from(op), name) : str_is(name, op))
      return left_out[i].why;
  }
  return NULL;
}

static bool reaches(const struct tool *t, const char *op) {
  if (t->op && strcmp(t->op, op) == 0)
    return true;
  for (const struct tool_action *x = t->actions; x && x->name; x++)
    if (strcmp(x->op, op) == 0)
      return true;
  return false;
}

TEST(every_operation_of_an_agent_has_a_tool) {
  EACH_OP(op) {
    bool found = false;
    for (const struct tool *t = profiles[0]->tools; t->name; t++)
      found = found || reaches(t, op->name);
    test_note("%s", op->name);
    CHECK(found != (why_left_out(op->name) != NULL));
  }
}

/* Arguments of operations that no tool takes: the server knows where the caller runs, only the user consents, files
 * belong to the server, and the tool engine sets budget and parts. */
static bool is_withheld(const struct param *p) {
  static const char *const names[] = {"pid",    "host",    "cwd",   "register", "confirm",  "follow",        "budget",
                                      "if_due", "only",    "value", "unset",    "rollback", "drop_previous", "max_ms",
                                      "status", "process", "ids",   "named",    NULL};
  for (const char *const *n = names; *n; n++)
    if (strcmp(p->name, *n) == 0)
      return true;
  return p->flags & PARAM_PATH;
}

static bool takes(const struct tool *t, const struct tool_action *x, const char *param) {
  struct str rest = str_from(x ? x->renames : NULL), pair;
  while (str_next(&rest, ' ', &pair))
    if (str_ends(pair, arena_printf(&tooling_arena, "=%s", param)))
      return true;
  for (const struct tool_arg *p = t->args; p->name; p++)
    if ((p->flags & ARG_SPREAD) || strcmp(p->to ? p->to : p->name, param) == 0)
      return true;
  return false;
}

static void check_taken(const struct tool *t, const struct tool_action *x, const char *op) {
  for (const struct param *p = op_find(str_from(op))->params; p->name; p++) {
    test_note("%s %s: %s", t->name, op, p->name);
    CHECK(is_withheld(p) || takes(t, x, p->name));
  }
}

TEST(every_argument_can_be_given) {
  for (const struct tool *t = profiles[0]->tools; t->name; t++) {
    if (t->op)
      check_taken(t, NULL, t->op);
    for (const struct tool_action *x = t->actions; x && x->name; x++)
      check_taken(t, x, x->op);
  }
}

/* ---- a conversation ---- */

static struct tool_run run;
static struct engine *engine;
static char handle[64];

static const struct origin origin = {
    .host = STR_INIT("test"), .connection = STR_INIT("c-1"), .client = STR_INIT("test")};

static enum status call_as_agent(const char *tool, const char *json) {
  run = (struct tool_run){.profile = profiles[0],
                          .tool = tool_find(profiles[0], str_from(tool)),
                          .engine = engine,
                          .caller = {.team = STR("default"),
                                     .project = STR("ship"),
                                     .source = STR("agent"),
                                     .trust = STR("agent"),
                                     .origin = &origin},
                          .arena = &tooling_arena,
                          .doc = json_new(&tooling_arena),
                          .err = &tooling_error};
  struct str text = str_from(json);
  size_t at = str_find(text, STR("$S"), 0);
  if (at != SIZE_MAX)
    text = arena_printf(&tooling_arena, "%.*s%s%s", (int)at, json, handle, json + at + 2);
  CHECK_OK(json_read(&tooling_arena, text, &run.args, &tooling_error), &tooling_error);
  return tool_call(&run);
}

static void agent(const char *tool, const char *json) {
  CHECK_OK(call_as_agent(tool, json), &tooling_error);
  if (run.is_error)
    FAIL("%s %s: %.*s", tool, json, STR_ARG(run.text));
}

static struct str said(const char *name) { return str_from(yyjson_mut_get_str(yyjson_mut_obj_get(run.result, name))); }

static void boot(void) {
  agent("memory_boot", "{\"task\":\"sail to the harbour\"}");
  struct str s = said("session");
  CHECK(s.n > 2 && s.n < sizeof(handle));
  memcpy(handle, s.p, s.n);
  handle[s.n] = 0;
}

TEST(a_conversation_from_boot_to_handoff) {
  engine = tooling_engine();
  agent("memory_store", "{\"text\":\"Never sail without a chart\",\"type\":\"guardrail\"}");
  boot();
  CHECK(tooling_has(run.text, "Never sail without a chart"));
  CHECK(tooling_has(run.text, handle));
  agent("memory_session", "{\"action\":\"task\",\"text\":\"rigging\",\"session\":\"$S\"}");
  CHECK_STR(said("task"), "rigging");
  agent("memory_session", "{\"action\":\"list\"}");
  CHECK_INT(yyjson_mut_arr_size(yyjson_mut_obj_get(run.result, "sessions")), 1);
  agent("memory_session", "{\"action\":\"scratch_set\",\"key\":\"port\",\"text\":\"left\",\"session\":\"$S\"}");
  agent("memory_session", "{\"action\":\"scratch_get\",\"key\":\"port\",\"session\":\"$S\"}");
  CHECK_STR(said("value"), "left");
  agent("memory_session", "{\"action\":\"scratch_list\",\"session\":\"$S\"}");
  agent("memory_session", "{\"action\":\"checkpoint\",\"text\":\"sail without a chart\",\"session\":\"$S\"}");
  CHECK(tooling_has(run.text, "Never sail without a chart"));
  agent("memory_session", "{\"action\":\"end\",\"text\":\"The mast is up.\",\"session\":\"$S\"}");
  boot();
  CHECK(tooling_has(run.text, "The mast is up."));
  engine_close(&engine);
}

TEST(pending_items_are_answered_through_the_tools) {
  engine = tooling_engine();
  agent("memory_session", "{\"action\":\"add\",\"text\":\"Renew the licence\"}");
  boot();
  CHECK_OK(call_as_agent("memory_store", "{\"text\":\"The sails are white\",\"session\":\"$S\"}"), &tooling_error);
  CHECK(run.is_error);
  CHECK(
      tooling_has(run.text, "memory_session {\"action\":\"ack\",\"id\":1,\"fields\":{\"decision\":\"will_execute\"}}"));
  CHECK(!tooling_has(run.text, "cairn "));
  agent("memory_session", "{\"action\":\"actions\"}");
  CHECK(tooling_has(run.text, "Renew the licence"));
  agent("memory_session",
        "{\"action\":\"ack\",\"id\":\"1\",\"decision\":\"already_done\",\"fields\":{\"reason\":\"renewed in May\"},"
        "\"session\":\"$S\"}");
  agent("memory_store", "{\"text\":\"The sails are white\",\"session\":\"$S\"}");
  engine_close(&engine);
}

TEST(every_action_of_correction_works) {
  engine = tooling_engine();
  agent("memory_store", "{\"text\":\"The harbour master is Ada\",\"key\":\"master\"}");
  agent("memory_store", "{\"text\":\"The chandler sells rope and tar\"}");
  agent("memory_correct", "{\"action\":\"annotate\",\"id\":1,\"text\":\"until June\"}");
  agent("memory_correct", "{\"action\":\"rate\",\"id\":1,\"text\":\"up\"}");
  agent("memory_correct", "{\"action\":\"pin\",\"id\":\"master\"}");
  agent("memory_correct", "{\"action\":\"unpin\",\"id\":1}");
  agent("memory_correct", "{\"action\":\"promote\",\"id\":1}");
  agent("memory_correct", "{\"action\":\"link\",\"id\":1,\"rel\":\"relates\",\"to\":2}");
  agent("memory_correct", "{\"action\":\"unlink\",\"id\":1,\"rel\":\"relates\",\"to\":\"2\"}");
  agent("memory_correct",
        "{\"action\":\"supersede\",\"id\":1,\"text\":\"The harbour master is Grace\",\"reason\":\"new\","
        "\"fields\":{\"inherit_key\":true}}");
  agent("memory_get", "{\"action\":\"history\",\"id\":1}");
  CHECK_INT(yyjson_mut_arr_size(yyjson_mut_obj_get(run.result, "chain")), 2);
  agent("memory_correct", "{\"action\":\"unsupersede\",\"id\":1}");
  agent("memory_correct", "{\"action\":\"forget\",\"id\":2,\"reason\":\"closed down\"}");
  int64_t txn = yyjson_mut_get_sint(yyjson_mut_obj_get(run.result, "txn"));
  agent("memory_correct", arena_printf(&tooling_arena, "{\"action\":\"undo\",\"id\":%lld}", (long long)txn).p);
  agent("memory_get", "{\"id\":2}");
  CHECK_STR(said("state"), "active");
  CHECK_STATUS(call_as_agent("memory_correct", "{\"action\":\"purge\",\"id\":2}"), STATUS_CONFIRM);
  CHECK(!tooling_has(str_from(tooling_error.fix), "--") && !tooling_has(str_from(tooling_error.fix), "cairn"));
  /* An agent cannot consent for the user. */
  CHECK_STATUS(call_as_agent("memory_correct", "{\"action\":\"purge\",\"id\":2,\"confirm\":true}"), STATUS_USAGE);
  CHECK_OK(call_as_agent("memory_correct", "{\"action\":\"purge\",\"id\":2,\"fields\":{\"confirm\":true}}"),
           &tooling_error);
  CHECK(run.is_error);
  engine_close(&engine);
}

TEST(tasks_and_the_store_through_the_tools) {
  engine = tooling_engine();
  agent("memory_task", "{\"action\":\"add\",\"text\":\"Paint the hull\",\"priority\":\"high\"}");
  agent("memory_task", "{\"action\":\"add\",\"text\":\"Launch the boat\",\"fields\":{\"blocked_by\":\"1\"}}");
  agent("memory_task", "{\"action\":\"ready\"}");
  CHECK_INT(yyjson_mut_arr_size(yyjson_mut_obj_get(run.result, "tasks")), 1);
  agent("memory_task", "{\"action\":\"unblock\",\"id\":2,\"by\":1}");
  agent("memory_task", "{\"action\":\"block\",\"id\":2,\"by\":1}");
  agent("memory_task", "{\"action\":\"claim\",\"id\":1,\"by\":\"ada\"}");
  agent("memory_task", "{\"action\":\"status\",\"id\":1,\"status\":\"done\"}");
  agent("memory_task", "{\"action\":\"list\"}");
  static const char *const admin[] = {"health", "metrics", "errors", "maintain", "prune", "config", "embedding", NULL};
  for (const char *const *p = admin; *p; p++) {
    test_note("%s", *p);
    agent("memory_admin", arena_printf(&tooling_arena, "{\"action\":\"%s\"}", *p).p);
  }
  /* Settings are read-only. */
  CHECK_STATUS(call_as_agent("memory_admin", "{\"action\":\"config\",\"name\":\"gate.mode\",\"value\":\"strict\"}"),
               STATUS_USAGE);
  engine_close(&engine);
}
