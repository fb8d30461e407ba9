/* vectors_sqlite.c: vectors in SQLite: blocks of up to 1,024 rows, written in place, cached by version.
 *
 * A block's head is 1,024 chunk ids (8 bytes, 0 = empty) and then the sign bits of each row; vec_data holds the int8
 * rows. A handle keeps the heads of one index in memory and reads again only those whose version changed. */
#include "base/alloc.h"
#include "embed/vec.h"
#include "store/store_internal.h"

enum { BLOCK_ROWS = 1024 };

static size_t bits_size(int dims) { return (size_t)VEC_WORDS(dims) * 8; }
static size_t head_size(int dims) { return BLOCK_ROWS * (8 + bits_size(dims)); }

/* ---- writing ---- */

static enum status find_block(struct txn *txn, const struct vec_model *m, int64_t *ret_block, int64_t *ret_slot,
                              struct error *err) {
  struct db *db = txn->store->db;
  struct rows r;
  db_query(db, &r, err,
           "SELECT id, used FROM vec_block WHERE team = ?1 AND model = ?2 AND used < 1024 ORDER BY id LIMIT 1", "ss",
           m->team, m->model);
  bool found = rows_next(&r);
  if (found) {
    *ret_block = rows_int(&r, 0);
    *ret_slot = rows_int(&r, 1);
  }
  enum status s = rows_end(&r);
  if (s != STATUS_OK || found)
    return s;
  s = db_exec(db, err,
              "INSERT INTO vec_block (team, model, dims, used, version, head) VALUES (?1, ?2, ?3, 0, 0, zeroblob(?4))",
              "ssii", m->team, m->model, (int64_t)m->dims, (int64_t)head_size(m->dims));
  *ret_block = db_last_id(db);
  *ret_slot = 0;
  return s != STATUS_OK ? s
                        : db_exec(db, err, "INSERT INTO vec_data (block, rows) VALUES (?1, zeroblob(?2))", "ii",
                                  *ret_block, (int64_t)BLOCK_ROWS * m->dims);
}

static enum status write_row(struct db *db, int64_t block, int64_t slot, int dims, int64_t chunk_id,
                             const int8_t *vector, struct error *err) {
  uint64_t bits[VEC_WORDS(VEC_MAX_DIMS)] = {0};
  vec_bits(vector, dims, bits);
  size_t at = (size_t)slot;
  enum status s = db_blob_write(db, "vec_block", "head", block, at * 8, (struct str){(const char *)&chunk_id, 8}, err);
  if (s == STATUS_OK)
    s = db_blob_write(db, "vec_block", "head", block, BLOCK_ROWS * 8 + at * bits_size(dims),
                      (struct str){(const char *)bits, bits_size(dims)}, err);
  if (s == STATUS_OK)
    s = db_blob_write(db, "vec_data", "rows", block, at * (size_t)dims,
                      (struct str){(const char *)vector, (size_t)dims}, err);
  return s;
}

enum status vec_add(struct txn *txn, const struct vec_model *m, int64_t chunk_id, const int8_t *vector,
                    struct error *err) {
  struct db *db = txn->store->db;
  int64_t block = 0, slot = 0;
  enum status s = find_block(txn, m, &block, &slot, err);
  if (s == STATUS_OK)
    s = write_row(db, block, slot, m->dims, chunk_id, vector, err);
  if (s == STATUS_OK)
    s = db_exec(db, err, "UPDATE vec_block SET used = used + 1, version = version + 1 WHERE id = ?1", "i", block);
  if (s == STATUS_OK)
    s = db_exec(db, err, "INSERT INTO vec_slot (chunk_id, model, block, slot) VALUES (?1, ?2, ?3, ?4)", "isii",
                chunk_id, m->model, block, slot);
  return s;
}

enum status vec_add_missing(struct txn *txn, const struct vec_model *m, int64_t chunk_id, const int8_t *vector,
                            struct error *err) {
  int64_t id;
  bool waits;
  enum status s = db_int(txn->store->db, &id, &waits, err,
                         "SELECT c.id FROM chunk c WHERE c.id = ?1 AND c.team = ?2 AND NOT EXISTS"
                         " (SELECT 1 FROM vec_slot s WHERE s.chunk_id = c.id AND s.model = ?3)",
                         "iss", chunk_id, m->team, m->model);
  return s == STATUS_OK && waits ? vec_add(txn, m, chunk_id, vector, err) : s;
}

enum status vec_remove(struct txn *txn, int64_t memory_id, struct error *err) {
  struct db *db = txn->store->db;
  static const int8_t zero[VEC_MAX_DIMS];
  for (;;) {
    struct rows r;
    db_query(db, &r, err,
             "SELECT s.chunk_id, s.model, s.block, s.slot, b.dims FROM vec_slot s JOIN vec_block b ON b.id = s.block"
             " JOIN chunk c ON c.id = s.chunk_id WHERE c.memory_id = ?1 AND c.team = ?2 LIMIT 1",
             "is", memory_id, txn->team);
    bool found = rows_next(&r);
    int64_t chunk = 0, block = 0, slot = 0, dims = 0;
    if (found) {
      chunk = rows_int(&r, 0);
      block = rows_int(&r, 2);
      slot = rows_int(&r, 3);
      dims = rows_int(&r, 4);
    }
    enum status s = rows_end(&r);
    if (s != STATUS_OK || !found)
      return s;
    s = write_row(db, block, slot, (int)dims, 0, zero, err);
    if (s == STATUS_OK)
      s = db_exec(db, err, "UPDATE vec_block SET version = version + 1 WHERE id = ?1", "i", block);
    if (s == STATUS_OK)
      s = db_exec(db, err, "DELETE FROM vec_slot WHERE chunk_id = ?1 AND block = ?2", "ii", chunk, block);
    if (s != STATUS_OK)
      return s;
  }
}

/* ---- the cache ---- */

struct vec_block {
  int64_t id, version;
  size_t used;
  char *head;
};

struct vec_cache {
  char team[72], model[128], epoch[40]; /* what the blocks belong to */
  int dims;
  struct vec_block *blocks;
  size_t n, cap;
};

static void drop_from(struct vec_cache *c, size_t at) {
  for (size_t i = at; i < c->n; i++)
    mem_free(c->blocks[i].head);
  c->n = at < c->n ? at : c->n;
}

static void cache_clear(struct vec_cache *c) { drop_from(c, 0); }

void vec_cache_free(struct vec_cache *cache) {
  if (!cache)
    return;
  cache_clear(cache);
  mem_free(cache->blocks);
  mem_free(cache);
}

static bool copy_name(char *out, size_t size, struct str s) {
  if (s.n >= size)
    return false;
  memcpy(out, s.p, s.n);
  out[s.n] = 0;
  return true;
}

static enum status no_memory(struct error *err) { return error_set(err, STATUS_NOMEM, "out of memory"); }

/* The epoch changes when a restore replaces the content: versions alone would not show that. */
static enum status bind_cache(struct store *st, const struct vec_model *m, struct vec_cache **ret, struct error *err) {
  struct vec_cache *c = st->vectors;
  if (!c) {
    c = st->vectors = mem_zalloc(sizeof(*c));
    if (!c)
      return no_memory(err);
  }
  struct rows r;
  db_query(st->db, &r, err, "SELECT value FROM meta WHERE name = 'epoch'", NULL);
  struct str epoch = rows_next(&r) ? rows_text(&r, 0) : STR("");
  if (!str_is(epoch, c->epoch) || !str_is(m->team, c->team) || !str_is(m->model, c->model) || c->dims != m->dims) {
    cache_clear(c);
    if (!copy_name(c->team, sizeof(c->team), m->team) || !copy_name(c->model, sizeof(c->model), m->model) ||
        !copy_name(c->epoch, sizeof(c->epoch), epoch))
      r.status = error_set(err, STATUS_USAGE, "the name of the team or of the model is too long");
    c->dims = m->dims;
  }
  *ret = c;
  return rows_end(&r);
}

static enum status load_head(struct store *st, struct vec_cache *c, struct vec_block *b, struct error *err) {
  size_t size = head_size(c->dims);
  if (!b->head && !(b->head = mem_alloc(size)))
    return no_memory(err);
  struct rows r;
  db_query(st->db, &r, err, "SELECT head, used, version FROM vec_block WHERE id = ?1", "i", b->id);
  if (rows_next(&r)) {
    struct str head = rows_text(&r, 0);
    if (head.n != size) {
      r.status = error_set(err, STATUS_CORRUPT, "vector block %lld has a wrong size", (long long)b->id);
    } else {
      memcpy(b->head, head.p, size);
      b->used = (size_t)rows_int(&r, 1);
      b->version = rows_int(&r, 2);
    }
  }
  return rows_end(&r);
}

static enum status add_block(struct vec_cache *c, int64_t id, struct error *err) {
  if (c->n == c->cap) {
    size_t cap = c->cap ? c->cap * 2 : 16;
    struct vec_block *p = mem_realloc(c->blocks, cap * sizeof(*p));
    if (!p)
      return no_memory(err);
    c->blocks = p;
    c->cap = cap;
  }
  c->blocks[c->n++] = (struct vec_block){.id = id, .version = -1};
  return STATUS_OK;
}

/* Blocks come in the order of their ids; only a repair removes any. */
static enum status refresh(struct store *st, const struct vec_model *m, struct vec_cache **ret, struct error *err) {
  struct vec_cache *c = NULL;
  enum status s = bind_cache(st, m, &c, err);
  if (s != STATUS_OK)
    return s;
  struct rows r;
  db_query(st->db, &r, err, "SELECT id, version FROM vec_block WHERE team = ?1 AND model = ?2 ORDER BY id", "ss",
           m->team, m->model);
  size_t at = 0;
  while (s == STATUS_OK && rows_next(&r)) {
    int64_t id = rows_int(&r, 0), version = rows_int(&r, 1);
    if (at < c->n && c->blocks[at].id != id)
      drop_from(c, at);
    if (at == c->n)
      s = add_block(c, id, err);
    if (s == STATUS_OK && c->blocks[at].version != version)
      s = load_head(st, c, &c->blocks[at], err);
    at++;
  }
  enum status end = rows_end(&r);
  if (s == STATUS_OK && end == STATUS_OK)
    drop_from(c, at);
  *ret = c;
  return s != STATUS_OK ? s : end;
}

enum status vec_warm(struct store *st, const struct vec_model *m, struct error *err) {
  struct vec_cache *c;
  return refresh(st, m, &c, err);
}

/* ---- searching ---- */

struct candidate {
  uint32_t block;
  uint16_t slot, distance;
};

/* All rows in the order of their distance: a counting sort, since distances are small integers. */
static struct candidate *rank_rows(struct arena *a, const struct vec_cache *c, const uint64_t *query, int max_distance,
                                   size_t *ret_n) {
  size_t total = 0;
  for (size_t i = 0; i < c->n; i++)
    total += c->blocks[i].used;
  uint16_t *distance = arena_array(a, uint16_t, total + 1);
  size_t *start = arena_array(a, size_t, (size_t)c->dims + 3);
  size_t at = 0;
  for (size_t i = 0; i < c->n; i++) {
    const struct vec_block *b = &c->blocks[i];
    vec_scan_bits((const uint64_t *)(const void *)(b->head + BLOCK_ROWS * 8), b->used, VEC_WORDS(c->dims), query,
                  distance + at);
    at += b->used;
  }
  for (size_t i = 0; i < total; i++)
    if (distance[i] <= max_distance)
      start[distance[i] + 1]++;
  for (int d = 0; d <= c->dims; d++)
    start[d + 1] += start[d];
  struct candidate *out = arena_array(a, struct candidate, start[c->dims + 1] + 1);
  *ret_n = start[c->dims + 1];
  at = 0;
  for (size_t i = 0; i < c->n; i++)
    for (size_t slot = 0; slot < c->blocks[i].used; slot++, at++)
      if (distance[at] <= max_distance)
        out[start[distance[at]]++] = (struct candidate){(uint32_t)i, (uint16_t)slot, distance[at]};
  return out;
}

/* Sign bits of two vectors at this cosine differ in about dims * angle / pi places; four deviations are added, so that
 * only one row in some ten thousand that reaches the cosine is missed. */
static int distance_limit(int dims, double min_cosine) {
  if (min_cosine <= -1)
    return dims;
  double p = __builtin_acos(min_cosine > 1 ? 1 : min_cosine) / 3.14159265358979323846;
  double limit = dims * p + 4 * __builtin_sqrt(dims * p * (1 - p)) + 1;
  return limit > dims ? dims : (int)limit;
}

static void keep_best(struct arena *a, struct vec_hits *hits, struct vec_hit hit, size_t k) {
  size_t at = hits->n;
  while (at > 0 && (hits->v[at - 1].cosine < hit.cosine ||
                    (hits->v[at - 1].cosine == hit.cosine && hits->v[at - 1].chunk_id > hit.chunk_id)))
    at--;
  if (at >= k)
    return;
  if (hits->n < k)
    list_push(a, hits, hit);
  memmove(hits->v + at + 1, hits->v + at, (hits->n - 1 - at) * sizeof(hit));
  hits->v[at] = hit;
}

/* Which memory the chunk belongs to; 0 when it does not count. */
static enum status accepted_by(struct store *st, struct sql *accept, int64_t chunk, int64_t *ret_memory,
                               struct error *err) {
  accept->v[accept->n - 1].i = chunk;
  struct rows r;
  db_query_sql(st->db, &r, err, accept);
  *ret_memory = rows_next(&r) ? rows_int(&r, 0) : 0;
  return rows_end(&r);
}

enum status vec_search(struct store *st, const struct vec_model *m, const int8_t *query, double min_cosine, size_t k,
                       size_t examine, struct sql *accept, struct arena *a, struct vec_hits *ret_hits,
                       struct error *err) {
  struct vec_cache *c;
  enum status s = refresh(st, m, &c, err);
  if (s != STATUS_OK || c->n == 0)
    return s;
  uint64_t bits[VEC_WORDS(VEC_MAX_DIMS)] = {0};
  vec_bits(query, m->dims, bits);
  size_t n, accepted = 0;
  struct candidate *rows = rank_rows(a, c, bits, distance_limit(m->dims, min_cosine), &n);
  int8_t *row = arena_array(a, int8_t, (size_t)m->dims);
  /* Bits are a coarse order: a few more than k are taken before the exact one decides. */
  size_t enough = k * 4;
  for (size_t i = 0; s == STATUS_OK && i < n && i < examine && accepted < enough; i++) {
    const struct vec_block *b = &c->blocks[rows[i].block];
    int64_t chunk, memory = 0;
    memcpy(&chunk, b->head + (size_t)rows[i].slot * 8, 8);
    if (chunk != 0)
      s = accepted_by(st, accept, chunk, &memory, err);
    if (s != STATUS_OK || memory == 0)
      continue;
    accepted++;
    s = db_blob_read(st->db, "vec_data", "rows", b->id, (size_t)rows[i].slot * (size_t)m->dims, row, (size_t)m->dims,
                     err);
    double cosine = vec_cosine(query, row, m->dims);
    if (s == STATUS_OK && cosine >= min_cosine)
      keep_best(a, ret_hits, (struct vec_hit){chunk, memory, cosine}, k);
  }
  return s;
}

/* ---- counts and checks ---- */

enum status vec_count(struct store *st, const struct vec_model *m, int64_t *ret_done, int64_t *ret_total,
                      struct error *err) {
  enum status s = db_int(st->db, ret_total, NULL, err, "SELECT count(*) FROM chunk WHERE team = ?1", "s", m->team);
  return s != STATUS_OK ? s
                        : db_int(st->db, ret_done, NULL, err,
                                 "SELECT count(*) FROM vec_slot s JOIN vec_block b ON b.id = s.block"
                                 " WHERE b.team = ?1 AND s.model = ?2",
                                 "ss", m->team, m->model);
}

enum status vec_check(struct store *st, int64_t *ret_faults, struct error *err) {
  int64_t faults = 0, n = 0;
  enum status s = db_int(st->db, &faults, NULL, err,
                         "SELECT count(*) FROM vec_slot s LEFT JOIN vec_block b ON b.id = s.block"
                         " LEFT JOIN chunk c ON c.id = s.chunk_id LEFT JOIN vec_data d ON d.block = s.block"
                         " WHERE b.id IS NULL OR c.id IS NULL OR d.block IS NULL OR s.slot >= b.used"
                         " OR c.team <> b.team OR s.model <> b.model"
                         " OR length(d.rows) <> 1024 * b.dims",
                         NULL);
  struct rows r;
  db_query(st->db, &r, err, "SELECT s.chunk_id, s.slot, b.head FROM vec_slot s JOIN vec_block b ON b.id = s.block",
           NULL);
  while (s == STATUS_OK && rows_next(&r)) {
    struct str head = rows_text(&r, 2);
    size_t at = (size_t)rows_int(&r, 1) * 8;
    int64_t chunk = 0;
    if (at + 8 <= head.n)
      memcpy(&chunk, head.p + at, 8);
    n += chunk != rows_int(&r, 0);
  }
  enum status end = rows_end(&r);
  *ret_faults = faults + n;
  return s != STATUS_OK ? s : end;
}

/* Vectors can always be computed again: a fault empties the whole index. */
enum status vec_repair(struct store *st, struct error *err) {
  int64_t faults;
  enum status s = vec_check(st, &faults, err);
  if (s != STATUS_OK || faults == 0)
    return s;
  s = db_exec(st->db, err, "DELETE FROM vec_slot", NULL);
  if (s == STATUS_OK)
    s = db_exec(st->db, err, "DELETE FROM vec_data", NULL);
  if (s == STATUS_OK)
    s = db_exec(st->db, err, "DELETE FROM vec_block", NULL);
  if (st->vectors)
    cache_clear(st->vectors);
  return s;
}
