/* complete.c: completes a word from the texts of the scope.
 *
 * The index has stems, and a stem may lack the end of the prefix: "deployme" is the beginning of "deployment", whose
 * stem is "deploy". So the index only finds texts with a word that begins like the prefix, and the words are taken from
 * the texts themselves. */
#include "store/search/complete.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "core/text/text.h"
#include "store/postgres/lexemes.h"
#include "store/search/lexical_plan.h"
#include "store/sqlite/fts.h"
#include "store/store_internal.h"

enum { PREFIX_LEAST = 2, STEM_LEAST = 3, TEXTS = 300, WORDS = 50000 };

struct completion {
  struct str word; /* folded */
  int64_t count;
};
struct completing {
  struct store *st;
  const struct chunk_query *query;
  struct str prefix; /* folded */
  struct arena *a;
  struct error *err;
  LIST(struct completion) found;
};

bool complete_split(struct str text, struct str *ret_before, struct str *ret_word) {
  size_t pos = 0;
  struct str word, last = STR_NONE;
  while (text_next_word(text, &pos, &word))
    last = word;
  if (!last.p || last.n < PREFIX_LEAST)
    return false;
  *ret_before = str_slice(text, 0, (size_t)(last.p - text.p));
  *ret_word = last;
  return true;
}

/* ---- index ---- */

static enum status tokenise_word(struct completing *c, struct str word, struct str *ret_token) {
  struct fts_tokens tokens = {0};
  if (db_engine(c->st->db) == DB_POSTGRES)
    TRY(words_tokenise(c->st, word, c->a, &tokens, c->err));
  else
    TRY(fts_tokenise(c->st->db, word, c->a, &tokens, c->err));
  *ret_token = tokens.n ? tokens.v[tokens.n - 1].text : STR("");
  return STATUS_OK;
}

/* Shortens a stem until it is its own stem: SQLite's index stems a prefix, too. */
static enum status stable_stem(struct completing *c, struct str *stem) {
  struct str token;
  while (stem->n > STEM_LEAST) {
    TRY(tokenise_word(c, *stem, &token));
    if (str_eq(token, *stem))
      break;
    *stem = utf8_cut(*stem, stem->n - 1);
  }
  return STATUS_OK;
}

static struct str match_of(struct completing *c, struct str stem) {
  struct buf b = BUF(c->a);
  if (db_engine(c->st->db) == DB_POSTGRES) {
    words_quote(&b, stem);
    buf_adds(&b, ":*");
  } else {
    fts_quote(&b, stem);
    buf_adds(&b, " *");
  }
  return buf_str(&b);
}

static struct sql texts_with(struct completing *c, struct str stem) {
  struct sql q = SQL(c->a);
  bool postgres = db_engine(c->st->db) == DB_POSTGRES;
  sql_add(&q, "SELECT c.headline, c.body, c.extra FROM chunk c JOIN memory m ON m.id = c.memory_id WHERE c.team = ");
  sql_text(&q, c->query->scope->team);
  sql_add(&q, " AND c.id IN (");
  if (postgres) {
    sql_add(&q, "SELECT x.chunk_id FROM chunk_text x WHERE x.team = ");
    sql_text(&q, c->query->scope->team);
    sql_add(&q, " AND x.tokens @@ CAST(");
  } else {
    sql_add(&q, "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ");
  }
  sql_text(&q, match_of(c, stem));
  sql_add(&q, postgres ? " AS tsquery)) AND " : ") AND ");
  visible(&q, c->query->scope, lexical_states(c->query->filter));
  filter_where(&q, c->query->filter);
  sql_addf(&q, " ORDER BY c.id DESC LIMIT %d", TEXTS);
  return q;
}

/* ---- words ---- */

static void collect_words(struct completing *c, struct str text) {
  size_t pos = 0;
  struct str word;
  while (c->found.n < WORDS && text_next_word(text, &pos, &word)) {
    struct str folded = utf8_fold(c->a, word);
    if (str_starts(folded, c->prefix))
      list_push(c->a, &c->found, (struct completion){folded, 1});
  }
}

static enum status read_texts(struct completing *c, struct str stem) {
  struct rows r;
  struct sql q = texts_with(c, stem);
  db_query_sql(c->st->db, &r, c->err, &q);
  while (rows_next(&r))
    for (int i = 0; i < 3; i++)
      collect_words(c, rows_text(&r, i));
  enum status s = rows_end(&r);
  return fts_is_damage(s) ? STATUS_OK : s; /* lexical_search() reports a damaged index */
}

static int by_word(const void *x, const void *y) {
  return str_cmp(((const struct completion *)x)->word, ((const struct completion *)y)->word);
}

static void count_words(struct completing *c) {
  size_t n = 0;
  qsort(c->found.v, c->found.n, sizeof(*c->found.v), by_word);
  for (size_t i = 0; i < c->found.n; i++)
    if (n && str_eq(c->found.v[n - 1].word, c->found.v[i].word))
      c->found.v[n - 1].count++;
    else
      c->found.v[n++] = c->found.v[i];
  c->found.n = n;
}

static int by_count(const void *x, const void *y) {
  const struct completion *a = x, *b = y;
  if (a->count != b->count)
    return a->count > b->count ? -1 : 1;
  return str_cmp(a->word, b->word);
}

enum status complete_word(struct store *st, const struct chunk_query *q, struct str word, struct arena *a,
                          struct strs *ret_words, struct error *err) {
  struct completing c = {.st = st, .query = q, .prefix = utf8_fold(a, word), .a = a, .err = err};
  struct str stem;
  TRY(tokenise_word(&c, word, &stem));
  if (!str_eq(stem, c.prefix) && stem.n > STEM_LEAST) /* other words with this beginning have other stems */
    stem = utf8_cut(stem, stem.n - 1);
  for (int tries = 0; tries < 2 && stem.n && c.found.n == 0; tries++) {
    TRY(stable_stem(&c, &stem));
    TRY(read_texts(&c, stem));
    stem = utf8_cut(stem, stem.n / 2 > STEM_LEAST ? stem.n / 2 : STEM_LEAST);
  }
  if (c.found.n) {
    count_words(&c);
    qsort(c.found.v, c.found.n, sizeof(*c.found.v), by_count);
  }
  for (size_t i = 0; i < c.found.n && i < COMPLETIONS; i++)
    strs_push(a, ret_words, c.found.v[i].word);
  return STATUS_OK;
}
