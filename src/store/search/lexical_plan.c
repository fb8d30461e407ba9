/* lexical_plan.c: plans full-text queries by term rarity and scope size. */
#include "store/search/lexical_plan.h"

#include <assert.h>

#include "core/text/terms.h"
#include "store/memories/documents.h"
#include "store/store_internal.h"

/* Row budgets, by term frequency. The first three double for stores of LARGE rows or more, and scale in proportion for
 * smaller ones. */
static const double LARGE = 1e6;
static const double SELECT_ROWS = 3000; /* budget of the selecting terms */
static const double PAIR_ROWS = 2500;   /* rows that contain the first other term and one of its followers */
static const double SCORE_ROWS = 60000; /* budget of the terms scored inside the index */
static const double PASSED_BY = 20;     /* rows outside the scope that cost as much as one inside */

static double budget(double rows, double most) { return most * (1 + (rows < LARGE ? rows / LARGE : 1)); }
double plan_select_rows(double rows) { return budget(rows, SELECT_ROWS); }
double plan_score_rows(double rows) { return budget(rows, SCORE_ROWS); }

struct plan plan_within(const struct query_terms *terms, double share, double select_rows, double score_rows,
                        size_t most) {
  assert(share >= 0 && share <= 1);
  struct plan plan = {0};
  const struct query_term *v = terms->v;
  double sum = 0;
  size_t i = 0, n = terms->n < most ? terms->n : most;
  /* Rows outside the scope are only skipped: about twenty cost as much as one that is scored. */
  double cost = share + (1 - share) / PASSED_BY;
  for (; i < n && sum + v[i].df * cost <= select_rows; i++)
    sum += v[i].df * cost;
  plan.select = i;
  for (sum = 0; i < n && sum + v[i].df <= score_rows; i++)
    sum += v[i].df;
  plan.score = i;
  /* The number of rows with both terms is an estimate that assumes independence. */
  sum = 0;
  for (i = plan.select + 1;
       i < plan.score && (sum + v[i].df) * v[plan.select].df * share / terms->rows <= budget(terms->rows, PAIR_ROWS);
       i++)
    sum += v[i].df;
  plan.pair = i > plan.select + 1 && i <= plan.score ? i : plan.select;
  assert(plan.select <= plan.pair && plan.pair <= plan.score && plan.score <= n);
  return plan;
}

/* ---- scope tokens ---- */

static unsigned corpora_of(const struct scope *scope) { return scope->corpora ? scope->corpora : 1U << CORPUS_MEMORY; }

static void push_token(struct arena *a, struct scope_tokens *t, struct str token) {
  strs_push(a, &t->list, arena_dup(a, token));
}

/* Memories of all projects share no token, so unwanted documents are excluded instead. */
static void tokens_of_all(unsigned corpora, struct arena *a, struct scope_tokens *t) {
  char token[TERMS_SCOPE_SIZE];
  t->outside = corpora & (1U << CORPUS_MEMORY);
  for (enum corpus c = CORPUS_MEMORY + 1; c < CORPUS_COUNT; c++)
    if (!(corpora & (1U << c)) == t->outside)
      push_token(a, t, terms_corpus(str_from(corpus_names[c]), token));
}

struct scope_tokens scope_tokens(const struct scope *scope, struct arena *a) {
  struct scope_tokens t = {0};
  unsigned corpora = corpora_of(scope);
  char token[TERMS_SCOPE_SIZE];
  if (scope->all_projects) {
    tokens_of_all(corpora, a, &t);
    return t;
  }
  for (enum corpus c = 0; c < CORPUS_COUNT; c++) {
    struct str name = str_from(corpus_names[c]);
    if (!(corpora & (1U << c)))
      continue;
    if (!scope->own || str_empty(scope->project))
      push_token(a, &t, terms_scope_of(name, STR(""), token));
    if (!str_empty(scope->project))
      push_token(a, &t, terms_scope_of(name, scope->project, token));
  }
  return t;
}

enum { PROJECTS_MOST = 64 };

/* Skips from project to project, using an index that both halves of the memories have. */
#define PROJECTS(half)                                                                                                 \
  "WITH RECURSIVE p (x) AS (SELECT (SELECT min(m.project) FROM memory m WHERE m.team = ?1 AND " half ")"               \
  " UNION ALL SELECT (SELECT min(m.project) FROM memory m WHERE m.team = ?1 AND " half " AND m.project > p.x)"         \
  " FROM p WHERE p.x IS NOT NULL) SELECT x FROM p WHERE x IS NOT NULL LIMIT ?2"

static enum status list_projects(struct store *st, struct str team, const char *sql, struct arena *a,
                                 struct strs *projects, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, sql, "si", team, (int64_t)PROJECTS_MOST + 1);
  while (rows_next(&r))
    if (!strs_has(projects, rows_text(&r, 0)))
      strs_push(a, projects, rows_dup(&r, 0, a));
  return rows_end(&r);
}

enum status scope_tokens_inside(struct store *st, const struct scope *scope, struct arena *a,
                                struct scope_tokens *tokens, struct error *err) {
  struct strs projects = {0};
  struct scope_tokens inside = {0};
  unsigned corpora = corpora_of(scope);
  char token[TERMS_SCOPE_SIZE];
  TRY(list_projects(st, scope->team, PROJECTS("m.state = 'active' AND m.corpus = 'memory'"), a, &projects, err));
  TRY(list_projects(st, scope->team, PROJECTS("m.state <> 'active'"), a, &projects, err));
  if (projects.n > PROJECTS_MOST)
    return STATUS_OK;
  for (size_t i = 0; i < projects.n; i++)
    push_token(a, &inside, terms_scope(projects.v[i], token));
  for (enum corpus c = CORPUS_MEMORY + 1; c < CORPUS_COUNT; c++)
    if (corpora & (1U << c))
      push_token(a, &inside, terms_corpus(str_from(corpus_names[c]), token));
  if (inside.list.n)
    *tokens = inside;
  return STATUS_OK;
}

/* ---- narrow scopes ---- */

const char *lexical_states(const struct filter *f) { return f->states ? f->states : STATES_SEARCHED; }

bool narrow_has(const struct scope *scope, const struct filter *f, enum narrow_part part) {
  assert((unsigned)part < PARTS);
  const char *states = lexical_states(f);
  bool active = strstr(states, STATES_LIVE), others = !str_is(STR(STATES_LIVE), states);
  if (scope->as_of)
    return part == PART_ANY;
  return (part == PART_ACTIVE && active) || (part == PART_OTHERS && others);
}

/* Memories have indexes and documents have one, but there is none over both. */
static bool may_be_narrow(const struct scope *scope, const struct filter *f) {
  unsigned corpora = corpora_of(scope), memories = 1U << CORPUS_MEMORY;
  if ((corpora & memories) && corpora != memories)
    return false;
  if (f->tags.n || f->people.n || f->since || f->until)
    return true;
  return !scope->as_of && (!scope->all_projects || !narrow_has(scope, f, PART_ACTIVE));
}

void narrow_where(struct sql *sql, const struct scope *scope, const struct filter *f, enum narrow_part part) {
  visible(sql, scope, part == PART_ACTIVE ? STATES_LIVE : lexical_states(f));
  sql_add(sql, part == PART_OTHERS ? " AND m.state <> 'active'" : "");
  filter_by_tag(sql, scope->team, f);
  if (!f->tags.n)
    filter_by_label(sql, scope->team, "people", f->people.v);
  filter_where(sql, f);
}

enum status scope_is_narrow(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                            bool *ret_narrow, struct error *err) {
  int64_t count = 0, n = 0;
  enum status s = STATUS_OK;
  if (!may_be_narrow(scope, f)) {
    *ret_narrow = false;
    return STATUS_OK;
  }
  for (enum narrow_part part = PART_ANY; s == STATUS_OK && part < PARTS && count <= LEXICAL_NARROW_TEXTS; part++) {
    if (!narrow_has(scope, f, part))
      continue;
    struct sql sql = SQL(a);
    sql_add(&sql, "SELECT count(*) FROM (SELECT 1 FROM memory m WHERE ");
    narrow_where(&sql, scope, f, part);
    sql_addf(&sql, " LIMIT %d) few", LEXICAL_NARROW_TEXTS + 1);
    s = db_int_sql(st->db, &n, NULL, err, &sql);
    count += n;
  }
  if (s == STATUS_OK)
    *ret_narrow = count <= LEXICAL_NARROW_TEXTS;
  return s;
}
