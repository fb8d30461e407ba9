/* embed_cache.c: cached embedding vectors, stored as rows. */
#include "store/vectors/embed_cache.h"

#include <assert.h>

#include "core/memory/chunk.h"
#include "store/store_internal.h"

/* The time of use is written at most once a day, to save writes. */
static const int64_t note_after = MS_PER_DAY;

enum status embed_cache_get(struct store *st, const struct vec_model *m, const char hash[HASH_TEXT_SIZE], int64_t now,
                            int8_t *ret_vector, enum embed_cached *ret_cached, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT vector, used_at FROM embed_cache WHERE team = ?1 AND hash = ?2 AND model = ?3 AND dims = ?4", "sssi",
           m->team, str_from(hash), m->model, (int64_t)m->dims);
  *ret_cached = CACHE_MISS;
  struct str vector = rows_next(&r) ? rows_text(&r, 0) : STR_NONE;
  if (vector.p && vector.n == (size_t)m->dims) {
    memcpy(ret_vector, vector.p, vector.n);
    *ret_cached = now - rows_int(&r, 1) > note_after ? CACHE_STALE : CACHE_HIT;
  }
  return rows_end(&r);
}

enum status embed_cache_put(struct store *st, const struct vec_model *m, const char hash[HASH_TEXT_SIZE],
                            const int8_t *vector, int64_t now, struct error *err) {
  assert(m->dims > 0);
  return db_exec(st->db, err,
                 "INSERT INTO embed_cache (team, hash, model, dims, vector, used_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
                 " ON CONFLICT (team, hash, model, dims) DO UPDATE SET used_at = excluded.used_at",
                 "sssibi", m->team, str_from(hash), m->model, (int64_t)m->dims,
                 (struct str){(const char *)vector, (size_t)m->dims}, now);
}

enum status embed_cache_forget(struct txn *txn, struct arena *a, int64_t memory_id, struct error *err) {
  struct strs hashes = {0};
  struct rows r;
  db_query(txn->store->db, &r, err, "SELECT headline, body FROM chunk WHERE team = ?1 AND memory_id = ?2", "si",
           txn->team, memory_id);
  while (rows_next(&r)) {
    char *hash = arena_alloc(a, HASH_TEXT_SIZE);
    hash_text(embed_text(a, STR_NONE, rows_text(&r, 0), rows_text(&r, 1)), hash);
    strs_push(a, &hashes, str_from(hash));
  }
  TRY(rows_end(&r));
  for (size_t i = 0; i < hashes.n; i++)
    TRY(db_exec(txn->store->db, err, "DELETE FROM embed_cache WHERE team = ?1 AND hash = ?2", "ss", txn->team,
                hashes.v[i]));
  return STATUS_OK;
}

enum status embed_cache_trim(struct store *st, struct str team, int64_t *ret_dropped, struct error *err) {
  int64_t n;
  enum status s = db_int(st->db, &n, NULL, err, "SELECT count(*) FROM embed_cache WHERE team = ?1", "s", team);
  *ret_dropped = 0;
  if (s != STATUS_OK || n <= EMBED_CACHE_ROWS)
    return s;
  s = db_exec(st->db, err,
              "DELETE FROM embed_cache WHERE team = ?1 AND (hash, model, dims) IN (SELECT hash, model, dims"
              " FROM embed_cache WHERE team = ?1 ORDER BY used_at, hash LIMIT ?2)",
              "si", team, n - EMBED_CACHE_ROWS);
  *ret_dropped = db_changes(st->db);
  return s;
}
