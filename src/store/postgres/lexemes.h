/* lexemes.h: the words of texts as PostgreSQL keeps them: lexemes of a tsvector with their places, and how many
 * chunks of a team hold each. Made here, by the tokeniser of every engine, so that words mean the same everywhere.
 *
 * A place is 16 bits, as the server stores it: the column (3 headline, 2 body, 1 extra, 0 terms) above 14 bits of the
 * position, which counts through all columns with a gap between them: no phrase crosses it. Past WORDS_PLACES
 * positions, or past 255 of one word, words are only known to be there; a chunk is far from either. */
#pragma once

#include "store/search/lexical.h"
#include "store/search/lexical_query.h"

enum { WORDS_PLACES = 16383, WORDS_OF_ONE = 255 };

/* The words of this text, by the store's own tokeniser, which is opened when it is first needed. */
NODISCARD enum status words_tokenise(struct store *st, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                                     struct error *err);
/* The token as it is stored: a long one by its beginning and its hash. */
struct str words_lexeme(struct arena *a, struct str token);
/* As a string of a tsquery or tsvector, whatever it holds; a phrase, whose words have blanks between them, with <->. */
void words_quote(struct buf *b, struct str lexeme);
void words_quote_term(struct buf *b, struct arena *a, const struct query_term *term);

/* ---- the words of a chunk ---- */

struct word {
  struct str lexeme;
  uint16_t place;
};
struct words {
  struct word *v; /* in the server's order: lexemes byte by byte, then positions */
  size_t n, cap;
  int64_t length; /* of the measured columns, with repetitions */
};
NODISCARD enum status words_of(struct store *st, const struct chunk_text *text, struct arena *a,
                               struct words *ret_words, struct error *err);
/* What the server reads as a tsvector. */
struct str words_literal(struct arena *a, const struct words *words);
/* An element of an array, after the ones before it: "{" and "}" are the caller's. */
void words_element(struct buf *b, struct str text);

/* Walks what tsvectorsend() gives. */
struct word_reader {
  struct str bytes;
  size_t at, left;
  struct str lexeme;
  const unsigned char *places;
  size_t n;
};
struct word_reader words_read(struct str bytes);
bool words_next(struct word_reader *r);
static inline uint16_t words_place(const struct word_reader *r, size_t i) {
  return (uint16_t)(r->places[2 * i] << 8 | r->places[2 * i + 1]);
}
bool words_equal(const struct words *words, struct str bytes);

/* ---- how many chunks hold them ---- */

struct word_counts {
  struct store *st;
  struct str team;
  struct strs scope;    /* lexemes whose rows are counted, too */
  double scope_rows;    /* of these together */
  double rows, average; /* chunks of the team, their average length (1 when there are none) */
  bool known;
};
/* query_terms() for a team, in one statement, or two when there are phrases among them. */
NODISCARD enum status words_terms(struct word_counts *counts, struct str query, struct arena *a,
                                  struct query_terms *ret_terms, struct error *err);
