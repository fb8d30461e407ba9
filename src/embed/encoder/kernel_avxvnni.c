/* kernel_avxvnni.c: kernel for AVX2 with 256-bit VNNI: 32 products per instruction. */
#ifdef __x86_64__
#include <cpuid.h>
/* Its inline functions use malloc and free, which banned.h forbids. */
#undef malloc
#undef free
#include <immintrin.h>

#include "embed/encoder/kernel.h"

#define KERNEL kernel_avxvnni
#define KERNEL_NAME "avxvnni"
#define INPUT_SHIFT 0
enum { LANES = 8, TILE_ROWS = 6, TILE_PANELS = 1 };
typedef float vf __attribute__((vector_size(32)));
typedef int32_t vi __attribute__((vector_size(32)));
typedef uint8_t input;

/* Uses CPUID, because not every compiler's __builtin_cpu_supports() knows the feature. */
static bool kernel_usable(void) {
  unsigned a = 0, b, c, d;
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1U << 4);
}

static inline void store_inputs(vi q, input *p) {
  __m128i low = _mm256_castsi256_si128((__m256i)q), high = _mm256_extracti128_si256((__m256i)q, 1);
  __m128i words = _mm_packus_epi32(low, high);
  _mm_storel_epi64((__m128i *)p, _mm_packus_epi16(words, words));
}

__attribute__((always_inline)) static inline void dot_tile(const int8_t *packed, size_t stride, const input *inputs,
                                                           size_t k, size_t rows, size_t panels,
                                                           int32_t (*tile)[TILE_PANELS * 16]) {
  (void)stride;
  (void)panels;
  __m256i sums[TILE_ROWS][2];
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; r++)
    sums[r][0] = sums[r][1] = _mm256_setzero_si256();
  size_t i = 0;
  do {
    __m256i low = _mm256_loadu_si256((const __m256i *)(packed + i * 16));
    __m256i high = _mm256_loadu_si256((const __m256i *)(packed + i * 16 + 32));
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; r++) {
      int32_t four;
      memcpy(&four, inputs + r * k + i, 4);
      __m256i x = _mm256_set1_epi32(four);
      sums[r][0] = _mm256_dpbusd_avx_epi32(sums[r][0], x, low);
      sums[r][1] = _mm256_dpbusd_avx_epi32(sums[r][1], x, high);
    }
  } while ((i += 4) < k);
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; r++) {
    _mm256_storeu_si256((__m256i *)&tile[r][0], sums[r][0]);
    _mm256_storeu_si256((__m256i *)&tile[r][8], sums[r][1]);
  }
}

#include "embed/encoder/kernel_body.h"
#endif
