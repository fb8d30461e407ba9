/* pairs.h: judged sentence pairs: reading them, and measuring how alike an embedder finds the two texts.
 *
 * A line is a label and two texts, separated by tabs. The label is 1 (same meaning) or 0, a score from 0 to 5, or one
 * of entailment, neutral and contradiction. */
#pragma once

#include "base/buf.h"
#include "core/gate/differ.h"
#include "embed/embed.h"

#define PAIR_SAME_SCORE 4.0 /* on the scale of 0 to 5: from here up two texts count as the same */

enum pair_labels { PAIRS_BINARY, PAIRS_SCORED, PAIRS_NLI };

struct pair {
  struct str a, b;
  double label;     /* 0 or 1; 0 to 5; entailment 1, neutral 0, contradiction -1 */
  int file, line;   /* the caller's number of the file; the line in it, from 0 */
  double raw;       /* cosine */
  enum differ what; /* what tells them apart */
};
struct pairs {
  struct pair *v;
  size_t n, cap;
};

/* Adds the pairs of a file's text, which must stay; at most `limit` (0: all). Errors name the line. */
NODISCARD enum status pairs_read(struct arena *a, struct str text, const char *name, int file, size_t limit,
                                 struct pairs *list, enum pair_labels *ret_labels, struct error *err);
/* Fills raw and what of n pairs. */
NODISCARD enum status pairs_measure(const struct embedder *e, struct arena *a, struct pair *v, size_t n,
                                    struct error *err);
