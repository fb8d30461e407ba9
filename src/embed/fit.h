/* fit.h: calibration of an unknown embedder, fitted on labelled pairs built into the program (model/calibration.tsv).
 */
#pragma once

#include "embed/embed.h"

/* Cosines of labelled pairs. */
struct fit_cosines {
  double *same, *near, *other; /* same statement; same subject but another statement; unrelated */
  size_t same_n, near_n, other_n;
};

/* Computes the knots. The rules approximate those of embed.c, and agree with them within 0.04 on the embedders that
 * were measured:
 *   0.00  mean of `other`
 *   0.50  75th percentile of `near`
 *   0.75  equal error rate: the share of `same` below it equals the share of `near` above it
 *   0.92  1/8 to 1/4 of `same` lie above it, fewer if the equal error rate is high; at least half way from the highest
 *         `near` to 1
 * The knots always rise strictly. If the equal error rate is 1/4 or more, or a cosine is not finite, the embedder
 * cannot tell statements apart, and the result maps every cosine to at most 0.5. Sorts the arrays. */
struct calibration fit_knots(struct fit_cosines *c);

/* Embeds the pairs, about 480 short texts. Fails if the embedder does. */
NODISCARD enum status calibration_fit(const struct embedder *e, struct arena *a, struct calibration *ret_calibration,
                                      struct error *err);
