/* test_model_file.c: model files: writing and reading back, rejection of damaged files. */
#include "embed/encoder/model_file.h"

#include <math.h>

#include "made_model.h"
#include "support/harness.h"

TEST(model_file_round_trips) {
  struct arena a;
  arena_init(&a);
  struct model_shape shape = made_shape;
  shape.projection = true;
  shape.dims = 24;
  shape.pooling = MODEL_POOL_MEAN;
  shape.activation = MODEL_GELU_TANH;
  struct model_source source = made_source(&a, &shape, 1);
  source.query_prefix = STR("query: ");
  source.vocabulary = STR("opaque bytes");
  source.calibration = (struct calibration){3, {-0.5, 0.25, 1}, {0, 0.5, 1}};
  struct model m;
  struct error err = {0};
  CHECK_OK(model_file_open(made_file(&a, &source), &m, &err), &err);
  CHECK(memcmp(&m.shape, &shape, sizeof(shape)) == 0);
  CHECK(strcmp(m.name, "tiny-v1") == 0);
  CHECK_STR(m.query_prefix, "query: ");
  CHECK_STR(m.text_prefix, "");
  CHECK_STR(m.vocabulary, "opaque bytes");
  CHECK_INT(m.calibration.n, 3);
  CHECK_NEAR(m.calibration.raw[1], 0.25, 0);
  CHECK_NEAR(m.calibration.scaled[1], 0.5, 0);
  /* A word and its scale, a position with the token type added, the unchanged projection. */
  for (int i = 0; i < 32; i++) {
    CHECK_NEAR((double)m.words[7 * 32 + i] * (double)m.word_scale[7], (double)source.words[7 * 32 + i], 0);
    CHECK_NEAR((double)m.position_rows[5 * 32 + i], (double)(source.positions[5 * 32 + i] + source.token_types[i]), 0);
    CHECK_NEAR((double)m.projection[23 * 32 + i], (double)source.projection[23 * 32 + i], 0);
  }
  arena_release(&a);
}

TEST(model_file_without_calibration_has_the_identity) {
  struct arena a;
  arena_init(&a);
  struct model_source source = made_source(&a, &made_shape, 1);
  struct model m;
  struct error err = {0};
  CHECK_OK(model_file_open(made_file(&a, &source), &m, &err), &err);
  CHECK_NEAR(calibrate(&m.calibration, 0.3), 0.3, 1e-12);
  CHECK_NEAR(calibrate(&m.calibration, -0.3), 0, 0);
  arena_release(&a);
}

/* The order that the kernels expect: 16 outputs side by side, with four inputs each. */
static void check_matrix(const struct model_matrix *m, const struct model_source_linear *source, int outputs,
                         int inputs, double factor) {
  CHECK_INT(m->outputs, outputs);
  CHECK_INT(m->inputs, inputs);
  for (int o = 0; o < outputs; o++) {
    int32_t sum = 0;
    for (int i = 0; i < inputs; i++) {
      int8_t w = m->packed[o / 16 * 16 * inputs + i / 4 * 64 + o % 16 * 4 + i % 4];
      sum += w;
      CHECK_NEAR((double)w * (double)m->scale[o], (double)source->weight[o * inputs + i] * factor, 1e-7);
    }
    CHECK_INT(m->sum[o], sum);
    CHECK_NEAR((double)m->bias[o], (source->bias ? (double)source->bias[o] : 0.0) * factor, 1e-7);
  }
}

TEST(model_file_packs_matrices) {
  struct arena a;
  arena_init(&a);
  struct model_source source = made_source(&a, &made_shape, 3);
  struct model_source_layer layers[2] = {source.layers[0], source.layers[1]};
  layers[1].key.bias = NULL;
  source.layers = layers;
  struct model m;
  struct error err = {0};
  CHECK_OK(model_file_open(made_file(&a, &source), &m, &err), &err);
  for (int i = 0; i < 2; i++) {
    struct model_layer l = model_layer(&m, i);
    check_matrix(&l.query, &layers[i].query, 32, 32, 0.25); /* 1 / sqrt(16) for heads of 16 */
    check_matrix(&l.key, &layers[i].key, 32, 32, 1);
    check_matrix(&l.value, &layers[i].value, 32, 32, 1);
    check_matrix(&l.attention_output, &layers[i].attention_output, 32, 32, 1);
    check_matrix(&l.intermediate, &layers[i].intermediate, 64, 32, 1);
    check_matrix(&l.output, &layers[i].output, 32, 64, 1);
    CHECK(memcmp(l.attention_norm.weight, layers[i].attention_norm.weight, 128) == 0);
    CHECK(memcmp(l.output_norm.bias, layers[i].output_norm.bias, 128) == 0);
  }
  arena_release(&a);
}

TEST(model_file_rejects_every_truncation) {
  struct arena a;
  arena_init(&a);
  struct model_source source = made_source(&a, &made_shape, 1);
  struct str bytes = made_file(&a, &source);
  struct model m = {.name = "untouched"};
  for (size_t n = 0; n < bytes.n; n += n < 1100 ? 1 : 61) {
    struct error err = {0};
    test_note("%zu bytes", n);
    CHECK_STATUS(model_file_open((struct str){bytes.p, n}, &m, &err), STATUS_CORRUPT);
    CHECK_STATUS(model_file_open_trusted((struct str){bytes.p, n}, &m, &err), STATUS_CORRUPT);
    CHECK(err.message[0]);
  }
  struct error err = {0};
  CHECK_STATUS(model_file_open((struct str){bytes.p, bytes.n + 1}, &m, &err), STATUS_CORRUPT);
  CHECK(strcmp(m.name, "untouched") == 0);
  CHECK_STATUS(model_file_open((struct str){bytes.p + 1, bytes.n - 1}, &m, &err), STATUS_INTERNAL);
  arena_release(&a);
}

TEST(model_file_rejects_every_changed_byte) {
  struct arena a;
  arena_init(&a);
  struct model_source source = made_source(&a, &made_shape, 1);
  struct str bytes = made_file(&a, &source);
  char *p = (char *)(uintptr_t)bytes.p;
  struct model m;
  for (size_t i = 0; i < bytes.n; i++) {
    struct error err = {0};
    test_note("byte %zu", i);
    p[i] = (char)(p[i] ^ 1 << i % 8);
    CHECK_STATUS(model_file_open(bytes, &m, &err), STATUS_CORRUPT);
    p[i] = (char)(p[i] ^ 1 << i % 8);
  }
  struct error err = {0};
  CHECK_OK(model_file_open(bytes, &m, &err), &err);
  arena_release(&a);
}

static void refused(const struct model_source *source, const char *reason) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct buf b = BUF(&a);
  CHECK_STATUS(model_file_write(source, &b, &err), STATUS_USAGE);
  CHECK_INT(b.n, 0);
  if (!strstr(err.message, reason))
    FAIL("\"%s\" does not say \"%s\"", err.message, reason);
  arena_release(&a);
}

TEST(model_file_rejects_unsupported_models) {
  struct arena a;
  arena_init(&a);
  struct model_source good = made_source(&a, &made_shape, 1), s;
#define REFUSED(field, value, reason) (s = good, s.field = (value), refused(&s, reason))
  REFUSED(shape.hidden, 24, "hidden");
  REFUSED(shape.heads, 3, "heads");
  REFUSED(shape.heads, 4, "heads"); /* heads of 8 */
  REFUSED(shape.ffn, 65, "feed-forward");
  REFUSED(shape.layers, 0, "layers");
  REFUSED(shape.layers, 1000, "layers");
  REFUSED(shape.vocab, 0, "vocabulary");
  REFUSED(shape.max_tokens, 25, "tokens");
  REFUSED(shape.dims, 16, "dimensions"); /* without a projection */
  REFUSED(shape.norm_eps, 0, "epsilon");
  REFUSED(shape.norm_eps, NAN, "epsilon");
  REFUSED(name, STR_NONE, "name");
  REFUSED(name, STR("a name that is longer than the sixty-three bytes that a header has room for"), "name");
  REFUSED(query_prefix, STR("a\0b"), "prefix");
  REFUSED(calibration, ((struct calibration){2, {0.5, 0.5}, {0, 1}}), "calibration");
  float positions[24 * 32] = {[700] = INFINITY};
  REFUSED(positions, positions, "finite");
  float norm[32] = {NAN};
  REFUSED(embedding_norm.bias, norm, "finite");
  arena_release(&a);
}
