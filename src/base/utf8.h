/* utf8.h: validating, decoding, truncating and folding UTF-8. */
#pragma once

#include "base/buf.h"

/* Offset of the first invalid byte, or s.n if all is valid. Rejects overlong forms, surrogates and code points above
 * U+10FFFF. */
size_t utf8_check(struct str s);
/* Replaces each invalid byte by U+FFFD; absent if there are more than max_bad of them. Returns s itself if valid. */
struct str utf8_repair(struct arena *a, struct str s, size_t max_bad);
/* Decodes the code point at s.p[*pos] and advances *pos. An invalid byte is skipped and gives U+FFFD. */
uint32_t utf8_next(struct str s, size_t *pos);
/* Encodes cp and returns its length. Surrogates and values above U+10FFFF become U+FFFD. */
size_t utf8_put(uint32_t cp, char out[4]);
/* Longest prefix of at most max bytes that ends between characters. */
struct str utf8_cut(struct str s, size_t max);
/* Copy of at most max bytes on one line, for messages and headers: control characters become spaces. */
struct str utf8_one_line(struct arena *a, struct str s, size_t max);
/* Number of code points. */
size_t utf8_length(struct str s);

bool utf8_is_letter(uint32_t cp);
bool utf8_is_alnum(uint32_t cp); /* letters, marks and digits: the characters of words */
bool utf8_is_upper(uint32_t cp);
bool utf8_is_space(uint32_t cp);
/* True for scripts in which each character counts as a word (Han, kana, Hangul, Thai, ...). */
bool utf8_is_unspaced(uint32_t cp);

/* Folds for comparison: lower case, compatibility-composed, without diacritics. */
struct str utf8_fold(struct arena *a, struct str s);
/* True if a string of the list is equal to s when both are folded. */
bool utf8_list_has(struct arena *a, const struct strs *list, struct str s);
/* Adds the strings that the list does not have in this sense. Folds each string once. */
void utf8_list_merge(struct arena *a, struct strs *list, const struct strs *more);
