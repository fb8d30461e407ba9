/* vectors.h: the vectors of a team's chunks, one index for each embedding model, searched by similarity.
 *
 * Vectors are written in the transaction of their memory. Search finds the likely ones first, by sign bits or by a
 * graph, and compares those with int8: integer arithmetic only, so that the same data gives the same order on every
 * machine. */
#pragma once

#include "store/store.h"

struct vec_model {
  struct str team;
  struct str model;
  int dims;
};

struct vec_hit {
  int64_t chunk_id, memory_id;
  double cosine;
  const struct memory *features; /* as of search_features(); NULL: not asked for */
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

/* Which chunks count, as the engine of the store asks for it.
 * SQLite has two statements: `one` gives the memory's id for such a chunk, and no row for another; its last bound value
 * is the chunk's id. With `features` there are FEATURE_COLUMNS behind the memory's id. `all` gives the ids of all such
 * chunks; its last bound value is the most that are wanted. PostgreSQL has a condition, `where`, on the chunk c and its
 * memory m, with its values; empty: all of the team. */
struct vec_filter {
  struct sql one, all, where;
  bool features;
  bool no_documents, no_memories; /* nothing of the kind passes: what is kept apart is not even looked at */
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

/* One vector with all that belongs to it. */
struct vec_row {
  struct str team, model;
  int64_t chunk_id;
  int dims;
  const int8_t *vector;
};
struct vec_rows {
  struct vec_row *v;
  size_t n, cap;
  bool end; /* there are no more behind these */
};
/* Vectors of all teams and models behind `after` (chunk 0 and empty texts: from the beginning), at most so many, in an
 * order of the engine's own; `after` becomes the last that was looked at. Damaged ones are passed over. */
NODISCARD enum status vec_walk(struct store *st, struct vec_row *after, size_t limit, struct arena *a,
                               struct vec_rows *ret_rows, struct error *err);

/* Adds vectors of any teams and models, of chunks that have none of that model. */
NODISCARD enum status vec_add_all(struct txn *txn, struct arena *a, const struct vec_row *rows, size_t n,
                                  struct error *err);

/* How many of the team's chunks have a vector of this model. */
NODISCARD enum status vec_count(struct store *st, const struct vec_model *model, int64_t *ret_done, int64_t *ret_total,
                                struct error *err);

/* Compares heads, vectors and chunks with each other and with their check sums. Returns the number of faults. */
NODISCARD enum status vec_check(struct store *st, int64_t *ret_faults, struct error *err);

/* Mends every head from its vectors, and forgets the vectors that are damaged; maintenance embeds those texts again.
 * Inside a transaction. */
NODISCARD enum status vec_repair(struct store *st, struct error *err);
