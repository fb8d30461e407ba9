/* differ.h: "similar is not equal": finds what makes two near-identical texts say different things.
 *
 * An embedder puts "the limit is 5" beside "the limit is 50", and "we use npm" beside "we do not use npm". Before the
 * gate calls a text a duplicate, it asks here whether a number, date, version, name, negation or opposite word stands
 * against it. Only replaced or opposed pieces count: a text that merely says more, or says the same in another order,
 * does not differ. Errors lean to one side on purpose: an unknown replacement is reported as a difference, because a
 * needless warning costs less than a lost correction. */
#pragma once

#include "base/arena.h"

enum differ {
  DIFFER_NONE, /* nothing that contradicts */
  DIFFER_NUMBER,
  DIFFER_DATE,
  DIFFER_VERSION,
  DIFFER_NAME, /* another name, or one word replaced in an otherwise equal sentence */
  DIFFER_NEGATION,
  DIFFER_ANTONYM,
};

struct difference {
  enum differ what;
  struct str a, b; /* the two pieces that differ, slices of the inputs; absent for DIFFER_NONE */
};

/* "number", "negation", ...: stable, for messages and JSON; "none" for DIFFER_NONE. */
const char *differ_name(enum differ what);

/* Pure and symmetric: differ_check(b, a) finds the same kind. Any bytes are allowed. Linear in the length of the texts,
 * times a fixed window. */
struct difference differ_check(struct arena *arena, struct str a, struct str b);
