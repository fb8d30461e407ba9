/* duplicates.c: finding near memories and acting on the gate's verdict. */
#include "op/write/duplicates.h"

#include "base/id.h"
#include "core/files/memfile.h"
#include "core/rank/rank.h"
#include "store/search/candidates.h"

enum { NEAREST = 5 };

/* ---- candidates ---- */

static bool told_apart(const struct write *w, const struct memory *m) {
  int64_t id;
  for (size_t i = 0; i < w->distinct_from.n; i++) {
    struct str ref = w->distinct_from.v[i];
    if ((str_int64(ref, &id) && id == m->id) || str_eq(ref, m->uid) || (m->key.p && str_eq(ref, m->key)))
      return true;
  }
  return false;
}

/* An embedder reads the beginning of a text. Two long ones that begin alike are the same only when the words of the
 * shorter one are in the longer. */
static bool same_throughout(struct arena *a, struct str x, struct str y) {
  enum { READ_BYTES = 400 };
  static const double most = 0.85;
  return (x.n <= READ_BYTES && y.n <= READ_BYTES) || words_shared(a, x, y) >= most;
}

static enum status add_candidate(struct op_call *call, const struct write *w, int64_t id, double similarity,
                                 struct similars *list) {
  for (size_t i = 0; i < list->n; i++)
    if (list->v[i].id == id)
      return STATUS_OK;
  struct memory m;
  bool found;
  TRY(memory_by_id(call->engine->store, w->m.team, id, call->arena, &m, &found, call->err));
  if (found)
    TRY(memory_load_body(call->engine->store, call->arena, &m, call->err));
  /* A file is replaced by whoever edits it, and by nothing that merely says the same. */
  if (!found || told_apart(w, &m) || memfile_is_path(m.key) || replace_outweighs(w, &m))
    return STATUS_OK;
  struct str mine = embed_text(call->arena, STR_NONE, w->m.headline, w->m.body);
  struct str theirs = embed_text(call->arena, STR_NONE, m.headline, m.body);
  if (similarity >= SIMILARITY_SAME && !same_throughout(call->arena, mine, theirs))
    similarity = SIMILARITY_SAME - 0.0001;
  list_push(call->arena, list,
            (struct similar){.id = id,
                             .headline = m.headline,
                             .untrusted = !memory_trusted(&m),
                             .body = m.body,
                             .project = m.project,
                             .key = m.key,
                             .similarity = similarity,
                             .difference = differ_check(call->arena, mine, theirs)});
  return STATUS_OK;
}

/* What a caller in the new memory's project sees. */
static struct scope scope_of_write(struct op_call *call, const struct write *w) {
  struct scope scope = scope_of(call);
  scope.project = w->m.project;
  scope.all_projects = false;
  return scope;
}

static enum status find_exact(struct op_call *call, const struct write *w, int64_t replaced, struct similars *list) {
  struct scope scope = scope_of_write(call, w);
  char hash[HASH_TEXT_SIZE];
  struct ids ids = {0};
  body_hash(call->arena, w->m.body, hash);
  TRY(candidates_exact(call->engine->store, &scope, w->m.kind, str_from(hash), call->arena, &ids, call->err));
  for (size_t i = 0; i < ids.n; i++)
    if (ids.v[i] != replaced)
      TRY(add_candidate(call, w, ids.v[i], 1.0, list));
  return STATUS_OK;
}

static enum status find_near(struct op_call *call, const struct write *w, int64_t replaced, struct similars *list) {
  const int8_t *vector;
  const struct embedding *judge = write_judge(w, &vector);
  if (!judge)
    return STATUS_OK;
  const struct calibration *c = judge->calibration;
  struct scope scope = scope_of_write(call, w);
  struct vec_hits hits = {0};
  TRY(candidates_near(call->engine->store, &scope, w->m.kind, replaced, &judge->model, vector,
                      uncalibrate(c, SIMILARITY_NEAR), NEAREST, call->arena, &hits, call->err));
  for (size_t i = 0; i < hits.n; i++)
    if (calibrate(c, hits.v[i].cosine) >= SIMILARITY_NEAR)
      TRY(add_candidate(call, w, hits.v[i].memory_id, calibrate(c, hits.v[i].cosine), list));
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

/* The end of a sentence that quotes it. */
static const char *mark_of(const struct similar *o) { return o->untrusted ? " (untrusted)" : ""; }

static void warn_near(struct op_call *call, struct write *w, const struct similars *list) {
  const struct similar *o = &list->v[0];
  struct arena *a = call->arena;
  struct str message =
      o->difference.what == DIFFER_NONE
          ? arena_printf(a, "close to memory %lld: %.*s%s", (long long)o->id, STR_ARG(o->headline), mark_of(o))
          : arena_printf(a, "may contradict memory %lld (%s: '%.*s', there '%.*s'): %.*s%s", (long long)o->id,
                         differ_name(o->difference.what), STR_ARG(o->difference.a), STR_ARG(o->difference.b),
                         STR_ARG(o->headline), mark_of(o));
  list_push(a, &w->warnings,
            (struct warning){.code = "contradiction",
                             .message = message,
                             .fix = arena_printf(a,
                                                 "keep both; or replace the old one: cairn undo TXN, then cairn "
                                                 "supersede %lld --reason WHY TEXT; or cairn forget %lld --reason WHY",
                                                 (long long)o->id, (long long)o->id),
                             .memories = list_json(a, list)});
}

/* The text as one word of a shell command; a long one is left to the reader. */
static struct str quoted(struct arena *a, struct str text) {
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
              o->similarity, STR_ARG(o->headline), mark_of(o));
  else
    error_set(call->err, STATUS_DUPLICATE, "contradicts rule %lld (%s: '%.*s', there '%.*s'): %.*s%s", (long long)o->id,
              differ_name(o->difference.what), STR_ARG(o->difference.a), STR_ARG(o->difference.b), STR_ARG(o->headline),
              mark_of(o));
  error_step(call->err, "duplicate");
  call->err->about = o->id;
  call->err->similarity = o->similarity;
  struct str text = quoted(call->arena, w->m.body);
  return error_fix(
      call->err,
      "to replace it: cairn supersede %lld --reason 'what changed' %.*s; if both hold, repeat the call with "
      "--distinct-from %lld",
      (long long)o->id, STR_ARG(text), (long long)o->id);
}

static void skip(struct op_call *call, struct write *w, const struct similar *o, const struct memory *m) {
  w->action = WRITE_SKIPPED;
  w->id = o->id;
  w->uid = m->uid;
  w->headline = o->headline;
  w->met_untrusted = o->untrusted;
  w->similarity = o->similarity;
  list_push(call->arena, &w->warnings,
            (struct warning){.code = "duplicate",
                             .message = arena_printf(call->arena, "memory %lld says the same: %.*s%s", (long long)o->id,
                                                     STR_ARG(o->headline), mark_of(o)),
                             .fix = memory_trusted(m) ? STR_NONE
                                                      : arena_printf(call->arena,
                                                                     "that one is untrusted, and not shown unasked: a "
                                                                     "person vouches for it with 'cairn promote %lld'",
                                                                     (long long)o->id)});
}

/* The more detailed text takes over everything that the shorter one had. */
static enum status take_over(struct op_call *call, struct write *w, const struct similar *o, struct memory *m,
                             struct replacement *rep) {
  w->similarity = o->similarity;
  w->inherit_pin = w->inherit_skill = w->inherit_key = true;
  return replace_choose(call, w, m, STR("more detailed restatement"), rep);
}

enum status duplicates_decide(struct op_call *call, struct txn *txn, struct write *w, struct replacement *rep) {
  struct similars list = {0};
  TRY(find_exact(call, w, rep->old.id, &list));
  if (!w->defer_embedding && w->chunk_count && !memory_is_entry(&w->m))
    TRY(find_near(call, w, rep->old.id, &list));
  size_t at;
  if (list.n == 0)
    return STATUS_OK;
  enum verdict verdict = gate_judge(&w->m, &list, &at);
  const struct similar *o = &list.v[at];
  if (rep->old.id && verdict != VERDICT_STORE) /* a correction is wanted: it is only told what else is close */
    verdict = VERDICT_STORE;
  if (w->keep_both && verdict != VERDICT_SKIP)
    verdict = VERDICT_STORE;
  struct memory m;
  bool found;
  TRY(memory_by_id(txn->store, w->m.team, o->id, call->arena, &m, &found, call->err));
  if (verdict == VERDICT_REFUSE && memory_trusted(&m)) /* a rule that nobody vouches for keeps none away */
    return refuse_rule(call, w, o);
  if (verdict == VERDICT_STORE || verdict == VERDICT_REFUSE) {
    warn_near(call, w, &list);
    w->near = list;
    return STATUS_OK;
  }
  if (verdict == VERDICT_SUPERSEDE)
    return take_over(call, w, o, &m, rep);
  skip(call, w, o, &m);
  return STATUS_OK;
}

enum status duplicates_link(struct op_call *call, struct txn *txn, struct write *w) {
  for (size_t i = 0; i < w->near.n; i++) {
    struct link link = {.src = w->id, .rel = STR("contradicts"), .dst = w->near.v[i].id};
    if (w->near.v[i].difference.what != DIFFER_NONE)
      TRY(link_add(txn, call->arena, &link, call->err));
  }
  return STATUS_OK;
}
