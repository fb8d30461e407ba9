/* model_file.h: the stored form of an encoder's weights: one file that is used where it lies, without any work at the
 * start.
 *
 * A header of MODEL_HEADER_SIZE bytes, then the sections, each on a 64-byte boundary, in an order and with sizes that
 * follow from the header alone: there are no offsets to check, and a file has one valid length. All numbers are little
 * endian. Layout of the header: model_file.c.
 *
 *   vocabulary          opaque here; made and read by wordpiece.h
 *   word rows           int8[vocab][hidden], then float scale[vocab]
 *   position rows       float[positions][hidden]; the first token-type row has been added to each
 *   embedding norm      float weight[hidden], bias[hidden]
 *   each layer          query, key, value, attention output (matrices), attention norm, intermediate, output
 * (matrices), output norm projection          float[dims][hidden], where there is one
 *
 * A matrix of n outputs and k inputs: float scale[n], float bias[n], int32 sum[n] (of the weights of an output: what a
 * shift of the inputs adds to it), then int8 packed as [n / 16][k / 4][16][4], the order in which the kernels read. The
 * root of the head size is divided into the scale and bias of the query. */
#pragma once

#include "base/buf.h"
#include "embed/embed.h"

enum {
  MODEL_HEADER_SIZE = 1024,
  MODEL_ALIGN = 64,
  MODEL_NAME_MAX = 63,    /* bytes of a name */
  MODEL_PREFIX_MAX = 255, /* bytes of a prefix */
  MODEL_LANES = 16,       /* hidden, ffn and the size of a head are multiples of this */
};

enum model_pooling { MODEL_POOL_CLS, MODEL_POOL_MEAN };
enum model_activation { MODEL_GELU_ERF, MODEL_GELU_TANH, MODEL_RELU };

/* What a model is, apart from its weights. */
struct model_shape {
  int layers, hidden, heads, ffn, vocab, positions;
  int dims;       /* of the vectors that come out; equal to hidden where there is no projection */
  int max_tokens; /* longer texts are cut; at most `positions` */
  enum model_pooling pooling;
  enum model_activation activation;
  bool projection;
  float norm_eps;
};

/* A linear map in stored form; outputs and inputs are multiples of MODEL_LANES. */
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

/* An opened file: everything points into its bytes. */
struct model {
  struct model_shape shape;
  const char *name; /* what is stored beside vectors */
  struct str query_prefix, text_prefix;
  struct calibration calibration;
  struct str vocabulary;
  const int8_t *words;
  const float *word_scale;
  const float *position_rows;
  struct model_norm embedding_norm;
  const char *layers; /* model_layer() reads it */
  const float *projection;
  struct str bytes;
};

/* The bytes, which have to lie on a MODEL_ALIGN boundary and outlive the model, are checked in full: every length,
 * every value of the header, and the checksum of the rest (some 1 ms for 22 MB). STATUS_CORRUPT for anything that is
 * not a whole, undamaged model of a version that this program knows. */
NODISCARD enum status model_file_open(struct str bytes, struct model *ret_model, struct error *err);
/* The same without the checksum of the sections: for the model that is a part of the program itself, whose pages
 * would otherwise all have to be read before the first text. */
NODISCARD enum status model_file_open_trusted(struct str bytes, struct model *ret_model, struct error *err);

struct model_layer model_layer(const struct model *m, int index);

/* A model in float, under BERT's roles, row-major as in a checkpoint: weight[outputs][inputs]. A bias may be NULL:
 * zero.
 */
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
  struct calibration calibration; /* n == 0: 0 to 0, 1 to 1 */
  struct str vocabulary;
  const float *words;       /* [vocab][hidden] */
  const float *positions;   /* [positions][hidden] */
  const float *token_types; /* its first row [hidden]; NULL: none */
  struct model_norm embedding_norm;
  const struct model_source_layer *layers;
  const float *projection; /* [dims][hidden]; NULL when shape.projection is false */
};

/* Quantises and packs, and leaves the whole file in the empty buffer `out`. STATUS_USAGE for a shape that the format
 * has no room for (says which), a name that is empty or too long, a weight that is not finite. */
NODISCARD enum status model_file_write(const struct model_source *source, struct buf *out, struct error *err);
