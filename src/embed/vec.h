/* vec.h: integer arithmetic on embedding vectors, so ranking is the same on every machine.
 *
 * A vector is int8[dims]. Its largest component is 127 or -127; a text without features has a zero vector. Vectors are
 * not normalised. Their sign bits, one per dimension, are stored separately for a fast first scan. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
  VEC_LARGEST = 127,   /* absolute value of the largest component */
  VEC_MAX_DIMS = 4096, /* more could overflow */
};

/* Number of 64-bit words for the sign bits of a vector. */
#define VEC_WORDS(dims) (((dims) + 63) / 64)

int32_t vec_dot(const int8_t *a, const int8_t *b, int dims);
/* -1 to 1; 0 if either vector is zero. */
double vec_cosine(const int8_t *a, const int8_t *b, int dims);

/* Rotates, scales the largest component to VEC_LARGEST and rounds half away from zero. A vector that is zero or has a
 * component that is not finite becomes zero.
 *
 * The rotation is the same for all vectors, so cosines do not change, but information is spread evenly over the
 * dimensions. Embedders concentrate it in a few, often with a constant in one of them; without the rotation the small
 * components would be lost in rounding and their signs would be noise. */
void vec_quantise(const float *v, int dims, int8_t *ret_vector);
/* Same for integer sums of any size, without floating point. */
void vec_quantise_sums(const int64_t *sums, int dims, int8_t *ret_vector);

/* Sets bit i % 64 of ret_bits[i / 64] if component i is above that of `centre` (NULL: zero). The centre is the mean of
 * many vectors; signs relative to it are more informative. ret_bits has VEC_WORDS(dims) words. */
void vec_bits(const int8_t *v, const int8_t *centre, int dims, uint64_t *ret_bits);

/* Sign bits of many vectors are stored in groups of eight rows: word 0 of each row, then word 1 of each, and so on. */
enum { VEC_GROUP = 8 };
/* Index of a row's word in such an array. */
#define VEC_AT(row, word, words)                                                                                       \
  (((size_t)(row) / VEC_GROUP * (size_t)(words) + (size_t)(word)) * VEC_GROUP + (size_t)(row) % VEC_GROUP)
/* Hamming distance of each row to the query. nrows is a multiple of VEC_GROUP. */
void vec_scan_bits(const uint64_t *groups, size_t nrows, int words, const uint64_t *query, uint16_t *ret_distance);
/* Same without AVX-512. */
void vec_scan_bits_plain(const uint64_t *groups, size_t nrows, int words, const uint64_t *query,
                         uint16_t *ret_distance);
/* Agreement of sign bits with a vector: the sum of its components (minus the centre's), negated where the bit is 0.
 * More accurate and slower than the Hamming distance. The table of VEC_TABLE(dims) entries is computed once per query.
 */
#define VEC_TABLE(dims) ((size_t)VEC_WORDS(dims) * 8 * 256)
void vec_agreement_table(const int8_t *query, const int8_t *centre, int dims, int16_t *ret_table);
/* Agreement of one row of the groups. */
int32_t vec_agreement(const int16_t *table, const uint64_t *groups, size_t row, int words);
/* Lists the rows with a distance of at most `limit`, in order, and returns their number. ret_rows has space for n. */
size_t vec_near_rows(const uint16_t *distance, size_t n, int limit, uint16_t *ret_rows);
