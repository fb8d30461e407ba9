/* entities_postgres.c: finds what a query names, all of it by one statement that also tells what the caller may see. */
#include "base/utf8.h"
#include "store/engine.h"
#include "store/postgres/lexemes.h"
#include "store/search/lexical_plan.h"
#include "store/search/query_entities.h"

enum {
  AT_ONCE = 16,        /* things looked up by one statement; few queries name more */
  PHRASE_ROWS = 20000, /* rows with all words of a phrase that are looked at */
};

struct entities {
  struct store *st;
  const struct scope *scope;
  const struct filter *filter;
  struct arena *a;
  struct error *err;
  double rows;
  size_t things;
  struct thing_rows found;
};

/* ---- expressions ---- */

/* The words of a text with this between them; how many. */
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

/* What a thing that is a text is looked up by. */
struct looked_up {
  struct str expression;
  struct str all;  /* of a phrase: all of its words, anywhere */
  struct str word; /* of a single word: its lexeme */
};

static enum status look_up(struct entities *e, const struct thing *thing, struct looked_up *ret) {
  struct buf b = BUF(e->a), all = BUF(e->a), joined = BUF(e->a);
  size_t n = 0, more = 0;
  enum status s = quote_words(e, thing->value, "<->", &b, &n);
  if (s == STATUS_OK && !str_empty(thing->joined))
    s = quote_words(e, thing->joined, "<->", &joined, &more);
  if (s == STATUS_OK && n > 1 && !more)
    s = quote_words(e, thing->value, "&", &all, &n);
  if (s != STATUS_OK)
    return s;
  struct fts_tokens tokens = {0};
  if (n == 1 && !more && !thing->prefix)
    s = words_tokenise(e->st, thing->value, e->a, &tokens, e->err);
  *ret = (struct looked_up){.word = tokens.n ? words_lexeme(e->a, tokens.v[0].text) : STR_NONE, .all = buf_str(&all)};
  if (n && thing->prefix)
    buf_adds(&b, ":*");
  if (n && more)
    ret->expression = arena_printf(e->a, "(%.*s) | (%.*s)", STR_ARG(buf_str(&b)), STR_ARG(buf_str(&joined)));
  else
    ret->expression = n ? buf_str(&b) : buf_str(&joined);
  return s;
}

/* ---- the statement ---- */

static void add_match(struct sql *sql, struct str expression) {
  sql_add(sql, "x.tokens @@ CAST(");
  sql_text(sql, expression);
  sql_add(sql, " AS tsquery)");
}

/* A word that too many hold is not even looked for. */
static void add_text(struct entities *e, struct sql *sql, const struct looked_up *l, size_t k, double most) {
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

static void add_label(struct entities *e, struct sql *sql, const struct thing *thing, size_t k) {
  sql_addf(sql,
           "(SELECT DISTINCT CAST(%zu AS bigint) AS k, c.id AS chunk_id, c.memory_id FROM label l JOIN chunk c"
           " ON c.team = l.team AND c.memory_id = l.memory_id AND c.seq = 0 WHERE l.team = ",
           k);
  sql_text(sql, e->scope->team);
  sql_add(sql, " AND l.field = ");
  sql_text(sql, str_from(thing->field));
  sql_add(sql, " AND l.value IN (");
  sql_text(sql, thing->value);
  sql_add(sql, ", ");
  sql_text(sql, arena_lower(e->a, thing->value));
  sql_addf(sql, ") LIMIT %d)", THING_ROWS + 1);
}

static void add_key(struct entities *e, struct sql *sql, const struct thing *thing, size_t k) {
  sql_addf(sql,
           "(SELECT CAST(%zu AS bigint) AS k, c.id AS chunk_id, c.memory_id FROM memory o JOIN chunk c"
           " ON c.team = o.team AND c.memory_id = o.id AND c.seq = 0 WHERE o.team = ",
           k);
  sql_text(sql, e->scope->team);
  sql_add(sql, " AND o.key = ");
  sql_text(sql, thing->value);
  sql_addf(sql, " LIMIT %d)", THING_ROWS + 1);
}

static enum status add_thing(struct entities *e, struct sql *sql, const struct thing *thing, size_t k, bool first) {
  struct looked_up l = {0};
  if (thing->kind == THING_TEXT)
    TRY(look_up(e, thing, &l));
  if ((thing->kind == THING_TEXT && str_empty(l.expression)))
    return STATUS_OK;
  sql_add(sql, first ? "" : " UNION ALL ");
  if (thing->kind == THING_TEXT)
    add_text(e, sql, &l, k, thing->most);
  else if (thing->kind == THING_LABEL)
    add_label(e, sql, thing, k);
  else
    add_key(e, sql, thing, k);
  return STATUS_OK;
}

/* ---- what comes back ---- */

struct seen {
  int64_t chunk, memory; /* memory 0: the caller may not see it, or does not ask for it */
};
struct seen_list {
  struct seen *v;
  size_t n, cap;
};

static void count_thing(struct entities *e, const struct thing *thing, const struct seen_list *seen) {
  if (seen->n == 0 || (double)seen->n > thing->most || e->things >= THINGS)
    return;
  double weight = bm25_idf(e->rows, (double)seen->n);
  for (size_t i = 0; i < seen->n; i++)
    if (seen->v[i].memory)
      list_push(e->a, &e->found, (struct thing_row){seen->v[i].chunk, seen->v[i].memory, weight});
  e->things++;
}

static enum status find_some(struct entities *e, const struct thing *things, size_t n) {
  struct sql sql = SQL(e->a);
  struct seen_list seen[AT_ONCE] = {0};
  struct rows r;
  sql_add(&sql, "SELECT u.k, u.chunk_id, m.id FROM (");
  for (size_t k = 0; k < n; k++)
    TRY(add_thing(e, &sql, &things[k], k, sql.n == 0));
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
    count_thing(e, &things[k], &seen[k]);
  return STATUS_OK;
}

static enum status take_apart(void *arg, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                              struct error *err) {
  return words_tokenise(arg, text, a, ret_tokens, err);
}

static enum status find_things(struct entities *e, struct str query, const struct query_terms *terms) {
  struct word_counts counts = {.st = e->st, .team = e->scope->team};
  struct query_terms own = {0};
  struct things things = {0};
  struct term_source source = {.arg = e->st, .tokenise = take_apart};
  enum status s = terms ? STATUS_OK : words_terms(&counts, query, e->a, &own, e->err);
  terms = terms ? terms : &own;
  e->rows = terms->rows;
  if (s == STATUS_OK)
    s = things_of(&source, query, terms, e->a, &things, e->err);
  for (size_t i = 0; s == STATUS_OK && i < things.n && e->things < THINGS; i += AT_ONCE)
    s = find_some(e, things.v + i, things.n - i < AT_ONCE ? things.n - i : AT_ONCE);
  return s;
}

enum status postgres_entity_search(struct store *st, const struct scope *scope, const struct filter *f,
                                   struct str query, const struct query_terms *terms, int64_t limit, struct arena *a,
                                   struct lexical_hits *ret_hits, struct error *err) {
  struct entities e = {.st = st, .scope = scope, .filter = f, .a = a, .err = err};
  struct lexical_hits hits = {0};
  if (limit <= 0)
    return STATUS_OK;
  TRY(find_things(&e, utf8_cut(query, ENTITY_BYTES), terms));
  things_add_up(&e.found);
  for (size_t i = 0; i < e.found.n && hits.n < (size_t)limit; i++)
    list_push(a, &hits, (struct lexical_hit){e.found.v[i].chunk_id, e.found.v[i].memory_id, e.found.v[i].score, NULL});
  *ret_hits = hits;
  return STATUS_OK;
}
