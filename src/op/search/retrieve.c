/* retrieve.c: retrieval and ranking of memories for a query. */
#include "op/search/retrieve.h"

#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "core/memory/types.h"
#include "store/search/entities.h"
#include "store/search/lexical.h"
#include "store/search/search_rows.h"
#include "store/tables/settings.h"
#include "transcript/store/neighbours.h"

enum {
  QUERY_WORDS_BYTES = 4096, /* bytes of a query that are searched for names of types */
  WORD_CHUNKS = 100,        /* maximum hits from each index */
  NEAR_CHUNKS = 80,
  NAMED_CHUNKS = 50,
  LENDERS = 100, /* best keyword hits that boost their neighbours */
  POOL = 3,      /* times the limit: candidates for diversification */
  POOL_MIN = 30,
  DIVERSE = 2, /* times the limit: diversified hits; the best are returned */
};

#define TIME_SHARE 0.3 /* bonus of a memory whose time matches the query */
#define COPY_SHARE 0.8 /* factor for near copies when there are more hits than the limit */

/* ---- candidates ---- */

static struct hit *candidate(struct query *q, struct hits *all, int64_t memory_id, int64_t chunk_id) {
  for (size_t i = 0; i < all->n; i++)
    if (all->v[i].m.id == memory_id)
      return &all->v[i];
  list_push(q->call->arena, all, (struct hit){.chunk_id = chunk_id, .m = {.id = memory_id}});
  return &all->v[all->n - 1];
}

static bool has_sibling(const struct lexical_hits *hits, size_t at) {
  for (size_t i = 0; i < hits->n; i++)
    if (i != at && hits->v[i].memory_id == hits->v[at].memory_id)
      return true;
  return false;
}

/* Position of each hit's chunk in its memory; -1 for the only hit of a memory. Chunk ids do not give the order:
 * concurrent writers draw them from one sequence. */
static enum status find_places(struct query *q, const struct lexical_hits *hits, int64_t **ret_places) {
  struct op_call *call = q->call;
  int64_t *places = arena_array(call->arena, int64_t, hits->n + 1);
  int64_t *found = arena_array(call->arena, int64_t, hits->n + 1);
  int64_t *ids = arena_array(call->arena, int64_t, hits->n + 1);
  size_t n = 0;
  for (size_t i = 0; i < hits->n; i++)
    if (has_sibling(hits, i))
      ids[n++] = hits->v[i].chunk_id;
  TRY(chunk_places(call->engine->store, q->scope.team, ids, n, call->arena, found, call->err));
  size_t k = 0;
  for (size_t i = 0; i < hits->n; i++)
    places[i] = k < n && ids[k] == hits->v[i].chunk_id ? found[k++] : -1;
  assert(k == n);
  *ret_places = places;
  return STATUS_OK;
}

/* A matching adjacent chunk raises the score: the answer continues there. */
static double adjacent_score(const struct lexical_hits *hits, const int64_t *places, size_t best) {
  double most = 0;
  for (size_t i = 0; i < hits->n; i++) {
    bool known = places[i] >= 0 && places[best] >= 0;
    bool next = places[i] == places[best] + 1 || places[i] == places[best] - 1;
    if (known && next && hits->v[i].memory_id == hits->v[best].memory_id && hits->v[i].score > most)
      most = hits->v[i].score;
  }
  return LEND_TO_PREVIOUS * most;
}

static enum status add_keyword_hits(struct query *q, struct hits *all) {
  struct op_call *call = q->call;
  struct lexical_hits hits = {0};
  int64_t *places;
  struct chunk_query chunks = {.scope = &q->scope,
                               .filter = &q->filter,
                               .text = q->completions.n ? q->before : q->text,
                               .limit = WORD_CHUNKS,
                               .completions = &q->completions};
  TRY(lexical_search(call->engine->store, &chunks, call->arena, &hits, call->err));
  q->damaged |= hits.damaged;
  q->terms = hits.terms;
  TRY(find_places(q, &hits, &places));
  for (size_t i = 0; i < hits.n; i++) {
    const struct lexical_hit *from = &hits.v[i];
    struct hit *h = candidate(q, all, from->memory_id, from->chunk_id);
    if (h->match.part[LIST_LEXICAL] > 0 || !(hits.bound > 0))
      continue; /* a better chunk of the same memory was first */
    h->raw[LIST_LEXICAL] = from->score;
    if (from->features)
      h->m = *from->features;
    double share = (from->score + adjacent_score(&hits, places, i)) / hits.bound;
    h->match.part[LIST_LEXICAL] = share < 1 ? share : 1;
  }
  return STATUS_OK;
}

static enum status add_entity_hits(struct query *q, struct hits *all) {
  struct op_call *call = q->call;
  struct lexical_hits hits = {0};
  struct chunk_query chunks = {&q->scope, &q->filter, q->text, NAMED_CHUNKS, q->terms, NULL};
  TRY(entity_search(call->engine->store, &chunks, call->arena, &hits, call->err));
  q->damaged |= hits.damaged;
  for (size_t i = 0; i < hits.n; i++) {
    struct hit *h = candidate(q, all, hits.v[i].memory_id, hits.v[i].chunk_id);
    if (h->match.part[LIST_ENTITY] > 0)
      continue;
    h->raw[LIST_ENTITY] = hits.v[i].score;
    h->match.part[LIST_ENTITY] = hits.v[i].score / hits.v[0].score;
  }
  return STATUS_OK;
}

static void set_similarity(struct hit *h, double cosine, double similarity) {
  h->raw[LIST_VECTOR] = cosine;
  h->match.part[LIST_VECTOR] = similarity > 0 ? similarity : 0;
}

/* If the embedder fails, the search falls back to the other indexes. */
static enum status add_vector_hits(struct query *q, struct hits *all) {
  struct op_call *call = q->call;
  struct near_hits hits = {0};
  size_t used = 0;
  struct chunk_query chunks = {.scope = &q->scope, .filter = &q->filter, .text = q->text, .limit = NEAR_CHUNKS};
  TRY(embeddings_near(call, &q->set, &chunks, &hits, &used));
  q->by_vectors |= used > 0;
  q->farthest = used == 1 && hits.n == NEAR_CHUNKS ? hits.v[hits.n - 1].similarity : 1;
  for (size_t i = 0; i < hits.n; i++) {
    if (!(hits.v[i].similarity > 0))
      continue;
    struct hit *h = candidate(q, all, hits.v[i].memory_id, hits.v[i].chunk_id);
    if (h->raw[LIST_VECTOR] != 0)
      continue;
    set_similarity(h, hits.v[i].cosine, hits.v[i].similarity);
    if (!h->m.type.p && hits.v[i].features)
      h->m = *hits.v[i].features;
    /* The snippet comes from the chunk with the stronger match. */
    if (h->match.part[LIST_LEXICAL] < h->match.part[LIST_VECTOR])
      h->chunk_id = hits.v[i].chunk_id;
  }
  return STATUS_OK;
}

/* ---- neighbours ---- */

static enum status load_features(struct query *q, struct hits *all, size_t from) {
  struct op_call *call = q->call;
  struct memory **bare = arena_array(call->arena, struct memory *, all->n + 1);
  size_t n = 0;
  for (size_t i = from; i < all->n; i++)
    if (!all->v[i].m.type.p)
      bare[n++] = &all->v[i].m;
  return n ? search_features(call->engine->store, q->scope.team, call->arena, bare, n, call->err) : STATUS_OK;
}

/* A matching transcript entry raises the scores of the next entry, which continues the topic, and of the previous one,
 * which may hold the question. Boosts are not passed on. */
static enum status boost_neighbours(struct query *q, struct hits *all) {
  struct op_call *call = q->call;
  size_t n = all->n < LENDERS ? all->n : LENDERS;
  for (size_t i = 0; i < n; i++) {
    double words = all->v[i].match.part[LIST_LEXICAL];
    struct neighbours around = {0};
    if (words == 0 || !memory_is_entry(&all->v[i].m))
      continue;
    TRY(transcript_around(call->engine->store, &q->scope, &q->filter, &all->v[i].m, call->arena, &around, call->err));
    if (around.after.memory_id)
      candidate(q, all, around.after.memory_id, around.after.chunk_id)->match.lent += LEND_TO_NEXT * words;
    if (around.before.memory_id)
      candidate(q, all, around.before.memory_id, around.before.chunk_id)->match.lent += LEND_TO_PREVIOUS * words;
  }
  return STATUS_OK;
}

/* ---- ranking ---- */

struct ranked {
  double score;
  int64_t id;
  size_t index;
};

static int by_score(const void *x, const void *y) {
  const struct ranked *a = x, *b = y;
  if (a->score != b->score)
    return a->score < b->score ? 1 : -1;
  return (a->id > b->id) - (a->id < b->id);
}

/* Keeps the best `max`, best first. Sorts small records and moves each hit once, because hits are large. */
static void keep_best(struct arena *a, struct hits *all, size_t max) {
  struct ranked *ranked = arena_array(a, struct ranked, all->n + 1);
  for (size_t i = 0; i < all->n; i++)
    ranked[i] = (struct ranked){all->v[i].score, all->v[i].m.id, i};
  if (all->n)
    qsort(ranked, all->n, sizeof(*ranked), by_score);
  struct hits best = {0};
  for (size_t i = 0; i < all->n && i < max; i++)
    list_push(a, &best, all->v[ranked[i].index]);
  *all = best;
}

static struct fusion fusion_of(const struct query *q) {
  struct fusion how = q->fusion;
  how.means = how.means && q->by_vectors;
  how.words = how.words && !q->damaged;
  return how;
}

/* Factors that do not depend on the match. */
static void set_rates(struct query *q, struct hits *all) {
  struct rank_policy policy = {q->half_life_days, q->call->now};
  for (size_t i = 0; i < all->n; i++) {
    struct hit *h = &all->v[i];
    const struct mem_type *t = type_find(h->m.type);
    h->parts = rank_parts(&policy, &h->m);
    h->parts.time = q->timed ? 1 + TIME_SHARE * when_closeness(&q->when, h->m.valid_from) : 1;
    h->parts.type = t ? q->types[type_index(t)] : 1;
    h->rate = rank_product(&h->parts);
  }
}

static void set_scores(struct query *q, struct hits *all) {
  struct fusion how = fusion_of(q);
  for (size_t i = 0; i < all->n; i++) {
    struct hit *h = &all->v[i];
    h->fusion = fuse(&how, &h->match);
    h->score = h->fusion * h->rate;
  }
}

static int descending(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a < b) - (a > b);
}

/* Lower bound for the score of the best `max` hits: their scores without the missing similarities. */
static double min_pool_score(struct query *q, struct hits *all, size_t max) {
  double *scores = arena_array(q->call->arena, double, all->n + 1);
  assert(max > 0);
  if (all->n <= max)
    return 0;
  set_scores(q, all);
  for (size_t i = 0; i < all->n; i++)
    scores[i] = all->v[i].score;
  qsort(scores, all->n, sizeof(*scores), descending);
  return scores[max - 1];
}

/* Computes the similarity of hits that only the other indexes found. Skips a hit that would not be among the best `max`
 * even with the similarity q->farthest. */
static enum status compare_rest(struct query *q, struct hits *all, size_t max) {
  struct op_call *call = q->call;
  struct fusion how = fusion_of(q);
  double least = min_pool_score(q, all, max);
  size_t n = 0;
  struct hit **rest = arena_array(call->arena, struct hit *, all->n + 1);
  int64_t *chunks = arena_array(call->arena, int64_t, all->n + 1);
  for (size_t i = 0; i < all->n; i++) {
    struct match best = all->v[i].match;
    best.part[LIST_VECTOR] = q->farthest;
    if (all->v[i].raw[LIST_VECTOR] == 0 && fuse(&how, &best) * all->v[i].rate >= least) {
      rest[n] = &all->v[i];
      chunks[n++] = all->v[i].chunk_id;
    }
  }
  struct near_hit *near = arena_array(call->arena, struct near_hit, n + 1);
  TRY(embeddings_compare(call, &q->set, q->text, chunks, n, near));
  for (size_t i = 0; i < n; i++)
    set_similarity(rest[i], near[i].cosine, near[i].similarity);
  return STATUS_OK;
}

static enum status load_rows(struct query *q, struct hits *pool) {
  struct op_call *call = q->call;
  struct store *st = call->engine->store;
  struct memory **rows = arena_array(call->arena, struct memory *, pool->n + 1);
  bool *found = arena_array(call->arena, bool, pool->n + 1);
  int64_t *chunks = arena_array(call->arena, int64_t, pool->n + 1);
  struct str *texts = arena_array(call->arena, struct str, pool->n + 1);
  size_t kept = 0;
  for (size_t i = 0; i < pool->n; i++) {
    rows[i] = &pool->v[i].m;
    chunks[i] = pool->v[i].chunk_id;
  }
  TRY(memories_by_ids(st, q->scope.team, call->arena, rows, pool->n, found, call->err));
  TRY(chunk_snippets(st, q->scope.team, chunks, pool->n, call->arena, texts, call->err));
  for (size_t i = 0; i < pool->n; i++) {
    pool->v[i].snippet = texts[i];
    if (found[i])
      pool->v[kept++] = pool->v[i];
  }
  pool->n = kept;
  return STATUS_OK;
}

/* Keeps the best `limit` of a sorted list, with the scores of near copies reduced. */
static void drop_copies(struct arena *a, struct hits *list, size_t limit) {
  struct word_set *texts = arena_array(a, struct word_set, list->n + 1);
  bool *copies = arena_array(a, bool, list->n + 1), *kept = arena_array(a, bool, list->n + 1);
  size_t n = 0;
  if (list->n <= limit)
    return;
  for (size_t i = 0; i < list->n; i++)
    texts[i] = list->v[i].words;
  mark_copies(texts, list->n, copies);
  for (size_t taken = 0; taken < limit; taken++) {
    size_t best = list->n;
    double most = 0;
    for (size_t i = 0; i < list->n; i++) {
      double value = list->v[i].score * (copies[i] ? COPY_SHARE : 1);
      if (!kept[i] && (best == list->n || value > most)) {
        best = i;
        most = value;
      }
    }
    assert(best < list->n);
    kept[best] = true;
  }
  for (size_t i = 0; i < list->n; i++)
    if (kept[i])
      list->v[n++] = list->v[i];
  assert(n == limit);
  list->n = n;
}

/* Chooses twice the limit by score and diversity, then the best of these by score. */
static void pick(struct arena *a, struct hits *pool, int64_t limit, struct hits *ret) {
  if (pool->n == 0)
    return;
  struct word_set *texts = arena_array(a, struct word_set, pool->n);
  double *scores = arena_array(a, double, pool->n);
  size_t *order = arena_array(a, size_t, pool->n);
  for (size_t i = 0; i < pool->n; i++) {
    texts[i] = pool->v[i].words = word_set(a, pool->v[i].snippet);
    scores[i] = pool->v[i].score;
  }
  size_t n = rank_pick_diverse(a, texts, scores, pool->n, (size_t)limit * DIVERSE, order);
  for (size_t i = 0; i < n; i++)
    list_push(a, ret, pool->v[order[i]]);
  keep_best(a, ret, ret->n);
  drop_copies(a, ret, (size_t)limit);
  assert(ret->n <= (size_t)limit);
}

static enum status gather(struct query *q, struct hits *all) {
  if (q->fusion.words)
    TRY(add_keyword_hits(q, all));
  TRY(load_features(q, all, 0));
  size_t found = all->n;
  if (q->fusion.words) {
    TRY(boost_neighbours(q, all));
    TRY(add_entity_hits(q, all));
  }
  if (q->fusion.means)
    TRY(add_vector_hits(q, all));
  return load_features(q, all, found);
}

enum status retrieve(struct query *q, const char *states, int64_t limit, struct hits *ret_hits) {
  struct hits all = {0};
  size_t pool = (size_t)limit * POOL > POOL_MIN ? (size_t)limit * POOL : POOL_MIN;
  assert(limit > 0);
  if (str_empty(str_trim(q->text))) /* an embedder would return hits for an empty query */
    return STATUS_OK;
  q->filter.states = states;
  TRY(gather(q, &all));
  if (!q->by_vectors && !q->fusion.words) { /* vector search was requested, but no embedder works */
    q->fusion.words = true;
    TRY(gather(q, &all));
  }
  set_rates(q, &all);
  if (q->fusion.means && q->by_vectors)
    TRY(compare_rest(q, &all, pool));
  set_scores(q, &all);
  keep_best(q->call->arena, &all, pool);
  while (all.n && !(all.v[all.n - 1].fusion > 0)) /* drop hits without a match */
    all.n--;
  TRY(load_rows(q, &all));
  pick(q->call->arena, &all, limit, ret_hits);
  return STATUS_OK;
}

enum status retrieve_faded(struct query *q, int64_t limit, double score, int64_t *ret_n) {
  struct op_call *call = q->call;
  struct filter f = q->filter;
  struct hits faded = {0};
  int64_t stored;
  *ret_n = 0;
  f.states = "'faded'";
  TRY(memory_count(call->engine->store, &q->scope, &f, call->arena, &stored, call->err));
  if (stored)
    TRY(retrieve(q, f.states, limit, &faded));
  for (size_t i = 0; i < faded.n; i++)
    *ret_n += faded.v[i].score > score;
  return STATUS_OK;
}

void put_faded(struct op_call *call, int64_t n) {
  if (!n)
    return;
  json_put_int(call->doc, call->result, "faded", n);
  json_put(call->doc, call->result, "fetch", STR(LIST_FADED));
}

enum status retrieve_set_mode(struct query *q, struct str mode) {
  struct op_call *call = q->call;
  if (str_empty(mode)) {
    struct setting_value provider;
    TRY(setting_get(call->engine->store, q->scope.team, SET_SEARCH_PROVIDER, call->arena, &provider, call->err));
    mode = str_is(provider.value, "fts5") ? STR("keyword") : STR("hybrid");
  }
  q->fusion.words = !str_is(mode, "vector");
  q->fusion.means = !str_is(mode, "keyword");
  return STATUS_OK;
}

enum status retrieve_prepare(struct query *q) {
  struct op_call *call = q->call;
  struct store *st = call->engine->store;
  q->types = type_query_factors(call->arena, utf8_fold(call->arena, utf8_cut(q->text, QUERY_WORDS_BYTES)));
  q->timed = when_find(q->text, call->now, &q->when);
  TRY(setting_number(st, q->scope.team, SET_DECAY_HALF_LIFE, call->arena, &q->half_life_days, call->err));
  TRY(setting_number(st, q->scope.team, SET_VECTOR_WEIGHT, call->arena, &q->fusion.vector, call->err));
  TRY(embeddings_of(call, &q->set));
  if (q->fusion.means)
    embeddings_ask(call, &q->set, q->text);
  return STATUS_OK;
}
