/* postgres.h: the forms in which vectors travel to PostgreSQL and back; for the *postgres.c files of
 * this folder, and their tests. */
#pragma once

#include "embed/vec.h"
#include "store/store_internal.h"

enum {
  HALFVEC_TEXT = VEC_MAX_DIMS * 5 + 2, /* bytes of the longest: "[-127,-127,...]" */
  HNSW_MAX_DIMS = 4000,                /* of halfvec; longer vectors are always compared one by one */
  DROPPED_AT_ONCE = 1024,
};

/* "[1,-2,3]", as halfvec's input takes it */
struct str halfvec_write(const int8_t *vector, int dims, char out[HALFVEC_TEXT]);
/* From what halfvec_send() gives; false when it is not a vector of so many int8. */
bool halfvec_read(struct str binary, int dims, int8_t *ret_vector);
