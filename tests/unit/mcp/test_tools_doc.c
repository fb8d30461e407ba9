/* test_tools_doc.c: docs/tools.md matches the table of the default profile.
 *
 * If a part of the page is out of date, the correct text is printed. */
#include "base/os/fs.h"
#include "mcp/tools/tool.h"
#include "support/harness.h"
#include "tooling.h"

static const char *form_name(enum tool_form form) {
  static const char *const names[] = {
      [TOOL_TEXT] = "text",          [TOOL_INT] = "whole number",        [TOOL_NUMBER] = "number",
      [TOOL_BOOL] = "true or false", [TOOL_LIST] = "list of texts",      [TOOL_INTS] = "list of whole numbers",
      [TOOL_OBJECT] = "object",      [TOOL_OBJECTS] = "list of objects", [TOOL_ID] = "id, uid or key"};
  return names[form];
}

/* A cell of a table. */
static struct str cell(const char *text) {
  struct buf b = BUF(&tooling_arena);
  for (; text && *text; text++)
    buf_addf(&b, "%s%c", *text == '|' ? "\\" : "", *text);
  return buf_str(&b);
}

static void add_args(struct buf *b, const struct tool *t) {
  buf_adds(b, "\n| argument | form | |\n|---|---|---|\n");
  if (t->actions)
    buf_addf(b, "| `action` | one of the actions below%s | |\n", t->op ? "" : ", required");
  for (const struct tool_arg *p = t->args; p->name; p++)
    buf_addf(b, "| `%s` | %s%s%s | %.*s |\n", p->name, form_name(p->form), p->flags & ARG_REQUIRED ? ", required" : "",
             p->flags & ARG_UNLISTED ? ", not in the definition" : "", STR_ARG(cell(p->help)));
}

static void add_actions(struct buf *b, const struct tool *t) {
  buf_adds(b, "\n| action | operation | needs |\n|---|---|---|\n");
  for (const struct tool_action *x = t->actions; x->name; x++) {
    bool is_default = t->op && strcmp(t->op, x->op) == 0;
    buf_addf(b, "| `%s`%s | `%s` | %s |\n", x->name, is_default ? " (default)" : "", x->op, x->needs ? x->needs : "");
  }
}

static struct str block(const struct tool *t) {
  struct buf b = BUF(&tooling_arena);
  buf_addf(&b, "### %s\n\n%s\n", t->name, t->description);
  if (t->op && !t->actions)
    buf_addf(&b, "Operation: `%s`.\n", t->op);
  add_args(&b, t);
  if (t->actions)
    add_actions(&b, t);
  return buf_str(&b);
}

TEST(the_page_of_tools_is_up_to_date) {
  struct str page = {0};
  CHECK_OK(fs_read(&tooling_arena, CAIRN_SOURCE_DIR "/docs/tools.md", 1 << 20, &page, &tooling_error), &tooling_error);
  size_t at = 0, n = 0;
  for (const struct tool *t = profiles[0]->tools; t->name; t++, n++) {
    struct str want = block(t);
    size_t found = str_find(page, want, at);
    if (found == SIZE_MAX)
      FAIL("docs/tools.md lacks, in its place:\n%.*s", STR_ARG(want));
    at = found + want.n;
  }
  size_t headings = 0;
  for (size_t i = str_find(page, STR("\n### memory_"), 0); i != SIZE_MAX;
       i = str_find(page, STR("\n### memory_"), i + 1))
    headings++;
  CHECK_INT(headings, n);
}
