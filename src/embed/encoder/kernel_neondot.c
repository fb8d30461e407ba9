/* kernel_neondot.c: kernel for 64-bit ARM processors with dot products: 16 products per instruction. */
#ifdef __aarch64__
#include <arm_neon.h>
#include <sys/auxv.h>

#include "embed/encoder/kernel.h"

#define KERNEL kernel_neondot
#define KERNEL_NAME "neondot"
#define INPUT_SHIFT 128
enum { LANES = 4, TILE_ROWS = 6, TILE_PANELS = 1 };
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef int8_t input;

/* HWCAP_ASIMDDP */
static bool kernel_usable(void) { return getauxval(AT_HWCAP) & 1UL << 20; }

static inline void store_inputs(vi q, input *p) {
  for (int i = 0; i < LANES; i++)
    p[i] = (int8_t)q[i];
}

__attribute__((always_inline)) static inline void dot_tile(const int8_t *packed, size_t stride, const input *inputs,
                                                           size_t k, size_t rows, size_t panels,
                                                           int32_t (*tile)[TILE_PANELS * 16]) {
  (void)stride;
  (void)panels;
  int32x4_t sums[TILE_ROWS][4];
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; c++)
      sums[r][c] = vdupq_n_s32(0);
  size_t i = 0;
  do {
    int8x16_t weights[4];
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; c++)
      weights[c] = vld1q_s8(packed + i * 16 + c * 16);
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; r++) {
      int32_t four;
      memcpy(&four, inputs + r * k + i, 4);
      int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(four));
#pragma GCC unroll 4
      for (size_t c = 0; c < 4; c++)
        sums[r][c] = vdotq_s32(sums[r][c], weights[c], x);
    }
  } while ((i += 4) < k);
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; c++)
      vst1q_s32(&tile[r][c * 4], sums[r][c]);
}

#include "embed/encoder/kernel_body.h"
#endif
