/* calibration.h: calibrations as text, and the one for an embedder that nobody has measured. */
#pragma once

#include "embed/embed.h"

/* For an embedder of which nothing is known: the marks are set high, because a false "the same" loses a memory and a
 * missed one costs a warning. */
const struct calibration *calibration_careful(void);

/* Whether it is one that calibrate() can use: 2 to 8 knots, cosines from -1 to 1 and values from 0 to 1, both
 * ascending. */
bool calibration_valid(const struct calibration *c);

/* "RAW:SCALED,RAW:SCALED,...", as in "0.12:0,0.6:0.5,1:1". STATUS_USAGE, with the reason, for anything else. */
NODISCARD enum status calibration_parse(struct str text, struct calibration *ret_calibration, struct error *err);
/* The same text; numbers are rounded to four digits behind the point. */
struct str calibration_text(struct arena *a, const struct calibration *c);
