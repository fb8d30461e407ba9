/* encoder_batch.c: splits many texts into passes and runs them on several threads. */
#include <assert.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/os/thread.h"
#include "embed/encoder/encoder_pass.h"

/* Rows per pass, as far as the lengths of the texts allow. Short texts share a pass, so the weights are read once
 * for all of them. More than the maximum gains nothing; fewer than the minimum are not worth a thread. */
enum { PASS_MIN_ROWS = 24, PASS_MAX_ROWS = 96 };

struct part {
  size_t first, n; /* texts */
};

struct batch {
  const struct model *m;
  const struct kernel *k;
  const struct encoder_text *texts;
  float *vectors;
  struct part *parts;
  size_t nparts;
  atomic_size_t next; /* next part to process */
};

struct worker {
  struct batch *batch;
  struct encoder_scratch scratch;
  pthread_t thread;
  bool started;
};

static void *work(void *arg) {
  struct worker *w = arg;
  struct batch *b = w->batch;
  for (size_t i; (i = atomic_fetch_add(&b->next, 1)) < b->nparts;) {
    struct part part = b->parts[i];
    assert(part.n > 0);
    encoder_pass(b->m, b->k, &w->scratch, b->texts + part.first, part.n,
                 b->vectors + part.first * (size_t)b->m->shape.dims);
  }
  return NULL;
}

/* The calling thread works too, so a failure to start a thread only costs time. */
static void run_workers(struct worker *workers, size_t n) {
  for (size_t i = 1; i < n; i++)
    workers[i].started = thread_start(&workers[i].thread, work, &workers[i]) == 0;
  work(&workers[0]);
  for (size_t i = 1; i < n; i++)
    if (workers[i].started)
      pthread_join(workers[i].thread, NULL);
}

static enum status check_text(const struct model_shape *s, const struct encoder_text *text, struct error *err) {
  size_t half = (size_t)s->positions / 2;
  bool fits = text->second ? text->second <= half && text->n - text->second <= half : text->n <= (size_t)s->positions;
  if (text->n < 1 || text->second >= text->n || !fits)
    return error_set(err, STATUS_INTERNAL, "a text has %zu tokens, but the model has %d positions", text->n,
                     s->positions);
  for (size_t i = 0; i < text->n; i++)
    if (text->ids[i] < 0 || text->ids[i] >= s->vocab)
      return error_set(err, STATUS_INTERNAL, "token %d is outside the model's vocabulary of %d", text->ids[i],
                       s->vocab);
  return STATUS_OK;
}

/* Number of rows per pass that gives every thread a share. */
static size_t pass_rows(const struct batch *b, size_t n, size_t threads) {
  assert(threads > 0);
  size_t share = encoder_rows(b->texts, n) / threads;
  return share < PASS_MIN_ROWS ? PASS_MIN_ROWS : share > PASS_MAX_ROWS ? PASS_MAX_ROWS : share;
}

/* Splits the texts into parts of at most `limit` rows, or one longer text. Returns the rows of the largest part and of
 * the longest text. */
static void split(struct arena *a, struct batch *b, size_t n, size_t limit, size_t *ret_rows, size_t *ret_longest) {
  b->parts = arena_array(a, struct part, n);
  size_t max_rows = 0, longest = 0, rows = 0;
  for (size_t i = 0; i < n; i++) {
    size_t length = b->texts[i].n;
    if (i == 0 || rows + length > limit) {
      b->parts[b->nparts++] = (struct part){.first = i};
      rows = 0;
    }
    b->parts[b->nparts - 1].n++;
    rows += length;
    max_rows = rows > max_rows ? rows : max_rows;
    longest = length > longest ? length : longest;
  }
  assert(b->nparts <= n && longest <= max_rows);
  *ret_rows = max_rows;
  *ret_longest = longest;
}

enum status encoder_run(const struct model *m, struct arena *a, const struct encoder_input *in, float *ret_vectors,
                        struct error *err) {
  for (size_t i = 0; i < in->n; i++)
    TRY(check_text(&m->shape, &in->texts[i], err));
  if (in->n == 0)
    return STATUS_OK;
  struct arena *scratch = arena_child(a);
  struct batch b = {.m = m, .k = in->kernel ? in->kernel : kernel_best(), .texts = in->texts, .vectors = ret_vectors};
  size_t rows, longest, threads = in->threads;
  if (threads == 0)
    threads = in->n > 1 ? thread_share() : 1;
  if (threads > ENCODER_MAX_THREADS)
    threads = ENCODER_MAX_THREADS;
  split(scratch, &b, in->n, pass_rows(&b, in->n, threads), &rows, &longest);
  if (threads > b.nparts)
    threads = b.nparts;
  assert(threads > 0 && threads <= ENCODER_MAX_THREADS);
  struct worker workers[ENCODER_MAX_THREADS] = {0};
  for (size_t i = 0; i < threads; i++) {
    workers[i].batch = &b;
    encoder_scratch_init(&workers[i].scratch, scratch, m, rows, longest);
  }
  run_workers(workers, threads);
  arena_release(scratch);
  return STATUS_OK;
}
