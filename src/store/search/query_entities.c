/* query_entities.c: extracts identifiers, numbers, quoted strings, labels, keys, names and rare words from a query. */
#include "store/search/query_entities.h"

#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "core/text/terms.h"

enum {
  QUOTED_BYTES = 200, /* maximum length of a quoted string */
  KEY_BYTES = 200,
  PREFIX_BYTES = 5, /* minimum length of a mixed word that is also searched as a prefix */
};
static const double NAMED_SHARE = 1 / 10.0; /* a text in a larger share of the store is not an entity */
static const double RARE_ROWS = 20;         /* a plain word in at most this many rows is an entity, */
static const double RARE_SHARE = 1 / 50.0;  /* if that is at most this share of the store */

struct listing {
  const struct term_source *source;
  const struct query_terms *terms;
  struct arena *a;
  struct error *err;
  struct strs listed;
  struct query_entities entities;
};

static double named_rows(const struct listing *e) {
  double share = e->terms->rows * NAMED_SHARE, most = ENTITY_ROWS;
  return share > most ? most : share < 3 ? 3 : share;
}

static double rare_rows(const struct listing *e) {
  double share = e->terms->rows * RARE_SHARE;
  return share > RARE_ROWS ? RARE_ROWS : share;
}

static void add_entity(struct listing *e, struct query_entity entity) {
  struct str name = arena_printf(e->a, "%d%s\n%.*s\n%.*s%s", (int)entity.kind, entity.field ? entity.field : "",
                                 STR_ARG(entity.value), STR_ARG(entity.joined), entity.prefix ? "*" : "");
  if (entity.most < 1 || strs_has(&e->listed, name))
    return;
  strs_push(e->a, &e->listed, name);
  list_push(e->a, &e->entities, entity);
}

static void add_text(struct listing *e, struct str text, double most) {
  add_entity(e, (struct query_entity){.kind = ENTITY_TEXT, .value = text, .most = most});
}

static void add_label(struct listing *e, const char *field, struct str value) {
  add_entity(e, (struct query_entity){.kind = ENTITY_LABEL, .field = field, .value = value, .most = ENTITY_ROWS});
}

static void add_key(struct listing *e, struct str key) {
  if (key.n <= KEY_BYTES)
    add_entity(e, (struct query_entity){.kind = ENTITY_KEY, .value = key, .most = ENTITY_ROWS});
}

/* Adds the contents of "..." and `...` as phrases. */
static enum status add_quoted(struct listing *e, struct str query) {
  for (size_t i = 0; i < query.n; i++) {
    char mark = query.p[i];
    if (mark != '"' && mark != '`')
      continue;
    const char *close = memchr(query.p + i + 1, mark, query.n - i - 1);
    if (!close)
      continue;
    size_t end = (size_t)(close - query.p);
    struct str text = str_trim(str_slice(query, i + 1, end));
    i = end;
    struct fts_tokens tokens = {0};
    if (text.n == 0 || text.n > QUOTED_BYTES)
      continue;
    TRY(e->source->tokenise(e->source->arg, text, e->a, &tokens, e->err));
    if (tokens.n)
      add_text(e, text, named_rows(e));
  }
  return STATUS_OK;
}

static bool has_letters_and_digits(struct str word) {
  bool letter = false, digit = false, other = false;
  for (size_t i = 0; i < word.n; i++) {
    letter |= ascii_alpha(word.p[i]);
    digit |= ascii_digit(word.p[i]);
    other |= !ascii_alnum(word.p[i]);
  }
  return letter && digit && !other;
}

/* Adds a name as written, its joined form and, for a hash or ticket number, the name as a prefix. */
static void add_identifier(struct listing *e, struct str name) {
  struct query_entity entity = {.kind = ENTITY_TEXT, .value = name, .most = named_rows(e)};
  struct buf joined = BUF(e->a);
  for (size_t i = 0; i < name.n; i++)
    if (!strchr("_./\\-:", name.p[i]))
      buf_addc(&joined, name.p[i]);
  if (joined.n >= 4 && joined.n < name.n)
    entity.joined = buf_str(&joined);
  entity.prefix = name.n >= PREFIX_BYTES && has_letters_and_digits(name);
  add_entity(e, entity);
}

static bool is_number(struct str name) {
  size_t digits = 0;
  for (size_t i = 0; i < name.n; i++)
    digits += ascii_digit(name.p[i]);
  return digits >= 3 && digits == name.n;
}

/* Is it a proper name? Capitals at the start of a sentence do not count. */
static bool is_capitalised(struct str query, struct str name) {
  size_t first = 0, at = (size_t)(name.p - query.p);
  assert(name.n > 0 && at + name.n <= query.n);
  if (!utf8_is_upper(utf8_next(name, &first)) || name.n < 2)
    return false;
  while (at > 0 && ascii_space(query.p[at - 1]))
    at--;
  return at > 0 &&
         (ascii_alnum(query.p[at - 1]) || strchr(",;)'\"", query.p[at - 1]) || (unsigned char)query.p[at - 1] >= 0x80);
}

static void add_name(struct listing *e, struct str query, struct str name) {
  char before = name.p > query.p ? name.p[-1] : ' ';
  if (before == '#')
    add_label(e, "tags", name);
  else if (before == '@')
    add_label(e, "people", name);
  if (terms_is_identifier(name)) {
    add_key(e, name);
    add_identifier(e, name);
    return;
  }
  if (str_find(name, STR("-"), 0) != SIZE_MAX)
    add_key(e, name);
  if (is_number(name)) {
    add_text(e, name, named_rows(e));
  } else if (is_capitalised(query, name) && !terms_is_stop_word(arena_lower(e->a, name))) {
    add_label(e, "topics", name);
    add_text(e, name, named_rows(e));
  }
}

static void add_rare(struct listing *e) {
  const struct query_terms *terms = e->terms;
  for (size_t i = 0; i < terms->n && terms->v[i].df <= rare_rows(e); i++)
    if (!terms_is_stop_word(arena_lower(e->a, terms->v[i].surface)))
      add_text(e, terms->v[i].surface, rare_rows(e));
}

enum status query_entities(const struct term_source *source, struct str query, const struct query_terms *terms,
                           struct arena *a, struct query_entities *ret_entities, struct error *err) {
  struct listing e = {.source = source, .terms = terms, .a = a, .err = err};
  struct str name;
  size_t pos = 0;
  enum status s = add_quoted(&e, query);
  while (s == STATUS_OK && terms_next_name(query, &pos, &name))
    if (name.n <= QUOTED_BYTES)
      add_name(&e, query, name);
  add_rare(&e);
  if (s == STATUS_OK)
    *ret_entities = e.entities;
  return s;
}

/* ---- results ---- */

static int by_chunk(const void *a, const void *b) {
  const struct entity_row *x = a, *y = b;
  return x->chunk_id < y->chunk_id ? -1 : x->chunk_id > y->chunk_id;
}

static int by_score(const void *a, const void *b) {
  const struct entity_row *x = a, *y = b;
  if (x->score != y->score)
    return x->score > y->score ? -1 : 1;
  return by_chunk(a, b);
}

void entity_rows_merge(struct entity_rows *rows) {
  if (rows->n == 0)
    return;
  qsort(rows->v, rows->n, sizeof(*rows->v), by_chunk);
  size_t n = 0;
  for (size_t i = 1; i < rows->n; i++) {
    if (rows->v[i].chunk_id == rows->v[n].chunk_id)
      rows->v[n].score += rows->v[i].score;
    else
      rows->v[++n] = rows->v[i];
  }
  rows->n = n + 1;
  qsort(rows->v, rows->n, sizeof(*rows->v), by_score);
}
