/* tool_words.c: what operations say about the command line, said again for somebody who has only tools.
 *
 * An operation's fix names the command that would work: "cairn supersede 12 --reason WHY TEXT". The same call as a tool
 * of the profile is found in its table, so a new tool needs no list of translations. */
#include "mcp/tool_internal.h"

/* ---- the tool that does what an operation does ---- */

struct found {
  const struct tool *tool;
  const struct tool_action *action;
};

static bool find_tool(const struct profile *profile, const char *op, struct found *ret) {
  for (const struct tool *t = profile->tools; t->name; t++) {
    if (t->flags & TOOL_HIDDEN)
      continue;
    if (t->op && strcmp(t->op, op) == 0 && !t->fixed) {
      *ret = (struct found){t, NULL};
      return true;
    }
    for (const struct tool_action *x = t->actions; x && x->name; x++)
      if (strcmp(x->op, op) == 0 && !x->fixed) {
        *ret = (struct found){t, x};
        return true;
      }
  }
  return false;
}

/* The tool's name of an argument of the operation; absent when it has none of its own. */
static struct str shown_name(const struct found *f, struct str param) {
  struct str rest = str_from(f->action ? f->action->renames : NULL), pair;
  while (str_next(&rest, ' ', &pair)) {
    size_t eq = str_find(pair, STR("="), 0);
    if (eq != SIZE_MAX && str_eq(str_slice(pair, eq + 1, pair.n), param))
      return str_slice(pair, 0, eq);
  }
  for (const struct tool_arg *p = f->tool->args; p && p->name; p++)
    if (!(p->flags & ARG_LOCAL) && str_is(param, p->to ? p->to : p->name))
      return str_from(p->name);
  return f->tool->args ? STR_NONE : param;
}

/* The argument that takes what has none of its own; NULL when there is none. */
static const char *spread_name(const struct tool *tool) {
  for (const struct tool_arg *p = tool->args; p && p->name; p++)
    if (p->flags & ARG_SPREAD)
      return p->name;
  return NULL;
}

struct str tool_call_text(const struct tool_run *run, const char *op, yyjson_mut_val *args) {
  struct found f;
  if (!find_tool(run->profile, op, &f))
    return STR_NONE;
  yyjson_mut_val *out = yyjson_mut_obj(run->doc), *fields = NULL;
  const char *spread = spread_name(f.tool);
  if (f.action)
    yyjson_mut_obj_add_str(run->doc, out, "action", f.action->name);
  size_t i, n;
  yyjson_mut_val *key, *v;
  yyjson_mut_obj_foreach(args, i, n, key, v) {
    struct str param = {yyjson_mut_get_str(key), yyjson_mut_get_len(key)}, name = shown_name(&f, param);
    struct tool_arg ignored;
    const struct param *p = op_param(op_find(str_from(op)), param);
    if (!p || !tool_arg_of(p, &ignored))
      continue; /* what the door or the user says */
    if (!name.p && !spread)
      return STR_NONE;
    if (!name.p && !fields)
      fields = yyjson_mut_obj(run->doc);
    struct str as = name.p ? name : param;
    yyjson_mut_obj_put(name.p ? out : fields, yyjson_mut_strncpy(run->doc, as.p, as.n),
                       yyjson_mut_val_mut_copy(run->doc, v));
  }
  if (fields)
    yyjson_mut_obj_put(out, yyjson_mut_str(run->doc, spread), fields);
  return arena_printf(run->arena, "%s %s", f.tool->name, json_write(run->arena, out, false).p);
}

/* ---- reading a command in a sentence ---- */

/* The next word of a command: quoted, or up to white space. Ends the command where the sentence goes on. */
static bool next_word(struct str *rest, bool quoted, struct str *ret_word) {
  while (rest->n && rest->p[0] == ' ')
    *rest = str_slice(*rest, 1, rest->n);
  if (!rest->n || strchr("';,\n)", rest->p[0])) {
    if (!rest->n || rest->p[0] != '\'' || quoted)
      return false;
    /* A quoted value belongs to the command, the quote that ends the whole command does not. */
    size_t end = str_find(*rest, STR("'"), 1);
    if (end == SIZE_MAX || end == 1)
      return false;
    *ret_word = str_slice(*rest, 1, end);
    *rest = str_slice(*rest, end + 1, rest->n);
    return true;
  }
  size_t n = 0;
  while (n < rest->n && !strchr(" ';,\n)", rest->p[n]))
    n++;
  *ret_word = str_slice(*rest, 0, n);
  *rest = str_slice(*rest, n, rest->n);
  return n > 0;
}

/* The operation whose name starts the text; the longest. */
static const struct op *leading_op(struct str text) {
  const struct op *best = NULL;
  size_t best_n = 0;
  for (const struct op *op = ops; op->name; op++) {
    size_t n = strlen(op->name);
    bool ends = text.n == n || (text.n > n && !ascii_alnum(text.p[n]) && text.p[n] != '_' && text.p[n] != '-');
    if (n > best_n && str_starts(text, str_from(op->name)) && ends) {
      best = op;
      best_n = n;
    }
  }
  return best;
}

static const struct param *option(const struct op *op, struct str word) {
  for (const struct param *p = op->params; p->name; p++) {
    struct str name = str_from(p->cli ? p->cli : p->name);
    bool same = name.n == word.n;
    for (size_t i = 0; same && i < name.n; i++)
      same = name.p[i] == word.p[i] || (name.p[i] == '_' && word.p[i] == '-');
    if (same)
      return p;
  }
  return NULL;
}

static const struct param *positional(const struct op *op, size_t place) {
  for (const struct param *p = op->params; p->name; p++)
    if ((p->flags & PARAM_POSITIONAL) && place-- == 0)
      return p;
  return NULL;
}

static void put_word(yyjson_mut_doc *doc, yyjson_mut_val *args, const struct param *p, struct str word) {
  yyjson_mut_val *v;
  int64_t i;
  if (p->form == PARAM_BOOL)
    v = yyjson_mut_bool(doc, true);
  else if (str_int64(word, &i))
    v = yyjson_mut_sint(doc, i);
  else
    v = yyjson_mut_strncpy(doc, word.p, word.n);
  yyjson_mut_obj_put(args, yyjson_mut_str(doc, p->name), v);
}

/* A number, a placeholder or a choice; another word behind the first place may be where the sentence goes on. */
static bool is_value(const struct param *p, struct str word) {
  for (const char *const *c = p->choices; c && *c; c++)
    if (str_is(word, *c))
      return true;
  return ascii_digit(word.p[0]) || ascii_upper(word.p[0]);
}

/* Reads the arguments of a command as far as it goes. */
static yyjson_mut_val *command_args(const struct tool_run *run, const struct op *op, bool quoted, struct str *rest) {
  yyjson_mut_val *args = yyjson_mut_obj(run->doc);
  size_t place = 0;
  struct str word, before = *rest;
  while (next_word(rest, quoted, &word)) {
    bool is_option = str_starts(word, STR("--"));
    const struct param *p = is_option ? option(op, str_slice(word, 2, word.n)) : positional(op, place++);
    if (!p || (!is_option && !quoted && place > 1 && !is_value(p, word))) {
      *rest = before;
      break;
    }
    if (is_option && p->form != PARAM_BOOL && !next_word(rest, quoted, &word))
      word = str_from(p->value ? p->value : "VALUE");
    put_word(run->doc, args, p, word);
    before = *rest;
  }
  return args;
}

/* ---- the sentence ---- */

/* A command that no tool of the profile does, up to its end: for the user, who has a command line. */
static void add_foreign(struct buf *b, struct str *rest, bool quoted) {
  size_t n = 0;
  while (n < rest->n && !strchr(quoted ? "'" : ";,)", rest->p[n]))
    n++;
  if (str_starts(*rest, STR("help ")))
    buf_adds(b, "the definition of the tool");
  else
    buf_addf(b, "'cairn %.*s' (a command for the user)", STR_ARG(str_slice(*rest, 0, n)));
  *rest = str_slice(*rest, n + (quoted && n < rest->n), rest->n);
}

/* One command at the start of *rest, behind the word "cairn ", written as a call. */
static void add_command(const struct tool_run *run, struct buf *b, struct str *rest, bool quoted) {
  const struct op *op = leading_op(*rest);
  if (!op) {
    if (quoted)
      add_foreign(b, rest, quoted);
    else
      buf_adds(b, "cairn ");
    return;
  }
  struct str after = str_slice(*rest, strlen(op->name), rest->n);
  struct str call = tool_call_text(run, op->name, command_args(run, op, quoted, &after));
  bool is_whole = !quoted || str_starts(after, STR("'"));
  if (!call.p || !is_whole) {
    add_foreign(b, rest, quoted);
    return;
  }
  buf_add(b, call);
  *rest = quoted && str_starts(after, STR("'")) ? str_slice(after, 1, after.n) : after;
}

/* "--inherit-key" is the argument inherit_key. */
static void add_option(struct buf *b, struct str *rest) {
  size_t n = 2;
  while (n < rest->n && (ascii_alnum(rest->p[n]) || rest->p[n] == '-'))
    n++;
  for (size_t i = 2; i < n; i++)
    buf_addc(b, rest->p[i] == '-' ? '_' : rest->p[i]);
  *rest = str_slice(*rest, n, rest->n);
}

struct str tool_words(const struct tool_run *run, struct str text) {
  struct buf b = BUF(run->arena);
  struct str rest = text;
  while (rest.n) {
    bool fresh = !b.n || !ascii_alnum(b.p[b.n - 1]);
    bool quoted = str_starts(rest, STR("'cairn "));
    if (fresh && (quoted || str_starts(rest, STR("cairn ")))) {
      rest = str_slice(rest, quoted ? 7 : 6, rest.n);
      add_command(run, &b, &rest, quoted);
      continue;
    }
    if (fresh && rest.n > 3 && str_starts(rest, STR("--")) && ascii_alpha(rest.p[2])) {
      add_option(&b, &rest);
      continue;
    }
    buf_addc(&b, rest.p[0]);
    rest = str_slice(rest, 1, rest.n);
  }
  return buf_str(&b);
}
