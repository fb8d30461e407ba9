/* phrase.h: matcher of cue phrases in text.
 *
 * A phrase is lower-case ASCII and matches any case. Pattern characters:
 *   blank  any white space
 *   '      also the typographic apostrophe
 *   -      also a blank or nothing: "follow-up", "follow up", "followup"
 *   *      one to four words of the same sentence: "chose * over"
 *   ~      at the end: no match next to a verb in the past tense: "never~" matches neither "has never" nor
 *          "never worked"
 *   ^      at the start: only at the start of the text
 * If a phrase starts or ends with a letter or digit, it matches only whole words there. */
#pragma once

#include "base/str.h"

/* A phrase that indicates a type; tables of these are searched from the top. */
struct type_cue {
  const char *type, *phrase;
};

/* Length of the match at s.p[pos]; 0 if there is none. */
size_t phrase_at(struct str s, size_t pos, const char *phrase);
/* Next offset at or after `from` where a phrase may start: the start of a word, or punctuation such as @ or [; s.n at
 * the end. */
size_t phrase_start(struct str s, size_t from);
bool phrase_in(struct str s, const char *phrase);
/* First row of the table whose phrase is in s; n if there is none. */
size_t phrase_first_cue(struct str s, const struct type_cue *cues, size_t n);
