/* lexical_postgres.c: full-text search in PostgreSQL: rare terms select rows, the server ranks them approximately, and
 * the best visible ones are scored exactly here, from their words.
 *
 * Terms are used rarest first, as planned by lexical_plan.h: an index finds every chunk of the team that contains a
 * selecting term. The server ranks these by the sum of ts_rank() per term, weighted by rarity, and by text length,
 * which approximates BM25. The best few hundred are checked for visibility and filters in the same statement and
 * returned with their words. BM25 (core/rank/bm25.h) is computed from those, with all terms. A search thus takes two
 * statements: one for the word counts, and this one. If too few rows pass, a narrow scope is ranked as a whole;
 * otherwise more and more terms select, with the filters applied before ranking, so no row that passes the filters is
 * lost. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "store/engine.h"
#include "store/postgres/lexemes.h"
#include "store/search/lexical_plan.h"
#include "store/search/search_rows.h"

enum {
  RANKED = 16,       /* terms used for ranking on the server: the rarest */
  KEEP_TIMES = 5,    /* top-ranked rows to check, per wanted row, */
  KEEP_MORE = 200,   /* plus this many */
  SCORE_TIMES = 2,   /* rows scored exactly, per wanted row, */
  SCORE_MORE = 140,  /* plus this many */
  COMMON_OF = 3,     /* if every term is too common: rows that contain this many of them, */
  NEWEST = 8000,     /* or, if those are too many, the best of the newest rows */
  PAGE = 4000,       /* rows per page of a complete search */
  TABLE_SLOTS = 256, /* hash slots for the query's words; more than twice their maximum number */
};
static const double UNRANKED_SHARE = 0.1; /* share of the total rarity that unranked terms may have together */
static const double COMMON_ROWS = 6000;   /* limit of rows that contain several common terms */
static const double COMMON_SCAN = 300000; /* limit of the sum of their frequencies */

/* ---- exact scores ---- */

/* A word of the query, and its positions in the row being scored. */
struct query_word {
  struct str lexeme;
  struct word_reader at;
};

struct search {
  struct store *st;
  const struct chunk_query *query;
  struct arena *a;
  struct error *err;
  struct word_counts counts;
  struct query_terms terms;
  struct str within; /* tsquery part that restricts rows to the scope; empty if most rows are in it */
  struct scope_tokens tokens;
  double share;  /* share of all rows that is in the scope */
  bool complete; /* no pruning */
  struct lexical_hits hits;

  LIST(struct query_word) words;
  size_t first[QUERY_TERMS]; /* index of each term's first word in `words`; the other words of a phrase follow */
  size_t next[QUERY_TERMS];  /* index after each term's last word */
  unsigned short slots[TABLE_SLOTS];
  LIST(unsigned short) same; /* next word in the same hash slot */
};

static size_t slot_of(struct str lexeme) { return (size_t)(str_hash(STR_HASH, lexeme) >> 7) % TABLE_SLOTS; }

/* A word used by several terms is listed several times. */
static void add_query_word(struct search *q, struct str lexeme) {
  size_t slot = slot_of(lexeme);
  list_push(q->a, &q->same, q->slots[slot]);
  list_push(q->a, &q->words, (struct query_word){.lexeme = lexeme});
  q->slots[slot] = (unsigned short)q->words.n; /* 0: end of chain */
}

static void list_query_words(struct search *q) {
  assert(q->terms.n <= QUERY_TERMS);
  for (size_t k = 0; k < q->terms.n; k++) {
    struct str rest = q->terms.v[k].token, word;
    q->first[k] = q->words.n;
    while (str_next(&rest, ' ', &word) && q->words.n < UINT16_MAX)
      add_query_word(q, words_lexeme(q->a, word));
    q->next[k] = q->words.n;
  }
}

static void find_query_words(struct search *q, struct str bytes) {
  struct word_reader r = words_read(bytes);
  for (size_t i = 0; i < q->words.n; i++)
    q->words.v[i].at.n = 0;
  while (words_next(&r))
    for (size_t i = q->slots[slot_of(r.lexeme)]; i > 0; i = q->same.v[i - 1])
      if (str_eq(q->words.v[i - 1].lexeme, r.lexeme))
        q->words.v[i - 1].at = r;
}

static bool occurs_at(const struct word_reader *r, unsigned position) {
  for (size_t i = 0; i < r->n; i++)
    if ((words_place(r, i) & WORDS_PLACES) == position)
      return true;
  return false;
}

/* SQLite stops counting there too; more occurrences do not change the score. */
static const double TF_MOST = 63;

static double frequency(const struct search *q, size_t k) {
  assert(q->first[k] < q->next[k] && q->next[k] <= q->words.n);
  const struct word_reader *r = &q->words.v[q->first[k]].at;
  double tf = 0;
  for (size_t i = 0; i < r->n; i++) {
    unsigned place = words_place(r, i);
    bool whole = true;
    for (size_t w = q->first[k] + 1; whole && w < q->next[k]; w++)
      whole = occurs_at(&q->words.v[w].at, (place & WORDS_PLACES) + (unsigned)(w - q->first[k]));
    tf += whole ? bm25_weights[BM25_COLUMNS - 1 - (place >> 14)] : 0;
  }
  return tf < TF_MOST ? tf : TF_MOST;
}

static double score(struct search *q, struct str bytes, double length) {
  double sum = 0;
  find_query_words(q, bytes);
  for (size_t k = 0; k < q->terms.n; k++) {
    double tf = q->next[k] > q->first[k] ? frequency(q, k) : 0;
    if (tf > 0)
      sum += q->terms.v[k].idf * bm25_part(tf, length / q->counts.average);
  }
  return sum;
}

static int by_score(const void *a, const void *b) {
  const struct lexical_hit *x = a, *y = b;
  if (x->score != y->score)
    return x->score > y->score ? -1 : 1;
  return x->chunk_id < y->chunk_id ? -1 : x->chunk_id > y->chunk_id;
}

static void keep_best(struct search *q, struct lexical_hits *hits) {
  if (hits->n)
    qsort(hits->v, hits->n, sizeof(*hits->v), by_score);
  hits->n = hits->n < q->query->limit ? hits->n : q->query->limit;
}

/* ---- statements ---- */

enum columns {
  MEMORY = 0,
  FEATURE = 1,
  CHUNK = FEATURE + FEATURES,
  RANK = CHUNK + 1,
  LENGTH = CHUNK + 2,
  WORDS = CHUNK + 3
};

/* Runs a statement with these columns; ret_rows and ret_last (may be NULL) receive the number of rows and the last one.
 */
static enum status read_hits(struct search *q, const struct sql *sql, struct lexical_hits *hits, size_t *ret_rows,
                             int64_t *ret_last) {
  struct rows r;
  size_t n = 0;
  db_query_sql(q->st->db, &r, q->err, sql);
  for (; rows_next(&r); n++) {
    double points = score(q, rows_text(&r, WORDS), (double)rows_int(&r, LENGTH));
    int64_t chunk = rows_int(&r, CHUNK);
    if (ret_last)
      *ret_last = chunk;
    if (points <= 0)
      continue;
    struct memory *m = arena_new(q->a, struct memory);
    m->id = rows_int(&r, MEMORY);
    features_read(&r, FEATURE, q->a, m);
    list_push(q->a, hits, (struct lexical_hit){chunk, m->id, points, m});
  }
  *ret_rows = n;
  return rows_end(&r);
}

/* Number of terms to rank by. Each costs as much as finding a row, and the most common ones change little together. The
 * exact score uses all terms. */
static size_t ranked_count(const struct search *q) {
  double sum = 0, rest = 0;
  size_t n = q->terms.n < RANKED ? q->terms.n : RANKED;
  for (size_t i = 0; i < q->terms.n; i++)
    sum += q->terms.v[i].idf;
  for (size_t i = n; i < q->terms.n; i++)
    rest += q->terms.v[i].idf;
  while (n > 1 && (rest += q->terms.v[n - 1].idf) < sum * UNRANKED_SHARE)
    n--;
  return n;
}

/* Approximates BM25: ts_rank() of one word grows with its occurrences as BM25 does, from 0.61 for one to 1. The tsquery
 * is parsed once, not per row. Columns have equal weights; see bm25_weights. */
static void add_rank(struct search *q, struct sql *sql) {
  size_t n = ranked_count(q);
  assert(n > 0);
  sql_add(sql, "(");
  for (size_t i = 0; i < n; i++) {
    const struct query_term *term = &q->terms.v[i];
    struct buf b = BUF(q->a);
    words_quote_term(&b, q->a, term);
    sql_add(sql, i ? " + " : "");
    sql_real(sql, term->idf);
    sql_add(sql, term->phrase ? " * CASE WHEN x.tokens @@ (SELECT CAST("
                              : " * ts_rank('{1, 1, 1, 1}', x.tokens, (SELECT CAST(");
    sql_text(sql, buf_str(&b));
    sql_add(sql, term->phrase ? " AS tsquery)) THEN 0.61 ELSE 0 END" : " AS tsquery)))");
  }
  sql_add(sql, ") / (");
  sql_real(sql, 1 + BM25_K1 * (1 - BM25_B));
  sql_add(sql, " + x.words * ");
  sql_real(sql, BM25_K1 * BM25_B / q->counts.average);
  sql_add(sql, ") AS r");
}

static void add_match(struct search *q, struct sql *sql, struct str expression) {
  sql_add(sql, "x.team = ");
  sql_text(sql, q->query->scope->team);
  sql_add(sql, " AND x.tokens @@ CAST(");
  sql_text(sql, expression);
  sql_add(sql, " AS tsquery)");
}

static void add_accepted(struct search *q, struct sql *sql) {
  visible(sql, q->query->scope, lexical_states(q->query->filter));
  filter_where(sql, q->query->filter);
}

static struct sql begin_statement(struct search *q) {
  struct sql sql = SQL(q->a);
  sql_add(&sql, "SELECT v.*, y.words, tsvectorsend(y.tokens) FROM (");
  return sql;
}

/* Words are fetched only for the best rows: carrying them through the sort costs more. */
static void end_statement(struct search *q, struct sql *sql) {
  sql_addf(sql, " ORDER BY r DESC, chunk_id LIMIT %zu) v JOIN chunk_text y ON y.chunk_id = v.chunk_id AND y.team = ",
           q->query->limit * SCORE_TIMES + SCORE_MORE);
  sql_text(sql, q->query->scope->team);
}

/* Ranks rows, then checks the best; with `newest`, only the newest rows. */
static struct sql ranked_first(struct search *q, struct str expression, bool newest) {
  struct sql sql = begin_statement(q);
  sql_add(&sql, "SELECT m.id, " FEATURE_COLUMNS ", t.chunk_id, t.r FROM (SELECT x.chunk_id, x.memory_id, ");
  add_rank(q, &sql);
  sql_add(&sql, " FROM ");
  if (newest) {
    sql_add(&sql, "(SELECT * FROM chunk_text WHERE team = ");
    sql_text(&sql, q->query->scope->team);
    sql_addf(&sql, " ORDER BY chunk_id DESC LIMIT %d) x WHERE ", NEWEST);
  } else {
    sql_add(&sql, "chunk_text x WHERE ");
  }
  add_match(q, &sql, expression);
  sql_addf(&sql, " ORDER BY r DESC, chunk_id LIMIT %zu) t JOIN memory m ON m.id = t.memory_id WHERE ",
           q->query->limit * KEEP_TIMES + KEEP_MORE);
  add_accepted(q, &sql);
  end_statement(q, &sql);
  return sql;
}

/* Checks rows, then ranks those that pass. */
static struct sql checked_first(struct search *q, struct str expression) {
  struct sql sql = begin_statement(q);
  sql_add(&sql, "SELECT m.id, " FEATURE_COLUMNS ", x.chunk_id, ");
  add_rank(q, &sql);
  sql_add(&sql, " FROM chunk_text x JOIN memory m ON m.id = x.memory_id WHERE ");
  add_match(q, &sql, expression);
  sql_add(&sql, " AND ");
  add_accepted(q, &sql);
  end_statement(q, &sql);
  return sql;
}

/* Texts of one part of a narrow scope, found from its memories; "IS TRUE" prevents use of the full-text index. */
static struct sql from_memories(struct search *q, struct str expression, enum narrow_part part) {
  struct sql sql = begin_statement(q);
  sql_add(&sql, "WITH few AS MATERIALIZED (SELECT m.id, " FEATURE_COLUMNS " FROM memory m WHERE ");
  narrow_where(&sql, q->query->scope, q->query->filter, part);
  sql_add(&sql, ") SELECT few.*, x.chunk_id, ");
  add_rank(q, &sql);
  sql_add(&sql, " FROM few JOIN chunk c ON c.memory_id = few.id AND c.team = ");
  sql_text(&sql, q->query->scope->team);
  sql_add(&sql, " JOIN chunk_text x ON x.chunk_id = c.id AND x.team = ");
  sql_text(&sql, q->query->scope->team);
  sql_add(&sql, " WHERE (x.tokens @@ CAST(");
  sql_text(&sql, expression);
  sql_add(&sql, " AS tsquery)) IS TRUE");
  end_statement(q, &sql);
  return sql;
}

/* One page of all rows that pass. */
static struct sql page_of_all(struct search *q, struct str expression, int64_t after) {
  struct sql sql = SQL(q->a);
  sql_add(&sql, "SELECT m.id, " FEATURE_COLUMNS ", x.chunk_id, 0, x.words, tsvectorsend(x.tokens)"
                " FROM chunk_text x JOIN memory m ON m.id = x.memory_id WHERE ");
  add_match(q, &sql, expression);
  sql_add(&sql, " AND ");
  add_accepted(q, &sql);
  sql_add(&sql, " AND x.chunk_id > ");
  sql_int(&sql, after);
  sql_addf(&sql, " ORDER BY x.chunk_id LIMIT %d", PAGE);
  return sql;
}

/* ---- expressions ---- */

static void add_any(struct search *q, struct buf *b, size_t from, size_t to, const char *between) {
  for (size_t i = from; i < to; i++) {
    buf_adds(b, i > from ? between : "");
    words_quote_term(b, q->a, &q->terms.v[i]);
  }
}

static struct str add_scope(struct search *q, struct buf *b) {
  if (!q->within.n)
    return buf_str(b);
  return arena_printf(q->a, "(%.*s) & %.*s", STR_ARG(buf_str(b)), STR_ARG(q->within));
}

static struct str expression_of(struct search *q, const struct plan *plan) {
  struct buf b = BUF(q->a);
  add_any(q, &b, 0, plan->select, " | ");
  if (plan->pair > plan->select) {
    buf_adds(&b, plan->select ? " | (" : "(");
    words_quote_term(&b, q->a, &q->terms.v[plan->select]);
    buf_adds(&b, " & (");
    add_any(q, &b, plan->select + 1, plan->pair, " | ");
    buf_adds(&b, "))");
  }
  return add_scope(q, &b);
}

static struct str first_terms(struct search *q, size_t n, const char *between) {
  struct buf b = BUF(q->a);
  add_any(q, &b, 0, n, between);
  return add_scope(q, &b);
}

/* ---- search ---- */

static bool has_enough(const struct search *q) {
  return q->hits.n >= (q->query->limit < LEXICAL_ENOUGH ? q->query->limit : LEXICAL_ENOUGH);
}

static enum status run(struct search *q, const struct sql *sql) {
  struct lexical_hits hits = {0};
  size_t n = 0;
  enum status s = read_hits(q, sql, &hits, &n, NULL);
  keep_best(q, &hits);
  if (s == STATUS_OK)
    q->hits = hits;
  return s;
}

/* True if the terms cannot have more rows than are kept, so no match was dropped. */
static bool keeps_all_rows(const struct search *q, const struct plan *plan) {
  double sum = 0;
  for (size_t i = 0; i < q->terms.n; i++)
    sum += q->terms.v[i].df;
  return plan->select == q->terms.n && sum <= (double)(q->query->limit * KEEP_TIMES + KEEP_MORE);
}

/* Every term is too common to select rows. Searches rows that contain several of them, if those are not too many;
 * otherwise the newest rows, since many contain some. */
static enum status search_common(struct search *q) {
  double rows = q->counts.rows * q->share, scan = 0;
  size_t n = 0;
  while (n < q->terms.n && n < COMMON_OF) {
    rows *= q->terms.v[n].df / q->counts.rows;
    scan += q->terms.v[n++].df;
  }
  if (n > 1 && rows <= COMMON_ROWS && scan <= COMMON_SCAN) {
    struct sql sql = ranked_first(q, first_terms(q, n, " & "), false);
    enum status s = run(q, &sql);
    if (s != STATUS_OK || has_enough(q))
      return s;
  }
  struct sql sql = ranked_first(q, first_terms(q, q->terms.n, " | "), true);
  return run(q, &sql);
}

/* Searches every text of the scope if there are few. */
static enum status search_texts(struct search *q, bool *ret_few) {
  struct lexical_hits hits = {0};
  size_t n;
  enum status s = scope_is_narrow(q->st, q->query->scope, q->query->filter, q->a, ret_few, q->err);
  if (s != STATUS_OK || !*ret_few)
    return s;
  q->within = STR_NONE;
  for (enum narrow_part part = PART_ANY; s == STATUS_OK && part < PARTS; part++)
    if (narrow_has(q->query->scope, q->query->filter, part)) {
      struct sql sql = from_memories(q, first_terms(q, q->terms.n, " | "), part);
      s = read_hits(q, &sql, &hits, &n, NULL);
    }
  keep_best(q, &hits);
  if (s == STATUS_OK)
    q->hits = hits;
  return s;
}

static enum status widen(struct search *q) {
  bool few = false;
  enum status s = search_texts(q, &few);
  if (s != STATUS_OK || few)
    return s;
  double rows = plan_select_rows(q->counts.rows);
  size_t chosen = 0;
  for (int step = 0; s == STATUS_OK && !has_enough(q) && step < LEXICAL_WIDENINGS; step++) {
    rows *= LEXICAL_WIDER;
    struct plan plan = plan_within(&q->terms, q->share, rows, rows, SIZE_MAX);
    if (plan_selects(&plan)) {
      struct sql sql = checked_first(q, expression_of(q, &plan));
      s = run(q, &sql);
    }
    chosen = plan.select;
  }
  if (s != STATUS_OK || has_enough(q) || chosen == q->terms.n)
    return s;
  struct sql sql = checked_first(q, first_terms(q, q->terms.n, " | "));
  return run(q, &sql);
}

static enum status search_all(struct search *q) {
  struct str expression = first_terms(q, q->terms.n, " | ");
  struct lexical_hits hits = {0};
  int64_t last = 0;
  size_t n = PAGE;
  enum status s = STATUS_OK;
  while (s == STATUS_OK && n == PAGE) {
    struct sql sql = page_of_all(q, expression, last);
    s = read_hits(q, &sql, &hits, &n, &last);
    keep_best(q, &hits);
  }
  if (s == STATUS_OK)
    q->hits = hits;
  return s;
}

static enum status search_terms(struct search *q) {
  if (q->complete)
    return search_all(q);
  double rows = q->counts.rows;
  struct plan plan = plan_within(&q->terms, q->share, plan_select_rows(rows), plan_score_rows(rows), SIZE_MAX);
  if (!plan_selects(&plan)) {
    enum status s = search_common(q);
    return s == STATUS_OK && !has_enough(q) ? widen(q) : s;
  }
  struct sql sql = ranked_first(q, expression_of(q, &plan), false);
  TRY(run(q, &sql));
  if (!has_enough(q) && !keeps_all_rows(q, &plan))
    return widen(q);
  return STATUS_OK;
}

static enum status tokenise_scope(struct search *q, const struct scope_tokens *scope, struct strs *ret) {
  struct fts_tokens tokens = {0};
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < scope->list.n; i++)
    s = words_tokenise(q->st, scope->list.v[i], q->a, &tokens, q->err);
  for (size_t i = 0; i < tokens.n; i++)
    strs_push(q->a, ret, tokens.v[i].text);
  return s;
}

/* Tokens of the scope's projects and corpora in the index; their rows are counted along with the words. */
static enum status list_scope(struct search *q) {
  if (q->complete)
    return STATUS_OK;
  q->tokens = scope_tokens(q->query->scope, q->a);
  return tokenise_scope(q, &q->tokens, &q->counts.scope);
}

static enum status use_scope(struct search *q) {
  struct buf b = BUF(q->a);
  struct strs words = {0};
  double rows = q->tokens.outside ? q->counts.rows - q->counts.scope_rows : q->counts.scope_rows;
  enum status s = STATUS_OK;
  q->share = 1;
  if (!q->counts.scope.n || q->counts.rows < (double)LEXICAL_NARROW_TEXTS ||
      rows >= q->counts.rows * LEXICAL_SCOPE_SHARE)
    return STATUS_OK;
  q->share = rows > 0 ? rows / q->counts.rows : 0;
  if (q->tokens.outside)
    s = scope_tokens_inside(q->st, q->query->scope, q->a, &q->tokens, q->err);
  if (s == STATUS_OK)
    s = tokenise_scope(q, &q->tokens, &words);
  buf_adds(&b, q->tokens.outside ? "!(" : "(");
  for (size_t i = 0; i < words.n; i++) {
    buf_adds(&b, i ? " | " : "");
    words_quote(&b, words.v[i]);
  }
  buf_addc(&b, ')');
  q->within = buf_str(&b);
  return s;
}

static enum status search(struct store *st, const struct chunk_query *query, bool complete, struct arena *a,
                          struct lexical_hits *ret_hits, struct error *err) {
  struct search q = {.st = st, .query = query, .a = a, .err = err, .complete = complete};
  if (query->limit == 0)
    return STATUS_OK;
  q.counts = (struct word_counts){.st = q.st, .team = query->scope->team};
  enum status s = list_scope(&q);
  if (s == STATUS_OK)
    s = words_terms(&q.counts, query->text, query->completions, q.a, &q.terms, q.err);
  if (s == STATUS_OK && q.terms.n) {
    s = use_scope(&q);
    list_query_words(&q);
  }
  if (s == STATUS_OK && q.terms.n)
    s = search_terms(&q);
  if (s == STATUS_OK) {
    struct query_terms *terms = arena_new(q.a, struct query_terms);
    *terms = q.terms;
    *ret_hits = q.hits;
    ret_hits->bound = q.terms.bound * (BM25_K1 + 1);
    ret_hits->terms = terms;
  }
  return s;
}

enum status postgres_lexical_search(struct store *st, const struct chunk_query *q, struct arena *a,
                                    struct lexical_hits *ret_hits, struct error *err) {
  return search(st, q, false, a, ret_hits, err);
}

enum status postgres_lexical_search_all(struct store *st, const struct chunk_query *q, struct arena *a,
                                        struct lexical_hits *ret_hits, struct error *err) {
  return search(st, q, true, a, ret_hits, err);
}
