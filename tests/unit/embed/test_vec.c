/* test_vec.c: vector arithmetic against values worked out by hand and against plain loops. */
#include "embed/vec.h"

#include <math.h>

#include "support/harness.h"

/* A small generator of its own, so that the inputs are the same everywhere. */
static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state ^ *state >> 31;
}

TEST(dot_and_cosine) {
  int8_t a[4] = {3, 4, 0, 0}, b[4] = {4, 3, 0, 0}, minus_a[4] = {-3, -4, 0, 0}, zero[4] = {0};
  CHECK_INT(vec_dot(a, b, 4), 24);
  CHECK_NEAR(vec_cosine(a, b, 4), 0.96, 1e-15);
  CHECK(vec_cosine(a, a, 4) == 1.0);
  CHECK(vec_cosine(a, minus_a, 4) == -1.0);
  CHECK(vec_cosine(a, zero, 4) == 0.0);
  CHECK(vec_cosine(zero, zero, 4) == 0.0);
}

TEST(dot_of_the_largest_vectors_does_not_overflow) {
  static int8_t a[VEC_MAX_DIMS], b[VEC_MAX_DIMS];
  memset(a, -128, sizeof(a));
  memset(b, 127, sizeof(b));
  CHECK_INT(vec_dot(a, a, VEC_MAX_DIMS), 128 * 128 * VEC_MAX_DIMS);
  CHECK_INT(vec_dot(a, b, VEC_MAX_DIMS), -128 * 127 * VEC_MAX_DIMS);
  CHECK(vec_cosine(a, b, VEC_MAX_DIMS) == -1.0);
}

TEST(dot_agrees_with_a_plain_sum_at_every_length) {
  int8_t a[300], b[300];
  uint64_t seed = 7;
  int32_t sum = 0;
  for (int i = 0; i < 300; i++) {
    a[i] = (int8_t)next_random(&seed);
    b[i] = (int8_t)next_random(&seed);
    CHECK_INT(vec_dot(a, b, i), sum);
    sum += a[i] * b[i];
  }
}

TEST(quantise_scales_to_the_norm) {
  int8_t v[3];
  vec_quantise((float[]){0.0f, 5.0f, 0.0f}, 3, v);
  CHECK_INT(v[1], 127);
  CHECK_INT(v[0], 0);
  vec_quantise((float[]){-0.003f, 0.004f, 0.0f}, 3, v); /* 3-4-5: 76.2 and 101.6 */
  CHECK_INT(v[0], -76);
  CHECK_INT(v[1], 102);
  vec_quantise((float[]){1e30f, 1e30f, 0.0f}, 3, v); /* 127 / sqrt 2 = 89.8 */
  CHECK_INT(v[0], 90);
}

TEST(quantise_without_a_direction_gives_zero) {
  int8_t v[2] = {1, 1};
  vec_quantise((float[]){0.0f, 0.0f}, 2, v);
  CHECK(v[0] == 0 && v[1] == 0);
  vec_quantise((float[]){NAN, 1.0f}, 2, v);
  CHECK(v[0] == 0 && v[1] == 0);
  vec_quantise((float[]){INFINITY, 1.0f}, 2, v);
  CHECK(v[0] == 0 && v[1] == 0);
}

TEST(quantised_sums) {
  int8_t v[3];
  vec_quantise_sums((int64_t[]){-3, 4, 0}, 3, v);
  CHECK_INT(v[0], -76);
  CHECK_INT(v[1], 102);
  CHECK_INT(v[2], 0);
  vec_quantise_sums((int64_t[]){-3000000000000, 4000000000000, 0}, 3, v);
  CHECK_INT(v[0], -76);
  CHECK_INT(v[1], 102);
  vec_quantise_sums((int64_t[]){INT64_MIN, INT64_MAX, 0}, 3, v);
  CHECK_INT(v[0], -90);
  CHECK_INT(v[1], 90);
  vec_quantise_sums((int64_t[]){0, 0, 0}, 3, v);
  CHECK(v[0] == 0 && v[1] == 0 && v[2] == 0);
}

TEST(bits_are_signs) {
  int8_t v[70] = {0};
  uint64_t bits[VEC_WORDS(70)] = {UINT64_MAX, UINT64_MAX};
  v[0] = 1;
  v[1] = -1;
  v[63] = 127;
  v[64] = -128;
  v[69] = 5;
  vec_bits(v, 70, bits);
  CHECK(bits[0] == (UINT64_C(1) | UINT64_C(1) << 63));
  CHECK(bits[1] == UINT64_C(1) << 5);
  CHECK_INT(VEC_WORDS(256), 4);
  CHECK_INT(VEC_WORDS(1), 1);
}

TEST(hamming) {
  uint64_t a[2] = {0, UINT64_MAX}, b[2] = {7, 0};
  CHECK_INT(vec_hamming(a, b, 2), 3 + 64);
  CHECK_INT(vec_hamming(a, a, 2), 0);
}

TEST(scan_agrees_with_hamming) {
  enum { ROWS = 100 };
  for (int words = 1; words <= 7; words++) {
    uint64_t rows[ROWS * 7], query[7], seed = (uint64_t)words;
    uint16_t distance[ROWS + 1];
    for (int i = 0; i < ROWS * words; i++)
      rows[i] = next_random(&seed);
    for (int i = 0; i < words; i++)
      query[i] = next_random(&seed);
    memcpy(rows + 31 * words, query, (size_t)words * sizeof(*query));
    distance[ROWS] = 4711;
    vec_scan_bits(rows, ROWS, words, query, distance);
    for (int r = 0; r < ROWS; r++)
      CHECK_INT(distance[r], vec_hamming(rows + r * words, query, words));
    CHECK_INT(distance[31], 0);
    CHECK_INT(distance[ROWS], 4711);
  }
}
