/* internal.h: layout of vectors in SQLite and in memory; private to this folder.
 *
 * A block holds up to 1,024 vectors of one team and model. Its head (vec_head.places) is scanned by searches. Each
 * place is a word of 40 bits of chunk id (0 = free) and 24 bits of checksum over id and sign bits, followed by the sign
 * bits. The vector itself is a row of vec_slot: one int8 per dimension and a four-byte checksum over the chunk id and
 * the vector.
 *
 * Signs are relative to the centre of the index (vec_centre), which is stored in the same form as a vector. An index
 * with a single block has no centre: all its vectors are compared exactly and the bits are not used. */
#pragma once

#include "embed/vec.h"
#include "store/store_internal.h"

enum {
  BLOCK_ROWS = 1024,
  ID_SIZE = 8,
  SUM_SIZE = 4,
  VECTOR_MAX = VEC_MAX_DIMS + SUM_SIZE,
};

static inline size_t bits_size(int dims) { return (size_t)VEC_WORDS(dims) * 8; }
static inline size_t place_size(int dims) { return ID_SIZE + bits_size(dims); }
static inline size_t head_size(int dims) { return BLOCK_ROWS * place_size(dims); }

/* ---- storage format: store/vectors/sqlite.c ---- */

/* place[place_size(dims)] */
void place_pack(char *place, int64_t chunk_id, const uint64_t *bits, int dims);
/* Returns the chunk id, 0 if the place is free, -1 if it is damaged. The sign bits follow the first word. */
int64_t place_chunk(const char *place, int dims);
/* out[dims + SUM_SIZE] */
void vector_pack(char *out, int64_t chunk_id, const int8_t *vector, int dims);
/* Returns the vector of this chunk in a stored row, NULL if the row is damaged. */
const int8_t *vector_unpack(struct str row, int64_t chunk_id, int dims);

/* ---- centre: store/vectors/check.c ---- */

/* Reads centre[dims] of the index, zero if it has none. ret_sound (may be NULL) is false if the stored centre is
 * damaged. */
NODISCARD enum status centre_read(struct store *st, struct str team, struct str model, int dims, int8_t *ret_centre,
                                  bool *ret_sound, struct error *err);
/* Makes the mean of a block the centre of its index, and rewrites all heads of the index. */
NODISCARD enum status centre_rebuild(struct store *st, struct str team, struct str model, int dims, int64_t block,
                                     struct error *err);

/* ---- cache: store/vectors/cache.c ---- */

/* The bits are contiguous, in groups (vec.h), so a scan reads nothing else. */
struct vec_block {
  int64_t id, version;
  bool provisional; /* read inside an open transaction */
  bool damaged;     /* some of its content was skipped */
  bool documents;   /* holds vectors of documents only; other blocks hold none of those */
  size_t used, taken;
  int64_t *chunks; /* BLOCK_ROWS ids, 0 if free, followed by the bits */
  uint64_t *bits;
};

/* Cached index of one team and model. */
struct cached_index {
  char team[72], model[128];
  int dims;
  uint64_t used_at; /* value of the cache's counter */
  bool fresh;       /* the stamp matches the blocks */
  struct db_stamp stamp;
  struct vec_block *blocks;
  size_t n, cap;
  int8_t *centre;
  bool centre_sound;
  /* Position by chunk id: block * BLOCK_ROWS + row. A hint, verified against the block. */
  uint32_t *where;
  size_t where_n;
  /* Recently read vectors, at index place & (row_count - 1). */
  int64_t *row_place;
  int8_t *rows;
  size_t row_count;
  size_t searches, ahead; /* searches so far; blocks whose vectors were read ahead */
};

/* Returns the index, up to date with the database; valid until the next call. */
NODISCARD enum status cached_index_refresh(struct store *st, const struct vec_model *m, struct cached_index **ret_index,
                                           struct error *err);
/* Finds the position of a chunk without reading the database; false if unknown. */
bool cached_index_find(const struct cached_index *x, int64_t chunk_id, size_t *ret_block, size_t *ret_row);
struct cached_row {
  const int8_t *vector; /* NULL if there is none, or it is damaged */
  bool damaged;
};
/* Reads the vector at a place; valid until the next call. `scratch` holds dims bytes. */
NODISCARD enum status cached_index_row(struct store *st, struct cached_index *x, int64_t place, int64_t chunk_id,
                                       int8_t *scratch, struct cached_row *ret, struct error *err);
/* Reads the vectors of one more block, if the cache has space for all. A process that searches repeatedly soon has all
 * of them cached; a single search does not pay for it. */
NODISCARD enum status cached_index_read_ahead(struct store *st, struct cached_index *x, struct error *err);
