/* suggest.h: closest valid name for a mistyped one ("did you mean ...?"). */
#pragma once

#include "base/str.h"

/* Offer every valid name, then read `best`. It is absent if no name is close enough to be a typo. If several are
 * equally close, the first one offered wins. */
struct suggest {
  struct str word;
  struct str best;
  size_t distance;
};

void suggest_init(struct suggest *s, struct str word);
/* The candidate must outlive `s`. */
void suggest_offer(struct suggest *s, struct str candidate);

/* Edit distance: insertions, deletions, replacements, swaps of neighbours. SIZE_MAX for names over 64 bytes. */
size_t suggest_distance(struct str a, struct str b);
