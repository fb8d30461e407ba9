/* model.c: the operations model convert and model show. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/os/fs.h"
#include "embed/builtin.h"
#include "embed/convert/convert.h"
#include "embed/embed.h"
#include "op/handlers.h"
#include "op/run/common.h"

/* Weights are read as a whole; the largest models of this family have 1.3 GB. */
static const size_t weights_max = (size_t)4 << 30;
enum { VOCAB_MAX = 64 << 20, JSON_MAX = 8 << 20, MODEL_MODE = 0644 };

/* ---- reading the model ---- */

static enum status not_a_model_folder(struct op_call *call, const char *folder, const char *file) {
  struct stat st;
  bool pickled = stat(arena_printf(call->arena, "%s/pytorch_model.bin", folder).p, &st) == 0;
  bool parts = stat(arena_printf(call->arena, "%s/model.safetensors.index.json", folder).p, &st) == 0;
  error_set(call->err, STATUS_NOT_FOUND, "%s has no %s", folder, file);
  if (strcmp(file, "vocab.txt") == 0)
    return error_fix(call->err, "only models with a BERT vocabulary (vocab.txt) can be converted");
  if (parts)
    return error_fix(call->err, "its weights are in several files; save them as one model.safetensors");
  return pickled ? error_fix(call->err, "its weights are pickled (pytorch_model.bin); save them as model.safetensors")
                 : error_fix(call->err, "name the folder that holds model.safetensors and vocab.txt");
}

/* *ret_text is unchanged if the file is missing. */
static enum status read_part(struct op_call *call, const char *folder, const char *name, size_t limit,
                             struct str *ret_text) {
  enum status s = fs_read(call->arena, arena_printf(call->arena, "%s/%s", folder, name).p, limit, ret_text, call->err);
  if (s == STATUS_OK || s == STATUS_NOT_FOUND)
    return STATUS_OK;
  return error_fix(call->err, "make it readable, or name another folder");
}

static enum status read_folder(struct op_call *call, const char *folder, const char *weights,
                               struct convert_files *ret_files) {
  struct convert_files f = {0};
  const struct {
    const char *name;
    size_t limit;
    struct str *text;
    bool required;
  } parts[] = {{weights, weights_max, &f.weights, true},
               {"vocab.txt", VOCAB_MAX, &f.vocab, true},
               {"config.json", JSON_MAX, &f.config, false},
               {"tokenizer_config.json", JSON_MAX, &f.tokenizer, false},
               {"modules.json", JSON_MAX, &f.modules, false},
               {"1_Pooling/config.json", JSON_MAX, &f.pooling, false},
               {"2_Dense/config.json", JSON_MAX, &f.dense_config, false},
               {"2_Dense/model.safetensors", weights_max, &f.dense_weights, false},
               {"sentence_bert_config.json", JSON_MAX, &f.sentence, false},
               {"config_sentence_transformers.json", JSON_MAX, &f.prompts, false},
               {"cairn_calibration.json", JSON_MAX, &f.calibration, false}};
  for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
    TRY(read_part(call, folder, parts[i].name, parts[i].limit, parts[i].text));
    if (parts[i].required && !parts[i].text->p)
      return not_a_model_folder(call, folder, parts[i].name);
  }
  *ret_files = f;
  return STATUS_OK;
}

/* The source is a directory, or the file of weights in one. */
static enum status find_source(struct op_call *call, const char *source, const char **ret_folder,
                               const char **ret_weights) {
  struct stat st;
  if (stat(source, &st) != 0) {
    error_errno(call->err, errno, "cannot read the model in %s", source);
    return error_fix(call->err, "name the folder that holds model.safetensors and vocab.txt");
  }
  const char *folder = source, *weights = "model.safetensors";
  if (!S_ISDIR(st.st_mode)) {
    folder = arena_cstr(call->arena, fs_dirname(str_from(source)));
    weights = arena_cstr(call->arena, fs_basename(str_from(source)));
  }
  *ret_folder = folder;
  *ret_weights = weights;
  return STATUS_OK;
}

/* ---- options ---- */

/* Name of the directory, with '-' for characters that are not allowed in a name. */
static struct str name_of_folder(struct arena *a, const char *folder) {
  char path[PATH_MAX];
  struct str given = str_from(realpath(folder, path) ? path : folder), base = fs_basename(given);
  char *name = arena_cstr(a, str_slice(base, 0, base.n < MODEL_NAME_MAX ? base.n : MODEL_NAME_MAX));
  for (char *p = name; *p; p++)
    if (!ascii_alnum(*p) && *p != '.' && *p != '_')
      *p = '-';
  return str_from(name);
}

static enum status check_name(struct op_call *call, struct str name) {
  bool ok = name.n > 0 && name.n <= MODEL_NAME_MAX;
  for (size_t i = 0; i < name.n; i++)
    ok = ok && (ascii_alnum(name.p[i]) || name.p[i] == '.' || name.p[i] == '_' || name.p[i] == '-');
  if (!ok) {
    error_set(call->err, STATUS_USAGE, "'%.*s' is not a valid model name", STR_ARG(name));
    return error_fix(call->err, "--name with 1 to %d characters: letters, digits, '.', '_', '-'", MODEL_NAME_MAX);
  }
  const struct embedder *builtin = NULL;
  struct error ignored;
  bool taken = str_is(name, embedder_hash()->model) ||
               (embedder_builtin(&builtin, &ignored) == STATUS_OK && str_is(name, builtin->model));
  if (taken) {
    error_set(call->err, STATUS_USAGE, "'%.*s' is the name of a built-in model", STR_ARG(name));
    return error_fix(call->err, "use another --name: it identifies the vectors");
  }
  return STATUS_OK;
}

/* 0 if it is missing. */
static enum status optional_int(struct op_call *call, const char *name, int64_t low, int64_t high, int64_t *ret_value) {
  *ret_value = 0;
  return yyjson_obj_get(call->args, name) ? call_int(call, name, low, low, high, ret_value) : STATUS_OK;
}

static enum status read_options(struct op_call *call, const char *folder, struct convert_options *ret_options) {
  int64_t tokens = 0, heads = 0;
  struct str name = json_str(call->args, "name");
  TRY(optional_int(call, "max_tokens", 3, CONVERT_POSITIONS_MAX, &tokens));
  TRY(optional_int(call, "heads", 1, 256, &heads));
  *ret_options = (struct convert_options){.name = name.p ? name : name_of_folder(call->arena, folder),
                                          .pooling = json_str(call->args, "pooling").p,
                                          .max_tokens = (int)tokens,
                                          .heads = (int)heads,
                                          .query_prefix = json_str(call->args, "query_prefix"),
                                          .text_prefix = json_str(call->args, "text_prefix")};
  struct str knots = json_str(call->args, "calibration");
  if (knots.p) {
    struct calibration *c = arena_array(call->arena, struct calibration, 1);
    TRY(calibration_parse(knots, c, call->err));
    ret_options->calibration = c;
  }
  return check_name(call, ret_options->name);
}

/* ---- the result ---- */

static void close_embedder(void *p) {
  struct embedder *e = p;
  e->close(e);
}

static void put_knots(struct op_call *call, yyjson_mut_val *obj, const char *name, const double *v, int n) {
  yyjson_mut_val *arr = json_put_arr(call->doc, obj, name);
  for (int i = 0; i < n; i++)
    yyjson_mut_arr_add_real(call->doc, arr, v[i]);
}

static void put_model(struct op_call *call, const struct model *m) {
  static const char *const pooling[] = {[MODEL_POOL_CLS] = "cls", [MODEL_POOL_MEAN] = "mean"};
  static const char *const activation[] = {
      [MODEL_GELU_ERF] = "gelu", [MODEL_GELU_TANH] = "gelu_tanh", [MODEL_RELU] = "relu"};
  const struct model_shape *s = &m->shape;
  const struct {
    const char *name;
    int value;
  } numbers[] = {{"dims", s->dims},        {"max_tokens", s->max_tokens}, {"layers", s->layers},
                 {"hidden", s->hidden},    {"heads", s->heads},           {"feed_forward", s->ffn},
                 {"vocabulary", s->vocab}, {"positions", s->positions}};
  json_put(call->doc, call->result, "name", str_from(m->name));
  json_put_int(call->doc, call->result, "bytes", (int64_t)m->bytes.n);
  for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
    json_put_int(call->doc, call->result, numbers[i].name, numbers[i].value);
  json_put(call->doc, call->result, "pooling", str_from(pooling[s->pooling]));
  json_put(call->doc, call->result, "activation", str_from(activation[s->activation]));
  json_put_bool(call->doc, call->result, "projection", s->projection);
  json_put(call->doc, call->result, "query_prefix", m->query_prefix);
  json_put(call->doc, call->result, "text_prefix", m->text_prefix);
  yyjson_mut_val *calibration = json_put_obj(call->doc, call->result, "calibration");
  put_knots(call, calibration, "raw", m->calibration.raw, m->calibration.n);
  put_knots(call, calibration, "scaled", m->calibration.scaled, m->calibration.n);
}

/* Opens the file as a search would, which validates it. */
static enum status put_file(struct op_call *call, const char *path) {
  struct embedder *e = NULL;
  enum status s = embedder_file_open(path, &e, call->err);
  if (s != STATUS_OK)
    return call->err->fix[0] ? s : error_fix(call->err, "name a file that 'cairn model convert' wrote");
  arena_defer(call->arena, close_embedder, e);
  json_put(call->doc, call->result, "file", str_from(path));
  put_model(call, embedder_model(e));
  return STATUS_OK;
}

/* ---- the operations ---- */

/* --force overwrites only model files: any other file is a mistake. */
static enum status check_target(struct op_call *call, const char *path) {
  struct stat st;
  struct embedder *e = NULL;
  struct error ignored;
  if (stat(path, &st) != 0)
    return STATUS_OK;
  if (!json_bool(call->args, "force", false)) {
    error_set(call->err, STATUS_CONFLICT, "%s already exists", path);
    return error_fix(call->err, "name a new file, or replace a model with --force");
  }
  if (!S_ISREG(st.st_mode) || embedder_file_open(path, &e, &ignored) != STATUS_OK) {
    error_set(call->err, STATUS_CONFLICT, "%s already exists and is not a valid model file", path);
    return error_fix(call->err, "name a new file");
  }
  e->close(e);
  return STATUS_OK;
}

enum status op_model_convert(struct op_call *call) {
  const char *source = arena_cstr(call->arena, json_str(call->args, "source")), *folder, *weights;
  const char *path = arena_cstr(call->arena, json_str(call->args, "file"));
  struct convert_files files;
  struct convert_options options;
  struct buf file = BUF(call->arena);
  TRY(check_target(call, path));
  TRY(find_source(call, source, &folder, &weights));
  TRY(read_options(call, folder, &options));
  TRY(read_folder(call, folder, weights, &files));
  TRY(model_convert(call->arena, &files, &options, &file, call->err));
  if (fs_write(path, buf_str(&file), MODEL_MODE, call->err) != STATUS_OK)
    return error_fix(call->err, "check the directory and its disk space, or name another file");
  return put_file(call, path);
}

enum status op_model_show(struct op_call *call) {
  struct str path = json_str(call->args, "file");
  const struct embedder *builtin = NULL;
  if (path.p)
    return put_file(call, arena_cstr(call->arena, path));
  TRY(embedder_builtin(&builtin, call->err));
  put_model(call, embedder_model(builtin));
  return STATUS_OK;
}
