/* model_file.c: opens a model file: header, lengths, checksums and sections.
 *
 * Header, little endian:
 *
 *     0  "CAIRNEMB"              40  layers, hidden, heads, ffn, vocab, positions, dims, max_tokens: u32 each
 *     8  version, u32            72  pooling, activation, projection: u32 each
 *    12  size of the header      84  norm_eps, f32
 *    16  size of the file, u64   88  bytes of the vocabulary, u64
 *    24  checksum of the rest    96  calibration: number of knots, u32, 4 bytes of zero, f64 raw[8], f64 scaled[8]
 *    32  checksum of the header 232  name[64], query prefix[256], text prefix[256], each ended by zero; zero to 1024
 */
#include "embed/encoder/model_file.h"

#include <assert.h>
#include <math.h>

#include "embed/encoder/model_layout.h"
#include "embed/vec.h"

static uint64_t step(uint64_t h, const char *p) {
  uint64_t word;
  memcpy(&word, p, sizeof(word));
  h ^= word;
  return (h << 29 | h >> 35) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Uses several lanes, so multiplications overlap. Each step is invertible, so any change of one word changes the
 * checksum. */
uint64_t model_checksum(const char *p, size_t n) {
  uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
  size_t at = 0;
  for (; at + 48 <= n; at += 48) {
    a = step(a, p + at);
    b = step(b, p + at + 8);
    c = step(c, p + at + 16);
    d = step(d, p + at + 24);
    e = step(e, p + at + 32);
    f = step(f, p + at + 40);
  }
  char rest[56] = {0}, last[56];
  assert(n - at < sizeof(rest));
  memcpy(rest, p + at, n - at);
  const uint64_t lanes[] = {a, b, c, d, e, f, n};
  memcpy(last, lanes, sizeof(last));
  uint64_t h = 0;
  for (size_t i = 0; i < sizeof(last); i += 8)
    h = step(step(h, last + i), rest + i);
  return h ^ h >> 32;
}

static uint32_t get_u32(const char *p) {
  uint32_t v;
  memcpy(&v, p, sizeof(v));
  return v;
}

static uint64_t get_u64(const char *p) {
  uint64_t v;
  memcpy(&v, p, sizeof(v));
  return v;
}

/* Reads a NUL-terminated text from a field of `size` bytes. */
static bool get_text(const char *p, size_t size, struct str *ret_text) {
  const char *end = memchr(p, 0, size);
  if (!end)
    return false;
  *ret_text = (struct str){p, (size_t)(end - p)};
  return true;
}

/* Sections are aligned, so they can be read in place. */
static const float *floats(const char *p) { return (const void *)p; }

static bool between(int64_t value, int64_t low, int64_t high) { return value >= low && value <= high; }

const char *model_shape_problem(const struct model_shape *s) {
  if (!between(s->layers, 1, MODEL_MAX_LAYERS))
    return "the number of layers";
  if (!between(s->hidden, MODEL_LANES, MODEL_MAX_HIDDEN) || s->hidden % MODEL_LANES)
    return "the hidden size";
  if (!between(s->heads, 1, s->hidden / MODEL_LANES) || s->hidden % s->heads || s->hidden / s->heads % MODEL_LANES)
    return "the number of heads";
  if (!between(s->ffn, MODEL_LANES, MODEL_MAX_FFN) || s->ffn % MODEL_LANES)
    return "the feed-forward size";
  if (!between(s->vocab, 1, MODEL_MAX_VOCAB))
    return "the size of the vocabulary";
  if (!between(s->positions, 2, MODEL_MAX_POSITIONS))
    return "the number of positions";
  if (!between(s->max_tokens, 2, s->positions))
    return "the maximum number of tokens";
  if (!between(s->dims, 1, VEC_MAX_DIMS) || (!s->projection && s->dims != s->hidden))
    return "the number of dimensions";
  if (!between((int64_t)s->pooling, MODEL_POOL_CLS, MODEL_POOL_MEAN))
    return "the kind of pooling";
  if (!between((int64_t)s->activation, MODEL_GELU_ERF, MODEL_RELU))
    return "the kind of activation";
  if (!(s->norm_eps > 0 && s->norm_eps < 1))
    return "the epsilon of the norms";
  return NULL;
}

const char *model_calibration_problem(const struct calibration *c) {
  if (!between(c->n, 2, (int64_t)ARRAY_LEN(c->raw)))
    return "the number of calibration knots";
  for (int i = 0; i < c->n; i++) {
    bool finite = isfinite(c->raw[i]) && isfinite(c->scaled[i]);
    if (!finite || (i && (!(c->raw[i] > c->raw[i - 1]) || !(c->scaled[i] > c->scaled[i - 1]))))
      return "the calibration knots, which do not rise";
  }
  return NULL;
}

static int get_int(const char *p) {
  uint32_t v = get_u32(p);
  return v > INT32_MAX ? -1 : (int)v;
}

static void read_shape(const char *h, struct model_shape *s) {
  int *const numbers[] = {&s->layers, &s->hidden,    &s->heads, &s->ffn,
                          &s->vocab,  &s->positions, &s->dims,  &s->max_tokens};
  for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
    *numbers[i] = get_int(h + HEADER_SHAPE + 4 * i);
  /* Clamp before the conversion to enum; one past the last value is rejected later. */
  uint32_t pooling = get_u32(h + HEADER_POOLING), activation = get_u32(h + HEADER_ACTIVATION);
  s->pooling = (enum model_pooling)(pooling > MODEL_POOL_MEAN ? MODEL_POOL_MEAN + 1 : pooling);
  s->activation = (enum model_activation)(activation > MODEL_RELU ? MODEL_RELU + 1 : activation);
  s->projection = get_u32(h + HEADER_PROJECTION) != 0;
  memcpy(&s->norm_eps, h + HEADER_NORM_EPS, 4);
}

/* Reads the header; returns the invalid field, or NULL. */
static const char *read_header(const char *h, struct model *m) {
  read_shape(h, &m->shape);
  const char *problem = model_shape_problem(&m->shape);
  if (problem)
    return problem;
  m->calibration.n = get_int(h + HEADER_CALIBRATION);
  memcpy(m->calibration.raw, h + HEADER_CALIBRATION + 8, sizeof(m->calibration.raw));
  memcpy(m->calibration.scaled, h + HEADER_CALIBRATION + 72, sizeof(m->calibration.scaled));
  problem = model_calibration_problem(&m->calibration);
  if (problem)
    return problem;
  struct str name;
  if (!get_text(h + HEADER_NAME, MODEL_NAME_MAX + 1, &name) || str_empty(name))
    return "the name";
  m->name = name.p;
  if (!get_text(h + HEADER_QUERY_PREFIX, MODEL_PREFIX_MAX + 1, &m->query_prefix) ||
      !get_text(h + HEADER_TEXT_PREFIX, MODEL_PREFIX_MAX + 1, &m->text_prefix))
    return "a prefix";
  return NULL;
}

/* Sizes cannot overflow: the limits of a shape keep every section below 2^36, and the vocabulary is not longer than the
 * file. */
static uint64_t padded(uint64_t size) { return (size + MODEL_ALIGN - 1) & ~(uint64_t)(MODEL_ALIGN - 1); }

static uint64_t matrix_size(uint64_t outputs, uint64_t inputs) { return outputs * 12 + outputs * inputs; }

static uint64_t norm_size(uint64_t hidden) { return hidden * 8; }

static uint64_t layer_size(const struct model_shape *s) {
  uint64_t hidden = (uint64_t)s->hidden, ffn = (uint64_t)s->ffn;
  return 4 * matrix_size(hidden, hidden) + matrix_size(ffn, hidden) + matrix_size(hidden, ffn) + 2 * norm_size(hidden);
}

void model_layout(const struct model_shape *s, uint64_t vocabulary_size, struct model_layout *ret_layout) {
  assert(!model_shape_problem(s));
  uint64_t hidden = (uint64_t)s->hidden, vocab = (uint64_t)s->vocab;
  struct model_layout l = {.vocabulary = MODEL_HEADER_SIZE};
  l.words = l.vocabulary + padded(vocabulary_size);
  l.word_scale = l.words + padded(vocab * hidden);
  l.position_rows = l.word_scale + padded(vocab * 4);
  l.embedding_norm = l.position_rows + padded((uint64_t)s->positions * hidden * 4);
  l.layers = l.embedding_norm + norm_size(hidden);
  l.layer_size = layer_size(s);
  l.projection = l.layers + (uint64_t)s->layers * l.layer_size;
  l.total = l.projection + (s->projection ? padded((uint64_t)s->dims * hidden * 4) : 0);
  assert(l.layers % MODEL_ALIGN == 0 && l.layer_size % MODEL_ALIGN == 0 && l.total % MODEL_ALIGN == 0);
  *ret_layout = l;
}

static enum status damaged(struct error *err, const char *what) {
  error_set(err, STATUS_CORRUPT, "the model file is damaged: %s", what);
  return error_fix(err, "Convert the model again.");
}

static enum status check_start(struct str bytes, struct error *err) {
  if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
    return error_set(err, STATUS_INTERNAL, "models can only be used on little-endian machines");
  if ((uintptr_t)bytes.p % MODEL_ALIGN)
    return error_set(err, STATUS_INTERNAL, "the model is not aligned to %d bytes", MODEL_ALIGN);
  if (bytes.n < MODEL_HEADER_SIZE || memcmp(bytes.p, MODEL_MAGIC, 8) != 0)
    return error_set(err, STATUS_CORRUPT, "this is not a Cairn model file");
  uint32_t version = get_u32(bytes.p + HEADER_VERSION);
  if (version != MODEL_VERSION) {
    error_set(err, STATUS_CORRUPT, "the model file has version %u, but this program supports version %d", version,
              MODEL_VERSION);
    return error_fix(err, "Convert the model again with this version of cairn.");
  }
  char header[MODEL_HEADER_SIZE];
  memcpy(header, bytes.p, sizeof(header));
  memset(header + HEADER_CHECKSUM, 0, 8);
  if (get_u32(header + HEADER_SIZE) != MODEL_HEADER_SIZE ||
      get_u64(bytes.p + HEADER_CHECKSUM) != model_checksum(header, sizeof(header)))
    return damaged(err, "its header does not match its checksum");
  return STATUS_OK;
}

enum status model_file_open_trusted(struct str bytes, struct model *ret_model, struct error *err) {
  TRY(check_start(bytes, err));
  struct model m = {.bytes = bytes};
  const char *problem = read_header(bytes.p, &m);
  if (problem) {
    error_set(err, STATUS_CORRUPT, "the model file's header is not valid: %s", problem);
    return error_fix(err, "Convert the model again.");
  }
  uint64_t vocabulary_size = get_u64(bytes.p + HEADER_VOCABULARY);
  if (vocabulary_size > bytes.n)
    return damaged(err, "it is truncated");
  struct model_layout l;
  model_layout(&m.shape, vocabulary_size, &l);
  if (get_u64(bytes.p + HEADER_TOTAL) != l.total)
    return damaged(err, "its length does not match its header");
  if (bytes.n != l.total)
    return damaged(err, bytes.n < l.total ? "it is truncated" : "there are bytes after its end");
  m.vocabulary = (struct str){bytes.p + l.vocabulary, (size_t)vocabulary_size};
  m.words = (const int8_t *)(bytes.p + l.words);
  m.word_scale = floats(bytes.p + l.word_scale);
  m.position_rows = floats(bytes.p + l.position_rows);
  m.embedding_norm.weight = floats(bytes.p + l.embedding_norm);
  m.embedding_norm.bias = m.embedding_norm.weight + m.shape.hidden;
  m.layers = bytes.p + l.layers;
  m.projection = m.shape.projection ? floats(bytes.p + l.projection) : NULL;
  *ret_model = m;
  return STATUS_OK;
}

enum status model_file_open(struct str bytes, struct model *ret_model, struct error *err) {
  struct model m;
  TRY(model_file_open_trusted(bytes, &m, err));
  uint64_t sum = model_checksum(bytes.p + MODEL_HEADER_SIZE, bytes.n - MODEL_HEADER_SIZE);
  if (sum != get_u64(bytes.p + HEADER_PAYLOAD_CHECKSUM))
    return damaged(err, "its weights do not match their checksum");
  *ret_model = m;
  return STATUS_OK;
}

static struct model_matrix take_matrix(const char **p, int outputs, int inputs) {
  struct model_matrix m = {.outputs = outputs, .inputs = inputs, .scale = floats(*p)};
  m.bias = m.scale + outputs;
  m.sum = (const void *)(*p + 8 * (size_t)outputs);
  m.packed = (const int8_t *)(*p + 12 * (size_t)outputs);
  *p += matrix_size((uint64_t)outputs, (uint64_t)inputs);
  return m;
}

static struct model_norm take_norm(const char **p, int hidden) {
  struct model_norm n = {.weight = floats(*p), .bias = floats(*p) + hidden};
  *p += norm_size((uint64_t)hidden);
  return n;
}

struct model_layer model_layer(const struct model *m, int index) {
  int hidden = m->shape.hidden, ffn = m->shape.ffn;
  assert(index >= 0 && index < m->shape.layers);
  const char *p = m->layers + (size_t)index * layer_size(&m->shape);
  struct model_layer l;
  l.query = take_matrix(&p, hidden, hidden);
  l.key = take_matrix(&p, hidden, hidden);
  l.value = take_matrix(&p, hidden, hidden);
  l.attention_output = take_matrix(&p, hidden, hidden);
  l.attention_norm = take_norm(&p, hidden);
  l.intermediate = take_matrix(&p, ffn, hidden);
  l.output = take_matrix(&p, hidden, ffn);
  l.output_norm = take_norm(&p, hidden);
  assert(p == m->layers + ((size_t)index + 1) * layer_size(&m->shape));
  return l;
}
