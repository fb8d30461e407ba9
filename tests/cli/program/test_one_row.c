/* test_one_row.c: a memory type, a setting, a tool and an operation take one row each.
 *
 * The test adds one of each to a copy of the sources, builds the program, and uses them on a store made by the
 * program without these rows. An operation also needs its handler. */
#include "support/cli.h"

/* Adds a line of C after the first line of a source that begins with `anchor`. */
static void insert(const char *file, const char *anchor, const char *line) {
  const char *path = path_join(NULL, textf("src/%s", file));
  struct str text = file_read(path);
  size_t at = str_find(text, str_from(textf("\n%s", anchor)), 0);
  test_note("%s: %s", file, anchor);
  CHECK(at != SIZE_MAX);
  at = str_find(text, STR("\n"), at + 1) + 1;
  file_write(path, str_from(textf("%.*s%s\n%s", (int)at, text.p, line, text.p + at)));
}

static void add(const char *file, const char *text) {
  const char *path = path_join(NULL, textf("src/%s", file));
  file_write(path, str_from(textf("%s%s\n", file_read(path).p, text)));
}

static void build(void) {
  struct run r = proc_run(.argv = ARGS("cp", "-r", CAIRN_SOURCE_DIR "/src", "."));
  CHECK_INT(r.exit_code, 0);
  insert("core/memory/types.c", "static const struct mem_type types[] = {",
         "{.name = \"recipe\", .kind = KIND_FACT, .page = \"Notes\", .long_body = true, .decay = DECAY_SCORE},");
  add("store/tables/setting_rows.h", "SETTING(SET_SPICE, NUMBER(\"recipe.spice\", \"3\", 0, 9, \"how hot\"))");
  insert(
      "mcp/profiles/default.c", "static const struct tool tools[] = {",
      "{.name = \"memory_tally\", .title = \"Tally\", .op = \"tally\", .flags = TOOL_READS, .description = \"Count.\","
      " .args = (const struct tool_arg[]){ARG(\"text\", TEXT, .flags = ARG_REQUIRED), END}},");
  insert(
      "op/table/memories.c", "const struct op memories_ops[] = {",
      "{.name = \"tally\", .group = \"Memories\", .summary = \"Count letters\", .help = \"\", .example = \"cairn tally"
      " word\", .params = (const struct param[]){TEXT(\"text\", REQ_POS, \"TEXT\", \"any text\"), END},"
      " .flags = OP_PROJECT, .result = \"letters:int\", .run = op_tally},");
  add("op/handlers.h", "enum status op_tally(struct op_call *call);");
  add("op/write/memory.c", "enum status op_tally(struct op_call *call) {"
                           " json_put_int(call->doc, call->result, \"letters\","
                           " (int64_t)json_str(call->args, \"text\").n); return STATUS_OK; }");
  r = proc_run(.argv = ARGS(CAIRN_SOURCE_DIR "/tests/support/build_copy", CAIRN_SOURCE_DIR, CAIRN_BINARY_DIR,
                            "core/memory/types.c", "store/tables/setting_rows.h", "mcp/profiles/default.c",
                            "op/table/memories.c", "op/write/memory.c"),
               .timeout_ms = 300000, .merge = true);
  test_note("%s", r.out.p);
  CHECK_INT(r.exit_code, 0);
}

/* Runs the built program on the test's store. It succeeds and prints `text`. */
static void check_prints(struct str input, const char *const *args, const char *text) {
  struct run r = proc_run(.argv = args, .env = cli_env(), .input = input);
  test_note("%s %s: %s%s", args[0], args[1], r.out.p, r.err.p);
  CHECK_INT(r.exit_code, 0);
  CHECK(str_find(r.out, str_from(text), 0) != SIZE_MAX);
}
#define PRINTS(text, ...) check_prints(STR_NONE, ARGS("./cairn", "--db", cli_db(), __VA_ARGS__), text)

TEST(a_type_a_setting_a_tool_and_an_operation_are_one_row, .seconds = 400, .slow = true) {
  OK("remember", "The oven of the office reaches 250 degrees");
  REFUSED("refused", "remember", "--type", "recipe", "Bread: flour, water, salt, and a night of patience");
  OK("agent", "add", "web", "--role", "project", "--project", "site");
  build();

  PRINTS("\"type\":\"recipe\"", "remember", "--type", "recipe", "--json", "Bread: flour, water, salt, and patience");
  PRINTS("Bread", "list", "--type", "recipe");
  PRINTS("oven", "search", "office oven");

  PRINTS("\"value\":\"3\"", "config", "recipe.spice", "--json");
  PRINTS("7", "config", "recipe.spice", "7");
  PRINTS("\"value\":\"7\"", "config", "recipe.spice", "--json");

  PRINTS("letters: 4", "tally", "word");
  PRINTS("{\"letters\":4}", "tally", "word", "--json");
  PRINTS("Count letters", "help", "--all");
  PRINTS("letters: 4", "--agent", "web", "tally", "word");

  check_prints(
      STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\","
          "\"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}\n"
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
          "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_tally\","
          "\"arguments\":{\"text\":\"word\"}}}\n"),
      ARGS("./cairn", "--db", cli_db(), "mcp"), "letters: 4");
}
