/* entities_postgres.c: entity search in PostgreSQL; lookups and visibility checks are one statement. */
#include <assert.h>

#include "base/utf8.h"
#include "store/engine.h"
#include "store/postgres/lexemes.h"
#include "store/search/lexical_plan.h"
#include "store/search/query_entities.h"

enum {
  AT_ONCE = 16,        /* entities per statement; few queries have more */
  PHRASE_ROWS = 20000, /* rows with all words of a phrase that are checked for the phrase */
};

struct entities {
  struct store *st;
  const struct scope *scope;
  const struct filter *filter;
  struct arena *a;
  struct error *err;
  double rows;
  size_t entity_count;
  struct entity_rows found;
};

/* ---- expressions ---- */

/* Quotes the words of a text, joined by `between`; returns their number. */
static enum status quote_words(struct entities *e, struct str text, const char *between, struct buf *b, size_t *ret_n) {
  struct fts_tokens tokens = {0};
  enum status s = words_tokenise(e->st, text, e->a, &tokens, e->err);
  for (size_t i = 0; i < tokens.n; i++) {
    buf_adds(b, i ? between : "");
    words_quote(b, words_lexeme(e->a, tokens.v[i].text));
  }
  *ret_n = tokens.n;
  return s;
}

/* Expressions that look up a text entity. */
struct text_lookup {
  struct str expression;
  struct str all;  /* phrase: all its words, in any position */
  struct str word; /* single word: its lexeme */
};

static enum status make_lookup(struct entities *e, const struct query_entity *entity, struct text_lookup *ret) {
  struct buf b = BUF(e->a), all = BUF(e->a), joined = BUF(e->a);
  size_t n = 0, more = 0;
  enum status s = quote_words(e, entity->value, "<->", &b, &n);
  if (s == STATUS_OK && !str_empty(entity->joined))
    s = quote_words(e, entity->joined, "<->", &joined, &more);
  if (s == STATUS_OK && n > 1 && !more)
    s = quote_words(e, entity->value, "&", &all, &n);
  if (s != STATUS_OK)
    return s;
  struct fts_tokens tokens = {0};
  if (n == 1 && !more && !entity->prefix)
    s = words_tokenise(e->st, entity->value, e->a, &tokens, e->err);
  *ret = (struct text_lookup){.word = tokens.n ? words_lexeme(e->a, tokens.v[0].text) : STR_NONE, .all = buf_str(&all)};
  if (n && entity->prefix)
    buf_adds(&b, ":*");
  if (n && more)
    ret->expression = arena_printf(e->a, "(%.*s) | (%.*s)", STR_ARG(buf_str(&b)), STR_ARG(buf_str(&joined)));
  else
    ret->expression = n ? buf_str(&b) : buf_str(&joined);
  return s;
}

/* ---- statement ---- */

static void add_match(struct sql *sql, struct str expression) {
  sql_add(sql, "x.tokens @@ CAST(");
  sql_text(sql, expression);
  sql_add(sql, " AS tsquery)");
}

/* Words that are too common are not looked up. */
static void add_text(struct entities *e, struct sql *sql, const struct text_lookup *l, size_t k, double most) {
  sql_addf(sql, "(SELECT CAST(%zu AS bigint) AS k, x.chunk_id, x.memory_id FROM ", k);
  if (l->all.n) {
    sql_add(sql, "(SELECT x.chunk_id, x.memory_id, x.tokens FROM chunk_text x WHERE x.team = ");
    sql_text(sql, e->scope->team);
    sql_add(sql, " AND ");
    add_match(sql, l->all);
    sql_addf(sql, " LIMIT %d) x WHERE ", PHRASE_ROWS);
  } else {
    sql_add(sql, "chunk_text x WHERE x.team = ");
    sql_text(sql, e->scope->team);
    sql_add(sql, " AND ");
  }
  add_match(sql, l->expression);
  if (l->word.p) {
    sql_add(sql, " AND NOT EXISTS (SELECT 1 FROM term_count tc WHERE tc.team = ");
    sql_text(sql, e->scope->team);
    sql_add(sql, " AND tc.term = ");
    sql_text(sql, l->word);
    sql_add(sql, " AND tc.n > ");
    sql_real(sql, most);
    sql_add(sql, ")");
  }
  sql_addf(sql, " LIMIT %lld)", (long long)most + 1);
}

static void add_label(struct entities *e, struct sql *sql, const struct query_entity *entity, size_t k) {
  sql_addf(sql,
           "(SELECT DISTINCT CAST(%zu AS bigint) AS k, c.id AS chunk_id, c.memory_id FROM label l JOIN chunk c"
           " ON c.team = l.team AND c.memory_id = l.memory_id AND c.seq = 0 WHERE l.team = ",
           k);
  sql_text(sql, e->scope->team);
  sql_add(sql, " AND l.field = ");
  sql_text(sql, str_from(entity->field));
  sql_add(sql, " AND l.value IN (");
  sql_text(sql, entity->value);
  sql_add(sql, ", ");
  sql_text(sql, arena_lower(e->a, entity->value));
  sql_addf(sql, ") LIMIT %d)", ENTITY_ROWS + 1);
}

static void add_key(struct entities *e, struct sql *sql, const struct query_entity *entity, size_t k) {
  sql_addf(sql,
           "(SELECT CAST(%zu AS bigint) AS k, c.id AS chunk_id, c.memory_id FROM memory o JOIN chunk c"
           " ON c.team = o.team AND c.memory_id = o.id AND c.seq = 0 WHERE o.team = ",
           k);
  sql_text(sql, e->scope->team);
  sql_add(sql, " AND o.key = ");
  sql_text(sql, entity->value);
  sql_addf(sql, " LIMIT %d)", ENTITY_ROWS + 1);
}

static enum status add_entity(struct entities *e, struct sql *sql, const struct query_entity *entity, size_t k,
                              bool first) {
  struct text_lookup l = {0};
  if (entity->kind == ENTITY_TEXT)
    TRY(make_lookup(e, entity, &l));
  if ((entity->kind == ENTITY_TEXT && str_empty(l.expression)))
    return STATUS_OK;
  sql_add(sql, first ? "" : " UNION ALL ");
  if (entity->kind == ENTITY_TEXT)
    add_text(e, sql, &l, k, entity->most);
  else if (entity->kind == ENTITY_LABEL)
    add_label(e, sql, entity, k);
  else
    add_key(e, sql, entity, k);
  return STATUS_OK;
}

/* ---- results ---- */

struct seen {
  int64_t chunk, memory; /* memory 0: not visible to the caller, or filtered out */
};
struct seen_list {
  struct seen *v;
  size_t n, cap;
};

static void count_entity(struct entities *e, const struct query_entity *entity, const struct seen_list *seen) {
  if (seen->n == 0 || (double)seen->n > entity->most || e->entity_count >= ENTITY_MAX)
    return;
  double weight = bm25_idf(e->rows, (double)seen->n);
  for (size_t i = 0; i < seen->n; i++)
    if (seen->v[i].memory)
      list_push(e->a, &e->found, (struct entity_row){seen->v[i].chunk, seen->v[i].memory, weight});
  e->entity_count++;
}

static enum status find_batch(struct entities *e, const struct query_entity *entities, size_t n) {
  assert(n > 0 && n <= AT_ONCE);
  struct sql sql = SQL(e->a);
  struct seen_list seen[AT_ONCE] = {0};
  struct rows r;
  sql_add(&sql, "SELECT u.k, u.chunk_id, m.id FROM (");
  for (size_t k = 0; k < n; k++)
    TRY(add_entity(e, &sql, &entities[k], k, sql.n == 0));
  if (sql.n == 0)
    return STATUS_OK;
  sql_add(&sql, ") u LEFT JOIN memory m ON m.id = u.memory_id AND ");
  visible(&sql, e->scope, lexical_states(e->filter));
  filter_where(&sql, e->filter);
  db_query_sql(e->st->db, &r, e->err, &sql);
  while (rows_next(&r)) {
    int64_t k = rows_int(&r, 0);
    if (k >= 0 && k < AT_ONCE)
      list_push(e->a, &seen[k], (struct seen){rows_int(&r, 1), rows_null(&r, 2) ? 0 : rows_int(&r, 2)});
  }
  TRY(rows_end(&r));
  for (size_t k = 0; k < n; k++)
    count_entity(e, &entities[k], &seen[k]);
  return STATUS_OK;
}

static enum status source_tokenise(void *arg, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                                   struct error *err) {
  return words_tokenise(arg, text, a, ret_tokens, err);
}

static enum status find_entities(struct entities *e, struct str text, const struct query_terms *terms) {
  struct word_counts counts = {.st = e->st, .team = e->scope->team};
  struct query_terms own = {0};
  struct query_entities entities = {0};
  struct term_source source = {.arg = e->st, .tokenise = source_tokenise};
  enum status s = terms ? STATUS_OK : words_terms(&counts, text, NULL, e->a, &own, e->err);
  terms = terms ? terms : &own;
  e->rows = terms->rows;
  if (s == STATUS_OK)
    s = query_entities(&source, text, terms, e->a, &entities, e->err);
  for (size_t i = 0; s == STATUS_OK && i < entities.n && e->entity_count < ENTITY_MAX; i += AT_ONCE)
    s = find_batch(e, entities.v + i, entities.n - i < AT_ONCE ? entities.n - i : AT_ONCE);
  return s;
}

enum status postgres_entity_search(struct store *st, const struct chunk_query *q, struct arena *a,
                                   struct lexical_hits *ret_hits, struct error *err) {
  struct entities e = {.st = st, .scope = q->scope, .filter = q->filter, .a = a, .err = err};
  struct lexical_hits hits = {0};
  if (q->limit == 0)
    return STATUS_OK;
  TRY(find_entities(&e, utf8_cut(q->text, ENTITY_BYTES), q->terms));
  entity_rows_merge(&e.found);
  for (size_t i = 0; i < e.found.n && hits.n < q->limit; i++)
    list_push(a, &hits, (struct lexical_hit){e.found.v[i].chunk_id, e.found.v[i].memory_id, e.found.v[i].score, NULL});
  *ret_hits = hits;
  return STATUS_OK;
}
