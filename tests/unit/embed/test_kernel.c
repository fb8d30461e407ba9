/* test_kernel.c: every kernel against plain arithmetic, and bit by bit against the scalar kernel. */
#include "embed/encoder/kernel.h"

#include <math.h>

#include "made_model.h"
#include "support/harness.h"

static float *random_array(struct arena *a, size_t n, float size, uint32_t seed) {
  float *v = arena_array(a, float, n);
  for (size_t i = 0; i < n; i++)
    v[i] = size * made_random(&seed);
  return v;
}

static struct model_matrix random_matrix(struct arena *a, size_t outputs, size_t inputs, uint32_t seed) {
  int8_t *packed = arena_array(a, int8_t, outputs *inputs);
  int32_t *sum = arena_array(a, int32_t, outputs);
  for (size_t i = 0; i < outputs * inputs; i++) {
    packed[i] = (int8_t)(127.9F * made_random(&seed));
    sum[i / (16 * inputs) * 16 + i / 4 % 16] += packed[i];
  }
  return (struct model_matrix){.outputs = (int)outputs,
                               .inputs = (int)inputs,
                               .scale = random_array(a, outputs, 0.01F, seed + 1),
                               .bias = random_array(a, outputs, 1, seed + 2),
                               .sum = sum,
                               .packed = packed};
}

static float *product(struct arena *a, const struct kernel *k, const struct model_matrix *m, const float *x,
                      size_t rows) {
  size_t inputs = (size_t)m->inputs;
  char *q = arena_alloc(a, rows * inputs * k->input_size);
  struct kernel_row *r = arena_array(a, struct kernel_row, rows);
  float *out = arena_array(a, float, rows *(size_t)m->outputs);
  for (size_t i = 0; i < rows; i++)
    k->quantise(x + i * inputs, inputs, q + i * inputs * k->input_size, &r[i]);
  k->multiply(m, q, r, rows, out);
  return out;
}

/* Runs fn for every kernel that this processor supports, and notes their names. */
static void each_kernel(void (*fn)(const struct kernel *k)) {
  for (size_t i = 0; kernel_at(i); i++)
    if (kernel_at(i)->usable()) {
      test_note("kernel %s", kernel_at(i)->name);
      fn(kernel_at(i));
    }
}

static const size_t shapes[][3] = {/* rows, outputs, inputs */
                                   {1, 16, 16},  {2, 32, 48},   {3, 48, 16},   {4, 64, 64},
                                   {5, 80, 32},  {6, 96, 96},   {7, 112, 144}, {8, 16, 384},
                                   {9, 64, 208}, {13, 128, 80}, {48, 144, 32}, {49, 64, 16}};

static void product_is_right(const struct kernel *k) {
  for (size_t s = 0; s < ARRAY_LEN(shapes); s++) {
    size_t rows = shapes[s][0], outputs = shapes[s][1], inputs = shapes[s][2];
    struct arena a;
    arena_init(&a);
    struct model_matrix m = random_matrix(&a, outputs, inputs, (uint32_t)s + 5);
    float *x = random_array(&a, rows * inputs, 3, (uint32_t)s);
    const float *got = product(&a, k, &m, x, rows);
    for (size_t r = 0; r < rows; r++)
      for (size_t o = 0; o < outputs; o++) {
        double want = 0, slack = 1e-4;
        for (size_t i = 0; i < inputs; i++) {
          double w = (double)m.packed[o / 16 * 16 * inputs + i / 4 * 64 + o % 16 * 4 + i % 4] * (double)m.scale[o];
          want += w * (double)x[r * inputs + i];
          slack += fabs(w) * 6.0 / 255 * 0.501; /* half a quantisation step of the inputs */
        }
        CHECK_NEAR((double)got[r * outputs + o], want + (double)m.bias[o], slack);
      }
    arena_release(&a);
  }
}

TEST(kernels_multiply) { each_kernel(product_is_right); }

/* Integers over the full range of a byte are quantised without loss, so sums must be exact. */
static void product_is_exact(const struct kernel *k) {
  enum { INPUTS = 1536, OUTPUTS = 64 };
  struct arena a;
  arena_init(&a);
  int8_t *packed = arena_array(&a, int8_t, INPUTS *OUTPUTS);
  float scale[OUTPUTS], bias[OUTPUTS] = {0}, *x = arena_array(&a, float, INPUTS);
  int32_t sum[OUTPUTS] = {0};
  uint32_t seed = 9;
  for (size_t i = 0; i < INPUTS; i++)
    x[i] = i == 7 ? -128 : i == 8 ? 127 : roundf(127 * made_random(&seed));
  for (size_t o = 0; o < OUTPUTS; o++)
    scale[o] = 1;
  for (size_t i = 0; i < INPUTS * OUTPUTS; i++) {
    size_t o = i / (16 * INPUTS) * 16 + i / 4 % 16;
    packed[i] = (int8_t)(o % 4 == 0 ? 127 : o % 4 == 1 ? -127 : (int)(127.9F * made_random(&seed)));
    sum[o] += packed[i];
  }
  struct model_matrix m = {OUTPUTS, INPUTS, scale, bias, sum, packed};
  const float *got = product(&a, k, &m, x, 1);
  for (size_t o = 0; o < OUTPUTS; o++) {
    int32_t want = 0;
    for (size_t i = 0; i < INPUTS; i++)
      want += (int32_t)x[i] * packed[o / 16 * 16 * INPUTS + i / 4 * 64 + o % 16 * 4 + i % 4];
    CHECK_NEAR((double)got[o], (double)(float)want, 0);
  }
  arena_release(&a);
}

TEST(kernels_multiply_exactly) { each_kernel(product_is_exact); }

static void rows_of_nothing(const struct kernel *k) {
  struct arena a;
  arena_init(&a);
  struct model_matrix m = random_matrix(&a, 16, 32, 1);
  float x[3 * 32] = {0};
  for (size_t i = 32; i < 64; i++)
    x[i] = i % 2 ? INFINITY : NAN; /* a damaged model may have such values; they must not crash */
  for (size_t i = 64; i < 96; i++)
    x[i] = 1e-38F;
  const float *got = product(&a, k, &m, x, 3);
  for (size_t i = 0; i < 16; i++)
    CHECK_NEAR((double)got[i], (double)m.bias[i], 0);
  arena_release(&a);
}

TEST(kernels_quantise_zero_and_non_finite_rows) { each_kernel(rows_of_nothing); }

static double gelu(double x) { return x * 0.5 * (1 + erf(x / sqrt(2))); }

static double gelu_tanh(double x) { return x * 0.5 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

static void activations_are_right(const struct kernel *k) {
  for (float from = -12; from < 12; from += 0.01F) {
    float erf_form[16], tanh_form[16], relu_form[16], x[16];
    for (size_t i = 0; i < 16; i++)
      x[i] = erf_form[i] = tanh_form[i] = relu_form[i] = from + (float)i * 0.1F;
    k->activate(erf_form, 16, MODEL_GELU_ERF);
    k->activate(tanh_form, 16, MODEL_GELU_TANH);
    k->activate(relu_form, 16, MODEL_RELU);
    for (size_t i = 0; i < 16; i++) {
      double v = (double)x[i], slack = 1e-6 + fabs(v) * 1e-6;
      CHECK_NEAR((double)erf_form[i], gelu(v), slack);
      CHECK_NEAR((double)tanh_form[i], gelu_tanh(v), slack);
      CHECK_NEAR((double)relu_form[i], v > 0 ? v : 0, 0);
    }
  }
}

TEST(kernels_activate) { each_kernel(activations_are_right); }

static void norm_is_right(const struct kernel *k) {
  enum { N = 48 };
  struct arena a;
  arena_init(&a);
  float *x = random_array(&a, N, 5, 1), *add = random_array(&a, N, 2, 2), *got = random_array(&a, N, 5, 1);
  struct model_norm n = {random_array(&a, N, 1, 3), random_array(&a, N, 1, 4)};
  double mean = 0, variance = 0;
  for (size_t i = 0; i < N; i++)
    mean += ((double)x[i] + (double)add[i]) / (double)N;
  for (size_t i = 0; i < N; i++)
    variance += pow((double)x[i] + (double)add[i] - mean, 2) / (double)N;
  k->norm(got, add, N, &n, 1e-3F);
  for (size_t i = 0; i < N; i++)
    CHECK_NEAR((double)got[i],
               ((double)x[i] + (double)add[i] - mean) / sqrt(variance + 1e-3) * (double)n.weight[i] + (double)n.bias[i],
               1e-5);
  arena_release(&a);
}

TEST(kernels_norm) { each_kernel(norm_is_right); }

/* Results of all operations for one seed, which must be bit-identical in every kernel. */
static float *everything(struct arena *a, const struct kernel *k, uint32_t seed, size_t *ret_n) {
  enum { TOKENS_MAX = 70, HIDDEN = 96, HEADS = 3, ALL = 200000 };
  float *all = arena_array(a, float, ALL);
  size_t n = 0;
  const size_t *shape = shapes[seed % ARRAY_LEN(shapes)];
  struct model_matrix m = random_matrix(a, shape[1], shape[2], seed);
  const float *x = random_array(a, shape[0] * shape[2], 40, seed);
  memcpy(all, product(a, k, &m, x, shape[0]), shape[0] * shape[1] * sizeof(float));
  n += shape[0] * shape[1];
  for (enum model_activation act = MODEL_GELU_ERF; act <= MODEL_RELU; act++) {
    float *y = random_array(a, 4096, seed % 2 ? 3 : 90, seed);
    memset(y, 0, 8 * sizeof(float));
    k->activate(y, 4096, act);
    memcpy(all + n, y, 4096 * sizeof(float));
    n += 4096;
  }
  float *y = random_array(a, 2 * HIDDEN, 4, seed);
  struct model_norm norm = {random_array(a, HIDDEN, 1, seed), random_array(a, HIDDEN, 1, seed + 1)};
  k->norm(y, y + HIDDEN, HIDDEN, &norm, 1e-12F);
  memcpy(all + n, y, HIDDEN * sizeof(float));
  n += HIDDEN;
  all[n++] = k->dot(x, y, 16);
  size_t tokens = 1 + seed * 7 % TOKENS_MAX, queries = seed % 3 ? tokens : 1;
  struct kernel_attention at = {
      .tokens = tokens,
      .queries = queries,
      .hidden = HIDDEN,
      .heads = HEADS,
      .query = random_array(a, tokens * HIDDEN, 2, seed + 3),
      .key = random_array(a, tokens * HIDDEN, seed % 5 ? 2 : 40, seed + 4),
      .value = random_array(a, tokens * HIDDEN, 2, seed + 5),
      .scratch = arena_array(a, float, kernel_attention_scratch(tokens, HIDDEN, HEADS)),
      .context = all + n,
  };
  k->attend(&at);
  n += queries * HIDDEN;
  int8_t word[HIDDEN];
  for (size_t i = 0; i < HIDDEN; i++)
    word[i] = (int8_t)(127 * made_random(&seed));
  k->embed(word, 0.013F, y, HIDDEN, all + n);
  n += HIDDEN;
  CHECK(n < ALL);
  *ret_n = n;
  return all;
}

static void same_bits_as_scalar(const struct kernel *k) {
  for (uint32_t seed = 0; seed < 60; seed++) {
    struct arena a;
    arena_init(&a);
    size_t n, want_n;
    const float *got = everything(&a, k, seed, &n), *want = everything(&a, &kernel_scalar, seed, &want_n);
    CHECK_INT(n, want_n);
    for (size_t i = 0; i < n; i++)
      if (memcmp(&got[i], &want[i], sizeof(float)) != 0)
        FAIL("%s, seed %u: result %zu is %a, not %a", k->name, seed, i, (double)got[i], (double)want[i]);
    arena_release(&a);
  }
}

TEST(kernels_give_the_same_bits) { each_kernel(same_bits_as_scalar); }

/* Nothing is written after the end of a result, for any number of rows. */
static void stays_inside(const struct kernel *k) {
  for (size_t rows = 1; rows <= 14; rows++) {
    struct arena a;
    arena_init(&a);
    struct model_matrix m = random_matrix(&a, 80, 32, 1);
    char *q = arena_alloc(&a, rows * 32 * k->input_size + 64);
    memset(q, 0x5a, rows * 32 * k->input_size + 64);
    struct kernel_row r[14];
    float *x = random_array(&a, 32, 1, 2), *out = random_array(&a, rows * 80 + 16, 1, 3);
    const float *before = random_array(&a, rows * 80 + 16, 1, 3);
    for (size_t i = 0; i < rows; i++)
      k->quantise(x, 32, q + i * 32 * k->input_size, &r[i]);
    for (size_t i = 0; i < 64; i++)
      CHECK_INT(q[rows * 32 * k->input_size + i], 0x5a);
    k->multiply(&m, q, r, rows, out);
    CHECK(memcmp(out + rows * 80, before + rows * 80, 16 * sizeof(float)) == 0);
    CHECK(memcmp(out, before, 16 * sizeof(float)) != 0);
    arena_release(&a);
  }
}

TEST(kernels_do_not_write_out_of_bounds) { each_kernel(stays_inside); }

TEST(best_kernel_is_usable) {
  CHECK(kernel_best()->usable());
  CHECK(kernel_at(0) == &kernel_scalar);
}
