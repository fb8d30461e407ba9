/* made_model.c: random small encoders, and a reference implementation in double precision. */
#include "made_model.h"

#include <math.h>

#include "support/harness.h"

const struct model_shape made_shape = {.layers = 2,
                                       .hidden = 32,
                                       .heads = 2,
                                       .ffn = 64,
                                       .vocab = 20,
                                       .positions = 24,
                                       .dims = 32,
                                       .max_tokens = 24,
                                       .pooling = MODEL_POOL_CLS,
                                       .activation = MODEL_GELU_ERF,
                                       .norm_eps = 1e-12F};

float made_random(uint32_t *state) {
  *state = *state * 1664525U + 1013904223U;
  return (float)(int32_t)*state / 2147483648.0F;
}

static const float *random_rows(struct arena *a, size_t rows, size_t n, float unit, uint32_t *seed) {
  float *v = arena_array(a, float, rows *n);
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < n; i++)
      v[r * n + i] = unit * (i == r % n ? 127.0F : roundf(126.0F * made_random(seed)));
  return v;
}

static const float *random_floats(struct arena *a, size_t n, float middle, float spread, uint32_t *seed) {
  float *v = arena_array(a, float, n);
  for (size_t i = 0; i < n; i++)
    v[i] = middle + spread * made_random(seed);
  return v;
}

static struct model_source_linear random_linear(struct arena *a, int outputs, int inputs, uint32_t *seed) {
  return (struct model_source_linear){random_rows(a, (size_t)outputs, (size_t)inputs, 0x1p-9F, seed),
                                      random_floats(a, (size_t)outputs, 0, 0.3F, seed)};
}

static struct model_norm random_norm(struct arena *a, int hidden, uint32_t *seed) {
  return (struct model_norm){random_floats(a, (size_t)hidden, 1, 0.5F, seed),
                             random_floats(a, (size_t)hidden, 0, 0.3F, seed)};
}

struct model_source made_source(struct arena *a, const struct model_shape *shape, uint32_t seed) {
  int hidden = shape->hidden, ffn = shape->ffn;
  struct model_source_layer *layers = arena_array(a, struct model_source_layer, (size_t)shape->layers);
  for (int i = 0; i < shape->layers; i++)
    layers[i] = (struct model_source_layer){
        .query = random_linear(a, hidden, hidden, &seed),
        .key = random_linear(a, hidden, hidden, &seed),
        .value = random_linear(a, hidden, hidden, &seed),
        .attention_output = random_linear(a, hidden, hidden, &seed),
        .attention_norm = random_norm(a, hidden, &seed),
        .intermediate = random_linear(a, ffn, hidden, &seed),
        .output = random_linear(a, hidden, ffn, &seed),
        .output_norm = random_norm(a, hidden, &seed),
    };
  return (struct model_source){
      .shape = *shape,
      .name = STR("tiny-v1"),
      .words = random_rows(a, (size_t)shape->vocab, (size_t)hidden, 0x1p-10F, &seed),
      .positions = random_floats(a, (size_t)(shape->positions * hidden), 0, 0.1F, &seed),
      .token_types = random_floats(a, (size_t)hidden, 0, 0.1F, &seed),
      .embedding_norm = random_norm(a, hidden, &seed),
      .layers = layers,
      .projection = shape->projection ? random_floats(a, (size_t)(shape->dims * hidden), 0, 0.2F, &seed) : NULL,
  };
}

struct str made_file(struct arena *a, const struct model_source *source) {
  struct error err = {0};
  struct buf b = BUF(a);
  CHECK_OK(model_file_write(source, &b, &err), &err);
  char *p = arena_alloc(a, b.n + MODEL_ALIGN);
  p += MODEL_ALIGN - (uintptr_t)p % MODEL_ALIGN;
  memcpy(p, b.p, b.n);
  return (struct str){p, b.n};
}

static void linear(const struct model_source_linear *m, const double *x, int outputs, int inputs, double *ret) {
  for (int o = 0; o < outputs; o++) {
    ret[o] = (double)m->bias[o];
    for (int i = 0; i < inputs; i++)
      ret[o] += (double)m->weight[o * inputs + i] * x[i];
  }
}

static void norm(double *x, int n, const struct model_norm *norm, double eps) {
  double mean = 0, variance = 0;
  for (int i = 0; i < n; i++)
    mean += x[i] / n;
  for (int i = 0; i < n; i++)
    variance += (x[i] - mean) * (x[i] - mean) / n;
  for (int i = 0; i < n; i++)
    x[i] = (x[i] - mean) / sqrt(variance + eps) * (double)norm->weight[i] + (double)norm->bias[i];
}

static double activate(double x, enum model_activation activation) {
  if (activation == MODEL_GELU_ERF)
    return x * 0.5 * (1 + erf(x / sqrt(2)));
  if (activation == MODEL_GELU_TANH)
    return x * 0.5 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return x > 0 ? x : 0;
}

/* Attention of row t to all rows, head by head. */
static void attend(const struct model_shape *s, const double *q, const double *k, const double *v, int t, int tokens,
                   double *ret) {
  int size = s->hidden / s->heads;
  double weight[64];
  for (int from = 0; from < s->hidden; from += size) {
    double sum = 0;
    for (int j = 0; j < tokens; j++) {
      double score = 0;
      for (int d = from; d < from + size; d++)
        score += q[t * s->hidden + d] * k[j * s->hidden + d];
      sum += weight[j] = exp(score / sqrt(size));
    }
    for (int d = from; d < from + size; d++) {
      ret[d] = 0;
      for (int j = 0; j < tokens; j++)
        ret[d] += weight[j] / sum * v[j * s->hidden + d];
    }
  }
}

static void layer(struct arena *a, const struct model_shape *s, const struct model_source_layer *l, double *x,
                  int tokens) {
  int hidden = s->hidden;
  size_t size = (size_t)(tokens * hidden);
  double *q = arena_array(a, double, size), *k = arena_array(a, double, size), *v = arena_array(a, double, size);
  double *context = arena_array(a, double, (size_t)hidden), *out = arena_array(a, double, (size_t)hidden);
  double *inner = arena_array(a, double, (size_t)s->ffn);
  for (int t = 0; t < tokens; t++) {
    linear(&l->query, x + t * hidden, hidden, hidden, q + t * hidden);
    linear(&l->key, x + t * hidden, hidden, hidden, k + t * hidden);
    linear(&l->value, x + t * hidden, hidden, hidden, v + t * hidden);
  }
  for (int t = 0; t < tokens; t++) {
    double *row = x + t * hidden;
    attend(s, q, k, v, t, tokens, context);
    linear(&l->attention_output, context, hidden, hidden, out);
    for (int i = 0; i < hidden; i++)
      row[i] += out[i];
    norm(row, hidden, &l->attention_norm, (double)s->norm_eps);
    linear(&l->intermediate, row, s->ffn, hidden, inner);
    for (int i = 0; i < s->ffn; i++)
      inner[i] = activate(inner[i], s->activation);
    linear(&l->output, inner, hidden, s->ffn, out);
    for (int i = 0; i < hidden; i++)
      row[i] += out[i];
    norm(row, hidden, &l->output_norm, (double)s->norm_eps);
  }
}

void made_reference(struct arena *a, const struct model_source *source, const int32_t *ids, size_t n,
                    double *ret_vector) {
  const struct model_shape *s = &source->shape;
  int tokens = (int)n, hidden = s->hidden;
  CHECK(tokens <= 64);
  double *x = arena_array(a, double, n *(size_t)hidden);
  for (int t = 0; t < tokens; t++) {
    for (int i = 0; i < hidden; i++)
      x[t * hidden + i] = (double)source->words[ids[t] * hidden + i] + (double)source->positions[t * hidden + i] +
                          (double)source->token_types[i];
    norm(x + t * hidden, hidden, &source->embedding_norm, (double)s->norm_eps);
  }
  for (int i = 0; i < s->layers; i++)
    layer(a, s, &source->layers[i], x, tokens);
  if (s->pooling == MODEL_POOL_MEAN)
    for (int i = 0; i < hidden; i++) {
      for (int t = 1; t < tokens; t++)
        x[i] += x[t * hidden + i];
      x[i] /= tokens;
    }
  for (int d = 0; d < s->dims; d++) {
    ret_vector[d] = s->projection ? 0 : x[d];
    for (int i = 0; s->projection && i < hidden; i++)
      ret_vector[d] += (double)source->projection[d * hidden + i] * x[i];
  }
}

double made_cosine(const float *a, const double *b, size_t n) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < n; i++) {
    ab += (double)a[i] * b[i];
    aa += (double)a[i] * (double)a[i];
    bb += b[i] * b[i];
  }
  return ab / sqrt(aa * bb);
}
