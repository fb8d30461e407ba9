/* search.c: the search operation: two lists of candidates, fused, ranked, made diverse. */
#include "base/utf8.h"
#include "core/rank.h"
#include "core/redact.h"
#include "op/handlers.h"
#include "op/write.h"
#include "store/lexical.h"
#include "store/search_rows.h"
#include "store/settings.h"
#include "store/skills.h"
#include "store/vectors.h"

enum { CANDIDATES = 100, SKILL_HITS = 5, SNIPPET_BYTES = 400 };

static const double list_weights[LIST_COUNT] = {[LIST_LEXICAL] = 1.0, [LIST_VECTOR] = 1.0};

struct hit {
  struct fused fused;
  struct memory m;
  struct rank_parts parts;
  struct str snippet;
  struct str skill; /* the skill by whose keyword it surfaced */
};
struct hits {
  struct hit *v;
  size_t n, cap;
};

struct query {
  struct op_call *call;
  struct str text;
  struct scope scope;
  struct filter filter;
  int64_t limit;
  bool hybrid;
};

/* ---- candidates ---- */

static enum status lexical_list(struct query *q, struct fuseds *all) {
  struct lexical_hits hits = {0};
  enum status s = lexical_search(q->call->engine->store, &q->scope, &q->filter, q->text, CANDIDATES, q->call->arena,
                                 &hits, q->call->err);
  for (size_t i = 0; s == STATUS_OK && i < hits.n; i++)
    fuse_add(q->call->arena, all, LIST_LEXICAL, hits.v[i].memory_id, hits.v[i].chunk_id, hits.v[i].score);
  return s;
}

/* A failing embedder costs the vectors, never the search. */
static enum status vector_list(struct query *q, struct fuseds *all) {
  struct op_call *call = q->call;
  const struct embedder *e = call->engine->embedder;
  struct vec_model model = {q->scope.team, str_from(e->model), e->dims};
  int8_t *vector = arena_array(call->arena, int8_t, (size_t)e->dims);
  struct error why;
  if (e->embed(e, call->arena, EMBED_QUERY, &q->text, 1, vector, &why) != STATUS_OK) {
    json_put(call->doc, call->result, "degraded", str_from(why.message));
    return STATUS_OK;
  }
  struct vec_hits hits = {0};
  enum status s = search_near(call->engine->store, &q->scope, &q->filter, &model, vector, CANDIDATES, call->arena,
                              &hits, call->err);
  q->hybrid = s == STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < hits.n; i++)
    if (hits.v[i].cosine > 0)
      fuse_add(call->arena, all, LIST_VECTOR, hits.v[i].memory_id, hits.v[i].chunk_id, hits.v[i].cosine);
  return s;
}

/* ---- ranking ---- */

static enum status load_hits(struct query *q, const struct fuseds *all, struct hits *ret) {
  struct op_call *call = q->call;
  double half_life;
  enum status s =
      setting_number(call->engine->store, q->scope.team, SET_DECAY_HALF_LIFE, call->arena, &half_life, call->err);
  struct rank_policy policy = {half_life, call->now};
  for (size_t i = 0; s == STATUS_OK && i < all->n; i++) {
    struct hit h = {.fused = all->v[i]};
    bool found;
    s = memory_by_id(call->engine->store, q->scope.team, h.fused.memory_id, call->arena, &h.m, &found, call->err);
    if (s == STATUS_OK)
      s = chunk_snippet(call->engine->store, q->scope.team, h.fused.chunk_id, call->arena, &h.snippet, call->err);
    if (s != STATUS_OK || !found)
      continue;
    h.parts = rank_parts(&policy, &h.m);
    h.fused.score = h.fused.fusion * rank_product(&h.parts);
    list_push(call->arena, ret, h);
  }
  return s;
}

/* The best `limit` by score and diversity, in the order of their scores. */
static void pick(struct arena *a, const struct hits *all, int64_t limit, struct hits *ret) {
  if (all->n == 0)
    return;
  struct str *texts = arena_array(a, struct str, all->n);
  double *scores = arena_array(a, double, all->n);
  size_t *order = arena_array(a, size_t, all->n), n;
  for (size_t i = 0; i < all->n; i++) {
    texts[i] = all->v[i].snippet;
    scores[i] = all->v[i].fused.score;
  }
  mmr_pick(a, texts, scores, all->n, (size_t)limit, order, &n);
  for (size_t i = 0; i < n; i++)
    list_push(a, ret, all->v[order[i]]);
  for (size_t i = 1; i < ret->n; i++) /* few: insertion sort, stable */
    for (size_t k = i; k > 0 && ret->v[k - 1].fused.score < ret->v[k].fused.score; k--) {
      struct hit t = ret->v[k];
      ret->v[k] = ret->v[k - 1];
      ret->v[k - 1] = t;
    }
}

static enum status gather(struct query *q, const char *states, int64_t limit, struct hits *ret) {
  struct fuseds all = {0};
  struct hits loaded = {0};
  q->filter.states = states;
  enum status s = lexical_list(q, &all);
  if (s == STATUS_OK)
    s = vector_list(q, &all);
  fuse_finish(&all, list_weights);
  if (s == STATUS_OK)
    s = load_hits(q, &all, &loaded);
  if (s == STATUS_OK)
    pick(q->call->arena, &loaded, limit, ret);
  return s;
}

/* ---- skills ---- */

static bool contains_word(struct str folded, struct str keyword) {
  return !str_empty(keyword) && str_find(folded, keyword, 0) != SIZE_MAX;
}

static enum status skill_hits(struct query *q, struct hits *ret) {
  struct op_call *call = q->call;
  struct memories skills = {0};
  enum status s = skills_visible(call->engine->store, &q->scope, call->arena, &skills, call->err);
  struct str folded = utf8_fold(call->arena, q->text);
  for (size_t i = 0; s == STATUS_OK && i < skills.n && ret->n < SKILL_HITS; i++) {
    struct memory *m = &skills.v[i];
    bool fires = false;
    for (size_t k = 0; k < m->skill_keywords.n; k++)
      fires |= contains_word(folded, utf8_fold(call->arena, m->skill_keywords.v[k]));
    if (!fires)
      continue;
    s = memory_load_body(call->engine->store, call->arena, m, call->err);
    struct hit h = {.m = *m, .snippet = m->body, .skill = m->skill_name, .fused = {.memory_id = m->id, .score = 1}};
    list_push(call->arena, ret, h);
  }
  return s;
}

/* ---- result ---- */

static double rounded(double x) { return json_round(x, 6); }

static enum status put_text(struct query *q, yyjson_mut_val *v, struct hit *h) {
  struct str detail = json_str(q->call->args, "detail");
  if (str_is(detail, "headline"))
    return STATUS_OK;
  if (str_is(detail, "full")) {
    enum status s = memory_load_body(q->call->engine->store, q->call->arena, &h->m, q->call->err);
    json_put(q->call->doc, v, "body", h->m.body);
    return s;
  }
  json_put(q->call->doc, v, "snippet", utf8_cut(h->snippet, SNIPPET_BYTES));
  return STATUS_OK;
}

static enum status put_hit(struct query *q, yyjson_mut_val *arr, struct hit *h) {
  struct op_call *call = q->call;
  yyjson_mut_doc *doc = call->doc;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
  enum status s = memory_load_lists(call->engine->store, call->arena, &h->m, call->err);
  if (s != STATUS_OK)
    return s;
  put_brief(call, v, &h->m);
  if (h->m.tags.n)
    json_put_strs(doc, v, "tags", &h->m.tags);
  json_put_num(doc, v, "score", rounded(h->fused.score));
  json_put(doc, v, "source",
           h->skill.p                                                  ? STR("skill")
           : h->fused.rank[LIST_LEXICAL] && h->fused.rank[LIST_VECTOR] ? STR("hybrid")
           : h->fused.rank[LIST_VECTOR]                                ? STR("vector")
                                                                       : STR("keyword"));
  json_put_opt(doc, v, "via_skill_trigger", h->skill);
  if (str_is(h->m.state, "superseded")) {
    int64_t head;
    s = link_head(call->engine->store, h->m.team, h->m.id, &head, call->err);
    if (s != STATUS_OK)
      return s;
    json_put_int(doc, v, "superseded_by", head);
  }
  if (json_bool(call->args, "explain", false) && !h->skill.p) {
    yyjson_mut_val *parts = json_put_obj(doc, v, "parts");
    json_put_num(doc, parts, "fusion", rounded(h->fused.fusion));
    json_put_num(doc, parts, "bm25", rounded(h->fused.raw[LIST_LEXICAL]));
    json_put_num(doc, parts, "cosine", rounded(h->fused.raw[LIST_VECTOR]));
    json_put_num(doc, parts, "decay", rounded(h->parts.decay));
    json_put_num(doc, parts, "weight", h->parts.weight);
    json_put_num(doc, parts, "rating", h->parts.rating);
    json_put_num(doc, parts, "access", h->parts.access);
  }
  return put_text(q, v, h);
}

/* The query may hold a secret: the log gets it scrubbed. */
static void note_search(struct query *q, const struct hits *hits) {
  struct op_call *call = q->call;
  struct secret_hits secrets = {0};
  redact_find(call->arena, q->text, NULL, &secrets);
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "query", utf8_cut(redact_apply(call->arena, q->text, &secrets), 1000));
  yyjson_mut_val *results = json_put_arr(doc, detail, "results");
  for (size_t i = 0; i < hits->n; i++)
    yyjson_mut_arr_add_sint(doc, results, hits->v[i].m.id);
  struct txn who = who_of(call);
  reads_note(call->engine->store, &who, STR("memory:search"), 0, STR_NONE, json_write(call->arena, detail, false));
}

static void append_new(struct arena *a, struct hits *list, const struct hits *more, int64_t limit) {
  for (size_t i = 0; i < more->n && (int64_t)list->n < limit; i++) {
    bool there = false;
    for (size_t k = 0; k < list->n; k++)
      there |= list->v[k].m.id == more->v[i].m.id;
    if (!there)
      list_push(a, list, more->v[i]);
  }
}

static enum status read_query(struct op_call *call, struct query *q) {
  *q = (struct query){.call = call, .text = json_str(call->args, "query"), .scope = scope_of(call)};
  enum status s = call_filter(call, &q->filter);
  if (s == STATUS_OK)
    s = call_int(call, "limit", 10, 1, 100, &q->limit);
  return s == STATUS_OK ? call_time(call, "as_of", -1, &q->scope.as_of) : s;
}

enum status op_search(struct op_call *call) {
  struct query q;
  struct hits found = {0}, all = {0}, faded = {0};
  bool superseded = json_bool(call->args, "include_superseded", false);
  enum status s = read_query(call, &q);
  if (s == STATUS_OK)
    s = skill_hits(&q, &all);
  size_t skills = all.n;
  if (s == STATUS_OK)
    s = gather(&q, superseded ? STATES_SEARCHED ", 'superseded'" : STATES_SEARCHED, q.limit, &found);
  if (s != STATUS_OK)
    return s;
  /* Skills come on top and do not count against the limit. */
  append_new(call->arena, &all, &found, q.limit + (int64_t)skills);
  if ((int64_t)all.n < q.limit) { /* what faded comes last, when there is room */
    s = gather(&q, "'faded'", q.limit - (int64_t)all.n, &faded);
    append_new(call->arena, &all, &faded, q.limit);
  }
  json_put(call->doc, call->result, "query", q.text);
  json_put(call->doc, call->result, "search_mode", q.hybrid ? STR("hybrid") : STR("keyword"));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "results");
  for (size_t i = 0; s == STATUS_OK && i < all.n; i++)
    s = put_hit(&q, arr, &all.v[i]);
  if (s == STATUS_OK)
    note_search(&q, &all);
  return s;
}
