/* vectors.h: vectors of a team's chunks, one index per embedding model, searched by similarity.
 *
 * Vectors are written in the transaction of their memory. Search finds candidates by sign bits or an HNSW graph and
 * compares them as int8. Only integer arithmetic is used, so the same data gives the same order on every machine. */
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
  const struct memory *features; /* see search_features(); NULL if not requested */
};
struct vec_hits {
  struct vec_hit *v;
  size_t n, cap;
};

NODISCARD enum status vec_add(struct txn *txn, const struct vec_model *model, int64_t chunk_id, const int8_t *vector,
                              struct error *err);
/* Same for a chunk that was pending; does nothing if the chunk is gone or already has a vector. */
NODISCARD enum status vec_add_missing(struct txn *txn, const struct vec_model *model, int64_t chunk_id,
                                      const int8_t *vector, struct error *err);
/* Removes the vectors of a memory's chunks, for every model. */
NODISCARD enum status vec_remove(struct txn *txn, int64_t memory_id, struct error *err);

/* Which chunks a search may return, in the form that the engine needs.
 * SQLite uses two statements. `one` returns the memory id of a chunk that passes, or no row; its last bound value is
 * the chunk id. With `features`, FEATURE_COLUMNS follow the memory id. `all` returns the ids of all chunks that pass;
 * its last bound value is the row limit. PostgreSQL uses `where`, a condition on chunk c and its memory m, with its
 * values; empty: the whole team. */
struct vec_filter {
  struct sql one, all, where;
  bool features;
  bool no_documents, no_memories; /* no chunk of this kind passes, so its blocks are skipped */
};

/* Blocks with damage, and damaged vectors, that a search skipped. */
struct vec_health {
  int64_t blocks, vectors;
};

struct vec_query {
  const struct vec_model *model;
  const int8_t *vector;
  double min_cosine; /* -1: no minimum */
  size_t k;          /* maximum number of hits */
  struct vec_filter *filter;
};
/* Finds the nearest chunks that pass the filter, best first. The best candidates by their bits are compared exactly; if
 * few of them pass, the scan is repeated among those that do. Damage is skipped and reported in ret_health (may be
 * NULL). */
NODISCARD enum status vec_search(struct store *st, const struct vec_query *q, struct arena *a,
                                 struct vec_hits *ret_hits, struct vec_health *ret_health, struct error *err);
/* Stored vectors of some chunks, ret_vectors[n * dims]; ret_found[n] tells which exist. */
NODISCARD enum status vec_fetch(struct store *st, const struct vec_model *model, const int64_t *chunk_ids, size_t n,
                                int8_t *ret_vectors, bool *ret_found, struct error *err);
/* Loads the index into memory, so a search under the write lock reads only the latest changes. */
NODISCARD enum status vec_warm(struct store *st, const struct vec_model *model, struct error *err);

/* One vector with its key. */
struct vec_row {
  struct str team, model;
  int64_t chunk_id;
  int dims;
  const int8_t *vector;
};
struct vec_rows {
  struct vec_row *v;
  size_t n, cap;
  bool end; /* there are no more rows after these */
};
/* Reads up to `limit` vectors of all teams and models after `after` (chunk 0 and empty strings: from the start), in an
 * order that the engine defines. `after` is advanced to the last one visited. Damaged vectors are skipped. */
NODISCARD enum status vec_walk(struct store *st, struct vec_row *after, size_t limit, struct arena *a,
                               struct vec_rows *ret_rows, struct error *err);

/* Adds vectors of any teams and models, for chunks that have none of that model. */
NODISCARD enum status vec_add_all(struct txn *txn, struct arena *a, const struct vec_row *rows, size_t n,
                                  struct error *err);

/* Number of the team's chunks that have a vector of this model, and number of all its chunks. */
NODISCARD enum status vec_count(struct store *st, const struct vec_model *model, int64_t *ret_done, int64_t *ret_total,
                                struct error *err);

/* Verifies heads, vectors and chunks against each other and their checksums. Returns the number of faults. */
NODISCARD enum status vec_check(struct store *st, int64_t *ret_faults, struct error *err);

/* Rebuilds every head from its vectors and deletes damaged vectors; maintenance embeds those texts again. Runs inside a
 * transaction. */
NODISCARD enum status vec_repair(struct store *st, struct error *err);
