/* parse.h: parser for the responses of embedding endpoints. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

struct http_vectors {
  float *v; /* n * dims, in the order of the texts; finite, no zero vectors */
  size_t n;
  int dims;
};

/* Reads the vectors of n texts with `dims` components each (0: as in the response, up to VEC_MAX_DIMS). Any deviation
 * is STATUS_UNAVAILABLE, because a wrong vector would affect searches until it is re-embedded.
 *
 * OpenAI: {"data": [{"index": 0, "embedding": [...]}, ...]}, in any order; without "index", in the order of the texts.
 */
NODISCARD enum status http_parse_openai(struct arena *a, struct str body, size_t n, int dims,
                                        struct http_vectors *ret_vectors, struct error *err);
/* Ollama: {"embeddings": [[...], ...]}. */
NODISCARD enum status http_parse_ollama(struct arena *a, struct str body, size_t n, int dims,
                                        struct http_vectors *ret_vectors, struct error *err);
