/* calibrate.c: developer's tool: fits an embedder's calibration and measures the "same or opposite?" check.
 *
 * Usage: calibrate FOLDER [MODEL]. FOLDER holds the sentence pairs: label or score, text, text, tab-separated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "core/differ.h"
#include "embed/embed.h"
#include "embed/vec.h"

enum set { STSB, MRPC, QUORA, BREAKING, CAD, SICK, NSETS };
enum { FIT, CHECK };

static const struct {
  const char *file;
  enum set set;
  int half; /* FIT or CHECK; -1: two lines each in turn */
} files[] = {
    {"stsb_train.tsv", STSB, FIT},   {"stsb_dev.tsv", STSB, CHECK},      {"mrpc_train.tsv", MRPC, -1},
    {"quora_dev.tsv", QUORA, -1},    {"breaking_nli.tsv", BREAKING, -1}, {"cad_nli_train.tsv", CAD, FIT},
    {"cad_nli_dev.tsv", CAD, CHECK}, {"sick_nli_train.tsv", SICK, FIT},  {"sick_nli_trial.tsv", SICK, CHECK},
};
static const char *const set_names[] = {"stsb", "mrpc", "quora", "breaking", "cad", "sick"};

struct pair {
  enum set set;
  int half;
  double label; /* stsb 0..5; mrpc, quora 0 or 1; nli: 1 entailment, 0 neutral, -1 contradiction */
  struct str a, b;
  double raw;
  enum differ what;
};

struct pairs {
  struct pair *v;
  size_t n, cap;
};

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

static double label_of(struct str s) {
  double value = 0;
  if (str_is(s, "entailment"))
    return 1;
  if (str_is(s, "contradiction"))
    return -1;
  return str_double(s, &value) ? value : 0;
}

static void load(struct arena *a, const char *folder, struct pairs *out) {
  for (size_t i = 0; i < ARRAY_LEN(files); i++) {
    struct str rest = read_file(a, folder, files[i].file), line, label;
    for (int n = 0; str_line(&rest, &line); n++) {
      struct pair p = {.set = files[i].set, .half = files[i].half < 0 ? n / 2 & 1 : files[i].half};
      if (!str_next(&line, '\t', &label) || !str_next(&line, '\t', &p.a))
        continue;
      p.b = line;
      p.label = label_of(label);
      list_push(a, out, p);
    }
  }
}

static void embed_all(const struct embedder *e, struct pairs *pairs) {
  struct error err;
  int8_t vectors[2 * VEC_MAX_DIMS];
  for (size_t i = 0; i < pairs->n; i++) {
    struct pair *p = &pairs->v[i];
    struct arena scratch;
    arena_init(&scratch);
    if (e->embed(e, &scratch, EMBED_TEXT, (struct str[]){p->a, p->b}, 2, vectors, &err) != STATUS_OK)
      exit(1);
    p->raw = vec_cosine(vectors, vectors + e->dims, e->dims);
    arena_release(&scratch);
  }
}

static void differ_all(struct pairs *pairs) {
  for (size_t i = 0; i < pairs->n; i++) {
    struct arena scratch;
    arena_init(&scratch);
    pairs->v[i].what = differ_check(&scratch, pairs->v[i].a, pairs->v[i].b).what;
    arena_release(&scratch);
  }
}

struct sample {
  double x, y;
};

static int by_x(const void *a, const void *b) {
  const struct sample *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

/* Ranks in place of values, ties share their mean. */
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

/* Chance that a pair of the same meaning lies above one that is not. */
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
    if (pairs->v[i].set == set && (half < 0 || pairs->v[i].half == half))
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

/* "Same" is what lies at or above a raw cosine; with `checked`, only what differ_check() lets pass. */
static struct score score(const struct pairs *pairs, enum set set, int half, double raw, bool checked) {
  double hit = 0, called = 0, positive = 0;
  for (size_t i = 0; i < pairs->n; i++) {
    const struct pair *p = &pairs->v[i];
    if (p->set != set || p->half != half)
      continue;
    bool same = p->raw >= raw && (!checked || p->what == DIFFER_NONE);
    positive += p->label > 0;
    called += same;
    hit += same && p->label > 0;
  }
  return (struct score){called > 0 ? hit / called : 1, hit / fmax(positive, 1), called};
}

/* Mean stsb score of the pairs from a raw cosine up. */
static double stsb_mean(const struct pairs *pairs, int half, double raw) {
  double sum = 0, n = 0;
  for (size_t i = 0; i < pairs->n; i++)
    if (pairs->v[i].set == STSB && pairs->v[i].half == half && pairs->v[i].raw >= raw) {
      sum += pairs->v[i].label;
      n++;
    }
  return n > 0 ? sum / n : 5;
}

/* The knots as embed.c defines them, from the fit half; mrpc and quora count alike. */
static void fit(const struct pairs *pairs) {
  double most = 0, even = 0, same = 1;
  for (int step = 100; step <= 500; step++) {
    double raw = step / 500.0;
    struct score m = score(pairs, MRPC, FIT, raw, false), q = score(pairs, QUORA, FIT, raw, false);
    if (m.recall + q.recall >= 2 * 0.95)
      most = raw;
    if (m.recall + q.recall >= m.precision + q.precision)
      even = raw;
  }
  for (int step = 500; step >= 100; step--) {
    double raw = step / 500.0;
    struct score m = score(pairs, MRPC, FIT, raw, false), q = score(pairs, QUORA, FIT, raw, false);
    if (m.precision + q.precision < 2 * 0.90 || stsb_mean(pairs, FIT, raw) < 4.5)
      break;
    same = raw;
  }
  printf("fit: 0.50 at %.3f, 0.75 at %.3f, 0.92 at %.3f\n", most, even, same);
}

static void marks(const struct pairs *pairs, const struct calibration *c) {
  static const double scaled[] = {0.5, SIMILARITY_NEAR, SIMILARITY_SAME};
  for (int half = FIT; half <= CHECK; half++)
    for (size_t m = 0; m < ARRAY_LEN(scaled); m++) {
      double raw = uncalibrate(c, scaled[m]);
      printf("%-5s %.2f (raw %.3f)", half == FIT ? "fit" : "check", scaled[m], raw);
      for (enum set s = MRPC; s <= QUORA; s++) {
        struct score plain = score(pairs, s, half, raw, false), checked = score(pairs, s, half, raw, true);
        printf("  %s precision %.3f recall %.3f (checked: %.3f %.3f)", set_names[s], plain.precision, plain.recall,
               checked.precision, checked.recall);
      }
      printf("  stsb mean %.2f\n", stsb_mean(pairs, half, raw));
    }
}

/* Share of the pairs of one label that differ_check() calls different, of those at or above a calibrated similarity;
 * with `show`, prints those that it judged wrongly. */
static void print_share(const struct pairs *pairs, struct pair like, double from_raw, bool show) {
  double n = 0, different = 0;
  for (size_t i = 0; i < pairs->n; i++) {
    const struct pair *p = &pairs->v[i];
    if (p->set != like.set || p->half != like.half || fabs(p->label - like.label) > 0.1 || p->raw < from_raw)
      continue;
    n++;
    different += p->what != DIFFER_NONE;
    if (show && (p->what != DIFFER_NONE) == (p->label > 0))
      printf("%s %+.0f %.2f %s | %.*s | %.*s\n", set_names[p->set], p->label, p->raw, differ_name(p->what),
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
        struct pair like = {.set = s, .half = half, .label = label};
        printf("%-9s %+d %-5s", set_names[s], label, half == FIT ? "fit" : "check");
        print_share(pairs, like, -1, false);
        print_share(pairs, like, near, false);
        print_share(pairs, like, same, false);
        printf("\n");
        if (show && strcmp(show, set_names[s]) == 0 && half == FIT)
          print_share(pairs, like, near, true);
      }
}

/* The figure that matters: contradictions that the gate would still take for duplicates. */
static void false_duplicates(const struct pairs *pairs, const struct calibration *c) {
  double same = uncalibrate(c, SIMILARITY_SAME);
  for (enum set s = BREAKING; s <= SICK; s++) {
    int n = 0, taken = 0;
    for (size_t i = 0; i < pairs->n; i++) {
      const struct pair *p = &pairs->v[i];
      n += p->set == s && p->label < 0;
      taken += p->set == s && p->label < 0 && p->raw >= same && p->what == DIFFER_NONE;
    }
    printf("%-9s contradictions taken for duplicates: %d of %d = %.2f %%\n", set_names[s], taken, n, 100.0 * taken / n);
  }
}

int main(int argc, char **argv) {
  struct arena a;
  struct error err;
  const struct embedder *e;
  arena_init(&a);
  if (argc < 2 || embedder_by_name(argc > 2 ? str_from(argv[2]) : STR("hash-v1"), &e, &err) != STATUS_OK) {
    fprintf(stderr, "usage: calibrate FOLDER [MODEL [SET]]: SET prints its misjudged pairs\n");
    return 2;
  }
  struct pairs pairs = {0};
  load(&a, argv[1], &pairs);
  int64_t start = clock_ticks_us();
  embed_all(e, &pairs);
  int64_t embedded = clock_ticks_us();
  differ_all(&pairs);
  printf("%zu pairs; a text embeds in %.1f us, a check takes %.1f us\n", pairs.n,
         (double)(embedded - start) / (double)pairs.n / 2, (double)(clock_ticks_us() - embedded) / (double)pairs.n);
  quality(&a, &pairs);
  fit(&pairs);
  marks(&pairs, e->calibration);
  differ_table(&pairs, e->calibration, argc > 3 ? argv[3] : NULL);
  false_duplicates(&pairs, e->calibration);
  arena_release(&a);
}
