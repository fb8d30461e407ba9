/* rank.c: ranking of search hits: fusion, factors and diversity. */
#include "core/rank/rank.h"

#include <assert.h>
#include <stdlib.h>

#include "base/os/clock.h"
#include "base/utf8.h"
#include "core/text/text.h"

double half_power(double x) {
  if (!(x > 0))
    return 1;
  if (x > 1000)
    return 0;
  double whole = 1;
  for (; x >= 1; x -= 1)
    whole *= 0.5;
  /* exp(-x ln 2) for 0 <= x < 1 by its series. Unlike libm, it gives the same bits on every machine. */
  double t = -x * 0.69314718055994530942, term = 1, sum = 1;
  for (int i = 1; i < 20; i++) {
    term = term * t / i;
    sum += term;
  }
  return whole * sum;
}

double retention(double days, double half_life_days) {
  assert(half_life_days > 0);
  return half_power(days / half_life_days);
}

/* ---- fusion ---- */

/* An entity match supports other matches, but does not decide. */
#define ENTITY_SHARE 0.02

double fuse(const struct fusion *how, const struct match *m) {
  assert(how->vector >= 0 && how->vector <= 1);
  double words = m->part[LIST_LEXICAL] + m->lent, named = ENTITY_SHARE * m->part[LIST_ENTITY];
  if (!how->means)
    return words + named;
  if (!how->words)
    return m->part[LIST_VECTOR];
  return (1 - how->vector) * words + how->vector * m->part[LIST_VECTOR] + named;
}

/* ---- factors of a memory ---- */

struct rank_parts rank_parts(const struct rank_policy *policy, const struct memory *m) {
  assert(policy->half_life_days > 0);
  static const double untrusted = 0.9, suspect = 0.6;
  struct rank_parts p = {1, m->weight, 1, 1, 1, 1, 1};
  const struct mem_type *t = type_find(m->type);
  if (!t || t->decay != DECAY_NEVER) {
    /* A memory that was never read has the age since its creation. */
    int64_t used = m->last_accessed > m->created_at ? m->last_accessed : m->created_at;
    double days = (double)(policy->now - used) / (double)MS_PER_DAY;
    p.decay = half_power(days > 0 ? days / policy->half_life_days : 0);
  }
  int64_t votes = m->upvotes - m->downvotes;
  votes = votes > 5 ? 5 : votes < -5 ? -5 : votes;
  p.rating = 1 + 0.1 * (double)votes;
  if (!memory_is_trusted(m) && m->suspect.p)
    p.trust = suspect;
  else if (!memory_is_trusted(m) && !memory_is_document(m)) /* documents are searched only on request */
    p.trust = untrusted;
  p.access = 1 + 0.02 * (double)(m->access_count > 10 ? 10 : m->access_count);
  return p;
}

double rank_product(const struct rank_parts *p) {
  assert(p->decay >= 0 && p->decay <= 1);
  static const double share = 0.3; /* largest share of a score that age removes */
  return (1 - share + share * p->decay) * p->weight * p->rating * p->access * p->time * p->type * p->trust;
}

/* ---- diversity ---- */

static int by_hash(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return (a > b) - (a < b);
}

struct word_set word_set(struct arena *a, struct str text) {
  LIST(uint64_t) list = {0};
  struct str folded = utf8_fold(a, text), word;
  size_t pos = 0;
  while (text_next_word(folded, &pos, &word))
    list_push(a, &list, str_hash(STR_HASH, word));
  if (list.n)
    qsort(list.v, list.n, sizeof(*list.v), by_hash);
  size_t n = 0;
  for (size_t i = 0; i < list.n; i++)
    if (i == 0 || list.v[i] != list.v[i - 1])
      list.v[n++] = list.v[i];
  return (struct word_set){list.v, n};
}

static size_t in_both(const struct word_set *x, const struct word_set *y) {
  size_t i = 0, j = 0, both = 0;
  while (i < x->n && j < y->n) {
    assert((i == 0 || x->v[i - 1] < x->v[i]) && (j == 0 || y->v[j - 1] < y->v[j]));
    both += x->v[i] == y->v[j];
    uint64_t first = x->v[i];
    i += first <= y->v[j];
    j += y->v[j] <= first;
  }
  return both;
}

static double jaccard(const struct word_set *x, const struct word_set *y) {
  size_t both = in_both(x, y), either = x->n + y->n - both;
  return either ? (double)both / (double)either : 0;
}

double words_shared(struct arena *a, struct str x, struct str y) {
  struct word_set one = word_set(a, x), other = word_set(a, y);
  size_t least = one.n < other.n ? one.n : other.n;
  return least ? (double)in_both(&one, &other) / (double)least : 0;
}

size_t rank_pick_diverse(struct arena *a, const struct word_set *texts, const double *scores, size_t n, size_t k,
                         size_t *ret_order) {
  static const double lambda = 0.7;
  double *nearest = arena_array(a, double, n + 1);
  bool *taken = arena_array(a, bool, n + 1);
  double top = 0;
  for (size_t i = 0; i < n; i++)
    top = scores[i] > top ? scores[i] : top;
  size_t picked = 0;
  while (picked < k && picked < n) {
    size_t best = n;
    double best_value = 0;
    for (size_t i = 0; i < n; i++) {
      if (taken[i])
        continue;
      double relevance = top > 0 ? scores[i] / top : 0;
      /* In proportion to the relevance: an unrelated text is no better than a copy of a good one. */
      double value = relevance * (lambda - (1 - lambda) * nearest[i]);
      if (best == n || value > best_value) {
        best = i;
        best_value = value;
      }
    }
    assert(best < n);
    taken[best] = true;
    ret_order[picked++] = best;
    for (size_t i = 0; i < n; i++) {
      double s = taken[i] ? 0 : jaccard(&texts[i], &texts[best]);
      nearest[i] = s > nearest[i] ? s : nearest[i];
    }
  }
  return picked;
}

void mark_copies(const struct word_set *texts, size_t n, bool *ret_copies) {
  enum { ENOUGH = 2 };
  static const double same = 0.75;
  for (size_t i = 0; i < n; i++) {
    size_t like = 0;
    for (size_t k = 0; k < i && like < ENOUGH; k++)
      like += jaccard(&texts[i], &texts[k]) >= same;
    ret_copies[i] = like == ENOUGH;
  }
}
