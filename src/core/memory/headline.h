/* headline.h: a headline for a text that came without one. */
#pragma once

#include "base/arena.h"

enum { HEADLINE_WORDS = 15, HEADLINE_BYTES = 200 };

/* The first sentence that says something: without marks of lists, headings, quotes and emphasis, without its final full
 * stop, cut to HEADLINE_WORDS words of the gate's count and HEADLINE_BYTES bytes, with an ellipsis joined to the last
 * word when it was cut. Sentences without a letter ("1.") and fenced code are passed over while there is other text.
 * Empty exactly when the body has no letter; valid UTF-8 always. */
struct str headline_derive(struct arena *a, struct str body);

/* Cuts one line of plain text to those limits in the same way. Empty when it has no letter. */
struct str headline_cut(struct arena *a, struct str line);
