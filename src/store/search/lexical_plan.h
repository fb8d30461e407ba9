/* lexical_plan.h: decides which query terms select rows and which only score them, and whether a scope is small enough
 * to read its texts one by one. Shared by all engines. */
#pragma once

#include "store/search/lexical.h"
#include "store/search/lexical_query.h"

enum {
  LEXICAL_ENOUGH = 25,         /* with fewer hits than this, or than wanted, the search is widened */
  LEXICAL_WIDENINGS = 2,       /* widenings before all rows are scored */
  LEXICAL_NARROW_TEXTS = 2000, /* scopes up to this many memories are searched text by text */
};
/* Factor of each widening; share of all rows below which a scope is restricted inside the index. */
#define LEXICAL_WIDER 8.0
#define LEXICAL_SCOPE_SHARE (1 / 5.0)

/* Use of the terms: [0, select) select rows, [select, score) score inside the index, the rest score by text. Term
 * `select` also selects rows that contain one of its followers (select, pair). */
struct plan {
  size_t select, pair, score;
};

/* Row budgets of the selecting and of the scoring terms, for a store of `rows`. */
double plan_select_rows(double rows);
double plan_score_rows(double rows);
/* `share` of all rows is in the scope; at most `most` terms score in the index. */
struct plan plan_within(const struct query_terms *terms, double share, double select_rows, double score_rows,
                        size_t most);
static inline bool plan_selects(const struct plan *plan) { return plan->select > 0 || plan->pair > 0; }

/* ---- scope tokens ---- */

/* Tokens (core/text/terms.h) that the texts of a scope have or lack; empty if no token distinguishes them. */
struct scope_tokens {
  struct strs list;
  bool outside;
};
struct scope_tokens scope_tokens(const struct scope *scope, struct arena *a);
/* If most texts are outside the scope, lists the tokens of all projects with memories: matching one of a few tokens is
 * faster than excluding many. Unchanged if there are too many projects. */
NODISCARD enum status scope_tokens_inside(struct store *st, const struct scope *scope, struct arena *a,
                                          struct scope_tokens *tokens, struct error *err);

/* ---- narrow scopes ---- */

/* Active and other memories have separate partial indexes; for a query as of a past time neither helps. */
enum narrow_part { PART_ANY, PART_ACTIVE, PART_OTHERS, PARTS };

const char *lexical_states(const struct filter *f);
bool narrow_has(const struct scope *scope, const struct filter *f, enum narrow_part part);
/* Adds the conditions on alias m. */
void narrow_where(struct sql *sql, const struct scope *scope, const struct filter *f, enum narrow_part part);
/* True if an index leads to the memories of the scope and they are few. Counting stops at the limit. */
NODISCARD enum status scope_is_narrow(struct store *st, const struct scope *scope, const struct filter *f,
                                      struct arena *a, bool *ret_narrow, struct error *err);
