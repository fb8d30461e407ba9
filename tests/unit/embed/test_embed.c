/* test_embed.c: calibration. */
#include "embed/embed.h"

#include <math.h>

#include "support/harness.h"

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

TEST(uncalibrate_is_the_inverse) {
  static const struct calibration c = {.n = 3, .raw = {0.2, 0.6, 1.0}, .scaled = {0.0, 0.5, 1.0}};
  CHECK(uncalibrate(&c, 0.5) == 0.6);
  CHECK_NEAR(uncalibrate(&c, 0.25), 0.4, 1e-12);
  for (int i = 20; i <= 100; i++)
    CHECK_NEAR(uncalibrate(&c, calibrate(&c, i / 100.0)), i / 100.0, 1e-12);
}

/* The write gate relies on these properties. */
TEST(hash_calibration_rises_and_has_the_thresholds) {
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

TEST(calibration_text_round_trips) {
  struct arena a;
  struct error err = {0};
  struct calibration c;
  arena_init(&a);
  CHECK_OK(calibration_parse(STR("-0.25:0, 0.5:0.5,0.7512:0.75,1:1"), &c, &err), &err);
  CHECK_INT(c.n, 4);
  CHECK_NEAR(c.raw[0], -0.25, 0);
  CHECK_NEAR(c.raw[2], 0.7512, 0);
  CHECK_NEAR(c.scaled[2], 0.75, 0);
  CHECK_STR(calibration_text(&a, &c), "-0.2500:0.0000,0.5000:0.5000,0.7512:0.7500,1.0000:1.0000");
  struct calibration again;
  CHECK_OK(calibration_parse(calibration_text(&a, &c), &again, &err), &err);
  CHECK_NEAR(calibrate(&again, 0.6), calibrate(&c, 0.6), 1e-12);
  arena_release(&a);
}

TEST(invalid_calibration_texts) {
  static const struct {
    const char *text, *why;
  } bad[] = {
      {"", "2 to 8"},
      {"0:0", "2 to 8"},
      {"0:0,0.1:0.1,0.2:0.2,0.3:0.3,0.4:0.4,0.5:0.5,0.6:0.6,0.7:0.7,1:1", "2 to 8"},
      {"0:0,1", "colon"},
      {"0:0,:1", "colon"},
      {"0:0,1:1:1", "colon"},
      {"0:0,x:1", "colon"},
      {"0:0,,1:1", "colon"},
      {"-1.1:0,1:1", "between -1 and 1"},
      {"0:0,1.01:1", "between -1 and 1"},
      {"0:-0.1,1:1", "between 0 and 1"},
      {"0:0,1:1.1", "between 0 and 1"},
      {"0:0,0:1", "rise"},
      {"0.5:0,0.4:1", "rise"},
      {"0:0.5,1:0.5", "rise"},
      {"nan:0,1:1", "colon"},
  };
  struct calibration c = {.n = 7};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    struct error err = {0};
    test_note("%s", bad[i].text);
    CHECK_STATUS(calibration_parse(str_from(bad[i].text), &c, &err), STATUS_USAGE);
    CHECK(strstr(err.message, bad[i].why) != NULL);
    CHECK_INT(c.n, 7);
  }
}

TEST(the_careful_calibration_has_high_thresholds) {
  const struct calibration *c = calibration_conservative();
  CHECK(calibration_is_valid(c));
  CHECK_NEAR(calibrate(c, 1.0), 1.0, 0);
  CHECK(uncalibrate(c, SIMILARITY_NEAR) >= 0.9 && uncalibrate(c, SIMILARITY_SAME) >= 0.97);
}
