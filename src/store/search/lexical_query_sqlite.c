/* lexical_query_sqlite.c: query terms counted in the FTS5 index. */
#include "store/search/lexical_query.h"
#include "store/sqlite/fts.h"

static enum status source_tokenise(void *arg, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                                   struct error *err) {
  const struct fts_counted *c = arg;
  return fts_tokenise(c->db, text, a, ret_tokens, err);
}

static enum status count(void *arg, struct query_term *terms, size_t n, struct arena *a, double *ret_rows,
                         struct error *err) {
  const struct fts_counted *c = arg;
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < n; i++) {
    struct buf b = BUF(a);
    fts_quote(&b, terms[i].surface);
    s = fts_frequency(c->db, c->totals, buf_str(&b), &terms[i].df, err);
  }
  *ret_rows = c->totals->rows;
  return s;
}

struct term_source fts_source(struct fts_counted *counted) {
  return (struct term_source){counted, source_tokenise, count};
}

enum status fts_terms(struct db *db, struct str query, const struct fts_totals *totals, struct arena *a,
                      struct query_terms *ret_terms, struct error *err) {
  struct fts_counted counted = {db, totals};
  struct term_source source = fts_source(&counted);
  return query_terms(&source, query, a, ret_terms, err);
}
