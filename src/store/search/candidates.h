/* candidates.h: memories to compare a new one with: visible, active, of the same kind. */
#pragma once

#include "store/memories/memories.h"
#include "store/vectors/vectors.h"

struct ids {
  int64_t *v;
  size_t n, cap;
};

/* Memories with the same normalised text, at most 5. Needs no vectors, so pending memories are found too. */
NODISCARD enum status candidates_exact(struct store *st, const struct scope *scope, struct str kind, struct str hash,
                                       struct arena *a, struct ids *ret_ids, struct error *err);

struct candidate_query {
  const struct scope *scope;
  struct str kind;
  int64_t except; /* memory to exclude; 0: none */
  const struct vec_model *model;
  const int8_t *vector;
  double min_cosine;
  size_t k; /* maximum number of hits */
};
/* Nearest memories by their first chunk, best first. Transcript entries are excluded: their vectors also carry the
 * entry that they reply to ("Yes, agreed"). */
NODISCARD enum status candidates_near(struct store *st, const struct candidate_query *q, struct arena *a,
                                      struct vec_hits *ret_hits, struct error *err);

struct candidate_text {
  int64_t id;
  struct str headline, text;
};
struct candidate_texts {
  struct candidate_text *v;
  size_t n, cap;
};
/* Headlines and the first `limit` characters of the texts, in any order. */
NODISCARD enum status candidates_texts(struct store *st, struct str team, const int64_t *ids, size_t n, int limit,
                                       struct arena *a, struct candidate_texts *ret_texts, struct error *err);
