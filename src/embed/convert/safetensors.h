/* safetensors.h: reads a safetensors file: named tensors, nothing that could run.
 *
 * The file is a length (8 bytes, little endian), a JSON object of so many bytes that names each tensor with its type,
 * shape and place, and the data, without gaps or overlaps. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum { SAFETENSORS_DIMS_MAX = 8 };

struct safetensor {
  struct str name;
  const char *type; /* "F32", static */
  int dims;
  uint64_t shape[SAFETENSORS_DIMS_MAX];
  uint64_t count;  /* elements: the product of the shape */
  struct str data; /* points into the file's bytes */
};

/* In the order of their names. */
struct safetensors {
  struct safetensor *v;
  size_t n;
};

/* STATUS_USAGE, with the reason and the tensor's name, for anything that is not a whole, consistent file. What comes
 * back points into the bytes. */
NODISCARD enum status safetensors_parse(struct arena *a, struct str bytes, struct safetensors *ret_tensors,
                                        struct error *err);

/* NULL when there is none of this name. */
const struct safetensor *safetensors_find(const struct safetensors *tensors, struct str name);

/* The elements in float: the file's own bytes where they are F32 and lie well, else a copy. STATUS_USAGE for a tensor
 * that is neither F32, F16 nor BF16. */
NODISCARD enum status safetensor_floats(struct arena *a, const struct safetensor *t, const float **ret_floats,
                                        struct error *err);

/* "[384, 1536]", for messages. */
struct str safetensor_shape(struct arena *a, const struct safetensor *t);
