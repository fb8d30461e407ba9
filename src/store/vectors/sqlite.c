/* sqlite.c: vectors in SQLite: storage format, add, remove, fetch, count. */
#include <assert.h>

#include "store/engine.h"
#include "store/sqlite/sqlite.h"
#include "store/vectors/internal.h"

/* ---- storage format ---- */

static uint64_t mix(uint64_t h, uint64_t word) {
  h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 32;
}

enum { SUM_BITS = 24, ID_BITS = 64 - SUM_BITS };
static const uint64_t id_mask = (UINT64_C(1) << ID_BITS) - 1;

static uint64_t place_sum(uint64_t id, const char *bits, int words) {
  uint64_t h = mix(UINT64_C(0x6361697276656331), id), word;
  for (int w = 0; w < words; w++, bits += sizeof(word)) {
    memcpy(&word, bits, sizeof(word));
    h = mix(h, word);
  }
  return h >> ID_BITS;
}

void place_pack(char *place, int64_t chunk_id, const uint64_t *bits, int dims) {
  assert(dims > 0 && dims <= VEC_MAX_DIMS);
  memcpy(place + ID_SIZE, bits, bits_size(dims));
  uint64_t word = (uint64_t)chunk_id | place_sum((uint64_t)chunk_id, place + ID_SIZE, VEC_WORDS(dims)) << ID_BITS;
  memcpy(place, &word, ID_SIZE);
}

int64_t place_chunk(const char *place, int dims) {
  uint64_t word, sum;
  memcpy(&word, place, ID_SIZE);
  if (word == 0) { /* free place */
    for (size_t i = ID_SIZE; i < place_size(dims); i++)
      if (place[i] != 0)
        return -1;
    return 0;
  }
  sum = place_sum(word & id_mask, place + ID_SIZE, VEC_WORDS(dims));
  return sum == word >> ID_BITS && (word & id_mask) != 0 ? (int64_t)(word & id_mask) : -1;
}

static uint32_t vector_sum(int64_t chunk_id, const char *vector, int dims) {
  uint64_t h = mix(UINT64_C(0x6361697276656332), (uint64_t)chunk_id), word = 0;
  size_t n = (size_t)dims;
  for (; n >= sizeof(word); n -= sizeof(word), vector += sizeof(word)) {
    memcpy(&word, vector, sizeof(word));
    h = mix(h, word);
  }
  word = n;
  for (; n > 0; n--, vector++)
    word = word << 8 | (unsigned char)*vector;
  return (uint32_t)(mix(h, word) >> 16);
}

void vector_pack(char *out, int64_t chunk_id, const int8_t *vector, int dims) {
  assert(dims > 0 && dims <= VEC_MAX_DIMS);
  memcpy(out, vector, (size_t)dims);
  uint32_t sum = vector_sum(chunk_id, out, dims);
  memcpy(out + dims, &sum, SUM_SIZE);
}

const int8_t *vector_unpack(struct str row, int64_t chunk_id, int dims) {
  assert(dims > 0 && dims <= VEC_MAX_DIMS);
  uint32_t sum;
  if (row.n != (size_t)dims + SUM_SIZE)
    return NULL;
  memcpy(&sum, row.p + dims, SUM_SIZE);
  return sum == vector_sum(chunk_id, row.p, dims) ? (const int8_t *)row.p : NULL;
}

/* ---- add ---- */

static enum status new_block(struct db *db, const struct vec_model *m, bool documents, int64_t *ret_block,
                             struct error *err) {
  enum status s = db_exec(db, err,
                          "INSERT INTO vec_block (team, model, dims, used, version, documents)"
                          " VALUES (?1, ?2, ?3, 0, 0, ?4)",
                          "ssii", m->team, m->model, (int64_t)m->dims, (int64_t)documents);
  *ret_block = sqlite_last_id(db);
  return s != STATUS_OK ? s
                        : db_exec(db, err, "INSERT INTO vec_head (block, places) VALUES (?1, zeroblob(?2))", "ii",
                                  *ret_block, (int64_t)head_size(m->dims));
}

struct room {
  int64_t block, slot;
  bool documents;              /* the block holds vectors of documents (documents.h) */
  bool fits;                   /* the block has space for another vector */
  bool centred;                /* the index has a centre */
  int8_t centre[VEC_MAX_DIMS]; /* zero if the stored centre is damaged */
};

/* Blocks are filled in sequence, so only the newest of its kind can have space. A damaged block may report its space
 * wrongly and is not extended. */
static enum status find_room(struct txn *txn, const struct vec_model *m, struct room *ret, struct error *err) {
  struct rows r;
  db_query(txn->store->db, &r, err,
           "SELECT b.id, b.used, b.dims, length(h.places), (SELECT max(s.place) FROM vec_slot s"
           " WHERE s.place BETWEEN b.id * 1024 AND b.id * 1024 + 1023),"
           " (SELECT z.centre FROM vec_centre z WHERE z.team = b.team AND z.model = b.model)"
           " FROM vec_block b LEFT JOIN vec_head h ON h.block = b.id"
           " WHERE b.team = ?1 AND b.model = ?2 AND b.documents = ?3 ORDER BY b.id DESC LIMIT 1",
           "ssi", m->team, m->model, (int64_t)ret->documents);
  ret->block = ret->slot = 0;
  ret->fits = ret->centred = false;
  memset(ret->centre, 0, (size_t)m->dims);
  if (rows_next(&r)) {
    ret->block = rows_int(&r, 0);
    ret->slot = rows_int(&r, 1);
    ret->fits = ret->slot >= 0 && ret->slot < BLOCK_ROWS && rows_int(&r, 2) == m->dims &&
                rows_int(&r, 3) == (int64_t)head_size(m->dims) &&
                (rows_null(&r, 4) || rows_int(&r, 4) < ret->block * BLOCK_ROWS + ret->slot);
    ret->centred = !rows_null(&r, 5);
    const int8_t *centre = vector_unpack(rows_text(&r, 5), 0, m->dims);
    if (centre)
      memcpy(ret->centre, centre, (size_t)m->dims);
  }
  return rows_end(&r);
}

/* Starts a new block if the newest one is full. From the second block on, bits decide which vectors are compared, and
 * they are taken relative to a centre. */
static enum status make_room(struct txn *txn, const struct vec_model *m, struct room *ret, struct error *err) {
  enum status s = find_room(txn, m, ret, err);
  if (s != STATUS_OK || ret->fits)
    return s;
  if (ret->block != 0 && !ret->centred) {
    s = centre_rebuild(txn->store, m->team, m->model, m->dims, ret->block, err);
    if (s == STATUS_OK)
      s = centre_read(txn->store, m->team, m->model, m->dims, ret->centre, NULL, err);
  }
  if (ret->block == 0) /* first block of its kind: blocks of the other kind may have set a centre */
    s = centre_read(txn->store, m->team, m->model, m->dims, ret->centre, NULL, err);
  ret->slot = 0;
  return s == STATUS_OK ? new_block(txn->store->db, m, ret->documents, &ret->block, err) : s;
}

static enum status is_document(struct db *db, struct str team, int64_t chunk_id, bool *ret_documents,
                               struct error *err) {
  int64_t one;
  return db_int(db, &one, ret_documents, err,
                "SELECT 1 FROM chunk c JOIN memory m ON m.id = c.memory_id WHERE c.id = ?1 AND c.team = ?2"
                " AND m.corpus <> 'memory'",
                "is", chunk_id, team);
}

enum status sqlite_vec_add(struct txn *txn, const struct vec_model *m, int64_t chunk_id, const int8_t *vector,
                           struct error *err) {
  struct db *db = txn->store->db;
  struct room room;
  uint64_t bits[VEC_WORDS(VEC_MAX_DIMS)];
  char place[ID_SIZE + VEC_WORDS(VEC_MAX_DIMS) * 8], row[VECTOR_MAX];
  if (m->dims < 1 || m->dims > VEC_MAX_DIMS || (uint64_t)chunk_id > id_mask)
    return error_set(err, STATUS_USAGE, "a vector of %d dimensions cannot be stored", m->dims);
  TRY(is_document(db, m->team, chunk_id, &room.documents, err));
  TRY(make_room(txn, m, &room, err));
  assert(room.slot >= 0 && room.slot < BLOCK_ROWS);
  vec_bits(vector, room.centre, m->dims, bits);
  place_pack(place, chunk_id, bits, m->dims);
  vector_pack(row, chunk_id, vector, m->dims);
  TRY(sqlite_blob_write(db, "vec_head", "places", room.block, (size_t)room.slot * place_size(m->dims),
                        (struct str){place, place_size(m->dims)}, err));
  TRY(db_exec(db, err, "UPDATE vec_block SET used = used + 1, version = version + 1 WHERE id = ?1 AND team = ?2", "is",
              room.block, m->team));
  return db_exec(db, err, "INSERT INTO vec_slot (place, chunk_id, model, vector) VALUES (?1, ?2, ?3, ?4)", "iisb",
                 room.block * BLOCK_ROWS + room.slot, chunk_id, m->model,
                 (struct str){row, (size_t)m->dims + SUM_SIZE});
}

enum status sqlite_vec_prepare(struct txn *txn UNUSED, int dims UNUSED, struct error *err UNUSED) { return STATUS_OK; }

enum status sqlite_vec_add_missing(struct txn *txn, const struct vec_model *m, int64_t chunk_id, const int8_t *vector,
                                   struct error *err) {
  int64_t id;
  bool missing;
  TRY(db_int(txn->store->db, &id, &missing, err,
             "SELECT c.id FROM chunk c WHERE c.id = ?1 AND c.team = ?2 AND NOT EXISTS"
             " (SELECT 1 FROM vec_slot s WHERE s.chunk_id = c.id AND s.model = ?3)",
             "iss", chunk_id, m->team, m->model));
  if (missing)
    return vec_add(txn, m, chunk_id, vector, err);
  return STATUS_OK;
}

/* ---- remove ---- */

/* Places are never reused: every cache must see that a place was cleared before it could hold another vector. */
static enum status place_clear(struct db *db, struct str team, int64_t block, int64_t slot, int dims,
                               struct error *err) {
  static const char zero[ID_SIZE + VEC_WORDS(VEC_MAX_DIMS) * 8];
  TRY(sqlite_blob_write(db, "vec_head", "places", block, (size_t)slot * place_size(dims),
                        (struct str){zero, place_size(dims)}, err));
  return db_exec(db, err, "UPDATE vec_block SET version = version + 1 WHERE id = ?1 AND team = ?2", "is", block, team);
}

/* A truncated head has no such place; the row is deleted anyway. */
enum status sqlite_vec_remove(struct txn *txn, int64_t memory_id, struct error *err) {
  struct db *db = txn->store->db;
  for (;;) {
    struct rows r;
    db_query(
        db, &r, err,
        "SELECT s.place, b.dims, length(h.places) FROM chunk c JOIN vec_slot s ON s.chunk_id = c.id"
        " LEFT JOIN vec_block b ON b.id = s.place / 1024 AND b.team = c.team LEFT JOIN vec_head h ON h.block = b.id"
        " WHERE c.memory_id = ?1 AND c.team = ?2 LIMIT 1",
        "is", memory_id, txn->team);
    bool found = rows_next(&r);
    int64_t place = found ? rows_int(&r, 0) : 0, dims = found ? rows_int(&r, 1) : 0, size = found ? rows_int(&r, 2) : 0;
    enum status s = rows_end(&r);
    if (s != STATUS_OK || !found)
      return s;
    if (dims > 0 && dims <= VEC_MAX_DIMS && size == (int64_t)head_size((int)dims))
      s = place_clear(db, txn->team, place / BLOCK_ROWS, place % BLOCK_ROWS, (int)dims, err);
    if (s == STATUS_OK)
      s = db_exec(db, err, "DELETE FROM vec_slot WHERE place = ?1", "i", place);
    if (s != STATUS_OK)
      return s;
  }
}

/* ---- read ---- */

static enum status fetch_stored(struct store *st, const struct vec_model *m, int64_t chunk_id, int8_t *ret_vector,
                                bool *ret_found, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT s.vector FROM vec_slot s JOIN vec_block b ON b.id = s.place / 1024"
           " WHERE s.chunk_id = ?1 AND s.model = ?2 AND b.team = ?3",
           "iss", chunk_id, m->model, m->team);
  const int8_t *v = rows_next(&r) ? vector_unpack(rows_text(&r, 0), chunk_id, m->dims) : NULL;
  *ret_found = v != NULL;
  if (v)
    memcpy(ret_vector, v, (size_t)m->dims);
  return rows_end(&r);
}

/* Most vectors are cached if the index was just searched. */
enum status sqlite_vec_fetch(struct store *st, const struct vec_model *m, const int64_t *chunk_ids, size_t n,
                             int8_t *ret_vectors, bool *ret_found, struct error *err) {
  struct cached_index *x;
  enum status s = cached_index_refresh(st, m, &x, err);
  for (size_t i = 0; s == STATUS_OK && i < n; i++) {
    int8_t *out = ret_vectors + i * (size_t)m->dims;
    struct cached_row found = {0};
    size_t block, row;
    if (!cached_index_find(x, chunk_ids[i], &block, &row)) {
      s = fetch_stored(st, m, chunk_ids[i], out, &ret_found[i], err);
      continue;
    }
    s = cached_index_row(st, x, x->blocks[block].id * BLOCK_ROWS + (int64_t)row, chunk_ids[i], out, &found, err);
    ret_found[i] = s == STATUS_OK && found.vector;
    if (ret_found[i] && found.vector != out)
      memcpy(out, found.vector, (size_t)m->dims);
  }
  return s;
}

enum status sqlite_vec_warm(struct store *st, const struct vec_model *m, struct error *err) {
  struct cached_index *x;
  return cached_index_refresh(st, m, &x, err);
}

enum status sqlite_vec_count(struct store *st, const struct vec_model *m, int64_t *ret_done, int64_t *ret_total,
                             struct error *err) {
  TRY(db_int(st->db, ret_total, NULL, err, "SELECT coalesce((SELECT n FROM chunk_count WHERE team = ?1), 0)", "s",
             m->team));
  return db_int(st->db, ret_done, NULL, err,
                "SELECT coalesce(sum(live), 0) FROM vec_block WHERE team = ?1 AND model = ?2", "ss", m->team, m->model);
}

enum status sqlite_vec_has(struct store *st, struct str team UNUSED, struct str model, int64_t chunk_id, bool *ret_has,
                           struct error *err) {
  int64_t one;
  return db_int(st->db, &one, ret_has, err, "SELECT 1 FROM vec_slot WHERE chunk_id = ?1 AND model = ?2", "is", chunk_id,
                model);
}

/* Drops one block per call, to keep the write lock short. Block ids are never reused, so no cache can confuse two
 * blocks. */
enum status sqlite_vec_drop_unowned(struct txn *txn, int64_t *ret_dropped, bool *ret_more, struct error *err) {
  struct db *db = txn->store->db;
  int64_t block = 0;
  enum status s = db_int(db, &block, ret_more, err,
                         "SELECT b.id FROM vec_block b WHERE b.team = ?1 AND NOT EXISTS (SELECT 1 FROM vec_index i"
                         " WHERE i.team = b.team AND i.model = b.model) ORDER BY b.id LIMIT 1",
                         "s", txn->team);
  *ret_dropped = 0;
  if (s != STATUS_OK || !*ret_more)
    return s;
  s = db_exec(db, err, "DELETE FROM vec_slot WHERE place BETWEEN ?1 * 1024 AND ?1 * 1024 + 1023", "i", block);
  *ret_dropped = db_changes(db);
  return s == STATUS_OK ? db_exec(db, err, "DELETE FROM vec_block WHERE id = ?1 AND team = ?2", "is", block, txn->team)
                        : s;
}
