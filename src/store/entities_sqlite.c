/* entities_sqlite.c: finds what a query names, in labels, keys and the full-text index. */
#include "store/engine.h"
#include "store/entities.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "core/terms.h"
#include "store/lexical_query.h"
#include "store/store_internal.h"

enum {
  THINGS = 16,         /* looked up for one query */
  THING_ROWS = 1000,   /* what more rows hold names nothing, */
  QUOTED_BYTES = 200,  /* of a quoted string */
  PREFIX_BYTES = 5,    /* a word of letters and digits that is so long may be the beginning of one */
  ENTITY_BYTES = 4096, /* of a query */
};
static const double NAMED_SHARE = 1 / 10.0; /* nor does what is in a larger share of the store */
static const double RARE_ROWS = 20;         /* a plain word that so few rows hold is a thing, */
static const double RARE_SHARE = 1 / 50.0;  /* if that is no larger share of the store */

struct found {
  int64_t chunk_id;
  double score;
};

struct entities {
  struct store *st;
  const struct scope *scope;
  struct arena *a;
  struct error *err;
  struct fts_totals totals;
  const struct query_terms *terms;
  size_t things;
  struct strs asked; /* expressions and labels that were looked up */
  LIST(struct found) found;
};

/* ---- looking up ---- */

static bool is_new(struct entities *e, struct str what) {
  if (e->things >= THINGS || strs_has(&e->asked, what))
    return false;
  strs_push(e->a, &e->asked, what);
  return true;
}

/* Adds the chunks that the query gives; `most` is how many make it no longer a thing. */
static enum status add_rows(struct entities *e, struct rows *r, double most) {
  LIST(int64_t) ids = {0};
  while ((double)ids.n <= most && rows_next(r))
    list_push(e->a, &ids, rows_int(r, 0));
  enum status s = rows_end(r);
  if (s != STATUS_OK || ids.n == 0 || (double)ids.n > most)
    return s;
  double weight = bm25_idf(e->totals.rows, (double)ids.n);
  for (size_t i = 0; i < ids.n; i++)
    list_push(e->a, &e->found, (struct found){ids.v[i], weight});
  e->things++;
  return s;
}

static double named_rows(const struct entities *e) {
  double share = e->totals.rows * NAMED_SHARE, most = THING_ROWS;
  return share > most ? most : share < 3 ? 3 : share;
}

static double rare_rows(const struct entities *e) {
  double share = e->totals.rows * RARE_SHARE;
  return share > RARE_ROWS ? RARE_ROWS : share;
}

static enum status add_text(struct entities *e, struct str expression, double most) {
  if (most < 1 || !is_new(e, expression))
    return STATUS_OK;
  struct rows r;
  db_query(e->st->db, &r, e->err, "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?1 ORDER BY rowid", "s",
           expression);
  return add_rows(e, &r, most);
}

static enum status add_label(struct entities *e, const char *field, struct str value) {
  if (!is_new(e, arena_printf(e->a, "%s\n%.*s", field, STR_ARG(value))))
    return STATUS_OK;
  struct rows r;
  db_query(e->st->db, &r, e->err,
           "SELECT DISTINCT c.id FROM label l JOIN chunk c ON c.memory_id = l.memory_id AND c.seq = 0"
           " WHERE l.team = ?1 AND l.field = ?2 AND l.value IN (?3, ?4) LIMIT ?5",
           "ssssi", e->scope->team, str_from(field), value, arena_lower(e->a, value), (int64_t)THING_ROWS + 1);
  return add_rows(e, &r, THING_ROWS);
}

static enum status add_key(struct entities *e, struct str key) {
  if (key.n > 200 || !is_new(e, arena_printf(e->a, "key\n%.*s", STR_ARG(key))))
    return STATUS_OK;
  struct rows r;
  db_query(e->st->db, &r, e->err,
           "SELECT c.id FROM memory m JOIN chunk c ON c.memory_id = m.id AND c.seq = 0"
           " WHERE m.team = ?1 AND m.key = ?2 LIMIT ?3",
           "ssi", e->scope->team, key, (int64_t)THING_ROWS + 1);
  return add_rows(e, &r, THING_ROWS);
}

/* ---- what a query names ---- */

static struct str quoted(struct entities *e, struct str text) {
  struct buf b = BUF(e->a);
  fts_quote(&b, text);
  return buf_str(&b);
}

/* "..." and `...`: what stands in them, as a phrase. */
static enum status add_quoted(struct entities *e, struct str query) {
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < query.n; i++) {
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
    s = fts_tokenise(e->st->db, text, e->a, &tokens, e->err);
    if (s == STATUS_OK && tokens.n)
      s = add_text(e, quoted(e, text), named_rows(e));
  }
  return s;
}

static bool mixed(struct str word) {
  bool letter = false, digit = false, other = false;
  for (size_t i = 0; i < word.n; i++) {
    letter |= ascii_alpha(word.p[i]);
    digit |= ascii_digit(word.p[i]);
    other |= !ascii_alnum(word.p[i]);
  }
  return letter && digit && !other;
}

/* A name as it stands, in its joined form, and, of a hash or the number of a ticket, what begins with it. */
static enum status add_identifier(struct entities *e, struct str name) {
  struct buf b = BUF(e->a), joined = BUF(e->a);
  fts_quote(&b, name);
  for (size_t i = 0; i < name.n; i++)
    if (!strchr("_./\\-:", name.p[i]))
      buf_addc(&joined, name.p[i]);
  if (joined.n >= 4 && joined.n < name.n) {
    buf_adds(&b, " OR ");
    fts_quote(&b, buf_str(&joined));
  }
  if (name.n >= PREFIX_BYTES && mixed(name))
    buf_adds(&b, " *");
  return add_text(e, buf_str(&b), named_rows(e));
}

static bool is_number(struct str name) {
  size_t digits = 0;
  for (size_t i = 0; i < name.n; i++)
    digits += ascii_digit(name.p[i]);
  return digits >= 3 && digits == name.n;
}

/* Is it a name by its first letter? At the beginning of a sentence any word has one. */
static bool is_capitalised(struct str query, struct str name) {
  size_t first = 0, at = (size_t)(name.p - query.p);
  if (!utf8_is_upper(utf8_next(name, &first)) || name.n < 2)
    return false;
  while (at > 0 && ascii_space(query.p[at - 1]))
    at--;
  return at > 0 &&
         (ascii_alnum(query.p[at - 1]) || strchr(",;)'\"", query.p[at - 1]) || (unsigned char)query.p[at - 1] >= 0x80);
}

static enum status add_name(struct entities *e, struct str query, struct str name) {
  char before = name.p > query.p ? name.p[-1] : ' ';
  enum status s = STATUS_OK;
  if (before == '#')
    s = add_label(e, "tags", name);
  else if (before == '@')
    s = add_label(e, "people", name);
  if (s == STATUS_OK && terms_is_identifier(name))
    s = add_key(e, name);
  if (s == STATUS_OK && terms_is_identifier(name))
    return add_identifier(e, name);
  if (s == STATUS_OK && str_find(name, STR("-"), 0) != SIZE_MAX)
    s = add_key(e, name);
  if (s == STATUS_OK && is_number(name))
    return add_text(e, quoted(e, name), named_rows(e));
  if (s == STATUS_OK && is_capitalised(query, name) && !terms_is_stop(arena_lower(e->a, name))) {
    s = add_label(e, "topics", name);
    if (s == STATUS_OK)
      s = add_text(e, quoted(e, name), named_rows(e));
  }
  return s;
}

static enum status add_rare(struct entities *e, struct str query) {
  struct query_terms own = {0};
  const struct query_terms *terms = e->terms ? e->terms : &own;
  enum status s = e->terms ? STATUS_OK : query_terms(e->st->db, query, &e->totals, e->a, &own, e->err);
  for (size_t i = 0; s == STATUS_OK && i < terms->n && terms->v[i].df <= rare_rows(e); i++)
    if (!terms_is_stop(arena_lower(e->a, terms->v[i].surface)))
      s = add_text(e, quoted(e, terms->v[i].surface), rare_rows(e));
  return s;
}

static enum status find_things(struct entities *e, struct str query) {
  struct str name;
  size_t pos = 0;
  enum status s = fts_totals(e->st->db, &e->totals, e->err);
  if (s == STATUS_OK)
    s = add_quoted(e, query);
  while (s == STATUS_OK && e->things < THINGS && terms_next_name(query, &pos, &name))
    if (name.n <= QUOTED_BYTES)
      s = add_name(e, query, name);
  return s == STATUS_OK ? add_rare(e, query) : s;
}

/* ---- the result ---- */

static int by_chunk(const void *a, const void *b) {
  const struct found *x = a, *y = b;
  return x->chunk_id < y->chunk_id ? -1 : x->chunk_id > y->chunk_id;
}

static int by_score(const void *a, const void *b) {
  const struct found *x = a, *y = b;
  if (x->score != y->score)
    return x->score > y->score ? -1 : 1;
  return by_chunk(a, b);
}

/* One entry for each chunk, best first. */
static void add_up(struct entities *e) {
  if (e->found.n == 0)
    return;
  qsort(e->found.v, e->found.n, sizeof(*e->found.v), by_chunk);
  size_t n = 0;
  for (size_t i = 1; i < e->found.n; i++) {
    if (e->found.v[i].chunk_id == e->found.v[n].chunk_id)
      e->found.v[n].score += e->found.v[i].score;
    else
      e->found.v[++n] = e->found.v[i];
  }
  e->found.n = n + 1;
  qsort(e->found.v, e->found.n, sizeof(*e->found.v), by_score);
}

static enum status accept(struct entities *e, const struct filter *f, size_t limit, struct lexical_hits *ret) {
  struct sql sql = SQL(e->a);
  sql_add(&sql, "SELECT m.id FROM chunk c JOIN memory m ON m.id = c.memory_id WHERE ");
  visible(&sql, e->scope, f->states ? f->states : STATES_SEARCHED);
  filter_where(&sql, f);
  sql_add(&sql, " AND c.id = ");
  sql_int(&sql, 0);
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < e->found.n && ret->n < limit; i++) {
    struct rows r;
    sql.v[sql.n - 1].i = e->found.v[i].chunk_id;
    db_query_sql(e->st->db, &r, e->err, &sql);
    if (rows_next(&r))
      list_push(e->a, ret, (struct lexical_hit){e->found.v[i].chunk_id, rows_int(&r, 0), e->found.v[i].score, NULL});
    s = rows_end(&r);
  }
  return s;
}

enum status sqlite_entity_search(struct store *st, const struct scope *scope, const struct filter *f, struct str query,
                                 const struct query_terms *terms, int64_t limit, struct arena *a,
                                 struct lexical_hits *ret_hits, struct error *err) {
  struct entities e = {.st = st, .scope = scope, .terms = terms, .a = a, .err = err};
  struct lexical_hits hits = {0};
  bool alone = false;
  if (limit <= 0)
    return STATUS_OK;
  enum status s = db_snapshot(st->db, &alone, err);
  if (s == STATUS_OK)
    s = find_things(&e, utf8_cut(query, ENTITY_BYTES));
  if (fts_is_damage(s)) {
    hits.damaged = true;
    s = STATUS_OK;
  } else if (s == STATUS_OK) {
    add_up(&e);
    s = accept(&e, f, (size_t)limit, &hits);
  }
  s = db_snapshot_end(st->db, alone, s, err);
  if (s == STATUS_OK)
    *ret_hits = hits;
  return s;
}
