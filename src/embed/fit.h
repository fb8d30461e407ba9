/* fit.h: finds the calibration of an embedder that nobody has measured, by judged pairs that are a part of the program
 * (model/calibration.tsv). */
#pragma once

#include "embed/embed.h"

/* Cosines of judged pairs. */
struct fit_cosines {
  double *same, *near, *other; /* the same statement; the same subject, another statement; nothing in common */
  size_t same_n, near_n, other_n;
};

/* The knots, by rules that stand for those of embed.c and agree with them within 0.04 on the embedders that were
 * measured:
 *   0.00  the mean of `other`
 *   0.50  three of four `near` lie below it
 *   0.75  as large a share of `same` lies below it as of `near` above it
 *   0.92  an eighth to a quarter of `same` lies above it, fewer the larger that share is: what tells badly has to be
 *         believed less; and at least half of the way from the highest `near` to 1
 * They rise strictly, whatever the cosines are. When that share is a quarter or more, or a cosine is not a number, the
 * embedder cannot tell: then nothing comes near by it. Sorts the arrays. */
struct calibration fit_knots(struct fit_cosines *c);

/* Embeds the pairs: some 480 short texts. Fails when the embedder does. */
NODISCARD enum status calibration_fit(const struct embedder *e, struct arena *a, struct calibration *ret_calibration,
                                      struct error *err);
