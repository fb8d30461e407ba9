/* check.c: checks and repairs vector blocks.
 *
 * A vec_slot row with a correct checksum is intact, and a head can be rebuilt from such rows. Damaged rows are deleted;
 * maintenance embeds their texts again. */
#include <assert.h>
#include <stdio.h>

#include "base/alloc.h"
#include "store/engine.h"
#include "store/vectors/internal.h"

struct block_check {
  int64_t id, dims, used;
  int8_t centre[VEC_MAX_DIMS];
  int64_t faults;
  char *places;                   /* expected contents; NULL if the block cannot be repaired */
  bool found[BLOCK_ROWS];         /* an intact row exists */
  bool bad[BLOCK_ROWS];           /* a row exists and must be deleted */
  int64_t head_chunk[BLOCK_ROWS]; /* id stored in the head; -1 if damaged */
};

/* Reads the head and counts the faults that can be seen without reading the rows. */
static enum status read_head(struct store *st, struct block_check *c, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "/* all teams: doctor */ "
           "SELECT b.dims, b.used, h.places, b.team, b.model FROM vec_block b LEFT JOIN vec_head h ON h.block = b.id "
           "WHERE b.id = ?1",
           "i", c->id);
  if (rows_next(&r)) {
    c->dims = rows_int(&r, 0);
    c->used = rows_int(&r, 1);
    struct str places = rows_text(&r, 2);
    bool sized = c->dims > 0 && c->dims <= VEC_MAX_DIMS && places.n == head_size((int)c->dims);
    c->faults += !sized || c->used < 0 || c->used > BLOCK_ROWS;
    for (size_t i = 0; sized && i < BLOCK_ROWS; i++)
      c->head_chunk[i] = place_chunk(places.p + i * place_size((int)c->dims), (int)c->dims);
    if (c->dims > 0 && c->dims <= VEC_MAX_DIMS && !(c->places = mem_zalloc(head_size((int)c->dims))))
      r.status = error_set(err, STATUS_NOMEM, "out of memory");
    if (sized && c->places)
      memcpy(c->places, places.p, places.n);
    if (c->places && r.status == STATUS_OK)
      r.status = centre_read(st, rows_text(&r, 3), rows_text(&r, 4), (int)c->dims, c->centre, NULL, err);
  }
  enum status s = rows_end(&r);
  if (s == STATUS_CORRUPT)
    c->faults++;
  return s == STATUS_CORRUPT ? STATUS_OK : s;
}

static void check_row(struct block_check *c, size_t slot, int64_t chunk, const int8_t *vector) {
  assert(c->places && slot < BLOCK_ROWS);
  uint64_t bits[VEC_WORDS(VEC_MAX_DIMS)];
  char place[ID_SIZE + VEC_WORDS(VEC_MAX_DIMS) * 8], *there = c->places + slot * place_size((int)c->dims);
  vec_bits(vector, c->centre, (int)c->dims, bits);
  place_pack(place, chunk, bits, (int)c->dims);
  c->found[slot] = true;
  c->faults += memcmp(place, there, place_size((int)c->dims)) != 0;
  memcpy(there, place, place_size((int)c->dims));
}

static enum status read_rows(struct store *st, struct block_check *c, struct error *err) {
  struct rows r;
  db_query(
      st->db, &r, err,
      "/* all teams: doctor */ "
      "SELECT s.place, s.chunk_id, s.vector, c.team = b.team AND s.model = b.model FROM vec_block b JOIN vec_slot s"
      " ON s.place BETWEEN b.id * 1024 AND b.id * 1024 + 1023 LEFT JOIN chunk c ON c.id = s.chunk_id"
      " WHERE b.id = ?1",
      "i", c->id);
  while (rows_next(&r)) {
    size_t slot = (size_t)(rows_int(&r, 0) % BLOCK_ROWS);
    int64_t chunk = rows_int(&r, 1);
    const int8_t *vector =
        c->places && rows_int(&r, 3) == 1 ? vector_unpack(rows_text(&r, 2), chunk, (int)c->dims) : NULL;
    if (vector) {
      check_row(c, slot, chunk, vector);
    } else {
      c->bad[slot] = true;
      c->faults++;
    }
  }
  return rows_end(&r);
}

/* Clears head entries without an intact row. Entries of bad rows are already counted with the row. */
static void clear_unbacked_places(struct block_check *c) {
  for (size_t i = 0; c->places && i < BLOCK_ROWS; i++) {
    if (!c->found[i]) {
      memset(c->places + i * place_size((int)c->dims), 0, place_size((int)c->dims));
      c->faults += c->head_chunk[i] != 0 && !c->bad[i];
    } else if ((int64_t)i >= c->used) {
      c->faults++;
    }
  }
}

/* An impossible `used` is replaced by "full": places are never reused. */
static enum status repair_block(struct store *st, const struct block_check *c, struct error *err) {
  enum status s = STATUS_OK;
  int64_t used = c->used < 0 || c->used > BLOCK_ROWS ? BLOCK_ROWS : c->used;
  for (int64_t i = 0; s == STATUS_OK && i < BLOCK_ROWS; i++) {
    if (c->bad[i])
      s = db_exec(st->db, err, "DELETE FROM vec_slot WHERE place = ?1", "i", c->id * BLOCK_ROWS + i);
    used = c->found[i] && i >= used ? i + 1 : used;
  }
  if (s == STATUS_OK && !c->places)
    return db_exec(st->db, err, "/* all teams: doctor */ DELETE FROM vec_block WHERE id = ?1", "i", c->id);
  if (s == STATUS_OK)
    s = db_exec(st->db, err, "INSERT OR REPLACE INTO vec_head (block, places) VALUES (?1, ?2)", "ib", c->id,
                (struct str){c->places, head_size((int)c->dims)});
  return s != STATUS_OK
             ? s
             : db_exec(st->db, err,
                       "/* all teams: doctor */ UPDATE vec_block SET used = ?2, version = version + 1 WHERE id = ?1",
                       "ii", c->id, used);
}

static enum status check_block(struct store *st, int64_t id, bool repair, int64_t *faults, struct error *err) {
  struct block_check *c = mem_zalloc(sizeof(*c));
  if (!c)
    return error_set(err, STATUS_NOMEM, "out of memory");
  c->id = id;
  bool own_snapshot = false; /* others may write while doctor reads: head and rows must be of one state */
  enum status s = db_snapshot(st->db, &own_snapshot, err);
  if (s == STATUS_OK)
    s = read_head(st, c, err);
  if (s == STATUS_OK)
    s = read_rows(st, c, err);
  s = db_snapshot_end(st->db, own_snapshot, s, err);
  if (s == STATUS_OK) {
    clear_unbacked_places(c);
    *faults += c->faults;
    if (repair && c->faults > 0)
      s = repair_block(st, c, err);
  }
  mem_free(c->places);
  mem_free(c);
  return s;
}

static enum status check_blocks(struct store *st, bool repair, int64_t *faults, struct error *err) {
  int64_t id = 0;
  bool found = true;
  while (found) {
    TRY(db_int(st->db, &id, &found, err,
               "/* all teams: doctor */ SELECT id FROM vec_block WHERE id > ?1 ORDER BY id LIMIT 1", "i", id));
    if (found)
      TRY(check_block(st, id, repair, faults, err));
  }
  return STATUS_OK;
}

/* ---- centre ---- */

enum status centre_read(struct store *st, struct str team, struct str model, int dims, int8_t *ret_centre,
                        bool *ret_sound, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT centre FROM vec_centre WHERE team = ?1 AND model = ?2", "ss", team, model);
  bool there = rows_next(&r);
  const int8_t *centre = there ? vector_unpack(rows_text(&r, 0), 0, dims) : NULL;
  if (centre)
    memcpy(ret_centre, centre, (size_t)dims);
  else
    memset(ret_centre, 0, (size_t)dims);
  if (ret_sound)
    *ret_sound = !there || centre;
  return rows_end(&r);
}

static enum status compute_mean(struct store *st, int64_t block, int dims, int8_t *ret_mean, struct error *err) {
  int64_t sums[VEC_MAX_DIMS] = {0}, n = 0;
  struct rows r;
  db_query(st->db, &r, err, "SELECT chunk_id, vector FROM vec_slot WHERE place BETWEEN ?1 * 1024 AND ?1 * 1024 + 1023",
           "i", block);
  while (rows_next(&r)) {
    const int8_t *v = vector_unpack(rows_text(&r, 1), rows_int(&r, 0), dims);
    for (int i = 0; v && i < dims; i++)
      sums[i] += v[i];
    n += v != NULL;
  }
  for (int i = 0; i < dims; i++)
    ret_mean[i] = (int8_t)(n ? sums[i] / n : 0);
  return rows_end(&r);
}

enum status centre_rebuild(struct store *st, struct str team, struct str model, int dims, int64_t block,
                           struct error *err) {
  int8_t mean[VEC_MAX_DIMS];
  assert(db_in_transaction(st->db));
  char row[VECTOR_MAX];
  int64_t id = 0, faults = 0;
  bool found = true;
  enum status s = compute_mean(st, block, dims, mean, err);
  vector_pack(row, 0, mean, dims);
  if (s == STATUS_OK)
    s = db_exec(st->db, err, "INSERT OR REPLACE INTO vec_centre (team, model, centre) VALUES (?1, ?2, ?3)", "ssb", team,
                model, (struct str){row, (size_t)dims + SUM_SIZE});
  while (s == STATUS_OK && found) {
    s = db_int(st->db, &id, &found, err,
               "SELECT id FROM vec_block WHERE team = ?1 AND model = ?2 AND id > ?3 ORDER BY id LIMIT 1", "ssi", team,
               model, id);
    if (s == STATUS_OK && found)
      s = check_block(st, id, true, &faults, err);
  }
  return s;
}

/* Cursor over the indexes that have a centre, ordered by team and model. */
struct named_index {
  char team[256], model[256];
  int64_t dims, block;
};

static enum status next_centre(struct store *st, struct named_index *x, bool *ret_found, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "/* all teams: doctor */ "
           "SELECT z.team, z.model, b.dims, b.id FROM vec_centre z JOIN vec_block b ON b.team = z.team"
           " AND b.model = z.model WHERE (z.team, z.model) > (?1, ?2) ORDER BY z.team, z.model, b.id LIMIT 1",
           "ss", str_from(x->team), str_from(x->model));
  *ret_found = rows_next(&r);
  if (*ret_found) {
    snprintf(x->team, sizeof(x->team), "%.*s", STR_ARG(rows_text(&r, 0)));
    snprintf(x->model, sizeof(x->model), "%.*s", STR_ARG(rows_text(&r, 1)));
    x->dims = rows_int(&r, 2);
    x->block = rows_int(&r, 3);
  }
  return rows_end(&r);
}

/* A damaged centre is recomputed if `repair` is set. */
static enum status check_centres(struct store *st, bool repair, int64_t *faults, struct error *err) {
  struct named_index x = {0};
  int8_t centre[VEC_MAX_DIMS];
  bool found = true, sound;
  enum status s = STATUS_OK;
  while (s == STATUS_OK && found) {
    s = next_centre(st, &x, &found, err);
    if (s != STATUS_OK || !found || x.dims < 1 || x.dims > VEC_MAX_DIMS)
      continue;
    s = centre_read(st, str_from(x.team), str_from(x.model), (int)x.dims, centre, &sound, err);
    *faults += s == STATUS_OK && !sound;
    if (s == STATUS_OK && !sound && repair)
      s = centre_rebuild(st, str_from(x.team), str_from(x.model), (int)x.dims, x.block, err);
  }
  return s;
}

/* ---- check and repair ---- */

#define WITHOUT_BLOCK " FROM vec_slot WHERE NOT EXISTS (SELECT 1 FROM vec_block b WHERE b.id = place / 1024)"

enum status sqlite_vec_check(struct store *st, int64_t *ret_faults, struct error *err) {
  int64_t faults = 0;
  TRY(db_int(st->db, &faults, NULL, err, "/* all teams: doctor */ SELECT count(*)" WITHOUT_BLOCK, NULL));
  TRY(check_centres(st, false, &faults, err));
  TRY(check_blocks(st, false, &faults, err));
  *ret_faults = faults;
  return STATUS_OK;
}

enum status sqlite_vec_repair(struct store *st, struct error *err) {
  assert(db_in_transaction(st->db));
  int64_t faults = 0;
  TRY(db_exec(st->db, err, "/* all teams: doctor */ DELETE" WITHOUT_BLOCK, NULL));
  TRY(check_centres(st, true, &faults, err));
  TRY(check_blocks(st, true, &faults, err));
  /* Damage bypasses the triggers that maintain `live`. */
  return db_exec(st->db, err,
                 "/* all teams: doctor */ "
                 "UPDATE vec_block SET live = (SELECT count(*) FROM vec_slot s"
                 " WHERE s.place BETWEEN id * 1024 AND id * 1024 + 1023)",
                 NULL);
}
