/* kernel.h: arithmetic of the encoder for each kind of processor. All kernels give bit-identical results.
 *
 * Matrix products are sums of integers, so their order does not matter. The float code is shared (kernel_body.h) and
 * compiled for each processor: element-wise operations, and sums over 16 lanes in a fixed order. It uses neither fused
 * multiply-add (the project is built with -ffp-contract=off) nor libm. */
#pragma once

#include "embed/encoder/model_file.h"

/* Quantisation of a row of activations: x is about scale * (q - zero), with q and zero in 0..255. */
struct kernel_row {
  float scale;
  int32_t zero;
};

/* Attention within one text. */
struct kernel_attention {
  size_t tokens;  /* number of keys and values */
  size_t queries; /* number of queries, for the first tokens */
  size_t hidden, heads;
  const float *query, *key, *value; /* [tokens][hidden] */
  float *scratch;                   /* kernel_attention_scratch() floats */
  float *context;                   /* [queries][hidden] */
};

struct kernel {
  const char *name;
  size_t input_size; /* bytes of a quantised activation in this kernel */
  bool (*usable)(void);
  /* n is a multiple of MODEL_LANES in all of these. */
  void (*quantise)(const float *x, size_t n, void *ret_inputs, struct kernel_row *ret_row);
  /* ret_out[rows][m->outputs] = inputs[rows][m->inputs] * m, scaled, with the bias. */
  void (*multiply)(const struct model_matrix *m, const void *inputs, const struct kernel_row *rows, size_t nrows,
                   float *ret_out);
  /* x = norm(x + add); add may be NULL. */
  void (*norm)(float *x, const float *add, size_t n, const struct model_norm *norm, float eps);
  void (*activate)(float *x, size_t n, enum model_activation activation);
  void (*attend)(const struct kernel_attention *at);
  /* ret_row = scale * word + position. */
  void (*embed)(const int8_t *word, float scale, const float *position, size_t n, float *ret_row);
  float (*dot)(const float *a, const float *b, size_t n);
};

/* Passing more rows to multiply() at once gains nothing. */
enum { KERNEL_ROWS = 48 };

size_t kernel_attention_scratch(size_t tokens, size_t hidden, size_t heads);

/* The fastest kernel that this processor supports. */
const struct kernel *kernel_best(void);
/* All compiled kernels, starting with kernel_scalar, whether or not this processor supports them; NULL after the last.
 */
const struct kernel *kernel_at(size_t index);

extern const struct kernel kernel_scalar;
#ifdef __x86_64__
extern const struct kernel kernel_sse2, kernel_avx2, kernel_avxvnni, kernel_avx512;
#endif
#ifdef __aarch64__
extern const struct kernel kernel_neon, kernel_neondot;
#endif
