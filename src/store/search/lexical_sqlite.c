/* lexical_sqlite.c: full-text search in SQLite: rare terms select rows, all terms score them, and only the best are
 * checked.
 *
 * The terms of a query, rarest first, fall into three parts. Terms of the first part select: every row that contains
 * one is scored, up to SELECT_ROWS (lexical_plan.c) in total. Terms of the second part, up to SCORE_ROWS, score those
 * rows inside the index. The rest, which are in half of all texts, score only the best rows, from their texts. Rows are
 * scored without being read; then visibility and filters are checked, best row first, until enough have passed. If
 * fewer than LEXICAL_ENOUGH pass, a narrow scope is searched text by text; otherwise the first part takes in more and
 * more terms, in the end all. The cost is thus bounded in the common case, and no row that passes the filters is lost.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "store/engine.h"
#include "store/search/lexical.h"
#include "store/search/lexical_plan.h"
#include "store/search/search_rows.h"
#include "store/sqlite/fts.h"
#include "store/store_internal.h"

enum {
  COMMON_ROWS = 4000, /* if every term is too common: the newest rows that contain several of them */
  KEEP_TIMES = 5,     /* rows kept per wanted row, */
  MEASURE_TIMES = 4,  /* and rows whose lengths may be looked up */
  TEXT_ROWS = 40,     /* best rows whose texts are read for the most common terms */
};

struct search {
  struct store *st;
  const struct chunk_query *query;
  struct arena *a;
  struct error *err;
  struct fts_totals totals;
  struct query_terms terms;
  struct str within;      /* " AND ..." or " NOT ..." that restricts rows to the scope; empty if most rows are in it */
  double share;           /* share of all rows that is in the scope */
  struct sql accept;      /* returns the memory of a chunk that passes; its last value is the chunk id */
  struct sql accept_text; /* same, with the chunk's texts */
  bool complete;          /* no pruning */
  struct lexical_hits hits;
};

/* One scan of the index. */
struct work {
  struct plan terms;
  bool all_of; /* rows must contain all selecting terms */
  size_t keep, most;
};

/* ---- scoring by text ---- */

/* Does the term match at token i? */
static bool matches_at(const struct fts_tokens *tokens, size_t i, const struct query_term *term) {
  struct str rest = term->token, word;
  if (!term->phrase)
    return str_eq(tokens->v[i].text, term->token);
  for (; str_next(&rest, ' ', &word); i++)
    if (i >= tokens->n || !str_eq(tokens->v[i].text, word))
      return false;
  return true;
}

static enum status count_text(struct search *q, struct str text, double weight, bool measured, double *tf,
                              double *length) {
  struct fts_tokens tokens = {0};
  enum status s = fts_tokenise(q->st->db, text, q->a, &tokens, q->err);
  *length += measured ? (double)tokens.n : 0;
  for (size_t i = 0; i < tokens.n; i++)
    for (size_t k = 0; k < q->terms.n; k++)
      if (matches_at(&tokens, i, &q->terms.v[k]))
        tf[k] += weight;
  return s;
}

/* Score added by the terms from `first` on, from the four columns of the index. */
static enum status score_text(struct search *q, const struct rows *r, int column, size_t first, double *ret_score) {
  double tf[QUERY_TERMS] = {0}, length = 0, score = 0;
  assert(q->terms.n <= QUERY_TERMS);
  enum status s = STATUS_OK;
  for (int i = 0; s == STATUS_OK && i < BM25_COLUMNS; i++)
    s = count_text(q, rows_text(r, column + i), bm25_weights[i], i < BM25_MEASURED, tf, &length);
  for (size_t k = first; k < q->terms.n; k++)
    if (tf[k] > 0)
      score += q->terms.v[k].idf * bm25_part(tf[k], length / q->totals.average);
  *ret_score = score;
  return s;
}

/* ---- visibility ---- */

static struct sql accept_sql(struct search *q, bool texts) {
  struct sql sql = SQL(q->a);
  sql_addf(&sql, "SELECT m.id, " FEATURE_COLUMNS "%s FROM chunk c JOIN memory m ON m.id = c.memory_id WHERE ",
           texts ? ", c.headline, c.body, c.extra, c.terms" : "");
  visible(&sql, q->query->scope, lexical_states(q->query->filter));
  filter_where(&sql, q->query->filter);
  sql_add(&sql, " AND c.id = ");
  sql_int(&sql, 0);
  return sql;
}

static int by_score(const void *a, const void *b) {
  const struct lexical_hit *x = a, *y = b;
  if (x->score != y->score)
    return x->score > y->score ? -1 : 1;
  return x->chunk_id < y->chunk_id ? -1 : x->chunk_id > y->chunk_id;
}

static void sort_hits(struct lexical_hits *hits) {
  if (hits->n)
    qsort(hits->v, hits->n, sizeof(*hits->v), by_score);
}

static enum status accept_rows(struct search *q, const struct fts_scan *scan, struct fts_found *found, size_t by_text) {
  struct lexical_hits hits = {0};
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < found->n && hits.n < q->query->limit; i++) {
    struct rows r;
    if (i == found->measured)
      fts_sort_rest(found);
    struct fts_row *row = &found->v[i];
    double more = 0;
    bool texts = hits.n < TEXT_ROWS && by_text < q->terms.n;
    struct sql *accept = texts ? &q->accept_text : &q->accept;
    accept->v[accept->n - 1].i = row->chunk_id;
    db_query_sql(q->st->db, &r, q->err, accept);
    if (rows_next(&r)) {
      if (texts)
        s = score_text(q, &r, 1 + FEATURES, by_text, &more);
      if (s == STATUS_OK && i >= found->measured)
        s = fts_measure(q->st->db, scan, row, q->err);
      struct memory *m = arena_new(q->a, struct memory);
      m->id = rows_int(&r, 0);
      features_read(&r, 1, q->a, m);
      list_push(q->a, &hits, (struct lexical_hit){row->chunk_id, m->id, row->score + more, m});
    }
    enum status end = rows_end(&r);
    s = s == STATUS_OK ? end : s;
  }
  sort_hits(&hits);
  q->hits = hits;
  return s;
}

/* ---- one scan of the index ---- */

static void add_any(struct buf *b, const struct query_terms *terms, size_t from, size_t to, const char *between) {
  for (size_t i = from; i < to; i++) {
    if (i > from)
      buf_adds(b, between);
    fts_quote(b, terms->v[i].surface);
  }
}

static void add_pair(struct buf *b, const struct query_terms *terms, const struct plan *plan) {
  if (plan->pair <= plan->select)
    return;
  buf_adds(b, plan->select ? " OR (" : "(");
  fts_quote(b, terms->v[plan->select].surface);
  buf_adds(b, " AND (");
  add_any(b, terms, plan->select + 1, plan->pair, " OR ");
  buf_adds(b, "))");
}

/* "(a OR b) AND (a OR b OR c)" matches the same rows as "a OR b" and also reports the positions of c. */
static struct str expression_of(struct search *q, const struct work *work) {
  const struct plan *plan = &work->terms;
  struct buf b = BUF(q->a);
  buf_addc(&b, '(');
  add_any(&b, &q->terms, 0, plan->select, work->all_of ? " AND " : " OR ");
  add_pair(&b, &q->terms, plan);
  buf_addc(&b, ')');
  if (plan->score > plan->select) {
    buf_adds(&b, " AND (");
    add_any(&b, &q->terms, 0, plan->score, " OR ");
    buf_addc(&b, ')');
  }
  buf_add(&b, q->within);
  return buf_str(&b);
}

static struct fts_scan scan_of(struct search *q, const struct work *work) {
  const struct plan *plan = &work->terms;
  size_t chooses = plan->pair > plan->select ? plan->pair : plan->select;
  double *idf = arena_array(q->a, double, FTS_WEIGHED);
  assert(plan->score <= FTS_WEIGHED && plan->score <= q->terms.n);
  for (size_t i = 0; i < plan->score; i++)
    idf[i] = q->terms.v[i].idf;
  return (struct fts_scan){.expression = expression_of(q, work),
                           .first = plan->score > plan->select ? chooses : 0,
                           .weighed = plan->score,
                           .idf = idf,
                           .totals = q->totals,
                           .most = work->most,
                           .keep = work->keep,
                           .want = q->complete ? SIZE_MAX : q->query->limit,
                           .measure = q->complete ? SIZE_MAX : q->query->limit * MEASURE_TIMES};
}

/* Fills q->hits; ret_all is set if no matching row was skipped. */
static enum status run_plan(struct search *q, const struct work *work, bool *ret_all) {
  assert(plan_selects(&work->terms));
  struct fts_scan scan = scan_of(q, work);
  struct fts_found found = {0};
  enum status s = fts_search(q->st->db, &scan, q->a, &found, q->err);
  if (fts_is_damage(s)) {
    q->hits = (struct lexical_hits){.damaged = true};
    *ret_all = true;
    return STATUS_OK;
  }
  if (s == STATUS_OK)
    s = accept_rows(q, &scan, &found, work->terms.score);
  *ret_all = work->terms.select == q->terms.n && !work->all_of && found.seen <= work->keep &&
             (work->most == 0 || found.seen < work->most);
  return s;
}

static bool has_enough(const struct search *q) {
  return q->hits.damaged || q->hits.n >= (q->query->limit < LEXICAL_ENOUGH ? q->query->limit : LEXICAL_ENOUGH);
}

/* ---- narrow scopes ---- */

static enum status score_part(struct search *q, enum narrow_part part, struct lexical_hits *hits) {
  struct sql sql = SQL(q->a);
  struct rows r;
  sql_add(&sql, "SELECT m.id, c.headline, c.body, c.extra, c.terms, c.id FROM memory m"
                " CROSS JOIN chunk c ON c.memory_id = m.id WHERE ");
  narrow_where(&sql, q->query->scope, q->query->filter, part);
  enum status s = STATUS_OK;
  db_query_sql(q->st->db, &r, q->err, &sql);
  while (s == STATUS_OK && rows_next(&r)) {
    double score = 0;
    s = score_text(q, &r, 1, 0, &score);
    if (s == STATUS_OK && score > 0)
      list_push(q->a, hits, (struct lexical_hit){rows_int(&r, 5), rows_int(&r, 0), score, NULL});
  }
  enum status end = rows_end(&r);
  return s == STATUS_OK ? end : s;
}

/* Scores every text of the scope. If there are too many, ret_few is false and nothing changes. */
static enum status search_texts(struct search *q, bool *ret_few) {
  struct lexical_hits hits = {0};
  enum status s = scope_is_narrow(q->st, q->query->scope, q->query->filter, q->a, ret_few, q->err);
  if (s != STATUS_OK || !*ret_few)
    return s;
  for (enum narrow_part part = PART_ANY; s == STATUS_OK && part < PARTS; part++)
    if (narrow_has(q->query->scope, q->query->filter, part))
      s = score_part(q, part, &hits);
  sort_hits(&hits);
  hits.n = hits.n < q->query->limit ? hits.n : q->query->limit;
  if (s == STATUS_OK)
    q->hits = hits;
  return s;
}

/* ---- search ---- */

static struct work work_within(const struct search *q, double select_rows, double score_rows) {
  return (struct work){.terms = plan_within(&q->terms, q->share, select_rows, score_rows, FTS_WEIGHED),
                       .keep = q->query->limit * KEEP_TIMES};
}

/* Every term is too common to select rows: tries rows that contain three of them, then two, then one, newest first. */
static enum status search_common(struct search *q, bool *ret_all) {
  enum status s = STATUS_OK;
  *ret_all = false;
  for (size_t n = q->terms.n < 3 ? q->terms.n : 3; s == STATUS_OK && n > 0; n--) {
    struct work work = {
        .terms = {.select = n, .score = n}, .all_of = n > 1, .keep = q->query->limit * KEEP_TIMES, .most = COMMON_ROWS};
    s = run_plan(q, &work, ret_all);
    if (has_enough(q))
      break;
  }
  return s;
}

/* Scores every row that contains one of the terms. */
static enum status search_all(struct search *q) {
  struct work work = work_within(q, HUGE_VAL, 0);
  bool all;
  work.keep = SIZE_MAX;
  return run_plan(q, &work, &all);
}

static enum status widen(struct search *q) {
  bool few = false, all = false;
  enum status s = search_texts(q, &few);
  if (s != STATUS_OK || few)
    return s;
  double rows = plan_select_rows(q->totals.rows);
  for (int step = 0; s == STATUS_OK && !all && !has_enough(q) && step < LEXICAL_WIDENINGS; step++) {
    rows *= LEXICAL_WIDER;
    struct work work = work_within(q, rows, rows);
    work.keep = SIZE_MAX;
    if (plan_selects(&work.terms))
      s = run_plan(q, &work, &all);
  }
  return s == STATUS_OK && !all && !has_enough(q) ? search_all(q) : s;
}

static enum status search_terms(struct search *q) {
  bool all = false;
  if (q->complete)
    return search_all(q);
  struct work work = work_within(q, plan_select_rows(q->totals.rows), plan_score_rows(q->totals.rows));
  TRY(plan_selects(&work.terms) ? run_plan(q, &work, &all) : search_common(q, &all));
  if (!all && !has_enough(q))
    return widen(q);
  return STATUS_OK;
}

static struct str tokens_expression(struct search *q, const struct scope_tokens *tokens) {
  struct buf b = BUF(q->a);
  for (size_t i = 0; i < tokens->list.n; i++)
    buf_addf(&b, "%s%.*s", i ? " OR " : "terms : (", STR_ARG(tokens->list.v[i]));
  buf_addc(&b, ')');
  return buf_str(&b);
}

static enum status count_tokens(struct search *q, const struct scope_tokens *tokens, double *ret_rows) {
  *ret_rows = 0;
  if (!tokens->list.n)
    return STATUS_OK;
  return fts_frequency(q->st->db, &q->totals, tokens_expression(q, tokens), ret_rows, q->err);
}

/* Tokens of the scope's projects and corpora in the index. Documents are stored contiguously, and frequencies of such
 * tokens are underestimated. So their existence is checked first, and then the other texts are counted. */
static enum status find_scope(struct search *q) {
  double rows;
  q->share = 1;
  if (q->complete || q->totals.rows < (double)LEXICAL_NARROW_TEXTS)
    return STATUS_OK;
  struct scope_tokens tokens = scope_tokens(q->query->scope, q->a);
  enum status s = count_tokens(q, &tokens, &rows);
  if (s != STATUS_OK || !tokens.list.n || (tokens.outside && rows == 0))
    return s;
  if (tokens.outside) {
    s = scope_tokens_inside(q->st, q->query->scope, q->a, &tokens, q->err);
    if (s == STATUS_OK)
      s = count_tokens(q, &tokens, &rows);
  }
  if (s != STATUS_OK)
    return s;
  double share = (tokens.outside ? q->totals.rows - rows : rows) / q->totals.rows;
  if (share < LEXICAL_SCOPE_SHARE) {
    q->within = arena_printf(q->a, " %s %.*s", tokens.outside ? "NOT" : "AND", STR_ARG(tokens_expression(q, &tokens)));
    q->share = share > 0 ? share : 0;
  }
  return STATUS_OK;
}

static enum status search_inside(struct search *q) {
  enum status s = fts_totals(q->st->db, &q->totals, q->err);
  if (s == STATUS_OK)
    s = fts_terms(q->st->db, q->query, &q->totals, q->a, &q->terms, q->err);
  if (s == STATUS_OK && q->terms.n)
    s = find_scope(q);
  if (s == STATUS_OK && q->terms.n == 0)
    s = fts_probe(q->st->db, q->a, q->err);
  if (fts_is_damage(s)) {
    q->hits.damaged = true;
    return STATUS_OK;
  }
  if (s != STATUS_OK || q->terms.n == 0)
    return s;
  q->accept = accept_sql(q, false);
  q->accept_text = accept_sql(q, true);
  return search_terms(q);
}

static enum status search(struct store *st, const struct chunk_query *query, bool complete, struct arena *a,
                          struct lexical_hits *ret_hits, struct error *err) {
  struct search q = {.st = st, .query = query, .a = a, .err = err, .complete = complete};
  bool began = false;
  if (query->limit == 0)
    return STATUS_OK;
  enum status s = db_snapshot(q.st->db, &began, q.err);
  if (s == STATUS_OK)
    s = search_inside(&q);
  s = db_snapshot_end(q.st->db, began, s, q.err);
  if (s == STATUS_OK) {
    *ret_hits = q.hits;
    ret_hits->bound = q.terms.bound * (BM25_K1 + 1);
    struct query_terms *terms = arena_new(q.a, struct query_terms);
    *terms = q.terms;
    ret_hits->terms = q.hits.damaged ? NULL : terms;
  }
  return s;
}

enum status sqlite_lexical_search(struct store *st, const struct chunk_query *q, struct arena *a,
                                  struct lexical_hits *ret_hits, struct error *err) {
  return search(st, q, false, a, ret_hits, err);
}

enum status sqlite_lexical_search_all(struct store *st, const struct chunk_query *q, struct arena *a,
                                      struct lexical_hits *ret_hits, struct error *err) {
  return search(st, q, true, a, ret_hits, err);
}
