/* embed.h: interface of embedders (text in, int8 vectors out), and calibration of their cosines to a common scale. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "core/gate/similarity.h"

/* Piecewise-linear map from raw cosines to the common scale. Both arrays rise strictly. Cosines outside the knots get
 * the value of the nearest knot. */
struct calibration {
  int n;
  double raw[8], scaled[8];
};

/* Some models need different prefixes for queries and texts. */
enum embed_use { EMBED_TEXT, EMBED_QUERY };

struct embedder {
  const char
      *model; /* such as "hash-v1"; stored with each vector, because vectors of different models are incomparable */
  int dims;
  const struct calibration *calibration;
  /* Writes one vector per text to ret_vectors[n * dims]. Scratch memory comes from the arena. */
  enum status (*embed)(const struct embedder *e, struct arena *a, enum embed_use use, const struct str *texts, size_t n,
                       int8_t *ret_vectors, struct error *err);
  void (*close)(struct embedder *e); /* may be NULL */
  void *state;
};

/* hash-v1: words, word pairs and trigrams hashed into 256 dimensions. Compares spelling, not meaning; needs no weights,
 * takes microseconds, and gives the same vectors on every machine. */
const struct embedder *embedder_hash(void);

double calibrate(const struct calibration *c, double cosine);
/* Inverse of calibrate(): the threshold for a search on raw cosines. */
double uncalibrate(const struct calibration *c, double scaled);

/* Calibration for an unknown embedder. Its thresholds are high, because a false duplicate loses a memory while a missed
 * one only costs a warning. */
const struct calibration *calibration_conservative(void);

/* True for 2 to 8 knots, with cosines from -1 to 1 and values from 0 to 1, both rising. */
bool calibration_is_valid(const struct calibration *c);

/* Parses "RAW:SCALED,RAW:SCALED,...", such as "0.12:0,0.6:0.5,1:1". STATUS_USAGE, with the reason, if invalid. */
NODISCARD enum status calibration_parse(struct str text, struct calibration *ret_calibration, struct error *err);
/* The same format, with four decimals. */
struct str calibration_text(struct arena *a, const struct calibration *c);
