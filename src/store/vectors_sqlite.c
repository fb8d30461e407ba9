/* vectors_sqlite.c: vectors in SQLite: blocks of up to 1,024 places, whose heads are cached by version.
 *
 * A head holds, for each place, a chunk's id (8 bytes, 0 = free) and the sign bits of its vector; the int8 vector is a
 * row of vec_slot. A handle keeps the heads of one index in memory and reads again only those whose version changed. */
#include "base/alloc.h"
#include "embed/vec.h"
#include "store/store_internal.h"

enum {
  BLOCK_ROWS = 1024,
  ID_SIZE = 8,
  MISSES = 64, /* rows in turn that are not similar enough: those behind them, farther away still, are not either */
};

static size_t bits_size(int dims) { return (size_t)VEC_WORDS(dims) * 8; }
static size_t place_size(int dims) { return ID_SIZE + bits_size(dims); }

/* ---- writing ---- */

/* Blocks are filled one after another: only the newest can have room. */
static enum status find_block(struct txn *txn, const struct vec_model *m, int64_t *ret_block, int64_t *ret_slot,
                              struct error *err) {
  struct db *db = txn->store->db;
  struct rows r;
  db_query(db, &r, err, "SELECT id, used FROM vec_block WHERE team = ?1 AND model = ?2 ORDER BY id DESC LIMIT 1", "ss",
           m->team, m->model);
  bool found = rows_next(&r) && rows_int(&r, 1) < BLOCK_ROWS;
  if (found) {
    *ret_block = rows_int(&r, 0);
    *ret_slot = rows_int(&r, 1);
  }
  enum status s = rows_end(&r);
  if (s != STATUS_OK || found)
    return s;
  s = db_exec(db, err, "INSERT INTO vec_block (team, model, dims, used, version) VALUES (?1, ?2, ?3, 0, 0)", "ssi",
              m->team, m->model, (int64_t)m->dims);
  *ret_block = db_last_id(db);
  *ret_slot = 0;
  return s != STATUS_OK ? s
                        : db_exec(db, err, "INSERT INTO vec_head (block, places) VALUES (?1, zeroblob(?2))", "ii",
                                  *ret_block, (int64_t)(BLOCK_ROWS * place_size(m->dims)));
}

static enum status write_place(struct db *db, int64_t block, int64_t slot, int dims, int64_t chunk_id,
                               const uint64_t *bits, struct error *err) {
  char place[ID_SIZE + VEC_WORDS(VEC_MAX_DIMS) * 8];
  memcpy(place, &chunk_id, ID_SIZE);
  memcpy(place + ID_SIZE, bits, bits_size(dims));
  return db_blob_write(db, "vec_head", "places", block, (size_t)slot * place_size(dims),
                       (struct str){place, place_size(dims)}, err);
}

enum status vec_add(struct txn *txn, const struct vec_model *m, int64_t chunk_id, const int8_t *vector,
                    struct error *err) {
  struct db *db = txn->store->db;
  int64_t block = 0, slot = 0;
  uint64_t bits[VEC_WORDS(VEC_MAX_DIMS)];
  vec_bits(vector, m->dims, bits);
  enum status s = find_block(txn, m, &block, &slot, err);
  if (s == STATUS_OK)
    s = write_place(db, block, slot, m->dims, chunk_id, bits, err);
  if (s == STATUS_OK)
    s = db_exec(db, err, "UPDATE vec_block SET used = used + 1, version = version + 1 WHERE id = ?1", "i", block);
  if (s == STATUS_OK)
    s = db_exec(db, err, "INSERT INTO vec_slot (place, chunk_id, model, vector) VALUES (?1, ?2, ?3, ?4)", "iisb",
                block * BLOCK_ROWS + slot, chunk_id, m->model, (struct str){(const char *)vector, (size_t)m->dims});
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

/* A place is not used again: that it was emptied must reach every cache before something else could stand there. */
enum status vec_remove(struct txn *txn, int64_t memory_id, struct error *err) {
  struct db *db = txn->store->db;
  static const uint64_t zero[VEC_WORDS(VEC_MAX_DIMS)];
  for (;;) {
    struct rows r;
    db_query(db, &r, err,
             "SELECT s.place, b.dims FROM chunk c JOIN vec_slot s ON s.chunk_id = c.id"
             " JOIN vec_block b ON b.id = s.place / 1024 WHERE c.memory_id = ?1 AND c.team = ?2 LIMIT 1",
             "is", memory_id, txn->team);
    bool found = rows_next(&r);
    int64_t place = found ? rows_int(&r, 0) : 0, dims = found ? rows_int(&r, 1) : 0;
    enum status s = rows_end(&r);
    if (s != STATUS_OK || !found)
      return s;
    s = write_place(db, place / BLOCK_ROWS, place % BLOCK_ROWS, (int)dims, 0, zero, err);
    if (s == STATUS_OK)
      s = db_exec(db, err, "UPDATE vec_block SET version = version + 1 WHERE id = ?1", "i", place / BLOCK_ROWS);
    if (s == STATUS_OK)
      s = db_exec(db, err, "DELETE FROM vec_slot WHERE place = ?1", "i", place);
    if (s != STATUS_OK)
      return s;
  }
}

/* ---- the cache ---- */

/* In memory the bits lie together, so that a scan reads nothing else. */
struct vec_block {
  int64_t id, version;
  bool provisional; /* read inside a transaction that is not over */
  size_t used;
  int64_t *chunks; /* BLOCK_ROWS ids, and behind them the bits */
  uint64_t *bits;
};

struct vec_cache {
  char team[72], model[128], epoch[40]; /* what the blocks belong to */
  int dims;
  struct vec_block *blocks;
  size_t n, cap;
};

static void drop_from(struct vec_cache *c, size_t at) {
  for (size_t i = at; i < c->n; i++)
    mem_free(c->blocks[i].chunks);
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

/* After a rollback a version is used a second time, for something else. */
void vec_cache_settle(struct vec_cache *cache, bool committed) {
  for (size_t i = 0; cache && i < cache->n; i++) {
    if (cache->blocks[i].provisional && !committed)
      cache->blocks[i].version = -1;
    cache->blocks[i].provisional = false;
  }
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

static void take_places(struct vec_block *b, struct str places, int dims) {
  const char *p = places.p;
  for (size_t i = 0; i < BLOCK_ROWS; i++, p += place_size(dims)) {
    memcpy(&b->chunks[i], p, ID_SIZE);
    memcpy(b->bits + i * (size_t)VEC_WORDS(dims), p + ID_SIZE, bits_size(dims));
  }
}

static enum status load_head(struct store *st, struct vec_cache *c, struct vec_block *b, struct error *err) {
  size_t size = BLOCK_ROWS * place_size(c->dims);
  if (!b->chunks && !(b->chunks = mem_alloc(size)))
    return no_memory(err);
  b->bits = (uint64_t *)(void *)(b->chunks + BLOCK_ROWS);
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT h.places, b.used, b.version FROM vec_block b JOIN vec_head h ON h.block = b.id WHERE b.id = ?1", "i",
           b->id);
  if (rows_next(&r)) {
    struct str places = rows_text(&r, 0);
    if (places.n != size) {
      r.status = error_set(err, STATUS_CORRUPT, "vector block %lld has a wrong size", (long long)b->id);
    } else {
      take_places(b, places, c->dims);
      b->used = (size_t)rows_int(&r, 1);
      b->version = rows_int(&r, 2);
      b->provisional = db_in_transaction(st->db);
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
struct candidates {
  struct candidate *v;
  size_t n, cap;
};

/* Drops what is farther than the `wanted` nearest, and lowers the limit to the farthest of those. */
static void narrow(struct arena *a, struct candidates *list, size_t wanted, int *limit) {
  size_t *count = arena_array(a, size_t, (size_t)*limit + 1), sum = 0, kept = 0;
  for (size_t i = 0; i < list->n; i++)
    count[list->v[i].distance]++;
  int d = 0;
  for (; d < *limit && sum + count[d] < wanted; d++)
    sum += count[d];
  for (size_t i = 0; i < list->n; i++)
    if (list->v[i].distance <= d)
      list->v[kept++] = list->v[i];
  list->n = kept;
  *limit = d;
}

/* A counting sort: distances are small integers, and rows of the same distance keep their order. */
static struct candidate *sorted(struct arena *a, const struct candidates *list, int limit) {
  size_t *start = arena_array(a, size_t, (size_t)limit + 2);
  struct candidate *out = arena_array(a, struct candidate, list->n + 1);
  for (size_t i = 0; i < list->n; i++)
    start[list->v[i].distance + 1]++;
  for (int d = 0; d < limit; d++)
    start[d + 1] += start[d];
  for (size_t i = 0; i < list->n; i++)
    out[start[list->v[i].distance]++] = list->v[i];
  return out;
}

/* The rows nearest by bits, at most `limit` away, nearest first: `wanted` of them, or more where the last ones are
 * equally far. */
static struct candidate *rank_rows(struct arena *a, const struct vec_cache *c, const uint64_t *query, int limit,
                                   size_t wanted, size_t *ret_n) {
  struct candidates list = {0};
  uint16_t distance[BLOCK_ROWS];
  for (size_t i = 0; i < c->n; i++) {
    const struct vec_block *b = &c->blocks[i];
    vec_scan_bits(b->bits, b->used, VEC_WORDS(c->dims), query, distance);
    for (size_t slot = 0; slot < b->used; slot++)
      if (distance[slot] <= limit)
        list_push(a, &list, (struct candidate){(uint32_t)i, (uint16_t)slot, distance[slot]});
    if (list.n > 4 * wanted + BLOCK_ROWS || i + 1 == c->n)
      narrow(a, &list, wanted, &limit);
  }
  *ret_n = list.n;
  return sorted(a, &list, limit);
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

/* The exact similarity of the vector at a place; the chunk may have gone since the head was read. */
static enum status cosine_at(struct store *st, int64_t place, const int8_t *query, int dims, double *ret_cosine,
                             struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT vector FROM vec_slot WHERE place = ?1", "i", place);
  struct str v = rows_next(&r) ? rows_text(&r, 0) : STR_NONE;
  *ret_cosine = v.n == (size_t)dims ? vec_cosine(query, (const int8_t *)v.p, dims) : -2;
  return rows_end(&r);
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
  size_t n, accepted = 0, missed = 0;
  struct candidate *rows = rank_rows(a, c, bits, distance_limit(m->dims, min_cosine), examine, &n);
  /* Bits are a coarse order: a few more than k are taken before the exact one decides. */
  size_t enough = k * 4;
  for (size_t i = 0; s == STATUS_OK && i < n && i < examine && accepted < enough && missed < MISSES; i++) {
    const struct vec_block *b = &c->blocks[rows[i].block];
    int64_t chunk = b->chunks[rows[i].slot], memory = 0;
    double cosine = -2;
    if (chunk != 0)
      s = cosine_at(st, b->id * BLOCK_ROWS + rows[i].slot, query, m->dims, &cosine, err);
    missed = cosine >= min_cosine ? 0 : missed + 1;
    if (s == STATUS_OK && cosine >= min_cosine)
      s = accepted_by(st, accept, chunk, &memory, err);
    if (s != STATUS_OK || memory == 0)
      continue;
    accepted++;
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
                                 "SELECT count(*) FROM vec_block b JOIN vec_slot s"
                                 " ON s.place BETWEEN b.id * 1024 AND b.id * 1024 + 1023"
                                 " WHERE b.team = ?1 AND b.model = ?2",
                                 "ss", m->team, m->model);
}

/* Whether the place of a head says the same as the row of its vector. */
static bool place_agrees(struct str places, int64_t slot, int dims, int64_t chunk, struct str vector) {
  uint64_t bits[VEC_WORDS(VEC_MAX_DIMS)];
  const char *place = places.p + (size_t)slot * place_size(dims);
  if (vector.n != (size_t)dims || memcmp(place, &chunk, ID_SIZE) != 0)
    return false;
  vec_bits((const int8_t *)vector.p, dims, bits);
  return memcmp(place + ID_SIZE, bits, bits_size(dims)) == 0;
}

static int64_t places_taken(struct str places, int dims) {
  int64_t n = 0, id;
  for (size_t at = 0; at < places.n; at += place_size(dims)) {
    memcpy(&id, places.p + at, ID_SIZE);
    n += id != 0;
  }
  return n;
}

/* One block: every vector is where its head says, and the head knows no other. */
static enum status check_block(struct store *st, const struct rows *block, int64_t *faults, struct error *err) {
  int64_t id = rows_int(block, 0), dims = rows_int(block, 1), used = rows_int(block, 2), n = 0;
  struct str places = rows_text(block, 3);
  if (dims > VEC_MAX_DIMS || places.n != BLOCK_ROWS * place_size((int)dims)) {
    (*faults)++;
    return STATUS_OK;
  }
  struct rows r;
  db_query(
      st->db, &r, err,
      "SELECT s.place, s.chunk_id, s.vector, c.team = b.team AND s.model = b.model FROM vec_block b JOIN vec_slot s"
      " ON s.place BETWEEN b.id * 1024 AND b.id * 1024 + 1023 LEFT JOIN chunk c ON c.id = s.chunk_id"
      " WHERE b.id = ?1",
      "i", id);
  for (; rows_next(&r); n++) {
    int64_t slot = rows_int(&r, 0) % BLOCK_ROWS;
    if (rows_int(&r, 3) != 1 || slot >= used ||
        !place_agrees(places, slot, (int)dims, rows_int(&r, 1), rows_text(&r, 2)))
      (*faults)++;
  }
  *faults += places_taken(places, (int)dims) != n;
  return rows_end(&r);
}

enum status vec_check(struct store *st, int64_t *ret_faults, struct error *err) {
  int64_t faults = 0;
  enum status s = db_int(st->db, &faults, NULL, err,
                         "SELECT count(*) FROM vec_slot s WHERE NOT EXISTS"
                         " (SELECT 1 FROM vec_block b WHERE b.id = s.place / 1024)",
                         NULL);
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT b.id, b.dims, b.used, h.places FROM vec_block b LEFT JOIN vec_head h ON h.block = b.id", NULL);
  while (s == STATUS_OK && rows_next(&r))
    s = check_block(st, &r, &faults, err);
  enum status end = rows_end(&r);
  if (s == STATUS_OK && end == STATUS_OK)
    *ret_faults = faults;
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
    s = db_exec(st->db, err, "DELETE FROM vec_block", NULL); /* and the heads with them */
  if (st->vectors)
    cache_clear(st->vectors);
  return s;
}
