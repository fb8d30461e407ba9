/* differ.h: difference check: finds contradictions between two near-identical texts.
 *
 * To an embedder, "the limit is 5" is close to "the limit is 50", and "we use npm" to "we do not use npm". Before the
 * gate calls a text a duplicate, this check looks for a different number, date, version, name, negation or antonym.
 * Only replaced or opposed words count: a text that adds details, or says the same in another order, does not differ.
 * An unknown replacement is reported as a difference on purpose, because a needless warning costs less than a lost
 * correction. */
#pragma once

#include "base/arena.h"

enum differ {
  DIFFER_NONE, /* no contradiction */
  DIFFER_NUMBER,
  DIFFER_DATE,
  DIFFER_VERSION,
  DIFFER_NAME, /* another name, or one word replaced in an otherwise equal sentence */
  DIFFER_NEGATION,
  DIFFER_ANTONYM,
  DIFFER_MEANING, /* a contradiction in other words, without pieces; not found by differ_check() */
};

struct difference {
  enum differ what;
  struct str a, b; /* the differing pieces, slices of the inputs; absent for DIFFER_NONE and DIFFER_MEANING */
};

/* "none", "number", "negation", ...: stable, used in messages and JSON. */
const char *differ_name(enum differ what);

/* Symmetric: differ_check(b, a) finds the same kind. Accepts any bytes. Takes time linear in the length of the texts,
 * times a fixed window. */
struct difference differ_check(struct arena *arena, struct str a, struct str b);
