/* rank.h: what turns hits into an order: fusion of lists, decay with age, weight, ratings, use, and diversity.
 *
 * Pure, and deterministic to the bit: only additions, multiplications and divisions of doubles in a fixed order. */
#pragma once

#include "core/memory/memory.h"

/* 2^-x for x >= 0. */
double half_power(double x);
/* Retention of a memory that was last used so many days ago. */
double retention(double days, double half_life_days);

/* ---- fusion ---- */

enum { LIST_LEXICAL, LIST_VECTOR, LIST_ENTITY, LIST_COUNT };

/* How well a memory answers, by each list on a scale of its own meaning, not by its place in it: a word match as the
 * share of what the query's words could score at most, a vector match as calibrated similarity, a named thing as the
 * share of the best. So a list that knows nothing says so, instead of promoting its least bad hit. */
struct match {
  double part[LIST_COUNT]; /* 0: not found by that list */
  double lent;             /* by neighbours in the same transcript, on the scale of LIST_LEXICAL */
};

struct fusion {
  double vector;     /* 0..1: how much the vectors count against the words */
  bool words, means; /* which of the two were asked: the other one's share goes to it */
};
double fuse(const struct fusion *how, const struct match *m);

/* What a text gives to the entry that follows it, to the one before it, and to a chunk beside it. */
#define LEND_NEXT 0.5
#define LEND_BEFORE 0.3

/* ---- what the memory itself brings ---- */

struct rank_policy {
  double half_life_days;
  int64_t now;
};
/* Factors of a memory: decay by age (evergreen types exempt), weight, ratings, use; how well its time fits a time that
 * the query names, whether the query asks for its type; and whether it may be trusted: where two answer alike, the one
 * that somebody vouches for comes first. */
struct rank_parts {
  double decay, weight, rating, access, time, type, trust;
};
struct rank_parts rank_parts(const struct rank_policy *policy, const struct memory *m);
/* Age alone never takes more than a part of a score: a good answer that is old beats a bad one that is new. */
double rank_product(const struct rank_parts *p);

/* ---- diversity ---- */

/* The distinct words of a text. */
struct word_set {
  uint64_t *v; /* their hashes, sorted */
  size_t n;
};
struct word_set word_set(struct arena *a, struct str text);
/* How much of the shorter text the longer one holds: the share of its distinct words, 0 to 1. */
double words_shared(struct arena *a, struct str x, struct str y);
/* Maximal marginal relevance: picks k of n, lambda 0.7, Jaccard on words. `order` gets the picked indexes. */
void mmr_pick(struct arena *a, const struct word_set *texts, const double *scores, size_t n, size_t k,
              size_t *ret_order, size_t *ret_n);
/* Of texts in the order of their scores, those that say once more what two before them say in nearly the same words:
 * ret_copies[n]. Two that are alike may be an update, or two who agree; a third adds nothing. */
void mark_copies(const struct word_set *texts, size_t n, bool *ret_copies);
