/* differ_words.h: the words that differ.c knows: function words, negators, numbers, units, synonyms, opposites. */
#pragma once

#include "base/arena.h"

enum word_class {
  WORD_CONTENT,
  WORD_STOP,     /* grammar: does not count when texts are compared */
  WORD_NEGATOR,  /* turns round the word that it governs */
  WORD_NUMBER,   /* value is set */
  WORD_MULTIPLE, /* "hundred": multiplies the number before it */
  WORD_ORDINAL,  /* "third": value is set */
  WORD_MONTH,    /* value 1 to 12 */
  WORD_DAY,      /* value 1 to 7 for weekdays, above that "today" and its like */
};

/* What a unit measures; quantities of two kinds are never equal. */
enum dimension {
  DIMENSION_NONE,
  DIMENSION_TIME,
  DIMENSION_BYTES,
  DIMENSION_PERCENT,
  DIMENSION_MONEY,
  DIMENSION_LENGTH,
  DIMENSION_WEIGHT
};

struct word_info {
  enum word_class class;
  double value;
};

/* How two different words relate. */
enum relation { RELATION_NONE, RELATION_SAME, RELATION_OPPOSITE };

/* One membership of a word in a group of the tables. */
struct sense {
  const struct sense *next; /* the word's other senses */
  short group, side;        /* the same group and side: synonyms; the same group, another side: opposites */
};

struct lexicon;

/* The tables, indexed; one for each check, in the arena. */
struct lexicon *lexicon_new(struct arena *a);
/* Of a folded word. */
struct word_info lexicon_class(struct lexicon *l, struct str word);
/* The form in which a folded word's inflections meet: "uses", "using" and "used" are "us", "men" is "man". */
struct str lexicon_stem(struct lexicon *l, struct str word);
/* The same by rule alone. */
struct str word_stem(struct str word);
/* Of a stem; NULL when the tables do not know it. */
const struct sense *lexicon_senses(struct lexicon *l, struct str stem);
enum relation lexicon_relation(const struct sense *a, const struct sense *b);

/* What the letters alone say: stems of one word ("deploy", "deployment"; "organis", "organiz"), or opposites by prefix
 * and suffix ("stable", "unstable"; "useful", "useless"). */
enum relation word_relation(struct str stem_a, struct str stem_b);
/* Whether a list of words with single blanks between them holds this one. */
bool word_in(struct str word, const char *list);
/* How many base units (milliseconds, bytes, ...) the folded word stands for; 0 when it is no unit. Single letters count
 * only where they are `attached` to digits. */
double word_unit(struct str word, bool attached, enum dimension *ret_dimension);
