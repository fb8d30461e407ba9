/* pair.h: compares two short texts with a small cross-encoder: do they contradict each other?
 *
 * Both texts go through one encoder together, so it sees which words of one answer which words of the other. Vectors
 * cannot tell that: texts that contradict each other are as close as texts that say the same. The model is English; it
 * shares the vocabulary and the word table of the built-in embedder. model/README.md says how it was trained,
 * docs/quality.md how well it works. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum { PAIR_TOKENS = 126 }; /* of a text; longer ones are truncated */

bool pair_is_built_in(void);

/* Compares a new text with n others: does it contradict them? Uses thread_share() cores. Thread-safe. STATUS_NOT_FOUND
 * if built without the model. */
NODISCARD enum status pair_compare(struct arena *a, struct str text, const struct str *others, size_t n,
                                   bool *ret_contradicts, struct error *err);
