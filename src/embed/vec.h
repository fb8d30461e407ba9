/* vec.h: arithmetic on embedding vectors, in integers, so that every machine ranks alike.
 *
 * A vector is int8[dims] whose L2 norm is about 127, or all zero for a text without features. Beside it lives one
 * bit a dimension, its sign, for the fast first scan. */
#ifndef CAIRN_EMBED_VEC_H
#define CAIRN_EMBED_VEC_H

#include <stddef.h>
#include <stdint.h>

/* The norm that quantised vectors are scaled to, and the most dimensions that the arithmetic here has room for. */
enum { VEC_NORM = 127, VEC_MAX_DIMS = 4096 };

/* Words of 64 sign bits that a vector needs. */
#define VEC_WORDS(dims) (((dims) + 63) / 64)

int32_t vec_dot(const int8_t *a, const int8_t *b, int dims);
/* -1 to 1; 0 when either vector is zero. */
double vec_cosine(const int8_t *a, const int8_t *b, int dims);

/* Scales to VEC_NORM and rounds half away from zero. Not finite, or without length: all zero. */
void vec_quantise(const float *v, int dims, int8_t *ret_vector);
/* The same for integer sums of any size; no floating point at all. */
void vec_quantise_sums(const int64_t *sums, int dims, int8_t *ret_vector);

/* ret_bits[VEC_WORDS(dims)]: bit i % 64 of word i / 64 is set where component i is above zero. */
void vec_bits(const int8_t *v, int dims, uint64_t *ret_bits);
int vec_hamming(const uint64_t *a, const uint64_t *b, int words);
/* Hamming distance of each of nrows rows, stored one behind the other, to the query. */
void vec_scan_bits(const uint64_t *rows, size_t nrows, int words, const uint64_t *query, uint16_t *ret_distance);

#endif
