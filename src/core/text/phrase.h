/* phrase.h: finds cue phrases in text, without case, at the edges of words.
 *
 * A phrase is lower-case ASCII. A blank stands for any white space, an apostrophe also for the typographic one, and *
 * for one to four words of the same sentence: "chose * over". A phrase that begins or ends with a letter or digit
 * matches there only at the edge of a word; "-" in a phrase also matches a blank or nothing ("follow-up", "follow up",
 * "followup"). "never~" does not match where the verb beside it tells of the past ("has never", "never worked"). "^" at
 * the start matches only at the start of the text. */
#pragma once

#include "base/str.h"

/* A phrase that speaks for a type; tables of these are searched from the top. */
struct type_cue {
  const char *type, *phrase;
};

/* Length of the match at s.p[pos]; 0 when the phrase is not there. */
size_t phrase_at(struct str s, size_t pos, const char *phrase);
/* The next offset at or after `from` at which a phrase may begin: the start of a word, or a mark such as @ or [;
 * s.n at the end. */
size_t phrase_start(struct str s, size_t from);
bool phrase_in(struct str s, const char *phrase);
/* The first row of the table whose phrase is in s; n when there is none. */
size_t phrase_first_cue(struct str s, const struct type_cue *cues, size_t n);
