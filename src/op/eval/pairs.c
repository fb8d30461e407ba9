/* pairs.c: parses labelled sentence pairs, and measures their similarity. */
#include "op/eval/pairs.h"

#include <assert.h>

#include "base/utf8.h"
#include "embed/vec.h"

enum { BATCH = 32 };

static bool read_label(struct str s, double *ret_label, bool *ret_word) {
  static const char *const words[] = {"contradiction", "neutral", "entailment"};
  for (int i = 0; i < 3; i++)
    if (str_is(s, words[i])) {
      *ret_label = i - 1;
      *ret_word = true;
      return true;
    }
  *ret_word = false;
  return str_double(s, ret_label);
}

static enum status bad_line(const char *name, int line, const char *why, struct error *err) {
  error_set(err, STATUS_USAGE, "%s line %d: %s", name, line + 1, why);
  return error_fix(err, "a line is a label (1 or 0, 0 to 5, or entailment, neutral, contradiction) and two texts, "
                        "separated by tabs");
}

enum status pairs_read(struct arena *a, struct str text, const char *name, int file, size_t limit, struct pairs *list,
                       struct error *err) {
  struct str line, label;
  size_t words = 0, graded = 0, n = 0;
  for (int number = 0; (!limit || n < limit) && str_line(&text, &line); number++) {
    struct pair p = {.file = file, .line = number};
    bool word;
    if (str_empty(line))
      continue;
    if (utf8_check(line) != line.n)
      return bad_line(name, number, "not UTF-8 text", err);
    if (!str_next(&line, '\t', &label) || !str_next(&line, '\t', &p.a) || str_empty(line))
      return bad_line(name, number, "not three columns", err);
    p.b = line;
    if (!read_label(label, &p.label, &word))
      return bad_line(name, number, "unknown label", err);
    words += word;
    graded += !word && p.label != 0 && p.label != 1;
    list_push(a, list, p);
    n++;
  }
  if (words && words != n)
    return bad_line(name, 0, "some labels are words and some are numbers", err);
  list->labels = words ? PAIRS_NLI : graded ? PAIRS_SCORED : PAIRS_BINARY;
  return STATUS_OK;
}

static enum status measure_batch(const struct embedder *e, struct arena *a, struct pair *v, size_t n,
                                 struct error *err) {
  size_t dims = (size_t)e->dims;
  struct str texts[2 * BATCH];
  int8_t *vectors = arena_array(a, int8_t, arena_mul(a, 2 * BATCH, dims));
  assert(n <= BATCH);
  for (size_t i = 0; i < n; i++) {
    texts[2 * i] = v[i].a;
    texts[2 * i + 1] = v[i].b;
  }
  TRY(e->embed(e, a, EMBED_TEXT, texts, 2 * n, vectors, err));
  for (size_t i = 0; i < n; i++)
    v[i].raw = vec_cosine(vectors + 2 * i * dims, vectors + (2 * i + 1) * dims, e->dims);
  return STATUS_OK;
}

enum status pairs_measure(const struct embedder *e, struct arena *a, struct pair *v, size_t n, struct error *err) {
  struct arena *scratch = arena_child(a);
  for (size_t i = 0; i < n; i += BATCH) {
    TRY(measure_batch(e, scratch, v + i, n - i < BATCH ? n - i : BATCH, err));
    arena_release(scratch);
  }
  for (size_t i = 0; i < n; i++) {
    v[i].what = differ_check(scratch, v[i].a, v[i].b).what;
    arena_release(scratch);
  }
  return STATUS_OK;
}
