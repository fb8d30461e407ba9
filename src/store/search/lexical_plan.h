/* lexical_plan.h: which terms of a query choose rows and which only score them, and whether a scope is so small that
 * its texts are read one by one: the same for every engine. */
#pragma once

#include "store/search/lexical.h"
#include "store/search/lexical_query.h"

enum {
  LEXICAL_ENOUGH = 25,         /* fewer hits than that, or than wanted: the search is widened */
  LEXICAL_WIDENINGS = 2,       /* how often, before all rows are scored */
  LEXICAL_NARROW_TEXTS = 2000, /* a scope of so few memories is searched text by text */
};
/* By which factor a search is widened; the share of all rows below which a scope is told apart inside the index. */
#define LEXICAL_WIDER 8.0
#define LEXICAL_SCOPE_SHARE (1 / 5.0)

/* How the terms are used: [0, select) choose, [select, score) score in the index, the rest by text. The first of the
 * second part chooses, too, where one of its followers, (select, pair), is beside it. */
struct plan {
  size_t select, pair, score;
};

/* Rows that the terms of each part may have, for a store of `rows`; those that choose first. */
double plan_select_rows(double rows);
double plan_score_rows(double rows);
/* `share` of all rows are in the scope; no more than `most` terms score in the index. */
struct plan plan_within(const struct query_terms *terms, double share, double select_rows, double score_rows,
                        size_t most);
static inline bool plan_chooses(const struct plan *plan) { return plan->select > 0 || plan->pair > 0; }

/* ---- the scope, as the index knows it ---- */

/* Tokens of core/text/terms.h that the texts of a scope have, or do not have; none: nothing tells them apart. */
struct scope_tokens {
  struct strs list;
  bool outside;
};
struct scope_tokens scope_tokens(const struct scope *scope, struct arena *a);
/* Where most texts are outside: the tokens of all projects that have memories, for to have one of a few is found faster
 * than to have none of many. Too many projects: it stays as it is. */
NODISCARD enum status scope_tokens_inside(struct store *st, const struct scope *scope, struct arena *a,
                                          struct scope_tokens *tokens, struct error *err);

/* ---- a scope of few texts ---- */

/* Active memories and the others lie in two partial indexes; as of a moment of the past, neither helps. */
enum narrow_part { PART_ANY, PART_ACTIVE, PART_OTHERS, PARTS };

const char *lexical_states(const struct filter *f);
bool narrow_has(const struct scope *scope, const struct filter *f, enum narrow_part part);
/* The conditions on alias m. */
void narrow_where(struct sql *sql, const struct scope *scope, const struct filter *f, enum narrow_part part);
/* Is there an index that leads to the memories of the scope, and are they few? No more than just too many are
 * counted. */
NODISCARD enum status narrow_is(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                                bool *ret_narrow, struct error *err);
