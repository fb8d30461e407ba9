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
/* Removes a part of an index, some thousand vectors; ret_more says whether anything may be left. Each part can be a
 * transaction of its own, so that nobody waits for the whole. */
NODISCARD enum status vec_drop(struct txn *txn, struct str team, struct str model, bool *ret_more, struct error *err);

/* Which chunks count: `one` gives the memory's id for such a chunk, and no row for another; its last bound value is the
 * chunk's id. `all` gives the ids of all such chunks; its last bound value is the most that are wanted. */
struct vec_filter {
  struct sql one, all;
};

/* What a search had to leave out: blocks in which something is damaged, and vectors that turned out to be. */
struct vec_health {
  int64_t blocks, vectors;
};

/* The nearest chunks that pass the filter, best first: at most k, each at least min_cosine (use -1 for all). The best
 * by their bits are compared exactly; where hardly any of them passes, the scan is made among those that do. Damage is
 * passed over and told in ret_health (may be NULL). */
NODISCARD enum status vec_search(struct store *st, const struct vec_model *model, const int8_t *query,
                                 double min_cosine, size_t k, struct vec_filter *filter, struct arena *a,
                                 struct vec_hits *ret_hits, struct vec_health *ret_health, struct error *err);
/* The stored vectors of some chunks, ret_vectors[n * dims]; ret_found[n] says which there are. */
NODISCARD enum status vec_fetch(struct store *st, const struct vec_model *model, const int64_t *chunk_ids, size_t n,
                                int8_t *ret_vectors, bool *ret_found, struct error *err);
/* Loads the index into memory, so that a search under the write lock has only the newest changes to read. */
NODISCARD enum status vec_warm(struct store *st, const struct vec_model *model, struct error *err);

/* How many of the team's chunks have a vector of this model. */
NODISCARD enum status vec_count(struct store *st, const struct vec_model *model, int64_t *ret_done, int64_t *ret_total,
                                struct error *err);

/* Compares heads, vectors and chunks with each other and with their check sums. Returns the number of faults. */
NODISCARD enum status vec_check(struct store *st, int64_t *ret_faults, struct error *err);

/* Mends every head from its vectors, and forgets the vectors that are damaged; maintenance embeds those texts again.
 * Inside a transaction. */
NODISCARD enum status vec_repair(struct store *st, struct error *err);

#endif
