/* turns.h: tells a written conversation from other text, and finds its turns. */
#pragma once

#include "base/arena.h"

/* What one speaker says at a time, label included: bytes of the body, without white space at the ends. */
struct turn {
  size_t start, end;
  size_t tokens; /* tokens_estimate() */
};
struct turns {
  struct turn *v;
  size_t n, cap;
};

/* The turns of a conversation; false when the body is none. A turn begins with a line that begins with a label of at
 * most three words and a colon: "user:", "Caroline:", "**Alice**:", "Speaker 1:". There are two turns and two speakers
 * at least, and either
 *   - the labels are those of a person and a program ("user" and "assistant"), and begin near the start: at it, when
 * there are two; or
 *   - they look like names and come again and again, and most lines or most paragraphs begin with one.
 * Keys and values, headers, logs and definitions are no conversation: their labels are in lower case, well known, come
 * only once, come in a fixed order of three or more, or say little. Text before the first label is a turn as well; the
 * turns hold all text that is not white space. */
bool transcript_turns(struct arena *a, struct str body, struct turns *ret);
