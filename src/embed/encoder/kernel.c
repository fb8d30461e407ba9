/* kernel.c: list of kernels and selection of the fastest. */
#include "embed/encoder/kernel.h"

#include <assert.h>

static const struct kernel *const kernels[] = {
    &kernel_scalar,
#ifdef __x86_64__
    &kernel_sse2,   &kernel_avx2,    &kernel_avxvnni, &kernel_avx512,
#endif
#ifdef __aarch64__
    &kernel_neon,   &kernel_neondot,
#endif
};

const struct kernel *kernel_at(size_t index) { return index < ARRAY_LEN(kernels) ? kernels[index] : NULL; }

const struct kernel *kernel_best(void) {
  for (size_t i = ARRAY_LEN(kernels); i-- > 1;)
    if (kernels[i]->usable())
      return kernels[i];
  return &kernel_scalar;
}

size_t kernel_attention_scratch(size_t tokens, size_t hidden, size_t heads) {
  assert(heads > 0 && hidden % heads == 0);
  size_t padded = (tokens + MODEL_LANES - 1) / MODEL_LANES * MODEL_LANES;
  /* The transposed keys of a head, and the scores of four queries. */
  return padded * (hidden / heads) + 4 * padded;
}
