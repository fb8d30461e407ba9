/* model_write.c: writes a model file: quantises and packs the float weights. */
#include <assert.h>
#include <math.h>

#include "embed/encoder/model_file.h"
#include "embed/encoder/model_layout.h"

/* Output position. */
struct writer {
  char *p;
};

static void put(struct writer *w, const void *bytes, size_t n) {
  memcpy(w->p, bytes, n);
  w->p += n;
}

static void put_u32(char *p, uint32_t v) { memcpy(p, &v, sizeof(v)); }

static void put_u64(char *p, uint64_t v) { memcpy(p, &v, sizeof(v)); }

static void align(struct writer *w, const char *start) {
  while ((size_t)(w->p - start) % MODEL_ALIGN)
    *w->p++ = 0;
}

static void put_floats(struct writer *w, const float *v, size_t n) {
  if (v)
    put(w, v, n * sizeof(*v));
  else {
    memset(w->p, 0, n * sizeof(*v));
    w->p += n * sizeof(*v);
  }
}

static int8_t rounded(float x, float scale) {
  float q = x / scale;
  q = q < 0 ? q - 0.5F : q + 0.5F;
  return (int8_t)(q > 127 ? 127 : q < -127 ? -127 : q);
}

/* Scale that maps the largest weight of a row to 127. -128 is never used; the kernels rely on that when they multiply
 * pairs of bytes. */
static float row_scale(const float *row, size_t n) {
  float largest = 0;
  for (size_t i = 0; i < n; i++)
    largest = fabsf(row[i]) > largest ? fabsf(row[i]) : largest;
  float scale = largest / 127.0F;
  return scale > 0 ? scale : 1.0F;
}

static void put_matrix(struct writer *w, struct arena *a, const struct model_source_linear *m, size_t outputs,
                       size_t inputs, float factor) {
  assert(outputs % MODEL_LANES == 0 && inputs % MODEL_LANES == 0);
  float *scale = arena_array(a, float, outputs), *bias = arena_array(a, float, outputs);
  int32_t *sum = arena_array(a, int32_t, outputs);
  int8_t *packed = (int8_t *)w->p + outputs * 12;
  for (size_t o = 0; o < outputs; o++) {
    const float *row = m->weight + o * inputs;
    float s = row_scale(row, inputs);
    for (size_t i = 0; i < inputs; i++) {
      int8_t q = rounded(row[i], s);
      packed[((o / 16 * (inputs / 4) + i / 4) * 16 + o % 16) * 4 + i % 4] = q;
      sum[o] += q;
    }
    scale[o] = s * factor;
    bias[o] = m->bias ? m->bias[o] * factor : 0;
  }
  put_floats(w, scale, outputs);
  put_floats(w, bias, outputs);
  put(w, sum, outputs * sizeof(*sum));
  w->p += outputs * inputs;
}

static void put_norm(struct writer *w, const struct model_norm *n, size_t hidden) {
  put_floats(w, n->weight, hidden);
  put_floats(w, n->bias, hidden);
}

static void put_layer(struct writer *w, struct arena *a, const struct model_shape *s,
                      const struct model_source_layer *l) {
  size_t hidden = (size_t)s->hidden, ffn = (size_t)s->ffn;
  int head = s->hidden / s->heads;
  put_matrix(w, a, &l->query, hidden, hidden, 1.0F / sqrtf((float)head));
  put_matrix(w, a, &l->key, hidden, hidden, 1.0F);
  put_matrix(w, a, &l->value, hidden, hidden, 1.0F);
  put_matrix(w, a, &l->attention_output, hidden, hidden, 1.0F);
  put_norm(w, &l->attention_norm, hidden);
  put_matrix(w, a, &l->intermediate, ffn, hidden, 1.0F);
  put_matrix(w, a, &l->output, hidden, ffn, 1.0F);
  put_norm(w, &l->output_norm, hidden);
}

static void put_embeddings(struct writer *w, const char *start, struct arena *a, const struct model_source *s) {
  size_t hidden = (size_t)s->shape.hidden, vocab = (size_t)s->shape.vocab;
  float *scale = arena_array(a, float, vocab);
  for (size_t r = 0; r < vocab; r++) {
    const float *row = s->words + r * hidden;
    scale[r] = row_scale(row, hidden);
    for (size_t i = 0; i < hidden; i++)
      *w->p++ = (char)rounded(row[i], scale[r]);
  }
  align(w, start);
  put_floats(w, scale, vocab);
  align(w, start);
  for (size_t r = 0; r < (size_t)s->shape.positions; r++)
    for (size_t i = 0; i < hidden; i++) {
      float v = s->positions[r * hidden + i] + (s->token_types ? s->token_types[i] : 0);
      put(w, &v, sizeof(v));
    }
  align(w, start);
  put_norm(w, &s->embedding_norm, hidden);
}

static void put_header(char *h, const struct model_source *s, const struct calibration *c) {
  const struct model_shape *m = &s->shape;
  memcpy(h, MODEL_MAGIC, 8);
  put_u32(h + HEADER_VERSION, MODEL_VERSION);
  put_u32(h + HEADER_SIZE, MODEL_HEADER_SIZE);
  const int numbers[] = {m->layers, m->hidden, m->heads, m->ffn, m->vocab, m->positions, m->dims, m->max_tokens};
  for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
    put_u32(h + HEADER_SHAPE + 4 * i, (uint32_t)numbers[i]);
  put_u32(h + HEADER_POOLING, (uint32_t)m->pooling);
  put_u32(h + HEADER_ACTIVATION, (uint32_t)m->activation);
  put_u32(h + HEADER_PROJECTION, m->projection);
  memcpy(h + HEADER_NORM_EPS, &m->norm_eps, 4);
  put_u64(h + HEADER_VOCABULARY, s->vocabulary.n);
  put_u32(h + HEADER_CALIBRATION, (uint32_t)c->n);
  memcpy(h + HEADER_CALIBRATION + 8, c->raw, sizeof(c->raw));
  memcpy(h + HEADER_CALIBRATION + 72, c->scaled, sizeof(c->scaled));
  memcpy(h + HEADER_NAME, s->name.p, s->name.n);
  if (s->query_prefix.n)
    memcpy(h + HEADER_QUERY_PREFIX, s->query_prefix.p, s->query_prefix.n);
  if (s->text_prefix.n)
    memcpy(h + HEADER_TEXT_PREFIX, s->text_prefix.p, s->text_prefix.n);
}

static bool all_finite(const float *v, size_t n) {
  for (size_t i = 0; v && i < n; i++)
    if (!isfinite(v[i]))
      return false;
  return true;
}

static bool linear_finite(const struct model_source_linear *m, size_t outputs, size_t inputs) {
  return all_finite(m->weight, outputs * inputs) && all_finite(m->bias, outputs);
}

static bool norm_finite(const struct model_norm *n, size_t hidden) {
  return all_finite(n->weight, hidden) && all_finite(n->bias, hidden);
}

static bool layer_finite(const struct model_source_layer *l, size_t hidden, size_t ffn) {
  return linear_finite(&l->query, hidden, hidden) && linear_finite(&l->key, hidden, hidden) &&
         linear_finite(&l->value, hidden, hidden) && linear_finite(&l->attention_output, hidden, hidden) &&
         linear_finite(&l->intermediate, ffn, hidden) && linear_finite(&l->output, hidden, ffn) &&
         norm_finite(&l->attention_norm, hidden) && norm_finite(&l->output_norm, hidden);
}

static bool source_finite(const struct model_source *s) {
  size_t hidden = (size_t)s->shape.hidden;
  bool finite = all_finite(s->words, (size_t)s->shape.vocab * hidden) &&
                all_finite(s->positions, (size_t)s->shape.positions * hidden) && all_finite(s->token_types, hidden) &&
                norm_finite(&s->embedding_norm, hidden) && all_finite(s->projection, (size_t)s->shape.dims * hidden);
  for (int i = 0; finite && i < s->shape.layers; i++)
    finite = layer_finite(&s->layers[i], hidden, (size_t)s->shape.ffn);
  return finite;
}

static bool text_fits(struct str s, size_t max) { return s.n <= max && !(s.n && memchr(s.p, 0, s.n)); }

static enum status check_source(const struct model_source *s, const struct calibration *c, struct error *err) {
  const char *problem = model_shape_problem(&s->shape);
  if (!problem)
    problem = model_calibration_problem(c);
  if (!problem && (str_empty(s->name) || !text_fits(s->name, MODEL_NAME_MAX)))
    problem = "the name";
  if (!problem && (!text_fits(s->query_prefix, MODEL_PREFIX_MAX) || !text_fits(s->text_prefix, MODEL_PREFIX_MAX)))
    problem = "a prefix";
  if (problem) {
    error_set(err, STATUS_USAGE, "this model cannot be stored: %s does not fit", problem);
    return error_fix(err, "The hidden size, the feed-forward size and the head size must be multiples of %d.",
                     MODEL_LANES);
  }
  if (!source_finite(s))
    return error_set(err, STATUS_USAGE, "this model cannot be stored: a weight is not a finite number");
  return STATUS_OK;
}

enum status model_file_write(const struct model_source *source, struct buf *out, struct error *err) {
  assert(out->n == 0);
  struct calibration c = source->calibration;
  if (c.n == 0)
    c = (struct calibration){.n = 2, .raw = {0.0, 1.0}, .scaled = {0.0, 1.0}};
  TRY(check_source(source, &c, err));
  struct model_layout l;
  model_layout(&source->shape, source->vocabulary.n, &l);
  struct arena *scratch = arena_child(out->a);
  char *start = arena_alloc(out->a, (size_t)l.total + 1);
  struct writer w = {start};
  memset(start, 0, MODEL_HEADER_SIZE);
  put_header(start, source, &c);
  put_u64(start + HEADER_TOTAL, l.total);
  w.p += MODEL_HEADER_SIZE;
  if (source->vocabulary.n)
    put(&w, source->vocabulary.p, source->vocabulary.n);
  align(&w, start);
  put_embeddings(&w, start, scratch, source);
  for (int i = 0; i < source->shape.layers; i++)
    put_layer(&w, scratch, &source->shape, &source->layers[i]);
  if (source->shape.projection)
    put_floats(&w, source->projection, (size_t)source->shape.dims * (size_t)source->shape.hidden);
  align(&w, start);
  assert((uint64_t)(w.p - start) == l.total);
  put_u64(start + HEADER_PAYLOAD_CHECKSUM, model_checksum(start + MODEL_HEADER_SIZE, l.total - MODEL_HEADER_SIZE));
  put_u64(start + HEADER_CHECKSUM, model_checksum(start, MODEL_HEADER_SIZE));
  start[l.total] = 0;
  *out = (struct buf){.a = out->a, .p = start, .n = (size_t)l.total, .cap = (size_t)l.total + 1};
  arena_release(scratch);
  return STATUS_OK;
}
