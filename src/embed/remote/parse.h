/* parse.h: what an embedding endpoint answered, read from its bytes alone. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

struct http_vectors {
  float *v; /* n * dims, in the order of the texts; finite, none without length */
  size_t n;
  int dims;
};

/* The vectors of n texts, each with `dims` components; 0 takes what the answer has, up to VEC_MAX_DIMS. Anything else,
 * and be it one number too few, is STATUS_UNAVAILABLE: a vector that is wrong would be found again and again.
 *
 * OpenAI: {"data": [{"index": 0, "embedding": [...]}, ...]}, in any order; without "index", in the order of the texts.
 */
NODISCARD enum status http_parse_openai(struct arena *a, struct str body, size_t n, int dims,
                                        struct http_vectors *ret_vectors, struct error *err);
/* Ollama: {"embeddings": [[...], ...]}. */
NODISCARD enum status http_parse_ollama(struct arena *a, struct str body, size_t n, int dims,
                                        struct http_vectors *ret_vectors, struct error *err);
