/* indexes.h: vector indexes of a team: active, building and previous; removal of their vectors. */
#pragma once

#include "store/vectors/vectors.h"

enum vec_state { VEC_ACTIVE, VEC_BUILDING, VEC_PREVIOUS, VEC_STATES };
extern const char *const vec_state_names[VEC_STATES];

struct vec_index {
  struct str model;
  int dims;
  struct str config; /* JSON settings that open its embedder */
  int64_t started_at, flipped_at;
};

/* Indexes by state; an absent model means no index. An active index without vectors counts as absent: the next one
 * replaces it at once. */
struct vec_indexes {
  struct vec_index of[VEC_STATES];
};

NODISCARD enum status vec_indexes_of(struct store *st, struct str team, struct arena *a, struct vec_indexes *ret,
                                     struct error *err);
/* Gives the index this state; the index that had the state before is removed. An index already known by its model only
 * changes its state. */
NODISCARD enum status vec_index_set(struct txn *txn, const struct vec_index *index, enum vec_state state,
                                    struct error *err);
NODISCARD enum status vec_index_forget(struct txn *txn, enum vec_state state, struct error *err);
/* Makes `index` the active index, and the active one the previous one. */
NODISCARD enum status vec_index_flip(struct txn *txn, const struct vec_index *index, struct error *err);

/* Prepares the engine to search vectors of this many dimensions. */
NODISCARD enum status vec_prepare(struct txn *txn, int dims, struct error *err);
/* Does the chunk have a vector of this model? */
NODISCARD enum status vec_has(struct store *st, struct str team, struct str model, int64_t chunk_id, bool *ret_has,
                              struct error *err);
/* Highest chunk id of the team; 0 if there is none. */
NODISCARD enum status chunk_last_id(struct store *st, struct str team, int64_t *ret_id, struct error *err);

/* Drops some of the vectors that belong to no index, inside a transaction; ret_more: there are more. */
NODISCARD enum status vec_drop_unowned(struct txn *txn, int64_t *ret_dropped, bool *ret_more, struct error *err);
