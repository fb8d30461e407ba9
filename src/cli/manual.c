/* manual.c: the manual page cairn.1, made from the tables. */
#include "cli/commands.h"
#include "cli/help.h"

/* Escapes text that roff would read as a command, an escape or a typographic character. */
static void add_text(struct buf *out, struct str text) {
  bool line_start = out->n == 0 || out->p[out->n - 1] == '\n';
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    if (line_start && (c == '.' || c == '\''))
      buf_adds(out, "\\&");
    line_start = c == '\n';
    switch (c) {
    case '\\':
      buf_adds(out, "\\e");
      break;
    case '-':
      buf_adds(out, "\\-");
      break;
    case '\'':
      buf_adds(out, "\\(aq");
      break;
    case '^':
      buf_adds(out, "\\(ha");
      break;
    case '~':
      buf_adds(out, "\\(ti");
      break;
    case '`':
      buf_adds(out, "\\(ga");
      break;
    default:
      buf_addc(out, c);
    }
  }
}

static void add_line(struct buf *out, const char *text) {
  add_text(out, str_from(text));
  buf_addc(out, '\n');
}

/* One request whose argument is text: ".SH NAME". */
static void add_request(struct buf *out, const char *request, struct str text) {
  buf_addf(out, ".%s \"", request);
  add_text(out, text);
  buf_adds(out, "\"\n");
}

static void add_params(struct buf *out, const struct param *list) {
  for (; list->name; list++) {
    buf_adds(out, ".TP\n\\fB");
    if (!help_by_place(list)) {
      buf_adds(out, "\\-\\-");
      add_text(out, args_spelling(out->a, list));
    }
    buf_adds(out, "\\fR");
    if (help_by_place(list) || list->form != PARAM_BOOL) {
      buf_adds(out, help_by_place(list) ? "\\fI" : " \\fI");
      add_text(out, args_placeholder(out->a, list));
      buf_adds(out, "\\fR");
    }
    buf_addc(out, '\n');
    add_text(out, help_text(out->a, list));
    buf_addc(out, '\n');
  }
}

static void add_operation(struct buf *out, const struct op *op) {
  add_request(out, "SS", arena_printf(out->a, "cairn %s", help_usage(out->a, op).p));
  add_line(out, arena_printf(out->a, "%s.", op->summary).p);
  if (op->help[0])
    add_line(out, op->help);
  add_params(out, op->params);
  if (!op->example[0])
    return;
  buf_adds(out, ".PP\nExamples:\n.PP\n.RS 4\n.nf\n");
  add_line(out, op->example);
  buf_adds(out, ".fi\n.RE\n");
}

static void add_commands(struct buf *out) {
  const char *group = "";
  EACH_OP(op) {
    if (strcmp(group, op->group) != 0)
      add_request(out, "SH", arena_printf(out->a, "COMMANDS: %s", op->group));
    group = op->group;
    add_operation(out, op);
  }
  buf_adds(out, ".SH \"COMMANDS: Servers\"\n");
  for (const struct command *d = commands; d->op.name; d++)
    add_operation(out, &d->op);
  buf_adds(out, ".SH \"COMMANDS: Help\"\n");
  for (const struct builtin *b = builtins; b->name; b++) {
    buf_addf(out, ".TP\n\\fBcairn %s\\fR%s%s\n", b->name, b->arguments[0] ? " " : "", b->arguments);
    add_line(out, arena_printf(out->a, "%s.", b->summary).p);
    if (b->params)
      add_params(out, b->params);
  }
}

static void add_exit_codes(struct buf *out) {
  static const struct {
    int code;
    const char *name, *text;
  } outcomes[] = {
#define X(name, json, exit, http, text) {exit, json, text},
      STATUS_LIST(X)
#undef X
  };
  buf_adds(out, ".SH EXIT STATUS\nThe name is the error code in JSON.\n");
  for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
    buf_addf(out, ".TP\n\\fB%d\\fR ", outcomes[i].code);
    add_line(out, outcomes[i].name);
    add_line(out, outcomes[i].text);
  }
}

void manual_page(struct buf *out) {
  buf_addf(out, ".TH CAIRN 1 \"\" \"Cairn %s\" \"User Commands\"\n", CAIRN_VERSION);
  buf_adds(out, ".SH NAME\ncairn \\- durable memory for AI agents\n"
                ".SH SYNOPSIS\n\\fBcairn\\fR [\\fIOPTION\\fR]... \\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n"
                ".SH DESCRIPTION\n");
  add_line(out, "Cairn stores what agents and people learn: rules, facts, incidents and tasks. Each is a memory with a "
                "headline, a text and a history. A gate checks every write. Corrections supersede old memories and "
                "keep them. Search combines meaning and words. The store is one file.");
  buf_adds(out, ".SH OPTIONS\nGlobal options may come before or after the command.\n");
  add_params(out, common_params);
  add_params(out, global_params);
  add_commands(out);
  buf_adds(out, ".SH ENVIRONMENT\n");
  for (const struct variable *v = variables; v->name; v++) {
    buf_addf(out, ".TP\n\\fB%s\\fR\n", v->name);
    add_line(out, v->help);
  }
  add_exit_codes(out);
  buf_adds(out, ".SH FILES\n.TP\n");
  add_line(out, "~/.local/share/cairn/cairn.db");
  buf_adds(out, "the default store, created on first use\n");
}
