/* calibrate.c: developer tool: fits an embedder's calibration and measures the "same or opposite?" check.
 *
 * Usage: calibrate FOLDER [MODEL [SET]]. FOLDER holds the sentence pairs: label or score, text, text, tab-separated.
 * MODEL is hash-v1, the name of the built-in model, or the file of a converted one. SET prints its misjudged pairs.
 *
 * It fits on one half of each set and measures on both; embed/embed.c explains the knots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/os/clock.h"
#include "embed/builtin.h"
#include "embed/embed.h"
#include "embed/fit.h"
#include "op/eval/pairs.h"

enum set { STSB, MRPC, QUORA, BREAKING, CAD, SICK, NSETS };
enum { FIT, CHECK };

static const struct {
  const char *file;
  enum set set;
  int half; /* FIT or CHECK; -1: alternates every two lines */
} files[] = {
    {"stsb_train.tsv", STSB, FIT},   {"stsb_dev.tsv", STSB, CHECK},      {"mrpc_train.tsv", MRPC, -1},
    {"quora_dev.tsv", QUORA, -1},    {"breaking_nli.tsv", BREAKING, -1}, {"cad_nli_train.tsv", CAD, FIT},
    {"cad_nli_dev.tsv", CAD, CHECK}, {"sick_nli_train.tsv", SICK, FIT},  {"sick_nli_trial.tsv", SICK, CHECK},
};
static const char *const set_names[] = {"stsb", "mrpc", "quora", "breaking", "cad", "sick"};

static struct str read_file(struct arena *a, const char *folder, const char *name) {
  struct str path = arena_printf(a, "%s/%s", folder, name);
  FILE *f = fopen(path.p, "rb");
  struct buf out = BUF(a);
  char block[65536];
  for (size_t n; f && (n = fread(block, 1, sizeof(block), f)) > 0;)
    buf_add(&out, (struct str){block, n});
  if (f)
    fclose(f);
  else
    fprintf(stderr, "cannot read %s\n", path.p);
  return buf_str(&out);
}

static bool is_same(const struct pair *p) {
  return files[p->file].set == STSB ? p->label >= PAIR_SAME_SCORE : p->label > 0;
}

static enum set set_of(const struct pair *p) { return files[p->file].set; }

static int half_of(const struct pair *p) { return files[p->file].half < 0 ? p->line / 2 & 1 : files[p->file].half; }

static void load(struct arena *a, const char *folder, struct pairs *out) {
  struct error err;
  for (size_t i = 0; i < ARRAY_LEN(files); i++)
    if (pairs_read(a, read_file(a, folder, files[i].file), files[i].file, (int)i, 0, out, &err) != STATUS_OK) {
      fprintf(stderr, "%s\n", err.message);
      exit(1);
    }
}

struct sample {
  double x, y;
};

static int by_x(const void *a, const void *b) {
  const struct sample *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

/* Replaces values by their ranks; ties get their mean rank. */
static void rank(struct sample *v, size_t n) {
  qsort(v, n, sizeof(*v), by_x);
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i; j < n && v[j].x == v[i].x; j++)
      ;
    double mean = (double)(i + j - 1) / 2;
    for (size_t k = i; k < j; k++)
      v[k].x = mean;
  }
}

static void swap_axes(struct sample *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    v[i] = (struct sample){v[i].y, v[i].x};
}

static double spearman(struct sample *v, size_t n) {
  double xy = 0, xx = 0, yy = 0, mean = (double)(n - 1) / 2;
  rank(v, n);
  swap_axes(v, n);
  rank(v, n);
  for (size_t i = 0; i < n; i++) {
    xy += (v[i].x - mean) * (v[i].y - mean);
    xx += (v[i].x - mean) * (v[i].x - mean);
    yy += (v[i].y - mean) * (v[i].y - mean);
  }
  return xy / sqrt(xx * yy);
}

/* Area under the ROC curve: the probability that a pair with the same meaning scores higher than another pair. */
static double auc(struct sample *v, size_t n) {
  double positive = 0, ranks = 0;
  rank(v, n);
  for (size_t i = 0; i < n; i++)
    if (v[i].y > 0) {
      positive++;
      ranks += v[i].x + 1;
    }
  return (ranks - positive * (positive + 1) / 2) / (positive * ((double)n - positive));
}

static size_t samples(const struct pairs *pairs, enum set set, int half, struct sample *ret) {
  size_t n = 0;
  for (size_t i = 0; i < pairs->n; i++)
    if (set_of(&pairs->v[i]) == set && (half < 0 || half_of(&pairs->v[i]) == half))
      ret[n++] = (struct sample){pairs->v[i].raw, pairs->v[i].label};
  return n;
}

static void quality(struct arena *a, const struct pairs *pairs) {
  struct sample *v = arena_array(a, struct sample, pairs->n);
  printf("stsb spearman: fit %.4f", spearman(v, samples(pairs, STSB, FIT, v)));
  printf(" check %.4f", spearman(v, samples(pairs, STSB, CHECK, v)));
  printf("; auc mrpc %.4f", auc(v, samples(pairs, MRPC, -1, v)));
  printf(" quora %.4f\n", auc(v, samples(pairs, QUORA, -1, v)));
}

struct score {
  double precision, recall, called;
};

/* A pair counts as the same at or above this raw cosine; with `checked`, only if differ_check() finds no difference. */
static struct score score(const struct pairs *pairs, enum set set, int half, double raw, bool checked) {
  double hit = 0, called = 0, positive = 0;
  for (size_t i = 0; i < pairs->n; i++) {
    const struct pair *p = &pairs->v[i];
    if (set_of(p) != set || half_of(p) != half)
      continue;
    bool same = p->raw >= raw && (!checked || p->what == DIFFER_NONE);
    positive += is_same(p);
    called += same;
    hit += same && is_same(p);
  }
  return (struct score){called > 0 ? hit / called : 1, hit / fmax(positive, 1), called};
}

/* ---- the knots ---- */

enum { STEPS = 500, ENOUGH = 20 /* pairs that are called the same, before a precision says anything */ };

/* The mean similarity of unrelated texts: in each set, the first text of one pair and the second of a distant one. */
static double floor_of(const struct embedder *e, struct arena *a, const struct pairs *pairs) {
  enum { UNRELATED = 4000, APART = 7919 };
  struct pair *v = arena_array(a, struct pair, UNRELATED);
  struct error err;
  double sum = 0;
  for (size_t i = 0; i < UNRELATED; i++)
    v[i] = (struct pair){.a = pairs->v[i * 11 % pairs->n].a, .b = pairs->v[(i * 11 + APART) % pairs->n].b};
  if (pairs_measure(e, a, v, UNRELATED, &err) != STATUS_OK)
    return 0;
  for (size_t i = 0; i < UNRELATED; i++)
    sum += v[i].raw;
  return sum / UNRELATED;
}

static bool precise(const struct pairs *pairs, double raw, double wanted) {
  for (enum set s = STSB; s <= QUORA; s++) {
    struct score got = score(pairs, s, FIT, raw, true);
    if (got.called >= ENOUGH && got.precision < wanted)
      return false;
  }
  return true;
}

/* The lowest cosine from which "the same" has this precision in each set. */
static double same_mark(const struct pairs *pairs, double wanted) {
  int step = STEPS;
  while (step > 0 && precise(pairs, (double)(step - 1) / STEPS, wanted))
    step--;
  return (double)step / STEPS;
}

static void fit(const struct embedder *e, struct arena *a, const struct pairs *pairs) {
  double most = 0, even = 0, low = floor_of(e, a, pairs);
  for (int step = 0; step <= STEPS; step++) {
    double raw = (double)step / STEPS;
    struct score m = score(pairs, MRPC, FIT, raw, false), q = score(pairs, QUORA, FIT, raw, false);
    if (m.recall + q.recall >= 2 * 0.95)
      most = raw;
    if (m.recall + q.recall >= m.precision + q.precision)
      even = raw;
  }
  printf("fit: 0.00 at %.3f, 0.50 at %.3f, 0.75 at %.3f, 0.92 at %.3f (precision 0.90) or %.3f (0.95)\n", low, most,
         even, same_mark(pairs, 0.90), same_mark(pairs, 0.95));
}

/* The automatic calibration of this embedder, without measurements. */
static struct calibration automatic(const struct embedder *e, struct arena *a) {
  struct calibration c = *calibration_conservative();
  struct error err;
  if (calibration_fit(e, a, &c, &err) != STATUS_OK)
    fprintf(stderr, "%s\n", err.message);
  printf("automatic: %s\n", calibration_text(a, &c).p);
  return c;
}

/* Precision and recall of "the same" in each set, by minimum raw cosine. */
static void sweep(const struct pairs *pairs) {
  printf("raw    ");
  for (enum set s = STSB; s <= QUORA; s++)
    printf("  %5s: fit        check        ", set_names[s]);
  printf("\n");
  for (int step = 60; step <= 100; step += step < 80 ? 4 : 1) {
    printf("%.3f  ", step / 100.0);
    for (enum set s = STSB; s <= QUORA; s++)
      for (int half = FIT; half <= CHECK; half++) {
        struct score got = score(pairs, s, half, step / 100.0, true);
        printf("  %.3f %.3f", got.precision, got.recall);
      }
    printf("\n");
  }
}

static void marks(const struct pairs *pairs, const struct calibration *c) {
  static const double scaled[] = {0.5, SIMILARITY_NEAR, SIMILARITY_SAME};
  for (int half = FIT; half <= CHECK; half++)
    for (size_t m = 0; m < ARRAY_LEN(scaled); m++) {
      double raw = uncalibrate(c, scaled[m]);
      printf("%-5s %.2f (raw %.3f)", half == FIT ? "fit" : "check", scaled[m], raw);
      for (enum set s = STSB; s <= QUORA; s++) {
        struct score plain = score(pairs, s, half, raw, false), checked = score(pairs, s, half, raw, true);
        printf("  %s precision %.3f recall %.3f (checked: %.3f %.3f)", set_names[s], plain.precision, plain.recall,
               checked.precision, checked.recall);
      }
      printf("\n");
    }
}

struct wanted {
  enum set set;
  int half;
  double label;
};

/* Share of the pairs with one label, at or above a raw cosine, that differ_check() calls different. With `show`,
 * prints the misjudged pairs instead. */
static void print_share(const struct pairs *pairs, struct wanted like, double from_raw, bool show) {
  double n = 0, different = 0;
  for (size_t i = 0; i < pairs->n; i++) {
    const struct pair *p = &pairs->v[i];
    if (set_of(p) != like.set || half_of(p) != like.half || fabs(p->label - like.label) > 0.1 || p->raw < from_raw)
      continue;
    n++;
    different += p->what != DIFFER_NONE;
    if (show && (p->what != DIFFER_NONE) == (p->label > 0))
      printf("%s %+.0f %.2f %s | %.*s | %.*s\n", set_names[set_of(p)], p->label, p->raw, differ_name(p->what),
             STR_ARG(p->a), STR_ARG(p->b));
  }
  if (!show)
    printf("  %5.0f of %5.0f = %5.1f %%", different, n, 100 * different / fmax(n, 1));
}

static void differ_table(const struct pairs *pairs, const struct calibration *c, const char *show) {
  double near = uncalibrate(c, SIMILARITY_NEAR), same = uncalibrate(c, SIMILARITY_SAME);
  printf("called different: set, label, half, of all pairs / from 0.75 / from 0.92\n");
  for (enum set s = MRPC; s < NSETS; s++)
    for (int label = 1; label >= (s <= QUORA ? 0 : -1); label--)
      for (int half = FIT; half <= CHECK; half++) {
        struct wanted like = {.set = s, .half = half, .label = label};
        printf("%-9s %+d %-5s", set_names[s], label, half == FIT ? "fit" : "check");
        print_share(pairs, like, -1, false);
        print_share(pairs, like, near, false);
        print_share(pairs, like, same, false);
        printf("\n");
        if (show && strcmp(show, set_names[s]) == 0 && half == FIT)
          print_share(pairs, like, near, true);
      }
}

/* The most important figure: contradictions that the gate would still treat as duplicates. */
static void false_duplicates(const struct pairs *pairs, const struct calibration *c) {
  double same = uncalibrate(c, SIMILARITY_SAME);
  for (enum set s = BREAKING; s <= SICK; s++) {
    int n = 0, taken = 0;
    for (size_t i = 0; i < pairs->n; i++) {
      const struct pair *p = &pairs->v[i];
      n += set_of(p) == s && p->label < 0;
      taken += set_of(p) == s && p->label < 0 && p->raw >= same && p->what == DIFFER_NONE;
    }
    printf("%-9s contradictions taken for duplicates: %d of %d = %.2f %%\n", set_names[s], taken, n, 100.0 * taken / n);
  }
}

static enum status open_embedder(const char *name, const struct embedder **ret_embedder, struct error *err) {
  const struct embedder *builtin = NULL;
  struct embedder *file;
  enum status s = embedder_builtin(&builtin, err);
  if (s == STATUS_OK && strcmp(name, builtin->model) == 0) {
    *ret_embedder = builtin;
    return STATUS_OK;
  }
  if (strcmp(name, embedder_hash()->model) == 0) {
    *ret_embedder = embedder_hash();
    return STATUS_OK;
  }
  s = embedder_file_open(name, &file, err);
  if (s == STATUS_OK)
    *ret_embedder = file;
  return s;
}

static int fail(const struct error *err) {
  fprintf(stderr, "%s\n", err->message);
  return 1;
}

int main(int argc, char **argv) {
  struct arena a;
  struct error err;
  const struct embedder *e;
  arena_init(&a);
  if (argc < 2) {
    fprintf(stderr, "usage: calibrate FOLDER [MODEL [SET]]: SET prints its misjudged pairs\n");
    return 2;
  }
  if (open_embedder(argc > 2 ? argv[2] : "hash-v1", &e, &err) != STATUS_OK)
    return fail(&err);
  struct pairs pairs = {0};
  load(&a, argv[1], &pairs);
  int64_t start = clock_ticks_us();
  if (pairs_measure(e, &a, pairs.v, pairs.n, &err) != STATUS_OK)
    return fail(&err);
  printf("%s: %zu pairs; one takes %.1f us to embed and to check\n", e->model, pairs.n,
         (double)(clock_ticks_us() - start) / (double)pairs.n);
  quality(&a, &pairs);
  fit(e, &a, &pairs);
  sweep(&pairs);
  marks(&pairs, e->calibration);
  struct calibration c = automatic(e, &a);
  marks(&pairs, &c);
  differ_table(&pairs, e->calibration, argc > 3 ? argv[3] : NULL);
  false_duplicates(&pairs, e->calibration);
  arena_release(&a);
}
