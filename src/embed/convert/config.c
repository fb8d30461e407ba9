/* config.c: reads a model's JSON files and rejects what the encoder does not support. */
#include "embed/convert/config.h"

#include "base/json.h"

enum status convert_refuse(struct error *err, const char *fmt, ...) {
  char why[ERROR_MESSAGE_MAX];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof(why), fmt, ap);
  va_end(ap);
  error_set(err, STATUS_USAGE, "this model cannot be converted: %s", why);
  return error_fix(
      err, "Cairn supports BERT encoders with an uncased WordPiece vocabulary (bge, e5, gte, MiniLM and others); "
           "use an embedding server for other models");
}

/* *ret_root is NULL for a missing file. */
static enum status read_json(struct arena *a, struct str text, const char *name, yyjson_val **ret_root,
                             struct error *err) {
  struct error why = {0};
  *ret_root = NULL;
  if (!text.p)
    return STATUS_OK;
  if (json_read(a, text, ret_root, &why) != STATUS_OK)
    return convert_refuse(err, "%s is not JSON: %s", name, why.message);
  return yyjson_is_obj(*ret_root) || yyjson_is_arr(*ret_root) ? STATUS_OK
                                                              : convert_refuse(err, "%s has no object", name);
}

/* An integer from 1 to 2^20 - 1, more than any model needs; 0 if missing or out of range. */
static int small_int(yyjson_val *obj, const char *name) {
  int64_t v = json_int(obj, name, 0);
  return v > 0 && v < 1 << 20 ? (int)v : 0;
}

/* ---- config.json ---- */

static enum status read_activation(struct str name, enum model_activation *ret_activation, struct error *err) {
  static const struct {
    const char *name;
    enum model_activation activation;
  } known[] = {{"gelu", MODEL_GELU_ERF},       {"gelu_python", MODEL_GELU_ERF},        {"gelu_new", MODEL_GELU_TANH},
               {"gelu_fast", MODEL_GELU_TANH}, {"gelu_pytorch_tanh", MODEL_GELU_TANH}, {"relu", MODEL_RELU}};
  *ret_activation = MODEL_GELU_ERF;
  for (size_t i = 0; i < ARRAY_LEN(known); i++)
    if (str_is(name, known[i].name)) {
      *ret_activation = known[i].activation;
      return STATUS_OK;
    }
  return name.p ? convert_refuse(err, "its activation is '%.*s'", STR_ARG(name)) : STATUS_OK;
}

static enum status read_encoder(yyjson_val *config, struct convert_config *c, struct error *err) {
  struct str type = json_str(config, "model_type"), position = json_str(config, "position_embedding_type");
  if (type.p && !str_is(type, "bert"))
    return convert_refuse(err, "its type is '%.*s', not 'bert'", STR_ARG(type));
  if (position.p && !str_is(position, "absolute"))
    return convert_refuse(err, "its positions are '%.*s', not 'absolute'", STR_ARG(position));
  if (json_bool(config, "is_decoder", false))
    return convert_refuse(err, "it is a decoder");
  c->heads = small_int(config, "num_attention_heads");
  c->layers = small_int(config, "num_hidden_layers");
  c->norm_eps = (float)json_num(config, "layer_norm_eps", 1e-12);
  return read_activation(json_str(config, "hidden_act"), &c->activation, err);
}

/* ---- tokenizer_config.json ---- */

static enum status read_tokenizer(yyjson_val *t, struct error *err) {
  if (!json_bool(t, "do_lower_case", true))
    return convert_refuse(err, "its vocabulary is cased");
  if (!json_bool(t, "strip_accents", true))
    return convert_refuse(err, "its vocabulary keeps accents");
  if (!json_bool(t, "tokenize_chinese_chars", true))
    return convert_refuse(err, "its vocabulary does not split CJK characters");
  return STATUS_OK;
}

/* ---- steps after the encoder ---- */

static bool module_is(struct str type, const char *name) {
  struct str tail = str_from(name);
  return str_ends(type, tail) && (type.n == tail.n || type.p[type.n - tail.n - 1] == '.');
}

static enum status read_modules(yyjson_val *modules, struct convert_config *c, struct error *err) {
  size_t i, n;
  yyjson_val *m;
  yyjson_arr_foreach(modules, i, n, m) {
    struct str type = json_str(m, "type"), path = json_str(m, "path");
    if (module_is(type, "Dense") && str_is(path, "2_Dense"))
      c->dense = true;
    else if (!module_is(type, "Transformer") && !module_is(type, "Pooling") && !module_is(type, "Normalize"))
      return convert_refuse(err, "modules.json has a step '%.*s' in '%.*s'", STR_ARG(type), STR_ARG(path));
  }
  return STATUS_OK;
}

static enum status pooling_unknown(struct error *err, const char *why) {
  error_set(err, STATUS_USAGE, "%s", why);
  return error_fix(err, "use --pooling cls or --pooling mean, as the model card says");
}

static enum status read_pooling(yyjson_val *pooling, const char *wanted, enum model_pooling *ret_pooling,
                                struct error *err) {
  static const char *const others[] = {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                                       "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"};
  struct str mode = json_str(pooling, "pooling_mode");
  bool cls = json_bool(pooling, "pooling_mode_cls_token", str_is(mode, "cls"));
  bool mean = json_bool(pooling, "pooling_mode_mean_tokens", str_is(mode, "mean"));
  bool other = mode.p && !str_is(mode, "cls") && !str_is(mode, "mean");
  for (size_t i = 0; i < ARRAY_LEN(others); i++)
    other |= json_bool(pooling, others[i], false);
  if (wanted)
    cls = strcmp(wanted, "cls") == 0;
  else if (!pooling)
    return pooling_unknown(err, "the model's pooling is unknown (1_Pooling/config.json is missing)");
  else if (other || cls == mean)
    return pooling_unknown(err, "1_Pooling/config.json asks for a pooling other than [CLS] or mean");
  *ret_pooling = cls ? MODEL_POOL_CLS : MODEL_POOL_MEAN;
  return STATUS_OK;
}

static void read_prompts(yyjson_val *root, struct convert_config *c) {
  yyjson_val *prompts = yyjson_obj_get(root, "prompts");
  struct str text = json_str(prompts, "document");
  c->query_prefix = json_str(prompts, "query");
  c->text_prefix = text.p ? text : json_str(prompts, "passage");
}

/* ---- cairn_calibration.json ---- */

static bool read_knots(yyjson_val *list, double ret_knots[8], size_t n) {
  for (size_t i = 0; i < n; i++) {
    yyjson_val *v = yyjson_arr_get(list, i);
    if (!yyjson_is_num(v))
      return false;
    ret_knots[i] = yyjson_get_num(v);
  }
  return true;
}

/* Two lists of the same length: raw cosines, and their values on Cairn's scale. model_file_write() checks that both
 * rise. */
static enum status read_calibration(yyjson_val *root, struct calibration *ret_calibration, struct error *err) {
  struct calibration c = {0};
  yyjson_val *raw = yyjson_obj_get(root, "raw"), *scaled = yyjson_obj_get(root, "scaled");
  size_t n = yyjson_arr_size(raw);
  if (!root)
    return STATUS_OK;
  if (n < 2 || n > ARRAY_LEN(c.raw) || yyjson_arr_size(scaled) != n || !read_knots(raw, c.raw, n) ||
      !read_knots(scaled, c.scaled, n))
    return convert_refuse(err, "cairn_calibration.json needs \"raw\" and \"scaled\": 2 to %zu numbers each",
                          ARRAY_LEN(c.raw));
  c.n = (int)n;
  *ret_calibration = c;
  return STATUS_OK;
}

/* ---- all files ---- */

struct roots {
  yyjson_val *config, *tokenizer, *modules, *pooling, *sentence, *prompts, *calibration;
};

static enum status read_roots(struct arena *a, const struct convert_files *f, struct roots *r, struct error *err) {
  const struct {
    struct str text;
    const char *name;
    yyjson_val **root;
  } all[] = {{f->config, "config.json", &r->config},
             {f->tokenizer, "tokenizer_config.json", &r->tokenizer},
             {f->modules, "modules.json", &r->modules},
             {f->pooling, "1_Pooling/config.json", &r->pooling},
             {f->sentence, "sentence_bert_config.json", &r->sentence},
             {f->prompts, "config_sentence_transformers.json", &r->prompts},
             {f->calibration, "cairn_calibration.json", &r->calibration}};
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    TRY(read_json(a, all[i].text, all[i].name, all[i].root, err));
  return STATUS_OK;
}

static enum status apply_options(const struct convert_options *o, struct convert_config *c, struct error *err) {
  c->heads = o->heads ? o->heads : c->heads;
  c->max_tokens = o->max_tokens ? o->max_tokens : c->max_tokens;
  c->query_prefix = o->query_prefix.p ? o->query_prefix : c->query_prefix;
  c->text_prefix = o->text_prefix.p ? o->text_prefix : c->text_prefix;
  if (c->heads)
    return STATUS_OK;
  error_set(err, STATUS_USAGE, "the model's number of attention heads is unknown (num_attention_heads in config.json)");
  return error_fix(err, "put the model's config.json next to its weights, or use --heads N");
}

enum status convert_config_read(struct arena *a, const struct convert_files *files,
                                const struct convert_options *options, struct convert_config *ret_config,
                                struct error *err) {
  struct roots r = {0};
  struct convert_config c = {0};
  TRY(read_roots(a, files, &r, err));
  TRY(read_encoder(r.config, &c, err));
  TRY(read_tokenizer(r.tokenizer, err));
  TRY(read_modules(r.modules, &c, err));
  TRY(read_pooling(r.pooling, options->pooling, &c.pooling, err));
  TRY(read_calibration(r.calibration, &c.calibration, err));
  c.max_tokens = small_int(r.sentence, "max_seq_length");
  read_prompts(r.prompts, &c);
  TRY(apply_options(options, &c, err));
  *ret_config = c;
  return STATUS_OK;
}
