/* duplicates.c: near memories, and the gate's verdict on them. */
#include "op/write/duplicates.h"

#include <assert.h>

#include "base/id.h"
#include "core/files/memfile.h"
#include "core/rank/rank.h"
#include "store/search/candidates.h"

enum { NEAREST = 5 };

/* ---- candidates ---- */

struct search {
  struct op_call *call;
  const struct write *w;
  struct scope scope;       /* visible to a caller in the draft's project */
  int64_t replaced;         /* the memory that the draft supersedes; 0: none */
  struct str text;          /* of the draft, as it is embedded */
  struct similars list;     /* best first */
  struct memories memories; /* of the list, with bodies */
};

static bool is_distinct(const struct write *w, const struct memory *m) {
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
  enum { READ_BYTES = 400 };
  static const double min_share = 0.85;
  return (x.n <= READ_BYTES && y.n <= READ_BYTES) || words_shared(a, x, y) >= min_share;
}

static enum status add_candidate(struct search *q, int64_t id, double similarity) {
  assert(similarity >= SIMILARITY_NEAR && similarity <= 1);
  struct op_call *call = q->call;
  for (size_t i = 0; i < q->list.n; i++)
    if (q->list.v[i].id == id)
      return STATUS_OK;
  struct memory m;
  bool found;
  TRY(memory_by_id(call->engine->store, q->w->m.team, id, call->arena, &m, &found, call->err));
  if (found)
    TRY(memory_load_body(call->engine->store, call->arena, &m, call->err));
  /* Only an edit of the same file replaces a file. */
  if (!found || is_distinct(q->w, &m) || memfile_is_path(m.key) || replace_outweighs(q->w, &m))
    return STATUS_OK;
  if (!q->text.p)
    q->text = embed_text(call->arena, STR_NONE, q->w->m.headline, q->w->m.body);
  struct str other = embed_text(call->arena, STR_NONE, m.headline, m.body);
  if (similarity >= SIMILARITY_SAME && !shares_words(call->arena, q->text, other))
    similarity = SIMILARITY_SAME - 0.0001;
  list_push(call->arena, &q->memories, m);
  list_push(call->arena, &q->list,
            (struct similar){.id = id,
                             .headline = m.headline,
                             .untrusted = !memory_is_trusted(&m),
                             .body = m.body,
                             .project = m.project,
                             .key = m.key,
                             .similarity = similarity,
                             .difference = differ_check(call->arena, q->text, other)});
  return STATUS_OK;
}

static enum status find_exact(struct search *q) {
  struct op_call *call = q->call;
  char hash[HASH_TEXT_SIZE];
  struct ids ids = {0};
  body_hash(call->arena, q->w->m.body, hash);
  TRY(candidates_exact(call->engine->store, &q->scope, q->w->m.kind, str_from(hash), call->arena, &ids, call->err));
  for (size_t i = 0; i < ids.n; i++)
    if (ids.v[i] != q->replaced)
      TRY(add_candidate(q, ids.v[i], 1.0));
  return STATUS_OK;
}

static enum status find_near(struct search *q) {
  struct op_call *call = q->call;
  const int8_t *vector;
  const struct embedding *judge = write_duplicate_embedding(q->w, &vector);
  if (!judge)
    return STATUS_OK;
  const struct calibration *c = judge->calibration;
  struct vec_hits hits = {0};
  struct candidate_query near = {.scope = &q->scope,
                                 .kind = q->w->m.kind,
                                 .except = q->replaced,
                                 .model = &judge->model,
                                 .vector = vector,
                                 .min_cosine = uncalibrate(c, SIMILARITY_NEAR),
                                 .k = NEAREST};
  TRY(candidates_near(call->engine->store, &near, call->arena, &hits, call->err));
  for (size_t i = 0; i < hits.n; i++)
    if (calibrate(c, hits.v[i].cosine) >= SIMILARITY_NEAR)
      TRY(add_candidate(q, hits.v[i].memory_id, calibrate(c, hits.v[i].cosine)));
  return STATUS_OK;
}

/* ---- acting on the verdict ---- */

static struct str list_json(struct arena *a, const struct similars *list) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *arr = yyjson_mut_arr(doc);
  for (size_t i = 0; i < list->n; i++) {
    const struct similar *o = &list->v[i];
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
    json_put_int(doc, v, "id", o->id);
    json_put(doc, v, "headline", o->headline);
    if (o->untrusted)
      json_put_bool(doc, v, "untrusted", true);
    json_put_num(doc, v, "similarity", json_round(o->similarity, 4));
    if (o->difference.what != DIFFER_NONE) {
      json_put(doc, v, "difference", str_from(differ_name(o->difference.what)));
      json_put(doc, v, "was", o->difference.b);
      json_put(doc, v, "is", o->difference.a);
    }
  }
  return json_write(a, arr, false);
}

static const char *untrusted_suffix(const struct similar *o) { return o->untrusted ? " (untrusted)" : ""; }

static void warn_near(struct op_call *call, struct write *w, const struct similars *list) {
  assert(list->n > 0);
  const struct similar *o = &list->v[0];
  struct arena *a = call->arena;
  struct str message =
      o->difference.what == DIFFER_NONE
          ? arena_printf(a, "close to memory %lld: %.*s%s", (long long)o->id, STR_ARG(o->headline), untrusted_suffix(o))
          : arena_printf(a, "may contradict memory %lld (%s: '%.*s', there '%.*s'): %.*s%s", (long long)o->id,
                         differ_name(o->difference.what), STR_ARG(o->difference.a), STR_ARG(o->difference.b),
                         STR_ARG(o->headline), untrusted_suffix(o));
  list_push(a, &w->warnings,
            (struct warning){.code = "contradiction",
                             .message = message,
                             .fix = arena_printf(a,
                                                 "keep both; or undo this write, then cairn supersede %lld --reason "
                                                 "WHY TEXT; or cairn forget %lld --reason WHY",
                                                 (long long)o->id, (long long)o->id),
                             .memories = list_json(a, list)});
}

/* The text quoted for a shell command; TEXT if it is long. */
static struct str shell_quote(struct arena *a, struct str text) {
  struct buf b = BUF(a);
  if (text.n > 300 || memchr(text.p, '\n', text.n))
    return STR("TEXT");
  buf_addc(&b, '\'');
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == '\'')
      buf_adds(&b, "'\\'");
    buf_addc(&b, text.p[i]);
    if (text.p[i] == '\'')
      buf_addc(&b, '\'');
  }
  buf_addc(&b, '\'');
  return buf_str(&b);
}

static enum status refuse_rule(struct op_call *call, const struct write *w, const struct similar *o) {
  if (o->difference.what == DIFFER_NONE)
    error_set(call->err, STATUS_DUPLICATE, "close to rule %lld (similarity %.2f): %.*s%s", (long long)o->id,
              o->similarity, STR_ARG(o->headline), untrusted_suffix(o));
  else
    error_set(call->err, STATUS_DUPLICATE, "contradicts rule %lld (%s: '%.*s', there '%.*s'): %.*s%s", (long long)o->id,
              differ_name(o->difference.what), STR_ARG(o->difference.a), STR_ARG(o->difference.b), STR_ARG(o->headline),
              untrusted_suffix(o));
  error_step(call->err, "duplicate");
  call->err->about = o->id;
  call->err->similarity = o->similarity;
  struct str text = shell_quote(call->arena, w->m.body);
  return error_fix(
      call->err,
      "to replace it: cairn supersede %lld --reason 'what changed' %.*s; if both hold, repeat the call with "
      "--distinct-from %lld",
      (long long)o->id, STR_ARG(text), (long long)o->id);
}

/* A correction must not store what another memory says already. */
static enum status refuse_copy(struct op_call *call, const struct similar *o, const struct memory *old) {
  error_set(call->err, STATUS_DUPLICATE, "memory %lld says the same (similarity %.2f): %.*s%s", (long long)o->id,
            o->similarity, STR_ARG(o->headline), untrusted_suffix(o));
  error_step(call->err, "duplicate");
  call->err->about = o->id;
  call->err->similarity = o->similarity;
  return error_fix(call->err,
                   "retire the old one: cairn forget %lld --reason WHY; if both hold, repeat the call with "
                   "--distinct-from %lld",
                   (long long)old->id, (long long)o->id);
}

static void skip_duplicate(struct op_call *call, struct write *w, const struct similar *o, const struct memory *m) {
  assert(o->id == m->id);
  w->action = WRITE_SKIPPED;
  w->id = o->id;
  w->uid = m->uid;
  w->headline = o->headline;
  w->met_untrusted = o->untrusted;
  w->similarity = o->similarity;
  list_push(call->arena, &w->warnings,
            (struct warning){.code = "duplicate",
                             .message = arena_printf(call->arena, "memory %lld says the same: %.*s%s", (long long)o->id,
                                                     STR_ARG(o->headline), untrusted_suffix(o)),
                             .fix = memory_is_trusted(m)
                                        ? STR_NONE
                                        : arena_printf(call->arena,
                                                       "it is untrusted, so only searches show it; after reading it, a "
                                                       "person can trust it: cairn promote %lld",
                                                       (long long)o->id)});
}

/* The more detailed text supersedes the shorter one and inherits its pin, skill and key. */
static enum status supersede_shorter(struct op_call *call, struct write *w, const struct similar *o,
                                     const struct memory *m, struct replacement *rep) {
  w->similarity = o->similarity;
  w->inherit_pin = w->inherit_skill = w->inherit_key = true;
  return replace_choose(call, w, m, STR("more detailed restatement"), rep);
}

enum status duplicates_decide(struct op_call *call, struct write *w, struct replacement *rep) {
  struct search q = {.call = call, .w = w, .scope = call_scope(call), .replaced = rep->old.id};
  q.scope.project = w->m.project;
  q.scope.all_projects = false;
  TRY(find_exact(&q));
  if (!w->defer_embedding && w->parts.n && !memory_is_entry(&w->m))
    TRY(find_near(&q));
  if (q.list.n == 0)
    return STATUS_OK;
  size_t at;
  enum verdict verdict = duplicate_judge(&w->m, &q.list, &at);
  assert(at < q.list.n && q.memories.n == q.list.n);
  const struct similar *o = &q.list.v[at];
  const struct memory *m = &q.memories.v[at];
  if (rep->old.id && verdict == VERDICT_SKIP && !w->keep_both && !w->soft && memory_is_trusted(m))
    return refuse_copy(call, o, &rep->old);
  if (rep->old.id || (w->keep_both && verdict != VERDICT_SKIP)) /* a correction only gets a warning */
    verdict = VERDICT_STORE;
  if (verdict == VERDICT_REFUSE && !memory_is_trusted(m)) /* an untrusted rule blocks no write */
    verdict = VERDICT_STORE;
  switch (verdict) {
  case VERDICT_REFUSE:
    return refuse_rule(call, w, o);
  case VERDICT_SUPERSEDE:
    return supersede_shorter(call, w, o, m, rep);
  case VERDICT_SKIP:
    skip_duplicate(call, w, o, m);
    break;
  case VERDICT_STORE:
    warn_near(call, w, &q.list);
    w->near = q.list;
    break;
  }
  return STATUS_OK;
}

enum status duplicates_link(struct op_call *call, struct txn *txn, struct write *w) {
  assert(w->near.n == 0 || w->id);
  for (size_t i = 0; i < w->near.n; i++) {
    struct link link = {.src = w->id, .rel = STR("contradicts"), .dst = w->near.v[i].id};
    if (w->near.v[i].difference.what != DIFFER_NONE)
      TRY(link_add(txn, call->arena, &link, call->err));
  }
  return STATUS_OK;
}
