/* near.c: finds memories near a draft, and compares them with it. */
#include "op/write/near.h"

#include <assert.h>

#include "base/id.h"
#include "core/files/memfile.h"
#include "core/gate/differ_value.h"
#include "core/rank/rank.h"
#include "embed/pair.h"
#include "op/write/replace.h"
#include "store/search/candidates.h"

enum {
  NEAREST = 5,      /* compared with the draft */
  LOCKED_MOST = 2,  /* that the model compares while the write lock is held */
  READ_BYTES = 400, /* that an embedder reads; longer texts are not checked for contradictions in other words */
  COMPARED_BYTES =
      32 * 1024 /* longer texts are compared only for equality: it takes long, and the write lock is held */
};

/* Contradictions may be far apart: "CI runs on Jenkins", "since spring we build with GitHub Actions". Of those in the
 * training pairs, one in 200 is below this. */
static const double related = 0.05;

struct search {
  struct op_call *call;
  const struct write *w;
  struct scope scope; /* visible to a caller in the draft's project */
  int64_t except;
  struct str text;  /* of the draft, as it is embedded */
  bool has_meaning; /* the embedder is more than a comparison of spelling, so contradictions are found by meaning */
  int compared;     /* by the model, with the lock */
  struct near *found;
};

bool near_is_distinct(const struct write *w, const struct memory *m) {
  int64_t id;
  for (size_t i = 0; i < w->distinct_from.n; i++) {
    struct str ref = w->distinct_from.v[i];
    if ((str_int64(ref, &id) && id == m->id) || str_eq(ref, m->uid) || (m->key.p && str_eq(ref, m->key)))
      return true;
  }
  return false;
}

/* Embedders read only the beginning of a text. Two long texts with the same beginning are duplicates only if the words
 * of the shorter one are in the longer one. */
static bool shares_words(struct arena *a, struct str x, struct str y) {
  static const double min_share = 0.85;
  return (x.n <= READ_BYTES && y.n <= READ_BYTES) || words_shared(a, x, y) >= min_share;
}

static bool is_short(const struct search *q, struct str other) {
  return q->text.n <= READ_BYTES && other.n <= READ_BYTES;
}

/* near_prepare() has compared all but the newest memories, without the lock. */
static const struct judged *find_judged(const struct search *q, int64_t id) {
  for (size_t i = 0; i < q->w->judged.n; i++)
    if (q->w->judged.v[i].id == id)
      return &q->w->judged.v[i];
  return NULL;
}

/* Sentences that differ only in a value are rare among the examples of the model, so it misses some. */
static bool is_value_replaced(struct search *q, struct str other) {
  return differ_replacement(q->call->arena, q->text, other).what != DIFFER_NONE;
}

static bool is_contradiction(struct search *q, int64_t id, struct str other) {
  bool contradicts;
  struct error err;
  const struct judged *j = find_judged(q, id);
  if (j)
    return j->contradicts;
  return (q->compared++ < LOCKED_MOST &&
          pair_compare(q->call->arena, q->text, &other, 1, &contradicts, &err) == STATUS_OK && contradicts) ||
         is_value_replaced(q, other);
}

/* The pieces that differ in a contradiction, if they can be named. */
static struct difference name_pieces(struct search *q, const struct similar *s, struct str other) {
  struct difference d = differ_replacement(q->call->arena, q->text, other);
  bool near = s->similarity >= SIMILARITY_NEAR;
  if (d.what != DIFFER_NONE)
    return d;
  d = near ? s->difference : differ_check(q->call->arena, q->text, other);
  return d.what != DIFFER_NONE && (near || d.what != DIFFER_NAME) ? d : (struct difference){.what = DIFFER_MEANING};
}

/* The contradiction to report. */
static struct difference find_conflict(struct search *q, const struct similar *s, struct str other) {
  bool same = s->similarity >= SIMILARITY_SAME;
  if (!q->has_meaning)
    return s->similarity >= SIMILARITY_NEAR ? s->difference : (struct difference){0};
  if (!is_short(q, other)) /* almost the same words: any difference is an update */
    return same ? s->difference : (struct difference){0};
  if (is_contradiction(q, s->id, other))
    return name_pieces(q, s, other);
  /* The model is English; a negation is an update in any language. */
  return same && s->difference.what == DIFFER_NEGATION ? s->difference : (struct difference){0};
}

/* Compares the draft with a memory: lowers the similarity of what is not a duplicate. */
static struct similar compare(struct search *q, const struct memory *m, double similarity, bool exact) {
  struct arena *a = q->call->arena;
  const struct memory *draft = &q->w->m;
  static const double below_same = SIMILARITY_SAME - 0.0001;
  struct str other = embed_text(a, STR_NONE, m->headline, m->body);
  bool is_long = q->text.n > COMPARED_BYTES || other.n > COMPARED_BYTES;
  struct similar s = {.id = m->id,
                      .headline = m->headline,
                      .untrusted = !memory_is_trusted(m),
                      .body = m->body,
                      .project = m->project,
                      .key = m->key,
                      .similarity = similarity,
                      .exact = exact};
  bool recurs = duplicate_recurs(a, draft, q->call->now, m);
  if (similarity >= SIMILARITY_SAME &&
      (recurs || (!exact && (is_long || !shares_words(a, q->text, other))) || duplicate_headline_adds(a, draft, m)))
    s.similarity = below_same;
  if (similarity >= SIMILARITY_NEAR && !is_long)
    s.difference = differ_check(a, q->text, other);
  if (recurs || exact)
    return s;
  s.conflict = find_conflict(q, &s, other);
  if (s.difference.what == DIFFER_NONE) /* a contradiction is no duplicate */
    s.difference = s.conflict;
  return s;
}

/* Keeps the list sorted: the similarity of a candidate may have been lowered. */
static void insert(struct search *q, const struct similar *s, const struct memory *m) {
  struct arena *a = q->call->arena;
  struct near *found = q->found;
  list_push(a, &found->list, *s);
  list_push(a, &found->memories, *m);
  assert(found->list.n == found->memories.n);
  for (size_t i = found->list.n - 1; i > 0 && found->list.v[i - 1].similarity < found->list.v[i].similarity; i--) {
    struct similar similar = found->list.v[i];
    struct memory memory = found->memories.v[i];
    found->list.v[i] = found->list.v[i - 1];
    found->memories.v[i] = found->memories.v[i - 1];
    found->list.v[i - 1] = similar;
    found->memories.v[i - 1] = memory;
  }
}

static bool is_listed(const struct near *found, int64_t id) {
  for (size_t i = 0; i < found->list.n; i++)
    if (found->list.v[i].id == id)
      return true;
  return false;
}

static enum status add_candidate(struct search *q, int64_t id, double similarity, bool exact) {
  struct op_call *call = q->call;
  struct memory m;
  bool found;
  if (is_listed(q->found, id))
    return STATUS_OK;
  TRY(memory_by_id(call->engine->store, q->w->m.team, id, call->arena, &m, &found, call->err));
  if (found)
    TRY(memory_load_body(call->engine->store, call->arena, &m, call->err));
  /* Only an edit of the same file replaces a file. */
  if (!found || near_is_distinct(q->w, &m) || memfile_is_path(m.key) || replace_outweighs(q->w, &m))
    return STATUS_OK;
  struct similar s = compare(q, &m, similarity, exact);
  if (similarity >= SIMILARITY_NEAR || s.conflict.what != DIFFER_NONE)
    insert(q, &s, &m);
  return STATUS_OK;
}

static enum status find_exact(struct search *q) {
  struct op_call *call = q->call;
  struct ids ids = {0};
  struct str hash = memory_body_hash(call->arena, &q->w->m);
  TRY(candidates_exact(call->engine->store, &q->scope, q->w->m.kind, hash, call->arena, &ids, call->err));
  for (size_t i = 0; i < ids.n; i++)
    if (ids.v[i] != q->except)
      TRY(add_candidate(q, ids.v[i], 1.0, true));
  return STATUS_OK;
}

static enum status candidates(struct search *q, const struct embedding *judge, const int8_t *vector,
                              struct vec_hits *ret_hits) {
  struct op_call *call = q->call;
  struct candidate_query near = {.scope = &q->scope,
                                 .kind = q->w->m.kind,
                                 .except = q->except,
                                 .model = &judge->model,
                                 .vector = vector,
                                 .min_cosine = uncalibrate(judge->calibration, related),
                                 .k = NEAREST};
  return candidates_near(call->engine->store, &near, call->arena, ret_hits, call->err);
}

static enum status find_near(struct search *q, const struct embedding *judge, const int8_t *vector) {
  struct vec_hits hits = {0};
  TRY(candidates(q, judge, vector, &hits));
  for (size_t i = 0; i < hits.n; i++) {
    const struct judged *j = find_judged(q, hits.v[i].memory_id);
    double similarity = calibrate(judge->calibration, hits.v[i].cosine);
    if (similarity >= SIMILARITY_NEAR || (q->has_meaning && (!j || j->contradicts)))
      TRY(add_candidate(q, hits.v[i].memory_id, similarity, false));
  }
  return STATUS_OK;
}

/* The embedding that finds near memories; NULL if they are not searched. */
static const struct embedding *start(struct op_call *call, const struct write *w, int64_t except, struct near *found,
                                     struct search *ret_search, const int8_t **ret_vector) {
  struct search q = {.call = call, .w = w, .scope = call_scope(call), .except = except, .found = found};
  q.scope.project = w->m.project;
  q.scope.all_projects = false;
  q.text = embed_text(call->arena, STR_NONE, w->m.headline, w->m.body);
  bool searched = !w->defer_embedding && w->parts.n && !memory_is_entry(&w->m);
  const struct embedding *judge = searched ? write_duplicate_embedding(w, ret_vector) : NULL;
  q.has_meaning = judge && pair_is_built_in() && !str_is(judge->model.model, embedder_hash()->model);
  *ret_search = q;
  return judge;
}

enum status near_prepare(struct op_call *call, struct write *w) {
  struct search q;
  const int8_t *vector;
  const struct embedding *judge = start(call, w, 0, NULL, &q, &vector);
  struct vec_hits hits = {0};
  struct candidate_texts texts = {0};
  if (!judge || !q.has_meaning || q.text.n > READ_BYTES)
    return STATUS_OK;
  TRY(candidates(&q, judge, vector, &hits));
  if (hits.n == 0)
    return STATUS_OK;
  int64_t ids[NEAREST];
  struct str others[NEAREST];
  bool contradicts[NEAREST];
  size_t n = 0;
  for (size_t i = 0; i < hits.n; i++)
    ids[i] = hits.v[i].memory_id;
  TRY(candidates_texts(call->engine->store, w->m.team, ids, hits.n, READ_BYTES + 1, call->arena, &texts, call->err));
  for (size_t i = 0; i < texts.n; i++) {
    struct str other = embed_text(call->arena, STR_NONE, texts.v[i].headline, texts.v[i].text);
    if (other.n <= READ_BYTES) {
      ids[n] = texts.v[i].id;
      others[n++] = other;
    } else
      list_push(call->arena, &w->judged, (struct judged){texts.v[i].id, false});
  }
  TRY(pair_compare(call->arena, q.text, others, n, contradicts, call->err));
  for (size_t i = 0; i < n; i++)
    list_push(call->arena, &w->judged, (struct judged){ids[i], contradicts[i] || is_value_replaced(&q, others[i])});
  return STATUS_OK;
}

enum status near_find(struct op_call *call, const struct write *w, int64_t except, struct near *ret_near) {
  struct search q;
  const int8_t *vector;
  const struct embedding *judge = start(call, w, except, ret_near, &q, &vector);
  TRY(find_exact(&q));
  return judge ? find_near(&q, judge, vector) : STATUS_OK;
}
