/* wordpiece_vocab.h: the vocabulary's side of the tokeniser: cuts one word into pieces. */
#pragma once

#include "embed/encoder/wordpiece.h"

/* The longest pieces from left to right; the word has 1 to WORDPIECE_WORD_MAX code points. Returns how many, or 0 when
 * the word cannot be cut. */
int wordpiece_cut(const struct wordpiece *w, struct str word, int32_t ret_pieces[WORDPIECE_WORD_MAX]);
