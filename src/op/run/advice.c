/* advice.c: translates command lines in messages into the calls of another interface. */
#include "op/run/advice.h"

#include <assert.h>

/* How messages name the session option of the command line. */
#define SESSION_OPTION "--session, or CAIRN_SESSION"

bool is_advice_member(yyjson_mut_val *of, struct str member) {
  static const char *const names[] = {"fix", "fetch", "degraded", "message", NULL};
  if (str_is(member, "note"))
    return !yyjson_mut_obj_get(of, "created_at");
  for (const char *const *p = names; *p; p++)
    if (str_is(member, *p))
      return true;
  return false;
}

/* ---- parsing a command in a sentence ---- */

/* Next word of a command: quoted, or up to white space. False at the end of the command. */
static bool next_word(struct str *rest, bool quoted, struct str *ret_word) {
  while (rest->n && rest->p[0] == ' ')
    *rest = str_slice(*rest, 1, rest->n);
  if (!rest->n || strchr("';,\n)", rest->p[0])) {
    if (!rest->n || rest->p[0] != '\'' || quoted)
      return false;
    /* A quoted value is part of the command; the quote that closes a quoted command is not. */
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

static const struct param *find_option(const struct op *op, struct str word) {
  const struct param *p = find_named(op->params, word);
  return p ? p : find_named(common_params, word);
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

/* A number, a placeholder or a choice. After the first positional argument, any other word may continue the sentence.
 */
static bool is_value(const struct param *p, struct str word) {
  assert(word.n > 0);
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
  while (next_word(rest, quoted, &word)) {
    bool named = str_starts(word, STR("--"));
    const struct param *p =
        named ? find_option(op, str_slice(word, 2, word.n)) : find_positional(op, positional_count++);
    if (!p || (!named && !quoted && positional_count > 1 && !is_value(p, word))) {
      *rest = before;
      break;
    }
    if (named && p->form != PARAM_BOOL && !next_word(rest, quoted, &word))
      word = str_from(p->value ? p->value : "VALUE");
    put_arg(to->doc, args, p, word);
    before = *rest;
  }
  return args;
}

/* ---- the sentence ---- */

/* Copies a command that is not available at this interface, and says where to run it. */
static void add_foreign(const struct advice_interface *to, struct buf *b, struct str *rest, bool quoted) {
  size_t n = 0;
  while (n < rest->n && !strchr(quoted ? "'" : ";,)", rest->p[n]))
    n++;
  buf_addf(b, "'cairn %.*s' (%s)", STR_ARG(str_slice(*rest, 0, n)), to->elsewhere);
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
static void add_command(const struct advice_interface *to, struct buf *b, struct str *rest, bool quoted) {
  const struct op *op = leading_op(*rest);
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
    if (find_option(op, word))
      return true;
  return false;
}

/* "--inherit-key" becomes inherit_key. Other options belong to another program or only to the command line, and are
 * copied unchanged. */
static void add_option(struct buf *b, struct str *rest) {
  assert(str_starts(*rest, STR("--")));
  size_t n = 2;
  while (n < rest->n && (ascii_alnum(rest->p[n]) || rest->p[n] == '-'))
    n++;
  bool ours = is_option(str_slice(*rest, 2, n));
  for (size_t i = ours ? 2 : 0; i < n; i++)
    buf_addc(b, ours && rest->p[i] == '-' ? '_' : rest->p[i]);
  *rest = str_slice(*rest, n, rest->n);
}

/* After "memory 12: " and the like, the rest of the message quotes the memory. */
static bool starts_quote(struct str text) {
  static const char *const ends[] = {": ", " (", ", which stays: ", NULL};
  size_t n = sizeof("memory ") - 1, digits = n;
  if (!str_starts(text, STR("memory ")))
    return false;
  while (digits < text.n && ascii_digit(text.p[digits]))
    digits++;
  for (const char *const *p = ends; *p && digits > n; p++)
    if (str_starts(str_slice(text, digits, text.n), str_from(*p)))
      return true;
  return false;
}

struct str advice_translate(const struct advice_interface *to, struct str text) {
  struct buf b = BUF(to->arena);
  struct str rest = text;
  while (rest.n) {
    bool word_start = !b.n || !ascii_alnum(b.p[b.n - 1]);
    bool quoted = str_starts(rest, STR("'cairn "));
    if (word_start && starts_quote(rest)) {
      buf_add(&b, rest);
      break;
    }
    if (word_start && (quoted || str_starts(rest, STR("cairn ")))) {
      rest = str_slice(rest, quoted ? 7 : 6, rest.n);
      add_command(to, &b, &rest, quoted);
      continue;
    }
    if (word_start && str_starts(rest, STR(SESSION_OPTION))) {
      buf_adds(&b, to->session);
      rest = str_slice(rest, sizeof(SESSION_OPTION) - 1, rest.n);
      continue;
    }
    if (word_start && rest.n > 3 && str_starts(rest, STR("--")) && ascii_alpha(rest.p[2])) {
      add_option(&b, &rest);
      continue;
    }
    buf_addc(&b, rest.p[0]);
    rest = str_slice(rest, 1, rest.n);
  }
  return buf_str(&b);
}
