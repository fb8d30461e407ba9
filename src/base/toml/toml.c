/* toml.c: lines of a TOML document: comments, keys, headers, and the rules for defining tables. */
#include "base/toml/toml.h"

#include <assert.h>

#include "base/toml/internal.h"
#include "base/utf8.h"

/* ---- positions and errors ---- */

void toml_place(struct toml_reader *r, size_t at, int *ret_line, int *ret_column) {
  assert(at <= r->text.n);
  if (at < r->known.begin)
    memset(&r->known, 0, sizeof(r->known));
  for (; r->known.at < at; r->known.at++)
    if (r->text.p[r->known.at] == '\n') {
      r->known.line++;
      r->known.begin = r->known.at + 1;
    }
  assert(r->known.begin <= at);
  *ret_line = r->known.line + 1;
  *ret_column = (int)utf8_length(str_slice(r->text, r->known.begin, at)) + 1;
}

enum status toml_fail(struct toml_reader *r, size_t at, const char *what, const char *fix) {
  int line, column;
  toml_place(r, at, &line, &column);
  error_set(r->err, STATUS_USAGE, "%s:%d:%d: %s", r->name, line, column, what);
  return error_fix(r->err, "%s", fix);
}

/* ---- white space and comments ---- */

void toml_skip_blanks(struct toml_reader *r) {
  while (toml_peek(r) == ' ' || toml_peek(r) == '\t')
    r->at++;
}

bool toml_skip_newline(struct toml_reader *r) {
  if (toml_peek(r) == '\n')
    r->at++;
  else if (toml_looking_at(r, STR("\r\n")))
    r->at += 2;
  else
    return false;
  return true;
}

enum status toml_skip_comment(struct toml_reader *r) {
  if (toml_peek(r) != '#')
    return STATUS_OK;
  for (;; r->at++) {
    int c = toml_peek(r);
    if (c == -1 || c == '\n' || toml_looking_at(r, STR("\r\n")))
      return STATUS_OK;
    if ((c < 0x20 && c != '\t') || c == 0x7f)
      return toml_fail(r, r->at, "control character in a comment", "remove it");
  }
}

/* Only white space and a comment may follow. */
static enum status end_line(struct toml_reader *r) {
  toml_skip_blanks(r);
  TRY(toml_skip_comment(r));
  if (toml_peek(r) == -1 || toml_skip_newline(r))
    return STATUS_OK;
  return toml_fail(r, r->at, "unexpected text after the value or header",
                   "write one 'key = value' or '[table]' per line; comments begin with #");
}

/* ---- tables ---- */

void toml_append(struct toml *parent, struct toml *child) {
  assert(!child->next && !parent->first == !parent->last);
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
}

struct toml *toml_get(const struct toml *table, struct str key) {
  assert(table->form == TOML_TABLE);
  for (struct toml *t = table->first; t; t = t->next)
    if (str_eq(t->key, key))
      return t;
  return NULL;
}

static struct toml *add(struct toml_reader *r, struct toml *to, struct str key, size_t at, enum made how) {
  struct toml *t = arena_new(r->a, struct toml);
  t->key = key;
  t->how = (int)how;
  t->section = r->section;
  toml_place(r, at, &t->line, &t->column);
  toml_append(to, t);
  return t;
}

/* ---- keys ---- */

struct part {
  struct str key;
  size_t at;
};
struct key {
  struct part part[TOML_DEPTH];
  size_t n;
};

static bool is_bare(int c) { return c >= 0 && (ascii_alnum((char)c) || c == '_' || c == '-'); }

static enum status read_part(struct toml_reader *r, struct str *ret_key) {
  size_t from = r->at;
  if (toml_peek(r) == '"' || toml_peek(r) == '\'')
    return toml_text(r, false, ret_key);
  while (is_bare(toml_peek(r)))
    r->at++;
  if (r->at == from)
    return toml_fail(r, from, "a key is missing", "keys consist of letters, digits, '_' and '-'; put others in quotes");
  *ret_key = arena_dup(r->a, str_slice(r->text, from, r->at));
  return STATUS_OK;
}

/* Reads a.b."c" and the blanks after it. */
static enum status read_key(struct toml_reader *r, struct key *ret_key) {
  ret_key->n = 0;
  for (;;) {
    toml_skip_blanks(r);
    if (ret_key->n == TOML_DEPTH)
      return toml_fail(r, r->at, "the key has too many parts", "use a shorter one");
    struct part *part = &ret_key->part[ret_key->n];
    part->at = r->at;
    TRY(read_part(r, &part->key));
    ret_key->n++;
    toml_skip_blanks(r);
    if (toml_peek(r) != '.')
      return STATUS_OK;
    r->at++;
  }
}

static enum status redefined(struct toml_reader *r, const struct part *part, const struct toml *earlier) {
  struct str key = utf8_one_line(r->a, part->key, 100);
  return toml_fail(r, part->at,
                   arena_printf(r->a, "'%.*s' is already defined on line %d", STR_ARG(key), earlier->line).p,
                   "remove one of the two");
}

/* Enters the table named by a part of a dotted key, and creates it if it is missing. Tables with their own header, or
 * defined under another header, cannot be extended. */
static enum status enter_dotted(struct toml_reader *r, const struct part *part, struct toml **table) {
  struct toml *t = toml_get(*table, part->key);
  if (!t)
    t = add(r, *table, part->key, part->at, MADE_DOTTED);
  else if (t->how == MADE_IMPLIED) {
    t->how = MADE_DOTTED;
    t->section = r->section;
  } else if (t->how != MADE_DOTTED || t->section != r->section)
    return redefined(r, part, t);
  *table = t;
  return STATUS_OK;
}

enum status toml_pair(struct toml_reader *r, struct toml *table) {
  struct key key = {.n = 0};
  TRY(read_key(r, &key));
  assert(key.n > 0);
  for (size_t i = 0; i + 1 < key.n; i++)
    TRY(enter_dotted(r, &key.part[i], &table));
  const struct part *last = &key.part[key.n - 1];
  const struct toml *earlier = toml_get(table, last->key);
  if (earlier)
    return redefined(r, last, earlier);
  if (toml_peek(r) != '=')
    return toml_fail(r, r->at, "'=' is missing after the key", "write key = value");
  r->at++;
  toml_skip_blanks(r);
  return toml_value(r, add(r, table, last->key, last->at, MADE_VALUE));
}

/* ---- headers ---- */

static enum status enter_header(struct toml_reader *r, const struct part *part, struct toml **table) {
  struct toml *t = toml_get(*table, part->key);
  if (!t)
    t = add(r, *table, part->key, part->at, MADE_IMPLIED);
  else if (t->how == MADE_ARRAY_OF_TABLES)
    t = t->last;
  else if (t->how == MADE_INLINE || t->how == MADE_VALUE)
    return redefined(r, part, t);
  assert(t); /* an array of tables is never empty */
  *table = t;
  return STATUS_OK;
}

/* Defines the table of [a.b]. */
static enum status make_table(struct toml_reader *r, const struct part *part, struct toml **table) {
  struct toml *t = toml_get(*table, part->key);
  if (t && t->how != MADE_IMPLIED)
    return redefined(r, part, t);
  if (!t)
    t = add(r, *table, part->key, part->at, MADE_HEADER);
  t->how = MADE_HEADER;
  *table = t;
  return STATUS_OK;
}

/* Appends a table for [[a.b]] to its array. */
static enum status make_element(struct toml_reader *r, const struct part *part, struct toml **table) {
  struct toml *t = toml_get(*table, part->key);
  if (t && t->how != MADE_ARRAY_OF_TABLES)
    return redefined(r, part, t);
  if (!t)
    t = add(r, *table, part->key, part->at, MADE_ARRAY_OF_TABLES);
  t->form = TOML_ARRAY;
  *table = add(r, t, STR_NONE, part->at, MADE_HEADER);
  return STATUS_OK;
}

static enum status read_header(struct toml_reader *r, struct toml *root, struct toml **ret_table) {
  bool element = toml_looking_at(r, STR("[["));
  assert(toml_peek(r) == '[');
  struct str close = element ? STR("]]") : STR("]");
  struct toml *table = root;
  struct key key = {.n = 0};
  r->at += close.n;
  TRY(read_key(r, &key));
  if (!toml_looking_at(r, close))
    return toml_fail(r, r->at, "the header is not closed", element ? "write [[name]]" : "write [name]");
  r->at += close.n;
  r->section = ++r->sections;
  for (size_t i = 0; i + 1 < key.n; i++)
    TRY(enter_header(r, &key.part[i], &table));
  TRY((element ? make_element : make_table)(r, &key.part[key.n - 1], &table));
  *ret_table = table;
  return STATUS_OK;
}

/* ---- documents ---- */

static enum status read_line(struct toml_reader *r, struct toml *root, struct toml **table) {
  toml_skip_blanks(r);
  int c = toml_peek(r);
  if (c == '[')
    TRY(read_header(r, root, table));
  else if (c != -1 && c != '#' && c != '\n' && c != '\r')
    TRY(toml_pair(r, *table));
  return end_line(r);
}

enum status toml_read(struct arena *a, struct str text, const char *name, struct toml **ret_root, struct error *err) {
  struct toml_reader r = {.a = a, .text = text, .name = name, .err = err};
  size_t bad = utf8_check(text);
  if (bad < text.n) {
    r.text.n = bad;
    return toml_fail(&r, bad, "not valid UTF-8", "save the file as UTF-8");
  }
  if (str_starts(text, STR("\xef\xbb\xbf"))) /* byte order mark */
    r.text = str_slice(text, 3, text.n);
  struct toml *root = arena_new(a, struct toml), *table = root;
  root->how = MADE_HEADER;
  root->line = root->column = 1;
  while (r.at < r.text.n)
    TRY(read_line(&r, root, &table));
  assert(r.at == r.text.n && r.depth == 0);
  *ret_root = root;
  return STATUS_OK;
}

const char *toml_form_name(const struct toml *t) {
  static const char *const names[] = {
      [TOML_TABLE] = "a table",    [TOML_ARRAY] = "an array", [TOML_TEXT] = "a string",
      [TOML_INTEGER] = "a number", [TOML_FLOAT] = "a number", [TOML_BOOL] = "a boolean"};
  assert((unsigned)t->form < ARRAY_LEN(names));
  return names[t->form];
}
