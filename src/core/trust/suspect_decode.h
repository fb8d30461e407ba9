/* suspect_decode.h: what a text says behind simple codes: escapes, hex, rot13, backwards, words in pieces.
 *
 * Each is undone for the whole text, which then is read like any other; what only shows in the undone text counts. */
#pragma once

#include "base/arena.h"

struct disguise {
  /* The text without it; absent when it has none. Linear in the text, and never longer than it. */
  struct str (*undo)(struct arena *a, struct str text);
  int least; /* a finding of less weight may be chance */
};
extern const struct disguise suspect_disguises[];
extern const size_t suspect_disguise_count;
