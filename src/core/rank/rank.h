/* rank.h: ranking of search hits: fusion of lists, decay with age, weight, ratings, use, diversity.
 *
 * Pure, and deterministic to the bit: only additions, multiplications and divisions of doubles in a fixed order. */
#pragma once

#include "core/memory/memory.h"

/* 2^-x for x >= 0. */
double half_power(double x);
/* Retention of a memory last used `days` ago: 1 at first, halved every half-life. */
double retention(double days, double half_life_days);

/* ---- fusion ---- */

enum { LIST_LEXICAL, LIST_VECTOR, LIST_ENTITY, LIST_COUNT };

/* Score of a memory in each list. Scores are absolute, not positions: a word match is the share of the highest possible
 * score of the query's words, a vector match is the calibrated similarity, an entity match is the share of the best
 * hit. So a list without good hits does not promote its least bad one. */
struct match {
  double part[LIST_COUNT]; /* 0 if the list does not have it */
  double lent;             /* score added by neighbors in the same transcript, on the scale of LIST_LEXICAL */
};

struct fusion {
  double vector;     /* 0..1: weight of vectors against words */
  bool words, means; /* whether words and vectors were searched; if only one was, it gets the whole weight */
};
double fuse(const struct fusion *how, const struct match *m);

/* Share of its score that a text lends to the next entry, and to the previous entry or an adjacent chunk. */
#define LEND_TO_NEXT 0.5
#define LEND_TO_PREVIOUS 0.3

/* ---- factors of a memory ---- */

struct rank_policy {
  double half_life_days;
  int64_t now;
};
struct rank_parts {
  double decay; /* by age, except evergreen types */
  double weight, rating;
  double access; /* use */
  double time;   /* fit to a time named in the query */
  double type;   /* above 1 if the query asks for its type */
  double trust;  /* below 1 for untrusted memories: the trusted one of two equal answers comes first */
};
struct rank_parts rank_parts(const struct rank_policy *policy, const struct memory *m);
/* Product of the factors. Age reduces a score only by a limited share: a good old answer ranks above a bad new one. */
double rank_product(const struct rank_parts *p);

/* ---- diversity ---- */

/* Distinct words of a text. */
struct word_set {
  uint64_t *v; /* hashes, sorted */
  size_t n;
};
struct word_set word_set(struct arena *a, struct str text);
/* Share of the distinct words of the shorter text that the longer one contains, 0 to 1. */
double words_shared(struct arena *a, struct str x, struct str y);
/* Maximal marginal relevance: picks at most k of n texts, lambda 0.7, Jaccard similarity of words. Returns how many
 * indexes it wrote to ret_order. */
size_t rank_pick_diverse(struct arena *a, const struct word_set *texts, const double *scores, size_t n, size_t k,
                         size_t *ret_order);
/* Sets ret_copies[i] if text i nearly repeats two texts before it; texts are in score order. Two similar texts may be
 * an update or independent confirmation; a third adds nothing. */
void mark_copies(const struct word_set *texts, size_t n, bool *ret_copies);
