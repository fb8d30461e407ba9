/* vec.c: dot, cosine, quantisation and the scan over sign bits. */
#include "embed/vec.h"

#include <math.h>

/* The hot loops are compiled several times and the right copy is picked when the program starts. All of them are
 * integer arithmetic, so the copies cannot disagree. Plain under sanitizers, which do not run while a copy is picked.
 * Static behind plain functions, because clang 14 gives a cloned function another name at the link; it also picks by
 * feature correctly, but not by level. */
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

static VEC_CLONES int32_t dot(const int8_t *a, const int8_t *b, int dims) {
  int32_t sum = 0;
  for (int i = 0; i < dims; i++)
    sum += (int16_t)a[i] * (int16_t)b[i];
  return sum;
}

int32_t vec_dot(const int8_t *a, const int8_t *b, int dims) { return dot(a, b, dims); }

double vec_cosine(const int8_t *a, const int8_t *b, int dims) {
  /* The products stay below 2^53 for VEC_MAX_DIMS, so the double under the root is exact, and root and division
   * are correctly rounded everywhere. */
  int64_t norms = (int64_t)vec_dot(a, a, dims) * vec_dot(b, b, dims);
  return norms ? (double)vec_dot(a, b, dims) / sqrt((double)norms) : 0.0;
}

void vec_quantise(const float *v, int dims, int8_t *ret_vector) {
  double squares = 0;
  for (int i = 0; i < dims; i++)
    squares += (double)v[i] * (double)v[i];
  double norm = isfinite(squares) ? sqrt(squares) : 0;
  for (int i = 0; i < dims; i++) {
    double scaled = norm > 0 ? (double)v[i] * (double)VEC_NORM / norm : 0;
    ret_vector[i] = (int8_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  }
}

static uint64_t integer_root(uint64_t n) {
  uint64_t root = 0;
  for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
    if ((root | bit) * (root | bit) <= n)
      root |= bit;
  return root;
}

void vec_quantise_sums(const int64_t *sums, int dims, int8_t *ret_vector) {
  uint64_t largest = 0, squares = 0;
  for (int i = 0; i < dims; i++) {
    uint64_t size = sums[i] < 0 ? 0 - (uint64_t)sums[i] : (uint64_t)sums[i];
    largest = size > largest ? size : largest;
  }
  /* Large sums lose low bits that the result could not show, small ones gain some, so that the root is precise. */
  int down = 0, up = 0;
  while (largest >> down >> 20)
    down++;
  while (!down && largest && largest << up < UINT64_C(1) << 19)
    up++;
  int64_t scale = INT64_C(1) << up, divisor = INT64_C(1) << down;
  for (int i = 0; i < dims; i++) {
    int64_t x = sums[i] / divisor * scale;
    squares += (uint64_t)(x * x);
  }
  int64_t norm = (int64_t)integer_root(squares);
  for (int i = 0; i < dims; i++) {
    int64_t twice = sums[i] / divisor * scale * VEC_NORM * 2;
    ret_vector[i] = (int8_t)(norm ? (twice + (twice < 0 ? -norm : norm)) / (2 * norm) : 0);
  }
}

void vec_bits(const int8_t *v, int dims, uint64_t *ret_bits) {
  for (int i = 0; i < dims; i++)
    ret_bits[i / 64] = (i % 64 ? ret_bits[i / 64] : 0) | (uint64_t)(v[i] > 0) << (i % 64);
}

int vec_hamming(const uint64_t *a, const uint64_t *b, int words) {
  int distance = 0;
  for (int i = 0; i < words; i++)
    distance += __builtin_popcountll(a[i] ^ b[i]);
  return distance;
}

static VEC_CLONES void scan_bits(const uint64_t *rows, size_t nrows, int words, const uint64_t *query,
                                 uint16_t *ret_distance) {
  if (words == 4) { /* 256 dimensions, the built-in embedders: the compiler unrolls it */
    for (size_t r = 0; r < nrows; r++, rows += 4) {
      int distance = __builtin_popcountll(rows[0] ^ query[0]) + __builtin_popcountll(rows[1] ^ query[1]) +
                     __builtin_popcountll(rows[2] ^ query[2]) + __builtin_popcountll(rows[3] ^ query[3]);
      ret_distance[r] = (uint16_t)distance;
    }
    return;
  }
  for (size_t r = 0; r < nrows; r++, rows += words) {
    int distance = 0;
    for (int i = 0; i < words; i++)
      distance += __builtin_popcountll(rows[i] ^ query[i]);
    ret_distance[r] = (uint16_t)distance;
  }
}

void vec_scan_bits(const uint64_t *rows, size_t nrows, int words, const uint64_t *query, uint16_t *ret_distance) {
  scan_bits(rows, nrows, words, query, ret_distance);
}
