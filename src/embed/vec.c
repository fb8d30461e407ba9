/* vec.c: dot product, cosine, quantisation, and scans over sign bits. */
#include "embed/vec.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__)
/* Its inline functions use malloc and free, which banned.h forbids. */
#undef malloc
#undef free
#include <immintrin.h>
#endif

/* Hot loops are compiled for several processors, and the loader selects a version. They use only integers, so all
 * versions give the same results. Not under sanitizers, which are not initialised when the loader selects. The clones
 * are static and called by plain functions, because clang 14 exports them under other names; clang 14 also selects
 * correctly only by feature, not by level. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define VEC_PLAIN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__) || !defined(__GLIBC__)
#define VEC_PLAIN
#endif
#ifdef VEC_PLAIN
#define VEC_CLONES
#elif defined(__clang__)
#define VEC_CLONES __attribute__((target_clones("default", "popcnt", "avx2")))
#else
#define VEC_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#endif

static int32_t dot_plain(const int8_t *a, const int8_t *b, int dims) {
  int32_t sum = 0;
  for (int i = 0; i < dims; i++)
    sum += (int16_t)a[i] * (int16_t)b[i];
  return sum;
}

/* The dot products for a cosine. */
struct dots {
  int32_t aa, bb, ab;
};

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

AVX2 static inline __m256i load_16(const int8_t *p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}

AVX2 static inline int32_t sum_8(__m256i sums) {
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1));
  return _mm_cvtsi128_si32(four);
}

/* 16 products per step; pairs are added in 32 bits, so nothing saturates. */
AVX2 static int32_t dot_avx2(const int8_t *a, const int8_t *b, int dims) {
  __m256i sums = _mm256_setzero_si256();
  int i = 0;
  for (; i + 16 <= dims; i += 16)
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(load_16(a + i), load_16(b + i)));
  return sum_8(sums) + dot_plain(a + i, b + i, dims - i);
}

/* One pass for all three products, because widening the bytes is most of the work. */
AVX2 static struct dots dots_avx2(const int8_t *a, const int8_t *b, int dims) {
  __m256i aa = _mm256_setzero_si256(), bb = aa, ab = aa;
  int i = 0;
  for (; i + 16 <= dims; i += 16) {
    __m256i x = load_16(a + i), y = load_16(b + i);
    aa = _mm256_add_epi32(aa, _mm256_madd_epi16(x, x));
    bb = _mm256_add_epi32(bb, _mm256_madd_epi16(y, y));
    ab = _mm256_add_epi32(ab, _mm256_madd_epi16(x, y));
  }
  int rest = dims - i;
  return (struct dots){sum_8(aa) + dot_plain(a + i, a + i, rest), sum_8(bb) + dot_plain(b + i, b + i, rest),
                       sum_8(ab) + dot_plain(a + i, b + i, rest)};
}
#endif

int32_t vec_dot(const int8_t *a, const int8_t *b, int dims) {
  assert(dims >= 0 && dims <= VEC_MAX_DIMS);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    return dot_avx2(a, b, dims);
#endif
  return dot_plain(a, b, dims);
}

static struct dots dots_of(const int8_t *a, const int8_t *b, int dims) {
  assert(dims >= 0 && dims <= VEC_MAX_DIMS);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    return dots_avx2(a, b, dims);
#endif
  return (struct dots){dot_plain(a, a, dims), dot_plain(b, b, dims), dot_plain(a, b, dims)};
}

double vec_cosine(const int8_t *a, const int8_t *b, int dims) {
  /* The product of the norms is below 2^53 for VEC_MAX_DIMS, so its conversion is exact; square root and division are
   * correctly rounded on every machine. */
  struct dots dots = dots_of(a, b, dims);
  int64_t norms = (int64_t)dots.aa * dots.bb;
  return norms ? (double)dots.ab / sqrt((double)norms) : 0.0;
}

/* ---- quantisation ---- */

/* Fixed pseudo-random signs, applied before the rotation: otherwise regular patterns in the vectors could coincide with
 * those of the transform. */
static bool is_flipped(int i) { return (uint32_t)i * UINT32_C(0x9e3779b1) >> 17 & 1; }

/* Largest power of two up to n. Other numbers of dimensions are rotated in parts of such sizes. */
static int part_size(int n) {
  int part = 1;
  while (part * 2 <= n)
    part *= 2;
  return part;
}

/* Walsh-Hadamard transform: a rotation that also multiplies lengths by the square root of the part's size. Smaller
 * parts are scaled by the square root of two for each halving, so all have the same factor. */
#define ROTATE(type, name, scale)                                                                                      \
  static VEC_CLONES void name(type *x, int dims) {                                                                     \
    int first = part_size(dims);                                                                                       \
    for (int i = 0; i < dims; i++)                                                                                     \
      x[i] = is_flipped(i) ? -x[i] : x[i];                                                                             \
    for (int at = 0, part = first; at < dims; at += part, part = part_size(dims - at)) {                               \
      for (int half = 1; half < part; half *= 2)                                                                       \
        for (int i = at; i < at + part; i += 2 * half)                                                                 \
          for (int k = i; k < i + half; k++) {                                                                         \
            type a = x[k], b = x[k + half];                                                                            \
            x[k] = a + b;                                                                                              \
            x[k + half] = a - b;                                                                                       \
          }                                                                                                            \
      for (int size = part; size < first; size *= 2)                                                                   \
        for (int k = at; k < at + part; k++)                                                                           \
          x[k] = scale(x[k]);                                                                                          \
    }                                                                                                                  \
  }
#define ROOT_OF_TWO(x) ((x) * 1.41421356237309504880)
#define ROOT_OF_TWO_SUM(x) ((x) * 46341 / 32768)
ROTATE(double, rotate_floats, ROOT_OF_TWO)
ROTATE(int64_t, rotate_sums, ROOT_OF_TWO_SUM)

void vec_quantise(const float *v, int dims, int8_t *ret_vector) {
  double x[VEC_MAX_DIMS], largest = 0;
  assert(dims >= 0 && dims <= VEC_MAX_DIMS);
  for (int i = 0; i < dims; i++) {
    x[i] = (double)v[i];
    if (!isfinite(x[i])) {
      memset(ret_vector, 0, (size_t)dims);
      return;
    }
  }
  rotate_floats(x, dims);
  for (int i = 0; i < dims; i++)
    largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
  for (int i = 0; i < dims; i++) {
    double scaled = largest > 0 ? x[i] * (double)VEC_LARGEST / largest : 0;
    ret_vector[i] = (int8_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  }
}

static uint64_t largest_of(const int64_t *x, int dims) {
  uint64_t largest = 0;
  for (int i = 0; i < dims; i++) {
    uint64_t size = x[i] < 0 ? 0 - (uint64_t)x[i] : (uint64_t)x[i];
    largest = size > largest ? size : largest;
  }
  return largest;
}

void vec_quantise_sums(const int64_t *sums, int dims, int8_t *ret_vector) {
  int64_t x[VEC_MAX_DIMS];
  assert(dims >= 0 && dims <= VEC_MAX_DIMS);
  /* Scale to 30 bits, so the sums and products below cannot overflow. The low bits that are lost do not affect the
   * result. */
  uint64_t largest = largest_of(sums, dims);
  int down = 0, up = 0;
  while (largest >> down >> 30)
    down++;
  while (largest && largest << up >> 29 == 0)
    up++;
  for (int i = 0; i < dims; i++)
    x[i] = sums[i] / (INT64_C(1) << down) * (INT64_C(1) << up);
  rotate_sums(x, dims);
  int64_t most = (int64_t)largest_of(x, dims);
  assert(most <= INT64_MAX / (4 * VEC_LARGEST));
  for (int i = 0; i < dims; i++) {
    int64_t twice = x[i] * VEC_LARGEST * 2;
    ret_vector[i] = (int8_t)(most ? (twice + (twice < 0 ? -most : most)) / (2 * most) : 0);
  }
}

/* ---- sign bits ---- */

void vec_bits(const int8_t *v, const int8_t *centre, int dims, uint64_t *ret_bits) {
  assert(dims > 0 && dims <= VEC_MAX_DIMS);
  for (int i = 0; i < dims; i++)
    ret_bits[i / 64] = (i % 64 ? ret_bits[i / 64] : 0) | (uint64_t)(v[i] > (centre ? centre[i] : 0)) << (i % 64);
}

static VEC_CLONES void scan_plain(const uint64_t *groups, size_t nrows, int words, const uint64_t *query,
                                  uint16_t *ret_distance) {
  for (size_t row = 0; row < nrows; row += VEC_GROUP) {
    int sum[VEC_GROUP] = {0};
    for (int w = 0; w < words; w++, groups += VEC_GROUP)
      for (int i = 0; i < VEC_GROUP; i++)
        sum[i] += __builtin_popcountll(groups[i] ^ query[w]);
    for (int i = 0; i < VEC_GROUP; i++)
      ret_distance[row + (size_t)i] = (uint16_t)sum[i];
  }
}

void vec_scan_bits_plain(const uint64_t *groups, size_t nrows, int words, const uint64_t *query,
                         uint16_t *ret_distance) {
  scan_plain(groups, nrows, words, query, ret_distance);
}

#if defined(__x86_64__)
/* One register holds one word of the eight rows of a group. */
__attribute__((target("avx512f,avx512vpopcntdq"))) static void
scan_avx512(const uint64_t *groups, size_t nrows, int words, const uint64_t *query, uint16_t *ret_distance) {
  if (words == 4) { /* 256 dimensions, the built-in embedders */
    __m512i q[4];
    for (int w = 0; w < 4; w++)
      q[w] = _mm512_set1_epi64((long long)query[w]);
    for (size_t row = 0; row < nrows; row += VEC_GROUP, groups += 4 * VEC_GROUP) {
      __m512i a = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(groups), q[0]));
      __m512i b = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(groups + VEC_GROUP), q[1]));
      __m512i c = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(groups + 2 * VEC_GROUP), q[2]));
      __m512i d = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(groups + 3 * VEC_GROUP), q[3]));
      __m512i sum = _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d));
      _mm_storeu_si128((__m128i *)(void *)(ret_distance + row), _mm512_cvtepi64_epi16(sum));
    }
    return;
  }
  for (size_t row = 0; row < nrows; row += VEC_GROUP) {
    __m512i sum = _mm512_setzero_si512();
    for (int w = 0; w < words; w++, groups += VEC_GROUP) {
      __m512i differ = _mm512_xor_si512(_mm512_loadu_si512(groups), _mm512_set1_epi64((long long)query[w]));
      sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(differ));
    }
    _mm_storeu_si128((__m128i *)(void *)(ret_distance + row), _mm512_cvtepi64_epi16(sum));
  }
}
#endif

void vec_scan_bits(const uint64_t *groups, size_t nrows, int words, const uint64_t *query, uint16_t *ret_distance) {
  assert(nrows % VEC_GROUP == 0 && words > 0 && words <= VEC_WORDS(VEC_MAX_DIMS));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq")) {
    scan_avx512(groups, nrows, words, query, ret_distance);
    return;
  }
#endif
  scan_plain(groups, nrows, words, query, ret_distance);
}

void vec_agreement_table(const int8_t *query, const int8_t *centre, int dims, int16_t *ret_table) {
  assert(dims > 0 && dims <= VEC_MAX_DIMS);
  for (int at = 0; at < VEC_WORDS(dims) * 64; at += 8, ret_table += 256) {
    int part[8], all = 0;
    for (int i = 0; i < 8; i++) {
      int d = at + i;
      part[i] = d < dims ? query[d] - (centre ? centre[d] : 0) : 0;
      all -= part[i];
    }
    ret_table[0] = (int16_t)all;
    for (int byte = 1; byte < 256; byte++)
      ret_table[byte] = (int16_t)(ret_table[byte & (byte - 1)] + 2 * part[__builtin_ctz((unsigned)byte)]);
  }
}

int32_t vec_agreement(const int16_t *table, const uint64_t *groups, size_t row, int words) {
  int32_t even = 0, odd = 0;
  const uint64_t *word = groups + VEC_AT(row, 0, words);
  for (int w = 0; w < words; w++, word += VEC_GROUP, table += 8 * 256) {
    uint64_t bits = *word;
    even += table[bits & 255] + table[512 + (bits >> 16 & 255)];
    odd += table[256 + (bits >> 8 & 255)] + table[768 + (bits >> 24 & 255)];
    even += table[1024 + (bits >> 32 & 255)] + table[1536 + (bits >> 48 & 255)];
    odd += table[1280 + (bits >> 40 & 255)] + table[1792 + (bits >> 56)];
  }
  return even + odd;
}

/* Blocks without a near row are skipped. In the others, every row is written and the counter advances only for near
 * ones: a branch would be mispredicted too often. */
static VEC_CLONES size_t pick_near(const uint16_t *distance, size_t n, uint16_t limit, uint16_t *ret_rows) {
  enum { BLOCK = 16 };
  size_t found = 0, row = 0;
  for (; row + BLOCK <= n; row += BLOCK) {
    uint16_t any = 0;
    for (size_t i = 0; i < BLOCK; i++)
      any |= distance[row + i] <= limit;
    for (size_t i = 0; any && i < BLOCK; i++) {
      ret_rows[found] = (uint16_t)(row + i);
      found += distance[row + i] <= limit;
    }
  }
  for (; row < n; row++)
    if (distance[row] <= limit)
      ret_rows[found++] = (uint16_t)row;
  return found;
}

size_t vec_near_rows(const uint16_t *distance, size_t n, int limit, uint16_t *ret_rows) {
  assert(n <= UINT16_MAX + 1);
  return limit < 0 ? 0 : pick_near(distance, n, (uint16_t)(limit > UINT16_MAX ? UINT16_MAX : limit), ret_rows);
}
