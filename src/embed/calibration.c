/* calibration.c: calibrations as text, and the one for an embedder that nobody has measured. */
#include "embed/calibration.h"

#include "base/buf.h"

const struct calibration *calibration_careful(void) {
  static const struct calibration careful = {
      .n = 5, .raw = {0.0, 0.70, 0.90, 0.97, 1.0}, .scaled = {0.0, 0.5, SIMILARITY_NEAR, SIMILARITY_SAME, 1.0}};
  return &careful;
}

/* Why not; NULL when all is well. Comparisons are written so that NaN fails them. */
static const char *fault_of(const struct calibration *c) {
  if (c->n < 2 || c->n > (int)ARRAY_LEN(c->raw))
    return "it needs 2 to 8 knots";
  for (int i = 0; i < c->n; i++) {
    if (!(c->raw[i] >= -1 && c->raw[i] <= 1))
      return "a cosine lies between -1 and 1";
    if (!(c->scaled[i] >= 0 && c->scaled[i] <= 1))
      return "a similarity lies between 0 and 1";
    if (i && !(c->raw[i] > c->raw[i - 1] && c->scaled[i] > c->scaled[i - 1]))
      return "both numbers have to rise from knot to knot";
  }
  return NULL;
}

bool calibration_valid(const struct calibration *c) { return fault_of(c) == NULL; }

static enum status refuse(struct str text, const char *why, struct error *err) {
  error_set(err, STATUS_USAGE, "'%.*s' is no calibration: %s", STR_ARG(text), why);
  return error_fix(err, "write COSINE:SIMILARITY for each knot, as in 0.12:0,0.63:0.5,0.78:0.75,0.94:0.92,1:1");
}

enum status calibration_parse(struct str text, struct calibration *ret_calibration, struct error *err) {
  struct calibration c = {0};
  struct str rest = text, knot, raw;
  while (str_next(&rest, ',', &knot)) {
    if (c.n == (int)ARRAY_LEN(c.raw))
      return refuse(text, "it needs 2 to 8 knots", err);
    if (!str_next(&knot, ':', &raw) || !str_double(str_trim(raw), &c.raw[c.n]) ||
        !str_double(str_trim(knot), &c.scaled[c.n]))
      return refuse(text, "a knot is two numbers with a colon between them", err);
    c.n++;
  }
  const char *fault = fault_of(&c);
  if (fault)
    return refuse(text, fault, err);
  *ret_calibration = c;
  return STATUS_OK;
}

struct str calibration_text(struct arena *a, const struct calibration *c) {
  struct buf b = BUF(a);
  for (int i = 0; i < c->n; i++)
    buf_addf(&b, "%s%.4f:%.4f", i ? "," : "", c->raw[i], c->scaled[i]);
  return buf_str(&b);
}
