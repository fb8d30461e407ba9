/* embed.c: the embedders by name, and the calibrated scale. */
#include "embed/embed.h"

#include <stdio.h>

enum status embedder_by_name(struct str name, const struct embedder **ret_embedder, struct error *err) {
  const struct embedder *known[] = {embedder_hash()};
  char names[256];
  size_t used = 0;
  for (size_t i = 0; i < ARRAY_LEN(known); i++) {
    if (str_is(name, known[i]->model)) {
      *ret_embedder = known[i];
      return STATUS_OK;
    }
    used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", known[i]->model);
  }
  error_set(err, STATUS_USAGE, "there is no embedder named \"%.*s\"", STR_ARG(name));
  return error_fix(err, "Use one of these: %s.", names);
}

/* What the scale means, so that each embedder can be fitted to it. The knots of an embedder are the raw cosines at
 * which, on the fit half of the sentence pairs (bench/calibrate.c; mrpc and quora counting alike), these hold:
 *   0.00  the mean cosine of texts that have nothing to do with each other
 *   0.50  95 % of the pairs of the same meaning lie at or above it
 *   0.75  near: precision and recall of "same meaning" are equal: a coin's edge between missed and false
 *   0.92  same: from here up, and with what core/gate/differ.h tells apart left out, at least 90 % of the pairs have
 * the same meaning: in mrpc, in quora, and in stsb, where a score of 4 and above is the same 1.00  a cosine of 1 A
 * false "same" loses a memory, a missed one costs a warning: hence the strict upper mark. For an embedder that comes
 * later, embed/fit.h finds the knots by pairs that are a part of the program. */

/* The line through the knots, read from x to y. */
static double interpolate(const double *x, const double *y, int n, double at) {
  if (n == 0)
    return at;
  if (!(at > x[0])) /* NaN too */
    return y[0];
  for (int i = 1; i < n; i++) {
    if (!(at > x[i]) && !(at < x[i]))
      return y[i]; /* exactly: the sum below may round */
    if (at < x[i])
      return y[i - 1] + (y[i] - y[i - 1]) * ((at - x[i - 1]) / (x[i] - x[i - 1]));
  }
  return y[n - 1];
}

double calibrate(const struct calibration *c, double cosine) { return interpolate(c->raw, c->scaled, c->n, cosine); }

double uncalibrate(const struct calibration *c, double scaled) { return interpolate(c->scaled, c->raw, c->n, scaled); }
