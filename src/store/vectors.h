/* vectors.h: the vectors of a team's chunks, one index for each embedding model, searched by similarity.
 *
 * Vectors are written in the transaction of their memory. Search scans sign bits and rescores with int8: integer
 * arithmetic only, so that the same data gives the same order on every machine. */
#ifndef CAIRN_STORE_VECTORS_H
#define CAIRN_STORE_VECTORS_H

#include "store/store.h"

struct vec_model {
  struct str team;
  struct str model;
  int dims;
};

struct vec_hit {
  int64_t chunk_id, memory_id;
  double cosine;
};
struct vec_hits {
  struct vec_hit *v;
  size_t n, cap;
};

NODISCARD enum status vec_add(struct txn *txn, const struct vec_model *model, int64_t chunk_id, const int8_t *vector,
                              struct error *err);
/* The same for a chunk whose text waited to be embedded; nothing when the chunk is gone or has its vector by now. */
NODISCARD enum status vec_add_missing(struct txn *txn, const struct vec_model *model, int64_t chunk_id,
                                      const int8_t *vector, struct error *err);
/* Wipes the vectors of a memory's chunks, in every model. */
NODISCARD enum status vec_remove(struct txn *txn, int64_t memory_id, struct error *err);

/* The nearest chunks that `accept` lets through, best first: at most k, each at least min_cosine (use -1 for all).
 * `accept` is a query that gives the memory's id for a chunk that counts, and no row for another; its last bound value
 * is the chunk's id. Candidates are walked in the order of their bit distance, until enough were accepted or `examine`
 * were looked at. */
NODISCARD enum status vec_search(struct store *st, const struct vec_model *model, const int8_t *query,
                                 double min_cosine, size_t k, size_t examine, struct sql *accept, struct arena *a,
                                 struct vec_hits *ret_hits, struct error *err);
/* Loads the index into memory, so that a search under the write lock has only the newest changes to read. */
NODISCARD enum status vec_warm(struct store *st, const struct vec_model *model, struct error *err);

/* How many of the team's chunks have a vector of this model. */
NODISCARD enum status vec_count(struct store *st, const struct vec_model *model, int64_t *ret_done, int64_t *ret_total,
                                struct error *err);

/* Compares the index with the chunks: every slot points at a chunk and back. Returns the number of faults. */
NODISCARD enum status vec_check(struct store *st, int64_t *ret_faults, struct error *err);

/* Forgets every vector that does not match its chunk; maintenance embeds those texts again. */
NODISCARD enum status vec_repair(struct store *st, struct error *err);

#endif
