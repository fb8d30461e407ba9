/* kernel_body.h: float code shared by all kernels. Each kernel_*.c includes it after its own definitions.
 *
 * The including file defines
 *   KERNEL, KERNEL_NAME, LANES (floats per register: 4, 8 or 16), TILE_ROWS (at most 6), TILE_PANELS (1, 2 or 4),
 *   typedef ... vf, vi;                  registers of LANES floats and of LANES int32
 *   typedef ... input;                   type of a quantised activation in dot_tile()
 *   INPUT_SHIFT                          subtracted from q (0..255) when it is stored as an input
 *   kernel_usable()
 *   store_inputs(vi q, input *p)         stores LANES values of 0..255 minus INPUT_SHIFT
 *   dot_tile(packed, stride, inputs, k, rows, panels, tile)   dot products; inlined with constant rows and panels
 *
 * All operations are element-wise or sums with sum16(), so no result depends on LANES. */

#include <assert.h>

enum { VECTORS = 16 / LANES };

static inline vf load(const float *p) {
  vf v;
  memcpy(&v, p, sizeof(v));
  return v;
}

static inline void store(float *p, vf v) { memcpy(p, &v, sizeof(v)); }

static inline vi load_int(const int32_t *p) {
  vi v;
  memcpy(&v, p, sizeof(v));
  return v;
}

static inline vf all(float x) { return x - (vf){0}; }

static inline vf as_float(vi v) { return (vf)v; }

static inline vi as_int(vf v) { return (vi)v; }

/* a where the mask is all ones, b where it is zero. */
static inline vf pick(vi mask, vf a, vf b) { return as_float((mask & as_int(a)) | (~mask & as_int(b))); }

static inline vf larger(vf a, vf b) { return pick(a > b, a, b); }

static inline vf smaller(vf a, vf b) { return pick(a < b, a, b); }

/* Adding this rounds to the nearest integer, half to even, for |x| < 2^22: the sum has no bits left for a fraction. */
#define ROUNDER 12582912.0F

static inline vi round_int(vf x) { return as_int(x + ROUNDER) - 0x4b400000; }

/* Adds 16 partial sums as a tree, in the same order in every kernel. */
static inline float sum16(const vf part[VECTORS]) {
  float s[16];
  for (size_t j = 0; j < VECTORS; j++)
    store(s + j * LANES, part[j]);
  for (int width = 8; width; width /= 2)
    for (int i = 0; i < width; i++)
      s[i] += s[i + width];
  return s[0];
}

static inline float max16(const vf part[VECTORS]) {
  float s[16];
  for (size_t j = 0; j < VECTORS; j++)
    store(s + j * LANES, part[j]);
  float most = s[0];
  for (int i = 1; i < 16; i++)
    most = s[i] > most ? s[i] : most;
  return most;
}

/* e^x for x <= 0, with a relative error of about 2e-7; 0 below -87. */
static inline vf exp_negative(vf x) {
  vf bounded = larger(x, all(-87.0F));
  vf t = bounded * 1.44269504F;
  vf whole = (t + ROUNDER) - ROUNDER;
  vf f = t - whole;
  vf p = f * 0.00132186722F + 0.00967169832F;
  p = p * f + 0.0555089302F;
  p = p * f + 0.24022238F;
  p = p * f + 0.693146884F;
  p = p * f + 1.0F;
  /* 2^whole, by setting the exponent; whole is at least -126. */
  vi power = (round_int(whole) + 127) << 23;
  return pick(x < all(-87.0F), all(0.0F), p * as_float(power));
}

/* erf(z) for z >= 0: a rational function of z * z, fitted for z <= 4, where erf reaches 1; error at most 4e-7. */
static inline vf erf_positive(vf z) {
  z = smaller(z, all(4.0F));
  vf u = z * z;
  vf p = u * 1.97485815e-06F + 0.000288034906F;
  p = p * u + 0.00400340697F;
  p = p * u + 0.0534667484F;
  p = p * u + 0.196243539F;
  p = p * u + 1.12837899F;
  vf q = u * 3.74808114e-05F + 0.0012162996F;
  q = q * u + 0.015443949F;
  q = q * u + 0.116474167F;
  q = q * u + 0.507247448F;
  q = q * u + 1.0F;
  return z * p / q;
}

static inline vf gelu_erf(vf x) {
  vi sign = as_int(x) & INT32_MIN;
  vf z = as_float(as_int(x) & INT32_MAX) * 0.707106781F;
  vf e = as_float(as_int(erf_positive(z)) | sign);
  return x * 0.5F * (e + 1.0F);
}

/* x * sigmoid(2u), which is x * (1 + tanh u) / 2. Uses the exponential of the negative side, which is below 1. */
static inline vf gelu_tanh(vf x) {
  vf u = x * 1.59576912F * (x * x * 0.044715F + 1.0F);
  vi negative = as_int(u) < 0;
  vf e = exp_negative(as_float(as_int(u) | INT32_MIN));
  return x * pick(negative, e, all(1.0F)) / (e + 1.0F);
}

static void activate(float *x, size_t n, enum model_activation activation) {
  assert(n % MODEL_LANES == 0 && (unsigned)activation <= MODEL_RELU);
  if (activation == MODEL_GELU_ERF)
    for (size_t i = 0; i < n; i += LANES)
      store(x + i, gelu_erf(load(x + i)));
  else if (activation == MODEL_GELU_TANH)
    for (size_t i = 0; i < n; i += LANES)
      store(x + i, gelu_tanh(load(x + i)));
  else
    for (size_t i = 0; i < n; i += LANES)
      store(x + i, larger(load(x + i), all(0.0F)));
}

static float dot(const float *a, const float *b, size_t n) {
  assert(n % MODEL_LANES == 0);
  vf sums[VECTORS] = {0};
  for (size_t i = 0; i < n; i += 16)
    for (size_t j = 0; j < VECTORS; j++)
      sums[j] += load(a + i + j * LANES) * load(b + i + j * LANES);
  return sum16(sums);
}

static void norm(float *x, const float *add, size_t n, const struct model_norm *norm, float eps) {
  assert(n > 0 && n % MODEL_LANES == 0);
  vf sums[VECTORS] = {0}, squares[VECTORS] = {0};
  for (size_t i = 0; i < n; i += 16)
    for (size_t j = 0; j < VECTORS; j++) {
      vf v = load(x + i + j * LANES);
      if (add) {
        v += load(add + i + j * LANES);
        store(x + i + j * LANES, v);
      }
      sums[j] += v;
    }
  float mean = sum16(sums) / (float)n;
  for (size_t i = 0; i < n; i += 16)
    for (size_t j = 0; j < VECTORS; j++) {
      vf v = load(x + i + j * LANES) - mean;
      squares[j] += v * v;
    }
  float factor = 1.0F / __builtin_sqrtf(sum16(squares) / (float)n + eps);
  for (size_t i = 0; i < n; i += LANES)
    store(x + i, (load(x + i) - mean) * factor * load(norm->weight + i) + load(norm->bias + i));
}

static void quantise(const float *x, size_t n, void *ret_inputs, struct kernel_row *ret_row) {
  assert(n % MODEL_LANES == 0);
  input *out = ret_inputs;
  vf lows[VECTORS] = {0}, highs[VECTORS] = {0};
  for (size_t i = 0; i < n; i += 16)
    for (size_t j = 0; j < VECTORS; j++) {
      vf v = load(x + i + j * LANES);
      lows[j] = larger(lows[j], -v);
      highs[j] = larger(highs[j], v);
    }
  /* The range -low..high includes zero and is divided into 255 steps. */
  float low = max16(lows), high = max16(highs), range = low + high;
  /* A row that is zero or not finite is quantised to zero. */
  float inverse = range > 1e-30F && range < 1e30F ? 255.0F / range : 0;
  int32_t zero = inverse > 0 ? (int32_t)(low * inverse + 0.5F) : 0;
  zero = zero > 255 ? 255 : zero;
  for (size_t i = 0; i < n; i += LANES) {
    vi q = round_int(load(x + i) * inverse) + zero;
    q &= ~(q < 0);
    q |= q > 255; /* all ones, masked to 255 below */
    store_inputs((q & 255) - INPUT_SHIFT, out + i);
  }
  *ret_row = (struct kernel_row){inverse > 0 ? range / 255.0F : 0, zero};
}

/* Converts the integer sums of one row of a tile to float. */
static inline void finish_row(const struct model_matrix *m, size_t output, size_t panels, const int32_t *sums,
                              const struct kernel_row *row, float *ret_out) {
  for (size_t i = 0; i < panels * 16; i += LANES) {
    vi sum = load_int(sums + i) - load_int(m->sum + output + i) * (row->zero - INPUT_SHIFT);
    vf factor = load(m->scale + output + i) * row->scale;
    store(ret_out + i, __builtin_convertvector(sum, vf) * factor + load(m->bias + output + i));
  }
}

static inline void multiply_tile(const struct model_matrix *m, size_t output, size_t panels, const input *inputs,
                                 const struct kernel_row *rows, size_t nrows, float *ret_out) {
  size_t k = (size_t)m->inputs, stride = k * 16;
  const int8_t *packed = m->packed + output * k;
  int32_t tile[TILE_ROWS][TILE_PANELS * 16];
  if (panels == TILE_PANELS)
    switch (nrows) {
#define CASE(n)                                                                                                        \
  case n:                                                                                                              \
    dot_tile(packed, stride, inputs, k, n < TILE_ROWS ? n : TILE_ROWS, TILE_PANELS, tile);                             \
    break;
      CASE(1)
      CASE(2)
      CASE(3)
      CASE(4)
      CASE(5)
      CASE(6)
#undef CASE
    default:
      assert(false); /* nrows is 1 to TILE_ROWS */
    }
  else
    for (size_t r = 0; r < nrows; r++)
      dot_tile(packed, stride, inputs + r * k, k, 1, 1, &tile[r]);
  for (size_t r = 0; r < nrows; r++)
    finish_row(m, output, panels, tile[r], &rows[r], ret_out + r * (size_t)m->outputs + output);
}

/* Loops over the outputs first, so the weights of a tile stay in the L1 cache for all rows. */
static void multiply(const struct model_matrix *m, const void *inputs, const struct kernel_row *rows, size_t nrows,
                     float *ret_out) {
  size_t outputs = (size_t)m->outputs, k = (size_t)m->inputs;
  assert(outputs % MODEL_LANES == 0 && k % MODEL_LANES == 0);
  for (size_t output = 0, step; output < outputs; output += step) {
    size_t panels = (outputs - output) / 16 >= TILE_PANELS ? TILE_PANELS : 1;
    step = panels * 16;
    /* Use tiles of about the same height: 5, 4 and 4 for 13 rows, not 6, 6 and 1. */
    for (size_t row = 0, height; row < nrows; row += height) {
      size_t left = nrows - row, tiles = (left + TILE_ROWS - 1) / TILE_ROWS;
      height = (left + tiles - 1) / tiles;
      multiply_tile(m, output, panels, (const input *)inputs + row * k, rows + row, height, ret_out + row * outputs);
    }
  }
}

static void embed(const int8_t *word, float scale, const float *position, size_t n, float *ret_row) {
  for (size_t i = 0; i < n; i++)
    ret_row[i] = (float)word[i] * scale + position[i];
}

/* Scores of up to four queries against all keys. `keys` is transposed to [size][padded], so keys are lanes. */
static void score(const float *query, size_t stride, size_t nqueries, const float *keys, size_t size, size_t padded,
                  float *ret_scores) {
  const float *q[4];
  for (size_t r = 0; r < 4; r++)
    q[r] = query + (r < nqueries ? r : 0) * stride;
  for (size_t t = 0; t < padded; t += LANES) {
    vf s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (size_t d = 0; d < size; d++) {
      vf key = load(keys + d * padded + t);
      s0 += key * q[0][d];
      s1 += key * q[1][d];
      s2 += key * q[2][d];
      s3 += key * q[3][d];
    }
    store(ret_scores + t, s0);
    store(ret_scores + padded + t, s1);
    store(ret_scores + 2 * padded + t, s2);
    store(ret_scores + 3 * padded + t, s3);
  }
}

/* The weights of the padding are zero. */
static void softmax(float *scores, size_t tokens, size_t padded) {
  for (size_t t = tokens; t < padded; t++)
    scores[t] = scores[0];
  vf most[VECTORS], sums[VECTORS] = {0};
  for (size_t j = 0; j < VECTORS; j++)
    most[j] = load(scores + j * LANES);
  for (size_t t = 0; t < padded; t += 16)
    for (size_t j = 0; j < VECTORS; j++)
      most[j] = larger(load(scores + t + j * LANES), most[j]);
  float top = max16(most);
  for (size_t t = 0; t < padded; t += LANES)
    store(scores + t, exp_negative(load(scores + t) - top));
  for (size_t t = tokens; t < padded; t++)
    scores[t] = 0;
  for (size_t t = 0; t < padded; t += 16)
    for (size_t j = 0; j < VECTORS; j++)
      sums[j] += load(scores + t + j * LANES);
  float factor = 1.0F / sum16(sums);
  for (size_t t = 0; t < padded; t += LANES)
    store(scores + t, load(scores + t) * factor);
}

/* Sums of the values, weighted by the scores of up to four queries. */
static void mix(const float *scores, size_t padded, const float *value, size_t stride, size_t tokens, size_t size,
                size_t nqueries, float *ret_context) {
  const float *w[4];
  for (size_t r = 0; r < 4; r++)
    w[r] = scores + (r < nqueries ? r : 0) * padded;
  for (size_t d = 0; d < size; d += LANES) {
    vf s[4] = {0};
    for (size_t t = 0; t < tokens; t++) {
      vf v = load(value + t * stride + d);
      s[0] += v * w[0][t];
      s[1] += v * w[1][t];
      s[2] += v * w[2][t];
      s[3] += v * w[3][t];
    }
    for (size_t r = 0; r < nqueries; r++)
      store(ret_context + r * stride + d, s[r]);
  }
}

static void attend(const struct kernel_attention *at) {
  assert(at->tokens > 0 && at->queries <= at->tokens && at->hidden % (at->heads * MODEL_LANES) == 0);
  size_t hidden = at->hidden, size = hidden / at->heads, padded = (at->tokens + 15) / 16 * 16;
  float *keys = at->scratch, *scores = keys + padded * size;
  for (size_t head = 0; head < at->heads; head++) {
    size_t from = head * size;
    for (size_t d = 0; d < size; d++) {
      for (size_t t = 0; t < at->tokens; t++)
        keys[d * padded + t] = at->key[t * hidden + from + d];
      for (size_t t = at->tokens; t < padded; t++)
        keys[d * padded + t] = 0;
    }
    for (size_t q = 0; q < at->queries; q += 4) {
      size_t n = at->queries - q < 4 ? at->queries - q : 4;
      score(at->query + q * hidden + from, hidden, n, keys, size, padded, scores);
      for (size_t r = 0; r < n; r++)
        softmax(scores + r * padded, at->tokens, padded);
      mix(scores, padded, at->value + from, hidden, at->tokens, size, n, at->context + q * hidden + from);
    }
  }
}

const struct kernel KERNEL = {
    .name = KERNEL_NAME,
    .input_size = sizeof(input),
    .usable = kernel_usable,
    .quantise = quantise,
    .multiply = multiply,
    .norm = norm,
    .activate = activate,
    .attend = attend,
    .embed = embed,
    .dot = dot,
};
