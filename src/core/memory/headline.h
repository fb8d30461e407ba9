/* headline.h: headline derivation for texts written without one. */
#pragma once

#include "base/arena.h"

enum { HEADLINE_WORDS = 15, HEADLINE_BYTES = 200 };

/* Returns the first sentence without list, heading, quote and emphasis markup and without its final full stop,
 * truncated to HEADLINE_WORDS words (as the gate counts them) and HEADLINE_BYTES bytes. A truncated headline ends with
 * an ellipsis. Sentences without a letter ("1.") and fenced code are skipped if there is other text. The result is
 * valid UTF-8, and empty only if the body has no letter. */
struct str headline_derive(struct arena *a, struct str body);

/* Truncates a line of plain text in the same way. Empty if it has no letter. */
struct str headline_cut(struct arena *a, struct str line);
