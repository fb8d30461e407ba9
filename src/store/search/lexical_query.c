/* lexical_query.c: splits a query into words and derived forms, with their frequencies. */
#include "store/search/lexical_query.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "core/text/terms.h"

static void add_term(struct arena *a, struct query_terms *terms, struct query_term term) {
  for (size_t i = 0; i < terms->n; i++)
    if (str_eq(terms->v[i].token, term.token))
      return;
  if (terms->n < QUERY_CONSIDERED)
    list_push(a, terms, term);
}

/* A form that the tokeniser splits is searched as a phrase. */
static enum status add_form(const struct term_source *source, struct str form, struct arena *a,
                            struct query_terms *terms, struct error *err) {
  struct fts_tokens tokens = {0};
  enum status s = source->tokenise(source->arg, form, a, &tokens, err);
  struct buf joined = BUF(a);
  for (size_t i = 0; i < tokens.n; i++) {
    if (i)
      buf_addc(&joined, ' ');
    buf_add(&joined, tokens.v[i].text);
  }
  if (tokens.n)
    add_term(a, terms, (struct query_term){.token = buf_str(&joined), .surface = form, .phrase = tokens.n > 1});
  return s;
}

/* "1.2.3" is too short to be joined: 123 means something else. */
static bool is_short_number(struct str name) {
  size_t n = 0, digits = 0;
  for (size_t i = 0; i < name.n; i++) {
    n += ascii_alnum(name.p[i]);
    digits += ascii_digit(name.p[i]);
  }
  return n < name.n && n < 4 && digits > 0;
}

static enum status add_forms(const struct term_source *source, struct str query, struct arena *a,
                             struct query_terms *terms, struct error *err) {
  struct str rest = terms_derive(a, query, TERMS_FOR_QUERY), form, name;
  size_t pos = 0;
  while (terms->n < QUERY_CONSIDERED && str_next(&rest, ' ', &form))
    if (!str_empty(form))
      TRY(add_form(source, form, a, terms, err));
  while (terms->n < QUERY_CONSIDERED && terms_next_name(query, &pos, &name))
    if (is_short_number(name))
      TRY(add_form(source, name, a, terms, err));
  return STATUS_OK;
}

static int by_rarity(const void *a, const void *b) {
  const struct query_term *x = a, *y = b;
  if (x->df != y->df)
    return x->df < y->df ? -1 : 1;
  return str_cmp(x->token, y->token);
}

static enum status weigh(const struct term_source *source, struct arena *a, struct query_terms *terms,
                         struct error *err) {
  size_t kept = 0;
  double alternative = 0; /* the rarest: a text is not expected to have all of them */
  enum status s = source->count(source->arg, terms->v, terms->n, a, &terms->rows, err);
  terms->bound = 0;
  for (size_t i = 0; s == STATUS_OK && i < terms->n; i++) {
    struct query_term t = terms->v[i];
    if (t.df > terms->rows)
      t.df = terms->rows;
    t.idf = bm25_idf(terms->rows, t.df);
    /* Text written without spaces is found by its parts, so an unknown whole run is not dropped. */
    if (t.alternative)
      alternative = t.df > 0 && t.idf > alternative ? t.idf : alternative;
    else if (t.df > 0 || (!t.phrase && str_is_ascii(t.surface)))
      terms->bound += t.idf;
    if (t.df > 0)
      terms->v[kept++] = t;
  }
  terms->n = kept;
  terms->bound += alternative;
  if (kept)
    qsort(terms->v, kept, sizeof(*terms->v), by_rarity);
  if (terms->n > QUERY_TERMS)
    terms->n = QUERY_TERMS;
  return s;
}

static enum status add_alternatives(const struct term_source *source, const struct strs *words, struct arena *a,
                                    struct query_terms *terms, struct error *err) {
  for (size_t i = 0; words && i < words->n; i++) {
    size_t before = terms->n;
    TRY(add_form(source, words->v[i], a, terms, err));
    if (terms->n > before)
      terms->v[before].alternative = true;
  }
  return STATUS_OK;
}

enum status query_terms(const struct term_source *source, struct str query, const struct strs *alternatives,
                        struct arena *a, struct query_terms *ret_terms, struct error *err) {
  struct fts_tokens tokens = {0};
  struct query_terms terms = {0}, stops = {0};
  query = utf8_cut(query, QUERY_BYTES);
  TRY(source->tokenise(source->arg, query, a, &tokens, err));
  for (size_t i = 0; i < tokens.n; i++) {
    struct str surface = str_slice(query, tokens.v[i].start, tokens.v[i].end);
    struct query_term term = {.token = tokens.v[i].text, .surface = surface};
    add_term(a, terms_is_stop_word(arena_lower(a, surface)) ? &stops : &terms, term);
  }
  TRY(add_forms(source, query, a, &terms, err));
  TRY(add_alternatives(source, alternatives, a, &terms, err));
  TRY(weigh(source, a, &terms, err));
  if (terms.n == 0) {
    terms = stops;
    TRY(weigh(source, a, &terms, err));
  }
  *ret_terms = terms;
  return STATUS_OK;
}
