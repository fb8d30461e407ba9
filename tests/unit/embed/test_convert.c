/* test_convert.c: conversion of small generated models: tensors, configuration files, errors. */
#include "embed/convert/convert.h"

#include "embed/encoder/wordpiece.h"
#include "support/harness.h"
#include "support/tiny_model.h"

static struct arena a;

static struct convert_files files_of(const struct tiny_spec *spec) {
  return (struct convert_files){.weights = tiny_weights(&a, spec),
                                .vocab = str_from(tiny_vocab),
                                .config = str_from(tiny_config),
                                .pooling = STR("{\"pooling_mode_cls_token\": true}")};
}

static struct buf convert(const struct convert_files *files, const struct convert_options *options) {
  struct error err = {0};
  struct buf out = BUF(&a);
  CHECK_OK(model_convert(&a, files, options, &out, &err), &err);
  return out;
}

/* As in by_hand(). */
static const struct calibration identity = {.n = 2, .raw = {0, 1}, .scaled = {0, 1}};
static const struct convert_options named = {.name = STR_INIT("tiny"), .calibration = &identity};

/* Opens a converted file from an aligned copy. */
static struct model opened(struct buf file) {
  struct model m;
  struct error err = {0};
  char *p = arena_alloc(&a, file.n + MODEL_ALIGN);
  p += MODEL_ALIGN - (uintptr_t)p % MODEL_ALIGN;
  memcpy(p, file.p, file.n);
  CHECK_OK(model_file_open((struct str){p, file.n}, &m, &err), &err);
  return m;
}

/* ---- tensors ---- */

static const float *values(const char *name, int rows, int columns) {
  return tiny_values(&a, name, (size_t)rows * (size_t)(columns ? columns : 1));
}

static struct model_source_linear linear(int layer, const char *name, int outputs, int inputs) {
  const char *base = arena_printf(&a, "encoder.layer.%d.%s", layer, name).p;
  return (struct model_source_linear){values(arena_printf(&a, "%s.weight", base).p, outputs, inputs),
                                      values(arena_printf(&a, "%s.bias", base).p, outputs, 0)};
}

static struct model_norm norm(const char *name) {
  return (struct model_norm){values(arena_printf(&a, "%s.weight", name).p, TINY_HIDDEN, 0),
                             values(arena_printf(&a, "%s.bias", name).p, TINY_HIDDEN, 0)};
}

/* The file for the same weights, assigned by hand. */
static struct buf by_hand(void) {
  struct model_source_layer layers[TINY_LAYERS];
  for (int i = 0; i < TINY_LAYERS; i++)
    layers[i] = (struct model_source_layer){
        .query = linear(i, "attention.self.query", TINY_HIDDEN, TINY_HIDDEN),
        .key = linear(i, "attention.self.key", TINY_HIDDEN, TINY_HIDDEN),
        .value = linear(i, "attention.self.value", TINY_HIDDEN, TINY_HIDDEN),
        .attention_output = linear(i, "attention.output.dense", TINY_HIDDEN, TINY_HIDDEN),
        .attention_norm = norm(arena_printf(&a, "encoder.layer.%d.attention.output.LayerNorm", i).p),
        .intermediate = linear(i, "intermediate.dense", TINY_FFN, TINY_HIDDEN),
        .output = linear(i, "output.dense", TINY_HIDDEN, TINY_FFN),
        .output_norm = norm(arena_printf(&a, "encoder.layer.%d.output.LayerNorm", i).p)};
  struct error err = {0};
  struct buf blob = BUF(&a), out = BUF(&a);
  CHECK_OK(wordpiece_build(&a, str_from(tiny_vocab), &blob, &err), &err);
  struct model_source m = {.shape = {.layers = TINY_LAYERS,
                                     .hidden = TINY_HIDDEN,
                                     .heads = TINY_HEADS,
                                     .ffn = TINY_FFN,
                                     .vocab = TINY_WORDS,
                                     .positions = TINY_POSITIONS,
                                     .dims = TINY_HIDDEN,
                                     .max_tokens = TINY_POSITIONS,
                                     .pooling = MODEL_POOL_CLS,
                                     .activation = MODEL_GELU_ERF,
                                     .norm_eps = 1e-12F},
                           .name = STR("tiny"),
                           .vocabulary = buf_str(&blob),
                           .words = values("embeddings.word_embeddings.weight", TINY_WORDS, TINY_HIDDEN),
                           .positions = values("embeddings.position_embeddings.weight", TINY_POSITIONS, TINY_HIDDEN),
                           .token_types = values("embeddings.token_type_embeddings.weight", TINY_TYPES, TINY_HIDDEN),
                           .embedding_norm = norm("embeddings.LayerNorm"),
                           .layers = layers};
  CHECK_OK(model_file_write(&m, &out, &err), &err);
  return out;
}

TEST(each_tensor_is_found) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  struct buf want = by_hand(), got = convert(&f, &named);
  CHECK(str_eq(buf_str(&got), buf_str(&want)));
}

TEST(prefixes_types_and_old_names_are_supported) {
  static const struct tiny_spec specs[] = {{.prefix = "bert."},
                                           {.prefix = "model."},
                                           {.prefix = "0.auto_model."},
                                           {.type = "F16"},
                                           {.type = "BF16"},
                                           {.old_norms = true},
                                           {.extra = "cls.seq.bias"},
                                           {.extra = "embeddings.position_ids"},
                                           {.without = "pooler.dense.bias"}};
  struct buf want = by_hand();
  for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
    test_note("spec %zu", i);
    struct convert_files f = files_of(&specs[i]);
    struct buf got = convert(&f, &named);
    CHECK(str_eq(buf_str(&got), buf_str(&want)));
  }
}

/* ---- configuration ---- */

TEST(configuration_files_are_read) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  f.config = STR("{\"num_attention_heads\": 1, \"hidden_act\": \"gelu_new\", \"layer_norm_eps\": 0.001}");
  f.pooling = STR("{\"pooling_mode_cls_token\": false, \"pooling_mode_mean_tokens\": true}");
  f.sentence = STR("{\"max_seq_length\": 7, \"do_lower_case\": false}");
  f.prompts = STR("{\"prompts\": {\"query\": \"query: \", \"passage\": \"passage: \"}}");
  f.modules = STR("[{\"idx\": 0, \"path\": \"\", \"type\": \"sentence_transformers.models.Transformer\"},"
                  "{\"path\": \"1_Pooling\", \"type\": \"sentence_transformers.models.Pooling\"},"
                  "{\"path\": \"2_Normalize\", \"type\": \"sentence_transformers.models.Normalize\"}]");
  struct model m = opened(convert(&f, &named));
  CHECK_INT(m.shape.heads, 1);
  CHECK_INT(m.shape.activation, MODEL_GELU_TANH);
  CHECK_INT(m.shape.pooling, MODEL_POOL_MEAN);
  CHECK_INT(m.shape.max_tokens, 7);
  CHECK(m.shape.norm_eps == 0.001F);
  CHECK_STR(m.query_prefix, "query: ");
  CHECK_STR(m.text_prefix, "passage: ");
  CHECK_STR(str_from(m.name), "tiny");
  CHECK(!m.shape.projection && m.shape.dims == TINY_HIDDEN);
}

TEST(options_override_the_files) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  f.sentence = STR("{\"max_seq_length\": 7}");
  f.prompts = STR("{\"prompts\": {\"query\": \"query: \"}}");
  struct convert_options o = {.name = STR("other"),
                              .pooling = "mean",
                              .max_tokens = 12,
                              .heads = 1,
                              .query_prefix = STR(""),
                              .text_prefix = STR("t: ")};
  struct model m = opened(convert(&f, &o));
  CHECK_INT(m.shape.heads, 1);
  CHECK_INT(m.shape.pooling, MODEL_POOL_MEAN);
  CHECK_INT(m.shape.max_tokens, 12);
  CHECK_STR(m.query_prefix, "");
  CHECK_STR(m.text_prefix, "t: ");
  CHECK_STR(str_from(m.name), "other");
}

TEST(max_tokens_is_limited_to_the_positions) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  f.sentence = STR("{\"max_seq_length\": 512}");
  CHECK_INT(opened(convert(&f, &named)).shape.max_tokens, TINY_POSITIONS);
}

TEST(without_config_the_heads_can_be_given) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  f.config = STR_NONE;
  struct convert_options o = named;
  o.heads = TINY_HEADS;
  struct buf want = by_hand(), got = convert(&f, &o);
  CHECK(str_eq(buf_str(&got), buf_str(&want)));
}

TEST(a_dense_step_becomes_the_projection) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  struct tensor_file dense;
  const float zeros[16] = {0};
  tensor_begin(&dense, &a);
  tensor_add(&dense, "linear.weight", "F32", 16, TINY_HIDDEN, values("linear.weight", 16, TINY_HIDDEN));
  tensor_add(&dense, "linear.bias", "F32", 16, 0, zeros);
  f.dense_weights = tensor_end(&dense);
  f.dense_config = STR("{\"activation_function\": \"torch.nn.modules.linear.Identity\"}");
  f.modules = STR("[{\"path\": \"2_Dense\", \"type\": \"sentence_transformers.models.Dense\"}]");
  struct model m = opened(convert(&f, &named));
  CHECK(m.shape.projection);
  CHECK_INT(m.shape.dims, 16);
  CHECK(memcmp(m.projection, values("linear.weight", 16, TINY_HIDDEN), 16 * TINY_HIDDEN * sizeof(float)) == 0);
}

/* ---- errors ---- */

static void refused(const struct convert_files *f, const struct convert_options *o, const char *message) {
  struct error err = {0};
  struct buf out = BUF(&a);
  CHECK_STATUS(model_convert(&a, f, o, &out, &err), STATUS_USAGE);
  if (!strstr(err.message, message) || !err.fix[0])
    FAIL("'%s' (fix '%s') does not say '%s'", err.message, err.fix, message);
  CHECK_INT(out.n, 0);
}

static void refused_spec(struct tiny_spec spec, const char *message) {
  struct convert_files f = files_of(&spec);
  refused(&f, &named, message);
}

TEST(tensors_that_are_missing_or_wrong_are_named) {
  static const char *const names[] = {"embeddings.word_embeddings.weight",
                                      "embeddings.position_embeddings.weight",
                                      "embeddings.token_type_embeddings.weight",
                                      "embeddings.LayerNorm.weight",
                                      "embeddings.LayerNorm.bias",
                                      "encoder.layer.0.attention.self.query.weight",
                                      "encoder.layer.0.attention.self.key.bias",
                                      "encoder.layer.1.attention.self.value.weight",
                                      "encoder.layer.1.attention.output.dense.bias",
                                      "encoder.layer.0.intermediate.dense.weight",
                                      "encoder.layer.1.output.dense.weight",
                                      "encoder.layer.1.output.LayerNorm.bias"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    test_note("%s", names[i]);
    refused_spec((struct tiny_spec){.without = names[i]}, names[i]);
    /* Tables may have any number of rows; a wrong number of layers is found through config.json. */
    bool table = i < 3;
    if (!table && strcmp(names[i], "encoder.layer.0.intermediate.dense.weight") != 0)
      refused_spec((struct tiny_spec){.wrong = names[i], .prefix = "bert."}, names[i]);
  }
  /* One more row here means one more there. */
  refused_spec((struct tiny_spec){.wrong = "encoder.layer.0.intermediate.dense.weight"},
               "'encoder.layer.0.intermediate.dense.bias' has the shape [48], expected [49]");
  refused_spec((struct tiny_spec){.without = "encoder.layer.1.attention.self.query.weight"}, "2 layers");
}

TEST(unused_encoder_tensors_are_rejected) {
  refused_spec((struct tiny_spec){.extra = "encoder.layer.0.adapter.down.weight"},
               "'encoder.layer.0.adapter.down.weight'");
  refused_spec((struct tiny_spec){.extra = "embeddings_project.weight"}, "'embeddings_project.weight'");
  refused_spec((struct tiny_spec){.extra = "encoder.layer.5.output.dense.weight"}, "encoder.layer.5");
  refused_spec((struct tiny_spec){.prefix = "roberta."}, "'roberta.embeddings.word_embeddings.weight'");
}

static void refused_config(const char *config, const char *message) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  f.config = str_from(config);
  refused(&f, &named, message);
}

TEST(other_model_families_are_rejected) {
  refused_config("{\"model_type\": \"roberta\", \"num_attention_heads\": 2}", "'roberta'");
  refused_config("{\"model_type\": \"bert\", \"position_embedding_type\": \"relative_key\"}", "relative_key");
  refused_config("{\"num_attention_heads\": 2, \"is_decoder\": true}", "decoder");
  refused_config("{\"num_attention_heads\": 2, \"hidden_act\": \"silu\"}", "'silu'");
  refused_config("{\"num_attention_heads\": 2, \"num_hidden_layers\": 3}", "3 layers");
  refused_config("{\"num_attention_heads\": 3}", "heads");
  refused_config("{\"num_attention_heads\": -2}", "heads");
  refused_config("{}", "heads");
  refused_config("{", "config.json is not JSON");
  refused_config("7", "config.json has no object");
  struct convert_files f = files_of(&(struct tiny_spec){0});
  f.tokenizer = STR("{\"do_lower_case\": false}");
  refused(&f, &named, "cased");
  f.tokenizer = STR("{\"strip_accents\": false}");
  refused(&f, &named, "accents");
  f.tokenizer = STR("{\"strip_accents\": null, \"do_lower_case\": true}");
  convert(&f, &named);
}

TEST(pooling_must_be_known) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  f.pooling = STR_NONE;
  refused(&f, &named, "pooling is unknown");
  f.pooling = STR("{\"pooling_mode_cls_token\": true, \"pooling_mode_mean_tokens\": true}");
  refused(&f, &named, "other than [CLS] or mean");
  f.pooling = STR("{\"pooling_mode_mean_tokens\": true, \"pooling_mode_max_tokens\": true}");
  refused(&f, &named, "other than [CLS] or mean");
  f.pooling = STR("{\"pooling_mode\": \"lasttoken\"}");
  refused(&f, &named, "other than [CLS] or mean");
  f.pooling = STR("{\"pooling_mode\": \"mean\"}");
  CHECK_INT(opened(convert(&f, &named)).shape.pooling, MODEL_POOL_MEAN);
}

TEST(unknown_steps_are_rejected) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  f.modules = STR("[{\"path\": \"2_LSTM\", \"type\": \"sentence_transformers.models.LSTM\"}]");
  refused(&f, &named, "LSTM");
  f.modules = STR("[{\"path\": \"2_Dense\", \"type\": \"sentence_transformers.models.Dense\"}]");
  refused(&f, &named, "2_Dense");
  f.dense_weights = f.weights;
  f.dense_config = STR("{\"activation_function\": \"torch.nn.modules.activation.Tanh\"}");
  refused(&f, &named, "activation");
}

TEST(the_vocabulary_must_fit) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  f.vocab = STR("[PAD]\n[UNK]\n[CLS]\n[SEP]\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  refused(&f, &named, "13 entries");
  f.vocab = STR("<s>\n</s>\n");
  refused(&f, &named, "[CLS]");
  f.vocab = STR("[PAD]\n[UNK]\n[CLS]\n[SEP]\n");
  convert(&f, &named);
}

TEST(weights_that_are_not_finite_are_rejected) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  char *bytes = arena_cstr(&a, f.weights);
  /* The last bytes belong to the pooler, which is not read; those of the first table start after the header. */
  size_t header = (unsigned char)bytes[0] | (size_t)(unsigned char)bytes[1] << 8;
  memcpy(bytes + 8 + header, "\0\0\xc0\x7f", 4);
  f.weights.p = bytes;
  refused(&f, &named, "embeddings.word_embeddings.weight");
}

TEST(lengths_and_names_out_of_range_are_rejected) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  struct convert_options o = named;
  o.max_tokens = TINY_POSITIONS + 1;
  refused(&f, &o, "20 positions");
  o = named;
  o.name = STR("");
  refused(&f, &o, "name");
}

/* ---- calibration ---- */

TEST(a_given_calibration_is_stored) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  static const struct calibration given = {.n = 3, .raw = {-0.5, 0.5, 1}, .scaled = {0, 0.75, 1}};
  struct convert_options o = {.name = STR("tiny"), .calibration = &given};
  struct model m = opened(convert(&f, &o));
  CHECK_INT(m.calibration.n, 3);
  CHECK_NEAR(m.calibration.raw[1], 0.5, 0);
  CHECK_NEAR(m.calibration.scaled[1], 0.75, 0);
}

TEST(a_missing_calibration_is_fitted) {
  struct convert_files f = files_of(&(struct tiny_spec){0});
  struct convert_options o = {.name = STR("tiny")};
  struct model m = opened(convert(&f, &o));
  /* Random weights cannot tell texts apart, so nothing is near. */
  CHECK(m.calibration.n >= 2);
  CHECK(calibrate(&m.calibration, 1) < SIMILARITY_NEAR);
}

TEST(a_calibration_file_is_read) {
  struct tiny_spec spec = {0};
  struct convert_files files = files_of(&spec);
  files.calibration = STR("{\"raw\": [0, 0.8, 1], \"scaled\": [0, 0.5, 1]}");
  struct convert_options o = {.name = STR("tiny")};
  struct model m = opened(convert(&files, &o));
  CHECK_INT(m.calibration.n, 3);
  CHECK_NEAR(calibrate(&m.calibration, 0.4), 0.25, 1e-12);
  CHECK_NEAR(calibrate(&m.calibration, 0.9), 0.75, 1e-12);
}

TEST(an_invalid_calibration_is_rejected) {
  static const char *const bad[] = {"{}",
                                    "[]",
                                    "{\"raw\": [0, 1]}",
                                    "{\"raw\": [0], \"scaled\": [0]}",
                                    "{\"raw\": [0, 1, 2], \"scaled\": [0, 1]}",
                                    "{\"raw\": [0, \"1\"], \"scaled\": [0, 1]}",
                                    "{\"raw\": [1, 0], \"scaled\": [0, 1]}",
                                    "{\"raw\": [0,1,2,3,4,5,6,7,8], \"scaled\": [0,1,2,3,4,5,6,7,8]}"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    struct tiny_spec spec = {0};
    struct convert_files files = files_of(&spec);
    struct error err = {0};
    struct buf out = BUF(&a);
    test_note("%s", bad[i]);
    files.calibration = str_from(bad[i]);
    struct convert_options o = {.name = STR("tiny")};
    CHECK_STATUS(model_convert(&a, &files, &o, &out, &err), STATUS_USAGE);
    CHECK(strstr(err.message, "calibration"));
  }
}
