/* unicode_tables.h: tables of the tokeniser for each code point, for one version of Unicode. */
#pragma once

#include <stdint.h>

/* A vocabulary is trained with one version of Unicode, and all machines must tokenise alike, so the tables are part of
 * the source and not of a library. model/unicode_tables.py generates them. */

/* Result of lower-casing, canonical decomposition and removal of accents and controls. */
enum unicode_class {
  UNICODE_WORD = 0,       /* unchanged, part of a word */
  UNICODE_ALONE = 1,      /* unchanged, a separate word: punctuation, CJK */
  UNICODE_SPACE = 2,      /* ends a word */
  UNICODE_DROP = 3,       /* dropped; ends a run of marks */
  UNICODE_DROP_MARK = 4,  /* dropped; an accent within a run of marks */
  UNICODE_HANGUL = 5,     /* syllable, decomposed by arithmetic */
  UNICODE_SIGMA = 6,      /* capital sigma: final or not, depending on its neighbours */
  UNICODE_FIRST_MARK = 7, /* mark that is kept; a run of marks is sorted by these values */
  UNICODE_FIRST_MAP = 16, /* from here on: index into unicode_map, plus this */
};

#define UNICODE_MAP_MORE 0x80000000U /* the mapping has another code point */

/* ASCII: the lower-case character of a word (above 2), or 0: dropped, 1: space, 2: a separate word. */
extern const uint8_t unicode_ascii[128];
extern const uint8_t unicode_top[];
extern const uint16_t unicode_branch[];
extern const uint16_t unicode_leaf[];
extern const uint32_t unicode_map[];

/* First and last code point of each range, ascending, for the rule of the final sigma. */
extern const uint32_t unicode_cased[], unicode_ignorable[];
extern const int unicode_cased_n, unicode_ignorable_n;

/* An enum unicode_class or a mapping. cp is at most U+10FFFF. */
static inline unsigned unicode_entry(uint32_t cp) {
  unsigned branch = unicode_branch[(unsigned)unicode_top[cp >> 10] << 5 | (cp >> 5 & 31)];
  return unicode_leaf[branch << 5 | (cp & 31)];
}
