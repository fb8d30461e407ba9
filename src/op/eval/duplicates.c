/* duplicates.c: measures the duplicate check on labelled sentence pairs. */
#include <assert.h>

#include "base/os/fs.h"
#include "embed/embed.h"
#include "embed/fit.h"
#include "op/eval/eval.h"
#include "op/eval/pairs.h"
#include "op/run/common.h"

enum { FILE_MAX = 256 << 20, BATCH = 256 };

/* Pairs with a similarity at or above a threshold. */
struct verdicts {
  size_t called, right, contradictions, entailments;
};

/* Pairs by label. */
struct counts {
  size_t same, contradictions, entailments;
};

static bool is_same(const struct pair *p, enum pair_labels labels) {
  return labels == PAIRS_SCORED ? p->label >= PAIR_SAME_SCORE : labels == PAIRS_BINARY && p->label > 0;
}

static struct counts count(const struct pairs *pairs) {
  struct counts c = {0};
  for (size_t i = 0; i < pairs->n; i++) {
    c.same += is_same(&pairs->v[i], pairs->labels);
    c.contradictions += pairs->labels == PAIRS_NLI && pairs->v[i].label < 0;
    c.entailments += pairs->labels == PAIRS_NLI && pairs->v[i].label > 0;
  }
  return c;
}

/* With `checked`, skips pairs for which differ_check() finds a difference, as the write gate does. */
static struct verdicts judge(const struct pairs *pairs, const struct calibration *c, double threshold, bool checked) {
  struct verdicts v = {0};
  for (size_t i = 0; i < pairs->n; i++) {
    const struct pair *p = &pairs->v[i];
    if (calibrate(c, p->raw) < threshold || (checked && p->what != DIFFER_NONE))
      continue;
    v.called++;
    v.right += is_same(p, pairs->labels);
    v.contradictions += pairs->labels == PAIRS_NLI && p->label < 0;
    v.entailments += pairs->labels == PAIRS_NLI && p->label > 0;
  }
  return v;
}

static double share(size_t part, size_t of) {
  assert(part <= of);
  return of ? json_round((double)part / (double)of, 4) : 0;
}

static void put_verdicts(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *const names[4], const struct verdicts *v,
                         const struct counts *n) {
  if (n->same) {
    json_put_num(doc, obj, names[0], share(v->right, v->called));
    json_put_num(doc, obj, names[1], share(v->right, n->same));
  }
  if (n->contradictions)
    json_put_int(doc, obj, names[2], (int64_t)v->contradictions);
  if (n->entailments)
    json_put_int(doc, obj, names[3], (int64_t)v->entailments);
}

static void put_thresholds(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct pairs *pairs,
                           const struct calibration *c, bool checked) {
  static const char *const same[4] = {"same_precision", "same_recall", "contradictions_taken", "entailments_taken"};
  static const char *const near[4] = {"near_precision", "near_recall", "contradictions_near", "entailments_near"};
  struct counts n = count(pairs);
  struct verdicts at_same = judge(pairs, c, SIMILARITY_SAME, checked);
  struct verdicts at_near = judge(pairs, c, SIMILARITY_NEAR, checked);
  put_verdicts(doc, obj, same, &at_same, &n);
  put_verdicts(doc, obj, near, &at_near, &n);
}

static void report(struct eval *e, struct str name, const struct pairs *pairs, const struct embedder *embedder) {
  static const char *const labelled[] = {"binary", "score", "nli"};
  assert((size_t)pairs->labels < ARRAY_LEN(labelled));
  yyjson_mut_doc *doc = e->call->doc;
  yyjson_mut_val *obj = yyjson_mut_arr_add_obj(doc, e->pairs);
  struct counts n = count(pairs);
  json_put(doc, obj, "name", name);
  json_put_int(doc, obj, "pairs", (int64_t)pairs->n);
  json_put(doc, obj, "labels", str_from(labelled[pairs->labels]));
  json_put(doc, obj, "model", str_from(embedder->model));
  if (pairs->labels == PAIRS_NLI) {
    json_put_int(doc, obj, "contradictions", (int64_t)n.contradictions);
    json_put_int(doc, obj, "entailments", (int64_t)n.entailments);
  } else {
    json_put_int(doc, obj, "same", (int64_t)n.same);
  }
  const struct calibration *c = e->fitted.n ? &e->fitted : embedder->calibration;
  put_thresholds(doc, obj, pairs, c, true);
  put_thresholds(doc, json_put_obj(doc, obj, "similarity_alone"), pairs, c, false);
}

/* Fits a calibration if the embedder has none, as building an index does. On failure, embedding the first pairs reports
 * the error. */
static void fit(struct eval *e, struct arena *a, const struct embedder *embedder) {
  struct error ignored;
  if (embedder->calibration == calibration_conservative() && e->fitted.n == 0 &&
      calibration_fit(embedder, a, &e->fitted, &ignored) != STATUS_OK)
    e->fitted.n = 0;
}

static enum status measure_file(struct eval *e, struct arena *a, const char *path, struct str name) {
  struct op_call *call = e->call;
  const struct embedder *embedder = NULL;
  struct pairs pairs = {0};
  struct str text;
  const char *label = arena_cstr(a, name);
  TRY(eval_store_embedder(e->store, &embedder));
  if (!embedder) {
    error_set(call->err, STATUS_CONFLICT, "no embedder is available to compare the pairs of %s", path);
    return error_fix(call->err, "'cairn config embedder' shows the setting; CAIRN_EMBEDDER overrides it");
  }
  fit(e, a, embedder);
  TRY(fs_read(a, path, FILE_MAX, &text, call->err));
  TRY(pairs_read(a, text, path, 0, e->limit, &pairs, call->err));
  for (size_t i = 0; i < pairs.n; i += BATCH) {
    if (cancelled(call))
      return error_set(call->err, STATUS_INTERRUPTED, "stopped");
    TRY(pairs_measure(embedder, a, pairs.v + i, pairs.n - i < BATCH ? pairs.n - i : BATCH, call->err));
    progress(call, label, (int64_t)i, (int64_t)pairs.n);
  }
  report(e, name, &pairs, embedder);
  return STATUS_OK;
}

enum status eval_pairs(struct eval *e, struct str folder, const struct strs *files) {
  struct arena *a = arena_child(e->call->arena);
  bool whole = e->only.n && strs_has(&e->only, fs_basename(folder)); /* --set may name the directory */
  if (!e->store->engine)
    TRY(eval_store_open(e->store)); /* uses the embedder of the store */
  for (size_t i = 0; i < files->n; i++) {
    struct str name = str_slice(files->v[i], 0, files->v[i].n - (sizeof(".tsv") - 1));
    if (!eval_wants(e, whole ? fs_basename(folder) : name))
      continue;
    TRY(measure_file(e, a, arena_printf(a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(files->v[i])).p, name));
    arena_release(a);
  }
  return STATUS_OK;
}
