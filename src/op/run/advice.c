/* advice.c: translates command lines in messages into the calls of another interface. */
#include "op/run/advice.h"

#include <assert.h>

#include "op/run/results.h"

/* How messages name the session option of the command line. */
#define SESSION_OPTION "--session, or CAIRN_SESSION"

/* ---- parsing a command in a sentence ---- */

/* Length of the value in shell quotes that the text starts with, such as 'it'\''s'; 0 if there is none, or its end was
 * cut off. */
static size_t quoted_length(struct str text) {
  size_t end = 0;
  while (str_starts(str_slice(text, end, text.n), end ? STR("\\''") : STR("'"))) {
    end = str_find(text, STR("'"), end + (end ? 3 : 1));
    if (end == SIZE_MAX)
      return 0;
    end++;
  }
  return end;
}

/* The value that the quotes stand for. */
static struct str unquote(struct arena *a, struct str quoted) {
  struct buf b = BUF(a);
  assert(quoted.n >= 2);
  for (size_t i = 1; i + 1 < quoted.n; i++) {
    buf_addc(&b, quoted.p[i]);
    if (str_starts(str_slice(quoted, i, quoted.n), STR("'\\''")))
      i += 3;
  }
  return b.n ? buf_str(&b) : STR("");
}

/* Next word of a command: quoted, or up to white space. False at the end of the command. */
static bool next_word(struct arena *a, struct str *rest, bool quoted, struct str *ret_word) {
  while (rest->n && rest->p[0] == ' ')
    *rest = str_slice(*rest, 1, rest->n);
  if (!rest->n || strchr("';,\n)", rest->p[0])) {
    /* A quoted value is part of the command; the quote that closes a quoted command is not. */
    size_t n = quoted ? 0 : quoted_length(*rest);
    if (n <= 2)
      return false;
    *ret_word = unquote(a, str_slice(*rest, 0, n));
    *rest = str_slice(*rest, n, rest->n);
    return true;
  }
  size_t n = 0;
  while (n < rest->n && !strchr(" ';,\n)", rest->p[n]))
    n++;
  *ret_word = str_slice(*rest, 0, n);
  *rest = str_slice(*rest, n, rest->n);
  return n > 0;
}

/* Operation with the longest name that the text starts with. */
static const struct op *leading_op(struct str text) {
  const struct op *best = NULL;
  size_t best_n = 0;
  EACH_OP(op) {
    size_t n = strlen(op->name);
    bool ends = text.n == n || (text.n > n && !ascii_alnum(text.p[n]) && text.p[n] != '_' && text.p[n] != '-');
    if (n > best_n && str_starts(text, str_from(op->name)) && ends) {
      best = op;
      best_n = n;
    }
  }
  return best;
}

static const struct param *find_named(const struct param *p, struct str word) {
  for (; p->name; p++) {
    struct str name = str_from(p->cli ? p->cli : p->name);
    bool same = name.n == word.n;
    for (size_t i = 0; same && i < name.n; i++)
      same = name.p[i] == word.p[i] || (name.p[i] == '_' && word.p[i] == '-');
    if (same)
      return p;
  }
  return NULL;
}

const struct param *op_option(const struct op *op, struct str option) {
  const struct param *p = find_named(op->params, option);
  return p ? p : find_named(common_params, option);
}

static const struct param *find_positional(const struct op *op, size_t index) {
  for (const struct param *p = op->params; p->name; p++)
    if ((p->flags & PARAM_POSITIONAL) && index-- == 0)
      return p;
  return NULL;
}

static void put_arg(yyjson_mut_doc *doc, yyjson_mut_val *args, const struct param *p, struct str word) {
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

/* "-" stands for a value that is read from standard input. */
static bool is_stdin(const struct param *p, struct str word) { return (p->flags & PARAM_STDIN) && str_is(word, "-"); }

/* A value in quotes, a number, a placeholder or a choice. After the first positional argument, any other word may
 * continue the sentence. */
static bool is_value(const struct param *p, struct str before, struct str word) {
  assert(word.n > 0);
  if (str_starts(str_trim(before), STR("'")))
    return true;
  if (is_stdin(p, word))
    return true;
  for (const char *const *c = p->choices; c && *c; c++)
    if (str_is(word, *c))
      return true;
  return ascii_digit(word.p[0]) || ascii_upper(word.p[0]);
}

/* Parses the arguments and moves *rest past the last one. */
static yyjson_mut_val *parse_args(const struct advice_interface *to, const struct op *op, bool quoted,
                                  struct str *rest) {
  yyjson_mut_val *args = yyjson_mut_obj(to->doc);
  size_t positional_count = 0;
  struct str word, before = *rest;
  while (next_word(to->arena, rest, quoted, &word)) {
    bool named = str_starts(word, STR("--"));
    const struct param *p = named ? op_option(op, str_slice(word, 2, word.n)) : find_positional(op, positional_count++);
    if (!p || (!named && !quoted && positional_count > 1 && !is_value(p, before, word))) {
      *rest = before;
      break;
    }
    bool is_absent = named && p->form != PARAM_BOOL && !next_word(to->arena, rest, quoted, &word);
    if (is_absent || is_stdin(p, word))
      word = str_from(p->value ? p->value : "VALUE");
    put_arg(to->doc, args, p, word);
    before = *rest;
  }
  return args;
}

/* ---- the sentence ---- */

/* Length of a command, with its quoted values. */
static size_t command_length(struct str text, bool quoted) {
  size_t n = 0;
  while (n < text.n && !strchr(quoted ? "'" : ";,)", text.p[n])) {
    size_t value = quoted ? 0 : quoted_length(str_slice(text, n, text.n));
    n += value ? value : 1;
  }
  return n;
}

/* Copies a command that is not available at this interface, and says where to run it. */
static void add_foreign(const struct advice_interface *to, struct buf *b, struct str *rest, bool quoted) {
  size_t n = command_length(*rest, quoted);
  struct str command = str_trim(str_slice(*rest, 0, n));
  const char *quote = str_find(command, STR("'"), 0) == SIZE_MAX ? "'" : "`";
  buf_addf(b, "%scairn %.*s%s (%s)", quote, STR_ARG(command), quote, to->elsewhere);
  if (!quoted && n && rest->p[n - 1] == ' ')
    buf_addc(b, ' ');
  *rest = str_slice(*rest, n + (quoted && n < rest->n), rest->n);
}

/* True if the clause before the command is about a person: "ask your user to run", "a person can trust it:". */
static bool is_for_person(struct str before) {
  size_t start = before.n;
  while (start > 0 && before.p[start - 1] != ';')
    start--;
  struct str clause = str_slice(before, start, before.n);
  return str_find(clause, STR("person"), 0) != SIZE_MAX || str_find(clause, STR("user"), 0) != SIZE_MAX;
}

/* Writes the command at the start of *rest, after "cairn ", as a call. Destructive operations, and those that a person
 * has to run, are never suggested as calls. */
static void add_command(const struct advice_interface *to, struct buf *b, struct str *rest, bool quoted,
                        const struct op **ret_op) {
  const struct op *op = leading_op(*rest);
  *ret_op = op;
  if (!op) {
    if (quoted)
      add_foreign(to, b, rest, quoted);
    else
      buf_adds(b, "cairn ");
    return;
  }
  struct str after = str_slice(*rest, strlen(op->name), rest->n);
  yyjson_mut_val *args = parse_args(to, op, quoted, &after);
  struct str call = (op->flags & OP_DESTRUCTIVE) || is_for_person(buf_str(b)) ? STR_NONE : to->call(to, op, args);
  bool is_whole = !quoted || str_starts(after, STR("'"));
  if (!call.p || !is_whole) {
    add_foreign(to, b, rest, quoted);
    return;
  }
  buf_add(b, call);
  *rest = quoted && str_starts(after, STR("'")) ? str_slice(after, 1, after.n) : after;
}

static bool is_option(struct str word) {
  EACH_OP(op)
    if (op_option(op, word))
      return true;
  return false;
}

/* Copies the value after an option: in quotes, a number or a placeholder. */
static void add_value(const struct advice_interface *to, struct buf *b, struct str *rest) {
  struct str value = str_starts(*rest, STR(" ")) ? str_slice(*rest, 1, rest->n) : STR("");
  size_t n = quoted_length(value);
  if (n) {
    buf_addf(b, " '%.*s'", STR_ARG(unquote(to->arena, str_slice(value, 0, n))));
  } else {
    while (n < value.n && (ascii_digit(value.p[n]) || ascii_upper(value.p[n])))
      n++;
    buf_addf(b, "%s%.*s", n ? " " : "", STR_ARG(str_slice(value, 0, n)));
  }
  *rest = n ? str_slice(value, n, value.n) : *rest;
}

/* "--inherit-key" becomes inherit_key, with its quoted value. Options of other programs are copied unchanged, and so
 * are options that only the command line has. */
static void add_option(const struct advice_interface *to, const struct op *op, struct buf *b, struct str *rest) {
  assert(str_starts(*rest, STR("--")));
  size_t n = 2;
  while (n < rest->n && (ascii_alnum(rest->p[n]) || rest->p[n] == '-'))
    n++;
  struct str word = str_slice(*rest, 2, n);
  bool is_ours = is_option(word), is_taken = !to->takes || (op && op_option(op, word)) || to->takes(to, word);
  for (size_t i = is_ours && is_taken ? 2 : 0; i < n; i++)
    buf_addc(b, is_ours && is_taken && rest->p[i] == '-' ? '_' : rest->p[i]);
  *rest = str_slice(*rest, n, rest->n);
  add_value(to, b, rest);
  if (is_ours && !is_taken)
    buf_addf(b, " (%s)", to->user_option);
}

struct str advice_translate(const struct advice_interface *to, struct str text) {
  struct buf b = BUF(to->arena);
  struct str rest = text;
  const struct op *op = NULL; /* of the last command in this clause, to which options belong */
  while (rest.n) {
    bool word_start = !b.n || !ascii_alnum(b.p[b.n - 1]);
    bool quoted = str_starts(rest, STR("'cairn "));
    if (word_start && (quoted || str_starts(rest, STR("cairn ")))) {
      rest = str_slice(rest, quoted ? 7 : 6, rest.n);
      add_command(to, &b, &rest, quoted, &op);
      continue;
    }
    if (word_start && str_starts(rest, STR(SESSION_OPTION))) {
      buf_adds(&b, to->session);
      rest = str_slice(rest, sizeof(SESSION_OPTION) - 1, rest.n);
      continue;
    }
    if (word_start && rest.n > 3 && str_starts(rest, STR("--")) && ascii_alpha(rest.p[2])) {
      add_option(to, op, &b, &rest);
      continue;
    }
    if (rest.p[0] == ';')
      op = NULL;
    buf_addc(&b, rest.p[0]);
    rest = str_slice(rest, 1, rest.n);
  }
  return buf_str(&b);
}

/* ---- results ---- */

static void rewrite_text(struct arena *a, yyjson_mut_val *v, advice_rewriter rewrite, void *arg) {
  struct str text = {yyjson_mut_get_str(v), yyjson_mut_get_len(v)};
  text = arena_dup(a, rewrite(arg, text));
  yyjson_mut_set_strn(v, text.p, text.n);
}

static void rewrite_value(struct arena *a, yyjson_mut_val *schema, yyjson_mut_val *v, advice_rewriter rewrite,
                          void *arg) {
  size_t i, n;
  yyjson_mut_val *key, *e;
  if (yyjson_mut_is_str(v) && yyjson_mut_get_bool(yyjson_mut_obj_get(schema, "advice"))) {
    rewrite_text(a, v, rewrite, arg);
  } else if (yyjson_mut_is_arr(v)) {
    yyjson_mut_val *items = yyjson_mut_obj_get(schema, "items");
    yyjson_mut_arr_foreach(v, i, n, e) {
      rewrite_value(a, items, e, rewrite, arg);
    }
  } else if (yyjson_mut_is_obj(v)) {
    yyjson_mut_val *members = yyjson_mut_obj_get(schema, "properties");
    yyjson_mut_obj_foreach(v, i, n, key, e) {
      rewrite_value(a, yyjson_mut_obj_getn(members, yyjson_mut_get_str(key), yyjson_mut_get_len(key)), e, rewrite, arg);
    }
  }
}

/* True for "- 3 more: cairn list --kind rule" of an entry of `dropped`. */
static bool is_dropped_line(struct arena *a, yyjson_mut_val *dropped, struct str line) {
  size_t i, n;
  yyjson_mut_val *d;
  yyjson_mut_arr_foreach(dropped, i, n, d) {
    const char *state = yyjson_mut_get_str(yyjson_mut_obj_get(d, "state")),
               *fetch = yyjson_mut_get_str(yyjson_mut_obj_get(d, "fetch"));
    long long count = (long long)yyjson_mut_get_sint(yyjson_mut_obj_get(d, "count"));
    if (fetch && str_eq(line, arena_printf(a, "- %lld %s: %s", count, state ? state : "more", fetch)))
      return true;
  }
  return false;
}

/* The payload of boot and a page of memories end their sections with what was left out. No stored text starts a line
 * like that: each is behind a bullet, on one line. */
static bool is_advice_line(struct arena *a, const struct op *op, yyjson_mut_val *result, struct str line) {
  if (strcmp(op->name, "page") == 0)
    return str_starts(line, STR("*Left out: "));
  return is_dropped_line(a, yyjson_mut_obj_get(result, "dropped"), line);
}

static void rewrite_lines(struct arena *a, const struct op *op, yyjson_mut_val *result, advice_rewriter rewrite,
                          void *arg) {
  yyjson_mut_val *v = yyjson_mut_obj_get(result, "text");
  struct str rest = {yyjson_mut_get_str(v), yyjson_mut_get_len(v)}, line;
  struct buf b = BUF(a);
  if (!yyjson_mut_is_str(v))
    return;
  while (str_line(&rest, &line)) {
    buf_add(&b, is_advice_line(a, op, result, line) ? rewrite(arg, line) : line);
    buf_addc(&b, '\n');
  }
  if (b.n) /* an empty text stays */
    yyjson_mut_set_strn(v, b.p, b.n);
}

void advice_rewrite_result(struct arena *a, const struct op *op, yyjson_mut_val *result, advice_rewriter rewrite,
                           void *arg) {
  static const struct result_style style = {.advice = true};
  assert(op && yyjson_mut_is_obj(result));
  if (strcmp(op->name, "boot") == 0 || strcmp(op->name, "page") == 0)
    rewrite_lines(a, op, result, rewrite, arg);
  rewrite_value(a, result_schema(a, json_new(a), op->result, &style), result, rewrite, arg);
}
