/* kernel.h: the arithmetic of the encoder, once for each kind of processor; all of them give the same bits.
 *
 * Products of matrices are sums of integers, which no order can change. The float parts are one source
 * (kernel_body.h), compiled for each processor: operations on single lanes, sums over 16 lanes that are added up in
 * one fixed order, no fused multiply-add (the whole project is built with -ffp-contract=off), no libm. */
#pragma once

#include "embed/encoder/model_file.h"

/* How a row of activations was quantised: x is about scale * (q - zero), q and zero in 0..255. */
struct kernel_row {
  float scale;
  int32_t zero;
};

/* One text's part of a batch, for the attention. */
struct kernel_attention {
  size_t tokens;  /* keys and values */
  size_t queries; /* the first so many tokens ask; the others' results are not needed */
  size_t hidden, heads;
  const float *query, *key, *value; /* [tokens][hidden] */
  float *scratch;                   /* kernel_attention_scratch() floats */
  float *context;                   /* [queries][hidden] */
};

struct kernel {
  const char *name;
  size_t input_size; /* bytes of one quantised activation: each kernel has its own form */
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

/* Rows that multiply() takes in one go: callers with many of them gain nothing by passing more. */
enum { KERNEL_ROWS = 48 };

size_t kernel_attention_scratch(size_t tokens, size_t hidden, size_t heads);

/* The fastest kernel that this processor has. */
const struct kernel *kernel_best(void);
/* All that were compiled in, the plain one first; usable() says which can run here. NULL behind the last. */
const struct kernel *kernel_at(size_t index);

extern const struct kernel kernel_scalar;
#ifdef __x86_64__
extern const struct kernel kernel_sse2, kernel_avx2, kernel_avxvnni, kernel_avx512;
#endif
#ifdef __aarch64__
extern const struct kernel kernel_neon, kernel_neondot;
#endif
