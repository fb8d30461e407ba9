/* encoder_pass.h: one pass of the encoder over a few texts, in preallocated memory. Run by the threads of a batch. */
#pragma once

#include "embed/encoder/encoder.h"

struct encoder_scratch {
  float *x, *query, *key, *value, *context; /* [rows][hidden] */
  float *inner;                             /* [at most KERNEL_ROWS][ffn] */
  char *inputs;                             /* quantised rows of width hidden or ffn */
  struct kernel_row *rows;
  float *attention;
};

/* Allocates memory for passes of up to `rows` rows and texts of up to `longest` tokens. */
void encoder_scratch_init(struct encoder_scratch *s, struct arena *a, const struct model *m, size_t rows,
                          size_t longest);

size_t encoder_rows(const struct encoder_text *texts, size_t n);

/* Writes ret_vectors[n][dims]. Allocates nothing. */
void encoder_pass(const struct model *m, const struct kernel *k, const struct encoder_scratch *s,
                  const struct encoder_text *texts, size_t n, float *ret_vectors);
