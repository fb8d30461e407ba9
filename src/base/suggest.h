/* suggest.h: "did you mean ...?": the name nearest to a mistyped one. */
#pragma once

#include "base/str.h"

/* Offer every valid name, then read `best`: absent when none is near enough to be a slip of the finger. Of equally
 * near names the first one offered wins. */
struct suggest {
  struct str word;
  struct str best;
  size_t distance;
};

void suggest_init(struct suggest *s, struct str word);
/* The candidate must outlive the search. */
void suggest_offer(struct suggest *s, struct str candidate);

/* Edits between two names: insert, delete, replace, swap of neighbours; SIZE_MAX for names over 64 bytes. */
size_t suggest_distance(struct str a, struct str b);
