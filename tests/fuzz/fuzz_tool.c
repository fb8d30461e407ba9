/* fuzz_tool.c: any arguments from a client and any result of an operation: arguments are accepted or rejected with a
 * message, and every answer is valid text within its budget. */
#include "base/utf8.h"
#include "core/text/token_count.h"
#include "mcp/tools/internal.h"
#include "support/fuzz.h"

static struct tool_run new_run(struct arena *a, const struct tool *tool, struct error *err) {
  return (struct tool_run){
      .profile = profiles[0], .tool = tool, .arena = a, .doc = json_new(a), .budget = TOOL_BUDGET_MIN, .err = err};
}

static void check_args(struct arena *a, const struct tool *tool, yyjson_val *args) {
  struct error err = {0};
  struct tool_run run = new_run(a, tool, &err);
  run.args = args;
  yyjson_mut_val *mapped = NULL;
  enum status s = tool_check(&run);
  const char *name = run.action ? run.action->op : tool->op;
  if (s == STATUS_OK)
    s = tool_map(&run, op_find(str_from(name)), &mapped);
  FUZZ_CHECK(s == STATUS_OK || s == STATUS_USAGE);
  FUZZ_CHECK(s == STATUS_OK ? yyjson_mut_is_obj(mapped) : err.message[0] && err.fix[0]);
}

static void check_answer(struct arena *a, yyjson_val *result) {
  struct error err = {0};
  struct tool_run run = new_run(a, profiles[0]->tools + 1, &err);
  run.result = yyjson_val_mut_copy(run.doc, result);
  run.args = result;
  tool_answer(&run);
  FUZZ_CHECK(yyjson_mut_is_obj(run.result));
  FUZZ_CHECK(utf8_check(run.text) == run.text.n);
  FUZZ_CHECK(tokens_estimate(run.text) <= TOOL_BUDGET_MIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  struct error err;
  yyjson_val *root;
  arena_init(&a);
  struct tool_run run = new_run(&a, profiles[0]->tools, &err);
  struct str said = tool_rewrite_advice(&run, (struct str){(const char *)data, size});
  FUZZ_CHECK(said.p || !size);
  if (size < 100000 && json_read(&a, (struct str){(const char *)data, size}, &root, &err) == STATUS_OK &&
      yyjson_is_obj(root)) {
    for (const struct tool *t = profiles[0]->tools; t->name; t++)
      check_args(&a, t, root);
    check_answer(&a, root);
  }
  arena_release(&a);
  return 0;
}
