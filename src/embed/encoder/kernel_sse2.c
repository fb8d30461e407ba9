/* kernel_sse2.c: kernel for any x86-64 processor: products of 16-bit numbers, eight at a time. */
#ifdef __x86_64__
/* Its inline functions use malloc and free, which banned.h forbids. */
#undef malloc
#undef free
#include <emmintrin.h>

#include "embed/encoder/kernel.h"

#define KERNEL kernel_sse2
#define KERNEL_NAME "sse2"
#define INPUT_SHIFT 0
enum { LANES = 4, TILE_ROWS = 3, TILE_PANELS = 1 };
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef int16_t input;

static bool kernel_usable(void) { return true; }

static inline void store_inputs(vi q, input *p) {
  _mm_storel_epi64((__m128i *)p, _mm_packs_epi32((__m128i)q, (__m128i)q));
}

/* Four outputs at a time. Each row has two registers with two outputs each; an output is two partial sums over
 * alternate pairs of inputs. */
__attribute__((always_inline)) static inline void dot_tile(const int8_t *packed, size_t stride, const input *inputs,
                                                           size_t k, size_t rows, size_t panels,
                                                           int32_t (*tile)[TILE_PANELS * 16]) {
  (void)stride;
  (void)panels;
  for (size_t o = 0; o < 16; o += 4) {
    __m128i low[TILE_ROWS], high[TILE_ROWS];
#pragma GCC unroll 3
    for (size_t r = 0; r < rows; r++)
      low[r] = high[r] = _mm_setzero_si128();
    size_t i = 0;
    do {
      __m128i bytes = _mm_loadu_si128((const __m128i *)(packed + i * 16 + o * 4));
      /* Sign extension: duplicate each byte, then shift the lower copy out. */
      __m128i first = _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
      __m128i second = _mm_srai_epi16(_mm_unpackhi_epi8(bytes, bytes), 8);
#pragma GCC unroll 3
      for (size_t r = 0; r < rows; r++) {
        __m128i four = _mm_loadl_epi64((const __m128i *)(inputs + r * k + i));
        __m128i x = _mm_unpacklo_epi64(four, four);
        low[r] = _mm_add_epi32(low[r], _mm_madd_epi16(x, first));
        high[r] = _mm_add_epi32(high[r], _mm_madd_epi16(x, second));
      }
    } while ((i += 4) < k);
#pragma GCC unroll 3
    for (size_t r = 0; r < rows; r++) {
      __m128 a = _mm_castsi128_ps(low[r]), b = _mm_castsi128_ps(high[r]);
      __m128i even = _mm_castps_si128(_mm_shuffle_ps(a, b, 0x88)), odd = _mm_castps_si128(_mm_shuffle_ps(a, b, 0xdd));
      _mm_storeu_si128((__m128i *)&tile[r][o], _mm_add_epi32(even, odd));
    }
  }
}

#include "embed/encoder/kernel_body.h"
#endif
