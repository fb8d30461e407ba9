/* token_count.h: how many tokens of a language model a text takes, estimated for budgets.
 *
 * No tokeniser fits all models, so this is an estimate on the safe side. It takes the larger of the two rules of thumb
 * for English, characters / 4 and words / 0.75, and refines the first by what a character is, because the plain rule is
 * wrong by a factor of two to four for everything but English prose:
 *   - a character of an unspaced script (Han, kana, Thai, ...) is a token;
 *   - punctuation, digits and capitals break words into pieces, as code, numbers and identifiers show: half a token;
 *   - letters of other alphabets: half a token; what is outside the basic plane (emoji): two tokens;
 *   - white space behind white space (indentation) nearly disappears.
 * The estimate never falls when text is added at either end, and two halves never come to less than the whole:
 *   max(est(a), est(b)) <= est(ab) <= est(a) + est(b). */
#pragma once

#include "base/str.h"

size_t tokens_estimate(struct str s);
/* The longest prefix, ending between characters, that is estimated at no more than max_tokens. */
struct str tokens_cut(struct str s, size_t max_tokens);
