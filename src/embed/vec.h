/* vec.h: arithmetic on embedding vectors, in integers, so that every machine ranks alike.
 *
 * A vector is int8[dims] whose largest component is 127 or -127, or all zero for a text without features; lengths
 * differ, cosines take them into account. Beside it live its sign bits, one a dimension, for the fast first scan. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What the largest component is scaled to, and the most dimensions that the arithmetic here has room for. */
enum { VEC_LARGEST = 127, VEC_MAX_DIMS = 4096 };

/* Words of 64 sign bits that a vector needs. */
#define VEC_WORDS(dims) (((dims) + 63) / 64)

int32_t vec_dot(const int8_t *a, const int8_t *b, int dims);
/* -1 to 1; 0 when either vector is zero. */
double vec_cosine(const int8_t *a, const int8_t *b, int dims);

/* Rotates, scales the largest component to VEC_LARGEST and rounds half away from zero. Not finite, or all zero: zero.
 *
 * The rotation is the same for all vectors, so that it leaves every cosine as it is; but it gives each dimension its
 * share of what an embedder knows. Embedders put much into few dimensions (a constant in one of them is usual): there
 * the small ones would be lost in rounding, and their signs would be noise. */
void vec_quantise(const float *v, int dims, int8_t *ret_vector);
/* The same for integer sums of any size; no floating point at all. */
void vec_quantise_sums(const int64_t *sums, int dims, int8_t *ret_vector);

/* ret_bits[VEC_WORDS(dims)]: bit i % 64 of word i / 64 is set where component i is above that of `centre` (NULL: above
 * zero). The centre is what many vectors have in common: taken off, signs tell more. */
void vec_bits(const int8_t *v, const int8_t *centre, int dims, uint64_t *ret_bits);
int vec_hamming(const uint64_t *a, const uint64_t *b, int words);

/* Bits of many vectors lie in groups of eight rows: word 0 of each of the eight, then word 1 of each, and so on. */
enum { VEC_GROUP = 8 };
/* The place of a row's word in such an array. */
#define VEC_AT(row, word, words)                                                                                       \
  (((size_t)(row) / VEC_GROUP * (size_t)(words) + (size_t)(word)) * VEC_GROUP + (size_t)(row) % VEC_GROUP)
/* Hamming distance of each of the rows to the query. nrows is a multiple of VEC_GROUP. */
void vec_scan_bits(const uint64_t *groups, size_t nrows, int words, const uint64_t *query, uint16_t *ret_distance);
/* The same without the processor's special instructions. */
void vec_scan_bits_plain(const uint64_t *groups, size_t nrows, int words, const uint64_t *query,
                         uint16_t *ret_distance);
/* How well bits agree with a vector: the sum of all its components (less the centre's), each with the sign that the bit
 * says. Better than counting, and dearer: the table[VEC_TABLE(dims)] is made once for a query. */
#define VEC_TABLE(dims) ((size_t)VEC_WORDS(dims) * 8 * 256)
void vec_agreement_table(const int8_t *query, const int8_t *centre, int dims, int16_t *ret_table);
/* Of one row of the groups. */
int32_t vec_agreement(const int16_t *table, const uint64_t *groups, size_t row, int words);
/* The numbers of the rows that are at most `limit` away, in their order; returns how many. ret_rows has room for n. */
size_t vec_pick_near(const uint16_t *distance, size_t n, int limit, uint16_t *ret_rows);
