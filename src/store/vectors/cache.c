/* cache.c: in-memory cache of vector indexes: heads by version, and recently read vectors.
 *
 * A handle caches several indexes, for several teams or while a store changes its embedder. If they need too much
 * memory, the least recently used is evicted; the one in use is kept. */
#include <assert.h>

#include "base/alloc.h"
#include "store/vectors/internal.h"

enum {
  INDEXES = 8,
  HEADS_BYTES = 256 << 20, /* limit for all indexes; a single larger one is still cached */
  ROWS_BYTES = 36 << 20,   /* cached vectors per index */
  ROWS_INDEXES = 2,        /* indexes with cached vectors */
};

struct vec_cache {
  char epoch[40]; /* epoch of the cached content */
  uint64_t count;
  struct cached_index *index[INDEXES];
};

static enum status no_memory(struct error *err) { return error_set(err, STATUS_NOMEM, "out of memory"); }

static void drop_rows(struct cached_index *x) {
  mem_free(x->row_place);
  mem_free(x->rows);
  x->row_place = NULL;
  x->rows = NULL;
  x->row_count = x->ahead = 0;
}

static void drop_blocks(struct cached_index *x, size_t at) {
  for (size_t i = at; i < x->n; i++)
    mem_free(x->blocks[i].chunks);
  x->n = at < x->n ? at : x->n;
}

static void index_free(struct cached_index **index) {
  struct cached_index *x = *index;
  if (!x)
    return;
  drop_blocks(x, 0);
  drop_rows(x);
  mem_free(x->blocks);
  mem_free(x->where);
  mem_free(x->centre);
  mem_free(x);
  *index = NULL;
}

void vec_cache_free(struct vec_cache *cache) {
  for (size_t i = 0; cache && i < INDEXES; i++)
    index_free(&cache->index[i]);
  mem_free(cache);
}

/* A rolled-back version number is used again for different content. */
void vec_cache_settle(struct vec_cache *cache, bool committed) {
  for (size_t i = 0; cache && i < INDEXES; i++) {
    struct cached_index *x = cache->index[i];
    for (size_t b = 0; x && b < x->n; b++) {
      if (x->blocks[b].provisional && !committed)
        x->blocks[b].version = -1;
      x->blocks[b].provisional = false;
    }
    if (x && !committed)
      x->fresh = false;
  }
}

/* ---- lookup and eviction ---- */

static size_t heads_bytes(const struct cached_index *x) { return x ? x->n * head_size(x->dims) : 0; }

/* Returns a free entry (unless `taken`), else the least recently used one except `keep`; NULL if there is none. */
static struct cached_index **least_recently_used(struct vec_cache *c, const struct cached_index *keep, bool taken) {
  struct cached_index **best = NULL;
  for (size_t i = 0; i < INDEXES; i++) {
    struct cached_index **x = &c->index[i];
    if (!*x && !taken)
      return x;
    if (*x && *x != keep && (!best || (*x)->used_at < (*best)->used_at))
      best = x;
  }
  return best;
}

static void evict_over_budget(struct vec_cache *c, const struct cached_index *in_use) {
  for (;;) {
    size_t sum = 0;
    for (size_t i = 0; i < INDEXES; i++)
      sum += heads_bytes(c->index[i]);
    struct cached_index **old = sum > HEADS_BYTES ? least_recently_used(c, in_use, true) : NULL;
    if (!old)
      return;
    index_free(old);
  }
}

static bool copy_name(char *out, size_t size, struct str s) {
  if (s.n >= size)
    return false;
  memcpy(out, s.p, s.n);
  out[s.n] = 0;
  return true;
}

static enum status find_index(struct store *st, const struct vec_model *m, struct cached_index **ret,
                              struct error *err) {
  struct vec_cache *c = st->vectors;
  if (!c && !(c = st->vectors = mem_zalloc(sizeof(*c))))
    return no_memory(err);
  for (size_t i = 0; i < INDEXES; i++) {
    struct cached_index *x = c->index[i];
    if (x && str_is(m->team, x->team) && str_is(m->model, x->model) && x->dims == m->dims) {
      x->used_at = ++c->count;
      *ret = x;
      return STATUS_OK;
    }
  }
  struct cached_index *x = mem_zalloc(sizeof(*x));
  if (!x)
    return no_memory(err);
  if (m->dims < 1 || m->dims > VEC_MAX_DIMS || !copy_name(x->team, sizeof(x->team), m->team) ||
      !copy_name(x->model, sizeof(x->model), m->model)) {
    mem_free(x);
    return error_set(err, STATUS_USAGE, "team or model name is too long, or %d dimensions are outside 1..%d", m->dims,
                     VEC_MAX_DIMS);
  }
  x->dims = m->dims;
  if (!(x->centre = mem_zalloc((size_t)m->dims))) {
    mem_free(x);
    return no_memory(err);
  }
  x->used_at = ++c->count;
  struct cached_index **place = least_recently_used(c, NULL, false);
  assert(place);
  index_free(place);
  *place = *ret = x;
  return STATUS_OK;
}

/* A restore replaces the content and changes the epoch; versions do not show that. */
static enum status check_epoch(struct store *st, struct error *err) {
  struct vec_cache *c = st->vectors;
  struct rows r;
  db_query(st->db, &r, err, "SELECT value FROM meta WHERE name = 'epoch'", NULL);
  struct str epoch = rows_next(&r) ? rows_text(&r, 0) : STR("");
  if (!str_is(epoch, c->epoch)) {
    for (size_t i = 0; i < INDEXES; i++)
      if (c->index[i]) {
        drop_blocks(c->index[i], 0);
        drop_rows(c->index[i]);
        c->index[i]->fresh = false;
      }
    if (!copy_name(c->epoch, sizeof(c->epoch), epoch))
      c->epoch[0] = 0;
  }
  return rows_end(&r);
}

/* ---- heads ---- */

/* Skips damaged places; the others stay searchable. */
static void read_places(struct vec_block *b, struct str places, int dims) {
  assert(places.n == head_size(dims) && b->used <= BLOCK_ROWS);
  const char *p = places.p;
  size_t words = (size_t)VEC_WORDS(dims);
  b->taken = 0;
  for (size_t row = 0; row < BLOCK_ROWS; row++, p += place_size(dims)) {
    int64_t chunk = place_chunk(p, dims);
    b->damaged |= chunk < 0 || (chunk > 0 && row >= b->used);
    b->chunks[row] = chunk > 0 && row < b->used ? chunk : 0;
    b->taken += b->chunks[row] != 0;
    uint64_t *word = b->bits + VEC_AT(row, 0, words);
    for (size_t w = 0; w < words; w++)
      memcpy(word + w * VEC_GROUP, p + ID_SIZE + w * 8, 8);
  }
}

static enum status load_head(struct store *st, struct cached_index *x, struct vec_block *b, struct error *err) {
  if (!b->chunks && !(b->chunks = mem_alloc(head_size(x->dims))))
    return no_memory(err);
  b->bits = (uint64_t *)(void *)(b->chunks + BLOCK_ROWS);
  b->used = b->taken = 0;
  b->damaged = true;
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT h.places, b.used, b.version, b.dims FROM vec_block b LEFT JOIN vec_head h ON h.block = b.id"
           " WHERE b.id = ?1 AND b.team = ?2",
           "is", b->id, str_from(x->team));
  if (rows_next(&r)) {
    struct str places = rows_text(&r, 0);
    int64_t used = rows_int(&r, 1);
    b->version = rows_int(&r, 2);
    b->provisional = db_writing(st->db);
    if (places.n == head_size(x->dims) && rows_int(&r, 3) == x->dims && used >= 0 && used <= BLOCK_ROWS) {
      b->used = (size_t)used;
      b->damaged = false;
      read_places(b, places, x->dims);
    }
  }
  /* Unreadable pages are treated as damage. */
  enum status s = rows_end(&r);
  return s == STATUS_CORRUPT ? STATUS_OK : s;
}

/* Ids are dense if the store has few teams. Sparse ids are left to the database. */
static void record_places(struct cached_index *x, size_t block) {
  enum { SPARSE = 16 };
  assert(block < x->n);
  const struct vec_block *b = &x->blocks[block];
  size_t most = (x->n + 1) * BLOCK_ROWS * SPARSE, need = 0;
  for (size_t row = 0; row < b->used; row++)
    if ((size_t)b->chunks[row] < most && (size_t)b->chunks[row] >= need)
      need = (size_t)b->chunks[row] + 1;
  if (need > x->where_n) {
    size_t room = need + need / 2;
    uint32_t *p = mem_realloc(x->where, room * sizeof(*p));
    if (!p)
      return;
    memset(p + x->where_n, 0, (room - x->where_n) * sizeof(*p));
    x->where = p;
    x->where_n = room;
  }
  for (size_t row = 0; row < b->used; row++)
    if (b->chunks[row] > 0 && (size_t)b->chunks[row] < x->where_n)
      x->where[b->chunks[row]] = (uint32_t)(block * BLOCK_ROWS + row);
}

bool cached_index_find(const struct cached_index *x, int64_t chunk_id, size_t *ret_block, size_t *ret_row) {
  if (chunk_id <= 0 || (size_t)chunk_id >= x->where_n)
    return false;
  *ret_block = x->where[chunk_id] / BLOCK_ROWS;
  *ret_row = x->where[chunk_id] % BLOCK_ROWS;
  return *ret_block < x->n && *ret_row < x->blocks[*ret_block].used &&
         x->blocks[*ret_block].chunks[*ret_row] == chunk_id;
}

static enum status add_block(struct cached_index *x, int64_t id, bool documents, struct error *err) {
  if (x->n == x->cap) {
    size_t cap = x->cap ? x->cap * 2 : 16;
    struct vec_block *p = mem_realloc(x->blocks, cap * sizeof(*p));
    if (!p)
      return no_memory(err);
    x->blocks = p;
    x->cap = cap;
  }
  x->blocks[x->n++] = (struct vec_block){.id = id, .version = -1, .documents = documents};
  return STATUS_OK;
}

/* Blocks are ordered by id. */
static enum status read_versions(struct store *st, const struct vec_model *m, struct cached_index *x,
                                 struct error *err) {
  enum status s = STATUS_OK;
  struct rows r;
  db_query(st->db, &r, err, "SELECT id, version, documents FROM vec_block WHERE team = ?1 AND model = ?2 ORDER BY id",
           "ss", m->team, m->model);
  size_t at = 0;
  while (s == STATUS_OK && rows_next(&r)) {
    int64_t id = rows_int(&r, 0), version = rows_int(&r, 1);
    if (at < x->n && x->blocks[at].id != id)
      drop_blocks(x, at);
    if (at == x->n)
      s = add_block(x, id, rows_int(&r, 2) != 0, err);
    if (s == STATUS_OK && x->blocks[at].version != version) {
      s = load_head(st, x, &x->blocks[at], err);
      record_places(x, at);
    }
    at++;
  }
  enum status end = rows_end(&r);
  if (s == STATUS_OK && end == STATUS_OK)
    drop_blocks(x, at);
  return s != STATUS_OK ? s : end;
}

/* The stamp is read first: changes made while the versions are read are seen by the next call. */
enum status cached_index_refresh(struct store *st, const struct vec_model *m, struct cached_index **ret_index,
                                 struct error *err) {
  struct cached_index *x = NULL;
  struct db_stamp now;
  enum status s = find_index(st, m, &x, err);
  if (s == STATUS_OK)
    s = db_stamp(st->db, &now, err);
  if (s != STATUS_OK)
    return s;
  if (!x->fresh || x->stamp.others != now.others || x->stamp.own != now.own) {
    x->fresh = false;
    s = check_epoch(st, err);
    if (s == STATUS_OK)
      s = centre_read(st, m->team, m->model, x->dims, x->centre, &x->centre_sound, err);
    if (s == STATUS_OK)
      s = read_versions(st, m, x, err);
    x->stamp = now;
    x->fresh = s == STATUS_OK;
    evict_over_budget(st->vectors, x);
  }
  *ret_index = x;
  return s;
}

/* ---- vectors ---- */

/* If memory runs out, vectors are read from the database each time. */
static void resize_rows(struct vec_cache *c, struct cached_index *x) {
  size_t want = BLOCK_ROWS, row = (size_t)x->dims + sizeof(int64_t);
  while (want < x->n * BLOCK_ROWS && want * 2 * row <= ROWS_BYTES)
    want *= 2;
  if (want == x->row_count)
    return;
  drop_rows(x);
  for (;;) {
    size_t others = 0;
    struct cached_index *old = NULL;
    for (size_t i = 0; i < INDEXES; i++)
      if (c->index[i] && c->index[i] != x && c->index[i]->rows) {
        others++;
        if (!old || c->index[i]->used_at < old->used_at)
          old = c->index[i];
      }
    if (others < ROWS_INDEXES || !old)
      break;
    drop_rows(old);
  }
  x->row_place = mem_zalloc(want * sizeof(*x->row_place));
  x->rows = x->row_place ? mem_alloc(want * (size_t)x->dims) : NULL;
  x->row_count = x->rows ? want : 0;
  if (!x->rows)
    drop_rows(x);
}

/* A committed place never changes. Inside a transaction it may be rolled back, so it is not cached then. */
enum status cached_index_row(struct store *st, struct cached_index *x, int64_t place, int64_t chunk_id, int8_t *scratch,
                             struct cached_row *ret, struct error *err) {
  resize_rows(st->vectors, x);
  assert((x->row_count & (x->row_count - 1)) == 0 && !x->rows == !x->row_count);
  size_t at = x->row_count ? (size_t)place & (x->row_count - 1) : 0;
  int8_t *kept = x->row_count ? x->rows + at * (size_t)x->dims : NULL;
  *ret = (struct cached_row){.vector = kept};
  if (kept && x->row_place[at] == place)
    return STATUS_OK;
  struct rows r;
  db_query(st->db, &r, err, "SELECT vector FROM vec_slot WHERE place = ?1", "i", place);
  const int8_t *v = NULL;
  if (rows_next(&r)) {
    v = vector_unpack(rows_text(&r, 0), chunk_id, x->dims);
    ret->damaged = !v;
  }
  bool keep = v && kept && !db_writing(st->db);
  int8_t *to = keep ? kept : scratch;
  if (v)
    memcpy(to, v, (size_t)x->dims);
  if (keep)
    x->row_place[at] = place;
  ret->vector = v ? to : NULL;
  enum status s = rows_end(&r);
  ret->damaged |= s == STATUS_CORRUPT;
  return s == STATUS_CORRUPT ? STATUS_OK : s;
}

enum status cached_index_read_ahead(struct store *st, struct cached_index *x, struct error *err) {
  if (x->searches++ == 0 || x->ahead >= x->n || x->row_count < x->n * BLOCK_ROWS || db_writing(st->db))
    return STATUS_OK;
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT place, chunk_id, vector FROM vec_slot WHERE place BETWEEN ?1 * 1024 AND ?1 * 1024 + 1023", "i",
           x->blocks[x->ahead++].id);
  while (rows_next(&r)) {
    const int8_t *v = vector_unpack(rows_text(&r, 2), rows_int(&r, 1), x->dims);
    size_t at = (size_t)rows_int(&r, 0) & (x->row_count - 1);
    if (!v)
      continue;
    memcpy(x->rows + at * (size_t)x->dims, v, (size_t)x->dims);
    x->row_place[at] = rows_int(&r, 0);
  }
  enum status s = rows_end(&r);
  return s == STATUS_CORRUPT ? STATUS_OK : s;
}
