/* differ_token.h: a text as the sequence of words, names, numbers, dates and versions that differ.c compares. */
#pragma once

#include "core/gate/differ_words.h"

enum token_kind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_DATE, TOKEN_VERSION };

struct token {
  struct str text; /* a slice of the input */
  struct str word; /* folded */
  struct str stem; /* of a name or version: the folded word without its marks */
  uint64_t key;    /* equal keys: the same thing */
  enum token_kind kind;
  enum word_class class;
  bool name;    /* written like a name: a capital inside a sentence, digits, dots, slashes, backquotes */
  bool content; /* not grammar and not a negator */
  bool negated; /* an odd number of negators governs it */
  bool spelled; /* a number in words */
  int clause;   /* between two punctuation marks */
  double value; /* TOKEN_NUMBER, in the base unit of its dimension */
  enum dimension dimension;
  short year, month, day, weekday; /* TOKEN_DATE; 0 where it is not said */
  int clock;                       /* the same: 1 + seconds since midnight */
  int partner;                     /* the token of the other text that says the same; -1: none */
  bool moved;                      /* the partner stands elsewhere: outside the alignment */
};

struct tokens {
  struct token *v;
  size_t n, cap;
};

struct tokens tokens_of(struct arena *a, struct lexicon *l, struct str text);
