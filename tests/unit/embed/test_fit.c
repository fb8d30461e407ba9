/* test_fit.c: fitted calibrations. */
#include "embed/fit.h"

#include <math.h>

#include "embed/builtin.h"
#include "embed/embed.h"
#include "embed/vec.h"
#include "support/harness.h"

static void check_rises(const struct calibration *c) {
  CHECK(calibration_is_valid(c));
  CHECK_NEAR(calibrate(c, 1.0), 1.0, 0);
}

/* No cosine counts as near. */
static void check_mute(const struct calibration *c) {
  CHECK(calibration_is_valid(c));
  CHECK(calibrate(c, 1.0) < SIMILARITY_NEAR);
}

TEST(knots_follow_the_rules) {
  /* Deliberately unsorted. same: 0.81, 0.82, ... 1.00; near: 0.40, 0.42, ... 0.78; other: 0.1 and 0.3. */
  double same[20], near[20], other[] = {0.3, 0.1};
  for (int i = 0; i < 20; i++) {
    same[i * 7 % 20] = 0.81 + i * 0.01;
    near[i * 3 % 20] = 0.40 + i * 0.02;
  }
  struct calibration c = fit_knots(&(struct fit_cosines){same, near, other, 20, 20, 2});
  check_rises(&c);
  CHECK_INT(c.n, 5);
  CHECK_NEAR(calibrate(&c, 0.2), 0, 1e-9);                /* mean of 0.1 and 0.3 */
  CHECK_NEAR(calibrate(&c, 0.70), 0.5, 1e-9);             /* 15 of 20 are below 0.40 + 15 * 0.02 */
  CHECK_NEAR(calibrate(&c, 0.81), SIMILARITY_NEAR, 1e-9); /* all `same` at or above, all `near` below */
  CHECK_NEAR(calibrate(&c, 0.96), SIMILARITY_SAME, 1e-9); /* no errors: a quarter, 0.96 to 1.00, is above */
}

TEST(a_high_error_rate_raises_the_upper_threshold) {
  /* Two of 20 are on the wrong side: 0.5 and 0.6 of `same`, 0.83 and 0.85 of `near`. */
  double same[20] = {0.5, 0.6}, near[20] = {0.83, 0.85}, other[] = {0.0};
  for (int i = 2; i < 20; i++) {
    same[i] = 0.81 + i * 0.01;
    near[i] = 0.40 + i * 0.01;
  }
  same[2] = 0.84;
  same[3] = 0.86;
  struct calibration c = fit_knots(&(struct fit_cosines){same, near, other, 20, 20, 1});
  check_rises(&c);
  /* An error rate of a tenth: the minimum share, an eighth, counts as same: from the 18th of 20 on. */
  CHECK_NEAR(uncalibrate(&c, SIMILARITY_SAME), 0.98, 1e-9);
}

TEST(the_upper_threshold_keeps_a_distance_to_the_highest_near_cosine) {
  double same[20], near[20], other[] = {0.0};
  for (int i = 0; i < 20; i++) {
    same[i] = 0.90 + i * 0.002;
    near[i] = 0.5;
  }
  near[0] = 0.98;
  struct calibration c = fit_knots(&(struct fit_cosines){same, near, other, 20, 20, 1});
  check_rises(&c);
  CHECK_NEAR(uncalibrate(&c, SIMILARITY_SAME), 0.99, 1e-9);
}

TEST(knots_rise_if_all_cosines_are_close_to_one) {
  double same[] = {1, 1, 1, 1}, near[] = {0.9999, 0.9999, 0.9999, 0.9999}, other[] = {0.9998, 0.9998};
  struct calibration c = fit_knots(&(struct fit_cosines){same, near, other, 4, 4, 2});
  check_rises(&c);
  CHECK(calibrate(&c, 0.98) < 0.5);
}

TEST(useless_embedders_make_no_texts_near) {
  double ones[] = {1, 1, 1, 1}, more[] = {1, 1, 1, 1}, others[] = {1, 1}, nan[] = {0.9, (double)NAN, 0.9, 0.9};
  struct calibration c = fit_knots(&(struct fit_cosines){ones, more, others, 4, 4, 2});
  check_mute(&c);
  c = fit_knots(&(struct fit_cosines){nan, more, others, 4, 4, 2});
  check_mute(&c);
  c = fit_knots(&(struct fit_cosines){0});
  check_mute(&c);
  /* Swapped. */
  double high[] = {0.9, 0.91, 0.92, 0.93}, low[] = {0.1, 0.2, 0.3, 0.4};
  c = fit_knots(&(struct fit_cosines){low, high, others, 4, 4, 2});
  check_mute(&c);
  double random[] = {0.1, 0.3, 0.5, 0.7}, like_it[] = {0.1, 0.3, 0.5, 0.7};
  c = fit_knots(&(struct fit_cosines){random, like_it, others, 4, 4, 2});
  check_mute(&c);
}

/* The rules are tuned to reproduce calibrations that were measured on far more pairs. */
static void check_agrees(const struct embedder *e, double most) {
  struct arena a;
  struct error err = {0};
  struct calibration c;
  arena_init(&a);
  CHECK_OK(calibration_fit(e, &a, &c, &err), &err);
  check_rises(&c);
  CHECK_INT(c.n, 5);
  for (int i = 0; i < 5; i++) {
    test_note("%s, knot %d: %.4f, measured %.4f", e->model, i, c.raw[i], e->calibration->raw[i]);
    CHECK_NEAR(c.raw[i], e->calibration->raw[i], most);
  }
  arena_release(&a);
}

TEST(the_fit_agrees_with_the_measured_calibration_of_hash_v1) { check_agrees(embedder_hash(), 0.04); }

TEST(the_fit_agrees_with_the_measured_calibration_of_the_built_in_model) {
  const struct embedder *e = NULL;
  struct error err;
  if (embedder_builtin(&e, &err) == STATUS_OK)
    check_agrees(e, 0.03);
}

static enum status fails(const struct embedder *e, struct arena *a, enum embed_use use, const struct str *texts,
                         size_t n, int8_t *ret_vectors, struct error *err) {
  (void)e, (void)a, (void)use, (void)texts, (void)n, (void)ret_vectors;
  return error_set(err, STATUS_UNAVAILABLE, "down");
}

static enum status always_the_same(const struct embedder *e, struct arena *a, enum embed_use use,
                                   const struct str *texts, size_t n, int8_t *ret_vectors, struct error *err) {
  (void)a, (void)use, (void)texts, (void)err;
  memset(ret_vectors, *(const int *)e->state, n * (size_t)e->dims);
  return STATUS_OK;
}

TEST(embedders_that_fail_or_are_constant) {
  struct arena a;
  struct error err = {0};
  struct calibration c = {.n = 7};
  int value = 1;
  struct embedder e = {.model = "x", .dims = 8, .embed = fails, .state = &value};
  arena_init(&a);
  CHECK_STATUS(calibration_fit(&e, &a, &c, &err), STATUS_UNAVAILABLE);
  CHECK_INT(c.n, 7);
  e.embed = always_the_same;
  CHECK_OK(calibration_fit(&e, &a, &c, &err), &err);
  check_mute(&c);
  value = 0;
  CHECK_OK(calibration_fit(&e, &a, &c, &err), &err);
  check_mute(&c);
  arena_release(&a);
}
