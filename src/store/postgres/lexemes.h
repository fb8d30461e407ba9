/* lexemes.h: words of texts in PostgreSQL: lexemes of a tsvector with their positions, and the number of chunks of a
 * team that contain each. They are made here, by the tokeniser that all engines use, so words are the same
 * everywhere.
 *
 * A place is 16 bits, as the server stores it: the column (3 headline, 2 body, 1 extra, 0 terms) above 14 bits of
 * position. Positions count through all columns with a gap between them that no phrase crosses. After WORDS_PLACES
 * positions, or 255 of one word, only the presence of a word is stored; chunks are far smaller. */
#pragma once

#include "store/search/lexical.h"
#include "store/search/lexical_query.h"

enum { WORDS_PLACES = 16383, WORDS_OF_ONE = 255 };

/* Splits the text with the store's own tokeniser, which is opened on first use. */
NODISCARD enum status words_tokenise(struct store *st, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                                     struct error *err);
/* Token as stored: a long one is shortened to its prefix and its hash. */
struct str words_lexeme(struct arena *a, struct str token);
/* Quotes any text as a string of a tsquery or tsvector. A phrase, whose words are separated by spaces, is joined by
 * <->. */
void words_quote(struct buf *b, struct str lexeme);
void words_quote_term(struct buf *b, struct arena *a, const struct query_term *term);

/* ---- words of a chunk ---- */

struct word {
  struct str lexeme;
  uint16_t place;
};
struct words {
  struct word *v; /* in the server's order: lexemes bytewise, then positions */
  size_t n, cap;
  int64_t length; /* number of words in the measured columns, with repetitions */
};
NODISCARD enum status words_of(struct store *st, const struct chunk_text *text, struct arena *a,
                               struct words *ret_words, struct error *err);
/* Text form of a tsvector. */
struct str words_literal(struct arena *a, const struct words *words);
/* Appends an array element; "{" and "}" are added by the caller. */
void words_element(struct buf *b, struct str text);

/* Reads the output of tsvectorsend(). */
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

/* ---- chunk counts ---- */

struct word_counts {
  struct store *st;
  struct str team;
  struct strs scope;    /* additional lexemes to count */
  double scope_rows;    /* sum of their rows */
  double rows, average; /* chunks of the team, and their average length (1 if there are none) */
  bool known;
};
/* query_terms() for a team, with one statement, or two if there are phrases. */
NODISCARD enum status words_terms(struct word_counts *counts, struct str query, const struct strs *alternatives,
                                  struct arena *a, struct query_terms *ret_terms, struct error *err);
