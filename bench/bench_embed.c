/* bench_embed.c: the built-in embedder: a query and a memory from text to vector, then each kernel that this CPU
 * supports: texts of several lengths on one core, a batch on all cores, and the matrix product. */
#include <stdlib.h>

#include "base/os/fs.h"
#include "embed/builtin.h"
#include "embed/encoder/encoder.h"
#include "support/measure.h"

enum { RUNS = 40, BATCH = 200, BATCH_TOKENS = 60, TOKENS_MAX = 512 };

static const char query[] = "which package manager may I use in this project";
static const char memory[] =
    "Deploys go through the staging cluster first: the release job waits until its health checks have been green for "
    "ten minutes, then promotes the same image to production, one zone after the other. Never deploy on a Friday.";

static void time_text(const char *name, const struct embedder *e, struct str text, const char *target) {
  static struct samples s;
  s.n = 0;
  int8_t *vector = malloc((size_t)e->dims);
  for (int i = 0; i < RUNS; i++) {
    struct arena a = {0};
    struct error err;
    double began = now_us();
    if (e->embed(e, &a, EMBED_QUERY, &text, 1, vector, &err) != STATUS_OK)
      fail("%s", err.message);
    samples_add(&s, (now_us() - began) / 1000);
    arena_release(&a);
  }
  free(vector);
  report(name, &s, "ms", target);
}

/* Reads the model file again, because the embedder does not expose its model. */
static void open_model(struct arena *a, const char *path, struct model *ret_model) {
  struct str bytes;
  struct error err;
  if (fs_read(a, path, 1 << 30, &bytes, &err) != STATUS_OK)
    fail("%s", err.message);
  char *p = arena_alloc(a, bytes.n + MODEL_ALIGN);
  p += MODEL_ALIGN - (uintptr_t)p % MODEL_ALIGN;
  memcpy(p, bytes.p, bytes.n);
  double began = now_us();
  if (model_file_open((struct str){p, bytes.n}, ret_model, &err) != STATUS_OK)
    fail("%s", err.message);
  report_text("opening the model, with its checksum", "%.2f ms", (now_us() - began) / 1000);
}

/* Milliseconds of the fastest run, which is the least disturbed by other load. */
static double fastest(const struct model *m, const struct kernel *k, const struct encoder_text *texts, size_t n,
                      size_t threads, int runs) {
  double best = 0;
  for (int i = 0; i < runs; i++) {
    struct arena a = {0};
    struct error err;
    float *vectors = arena_alloc(&a, n * (size_t)m->shape.dims * sizeof(float));
    double began = now_us();
    if (encoder_run(m, &a, &(struct encoder_input){.texts = texts, .n = n, .kernel = k, .threads = threads}, vectors,
                    &err) != STATUS_OK)
      fail("%s", err.message);
    double took = (now_us() - began) / 1000;
    best = i == 0 || took < best ? took : best;
    arena_release(&a);
  }
  return best;
}

static double gmacs(const struct model *m, const struct kernel *k, int runs) {
  struct arena a = {0};
  struct model_layer l = model_layer(m, 0);
  size_t n = (size_t)l.intermediate.inputs;
  float *x = arena_array(&a, float, n), *out = arena_array(&a, float, KERNEL_ROWS *(size_t)l.intermediate.outputs);
  char *inputs = arena_alloc(&a, KERNEL_ROWS * n * k->input_size);
  struct kernel_row rows[KERNEL_ROWS];
  for (size_t i = 0; i < n; i++)
    x[i] = (float)(i % 17) - 8;
  for (size_t r = 0; r < KERNEL_ROWS; r++)
    k->quantise(x, n, inputs + r * n * k->input_size, &rows[r]);
  double best = 0;
  for (int i = 0; i < runs; i++) {
    double began = now_us();
    k->multiply(&l.intermediate, inputs, rows, KERNEL_ROWS, out);
    double took = now_us() - began;
    best = i == 0 || took < best ? took : best;
  }
  arena_release(&a);
  return (double)KERNEL_ROWS * (double)n * (double)l.intermediate.outputs / best / 1000;
}

static void measure_kernel(const struct model *m, const struct kernel *k) {
  static int32_t ids[TOKENS_MAX];
  for (size_t i = 0; i < TOKENS_MAX; i++)
    ids[i] = (int32_t)(i * 7919 % (size_t)m->shape.vocab);
  bool slow = k == kernel_at(0);
  double ms[3];
  const size_t lengths[] = {12, 60, 128};
  for (size_t i = 0; i < 3; i++) {
    struct encoder_text text = {ids, lengths[i]};
    ms[i] = fastest(m, k, &text, 1, 1, slow ? 3 : RUNS);
  }
  static struct encoder_text batch[BATCH];
  size_t n = slow ? 8 : BATCH;
  for (size_t i = 0; i < n; i++)
    batch[i] = (struct encoder_text){.ids = ids + i, .n = BATCH_TOKENS};
  double batch_ms = fastest(m, k, batch, n, 0, 2);
  char name[64];
  snprintf(name, sizeof(name), "kernel %s: 12, 60, 128 tokens", k->name);
  report_text(name, "%.2f, %.2f, %.2f ms; %.0f texts of %d tokens a second; %.0f GMAC/s", ms[0], ms[1], ms[2],
              (double)n * 1000 / batch_ms, BATCH_TOKENS, gmacs(m, k, slow ? 5 : RUNS));
}

int main(int argc, char **argv) {
  if (argc != 2)
    fail("usage: bench_embed MODEL");
  const struct embedder *e;
  struct error err;
  if (embedder_builtin(&e, &err) != STATUS_OK)
    fail("%s", err.message);
  time_text("embedding a question of 9 words", e, str_from(query), "target: below 4 ms");
  time_text("embedding a memory of 37 words", e, str_from(memory), "target: below 20 ms");
  struct arena a = {0};
  struct model m;
  open_model(&a, argv[1], &m);
  for (size_t i = 0; kernel_at(i); i++)
    if (kernel_at(i)->usable())
      measure_kernel(&m, kernel_at(i));
  arena_release(&a);
  return 0;
}
