/* candidates.h: the memories that a new one must be compared with: visible, active, of the same kind. */
#pragma once

#include "store/memories/memories.h"
#include "store/vectors/vectors.h"

struct ids {
  int64_t *v;
  size_t n, cap;
};

/* Same normalised text, found without a vector: also what is not embedded yet. At most 5. */
NODISCARD enum status candidates_exact(struct store *st, const struct scope *scope, struct str kind, struct str hash,
                                       struct arena *a, struct ids *ret_ids, struct error *err);

/* The nearest by meaning, best first; `except` (0: none) does not count. Beginnings of texts are compared. Entries of
 * a transcript are left out: "Yes, agreed" has the meaning of what it answers in its vector. */
NODISCARD enum status candidates_near(struct store *st, const struct scope *scope, struct str kind, int64_t except,
                                      const struct vec_model *model, const int8_t *vector, double min_cosine, size_t k,
                                      struct arena *a, struct vec_hits *ret_hits, struct error *err);
