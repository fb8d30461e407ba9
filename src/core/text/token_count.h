/* token_count.h: estimate of the language model tokens of a text, for budgets.
 *
 * No tokenizer fits all models, so this is a conservative estimate. It is the larger of the two rules of thumb for
 * English, characters / 4 and words / 0.75. The first is refined by the kind of character, because the plain rule is
 * wrong by a factor of two to four for everything but English prose:
 *   - a character of a script without spaces (Han, kana, Thai, ...) is one token;
 *   - punctuation, digits and capitals, which split words in code, numbers and identifiers, are half a token;
 *   - letters of other alphabets are half a token; characters outside the basic plane (emoji) are two;
 *   - white space after white space (indentation) is nearly free.
 * Adding text never lowers the estimate, and the estimates of two parts never add up to less than that of the whole:
 *   max(est(a), est(b)) <= est(ab) <= est(a) + est(b). */
#pragma once

#include "base/str.h"

size_t tokens_estimate(struct str s);
/* Longest prefix of whole characters with an estimate of at most max_tokens. */
struct str tokens_cut(struct str s, size_t max_tokens);
