/* kernel_avx2.c: kernel for AVX2. Multiplies 16-bit numbers, so nothing saturates. */
#ifdef __x86_64__
/* Its inline functions use malloc and free, which banned.h forbids. */
#undef malloc
#undef free
#include <immintrin.h>

#include "embed/encoder/kernel.h"

#define KERNEL kernel_avx2
#define KERNEL_NAME "avx2"
#define INPUT_SHIFT 0
enum { LANES = 8, TILE_ROWS = 2, TILE_PANELS = 1 };
typedef float vf __attribute__((vector_size(32)));
typedef int32_t vi __attribute__((vector_size(32)));
typedef int16_t input;

static bool kernel_usable(void) { return __builtin_cpu_supports("avx2"); }

static inline void store_inputs(vi q, input *p) {
  __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32((__m256i)q, (__m256i)q), 0x08);
  _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(packed));
}

/* Each row has four registers with four outputs each; an output is two partial sums over alternate pairs of inputs. */
__attribute__((always_inline)) static inline void dot_tile(const int8_t *packed, size_t stride, const input *inputs,
                                                           size_t k, size_t rows, size_t panels,
                                                           int32_t (*tile)[TILE_PANELS * 16]) {
  (void)stride;
  (void)panels;
  __m256i sums[TILE_ROWS][4];
#pragma GCC unroll 3
  for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; c++)
      sums[r][c] = _mm256_setzero_si256();
  size_t i = 0;
  do {
    __m256i x[TILE_ROWS];
#pragma GCC unroll 3
    for (size_t r = 0; r < rows; r++) {
      long long four;
      memcpy(&four, inputs + r * k + i, 8);
      x[r] = _mm256_set1_epi64x(four);
    }
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; c++) {
      __m256i weights = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(packed + i * 16 + c * 16)));
#pragma GCC unroll 3
      for (size_t r = 0; r < rows; r++)
        sums[r][c] = _mm256_add_epi32(sums[r][c], _mm256_madd_epi16(x[r], weights));
    }
  } while ((i += 4) < k);
#pragma GCC unroll 3
  for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 2
    for (size_t c = 0; c < 4; c += 2) {
      __m256i both = _mm256_hadd_epi32(sums[r][c], sums[r][c + 1]);
      _mm256_storeu_si256((__m256i *)&tile[r][c * 4], _mm256_permute4x64_epi64(both, 0xd8));
    }
}

#include "embed/encoder/kernel_body.h"
#endif
