/* rank.c: fusion, decay, boosts and diversity. */
#include "core/rank.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "core/text.h"

double half_power(double x) {
  if (!(x > 0))
    return 1;
  if (x > 1000)
    return 0;
  double whole = 1;
  for (; x >= 1; x -= 1)
    whole *= 0.5;
  /* exp(-x ln 2) for 0 <= x < 1 by its series: libm may differ between machines, these steps cannot. */
  double t = -x * 0.69314718055994530942, term = 1, sum = 1;
  for (int i = 1; i < 20; i++) {
    term = term * t / i;
    sum += term;
  }
  return whole * sum;
}

double retention(double days, double half_life_days) { return half_power(days / half_life_days); }

/* ---- fusion ---- */

enum { RRF_K = 20 };

void fuse_add(struct arena *a, struct fuseds *all, int list, int64_t memory_id, int64_t chunk_id, double raw) {
  int next = 1;
  struct fused *f = NULL;
  for (size_t i = 0; i < all->n; i++) {
    if (all->v[i].rank[list] >= next)
      next = all->v[i].rank[list] + 1;
    if (all->v[i].memory_id == memory_id)
      f = &all->v[i];
  }
  if (!f) {
    list_push(a, all, (struct fused){.memory_id = memory_id, .chunk_id = chunk_id});
    f = &all->v[all->n - 1];
  }
  if (f->rank[list])
    return;
  f->rank[list] = next;
  f->raw[list] = raw;
}

static int by_fusion(const void *x, const void *y) {
  const struct fused *a = x, *b = y;
  if (a->fusion != b->fusion)
    return a->fusion < b->fusion ? 1 : -1;
  return (a->memory_id > b->memory_id) - (a->memory_id < b->memory_id);
}

void fuse_finish(struct fuseds *all, const double weights[LIST_COUNT]) {
  double best = 0;
  for (int l = 0; l < LIST_COUNT; l++)
    best += weights[l] / (RRF_K + 1);
  for (size_t i = 0; i < all->n; i++) {
    struct fused *f = &all->v[i];
    double sum = 0;
    for (int l = 0; l < LIST_COUNT; l++)
      if (f->rank[l])
        sum += weights[l] / (RRF_K + f->rank[l]);
    f->fusion = best > 0 ? sum / best : 0;
    f->score = f->fusion;
  }
  if (all->n)
    qsort(all->v, all->n, sizeof(*all->v), by_fusion);
}

/* ---- what the memory itself brings ---- */

struct rank_parts rank_parts(const struct rank_policy *policy, const struct memory *m) {
  struct rank_parts p = {1, m->weight, 1, 1};
  const struct mem_type *t = type_find(m->type);
  if (!t || t->decay != DECAY_NEVER) {
    /* A memory that was never read is as old as it is, not older. */
    int64_t used = m->last_accessed > m->created_at ? m->last_accessed : m->created_at;
    double days = (double)(policy->now - used) / (double)MS_PER_DAY;
    p.decay = half_power(days > 0 ? days / policy->half_life_days : 0);
  }
  int64_t votes = m->upvotes - m->downvotes;
  votes = votes > 5 ? 5 : votes < -5 ? -5 : votes;
  p.rating = 1 + 0.1 * (double)votes;
  p.access = 1 + 0.02 * (double)(m->access_count > 10 ? 10 : m->access_count);
  return p;
}

double rank_product(const struct rank_parts *p) { return p->decay * p->weight * p->rating * p->access; }

/* ---- diversity ---- */

struct token_set {
  uint64_t *v; /* sorted hashes, each once */
  size_t n;
};

static int by_hash(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return (a > b) - (a < b);
}

static struct token_set tokens_of(struct arena *a, struct str text) {
  LIST(uint64_t) list = {0};
  struct str folded = utf8_fold(a, text), word;
  size_t pos = 0;
  while (text_next_word(folded, &pos, &word)) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < word.n; i++)
      h = (h ^ (unsigned char)word.p[i]) * 1099511628211u;
    list_push(a, &list, h);
  }
  if (list.n)
    qsort(list.v, list.n, sizeof(*list.v), by_hash);
  size_t n = 0;
  for (size_t i = 0; i < list.n; i++)
    if (i == 0 || list.v[i] != list.v[i - 1])
      list.v[n++] = list.v[i];
  return (struct token_set){list.v, n};
}

static double jaccard(const struct token_set *x, const struct token_set *y) {
  size_t i = 0, j = 0, both = 0;
  while (i < x->n && j < y->n) {
    if (x->v[i] == y->v[j]) {
      both++;
      i++;
      j++;
    } else if (x->v[i] < y->v[j]) {
      i++;
    } else {
      j++;
    }
  }
  size_t either = x->n + y->n - both;
  return either ? (double)both / (double)either : 0;
}

void mmr_pick(struct arena *a, const struct str *texts, const double *scores, size_t n, size_t k, size_t *ret_order,
              size_t *ret_n) {
  static const double lambda = 0.7;
  struct token_set *sets = arena_array(a, struct token_set, n + 1);
  double *nearest = arena_array(a, double, n + 1);
  bool *taken = arena_array(a, bool, n + 1);
  double top = 0;
  for (size_t i = 0; i < n; i++) {
    sets[i] = tokens_of(a, texts[i]);
    top = scores[i] > top ? scores[i] : top;
  }
  *ret_n = 0;
  while (*ret_n < k && *ret_n < n) {
    size_t best = n;
    double best_value = 0;
    for (size_t i = 0; i < n; i++) {
      if (taken[i])
        continue;
      double relevance = top > 0 ? scores[i] / top : 0;
      double value = lambda * relevance - (1 - lambda) * nearest[i];
      if (best == n || value > best_value) {
        best = i;
        best_value = value;
      }
    }
    taken[best] = true;
    ret_order[(*ret_n)++] = best;
    for (size_t i = 0; i < n; i++) {
      double s = taken[i] ? 0 : jaccard(&sets[i], &sets[best]);
      nearest[i] = s > nearest[i] ? s : nearest[i];
    }
  }
}
