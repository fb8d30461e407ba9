/* indexes.h: which vector indexes a team has: the active one, one being built, the one before; and dropping their
 * vectors. */
#pragma once

#include "store/vectors/vectors.h"

enum vec_state { VEC_ACTIVE, VEC_BUILDING, VEC_PREVIOUS, VEC_STATES };
extern const char *const vec_state_names[VEC_STATES];

struct vec_index {
  struct str model;
  int dims;
  struct str config; /* JSON: the settings that open its embedder */
  int64_t started_at, flipped_at;
};

/* By state; one whose model is absent is not there. An active index without a single vector is none: what comes next
 * takes its place at once. */
struct vec_indexes {
  struct vec_index of[VEC_STATES];
};

NODISCARD enum status vec_indexes_of(struct store *st, struct str team, struct arena *a, struct vec_indexes *ret,
                                     struct error *err);
/* Makes it the index of this state; what had the state until then is no index any more. An index that is known under
 * this model only changes its state. */
NODISCARD enum status vec_index_set(struct txn *txn, const struct vec_index *index, enum vec_state state,
                                    struct error *err);
NODISCARD enum status vec_index_forget(struct txn *txn, enum vec_state state, struct error *err);
/* `model` becomes the active index, and what was active the previous one. */
NODISCARD enum status vec_index_flip(struct txn *txn, const struct vec_index *index, struct error *err);

/* An index of vectors of so many dimensions begins: what the engine needs to search them. */
NODISCARD enum status vec_prepare(struct txn *txn, int dims, struct error *err);
/* Whether a chunk has a vector of this model. */
NODISCARD enum status vec_has(struct store *st, struct str team, struct str model, int64_t chunk_id, bool *ret_has,
                              struct error *err);
/* The highest id of a chunk of the team; 0 when there is none. */
NODISCARD enum status chunk_last(struct store *st, struct str team, int64_t *ret_id, struct error *err);

/* Drops a part of the vectors that belong to no index any more, inside a transaction; ret_more: there are others. */
NODISCARD enum status vec_drop_unowned(struct txn *txn, int64_t *ret_dropped, bool *ret_more, struct error *err);
