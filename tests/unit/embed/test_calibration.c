/* test_calibration.c: calibrations as text. */
#include "embed/calibration.h"

#include "support/harness.h"

TEST(calibration_text_goes_both_ways) {
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

TEST(calibration_text_is_checked) {
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

TEST(the_careful_calibration_holds_the_marks) {
  const struct calibration *c = calibration_careful();
  CHECK(calibration_valid(c));
  CHECK_NEAR(calibrate(c, 1.0), 1.0, 0);
  CHECK(uncalibrate(c, SIMILARITY_NEAR) >= 0.9 && uncalibrate(c, SIMILARITY_SAME) >= 0.97);
}
