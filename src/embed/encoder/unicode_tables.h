/* unicode_tables.h: what the tokeniser does with each code point, pinned to one version of Unicode. */
#pragma once

#include <stdint.h>

/* A trained vocabulary was cut with one version of Unicode, and every machine has to cut alike: the tables are part of
 * the source, not of a library. model/unicode_tables.py writes them. */
#define UNICODE_TABLES_VERSION "14.0.0"

/* What is left of a code point after lower case, canonical decomposition and the removal of accents and controls. */
enum unicode_class {
  UNICODE_WORD = 0,       /* itself, a part of a word */
  UNICODE_ALONE = 1,      /* itself, a word of its own: punctuation, CJK */
  UNICODE_SPACE = 2,      /* ends a word */
  UNICODE_DROP = 3,       /* nothing; ends a run of marks */
  UNICODE_DROP_MARK = 4,  /* nothing; an accent within a run of marks */
  UNICODE_HANGUL = 5,     /* a syllable, taken apart by arithmetic */
  UNICODE_SIGMA = 6,      /* the capital: final or not, by its neighbours */
  UNICODE_FIRST_MARK = 7, /* a mark that stays: marks in a row are put in the order of these values */
  UNICODE_FIRST_MAP = 16, /* from here on: the place in unicode_map, plus this */
};

#define UNICODE_MAP_MORE 0x80000000U /* another code point of the same mapping follows */

/* ASCII: the character as it stands in a word (above 2), or 0: dropped, 1: space, 2: stands alone. */
extern const uint8_t unicode_ascii[128];
extern const uint8_t unicode_top[];
extern const uint16_t unicode_branch[];
extern const uint16_t unicode_leaf[];
extern const uint32_t unicode_map[];

/* First and last of each range, ascending, for the rule of the final sigma. */
extern const uint32_t unicode_cased[], unicode_ignorable[];
extern const int unicode_cased_n, unicode_ignorable_n;

/* enum unicode_class or a mapping; cp is at most U+10FFFF. */
static inline unsigned unicode_entry(uint32_t cp) {
  unsigned branch = unicode_branch[(unsigned)unicode_top[cp >> 10] << 5 | (cp >> 5 & 31)];
  return unicode_leaf[branch << 5 | (cp & 31)];
}
