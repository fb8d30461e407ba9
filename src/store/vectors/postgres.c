/* postgres.c: vectors in PostgreSQL: add, remove, fetch, count, check.
 *
 * A vector is a row of the table vec, of pgvector's type halfvec; int8 components are exact in half floats. Vectors are
 * sent as text, which works for every client, and read in halfvec's binary form. Triggers maintain the counts
 * (vec_count). */
#include <assert.h>
#include <stdio.h>

#include "store/engine.h"
#include "store/vectors/postgres.h"

/* ---- wire format ---- */

static char *put_component(char *p, int8_t c) {
  unsigned rest = c < 0 ? (unsigned)-c : (unsigned)c;
  if (c < 0)
    *p++ = '-';
  if (rest >= 100)
    *p++ = (char)('0' + rest / 100);
  if (rest >= 10)
    *p++ = (char)('0' + rest / 10 % 10);
  *p++ = (char)('0' + rest % 10);
  return p;
}

struct str halfvec_write(const int8_t *vector, int dims, char out[HALFVEC_TEXT]) {
  char *p = out;
  assert(dims > 0 && dims <= VEC_MAX_DIMS);
  for (int i = 0; i < dims; i++) {
    *p++ = i ? ',' : '[';
    p = put_component(p, vector[i]);
  }
  *p++ = ']';
  assert(p - out <= HALFVEC_TEXT);
  return (struct str){out, (size_t)(p - out)};
}

/* Decodes a half float that is an integer from -128 to 127: sign, five bits of exponent, ten of fraction. */
static bool read_component(const unsigned char *p, int8_t *ret) {
  unsigned half = (unsigned)p[0] << 8 | p[1], exponent = half >> 10 & 31, fraction = half & 1023;
  if ((half & 0x7fff) == 0) {
    *ret = 0;
    return true;
  }
  if (exponent < 15 || exponent > 22)
    return false;
  unsigned shift = 25 - exponent, value = (1024 | fraction) >> shift;
  if (value << shift != (1024 | fraction) || value > 127 + (half >> 15))
    return false;
  *ret = (int8_t)(half >> 15 ? -(int)value : (int)value);
  return true;
}

bool halfvec_read(struct str binary, int dims, int8_t *ret_vector) {
  const unsigned char *p = (const unsigned char *)binary.p;
  enum { HEAD = 4 }; /* number of dimensions and two unused bytes */
  if (binary.n != HEAD + 2 * (size_t)dims || (p[0] << 8 | p[1]) != dims)
    return false;
  for (int i = 0; i < dims; i++)
    if (!read_component(p + HEAD + 2 * i, &ret_vector[i]))
      return false;
  return true;
}

/* ---- add ---- */

static enum status check_dims(const struct vec_model *m, struct error *err) {
  return m->dims < 1 || m->dims > VEC_MAX_DIMS
             ? error_set(err, STATUS_USAGE, "a vector of %d dimensions cannot be stored", m->dims)
             : STATUS_OK;
}

enum status postgres_vec_add(struct txn *txn, const struct vec_model *m, int64_t chunk_id, const int8_t *vector,
                             struct error *err) {
  char text[HALFVEC_TEXT];
  TRY(check_dims(m, err));
  return db_exec(txn->store->db, err,
                 "INSERT INTO vec (team, model, chunk_id, dims, v) VALUES (?1, ?2, ?3, ?4, ?5::halfvec)", "ssiis",
                 m->team, m->model, chunk_id, (int64_t)m->dims, halfvec_write(vector, m->dims, text));
}

enum status postgres_vec_add_missing(struct txn *txn, const struct vec_model *m, int64_t chunk_id, const int8_t *vector,
                                     struct error *err) {
  char text[HALFVEC_TEXT];
  TRY(check_dims(m, err));
  return db_exec(txn->store->db, err,
                 "INSERT INTO vec (team, model, chunk_id, dims, v) SELECT c.team, ?2, c.id, ?4, ?5::halfvec"
                 " FROM chunk c WHERE c.team = ?1 AND c.id = ?3 ON CONFLICT DO NOTHING",
                 "ssiis", m->team, m->model, chunk_id, (int64_t)m->dims, halfvec_write(vector, m->dims, text));
}

/* The schema has the partial index of the usual size. For another size it is created before its first vector. If the
 * role lacks the privilege or the server is busy, search stays exact and is slower. */
enum status postgres_vec_prepare(struct txn *txn, int dims, struct error *err) {
  enum { USUAL = 256 };
  struct db *db = txn->store->db;
  char sql[256];
  int64_t one;
  bool there = true;
  if (dims == USUAL || dims < 1 || dims > HNSW_MAX_DIMS)
    return STATUS_OK;
  snprintf(sql, sizeof(sql), "SELECT 1 WHERE to_regclass('vec_hnsw_%d') IS NOT NULL", dims);
  TRY(db_int(db, &one, &there, err, sql, NULL));
  if (there)
    return STATUS_OK;
  TRY(db_savepoint(db, err));
  struct error ignored;
  snprintf(sql, sizeof(sql),
           "CREATE INDEX vec_hnsw_%d ON vec USING hnsw ((v::halfvec(%d)) halfvec_cosine_ops)"
           " WITH (m = 16, ef_construction = 64) WHERE dims = %d",
           dims, dims, dims);
  return db_savepoint_end(db, db_script(db, &ignored, sql) == STATUS_OK, err);
}

/* ---- remove ---- */

enum status postgres_vec_remove(struct txn *txn, int64_t memory_id, struct error *err) {
  return db_exec(txn->store->db, err,
                 "DELETE FROM vec WHERE team = ?2 AND chunk_id IN"
                 " (SELECT c.id FROM chunk c WHERE c.team = ?2 AND c.memory_id = ?1)",
                 "is", memory_id, txn->team);
}

/* First model of team ?1 that is not an index. */
#define UNOWNED                                                                                                        \
  "SELECT c.model FROM vec_count c WHERE c.team = ?1 AND NOT EXISTS"                                                   \
  " (SELECT 1 FROM vec_index i WHERE i.team = c.team AND i.model = c.model) ORDER BY c.model LIMIT 1"

enum status postgres_vec_drop_unowned(struct txn *txn, int64_t *ret_dropped, bool *ret_more, struct error *err) {
  struct db *db = txn->store->db;
  int64_t one, dropped = 0;
  bool found;
  enum status s = db_int(db, &one, &found, err, "SELECT 1 FROM (" UNOWNED ") u", "s", txn->team);
  if (s == STATUS_OK && found) {
    s = db_exec(db, err,
                "DELETE FROM vec WHERE team = ?1 AND (model, chunk_id) IN (SELECT s.model, s.chunk_id FROM vec s"
                " WHERE s.team = ?1 AND s.model = (" UNOWNED ") ORDER BY s.chunk_id LIMIT ?2)",
                "si", txn->team, (int64_t)DROPPED_AT_ONCE);
    dropped = s == STATUS_OK ? db_changes(db) : 0;
    if (s == STATUS_OK && dropped < DROPPED_AT_ONCE)
      s = db_exec(db, err, "DELETE FROM vec_count WHERE team = ?1 AND model = (" UNOWNED ")", "s", txn->team);
  }
  if (s != STATUS_OK)
    return s;
  *ret_dropped = dropped;
  *ret_more = found;
  return STATUS_OK;
}

/* ---- read ---- */

enum { FETCHED_AT_ONCE = 64 };

/* Fetches at most FETCHED_AT_ONCE vectors with one statement. */
static enum status fetch_some(struct store *st, const struct vec_model *m, const int64_t *chunk_ids, size_t n,
                              int8_t *ret_vectors, bool *ret_found, struct error *err) {
  char list[FETCHED_AT_ONCE * 22];
  size_t at = 0;
  assert(n <= FETCHED_AT_ONCE);
  for (size_t i = 0; i < n; i++) {
    at += (size_t)snprintf(list + at, sizeof(list) - at, "%c%lld", i ? ',' : '{', (long long)chunk_ids[i]);
    ret_found[i] = false;
  }
  assert(at < sizeof(list));
  list[at++] = '}';
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT s.chunk_id, halfvec_send(s.v) FROM vec s WHERE s.team = ?1 AND s.model = ?2"
           " AND s.chunk_id = ANY (?3::bigint[])",
           "sss", m->team, m->model, (struct str){list, at});
  while (rows_next(&r))
    for (size_t i = 0; i < n; i++)
      if (chunk_ids[i] == rows_int(&r, 0))
        ret_found[i] = halfvec_read(rows_text(&r, 1), m->dims, ret_vectors + i * (size_t)m->dims);
  return rows_end(&r);
}

enum status postgres_vec_fetch(struct store *st, const struct vec_model *m, const int64_t *chunk_ids, size_t n,
                               int8_t *ret_vectors, bool *ret_found, struct error *err) {
  for (size_t i = 0; i < n; i += FETCHED_AT_ONCE)
    TRY(fetch_some(st, m, chunk_ids + i, n - i < FETCHED_AT_ONCE ? n - i : FETCHED_AT_ONCE,
                   ret_vectors + i * (size_t)m->dims, ret_found + i, err));
  return STATUS_OK;
}

/* The server has its own cache. */
enum status postgres_vec_warm(struct store *st UNUSED, const struct vec_model *m UNUSED, struct error *err UNUSED) {
  return STATUS_OK;
}

enum status postgres_vec_count(struct store *st, const struct vec_model *m, int64_t *ret_done, int64_t *ret_total,
                               struct error *err) {
  struct rows r;
  int64_t done = 0, total = 0;
  db_query(st->db, &r, err,
           "SELECT coalesce((SELECT v.n FROM vec_count v WHERE v.team = ?1 AND v.model = ?2), 0),"
           " coalesce((SELECT c.n FROM chunk_count c WHERE c.team = ?1), 0)",
           "ss", m->team, m->model);
  if (rows_next(&r)) {
    done = rows_int(&r, 0);
    total = rows_int(&r, 1);
  }
  TRY(rows_end(&r));
  *ret_done = done;
  *ret_total = total;
  return STATUS_OK;
}

enum status postgres_vec_has(struct store *st, struct str team, struct str model, int64_t chunk_id, bool *ret_has,
                             struct error *err) {
  int64_t one;
  return db_int(st->db, &one, ret_has, err, "SELECT 1 FROM vec WHERE team = ?1 AND model = ?2 AND chunk_id = ?3", "ssi",
                team, model, chunk_id);
}

/* ---- check ---- */

/* Checks what the server does not guarantee: counters, integer components, and completed index builds. */
#define MISCOUNTED                                                                                                     \
  " FROM (SELECT team, model, count(*) AS n FROM vec GROUP BY team, model) s"                                          \
  " FULL JOIN vec_count c ON c.team = s.team AND c.model = s.model WHERE coalesce(s.n, 0) <> coalesce(c.n, 0)"
#define NOT_WHOLE "translate(s.v::text, '[]0123456789,-', '') <> ''"
#define WITHOUT_CHUNK "NOT EXISTS (SELECT 1 FROM chunk c WHERE c.team = s.team AND c.id = s.chunk_id)"

enum status postgres_vec_check(struct store *st, int64_t *ret_faults, struct error *err) {
  return db_int(st->db, ret_faults, NULL, err,
                "/* all teams: doctor */ "
                "SELECT (SELECT count(*)" MISCOUNTED ")"
                " + (SELECT count(*) FROM vec s WHERE " NOT_WHOLE " OR " WITHOUT_CHUNK ")"
                " + (SELECT count(*) FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid"
                " WHERE NOT i.indisvalid AND t.oid IN (SELECT relid FROM pg_partition_tree('vec')))",
                NULL);
}

enum status postgres_vec_repair(struct store *st, struct error *err) {
  TRY(db_exec(st->db, err, "/* all teams: doctor */ DELETE FROM vec s WHERE " NOT_WHOLE " OR " WITHOUT_CHUNK, NULL));
  TRY(db_exec(st->db, err, "/* all teams: doctor */ DELETE FROM vec_count", NULL));
  return db_exec(st->db, err,
                 "/* all teams: doctor */ INSERT INTO vec_count (team, model, n)"
                 " SELECT team, model, count(*) FROM vec GROUP BY team, model",
                 NULL);
}
