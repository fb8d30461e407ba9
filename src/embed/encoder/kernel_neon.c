/* kernel_neon.c: kernel for any 64-bit ARM processor: products of bytes, widened and added in pairs. */
#ifdef __aarch64__
#include <arm_neon.h>

#include "embed/encoder/kernel.h"

#define KERNEL kernel_neon
#define KERNEL_NAME "neon"
#define INPUT_SHIFT 128
enum { LANES = 4, TILE_ROWS = 4, TILE_PANELS = 1 };
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef int8_t input;

static bool kernel_usable(void) { return true; }

static inline void store_inputs(vi q, input *p) {
  for (int i = 0; i < LANES; i++)
    p[i] = (int8_t)q[i];
}

/* Four outputs at a time, in two registers with the partial sums of two outputs each. */
__attribute__((always_inline)) static inline void dot_tile(const int8_t *packed, size_t stride, const input *inputs,
                                                           size_t k, size_t rows, size_t panels,
                                                           int32_t (*tile)[TILE_PANELS * 16]) {
  (void)stride;
  (void)panels;
  for (size_t o = 0; o < 16; o += 4) {
    int32x4_t low[TILE_ROWS], high[TILE_ROWS];
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++)
      low[r] = high[r] = vdupq_n_s32(0);
    size_t i = 0;
    do {
      int8x16_t weights = vld1q_s8(packed + i * 16 + o * 4);
#pragma GCC unroll 4
      for (size_t r = 0; r < rows; r++) {
        int32_t four;
        memcpy(&four, inputs + r * k + i, 4);
        int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(four));
        low[r] = vpadalq_s16(low[r], vmull_s8(vget_low_s8(weights), vget_low_s8(x)));
        high[r] = vpadalq_s16(high[r], vmull_s8(vget_high_s8(weights), vget_high_s8(x)));
      }
    } while ((i += 4) < k);
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++)
      vst1q_s32(&tile[r][o], vpaddq_s32(low[r], high[r]));
  }
}

#include "embed/encoder/kernel_body.h"
#endif
