/* postgres.h: wire formats of vectors in PostgreSQL; for the *postgres.c files of this folder and their tests. */
#pragma once

#include "embed/vec.h"
#include "store/store_internal.h"

enum {
  HALFVEC_TEXT = VEC_MAX_DIMS * 5 + 2, /* longest text: "[-127,-127,...]" */
  HNSW_MAX_DIMS = 4000,                /* limit for halfvec; longer vectors are always compared exactly */
  DROPPED_AT_ONCE = 1024,
};

/* "[1,-2,3]", the input format of halfvec */
struct str halfvec_write(const int8_t *vector, int dims, char out[HALFVEC_TEXT]);
/* Decodes the output of halfvec_send(); false unless it is a vector of `dims` int8 values. */
bool halfvec_read(struct str binary, int dims, int8_t *ret_vector);
