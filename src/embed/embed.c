/* embed.c: calibration. */
#include "embed/embed.h"

#include <assert.h>
#include <stdio.h>

#include "base/buf.h"

/* ---- scale ---- */

/* Meaning of the scale, to which each embedder is fitted. The knots of an embedder are the raw cosines at which the
 * following holds on the fit half of the sentence pairs (bench/calibrate.c; mrpc and quora have equal weight):
 *   0.00  mean cosine of unrelated texts
 *   0.50  95 % of the pairs with the same meaning are at or above it
 *   0.75  near: precision and recall of "same meaning" are equal
 *   0.92  same: at or above it, and without the pairs that core/gate/differ.h tells apart, at least 90 % of the pairs
 *         have the same meaning, in each of mrpc, quora and stsb (where a score of 4 or more counts as the same)
 *   1.00  a cosine of 1
 * The threshold for "same" is strict, because a false duplicate loses a memory while a missed one costs a warning. For
 * other embedders, embed/fit.h finds the knots with pairs that are built into the program. */

/* Piecewise-linear interpolation through the knots (x[i], y[i]). */
static double interpolate(const double *x, const double *y, int n, double at) {
  assert(n >= 0 && n <= 8);
  if (n == 0)
    return at;
  if (!(at > x[0])) /* also NaN */
    return y[0];
  for (int i = 1; i < n; i++) {
    if (!(at > x[i]) && !(at < x[i]))
      return y[i]; /* exact; the formula below may round */
    if (at < x[i])
      return y[i - 1] + (y[i] - y[i - 1]) * ((at - x[i - 1]) / (x[i] - x[i - 1]));
  }
  return y[n - 1];
}

double calibrate(const struct calibration *c, double cosine) { return interpolate(c->raw, c->scaled, c->n, cosine); }

double uncalibrate(const struct calibration *c, double scaled) { return interpolate(c->scaled, c->raw, c->n, scaled); }

/* ---- calibrations ---- */

const struct calibration *calibration_conservative(void) {
  static const struct calibration careful = {
      .n = 5, .raw = {0.0, 0.70, 0.90, 0.97, 1.0}, .scaled = {0.0, 0.5, SIMILARITY_NEAR, SIMILARITY_SAME, 1.0}};
  return &careful;
}

/* Why it is invalid, or NULL. The comparisons are written so that NaN fails them. */
static const char *calibration_problem(const struct calibration *c) {
  if (c->n < 2 || c->n > (int)ARRAY_LEN(c->raw))
    return "it needs 2 to 8 knots";
  for (int i = 0; i < c->n; i++) {
    if (!(c->raw[i] >= -1 && c->raw[i] <= 1))
      return "a cosine must be between -1 and 1";
    if (!(c->scaled[i] >= 0 && c->scaled[i] <= 1))
      return "a similarity must be between 0 and 1";
    if (i && !(c->raw[i] > c->raw[i - 1] && c->scaled[i] > c->scaled[i - 1]))
      return "both numbers must rise from knot to knot";
  }
  return NULL;
}

bool calibration_is_valid(const struct calibration *c) { return calibration_problem(c) == NULL; }

static enum status invalid_calibration(struct str text, const char *why, struct error *err) {
  error_set(err, STATUS_USAGE, "'%.*s' is not a calibration: %s", STR_ARG(text), why);
  return error_fix(err, "write COSINE:SIMILARITY for each knot, as in 0.12:0,0.63:0.5,0.78:0.75,0.94:0.92,1:1");
}

enum status calibration_parse(struct str text, struct calibration *ret_calibration, struct error *err) {
  struct calibration c = {0};
  struct str rest = text, knot, raw;
  while (str_next(&rest, ',', &knot)) {
    if (c.n == (int)ARRAY_LEN(c.raw))
      return invalid_calibration(text, "it needs 2 to 8 knots", err);
    if (!str_next(&knot, ':', &raw) || !str_double(str_trim(raw), &c.raw[c.n]) ||
        !str_double(str_trim(knot), &c.scaled[c.n]))
      return invalid_calibration(text, "a knot is two numbers separated by a colon", err);
    c.n++;
  }
  const char *problem = calibration_problem(&c);
  if (problem)
    return invalid_calibration(text, problem, err);
  *ret_calibration = c;
  return STATUS_OK;
}

struct str calibration_text(struct arena *a, const struct calibration *c) {
  struct buf b = BUF(a);
  for (int i = 0; i < c->n; i++)
    buf_addf(&b, "%s%.4f:%.4f", i ? "," : "", c->raw[i], c->scaled[i]);
  return buf_str(&b);
}
