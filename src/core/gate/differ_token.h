/* differ_token.h: tokenizer of the difference check: words, names, numbers, dates and versions. */
#pragma once

#include "core/gate/differ_words.h"

enum token_kind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_DATE, TOKEN_VERSION };

struct token {
  struct str text; /* slice of the input */
  struct str word; /* case-folded */
  struct str stem; /* for a name or version: the folded word without dots or a leading "v" */
  uint64_t key;    /* equal for tokens that mean the same */
  enum token_kind kind;
  enum word_class class;
  bool name;    /* written like a name: a capital inside a sentence, digits, dots, slashes, backquotes */
  bool content; /* neither grammar nor a negator */
  bool negated; /* an odd number of negators governs it */
  bool spelled; /* a number written as a word */
  int clause;   /* number of the clause; punctuation ends one */
  double value; /* TOKEN_NUMBER: in the base unit of its dimension */
  enum dimension dimension;
  short year, month, day, weekday; /* TOKEN_DATE: 0 if not given */
  int clock;                       /* TOKEN_DATE: 1 + seconds since midnight; 0 if not given */
  int partner;                     /* index of the paired token of the other text; -1 if none */
  bool moved;                      /* paired outside the alignment, at another position */
};

struct tokens {
  struct token *v;
  size_t n, cap;
};

struct tokens differ_tokenize(struct arena *a, struct lexicon *l, struct str text);
