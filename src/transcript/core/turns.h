/* turns.h: detecting written conversations and their turns. */
#pragma once

#include "base/arena.h"

/* Text of one speaker with its label: offsets in the body, without surrounding white space. */
struct turn {
  size_t start, end;
  size_t tokens; /* tokens_estimate() */
};
struct turns {
  struct turn *v;
  size_t n, cap;
};

/* The turns of a conversation; false if the body is not one. A turn starts with a line that starts with a label of at
 * most three words and a colon: "user:", "Caroline:", "**Alice**:", "Speaker 1:". A conversation has at least two turns
 * and two speakers, and either
 *   - the labels are roles of a person and a program ("user" and "assistant") and start near the beginning, or exactly
 *     at it if there are only two; or
 *   - the labels look like names that repeat, and most lines or paragraphs start with one.
 * Keys and values, headers, logs and definitions are not conversations: their labels are in lower case, well known,
 * unique, in a fixed order of three or more, or followed by little text. Text before the first label is a turn, too;
 * the turns cover all text that is not white space. */
bool transcript_turns(struct arena *a, struct str body, struct turns *ret);
