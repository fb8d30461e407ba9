/* encoder.c: layers of the encoder, over the rows of several texts at once. */
#include "embed/encoder/encoder_pass.h"

#include <assert.h>

/* State of one pass. The rows (tokens) of its texts follow each other. */
struct pass {
  const struct model *m;
  const struct kernel *k;
  const struct encoder_scratch *s;
  const struct encoder_text *texts;
  size_t ntexts, nrows, hidden;
};

size_t encoder_rows(const struct encoder_text *texts, size_t n) {
  size_t rows = 0;
  for (size_t i = 0; i < n; i++)
    rows += texts[i].n;
  return rows;
}

/* Aligned to 64 bytes, so rows start at cache lines. */
static void *alloc_aligned(struct arena *a, size_t size) {
  uintptr_t p = (uintptr_t)arena_alloc(a, size + 64);
  return (void *)((p + 63) & ~(uintptr_t)63);
}

void encoder_scratch_init(struct encoder_scratch *s, struct arena *a, const struct model *m, size_t rows,
                          size_t longest) {
  assert(longest > 0 && longest <= rows);
  size_t hidden = (size_t)m->shape.hidden, ffn = (size_t)m->shape.ffn;
  size_t block = rows < KERNEL_ROWS ? rows : KERNEL_ROWS;
  size_t inputs = rows * hidden > block * ffn ? rows * hidden : block * ffn;
  float **const buffers[] = {&s->x, &s->query, &s->key, &s->value, &s->context};
  for (size_t i = 0; i < ARRAY_LEN(buffers); i++)
    *buffers[i] = alloc_aligned(a, rows * hidden * sizeof(float));
  s->inner = alloc_aligned(a, block * ffn * sizeof(float));
  s->inputs = alloc_aligned(a, inputs * sizeof(int16_t)); /* the largest input_size of a kernel */
  s->rows = alloc_aligned(a, rows * sizeof(*s->rows));
  s->attention = alloc_aligned(a, kernel_attention_scratch(longest, hidden, (size_t)m->shape.heads) * sizeof(float));
}

static void quantise_rows(const struct pass *p, const float *x, size_t nrows, size_t width) {
  assert(p->k->input_size <= sizeof(int16_t));
  for (size_t r = 0; r < nrows; r++)
    p->k->quantise(x + r * width, width, p->s->inputs + r * width * p->k->input_size, &p->s->rows[r]);
}

static size_t position(const struct model_shape *s, const struct encoder_text *text, size_t t) {
  return text->second && t >= text->second ? (size_t)s->positions / 2 + t - text->second : t;
}

static void embed_rows(const struct pass *p) {
  const struct model *m = p->m;
  float *x = p->s->x;
  for (size_t i = 0; i < p->ntexts; i++)
    for (size_t t = 0; t < p->texts[i].n; t++, x += p->hidden) {
      size_t id = (size_t)p->texts[i].ids[t];
      assert(id < (size_t)m->shape.vocab);
      const float *row = m->position_rows + position(&m->shape, &p->texts[i], t) * p->hidden;
      p->k->embed(m->words + id * p->hidden, m->word_scale[id], row, p->hidden, x);
      p->k->norm(x, NULL, p->hidden, &m->embedding_norm, m->shape.norm_eps);
    }
  assert((size_t)(x - p->s->x) == p->nrows * p->hidden);
}

/* Moves the first row of each text, in float and quantised, to the front. With CLS pooling the last layer needs only
 * their queries. */
static void keep_first_rows(struct pass *p) {
  size_t size = p->hidden * p->k->input_size;
  assert(p->ntexts <= p->nrows);
  for (size_t i = 0, row = 0; i < p->ntexts; row += p->texts[i++].n) {
    memmove(p->s->x + i * p->hidden, p->s->x + row * p->hidden, p->hidden * sizeof(float));
    memmove(p->s->inputs + i * size, p->s->inputs + row * size, size);
    p->s->rows[i] = p->s->rows[row];
  }
  p->nrows = p->ntexts;
}

/* Self-attention of each text. With `first_only` only the first token has a query. */
static void attend_texts(const struct pass *p, bool first_only) {
  size_t row = 0, query = 0;
  for (size_t i = 0; i < p->ntexts; i++) {
    struct kernel_attention at = {
        .tokens = p->texts[i].n,
        .queries = first_only ? 1 : p->texts[i].n,
        .hidden = p->hidden,
        .heads = (size_t)p->m->shape.heads,
        .query = p->s->query + query * p->hidden,
        .key = p->s->key + row * p->hidden,
        .value = p->s->value + row * p->hidden,
        .scratch = p->s->attention,
        .context = p->s->context + query * p->hidden,
    };
    p->k->attend(&at);
    row += at.tokens;
    query += at.queries;
  }
  assert(query == p->nrows && row >= query);
}

static void add_norm(const struct pass *p, size_t from, size_t nrows, const float *add, const struct model_norm *norm) {
  for (size_t r = 0; r < nrows; r++)
    p->k->norm(p->s->x + (from + r) * p->hidden, add + r * p->hidden, p->hidden, norm, p->m->shape.norm_eps);
}

/* Works in blocks of rows, so the wide rows between the two matrices stay in the cache. */
static void feed_forward(const struct pass *p, const struct model_layer *l) {
  size_t ffn = (size_t)p->m->shape.ffn;
  for (size_t row = 0, n; row < p->nrows; row += n) {
    n = p->nrows - row < KERNEL_ROWS ? p->nrows - row : KERNEL_ROWS;
    quantise_rows(p, p->s->x + row * p->hidden, n, p->hidden);
    p->k->multiply(&l->intermediate, p->s->inputs, p->s->rows, n, p->s->inner);
    p->k->activate(p->s->inner, n * ffn, p->m->shape.activation);
    quantise_rows(p, p->s->inner, n, ffn);
    /* The query buffer is no longer needed. */
    p->k->multiply(&l->output, p->s->inputs, p->s->rows, n, p->s->query);
    add_norm(p, row, n, p->s->query, &l->output_norm);
  }
}

static void run_layer(struct pass *p, int index) {
  struct model_layer l = model_layer(p->m, index);
  const struct encoder_scratch *s = p->s;
  bool first_only = p->m->shape.pooling == MODEL_POOL_CLS && index + 1 == p->m->shape.layers;
  quantise_rows(p, s->x, p->nrows, p->hidden);
  p->k->multiply(&l.key, s->inputs, s->rows, p->nrows, s->key);
  p->k->multiply(&l.value, s->inputs, s->rows, p->nrows, s->value);
  if (first_only)
    keep_first_rows(p);
  p->k->multiply(&l.query, s->inputs, s->rows, p->nrows, s->query);
  attend_texts(p, first_only);
  quantise_rows(p, s->context, p->nrows, p->hidden);
  p->k->multiply(&l.attention_output, s->inputs, s->rows, p->nrows, s->query);
  add_norm(p, 0, p->nrows, s->query, &l.attention_norm);
  feed_forward(p, &l);
}

/* Replaces the first row by the mean of all rows, summed in order. */
static void mean_rows(float *x, size_t nrows, size_t hidden) {
  assert(nrows > 0);
  for (size_t i = 0; i < hidden; i++) {
    float sum = 0;
    for (size_t r = 0; r < nrows; r++)
      sum += x[r * hidden + i];
    x[i] = sum / (float)nrows;
  }
}

static void pool(const struct pass *p, float *ret_vectors) {
  const struct model_shape *shape = &p->m->shape;
  float *x = p->s->x;
  for (size_t i = 0; i < p->ntexts; i++) {
    bool mean = shape->pooling == MODEL_POOL_MEAN;
    if (mean)
      mean_rows(x, p->texts[i].n, p->hidden);
    for (size_t d = 0; d < (size_t)shape->dims; d++)
      *ret_vectors++ = shape->projection ? p->k->dot(p->m->projection + d * p->hidden, x, p->hidden) : x[d];
    x += (mean ? p->texts[i].n : 1) * p->hidden;
  }
  assert((size_t)(x - p->s->x) == p->nrows * p->hidden);
}

void encoder_pass(const struct model *m, const struct kernel *k, const struct encoder_scratch *s,
                  const struct encoder_text *texts, size_t n, float *ret_vectors) {
  struct pass p = {m, k, s, texts, n, encoder_rows(texts, n), (size_t)m->shape.hidden};
  assert(n > 0 && p.nrows >= n && m->shape.layers > 0);
  embed_rows(&p);
  for (int i = 0; i < m->shape.layers; i++)
    run_layer(&p, i);
  pool(&p, ret_vectors);
}
