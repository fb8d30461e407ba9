/* convert.c: finds the tensors of a BERT encoder by name, checks their shapes and writes the model file. */
#include "embed/convert/convert.h"

#include <assert.h>
#include <math.h>

#include "base/json.h"
#include "embed/builtin.h"
#include "embed/convert/config.h"
#include "embed/convert/safetensors.h"
#include "embed/encoder/wordpiece.h"
#include "embed/fit.h"

enum { LENGTH_MAX = 1 << 24 }; /* larger than any dimension that the format allows */

/* Open checkpoint. */
struct reader {
  struct arena *a;
  struct safetensors tensors;
  struct str prefix; /* of all tensor names: "", "bert.", ... */
  bool *used;        /* one per tensor */
  struct error *err;
};

/* ---- tensors ---- */

static const struct safetensor *find(struct reader *r, struct str name) {
  const struct safetensor *t =
      safetensors_find(&r->tensors, arena_printf(r->a, "%.*s%.*s", STR_ARG(r->prefix), STR_ARG(name)));
  if (t)
    r->used[t - r->tensors.v] = true;
  return t;
}

static enum status wrong_shape(struct reader *r, const struct safetensor *t, const char *want) {
  return convert_refuse(r->err, "tensor '%.*s' has the shape %s, expected %s", STR_ARG(t->name),
                        safetensor_shape(r->a, t).p, want);
}

/* Elements that are not finite would make every vector useless. */
static enum status finite_floats(struct reader *r, const struct safetensor *t, const float **ret_floats) {
  const float *v;
  TRY(safetensor_floats(r->a, t, &v, r->err));
  for (uint64_t i = 0; i < t->count; i++)
    if (!isfinite(v[i]))
      return convert_refuse(r->err, "tensor '%.*s' has a value that is not a finite number", STR_ARG(t->name));
  *ret_floats = v;
  return STATUS_OK;
}

static enum status missing(struct reader *r, struct str name) {
  return convert_refuse(r->err, "it has no tensor '%.*s%.*s'", STR_ARG(r->prefix), STR_ARG(name));
}

/* [rows][columns] */
static enum status fetch_matrix(struct reader *r, struct str name, int rows, int columns, const float **ret_floats) {
  const struct safetensor *t = find(r, name);
  if (!t)
    return missing(r, name);
  if (t->dims != 2 || t->shape[0] != (uint64_t)rows || t->shape[1] != (uint64_t)columns)
    return wrong_shape(r, t, arena_printf(r->a, "[%d, %d]", rows, columns).p);
  return finite_floats(r, t, ret_floats);
}

static enum status fetch_vector(struct reader *r, struct str name, int n, const float **ret_floats) {
  const struct safetensor *t = find(r, name);
  if (!t)
    return missing(r, name);
  if (t->dims != 1 || t->shape[0] != (uint64_t)n)
    return wrong_shape(r, t, arena_printf(r->a, "[%d]", n).p);
  return finite_floats(r, t, ret_floats);
}

/* [any number][columns] */
static enum status fetch_table(struct reader *r, struct str name, int columns, int *ret_rows,
                               const float **ret_floats) {
  const struct safetensor *t = find(r, name);
  if (!t)
    return missing(r, name);
  if (t->dims != 2 || t->shape[0] == 0 || t->shape[0] > LENGTH_MAX || t->shape[1] != (uint64_t)columns)
    return wrong_shape(r, t, arena_printf(r->a, "[n, %d]", columns).p);
  *ret_rows = (int)t->shape[0];
  return finite_floats(r, t, ret_floats);
}

static enum status fetch_linear(struct reader *r, struct str name, int outputs, int inputs,
                                struct model_source_linear *ret_linear) {
  TRY(fetch_matrix(r, arena_printf(r->a, "%.*s.weight", STR_ARG(name)), outputs, inputs, &ret_linear->weight));
  return fetch_vector(r, arena_printf(r->a, "%.*s.bias", STR_ARG(name)), outputs, &ret_linear->bias);
}

/* Old checkpoints call weight and bias gamma and beta. */
static enum status fetch_norm(struct reader *r, struct str name, int hidden, struct model_norm *ret_norm) {
  bool old = find(r, arena_printf(r->a, "%.*s.gamma", STR_ARG(name))) != NULL;
  TRY(fetch_vector(r, arena_printf(r->a, "%.*s.%s", STR_ARG(name), old ? "gamma" : "weight"), hidden,
                   &ret_norm->weight));
  return fetch_vector(r, arena_printf(r->a, "%.*s.%s", STR_ARG(name), old ? "beta" : "bias"), hidden, &ret_norm->bias);
}

/* ---- encoder ---- */

static const struct str word_table = STR_INIT("embeddings.word_embeddings.weight");

/* Only these prefixes: other model families use the same tensor names with another meaning. */
static enum status find_prefix(struct reader *r) {
  static const char *const known[] = {"", "bert.", "model.", "model.bert.", "auto_model.", "0.auto_model."};
  for (size_t i = 0; i < ARRAY_LEN(known); i++) {
    r->prefix = str_from(known[i]);
    if (find(r, word_table))
      return STATUS_OK;
  }
  r->prefix = STR("");
  for (size_t i = 0; i < r->tensors.n; i++)
    if (str_ends(r->tensors.v[i].name, word_table))
      return convert_refuse(r->err, "its word table is '%.*s', which belongs to another model family",
                            STR_ARG(r->tensors.v[i].name));
  return missing(r, word_table);
}

static enum status fetch_embeddings(struct reader *r, struct model_source *m) {
  const struct safetensor *words = find(r, word_table);
  if (!words || words->dims != 2 || words->shape[1] == 0 || words->shape[1] > LENGTH_MAX)
    return words ? wrong_shape(r, words, "[words, hidden]") : missing(r, word_table);
  struct model_shape *shape = &m->shape;
  int types;
  shape->hidden = (int)words->shape[1];
  TRY(fetch_table(r, word_table, shape->hidden, &shape->vocab, &m->words));
  TRY(fetch_table(r, STR("embeddings.position_embeddings.weight"), shape->hidden, &shape->positions, &m->positions));
  TRY(fetch_table(r, STR("embeddings.token_type_embeddings.weight"), shape->hidden, &types, &m->token_types));
  if (shape->positions > CONVERT_POSITIONS_MAX)
    shape->positions = CONVERT_POSITIONS_MAX;
  return fetch_norm(r, STR("embeddings.LayerNorm"), shape->hidden, &m->embedding_norm);
}

static enum status fetch_layer(struct reader *r, int index, const struct model_shape *shape,
                               struct model_source_layer *l) {
  int hidden = shape->hidden, ffn = shape->ffn;
  const struct {
    const char *name;
    int outputs, inputs;
    struct model_source_linear *linear;
  } parts[] = {{"attention.self.query", hidden, hidden, &l->query},
               {"attention.self.key", hidden, hidden, &l->key},
               {"attention.self.value", hidden, hidden, &l->value},
               {"attention.output.dense", hidden, hidden, &l->attention_output},
               {"intermediate.dense", ffn, hidden, &l->intermediate},
               {"output.dense", hidden, ffn, &l->output}};
  struct str base = arena_printf(r->a, "encoder.layer.%d", index);
  for (size_t i = 0; i < ARRAY_LEN(parts); i++)
    TRY(fetch_linear(r, arena_printf(r->a, "%s.%s", base.p, parts[i].name), parts[i].outputs, parts[i].inputs,
                     parts[i].linear));
  TRY(fetch_norm(r, arena_printf(r->a, "%s.attention.output.LayerNorm", base.p), hidden, &l->attention_norm));
  return fetch_norm(r, arena_printf(r->a, "%s.output.LayerNorm", base.p), hidden, &l->output_norm);
}

/* `expected` is the number in config.json, or 0. */
static enum status fetch_layers(struct reader *r, int expected, struct model_source *m) {
  assert(m->shape.hidden > 0);
  int n = 0;
  while (find(r, arena_printf(r->a, "encoder.layer.%d.attention.self.query.weight", n)))
    n++;
  if (n == 0)
    return missing(r, STR("encoder.layer.0.attention.self.query.weight"));
  if (expected && expected != n)
    return convert_refuse(r->err, "config.json says %d layers, but the weights have %d", expected, n);
  struct str first = STR("encoder.layer.0.intermediate.dense.weight");
  const struct safetensor *wide = find(r, first);
  if (!wide || wide->dims != 2 || wide->shape[0] == 0 || wide->shape[0] > LENGTH_MAX)
    return wide ? wrong_shape(r, wide, "[feed-forward, hidden]") : missing(r, first);
  m->shape.layers = n;
  m->shape.ffn = (int)wide->shape[0];
  struct model_source_layer *layers = arena_array(r->a, struct model_source_layer, (size_t)n);
  for (int i = 0; i < n; i++)
    TRY(fetch_layer(r, i, &m->shape, &layers[i]));
  m->layers = layers;
  return STATUS_OK;
}

/* An unused tensor of the encoder means that the vectors would be wrong. Tensors after the encoder (a pooler, training
 * heads) are not needed for embedding. */
static enum status check_all_used(struct reader *r) {
  static const char *const parts[] = {"encoder.", "embeddings"};
  for (size_t i = 0; i < r->tensors.n; i++) {
    struct str name = r->tensors.v[i].name;
    if (r->used[i] || !str_starts(name, r->prefix) || str_ends(name, STR("_ids")))
      continue;
    struct str rest = str_slice(name, r->prefix.n, name.n);
    for (size_t k = 0; k < ARRAY_LEN(parts); k++)
      if (str_starts(rest, str_from(parts[k])))
        return convert_refuse(r->err, "tensor '%.*s' is not a part of a BERT encoder", STR_ARG(name));
  }
  return STATUS_OK;
}

/* ---- projection ---- */

static enum status open_tensors(struct arena *a, struct str bytes, struct reader *ret_reader, struct error *err) {
  struct reader r = {.a = a, .prefix = STR(""), .err = err};
  TRY(safetensors_parse(a, bytes, &r.tensors, err));
  r.used = arena_array(a, bool, r.tensors.n);
  *ret_reader = r;
  return STATUS_OK;
}

static bool all_zero(const float *v, int n) {
  for (int i = 0; i < n; i++)
    if (v[i] != 0)
      return false;
  return true;
}

/* The "Dense" step of sentence-transformers. The model file has neither its bias nor its activation. */
static enum status fetch_dense(struct arena *a, const struct convert_files *files, struct model_source *m,
                               struct error *err) {
  struct reader r;
  yyjson_val *config;
  struct error why;
  if (!files->dense_weights.p || !files->dense_config.p)
    return convert_refuse(err, "2_Dense/model.safetensors or 2_Dense/config.json is missing");
  if (json_read(a, files->dense_config, &config, &why) != STATUS_OK)
    return convert_refuse(err, "2_Dense/config.json is not JSON");
  if (!str_ends(json_str(config, "activation_function"), STR("Identity")))
    return convert_refuse(err, "the step 2_Dense has an activation");
  TRY(open_tensors(a, files->dense_weights, &r, err));
  TRY(fetch_table(&r, STR("linear.weight"), m->shape.hidden, &m->shape.dims, &m->projection));
  if (!find(&r, STR("linear.bias")))
    return STATUS_OK;
  const float *bias = NULL;
  TRY(fetch_vector(&r, STR("linear.bias"), m->shape.dims, &bias));
  if (bias && !all_zero(bias, m->shape.dims))
    return convert_refuse(err, "the step 2_Dense has a bias");
  return STATUS_OK;
}

/* The projection is that step, or a tensor out.weight as in Cairn's own models. */
static enum status fetch_projection(struct reader *r, const struct convert_files *files, bool dense,
                                    struct model_source *m) {
  struct str own = STR("out.weight");
  assert(m->shape.hidden > 0 && !m->projection);
  m->shape.dims = m->shape.hidden;
  r->prefix = STR("");
  if (dense)
    TRY(fetch_dense(r->a, files, m, r->err));
  else if (find(r, own))
    TRY(fetch_table(r, own, m->shape.hidden, &m->shape.dims, &m->projection));
  m->shape.projection = m->projection != NULL;
  return STATUS_OK;
}

/* ---- model ---- */

static enum status read_weights(struct arena *a, const struct convert_files *files, const struct convert_config *c,
                                struct model_source *m, struct error *err) {
  struct reader r;
  TRY(open_tensors(a, files->weights, &r, err));
  TRY(find_prefix(&r));
  TRY(fetch_embeddings(&r, m));
  TRY(fetch_layers(&r, c->layers, m));
  TRY(check_all_used(&r));
  return fetch_projection(&r, files, c->dense, m);
}

static enum status read_vocabulary(struct arena *a, struct str vocab_txt, int rows, struct str *ret_blob,
                                   struct error *err) {
  struct buf blob = BUF(a);
  struct wordpiece w;
  TRY(wordpiece_build(a, vocab_txt, &blob, err));
  TRY(wordpiece_init(&w, buf_str(&blob), err));
  if (w.count > rows)
    return convert_refuse(err, "vocab.txt has %d entries, but the word table has %d", w.count, rows);
  *ret_blob = buf_str(&blob);
  return STATUS_OK;
}

static enum status set_max_tokens(const struct convert_config *c, const struct convert_options *o,
                                  struct model_shape *shape, struct error *err) {
  shape->max_tokens = c->max_tokens ? c->max_tokens : shape->positions;
  if (o->max_tokens && (o->max_tokens < 3 || o->max_tokens > shape->positions)) {
    error_set(err, STATUS_USAGE, "--max-tokens %d is out of range: the model has %d positions", o->max_tokens,
              shape->positions);
    return error_fix(err, "use --max-tokens with 3 to %d", shape->positions);
  }
  if (shape->max_tokens > shape->positions)
    shape->max_tokens = shape->positions;
  return STATUS_OK;
}

/* Fits the calibration by running the converted model. */
static enum status fit_calibration(struct arena *a, const struct model_source *m, struct calibration *ret_calibration,
                                   struct error *err) {
  struct buf file = BUF(a);
  const struct embedder *e;
  TRY(model_file_write(m, &file, err));
  TRY(embedder_bytes_open(a, buf_str(&file), &e, err));
  return calibration_fit(e, a, ret_calibration, err);
}

enum status model_convert(struct arena *a, const struct convert_files *files, const struct convert_options *options,
                          struct buf *ret_file, struct error *err) {
  assert(ret_file->n == 0);
  struct convert_config c = {0};
  struct model_source m = {.name = options->name};
  TRY(convert_config_read(a, files, options, &c, err));
  TRY(read_weights(a, files, &c, &m, err));
  TRY(read_vocabulary(a, files->vocab, m.shape.vocab, &m.vocabulary, err));
  TRY(set_max_tokens(&c, options, &m.shape, err));
  m.shape.heads = c.heads;
  m.shape.pooling = c.pooling;
  m.shape.activation = c.activation;
  m.shape.norm_eps = c.norm_eps;
  m.query_prefix = c.query_prefix;
  m.text_prefix = c.text_prefix;
  m.calibration = options->calibration ? *options->calibration : c.calibration;
  if (m.calibration.n == 0) {
    struct arena *scratch = arena_child(a);
    enum status s = fit_calibration(scratch, &m, &m.calibration, err);
    arena_release(scratch);
    TRY(s);
  }
  return model_file_write(&m, ret_file, err);
}
