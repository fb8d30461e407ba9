/* test_vec.c: vector arithmetic against values computed by hand and against plain loops. */
#include "embed/vec.h"

#include <math.h>

#include "support/harness.h"

/* Pseudo-random numbers that are the same on every machine. */
static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state ^ *state >> 31;
}

/* Registers have 16 components; also test lengths that are not a multiple of 16. */
TEST(cosine_agrees_with_dot_products) {
  int8_t a[70], b[70];
  for (int i = 0; i < 70; i++) {
    a[i] = (int8_t)(i * 37 % 255 - 127);
    b[i] = (int8_t)(i * 91 % 255 - 127);
  }
  for (int dims = 1; dims <= 70; dims++) {
    double aa = 0, bb = 0, ab = 0;
    for (int i = 0; i < dims; i++) {
      aa += a[i] * a[i];
      bb += b[i] * b[i];
      ab += a[i] * b[i];
    }
    CHECK(vec_cosine(a, b, dims) == ab / sqrt(aa * bb));
  }
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

/* Quantised vectors are rotated, so only the largest component and cosines can be compared. */
static int largest(const int8_t *v, int dims) {
  int most = 0;
  for (int i = 0; i < dims; i++)
    most = abs(v[i]) > most ? abs(v[i]) : most;
  return most;
}

TEST(quantise_scales_to_the_largest_component) {
  int8_t v[3];
  vec_quantise((float[]){0.0f, 5.0f, 0.0f}, 3, v); /* rotated by 45 degrees in the first two dimensions */
  CHECK_INT(abs(v[0]), 127);
  CHECK_INT(abs(v[1]), 127);
  CHECK_INT(v[2], 0);
  vec_quantise((float[]){0.0f, 0.0f, -1e30f}, 3, v);
  CHECK(v[0] == 0 && v[1] == 0);
  CHECK_INT(abs(v[2]), 127);
  vec_quantise((float[]){-0.003f, 0.004f, 0.0f}, 3, v); /* sum and difference, in the ratio 1 to 7 */
  CHECK_INT(largest(v, 3), 127);
  CHECK_INT(abs(v[0]) + abs(v[1]), 127 + 18);
}

TEST(quantise_keeps_cosines) {
  static const int dims[] = {2, 3, 7, 64, 100, 256, 384, 768, 1536, 4096};
  uint64_t seed = 5;
  for (size_t k = 0; k < ARRAY_LEN(dims); k++) {
    static float a[VEC_MAX_DIMS], b[VEC_MAX_DIMS];
    static int64_t sa[VEC_MAX_DIMS], sb[VEC_MAX_DIMS];
    static int8_t va[VEC_MAX_DIMS], vb[VEC_MAX_DIMS];
    double dot = 0, aa = 0, bb = 0;
    for (int i = 0; i < dims[k]; i++) {
      /* The first component is the same in all vectors and by far the largest; the others must not be lost. */
      sa[i] = (int64_t)(next_random(&seed) % 2001) - 1000 + (i == 0 ? 20000 : 0);
      sb[i] = sa[i] / 2 + (int64_t)(next_random(&seed) % 2001) - 1000 + (i == 0 ? 20000 : 0);
      a[i] = (float)sa[i] / 1000;
      b[i] = (float)sb[i] / 100;
      dot += (double)sa[i] * (double)sb[i];
      aa += (double)sa[i] * (double)sa[i];
      bb += (double)sb[i] * (double)sb[i];
    }
    vec_quantise(a, dims[k], va);
    vec_quantise(b, dims[k], vb);
    CHECK_INT(largest(va, dims[k]), 127);
    CHECK_NEAR(vec_cosine(va, vb, dims[k]), dot / sqrt(aa * bb), 0.01);
    vec_quantise_sums(sa, dims[k], va);
    vec_quantise_sums(sb, dims[k], vb);
    CHECK_INT(largest(vb, dims[k]), 127);
    CHECK_NEAR(vec_cosine(va, vb, dims[k]), dot / sqrt(aa * bb), 0.01);
  }
}

TEST(quantise_without_a_direction_gives_zero) {
  int8_t v[2] = {1, 1};
  vec_quantise((float[]){0.0f, 0.0f}, 2, v);
  CHECK(v[0] == 0 && v[1] == 0);
  vec_quantise((float[]){NAN, 1.0f}, 2, v);
  CHECK(v[0] == 0 && v[1] == 0);
  vec_quantise((float[]){INFINITY, 1.0f}, 2, v);
  CHECK(v[0] == 0 && v[1] == 0);
  vec_quantise_sums((int64_t[]){0, 0}, 2, v);
  CHECK(v[0] == 0 && v[1] == 0);
}

TEST(quantised_sums_of_any_size) {
  int8_t small[4], large[4], floats[4];
  vec_quantise_sums((int64_t[]){-3, 4, 0, 1}, 4, small);
  vec_quantise_sums((int64_t[]){-3000000000000, 4000000000000, 0, 1000000000000}, 4, large);
  vec_quantise((float[]){-3, 4, 0, 1}, 4, floats);
  for (int i = 0; i < 4; i++) {
    CHECK_INT(small[i], floats[i]);
    CHECK_INT(large[i], floats[i]);
  }
  vec_quantise_sums((int64_t[]){INT64_MIN, INT64_MAX, 0, 0}, 4, large);
  CHECK_INT(largest(large, 4), 127);
}

TEST(bits_are_signs_relative_to_the_centre) {
  int8_t v[70] = {0}, centre[70] = {0};
  uint64_t bits[VEC_WORDS(70)] = {UINT64_MAX, UINT64_MAX};
  v[0] = 1;
  v[1] = -1;
  v[63] = 127;
  v[64] = -128;
  v[69] = 5;
  vec_bits(v, NULL, 70, bits);
  CHECK(bits[0] == (UINT64_C(1) | UINT64_C(1) << 63));
  CHECK(bits[1] == UINT64_C(1) << 5);
  centre[0] = 1;
  centre[1] = -2;
  centre[69] = 4;
  vec_bits(v, centre, 70, bits);
  CHECK(bits[0] == (UINT64_C(2) | UINT64_C(1) << 63));
  CHECK(bits[1] == UINT64_C(1) << 5);
  CHECK_INT(VEC_WORDS(256), 4);
  CHECK_INT(VEC_WORDS(1), 1);
}

static int hamming(const uint64_t *a, const uint64_t *b, int words) {
  int distance = 0;
  for (int i = 0; i < words; i++)
    distance += __builtin_popcountll(a[i] ^ b[i]);
  return distance;
}

enum { ROWS = 104, WORDS_MAX = 7 };

/* Rows of random bits, once row by row and once in groups. */
static void random_rows(uint64_t *rows, uint64_t *groups, int words, uint64_t *seed) {
  for (int r = 0; r < ROWS; r++)
    for (int w = 0; w < words; w++)
      groups[VEC_AT(r, w, words)] = rows[r * words + w] = next_random(seed) << 32 ^ next_random(seed);
}

TEST(scan_agrees_with_hamming) {
  for (int words = 1; words <= WORDS_MAX; words++) {
    uint64_t rows[ROWS * WORDS_MAX], groups[ROWS * WORDS_MAX], query[WORDS_MAX], seed = (uint64_t)words;
    uint16_t distance[ROWS + 1], plain[ROWS + 1];
    random_rows(rows, groups, words, &seed);
    memcpy(query, rows + 31 * words, (size_t)words * sizeof(*query));
    distance[ROWS] = plain[ROWS] = 4711;
    vec_scan_bits(groups, ROWS, words, query, distance);
    vec_scan_bits_plain(groups, ROWS, words, query, plain);
    for (int r = 0; r < ROWS; r++) {
      CHECK_INT(distance[r], hamming(rows + r * words, query, words));
      CHECK_INT(plain[r], distance[r]);
    }
    CHECK_INT(distance[31], 0);
    CHECK_INT(distance[ROWS], 4711);
    CHECK_INT(plain[ROWS], 4711);
  }
}

TEST(agreement_is_a_signed_sum) {
  for (int dims = 60; dims <= 400; dims += 85) {
    static int16_t table[VEC_TABLE(400)];
    int words = VEC_WORDS(dims);
    uint64_t rows[ROWS * WORDS_MAX], groups[ROWS * WORDS_MAX], seed = (uint64_t)dims;
    int8_t query[400], centre[400];
    for (int i = 0; i < dims; i++) {
      query[i] = (int8_t)next_random(&seed);
      centre[i] = (int8_t)next_random(&seed);
    }
    random_rows(rows, groups, words, &seed);
    for (int with = 0; with < 2; with++) {
      vec_agreement_table(query, with ? centre : NULL, dims, table);
      for (int r = 0; r < ROWS; r++) {
        int32_t sum = 0;
        for (int i = 0; i < dims; i++)
          sum += (query[i] - (with ? centre[i] : 0)) * (rows[r * words + i / 64] >> (i % 64) & 1 ? 1 : -1);
        CHECK_INT(vec_agreement(table, groups, (size_t)r, words), sum);
      }
    }
  }
}

TEST(near_rows_are_listed_in_order) {
  uint16_t distance[100], rows[100];
  for (int i = 0; i < 100; i++)
    distance[i] = (uint16_t)(i % 10);
  CHECK_INT(vec_near_rows(distance, 100, 1, rows), 20);
  for (int i = 0; i < 20; i++)
    CHECK_INT(rows[i], i / 2 * 10 + i % 2);
  CHECK_INT(vec_near_rows(distance, 95, 9, rows), 95);
  CHECK_INT(rows[94], 94);
  CHECK_INT(vec_near_rows(distance, 100, -1, rows), 0);
  CHECK_INT(vec_near_rows(distance, 0, 5, rows), 0);
  CHECK_INT(vec_near_rows(distance, 100, 1 << 20, rows), 100);
}
