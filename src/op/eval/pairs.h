/* pairs.h: labelled sentence pairs: parses them, and measures their similarity with an embedder.
 *
 * A line is a label and two texts, separated by tabs. The label is 1 (same meaning) or 0, a score from 0 to 5, or one
 * of entailment, neutral and contradiction. */
#pragma once

#include "base/buf.h"
#include "core/gate/differ.h"
#include "embed/embed.h"

#define PAIR_SAME_SCORE 4.0 /* on the scale of 0 to 5: minimum for "same" */

enum pair_labels { PAIRS_BINARY, PAIRS_SCORED, PAIRS_NLI };

struct pair {
  struct str a, b;
  double label;     /* 0 or 1; 0 to 5; entailment 1, neutral 0, contradiction -1 */
  int file, line;   /* the caller's number of the file; line in it, from 0 */
  double raw;       /* cosine */
  enum differ what; /* difference found by differ_check() */
};
struct pairs {
  struct pair *v;
  size_t n, cap;
  enum pair_labels labels; /* of the last file read */
};

/* Adds at most `limit` (0: all) pairs of a file; they point into `text`. Errors name the line. */
NODISCARD enum status pairs_read(struct arena *a, struct str text, const char *name, int file, size_t limit,
                                 struct pairs *list, struct error *err);
/* Sets `raw` and `what` of n pairs. */
NODISCARD enum status pairs_measure(const struct embedder *e, struct arena *a, struct pair *v, size_t n,
                                    struct error *err);
