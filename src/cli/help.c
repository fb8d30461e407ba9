/* help.c: help texts, made from the table of operations. */
#include "cli/help.h"

#include <assert.h>

#include "cli/commands.h"
#include "core/memory/memory.h"

enum { WIDTH = 80, INDENT = 2, COLUMN = 28 };

const struct variable variables[] = {
    {"CAIRN_DB", "the store if --db is not given: a file or postgresql://USER@HOST/DATABASE"},
    {"CAIRN_PROJECT", "the project if --project is not given; else the git repository of the working folder"},
    {"CAIRN_TEAM", "the team that owns the memories (default: default)"},
    {"CAIRN_SOURCE", "the writer's name if --source is not given"},
    {"CAIRN_SESSION", "the session if --session is not given"},
    {"CAIRN_PROFILE", "the MCP tool profile if --profile is not given"},
    {"CAIRN_BUSY_MS", "lock timeout: how long to wait for another process, in milliseconds"},
    {"CAIRN_NO_MAINTAIN", "1: no daily maintenance after a write"},
    {"CAIRN_NOW", "an RFC 3339 timestamp to use as the current time, for tests and demonstrations"},
    {"XDG_DATA_HOME", "base folder of the default store, cairn/cairn.db (default: ~/.local/share)"},
    {"NO_COLOR", "if set, no colour"},
    {0},
};

struct str help_usage(struct arena *a, const struct op *op) {
  struct buf b = BUF(a);
  buf_addf(&b, "%s [OPTION]...", op->name);
  for (const struct param *p = op->params; p->name; p++)
    if (!help_by_place(p) && (p->flags & PARAM_REQUIRED))
      buf_addf(&b, " %s", help_term(a, p).p);
  for (const struct param *p = op->params; p->name; p++) {
    if (!help_by_place(p))
      continue;
    bool optional = !(p->flags & PARAM_REQUIRED) || (p->flags & PARAM_STDIN);
    buf_addf(&b, optional ? " [%s%s]" : " %s%s", args_placeholder(a, p).p, p->form == PARAM_LIST ? "..." : "");
  }
  return buf_str(&b);
}

struct str help_term(struct arena *a, const struct param *p) {
  if (help_by_place(p))
    return args_placeholder(a, p);
  if (p->form == PARAM_BOOL)
    return arena_printf(a, "--%s", args_spelling(a, p).p);
  return arena_printf(a, "--%s %s", args_spelling(a, p).p, args_placeholder(a, p).p);
}

struct str help_text(struct arena *a, const struct param *p) {
  if (!p->choices)
    return str_from(p->help);
  return arena_printf(a, "%s (%s)", p->help, one_of_text(a, p->choices).p);
}

static void heading(struct buf *out, const struct style *style, const char *text) {
  buf_addf(out, "\n%s%s%s\n", style->bold, text, style->reset);
}

/* A term with its text in a column to the right, or on the next line if the term is long. */
static void add_row(struct buf *out, struct str term, struct str text, size_t column) {
  term_pad(out, 0, INDENT);
  buf_add(out, term);
  size_t at = INDENT + term_columns(term);
  if (at + 2 > column) {
    buf_addc(out, '\n');
    at = 0;
  }
  term_wrap(out, text, at, column, WIDTH);
  buf_addc(out, '\n');
}

/* True if one of the operation's own options has this name, which hides the global one. */
static bool is_hidden(struct arena *a, const struct op *op, const struct param *global) {
  for (const struct param *own = op->params; own->name; own++)
    if (str_eq(args_spelling(a, own), args_spelling(a, global)))
      return true;
  return false;
}

static void add_params(struct buf *out, const struct param *list, bool by_place) {
  for (; list->name; list++)
    if (help_by_place(list) == by_place)
      add_row(out, help_term(out->a, list), help_text(out->a, list), COLUMN);
}

static bool has_params(const struct param *list, bool by_place) {
  for (; list->name; list++)
    if (help_by_place(list) == by_place)
      return true;
  return false;
}

/* The commands of a list: operations first, then servers. */
static const struct op *next_command(const struct op *op) {
  const struct command *d = op ? command_of(op) : NULL;
  if (d)
    return d[1].op.name ? &d[1].op : NULL;
  op = op_next(op);
  return op ? op : &commands[0].op;
}

static bool is_listed(const struct op *op, bool everyday) { return !everyday || (op->flags & OP_EVERYDAY); }

static size_t command_column(bool everyday) {
  size_t widest = 0;
  for (const struct op *op = next_command(NULL); op; op = next_command(op))
    if (is_listed(op, everyday) && strlen(op->name) > widest)
      widest = strlen(op->name);
  return INDENT + widest + 2;
}

static void add_title(struct buf *out, const struct style *style) {
  buf_addf(out, "%scairn%s: durable memory for AI agents\n\nUsage: cairn [OPTION]... COMMAND [ARGUMENT]...\n",
           style->bold, style->reset);
}

static void add_commands(struct buf *out, const struct style *style, bool everyday) {
  size_t column = command_column(everyday);
  const char *group = "";
  for (const struct op *op = next_command(NULL); op; op = next_command(op)) {
    if (!is_listed(op, everyday))
      continue;
    assert(op->group && op->summary);
    if (strcmp(group, op->group) != 0)
      heading(out, style, op->group);
    group = op->group;
    add_row(out, str_from(op->name), str_from(op->summary), column);
  }
}

void help_program(struct buf *out, const struct style *style) {
  add_title(out, style);
  add_commands(out, style, true);
  buf_adds(out, "\n'cairn help COMMAND' explains a command, 'cairn help --all' lists all commands.\n");
}

void help_all(struct buf *out, const struct style *style) {
  add_title(out, style);
  add_commands(out, style, false);
  size_t column = command_column(false);
  heading(out, style, "Help");
  for (const struct builtin *b = builtins; b->name; b++)
    add_row(out, str_from(b->name), str_from(b->summary), column);
  heading(out, style, "Global options");
  add_params(out, common_params, false);
  add_params(out, global_params, false);
  buf_adds(out, "\n'cairn help COMMAND' explains a command.\n");
}

void help_family(struct buf *out, const struct style *style, struct str word) {
  buf_addf(out, "Usage: cairn %.*s COMMAND [ARGUMENT]...\n", STR_ARG(word));
  heading(out, style, "Commands");
  struct str prefix = arena_printf(out->a, "%.*s ", STR_ARG(word));
  EACH_OP(op)
    if (str_starts(str_from(op->name), prefix))
      add_row(out, help_usage(out->a, op), str_from(op->summary), COLUMN);
}

void help_builtin(struct buf *out, const struct style *style, const struct builtin *b) {
  buf_addf(out, "Usage: cairn %s%s%s\n\n%s%s.%s\n", b->name, b->arguments[0] ? " " : "", b->arguments, style->bold,
           b->summary, style->reset);
  if (!b->params)
    return;
  heading(out, style, "Options");
  add_params(out, b->params, false);
}

static void add_examples(struct buf *out, const struct style *style, struct str examples) {
  if (examples.n == 0)
    return;
  heading(out, style, "Examples");
  struct str line;
  while (str_line(&examples, &line))
    buf_addf(out, "  %.*s\n", STR_ARG(line));
}

void help_operation(struct buf *out, const struct style *style, const struct op *op) {
  assert(op->summary && op->help && op->params);
  buf_addf(out, "Usage: cairn %s\n\n%s%s.%s\n", help_usage(out->a, op).p, style->bold, op->summary, style->reset);
  if (op->help[0]) {
    buf_addc(out, '\n');
    term_wrap(out, str_from(op->help), 0, 0, WIDTH);
    buf_addc(out, '\n');
  }
  if (has_params(op->params, true))
    heading(out, style, "Arguments");
  add_params(out, op->params, true);
  if (has_params(op->params, false))
    heading(out, style, "Options");
  add_params(out, op->params, false);
  heading(out, style, "Global options");
  for (const struct param *p = common_params; p->name; p++)
    if (!is_hidden(out->a, op, p))
      add_row(out, help_term(out->a, p), help_text(out->a, p), COLUMN);
  add_params(out, global_params, false);
  add_examples(out, style, str_from(op->example));
}
