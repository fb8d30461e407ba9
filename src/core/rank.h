/* rank.h: what turns hits into an order: fusion of lists, decay with age, weight, ratings, use, and diversity.
 *
 * Pure, and deterministic to the bit: only additions, multiplications and divisions of doubles in a fixed order. */
#ifndef CAIRN_CORE_RANK_H
#define CAIRN_CORE_RANK_H

#include "core/memory.h"

/* 2^-x for x >= 0. */
double half_power(double x);
/* Retention of a memory that was last used so many days ago. */
double retention(double days, double half_life_days);

/* ---- fusion ---- */

enum { LIST_LEXICAL, LIST_VECTOR, LIST_COUNT };

struct fused {
  int64_t memory_id, chunk_id; /* chunk_id: of the best hit */
  int rank[LIST_COUNT];        /* 1 = best; 0: not in that list */
  double raw[LIST_COUNT];      /* the list's own score */
  double fusion;               /* 0..1 */
  double score;                /* after decay, weight, ratings, use */
};
struct fuseds {
  struct fused *v;
  size_t n, cap;
};

/* Adds the next hit of a list, best first; later chunks of a memory that is there already are dropped. */
void fuse_add(struct arena *a, struct fuseds *all, int list, int64_t memory_id, int64_t chunk_id, double raw);
/* Reciprocal rank fusion with these weights; ends with all sorted by fusion, ties by memory id. */
void fuse_finish(struct fuseds *all, const double weights[LIST_COUNT]);

/* ---- what the memory itself brings ---- */

struct rank_policy {
  double half_life_days;
  int64_t now;
};
/* Factors of a memory: decay by age (evergreen types exempt), weight, ratings, use. */
struct rank_parts {
  double decay, weight, rating, access;
};
struct rank_parts rank_parts(const struct rank_policy *policy, const struct memory *m);
double rank_product(const struct rank_parts *p);

/* ---- diversity ---- */

/* Maximal marginal relevance: picks k of n, lambda 0.7, Jaccard on token sets. `order` gets the picked indexes. */
void mmr_pick(struct arena *a, const struct str *texts, const double *scores, size_t n, size_t k, size_t *ret_order,
              size_t *ret_n);

#endif
