/* embed.h: what every embedder offers: text in, int8 vectors out, and the calibration that makes its cosines mean
 * the same as another embedder's. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "core/gate/similarity.h"

/* A rising piecewise-linear map from raw cosine to that scale: both arrays ascend strictly. Cosines outside the
 * knots take the value of the nearest knot. */
struct calibration {
  int n;
  double raw[8], scaled[8];
};

/* What a text is for: some models want a question marked as such. */
enum embed_use { EMBED_TEXT, EMBED_QUERY };

struct embedder {
  const char *model; /* "hash-v1": stored beside each vector; vectors of two models are never compared */
  int dims;
  const struct calibration *calibration;
  /* One vector for each text, ret_vectors[n * dims]. Scratch memory comes from the arena. */
  enum status (*embed)(const struct embedder *e, struct arena *a, enum embed_use use, const struct str *texts, size_t n,
                       int8_t *ret_vectors, struct error *err);
  void (*close)(struct embedder *e); /* NULL where there is nothing to close */
  void *state;
};

/* The embedder with this model name. STATUS_USAGE, with the known names, for any other. */
NODISCARD enum status embedder_by_name(struct str name, const struct embedder **ret_embedder, struct error *err);

/* hash-v1: words, word pairs and letter triples hashed into 256 dimensions. Knows no meaning, only spelling; needs
 * no weights, costs microseconds, gives the same bits everywhere. */
const struct embedder *embedder_hash(void);

double calibrate(const struct calibration *c, double cosine);
/* The raw cosine at which `scaled` is reached: what a search on raw cosines takes as its threshold. */
double uncalibrate(const struct calibration *c, double scaled);
