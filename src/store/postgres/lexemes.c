/* lexemes.c: lexemes and positions of texts: tokenise, write, read, count. */
#include "store/postgres/lexemes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "store/store_internal.h"

enum {
  LEXEME_MAX = 600,   /* bytes; the server accepts 2046, its indexes less */
  LEXEME_HEAD = 400,  /* bytes kept of a longer lexeme, so a prefix search still finds it */
  GAP = 2,            /* positions between the end of a column and the start of the next */
  PHRASE_ROWS = 2000, /* rows with all words of a phrase that are checked for the phrase */
  PHRASES_AT_ONCE = 8,
};

/* ---- tokens and lexemes ---- */

enum status words_tokenise(struct store *st, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                           struct error *err) {
  if (!st->tokeniser)
    TRY(tokeniser_open(&st->tokeniser, err));
  return tokenise(st->tokeniser, text, a, ret_tokens, err);
}

struct str words_lexeme(struct arena *a, struct str token) {
  if (token.n <= LEXEME_MAX)
    return token;
  struct str head = utf8_cut(token, LEXEME_HEAD);
  return arena_printf(a, "%.*s#%016llx", STR_ARG(head), (unsigned long long)str_hash(STR_HASH, token));
}

void words_quote(struct buf *b, struct str lexeme) {
  buf_addc(b, '\'');
  for (size_t i = 0; i < lexeme.n; i++) {
    if (lexeme.p[i] == '\'' || lexeme.p[i] == '\\')
      buf_addc(b, lexeme.p[i]);
    if (lexeme.p[i])
      buf_addc(b, lexeme.p[i]);
  }
  buf_addc(b, '\'');
}

void words_quote_term(struct buf *b, struct arena *a, const struct query_term *term) {
  struct str rest = term->token, word;
  if (!term->phrase) {
    words_quote(b, words_lexeme(a, term->token));
    return;
  }
  buf_addc(b, '(');
  for (bool first = true; str_next(&rest, ' ', &word); first = false) {
    buf_adds(b, first ? "" : "<->");
    words_quote(b, words_lexeme(a, word));
  }
  buf_addc(b, ')');
}

/* ---- words of a chunk ---- */

static unsigned position(uint16_t place) { return place & WORDS_PLACES; }

static int by_lexeme(const void *a, const void *b) {
  const struct word *x = a, *y = b;
  int order = str_cmp(x->lexeme, y->lexeme);
  return order ? order : (int)position(x->place) - (int)position(y->place);
}

/* Drops words that the server would drop, so both sides agree on the stored ones. */
static void drop_excess(struct words *words) {
  size_t n = 0, same = 0;
  for (size_t i = 0; i < words->n; i++) {
    const struct word *w = &words->v[i];
    bool again = n > 0 && str_eq(words->v[n - 1].lexeme, w->lexeme);
    same = again ? same : 0;
    if (same >= WORDS_OF_ONE || (again && position(words->v[n - 1].place) == position(w->place)))
      continue;
    same++;
    words->v[n++] = *w;
  }
  words->n = n;
}

enum status words_of(struct store *st, const struct chunk_text *text, struct arena *a, struct words *ret_words,
                     struct error *err) {
  const struct str columns[BM25_COLUMNS] = {text->headline, text->body, text->extra, text->terms};
  struct words words = {0};
  size_t at = 1;
  enum status s = STATUS_OK;
  for (int c = 0; s == STATUS_OK && c < BM25_COLUMNS; c++) {
    struct fts_tokens tokens = {0};
    s = words_tokenise(st, columns[c], a, &tokens, err);
    for (size_t i = 0; i < tokens.n; i++, at++) {
      unsigned place = (unsigned)(at < WORDS_PLACES ? at : WORDS_PLACES) | (unsigned)(BM25_COLUMNS - 1 - c) << 14;
      assert(place <= UINT16_MAX);
      list_push(a, &words, (struct word){words_lexeme(a, tokens.v[i].text), (uint16_t)place});
    }
    at += GAP - 1;
    words.length += c < BM25_MEASURED ? (int64_t)tokens.n : 0;
  }
  if (s != STATUS_OK)
    return s;
  if (words.n)
    qsort(words.v, words.n, sizeof(*words.v), by_lexeme);
  drop_excess(&words);
  *ret_words = words;
  return STATUS_OK;
}

struct str words_literal(struct arena *a, const struct words *words) {
  static const char *const weights[] = {"", "C", "B", "A"};
  struct buf b = BUF(a);
  for (size_t i = 0; i < words->n; i++) {
    const struct word *w = &words->v[i];
    bool again = i > 0 && str_eq(words->v[i - 1].lexeme, w->lexeme);
    if (!again) {
      buf_adds(&b, i ? " " : "");
      words_quote(&b, w->lexeme);
    }
    buf_addf(&b, "%c%u%s", again ? ',' : ':', position(w->place), weights[w->place >> 14]);
  }
  return buf_str(&b);
}

void words_element(struct buf *b, struct str text) {
  assert(b->n > 0); /* it begins with '{' */
  buf_adds(b, b->n > 1 ? ",\"" : "\"");
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == '"' || text.p[i] == '\\')
      buf_addc(b, '\\');
    buf_addc(b, text.p[i]);
  }
  buf_addc(b, '"');
}

/* ---- read ---- */

static size_t big_endian(struct str s, size_t at, size_t n) {
  size_t value = 0;
  for (size_t i = 0; i < n; i++)
    value = value << 8 | (unsigned char)s.p[at + i];
  return value;
}

struct word_reader words_read(struct str bytes) {
  struct word_reader r = {.bytes = bytes};
  if (bytes.n >= 4) {
    r.left = big_endian(bytes, 0, 4);
    r.at = 4;
  }
  return r;
}

/* Format: number of lexemes; for each the text and a zero byte, the number of positions, the positions. */
bool words_next(struct word_reader *r) {
  if (r->left == 0 || r->at >= r->bytes.n)
    return false;
  const char *from = r->bytes.p + r->at, *end = memchr(from, 0, r->bytes.n - r->at);
  if (!end)
    return false;
  r->lexeme = (struct str){from, (size_t)(end - from)};
  r->at += r->lexeme.n + 1;
  if (r->bytes.n - r->at < 2)
    return false;
  r->n = big_endian(r->bytes, r->at, 2);
  r->at += 2;
  if ((r->bytes.n - r->at) / 2 < r->n)
    return false;
  r->places = (const unsigned char *)r->bytes.p + r->at;
  r->at += 2 * r->n;
  r->left--;
  return true;
}

bool words_equal(const struct words *words, struct str bytes) {
  struct word_reader r = words_read(bytes);
  size_t at = 0;
  while (words_next(&r))
    for (size_t i = 0; i < r.n; i++, at++)
      if (at >= words->n || !str_eq(words->v[at].lexeme, r.lexeme) || words->v[at].place != words_place(&r, i))
        return false;
  return at == words->n && r.left == 0;
}

/* ---- counts ---- */

struct term_rows {
  struct str term;
  double rows;
};
struct counted {
  struct term_rows *v;
  size_t n, cap;
};

static double rows_of(const struct counted *counted, struct str lexeme) {
  for (size_t i = 0; i < counted->n; i++)
    if (str_eq(counted->v[i].term, lexeme))
      return counted->v[i].rows;
  return 0;
}

static struct str lexemes(const struct word_counts *c, const struct query_term *terms, size_t n, struct arena *a) {
  struct buf b = BUF(a);
  buf_addc(&b, '{');
  for (size_t i = 0; i < n; i++) {
    struct str rest = terms[i].token, word;
    while (str_next(&rest, ' ', &word))
      words_element(&b, words_lexeme(a, word));
  }
  for (size_t i = 0; i < c->scope.n; i++)
    words_element(&b, c->scope.v[i]);
  buf_addc(&b, '}');
  return buf_str(&b);
}

static enum status load(struct word_counts *c, struct str terms, struct arena *a, struct counted *ret,
                        struct error *err) {
  struct rows r;
  c->rows = 0;
  c->average = 1;
  db_query(c->st->db, &r, err,
           "SELECT NULL, n, words FROM chunk_count WHERE team = ?1 UNION ALL"
           " SELECT term, n, 0 FROM term_count WHERE team = ?1 AND term = ANY (CAST(?2 AS text[]))",
           "ss", c->team, terms);
  while (rows_next(&r)) {
    double n = (double)rows_int(&r, 1), words = (double)rows_int(&r, 2);
    if (!rows_null(&r, 0)) {
      list_push(a, ret, (struct term_rows){rows_dup(&r, 0, a), n});
      continue;
    }
    c->rows = n;
    c->average = n > 0 && words > 0 ? words / n : 1;
  }
  c->known = true;
  return rows_end(&r);
}

/* Rows of the rarest word: the upper bound for a phrase. */
static double rarest(const struct counted *counted, const struct query_term *term, struct arena *a) {
  struct str rest = term->token, word;
  double least = HUGE_VAL;
  while (str_next(&rest, ' ', &word)) {
    double rows = rows_of(counted, words_lexeme(a, word));
    least = rows < least ? rows : least;
  }
  return least;
}

/* Adds a statement that takes the first rows with all words of a phrase and counts them, and those with the phrase. */
static void add_phrase(struct sql *q, struct str team, const struct query_term *term, size_t i) {
  struct arena *a = q->text.a;
  struct buf all = BUF(a), phrase = BUF(a);
  struct str rest = term->token, word;
  while (str_next(&rest, ' ', &word)) {
    buf_adds(&all, all.n ? "&" : "");
    words_quote(&all, words_lexeme(a, word));
  }
  words_quote_term(&phrase, a, term);
  sql_addf(q, "%sSELECT CAST(%zu AS bigint), count(*), count(*) FILTER (WHERE x.tokens @@ CAST(",
           q->n ? " UNION ALL " : "", i);
  sql_text(q, buf_str(&phrase));
  sql_add(q, " AS tsquery)) FROM (SELECT tokens FROM chunk_text WHERE team = ");
  sql_text(q, team);
  sql_add(q, " AND tokens @@ CAST(");
  sql_text(q, buf_str(&all));
  sql_addf(q, " AS tsquery) LIMIT %d) x", PHRASE_ROWS);
}

static enum status count_some(struct word_counts *c, const struct sql *q, struct query_term *terms, struct error *err) {
  struct rows r;
  db_query_sql(c->st->db, &r, err, q);
  while (rows_next(&r)) {
    struct query_term *t = &terms[rows_int(&r, 0)];
    double seen = (double)rows_int(&r, 1), holds = (double)rows_int(&r, 2);
    /* df is so far that of the rarest word; if there are more rows than were checked, the share is extrapolated. */
    double df = seen < (double)PHRASE_ROWS ? holds : t->df * holds / seen;
    t->df = holds > 0 && df < 1 ? 1 : df;
  }
  return rows_end(&r);
}

static enum status count_phrases(struct word_counts *c, struct query_term *terms, size_t n, struct arena *a,
                                 struct error *err) {
  for (size_t i = 0; i < n;) {
    struct sql q = SQL(a);
    for (size_t some = 0; some < PHRASES_AT_ONCE && i < n; i++)
      if (terms[i].phrase && terms[i].df > 0) {
        add_phrase(&q, c->team, &terms[i], i);
        some++;
      }
    if (q.n)
      TRY(count_some(c, &q, terms, err));
  }
  return STATUS_OK;
}

static enum status count(void *arg, struct query_term *terms, size_t n, struct arena *a, double *ret_rows,
                         struct error *err) {
  struct word_counts *c = arg;
  struct counted counted = {0};
  enum status s = n ? load(c, lexemes(c, terms, n, a), a, &counted, err) : STATUS_OK;
  c->scope_rows = 0;
  for (size_t i = 0; i < c->scope.n; i++)
    c->scope_rows += rows_of(&counted, c->scope.v[i]);
  for (size_t i = 0; i < n; i++)
    terms[i].df = rarest(&counted, &terms[i], a);
  if (s == STATUS_OK)
    s = count_phrases(c, terms, n, a, err);
  *ret_rows = c->rows;
  return s;
}

static enum status source_tokenise(void *arg, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                                   struct error *err) {
  const struct word_counts *c = arg;
  return words_tokenise(c->st, text, a, ret_tokens, err);
}

enum status words_terms(struct word_counts *counts, struct str query, const struct strs *alternatives, struct arena *a,
                        struct query_terms *ret_terms, struct error *err) {
  struct term_source source = {counts, source_tokenise, count};
  return query_terms(&source, query, alternatives, a, ret_terms, err);
}
