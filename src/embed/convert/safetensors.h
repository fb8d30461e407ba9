/* safetensors.h: parser for safetensors files.
 *
 * A file consists of the length of the header (8 bytes, little endian), the header (a JSON object with the type, shape
 * and offsets of each named tensor), and the data, without gaps or overlaps. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum { SAFETENSORS_DIMS_MAX = 8 };

struct safetensor {
  struct str name;
  const char *type; /* "F32", static */
  int dims;
  uint64_t shape[SAFETENSORS_DIMS_MAX];
  uint64_t count;  /* number of elements */
  struct str data; /* slice of the file */
};

/* Sorted by name. */
struct safetensors {
  struct safetensor *v;
  size_t n;
};

/* The result points into `bytes`. STATUS_USAGE, with the reason and the tensor's name, if the file is truncated or
 * inconsistent. */
NODISCARD enum status safetensors_parse(struct arena *a, struct str bytes, struct safetensors *ret_tensors,
                                        struct error *err);

/* NULL if there is no such tensor. */
const struct safetensor *safetensors_find(const struct safetensors *tensors, struct str name);

/* Elements as float: the file's own bytes if they are F32 and aligned, else a copy. STATUS_USAGE unless the type is
 * F32, F16 or BF16. */
NODISCARD enum status safetensor_floats(struct arena *a, const struct safetensor *t, const float **ret_floats,
                                        struct error *err);

/* "[384, 1536]", for messages. */
struct str safetensor_shape(struct arena *a, const struct safetensor *t);
