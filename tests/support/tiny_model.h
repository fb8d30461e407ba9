/* tiny_model.h: a BERT encoder of a few kilobytes, in the published format, for tests of the conversion. */
#pragma once

#include "embed/encoder/model_file.h"

enum {
  TINY_HIDDEN = 32,
  TINY_HEADS = 2,
  TINY_FFN = 48,
  TINY_LAYERS = 2,
  TINY_WORDS = 12,
  TINY_POSITIONS = 20,
  TINY_TYPES = 2,
};

/* Twelve entries. */
extern const char tiny_vocab[];
extern const char tiny_config[];

/* A safetensors file, tensor by tensor. */
struct tensor_file {
  struct arena *a;
  struct buf header, data;
};
void tensor_begin(struct tensor_file *f, struct arena *a);
/* `type` is "F32", "F16" or "BF16"; the values must be exact in it. A vector has columns == 0. */
void tensor_add(struct tensor_file *f, const char *name, const char *type, int rows, int columns, const float *values);
struct str tensor_end(struct tensor_file *f);
/* A file with any header. */
struct str tensor_raw(struct arena *a, struct str header, struct str data);

/* Differences from the default model; zero: none. */
struct tiny_spec {
  const char *prefix;  /* before each name */
  const char *type;    /* NULL: F32 */
  const char *without; /* leave this tensor out, named without the prefix */
  const char *wrong;   /* give this one an extra row */
  const char *extra;   /* add a vector of this name, including the prefix */
  bool old_norms;      /* name norm weights gamma and beta */
};
struct str tiny_weights(struct arena *a, const struct tiny_spec *spec);
/* The values of a tensor; they depend only on its name (without the prefix) and the index. */
const float *tiny_values(struct arena *a, const char *name, size_t n);
