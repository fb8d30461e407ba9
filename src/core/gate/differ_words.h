/* differ_words.h: lexicon of the difference check: stop words, negators, numbers, units, synonyms, antonyms. */
#pragma once

#include "base/arena.h"

enum word_class {
  WORD_CONTENT,
  WORD_STOP,     /* grammar: ignored when texts are compared */
  WORD_NEGATOR,  /* negates the word that it governs */
  WORD_NUMBER,   /* value is set */
  WORD_MULTIPLE, /* "hundred": multiplies the number before it */
  WORD_ORDINAL,  /* "third": value is set */
  WORD_MONTH,    /* value 1 to 12 */
  WORD_CLOCK,    /* "noon": value 0 to 23 */
  WORD_DAY,      /* value 1 to 7 for weekdays; above 7 for relative days such as "today" */
};

/* What a unit measures. Quantities of different dimensions are never equal. */
enum dimension {
  DIMENSION_NONE,
  DIMENSION_TIME,
  DIMENSION_BYTES,
  DIMENSION_PERCENT,
  DIMENSION_MONEY, /* dollars */
  DIMENSION_EURO,
  DIMENSION_LENGTH,
  DIMENSION_WEIGHT,
};

struct word_info {
  enum word_class class;
  double value;
};

enum relation { RELATION_NONE, RELATION_SAME, RELATION_OPPOSITE };

/* Membership of a word in one group of the synonym and antonym tables. */
struct sense {
  const struct sense *next; /* other senses of the word */
  short group, side;        /* same group and side: synonyms; same group, different side: antonyms */
};

struct lexicon;

/* Indexes the tables in the arena; one lexicon per check. Words passed to these functions are case-folded. */
struct lexicon *lexicon_new(struct arena *a);
struct word_info lexicon_class(struct lexicon *l, struct str word);
/* Stem by table, then by rule: "uses", "using" and "used" become "us", "men" becomes "man". */
struct str lexicon_stem(struct lexicon *l, struct str word);
/* Stem by rule only. */
struct str word_stem(struct str word);
/* NULL if the tables do not know the stem. */
const struct sense *lexicon_senses(struct lexicon *l, struct str stem);
enum relation lexicon_relation(const struct sense *a, const struct sense *b);

/* Relation by spelling: stems of one word ("deploy", "deployment"; "organis", "organiz"), or antonyms by prefix or
 * suffix ("stable", "unstable"; "useful", "useless"). */
enum relation word_relation(struct str stem_a, struct str stem_b);
/* True if the list, whose words are separated by single blanks, contains the word. */
bool word_in(struct str word, const char *list);
/* Base units (milliseconds, bytes, ...) per one of this unit; 0 if the word is not a unit. Single letters count only
 * if they are attached to digits. */
double unit_factor(struct str word, bool attached, enum dimension *ret_dimension);
