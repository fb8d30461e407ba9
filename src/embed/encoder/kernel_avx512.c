/* kernel_avx512.c: kernel for AVX-512 with VNNI: 64 products per instruction. */
#ifdef __x86_64__
/* Its inline functions use malloc and free, which banned.h forbids. */
#undef malloc
#undef free
#include <immintrin.h>

#include "embed/encoder/kernel.h"

#define KERNEL kernel_avx512
#define KERNEL_NAME "avx512"
#define INPUT_SHIFT 0
enum { LANES = 16, TILE_ROWS = 6, TILE_PANELS = 4 };
typedef float vf __attribute__((vector_size(64)));
typedef int32_t vi __attribute__((vector_size(64)));
typedef uint8_t input;

static bool kernel_usable(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vnni");
}

static inline void store_inputs(vi q, input *p) { _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8((__m512i)q)); }

__attribute__((always_inline)) static inline void dot_tile(const int8_t *packed, size_t stride, const input *inputs,
                                                           size_t k, size_t rows, size_t panels,
                                                           int32_t (*tile)[TILE_PANELS * 16]) {
  __m512i sums[TILE_ROWS][TILE_PANELS];
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
    for (size_t c = 0; c < panels; c++)
      sums[r][c] = _mm512_setzero_si512();
  size_t i = 0;
  do {
    __m512i weights[TILE_PANELS];
#pragma GCC unroll 4
    for (size_t c = 0; c < panels; c++)
      weights[c] = _mm512_loadu_si512(packed + c * stride + i * 16);
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; r++) {
      int32_t four;
      memcpy(&four, inputs + r * k + i, 4);
      __m512i x = _mm512_set1_epi32(four);
#pragma GCC unroll 4
      for (size_t c = 0; c < panels; c++) {
        sums[r][c] = _mm512_dpbusd_epi32(sums[r][c], x, weights[c]);
        __asm__("" : "+v"(sums[r][c])); /* keeps gcc 12 from copying sums between registers, which halves the speed */
      }
    }
  } while ((i += 4) < k);
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
    for (size_t c = 0; c < panels; c++)
      _mm512_storeu_si512(&tile[r][c * 16], sums[r][c]);
}

#include "embed/encoder/kernel_body.h"
#endif
