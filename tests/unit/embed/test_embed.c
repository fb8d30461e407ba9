/* test_embed.c: embedders by name, and the calibrated scale. */
#include "embed/embed.h"

#include <math.h>

#include "support/harness.h"

TEST(embedder_by_name_finds_and_refuses) {
  const struct embedder *e = NULL;
  struct error err = {0};
  CHECK_OK(embedder_by_name(STR("hash-v1"), &e, &err), &err);
  CHECK(e == embedder_hash());
  e = NULL;
  CHECK_STATUS(embedder_by_name(STR("hash-v2"), &e, &err), STATUS_USAGE);
  CHECK(e == NULL);
  CHECK(strstr(err.message, "hash-v2") != NULL);
  CHECK(strstr(err.fix, "hash-v1") != NULL);
  CHECK_STATUS(embedder_by_name(STR_NONE, &e, &err), STATUS_USAGE);
}

TEST(calibrate_interpolates) {
  static const struct calibration c = {.n = 3, .raw = {0.2, 0.6, 1.0}, .scaled = {0.0, 0.5, 1.0}};
  CHECK(calibrate(&c, 0.2) == 0.0);
  CHECK(calibrate(&c, 0.6) == 0.5);
  CHECK(calibrate(&c, 1.0) == 1.0);
  CHECK_NEAR(calibrate(&c, 0.4), 0.25, 1e-12);
  CHECK_NEAR(calibrate(&c, 0.9), 0.875, 1e-12);
  CHECK(calibrate(&c, -1.0) == 0.0);
  CHECK(calibrate(&c, 1.5) == 1.0);
  CHECK(calibrate(&c, NAN) == 0.0);
}

TEST(uncalibrate_is_the_way_back) {
  static const struct calibration c = {.n = 3, .raw = {0.2, 0.6, 1.0}, .scaled = {0.0, 0.5, 1.0}};
  CHECK(uncalibrate(&c, 0.5) == 0.6);
  CHECK_NEAR(uncalibrate(&c, 0.25), 0.4, 1e-12);
  for (int i = 20; i <= 100; i++)
    CHECK_NEAR(uncalibrate(&c, calibrate(&c, i / 100.0)), i / 100.0, 1e-12);
}

/* What every embedder's calibration owes the gate. */
TEST(hash_calibration_rises_and_holds_the_marks) {
  const struct calibration *c = embedder_hash()->calibration;
  double last = -1;
  CHECK(c->n >= 2 && c->n <= 8);
  for (int i = 1; i < c->n; i++)
    CHECK(c->raw[i] > c->raw[i - 1] && c->scaled[i] > c->scaled[i - 1]);
  for (int i = -1000; i <= 1000; i++) {
    double scaled = calibrate(c, i / 1000.0);
    CHECK(scaled >= 0 && scaled <= 1 && scaled >= last);
    last = scaled;
  }
  CHECK(calibrate(c, 1.0) == 1.0);
  CHECK(calibrate(c, 0.0) == 0.0);
  CHECK(calibrate(c, uncalibrate(c, SIMILARITY_SAME)) == SIMILARITY_SAME);
  CHECK(calibrate(c, uncalibrate(c, SIMILARITY_NEAR)) == SIMILARITY_NEAR);
  CHECK(uncalibrate(c, SIMILARITY_NEAR) < uncalibrate(c, SIMILARITY_SAME));
}
