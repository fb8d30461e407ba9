/* test_encoder.c: the encoder against a reference in double precision, with every kernel and number of threads. */
#include "embed/encoder/encoder.h"

#include "made_model.h"
#include "support/harness.h"

static void random_ids(int32_t *ids, size_t n, int vocab, uint32_t seed) {
  for (size_t i = 0; i < n; i++) {
    made_random(&seed);
    ids[i] = (int32_t)(seed >> 8) % vocab;
  }
}

static void check_shape(struct model_shape shape, uint32_t seed) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct model_source source = made_source(&a, &shape, seed);
  struct model m;
  CHECK_OK(model_file_open(made_file(&a, &source), &m, &err), &err);
  size_t dims = (size_t)shape.dims;
  float *got = arena_array(&a, float, dims);
  double *want = arena_array(&a, double, dims);
  for (size_t n = 1; n <= 24; n += n < 4 ? 1 : 5) {
    int32_t ids[24];
    random_ids(ids, n, shape.vocab, seed + (uint32_t)n);
    struct encoder_text text = {.ids = ids, .n = n};
    made_reference(&a, &source, ids, n, want);
    for (size_t i = 0; kernel_at(i); i++) {
      if (!kernel_at(i)->usable())
        continue;
      test_note("%zu tokens, kernel %s", n, kernel_at(i)->name);
      CHECK_OK(encoder_run(&m, &a,
                           &(struct encoder_input){.texts = &text, .n = 1, .kernel = kernel_at(i), .threads = 1}, got,
                           &err),
               &err);
      CHECK(made_cosine(got, want, dims) > 0.999);
      /* Compare the length, too. */
      CHECK_NEAR((double)got[0], want[0], 0.15);
    }
  }
  arena_release(&a);
}

TEST(encoder_first_token) { check_shape(made_shape, 1); }

TEST(encoder_mean_without_projection) {
  struct model_shape shape = made_shape;
  shape.pooling = MODEL_POOL_MEAN;
  shape.activation = MODEL_GELU_TANH;
  check_shape(shape, 2);
}

TEST(encoder_projection_and_relu) {
  struct model_shape shape = made_shape;
  shape.projection = true;
  shape.dims = 10;
  shape.activation = MODEL_RELU;
  check_shape(shape, 3);
}

TEST(encoder_other_sizes) {
  struct model_shape shape = made_shape;
  shape.layers = 3;
  shape.hidden = shape.dims = 80;
  shape.heads = 5;
  shape.ffn = 208;
  check_shape(shape, 4);
  shape.layers = 1;
  shape.heads = 1;
  shape.pooling = MODEL_POOL_MEAN;
  check_shape(shape, 5);
}

/* Texts of many lengths give the same bits, one by one or together, with one thread or several. */
static void check_batches(enum model_pooling pooling) {
  enum { N = 60, DIMS = 32 };
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct model_shape shape = made_shape;
  shape.pooling = pooling;
  struct model_source source = made_source(&a, &shape, 8);
  struct model m;
  CHECK_OK(model_file_open(made_file(&a, &source), &m, &err), &err);
  static int32_t ids[N][24];
  static float alone[N][DIMS], together[N][DIMS];
  struct encoder_text texts[N];
  for (uint32_t i = 0; i < N; i++) {
    texts[i] = (struct encoder_text){.ids = ids[i], .n = 1 + i * 5 % 24};
    random_ids(ids[i], 24, 20, i);
    CHECK_OK(encoder_run(&m, &a,
                         &(struct encoder_input){.texts = &texts[i], .n = 1, .kernel = &kernel_scalar, .threads = 1},
                         alone[i], &err),
             &err);
  }
  for (size_t threads = 0; threads <= 20; threads += threads < 4 ? 1 : 8)
    for (size_t n = 1; n <= N; n += 59) {
      memset(together, 0, sizeof(together));
      CHECK_OK(
          encoder_run(&m, &a, &(struct encoder_input){.texts = texts, .n = n, .threads = threads}, together[0], &err),
          &err);
      test_note("%zu threads, %zu texts", threads, n);
      CHECK(memcmp(together, alone, n * sizeof(alone[0])) == 0);
    }
  CHECK_OK(encoder_run(&m, &a, &(struct encoder_input){0}, NULL, &err), &err);
  arena_release(&a);
}

TEST(encoder_batches_of_first_tokens) { check_batches(MODEL_POOL_CLS); }
TEST(encoder_batches_of_means) { check_batches(MODEL_POOL_MEAN); }

TEST(encoder_rejects_ids_out_of_range) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct model_source source = made_source(&a, &made_shape, 8);
  struct model m;
  CHECK_OK(model_file_open(made_file(&a, &source), &m, &err), &err);
  float out[32];
  int32_t high[] = {1, 20}, low[] = {-1}, many[25] = {0};
  struct encoder_text bad[] = {{high, 2, 0}, {low, 1, 0}, {many, 25, 0}, {many, 0, 0}, {many, 24, 13}, {many, 20, 20}};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++)
    CHECK_STATUS(encoder_run(&m, &a, &(struct encoder_input){.texts = &bad[i], .n = 1, .threads = 1}, out, &err),
                 STATUS_INTERNAL);
  struct encoder_text good = {.ids = many, .n = 24};
  CHECK_OK(encoder_run(&m, &a, &(struct encoder_input){.texts = &good, .n = 1, .threads = 1}, out, &err), &err);
  arena_release(&a);
}
