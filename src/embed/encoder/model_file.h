/* model_file.h: file format of an encoder's weights, used in place without any work at start-up.
 *
 * A file is a header of MODEL_HEADER_SIZE bytes (layout: model_file.c) and sections, each aligned to 64 bytes. Order
 * and sizes of the sections follow from the header, so there are no offsets to check and only one valid length. All
 * numbers are little endian.
 *
 *   vocabulary          see wordpiece.h
 *   word rows           int8[vocab][hidden], then float scale[vocab]
 *   position rows       float[positions][hidden]; the first token-type row has been added to each
 *   embedding norm      float weight[hidden], bias[hidden]
 *   each layer          query, key, value, attention output (matrices), attention norm,
 *                       intermediate, output (matrices), output norm
 *   projection          float[dims][hidden]; optional
 *
 * A matrix of n outputs and k inputs is float scale[n], float bias[n], int32 sum[n] (sums of the weights of an output,
 * to correct for the zero point of the inputs), then int8 packed as [n / 16][k / 4][16][4], the order in which the
 * kernels read. Scale and bias of the query are divided by the square root of the head size. */
#pragma once

#include "base/buf.h"
#include "embed/embed.h"

enum {
  MODEL_HEADER_SIZE = 1024,
  MODEL_ALIGN = 64,
  MODEL_NAME_MAX = 63,    /* bytes */
  MODEL_PREFIX_MAX = 255, /* bytes */
  MODEL_LANES = 16,       /* hidden, ffn and the head size are multiples of this */
};

enum model_pooling { MODEL_POOL_CLS, MODEL_POOL_MEAN };
enum model_activation { MODEL_GELU_ERF, MODEL_GELU_TANH, MODEL_RELU };

/* All of a model except its weights and texts. */
struct model_shape {
  int layers, hidden, heads, ffn, vocab, positions;
  int dims;       /* of the resulting vectors; equal to hidden without a projection */
  int max_tokens; /* longer texts are truncated; at most `positions` */
  enum model_pooling pooling;
  enum model_activation activation;
  bool projection;
  float norm_eps;
};

/* Quantised linear layer; outputs and inputs are multiples of MODEL_LANES. */
struct model_matrix {
  int outputs, inputs;
  const float *scale, *bias;
  const int32_t *sum;
  const int8_t *packed;
};

struct model_norm {
  const float *weight, *bias;
};

struct model_layer {
  struct model_matrix query, key, value, attention_output;
  struct model_norm attention_norm;
  struct model_matrix intermediate, output;
  struct model_norm output_norm;
};

/* Open model file; all pointers point into its bytes. */
struct model {
  struct model_shape shape;
  const char *name; /* stored with each vector */
  struct str query_prefix, text_prefix;
  struct calibration calibration;
  struct str vocabulary;
  const int8_t *words;
  const float *word_scale;
  const float *position_rows;
  struct model_norm embedding_norm;
  const char *layers; /* see model_layer() */
  const float *projection;
  struct str bytes;
};

/* Opens and fully checks a model: all lengths, all header fields, and the checksum of the sections (about 1 ms for
 * 22 MB). The bytes must be aligned to MODEL_ALIGN and outlive the model. STATUS_CORRUPT if the file is truncated,
 * damaged, not a model, or of an unknown version. */
NODISCARD enum status model_file_open(struct str bytes, struct model *ret_model, struct error *err);
/* Same without the checksum of the sections, which would read all pages of the built-in model at every start. */
NODISCARD enum status model_file_open_trusted(struct str bytes, struct model *ret_model, struct error *err);

struct model_layer model_layer(const struct model *m, int index);

/* Float weights with BERT's names, row-major as in a checkpoint: weight[outputs][inputs]. A NULL bias is zero. */
struct model_source_linear {
  const float *weight, *bias;
};

struct model_source_layer {
  struct model_source_linear query, key, value; /* attention.self.* */
  struct model_source_linear attention_output;  /* attention.output.dense */
  struct model_norm attention_norm;             /* attention.output.LayerNorm */
  struct model_source_linear intermediate;      /* intermediate.dense: [ffn][hidden] */
  struct model_source_linear output;            /* output.dense: [hidden][ffn] */
  struct model_norm output_norm;                /* output.LayerNorm */
};

struct model_source {
  struct model_shape shape;
  struct str name, query_prefix, text_prefix;
  struct calibration calibration; /* n == 0: identity */
  struct str vocabulary;
  const float *words;       /* [vocab][hidden] */
  const float *positions;   /* [positions][hidden] */
  const float *token_types; /* [hidden], only the first row is used; may be NULL */
  struct model_norm embedding_norm;
  const struct model_source_layer *layers;
  const float *projection; /* [dims][hidden]; NULL if shape.projection is false */
};

/* Quantises and packs the weights and writes the file into the empty buffer `out`. STATUS_USAGE if the shape does not
 * fit the format (the message says which part), the name is empty or too long, or a weight is not finite. */
NODISCARD enum status model_file_write(const struct model_source *source, struct buf *out, struct error *err);
