/* kernel_scalar.c: portable kernel, the reference for all others. */
#include "embed/encoder/kernel.h"

#define KERNEL kernel_scalar
#define KERNEL_NAME "scalar"
#define INPUT_SHIFT 0
enum { LANES = 4, TILE_ROWS = 4, TILE_PANELS = 1 };
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef int16_t input;

static bool kernel_usable(void) { return true; }

static inline void store_inputs(vi q, input *p) {
  for (int i = 0; i < LANES; i++)
    p[i] = (int16_t)q[i];
}

static inline void dot_tile(const int8_t *packed, size_t stride, const input *inputs, size_t k, size_t rows,
                            size_t panels, int32_t (*tile)[TILE_PANELS * 16]) {
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < panels; c++) {
      int32_t sums[16] = {0};
      for (size_t i = 0; i < k; i += 4)
        for (size_t o = 0; o < 16; o++) {
          const int8_t *w = packed + c * stride + i * 16 + o * 4;
          const input *x = inputs + r * k + i;
          sums[o] += x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3];
        }
      memcpy(&tile[r][c * 16], sums, sizeof(sums));
    }
}

#include "embed/encoder/kernel_body.h"
