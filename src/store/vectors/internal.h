/* internal.h: how vectors lie in SQLite and in memory; for the files of this folder only.
 *
 * A block has room for 1,024 vectors of one team and model. Its head (vec_head.places) is what a search scans: for each
 * place a word, 40 bits of which are the chunk's id (0 = free) and 24 bits a check sum over id and bits, and then the
 * sign bits of the vector. The vector itself is a row of vec_slot: one int8 for each dimension and a check sum of four
 * bytes over the chunk's id and them.
 *
 * Signs are taken against the centre of the index (vec_centre), in the same form as a vector. As long as an index has
 * but one block there is none: then every vector is compared exactly, and bits do not matter. */
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

/* ---- the stored forms: store/vectors/sqlite.c ---- */

/* place[place_size(dims)] */
void place_pack(char *place, int64_t chunk_id, const uint64_t *bits, int dims);
/* The chunk's id, 0 for a free place; -1 when the place is damaged. The bits are those behind the first word. */
int64_t place_chunk(const char *place, int dims);
/* out[dims + SUM_SIZE] */
void vector_pack(char *out, int64_t chunk_id, const int8_t *vector, int dims);
/* The vector of this chunk in a stored row, NULL when the row is damaged. */
const int8_t *vector_unpack(struct str row, int64_t chunk_id, int dims);

/* ---- the centre: store/vectors/check.c ---- */

/* centre[dims] of the index, zero when it has none. ret_sound (may be NULL) says whether what is stored can be true. */
NODISCARD enum status centre_read(struct store *st, struct str team, struct str model, int dims, int8_t *ret_centre,
                                  bool *ret_sound, struct error *err);
/* Takes the mean of a block as the centre of its index, and writes the heads of the index anew. */
NODISCARD enum status centre_take(struct store *st, struct str team, struct str model, int dims, int64_t block,
                                  struct error *err);

/* ---- in memory: store/vectors/cache.c ---- */

/* The bits lie together, in groups (vec.h), so that a scan reads nothing else. */
struct vec_block {
  int64_t id, version;
  bool provisional; /* read inside a transaction that is not over */
  bool damaged;     /* something in it was left out */
  bool documents;   /* its vectors are those of documents, and no other block's are */
  size_t used, taken;
  int64_t *chunks; /* BLOCK_ROWS ids, 0 where there is none, and behind them the bits */
  uint64_t *bits;
};

/* One index: what a handle knows of the vectors of a team and model. */
struct vec_kept {
  char team[72], model[128];
  int dims;
  uint64_t used_at; /* by the cache's count */
  bool fresh;       /* the stamp is of the blocks */
  struct db_stamp stamp;
  struct vec_block *blocks;
  size_t n, cap;
  int8_t *centre;
  bool centre_sound;
  /* By a chunk's id, where it stands: block * BLOCK_ROWS + row. A hint: what has moved since is seen in the block. */
  uint32_t *where;
  size_t where_n;
  /* Vectors that were read lately, each at its place modulo the number of rows. */
  int64_t *row_place;
  int8_t *rows;
  size_t row_count;
  size_t searches, ahead; /* how often it was searched; the blocks whose vectors were read ahead */
};

/* The index, as new as the database is. It is valid until the next call. */
NODISCARD enum status vec_kept_refresh(struct store *st, const struct vec_model *m, struct vec_kept **ret_index,
                                       struct error *err);
/* Where a chunk stands, as far as it is known without a look at the database. */
bool vec_kept_find(const struct vec_kept *x, int64_t chunk_id, size_t *ret_block, size_t *ret_row);
/* The vector at a place, NULL when there is none, or when it is damaged: that is told in ret_damaged. It is valid until
 * the next call. `scratch` holds dims bytes. */
NODISCARD enum status vec_kept_row(struct store *st, struct vec_kept *x, int64_t place, int64_t chunk_id,
                                   int8_t *scratch, const int8_t **ret_vector, bool *ret_damaged, struct error *err);
/* Reads the vectors of one more block, where all of them have room: a process that searches again and again has them at
 * hand soon, and one that searches once does not pay for it. */
NODISCARD enum status vec_kept_ahead(struct store *st, struct vec_kept *x, struct error *err);
