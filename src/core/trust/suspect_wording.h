/* suspect_wording.h: a linear model of the wording of injections, for the prompt injection detector.
 *
 * Rules know the phrases that somebody thought of. This model has learned from examples in fifteen languages how
 * orders to fetch and run code, to send data away, to hide something, to switch off checks or to drop rules are worded,
 * and how ordinary notes about the same things are. model/README.md says how it was trained, docs/security.md how well
 * it works.
 */
#pragma once

#include "base/arena.h"

enum { WORDING_BITS = 17, WORDING_FEATURES = 1 << WORDING_BITS };

/* Numbers of the features of a text folded by utf8_fold(), each once: words, pairs of words, sequences of letters. Host
 * names are left out. */
struct wording_features {
  uint32_t *v;
  size_t n, cap;
};
void wording_features(struct arena *a, struct str folded, struct wording_features *ret);

/* Weight of the finding: 0 if the wording is ordinary, 2 if it is like that of injections, 3 if very much. Long texts
 * are read in pieces. */
int wording_weight(struct arena *a, struct str folded);
