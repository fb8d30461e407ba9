/* utf8.h: UTF-8: validate, walk, cut, fold. */
#pragma once

#include "base/arena.h"

/* Strict: no overlong forms, no surrogates, nothing above U+10FFFF. Returns the offset of the first bad byte, or
 * s.n when all is well. */
size_t utf8_check(struct str s);
/* The code point at s.p[*pos] of valid UTF-8, and *pos moved behind it. Bad bytes come back as U+FFFD, one each. */
uint32_t utf8_next(struct str s, size_t *pos);
/* Writes cp to out[4]; returns its length. */
size_t utf8_put(uint32_t cp, char out[4]);
/* The longest prefix of at most max bytes that ends between characters. */
struct str utf8_cut(struct str s, size_t max);
/* Number of code points. */
size_t utf8_length(struct str s);

bool utf8_is_letter(uint32_t cp);
bool utf8_is_alnum(uint32_t cp); /* letters, marks and digits: what a word is made of */
bool utf8_is_upper(uint32_t cp);
bool utf8_is_space(uint32_t cp);
/* Scripts written without spaces (Han, kana, Hangul, Thai, ...): each character counts as a word. */
bool utf8_is_unspaced(uint32_t cp);

/* Lower case, compatibility-composed, without diacritics: the form in which texts are compared. */
struct str utf8_fold(struct arena *a, struct str s);
