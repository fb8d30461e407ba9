/* fit.c: calibration of an embedder, fitted on labelled pairs. */
#include "embed/fit.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "embed/vec.h"

__asm__(".pushsection .rodata\n.global cairn_calibration_pairs\ncairn_calibration_pairs:\n.incbin \"" CAIRN_PAIRS_FILE
        "\"\n.byte 0\n.popsection\n");
extern const char cairn_calibration_pairs[] __attribute__((visibility("hidden")));

/* ---- knots ---- */

#define ERROR_RATE_MAX 0.25 /* half of the error rate of guessing */
#define STEP 0.002          /* minimum distance of two knots */

/* For an embedder that cannot tell statements apart: it must never make a memory count as a duplicate. */
static const struct calibration useless = {.n = 2, .raw = {-1, 1}, .scaled = {0, 0.5}};

static int ascending(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* False if empty or not all finite. */
static bool sort_finite(double *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(v[i]))
      return false;
  if (n)
    qsort(v, n, sizeof(*v), ascending);
  return n > 0;
}

/* Quantile of sorted values. */
static double quantile(const double *v, size_t n, double share) {
  assert(n > 0);
  size_t at = (size_t)(share * (double)n);
  return v[at < n ? at : n - 1];
}

/* The threshold with equal error rates, and that rate: the share of `same` below it equals the share of `near` above
 * it. */
static double equal_error_threshold(const struct fit_cosines *c, double *ret_rate) {
  assert(c->same_n > 0 && c->near_n > 0);
  size_t below = 0; /* `near` values below the threshold */
  for (size_t i = 0; i < c->same_n; i++) {
    while (below < c->near_n && c->near[below] < c->same[i])
      below++;
    double missed = (double)(i + 1) / (double)c->same_n;
    double taken = (double)(c->near_n - below) / (double)c->near_n;
    *ret_rate = fmax((double)i / (double)c->same_n, taken);
    if (missed >= taken || i + 1 == c->same_n)
      return c->same[i];
  }
  *ret_rate = 1;
  return 1;
}

static double same_threshold(const struct fit_cosines *c, double error_rate) {
  double taken = fmax(0.125, 0.25 - 1.5 * error_rate);
  double highest = c->near[c->near_n - 1];
  return fmax(quantile(c->same, c->same_n, 1 - taken), highest + (1 - highest) / 2);
}

struct calibration fit_knots(struct fit_cosines *c) {
  double sum = 0, error_rate;
  if (!sort_finite(c->same, c->same_n) || !sort_finite(c->near, c->near_n) || !sort_finite(c->other, c->other_n))
    return useless;
  double near = equal_error_threshold(c, &error_rate);
  if (error_rate >= ERROR_RATE_MAX)
    return useless;
  for (size_t i = 0; i < c->other_n; i++)
    sum += c->other[i];
  struct calibration k = {.n = 5, .scaled = {0, 0.5, SIMILARITY_NEAR, SIMILARITY_SAME, 1}};
  double raw[] = {sum / (double)c->other_n, quantile(c->near, c->near_n, 0.75), near, same_threshold(c, error_rate), 1};
  for (int i = k.n - 1; i >= 0; i--)
    k.raw[i] = i == k.n - 1 ? 1 : fmin(raw[i], k.raw[i + 1] - STEP);
  k.raw[0] = fmax(k.raw[0], -1);
  if (k.raw[1] <= k.raw[0])
    return useless;
  assert(calibration_is_valid(&k));
  return k;
}

/* ---- pairs ---- */

struct fit_pairs {
  LIST(struct str) texts; /* two per pair */
  LIST(char) labels;      /* first letter of "same", "near" or "other" */
};

static void read_pairs(struct arena *a, struct fit_pairs *ret) {
  struct str rest = str_from(cairn_calibration_pairs), line, label, first;
  while (str_line(&rest, &line))
    if (str_next(&line, '\t', &label) && str_next(&line, '\t', &first) && label.n && line.n) {
      list_push(a, &ret->labels, label.p[0]);
      list_push(a, &ret->texts, first);
      list_push(a, &ret->texts, line);
    }
}

enum status calibration_fit(const struct embedder *e, struct arena *a, struct calibration *ret_calibration,
                            struct error *err) {
  struct fit_pairs pairs = {0};
  size_t dims = (size_t)e->dims;
  read_pairs(a, &pairs);
  size_t n = pairs.labels.n;
  assert(n > 0 && pairs.texts.n == 2 * n);
  int8_t *vectors = arena_array(a, int8_t, arena_mul(a, 2 * n, dims));
  TRY(e->embed(e, a, EMBED_TEXT, pairs.texts.v, 2 * n, vectors, err));
  struct fit_cosines c = {
      .same = arena_array(a, double, n), .near = arena_array(a, double, n), .other = arena_array(a, double, n)};
  for (size_t i = 0; i < n; i++) {
    double cosine = vec_cosine(vectors + 2 * i * dims, vectors + (2 * i + 1) * dims, e->dims);
    switch (pairs.labels.v[i]) {
    case 's':
      c.same[c.same_n++] = cosine;
      break;
    case 'n':
      c.near[c.near_n++] = cosine;
      break;
    default:
      c.other[c.other_n++] = cosine;
    }
  }
  *ret_calibration = fit_knots(&c);
  return STATUS_OK;
}
