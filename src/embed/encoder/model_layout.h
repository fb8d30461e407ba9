/* model_layout.h: offsets in a model file. Used only by its reader and writer. */
#pragma once

#include "embed/encoder/model_file.h"

#define MODEL_MAGIC "CAIRNEMB"

enum { MODEL_VERSION = 1 };

/* With these limits no product of sizes overflows 64 bits, and no dot product 32 bits: 255 * 127 * MODEL_MAX_FFN. */
enum {
  MODEL_MAX_LAYERS = 64,
  MODEL_MAX_HIDDEN = 4096,
  MODEL_MAX_FFN = 16384,
  MODEL_MAX_VOCAB = 1 << 20,
  MODEL_MAX_POSITIONS = 8192,
};

/* Offsets of the header's fields. */
enum {
  HEADER_VERSION = 8,
  HEADER_SIZE = 12,
  HEADER_TOTAL = 16,
  HEADER_PAYLOAD_CHECKSUM = 24,
  HEADER_CHECKSUM = 32,
  HEADER_SHAPE = 40,
  HEADER_POOLING = 72,
  HEADER_ACTIVATION = 76,
  HEADER_PROJECTION = 80,
  HEADER_NORM_EPS = 84,
  HEADER_VOCABULARY = 88,
  HEADER_CALIBRATION = 96,
  HEADER_NAME = 232,
  HEADER_QUERY_PREFIX = 296,
  HEADER_TEXT_PREFIX = 552,
};

/* Offsets of the sections in the file. */
struct model_layout {
  uint64_t vocabulary, words, word_scale, position_rows, embedding_norm, layers, layer_size, projection, total;
};
void model_layout(const struct model_shape *s, uint64_t vocabulary_size, struct model_layout *ret_layout);

uint64_t model_checksum(const char *p, size_t n);

/* The first invalid part ("the hidden size"), or NULL. */
const char *model_shape_problem(const struct model_shape *s);
const char *model_calibration_problem(const struct calibration *c);
