/* args.c: command line parser, driven by the table of operations. */
#include "cli/args.h"

#include <assert.h>

#include "base/suggest.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "core/memory/memory.h"

static const struct param help_params[] = {
    {"all", PARAM_BOOL, 0, NULL, NULL, NULL, "list all commands and the global options"},
    {0},
};

const struct builtin builtins[] = {
    {"help", CLI_HELP, "[--all | COMMAND]", "Explain a command, or list all of them", help_params},
    {"version", CLI_VERSION, "", "Print the version", NULL},
    {"man", CLI_MANUAL, "", "Print the manual page, as roff", NULL},
    {"completion", CLI_COMPLETION, "bash|zsh|fish", "Print a completion script for bash, zsh or fish", NULL},
    {0},
};

const struct param global_params[] = {
    {"db", PARAM_TEXT, PARAM_PATH, NULL, "STORE", NULL,
     "the store: a file, or postgresql://... (default: CAIRN_DB, else cairn/cairn.db in the XDG data folder)"},
    {"json", PARAM_BOOL, 0, NULL, NULL, NULL, "print one JSON object, errors too"},
    {"config", PARAM_TEXT, PARAM_PATH, NULL, "FILE", NULL,
     "the configuration (default: CAIRN_CONFIG, else cairn/cairn.toml in the XDG configuration folder)"},
    {"set", PARAM_LIST, 0, "setting", "NAME=VALUE", NULL,
     "a setting for this call; --set for short; may be repeated ('cairn config' lists them)"},
    {"source", PARAM_TEXT, 0, NULL, "NAME", NULL, "name recorded as the writer (default: CAIRN_SOURCE, else cli)"},
    {"session", PARAM_TEXT, 0, NULL, "ID", NULL, "session of the call (default: CAIRN_SESSION)"},
    {"agent", PARAM_TEXT, 0, NULL, "NAME", NULL, "run as this agent, limited to its role (default: CAIRN_AGENT)"},
    {"quiet", PARAM_BOOL, 0, NULL, NULL, NULL, "no warnings or progress; for changes, print only the id"},
    {"no_color", PARAM_BOOL, 0, NULL, NULL, NULL, "no colour on a terminal, like NO_COLOR"},
    {"help", PARAM_BOOL, 0, NULL, NULL, NULL, "explain the command; also -h"},
    {"version", PARAM_BOOL, 0, NULL, NULL, NULL, "print the version"},
    {0},
};

enum { SHOWN_BYTES = 60 }; /* maximum bytes of user text in a message */

struct parser {
  struct arena *a;
  const char *const *argv;
  int argc, at;
  bool options_ended;
  const struct builtin *builtin;
  struct str family; /* first word of a two-word command */
  struct cli_args *out;
  struct error *err;
};

/* ---- names ---- */

struct str args_spelling(struct arena *a, const struct param *p) {
  struct str s = arena_dup(a, str_from(p->cli ? p->cli : p->name));
  char *text = (char *)(uintptr_t)s.p;
  for (size_t i = 0; i < s.n; i++)
    if (text[i] == '_')
      text[i] = '-';
  return s;
}

struct str args_placeholder(struct arena *a, const struct param *p) {
  struct str s = arena_dup(a, str_from(p->value ? p->value : p->name));
  char *text = (char *)(uintptr_t)s.p;
  for (size_t i = 0; !p->value && i < s.n; i++)
    if (text[i] >= 'a' && text[i] <= 'z')
      text[i] = (char)(text[i] & ~32);
  return s;
}

/* Name in messages: ID, or --reason. */
static const char *label_of(struct arena *a, const struct param *p) {
  if (p->flags & PARAM_POSITIONAL)
    return args_placeholder(a, p).p;
  return arena_printf(a, "--%s", args_spelling(a, p).p).p;
}

static bool names_match(struct str given, const char *name) {
  size_t n = name ? strlen(name) : 0;
  if (n == 0 || n != given.n)
    return false;
  for (size_t i = 0; i < n; i++)
    if ((given.p[i] == '_' ? '-' : given.p[i]) != (name[i] == '_' ? '-' : name[i]))
      return false;
  return true;
}

static const struct param *param_in(const struct param *list, struct str name) {
  for (; list->name; list++)
    if (names_match(name, list->cli) || names_match(name, list->name))
      return list;
  return NULL;
}

bool args_is_family(struct str word) {
  EACH_OP(op) {
    struct str name = str_from(op->name);
    if (str_starts(name, word) && name.n > word.n && name.p[word.n] == ' ')
      return word.n > 0;
  }
  return false;
}

/* The parameter with this option name, and the object for its value. */
static const struct param *find_option(const struct parser *p, struct str name, yyjson_mut_val **ret_obj) {
  const struct param *found = p->out->op ? param_in(p->out->op->params, name) : NULL;
  if (!found && p->builtin && p->builtin->params)
    found = param_in(p->builtin->params, name);
  if (!found && !p->builtin && !p->out->op && args_flag(p->out->globals, "help")) /* 'cairn --help --all' */
    found = param_in(help_params, name);
  if (!found)
    found = param_in(common_params, name);
  *ret_obj = p->out->args;
  if (found)
    return found;
  *ret_obj = p->out->globals;
  return param_in(global_params, name);
}

/* ---- values ---- */

static enum status check_text(struct error *err, const char *what, struct str text) {
  size_t bad = utf8_check(text);
  if (bad != text.n)
    error_set(err, STATUS_USAGE, "%s is not valid UTF-8 (byte %zu)", what, bad + 1);
  else if (text.n && memchr(text.p, 0, text.n))
    error_set(err, STATUS_USAGE, "%s holds a NUL byte", what);
  else
    return STATUS_OK;
  return error_fix(err, "memories are text in UTF-8; iconv converts other encodings");
}

static enum status check_choice(const struct parser *p, const struct param *param, struct str value) {
  if (!param->choices || (param->flags & PARAM_OPEN) || one_of(value, param->choices))
    return STATUS_OK;
  struct suggest near;
  suggest_init(&near, value);
  for (size_t i = 0; param->choices[i]; i++)
    suggest_offer(&near, str_from(param->choices[i]));
  struct str shown = utf8_cut(value, SHOWN_BYTES), choices = one_of_text(p->a, param->choices);
  error_set(p->err, STATUS_USAGE, "%s cannot be '%.*s': it is one of %.*s", label_of(p->a, param), STR_ARG(shown),
            STR_ARG(choices));
  if (near.best.p && !(param->flags & PARAM_POSITIONAL))
    return error_fix(p->err, "%s %.*s", label_of(p->a, param), STR_ARG(near.best));
  return error_fix(p->err, "use one of: %.*s", STR_ARG(choices));
}

/* Appends to a list; replaces other values, so the last one wins. */
static void put(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct param *param, yyjson_mut_val *value) {
  if (param->form == PARAM_LIST) {
    yyjson_mut_val *list = yyjson_mut_obj_get(obj, param->name);
    yyjson_mut_arr_append(list ? list : json_put_arr(doc, obj, param->name), value);
    return;
  }
  yyjson_mut_obj_put(obj, yyjson_mut_str(doc, param->name), value);
}

static enum status not_a_number(const struct parser *p, const struct param *param, const char *form,
                                const char *example, struct str shown) {
  const char *label = label_of(p->a, param);
  error_set(p->err, STATUS_USAGE, "%s needs %s, not '%.*s'", label, form, STR_ARG(shown));
  if (param->flags & PARAM_POSITIONAL)
    return error_fix(p->err, "use %s", form);
  return error_fix(p->err, "%s %s", label, example);
}

static enum status put_text(const struct parser *p, yyjson_mut_val *obj, const struct param *param, struct str value) {
  yyjson_mut_doc *doc = p->out->doc;
  assert(param->form != PARAM_BOOL);
  if (param->flags & PARAM_NOISE)
    value = utf8_repair(p->a, value, SIZE_MAX);
  struct str shown = utf8_cut(value, SHOWN_BYTES);
  int64_t whole;
  double number;
  if (check_text(p->err, label_of(p->a, param), value) != STATUS_OK || check_choice(p, param, value) != STATUS_OK)
    return p->err->code;
  switch (param->form) {
  case PARAM_INT:
    if (!str_int64(value, &whole))
      return not_a_number(p, param, "a whole number", "10", shown);
    put(doc, obj, param, yyjson_mut_sint(doc, whole));
    break;
  case PARAM_NUMBER:
    if (!str_double(value, &number))
      return not_a_number(p, param, "a number", "0.5", shown);
    put(doc, obj, param, yyjson_mut_real(doc, number));
    break;
  case PARAM_BOOL:
  case PARAM_TEXT:
  case PARAM_LIST:
    put(doc, obj, param, yyjson_mut_strncpy(doc, value.p ? value.p : "", value.n));
    break;
  }
  return STATUS_OK;
}

/* ---- options ---- */

static void offer_options(struct suggest *near, struct arena *a, const struct param *list) {
  for (; list && list->name; list++)
    suggest_offer(near, args_spelling(a, list));
}

static bool is_option_of_any_command(struct str name) {
  EACH_OP(op)
    if (param_in(op->params, name))
      return true;
  for (const struct command *d = commands; d->op.name; d++)
    if (param_in(d->op.params, name))
      return true;
  return false;
}

static enum status unknown_option(const struct parser *p, struct str name, struct str shown) {
  const struct op *op = p->out->op;
  if (!op && is_option_of_any_command(name)) {
    error_set(p->err, STATUS_USAGE, "option '%.*s' must come after the command", STR_ARG(shown));
    return error_fix(p->err, "cairn COMMAND %.*s ...", STR_ARG(shown));
  }
  struct suggest near;
  suggest_init(&near, name);
  offer_options(&near, p->a, op ? op->params : NULL);
  offer_options(&near, p->a, common_params);
  offer_options(&near, p->a, global_params);
  if (near.best.p)
    error_set(p->err, STATUS_USAGE, "unknown option '%.*s'; did you mean '--%.*s'?", STR_ARG(shown),
              STR_ARG(near.best));
  else
    error_set(p->err, STATUS_USAGE, "unknown option '%.*s'", STR_ARG(shown));
  return error_fix(p->err, "cairn help%s%s   (put text that starts with '-' after '--')", op ? " " : "",
                   op ? op->name : "");
}

static bool is_option(struct str arg) {
  /* "-" is standard input, "-5" a number, "- item" text. */
  return arg.n >= 2 && arg.p[0] == '-' && (arg.p[1] == '-' || ascii_alpha(arg.p[1]));
}

/* The value after an option. If it looks like another option, the value was probably forgotten. */
static enum status next_value(struct parser *p, const struct param *param, struct str *ret_value) {
  yyjson_mut_val *obj;
  const char *label = arena_printf(p->a, "--%s", args_spelling(p->a, param).p).p;
  struct str value = p->at + 1 < p->argc ? str_from(p->argv[p->at + 1]) : STR_NONE;
  bool other = value.n > 2 && str_starts(value, STR("--")) && find_option(p, str_slice(value, 2, value.n), &obj);
  if (!value.p || other) {
    error_set(p->err, STATUS_USAGE, "option '%s' needs a value", label);
    return other ? error_fix(p->err, "%s=%.*s   (if that is the value)", label, STR_ARG(value))
                 : error_fix(p->err, "%s %s", label, args_placeholder(p->a, param).p);
  }
  p->at++;
  assert(p->at < p->argc);
  *ret_value = value;
  return STATUS_OK;
}

static enum status take_bool(const struct parser *p, yyjson_mut_val *obj, const struct param *param, bool value,
                             bool has_text) {
  assert(param->form == PARAM_BOOL);
  if (has_text) {
    error_set(p->err, STATUS_USAGE, "option '--%s' takes no value", args_spelling(p->a, param).p);
    return error_fix(p->err, "--%s", args_spelling(p->a, param).p);
  }
  put(p->out->doc, obj, param, yyjson_mut_bool(p->out->doc, value));
  return STATUS_OK;
}

static enum status take_option(struct parser *p, struct str arg) {
  if (str_is(arg, "-h"))
    arg = STR("--help");
  size_t equals = str_find(arg, STR("="), 0);
  struct str shown = str_slice(arg, 0, equals == SIZE_MAX ? arg.n : equals);
  struct str name = str_starts(arg, STR("--")) ? str_slice(shown, 2, shown.n) : STR_NONE;
  struct str value = equals == SIZE_MAX ? STR_NONE : str_slice(arg, equals + 1, arg.n);
  yyjson_mut_val *obj;
  const struct param *param = find_option(p, name, &obj);
  if (!param && str_starts(name, STR("no-"))) {
    param = find_option(p, str_slice(name, 3, name.n), &obj);
    if (param && param->form == PARAM_BOOL)
      return take_bool(p, obj, param, false, value.p != NULL);
    param = NULL;
  }
  if (!param) {
    if (check_text(p->err, arena_printf(p->a, "argument %d", p->at).p, arg) != STATUS_OK)
      return p->err->code;
    return unknown_option(p, name, utf8_cut(shown, SHOWN_BYTES));
  }
  if (param->form == PARAM_BOOL)
    return take_bool(p, obj, param, true, value.p != NULL);
  if (!value.p && next_value(p, param, &value) != STATUS_OK)
    return p->err->code;
  return put_text(p, obj, param, value);
}

/* ---- commands and positional arguments ---- */

static enum status unknown_command(const struct parser *p, struct str word) {
  struct suggest near;
  suggest_init(&near, word);
  EACH_OP(op) {
    struct str name = str_from(op->name), family = name;
    suggest_offer(&near, name);
    if (str_next(&name, ' ', &family))
      suggest_offer(&near, family);
  }
  for (const struct command *d = commands; d->op.name; d++)
    suggest_offer(&near, str_from(d->op.name));
  for (const struct builtin *b = builtins; b->name; b++)
    suggest_offer(&near, str_from(b->name));
  struct str shown = utf8_cut(word, SHOWN_BYTES);
  if (near.best.p)
    error_set(p->err, STATUS_USAGE, "unknown command '%.*s'; did you mean '%.*s'?", STR_ARG(shown), STR_ARG(near.best));
  else
    error_set(p->err, STATUS_USAGE, "unknown command '%.*s'", STR_ARG(shown));
  return error_fix(p->err, "cairn help");
}

static enum status take_command(struct parser *p, struct str word) {
  if (p->family.p)
    word = arena_printf(p->a, "%.*s %.*s", STR_ARG(p->family), STR_ARG(word));
  for (const struct builtin *b = builtins; b->name && !p->family.p; b++) {
    if (!str_is(word, b->name))
      continue;
    p->builtin = b;
    p->out->command = b->command;
    return STATUS_OK;
  }
  p->out->op = command_find(word);
  if (p->out->op)
    return STATUS_OK;
  if (p->family.p || !args_is_family(word))
    return unknown_command(p, word);
  p->family = word;
  return STATUS_OK;
}

static enum status refuse_extra_argument(const struct parser *p, const char *command, struct str word) {
  struct str shown = utf8_cut(word, SHOWN_BYTES);
  bool takes_text = false;
  for (const struct param *param = p->out->op ? p->out->op->params : NULL; param && param->name; param++)
    takes_text |= (param->flags & PARAM_POSITIONAL) && !param->choices;
  error_set(p->err, STATUS_USAGE, "'cairn %s' does not take another argument: '%.*s'", command, STR_ARG(shown));
  return error_fix(p->err, "cairn help %s%s", command, takes_text ? "   (quote text with spaces)" : "");
}

/* Arguments of help, version, man and completion. */
static enum status take_builtin_word(struct parser *p, struct str word) {
  struct cli_args *out = p->out;
  assert(p->builtin && out->command == p->builtin->command);
  bool room = out->command == CLI_COMPLETION ? !out->words.p : out->command == CLI_HELP && !out->op && !out->topic;
  if (!room)
    return refuse_extra_argument(p, p->builtin->name, word);
  if (out->command == CLI_HELP) {
    for (const struct builtin *b = builtins; b->name; b++)
      if (str_is(word, b->name)) {
        out->topic = b;
        return STATUS_OK;
      }
    enum status s = take_command(p, word);
    out->words = p->family;
    return s;
  }
  out->words = word;
  return STATUS_OK;
}

/* The next positional parameter: the first without a value, or a list, which takes the rest. */
static const struct param *next_positional(const struct parser *p) {
  assert(p->out->op && !p->builtin);
  for (const struct param *param = p->out->op->params; param->name; param++)
    if ((param->flags & PARAM_POSITIONAL) &&
        (param->form == PARAM_LIST || !yyjson_mut_obj_get(p->out->args, param->name)))
      return param;
  return NULL;
}

static enum status take_word(struct parser *p, struct str word) {
  if (p->builtin || !p->out->op) {
    if (check_text(p->err, arena_printf(p->a, "argument %d", p->at).p, word) != STATUS_OK)
      return p->err->code;
    return p->builtin ? take_builtin_word(p, word) : take_command(p, word);
  }
  const struct param *param = next_positional(p);
  if (!param) {
    if (check_text(p->err, arena_printf(p->a, "argument %d", p->at).p, word) != STATUS_OK)
      return p->err->code;
    return refuse_extra_argument(p, p->out->op->name, word);
  }
  return put_text(p, p->out->args, param, word);
}

/* ---- the whole line ---- */

/* Chooses the parameter to read from standard input, if any. */
static void choose_input(struct cli_args *out) {
  bool file_given = false;
  for (const struct param *param = out->op->params; param->name; param++) {
    yyjson_mut_val *value = yyjson_mut_obj_get(out->args, param->name);
    if ((param->flags & PARAM_PATH) && value)
      file_given = true;
    if (!(param->flags & PARAM_STDIN))
      continue;
    out->input_asked = yyjson_mut_equals_str(value, "-");
    if (out->input_asked || !value)
      out->input = param;
  }
  /* If a file is given, missing text is not expected on standard input. */
  if (file_given && !out->input_asked)
    out->input = NULL;
}

static enum status need_subcommand(const struct parser *p) {
  struct buf names = BUF(p->a);
  EACH_OP(op) {
    struct str name = str_from(op->name);
    if (str_starts(name, p->family) && name.n > p->family.n && name.p[p->family.n] == ' ')
      buf_addf(&names, "%s%s", names.n ? ", " : "", op->name + p->family.n + 1);
  }
  error_set(p->err, STATUS_USAGE, "'cairn %.*s' needs one of: %s", STR_ARG(p->family), names.p ? names.p : "");
  return error_fix(p->err, "cairn help %.*s", STR_ARG(p->family));
}

static enum status finish(struct parser *p) {
  struct cli_args *out = p->out;
  if (args_flag(out->globals, "help")) {
    out->command = CLI_HELP;
    out->words = p->family;
    if (!out->topic)
      out->topic = p->builtin;
  } else if (args_flag(out->globals, "version")) {
    out->command = CLI_VERSION;
  } else if (!p->builtin && !out->op) {
    if (p->family.p)
      return need_subcommand(p);
    if (p->argc > 1) {
      error_set(p->err, STATUS_USAGE, "no command given");
      return error_fix(p->err, "cairn help");
    }
    out->command = CLI_HELP;
  } else if (out->command == CLI_COMPLETION && !out->words.p) {
    error_set(p->err, STATUS_USAGE, "'cairn completion' needs the name of a shell: bash, zsh or fish");
    return error_fix(p->err, "cairn completion bash");
  }
  assert(out->command != CLI_OPERATION || out->op);
  if (out->command == CLI_OPERATION)
    choose_input(out);
  return STATUS_OK;
}

enum status args_parse(struct arena *a, int argc, const char *const *argv, struct cli_args *ret_args,
                       struct error *err) {
  struct cli_args out = {.doc = json_new(a)};
  out.args = yyjson_mut_obj(out.doc);
  out.globals = yyjson_mut_obj(out.doc);
  struct parser p = {.a = a, .argv = argv, .argc = argc, .out = &out, .err = err};
  for (p.at = 1; p.at < argc; p.at++) {
    struct str arg = str_from(argv[p.at]);
    enum status s = STATUS_OK;
    if (p.options_ended || !is_option(arg))
      s = take_word(&p, arg);
    else if (str_is(arg, "--"))
      p.options_ended = true;
    else
      s = take_option(&p, arg);
    if (s != STATUS_OK)
      return s;
  }
  if (finish(&p) != STATUS_OK)
    return err->code;
  *ret_args = out;
  return STATUS_OK;
}

bool args_want_json(int argc, const char *const *argv) {
  bool json = false;
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (strcmp(argv[i], "--json") == 0)
      json = true;
    else if (strcmp(argv[i], "--no-json") == 0)
      json = false;
  }
  return json;
}

enum status args_set_input(struct cli_args *args, struct str text, struct error *err) {
  assert(args->input && args->input->form == PARAM_TEXT);
  if (check_text(err, "standard input", text) != STATUS_OK)
    return err->code;
  put(args->doc, args->args, args->input, yyjson_mut_strncpy(args->doc, text.p ? text.p : "", text.n));
  return STATUS_OK;
}

enum status args_check(struct arena *a, const struct cli_args *args, struct error *err) {
  assert(args->op);
  for (const struct param *p = args->op->params; p->name; p++) {
    if (!(p->flags & PARAM_REQUIRED) || p == args->input || yyjson_mut_obj_get(args->args, p->name))
      continue;
    const char *value = p->flags & PARAM_POSITIONAL ? "" : arena_printf(a, " %s", args_placeholder(a, p).p).p;
    error_set(err, STATUS_USAGE, "'cairn %s' needs %s%s%s", args->op->name, label_of(a, p), value,
              p->flags & PARAM_STDIN ? ", as an argument or on standard input" : "");
    return error_fix(err, "cairn help %s", args->op->name);
  }
  return STATUS_OK;
}

struct str args_text(yyjson_mut_val *obj, const char *name) {
  yyjson_mut_val *v = yyjson_mut_obj_get(obj, name);
  return yyjson_mut_is_str(v) ? (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)} : STR_NONE;
}

bool args_flag(yyjson_mut_val *obj, const char *name) { return yyjson_mut_get_bool(yyjson_mut_obj_get(obj, name)); }
