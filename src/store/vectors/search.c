/* search.c: nearest-vector search in SQLite: scans all sign bits, ranks the nearest rows by agreement with the query,
 * computes exact cosines for the best of those, then applies the caller's filter.
 *
 * If the filter rejects most of the nearest rows, SQL lists the chunks that pass it and the scan is limited to those. A
 * small project in a large store is thus found. */
#include <assert.h>
#include <stdlib.h>

#include "store/engine.h"
#include "store/search/search_rows.h"
#include "store/vectors/internal.h"

/* Rows that each step passes on, for an index of n vectors; measured, see docs/performance.md. */
enum {
  NEAR_ROWS = 3072,   /* nearest rows by Hamming distance, ... */
  NEAR_SHARE = 128,   /* ... plus n / NEAR_SHARE */
  EXACT_ROWS = 600,   /* best rows by agreement with the query, which get exact cosines, ... */
  EXACT_SHARE = 4096, /* ... plus n / EXACT_SHARE */
  EXACT_CLOSE = 192,  /* used instead if there is a minimum cosine: close rows agree clearly better than the rest */
  WIDER = 8,          /* factor for the last round, if too many chunks pass the filter to list them */
  PROBE = 64,         /* after this many filter tests, ... */
  PROBE_SHARE = 16,   /* ... list the passing chunks if fewer than one in PROBE_SHARE passed */
  LISTED_MAX = 100000,
};

struct candidate {
  uint32_t block;
  uint16_t slot, distance;
  int32_t agreement; /* agreement with the query, by sign and magnitude of its components */
};
struct candidates {
  struct candidate *v;
  size_t n, cap;
  bool cut; /* more rows lie within the limit, farther away */
};

/* Set of chunk ids as a bitmap; a NULL set allows every chunk. */
struct allowed {
  uint64_t *bits;
  int64_t last; /* largest id in the bitmap */
};

static bool is_allowed(const struct allowed *set, int64_t chunk) {
  return !set || (chunk <= set->last && set->bits[chunk / 64] >> (chunk % 64) & 1);
}

/* ---- bit scan ---- */

static void scan_block(const struct cached_index *x, const struct vec_block *b, const uint64_t *query,
                       uint16_t *ret_distance) {
  assert(b->used <= BLOCK_ROWS && b->taken <= b->used);
  size_t rows = (b->used + VEC_GROUP - 1) / VEC_GROUP * VEC_GROUP;
  vec_scan_bits(b->bits, rows, VEC_WORDS(x->dims), query, ret_distance);
}

/* True if the filter rejects every chunk of the block. */
static bool is_excluded(const struct vec_filter *filter, const struct vec_block *b) {
  return b->documents ? filter->no_documents : filter->no_memories;
}

/* Drops rows farther away than the `wanted` nearest, and lowers the limit to the farthest row kept. */
static void narrow(struct candidates *list, size_t wanted, size_t *count, int *limit) {
  size_t sum = 0, kept = 0;
  memset(count, 0, ((size_t)*limit + 1) * sizeof(*count));
  for (size_t i = 0; i < list->n; i++) {
    assert(list->v[i].distance <= *limit);
    count[list->v[i].distance]++;
  }
  int d = 0;
  for (; d < *limit && sum + count[d] < wanted; d++)
    sum += count[d];
  for (size_t i = 0; i < list->n; i++)
    if (list->v[i].distance <= d)
      list->v[kept++] = list->v[i];
  list->cut |= kept < list->n;
  list->n = kept;
  *limit = d;
}

/* Stable counting sort; distances are small integers. */
static void sort_candidates(struct arena *a, struct candidates *list, size_t wanted, int limit) {
  size_t *start = arena_array(a, size_t, (size_t)limit + 2);
  struct candidate *out = arena_array(a, struct candidate, list->n + 1);
  for (size_t i = 0; i < list->n; i++) {
    assert(list->v[i].distance <= limit);
    start[list->v[i].distance + 1]++;
  }
  for (int d = 0; d < limit; d++)
    start[d + 1] += start[d];
  for (size_t i = 0; i < list->n; i++)
    out[start[list->v[i].distance]++] = list->v[i];
  list->cut |= list->n > wanted;
  list->n = list->n < wanted ? list->n : wanted;
  list->v = out;
}

/* Query as the scan needs it: its sign bits, the agreement table (vec.h), and the filter. */
struct probe {
  uint64_t bits[VEC_WORDS(VEC_MAX_DIMS)];
  int16_t *table;
  const struct vec_filter *filter;
};

/* Estimates, from a sample of the blocks, a distance within which slightly more than `wanted` rows lie. */
static int guess_limit(struct arena *a, const struct cached_index *x, const struct probe *query, int limit,
                       size_t wanted) {
  enum { SAMPLES = 16, SPARE = 64 };
  size_t *count = arena_array(a, size_t, (size_t)x->dims + 1), seen = 0, total = 0, sum = 0;
  uint16_t distance[BLOCK_ROWS];
  for (size_t i = 0; i < x->n; i++)
    total += is_excluded(query->filter, &x->blocks[i]) ? 0 : x->blocks[i].used;
  size_t blocks = 0, step = total / BLOCK_ROWS / SAMPLES + 1; /* sample every `step`th block */
  for (size_t i = 0; i < x->n; i++) {
    const struct vec_block *b = &x->blocks[i];
    if (is_excluded(query->filter, b) || blocks++ % step != 0)
      continue;
    scan_block(x, b, query->bits, distance);
    for (size_t k = 0; k < b->used; k++)
      count[distance[k]]++;
    seen += b->used;
  }
  if (total == 0 || wanted >= total)
    return limit;
  size_t enough = (size_t)((double)wanted * 1.2 * (double)seen / (double)total) + SPARE;
  for (int d = 0; d < limit; d++)
    if ((sum += count[d]) >= enough)
      return d;
  return limit;
}

/* Rows within `limit` by Hamming distance, nearest first, at most `wanted`. Agreement is computed here while the block
 * is still in the CPU cache. */
static struct candidates rank_within(struct arena *a, const struct cached_index *x, const struct probe *query,
                                     int limit, size_t wanted, const struct allowed *allowed) {
  struct candidates list = {0};
  uint16_t distance[BLOCK_ROWS], near[BLOCK_ROWS];
  size_t *count = arena_array(a, size_t, (size_t)limit + 1);
  for (size_t i = 0; i < x->n; i++) {
    const struct vec_block *b = &x->blocks[i];
    if (is_excluded(query->filter, b))
      continue;
    scan_block(x, b, query->bits, distance);
    size_t n = vec_near_rows(distance, b->used, limit, near);
    /* Ids are stored apart from the bits, so reading one is a cache miss. Skip it if every row counts. */
    bool all = !allowed && b->taken == b->used;
    for (size_t k = 0; k < n; k++) {
      int64_t chunk = all ? 0 : b->chunks[near[k]];
      if (all || (chunk != 0 && is_allowed(allowed, chunk)))
        list_push(a, &list,
                  (struct candidate){(uint32_t)i, near[k], distance[near[k]],
                                     vec_agreement(query->table, b->bits, near[k], VEC_WORDS(x->dims))});
    }
    if (list.n > 2 * wanted + BLOCK_ROWS)
      narrow(&list, wanted, count, &limit);
  }
  narrow(&list, wanted, count, &limit);
  sort_candidates(a, &list, wanted, limit);
  return list;
}

/* A good limit excludes most rows early. If the estimate was too low, scan again with the full limit. */
static struct candidates rank_rows(struct arena *a, const struct cached_index *x, const struct probe *query, int limit,
                                   size_t wanted, const struct allowed *allowed) {
  int guess = allowed ? limit : guess_limit(a, x, query, limit, wanted);
  struct candidates list = rank_within(a, x, query, guess, wanted, allowed);
  if (guess == limit || list.n >= wanted) {
    list.cut |= guess < limit;
    return list;
  }
  return rank_within(a, x, query, limit, wanted, allowed);
}

struct agreeing {
  int32_t agreement;
  uint32_t order; /* position in the candidate list */
};

static bool agrees_more(struct agreeing a, struct agreeing b) {
  return a.agreement != b.agreement ? a.agreement > b.agreement : a.order < b.order;
}

/* Moves the `wanted` best by agreement to the front, unordered (quickselect). `order` makes all elements distinct. */
static void select_agreeing(struct agreeing *v, size_t n, size_t wanted) {
  assert(wanted > 0 && wanted < n);
  size_t from = 0, to = n; /* the boundary lies between these */
  while (to - from > 1) {
    struct agreeing pivot = v[from + (to - from - 1) / 2]; /* never the last element: each round must split */
    size_t left = from, right = to - 1;
    for (;; left++, right--) {
      while (agrees_more(v[left], pivot))
        left++;
      while (agrees_more(pivot, v[right]))
        right--;
      if (left >= right)
        break;
      struct agreeing t = v[left];
      v[left] = v[right];
      v[right] = t;
    }
    if (wanted <= right)
      to = right + 1;
    else
      from = right + 1;
    if (wanted == from)
      return;
  }
}

/* Keeps the `wanted` best by agreement. */
static void keep_agreeing(struct arena *a, size_t wanted, struct candidates *list) {
  if (list->n <= wanted)
    return;
  struct agreeing *all = arena_alloc(a, list->n * sizeof(*all));
  struct candidate *kept = arena_alloc(a, wanted * sizeof(*kept));
  for (size_t i = 0; i < list->n; i++)
    all[i] = (struct agreeing){list->v[i].agreement, (uint32_t)i};
  select_agreeing(all, list->n, wanted);
  for (size_t i = 0; i < wanted; i++)
    kept[i] = list->v[all[i].order];
  list->v = kept;
  list->n = wanted;
  list->cut = true;
}

/* Estimates the cosine after subtracting the centre from both vectors, for a vector about as far from the centre as the
 * query. */
static double centred_cosine(const struct cached_index *x, const int8_t *query, double cosine) {
  double own = vec_dot(query, query, x->dims), centre = vec_dot(x->centre, x->centre, x->dims);
  double common = centre - 2.0 * vec_dot(query, x->centre, x->dims);
  return own + common > 0 ? (own * cosine + common) / (own + common) : -1;
}

/* Sign bits of two vectors at this cosine differ in about dims * angle / pi positions. Four standard deviations are
 * added: about one row in ten thousand that reaches the cosine is missed. */
static int distance_limit(const struct cached_index *x, const int8_t *query, double min_cosine) {
  int dims = x->dims;
  double cosine = min_cosine > -1 ? centred_cosine(x, query, min_cosine) : -1;
  if (cosine <= -1)
    return dims;
  double p = __builtin_acos(cosine > 1 ? 1 : cosine) / 3.14159265358979323846;
  double limit = dims * p + 4 * __builtin_sqrt(dims * p * (1 - p)) + 1;
  return limit > dims ? dims : (int)limit;
}

/* ---- exact cosines ---- */

struct search {
  struct store *st;
  struct cached_index *x;
  const struct vec_query *q;
  struct arena *a;
  struct vec_hits *hits;
  struct vec_health *health;
  struct error *err;
};

static bool nearer(const struct vec_hit *a, const struct vec_hit *b) {
  return a->cosine != b->cosine ? a->cosine > b->cosine : a->chunk_id < b->chunk_id;
}

/* Max-heap with the nearest hit at the root. Only a few of several hundred hits are needed, so a heap is cheaper than
 * sorting. */
static void sink(struct vec_hits *heap, size_t i) {
  for (size_t child; (child = 2 * i + 1) < heap->n; i = child) {
    if (child + 1 < heap->n && nearer(&heap->v[child + 1], &heap->v[child]))
      child++;
    if (!nearer(&heap->v[child], &heap->v[i]))
      return;
    struct vec_hit t = heap->v[i];
    heap->v[i] = heap->v[child];
    heap->v[child] = t;
  }
}

static struct vec_hit take_nearest(struct vec_hits *heap) {
  assert(heap->n > 0);
  struct vec_hit nearest = heap->v[0];
  heap->v[0] = heap->v[--heap->n];
  sink(heap, 0);
  return nearest;
}

/* Rows are scattered in memory: prefetch them this many rows ahead. */
enum { AHEAD = 6, CACHE_LINE = 64 };

static void prefetch_row(const struct cached_index *x, const struct candidate *row) {
  const struct vec_block *b = &x->blocks[row->block];
  __builtin_prefetch(&b->chunks[row->slot]);
  if (!x->row_count)
    return;
  size_t at = (size_t)(b->id * BLOCK_ROWS + row->slot) & (x->row_count - 1);
  __builtin_prefetch(&x->row_place[at]);
  for (int i = 0; i < x->dims; i += CACHE_LINE)
    __builtin_prefetch(x->rows + at * (size_t)x->dims + i);
}

/* Collects the candidates that reach min_cosine as a heap. Rows deleted since the head was read are skipped. */
static enum status rescore(struct search *s, const struct candidates *rows, struct vec_hits *ret) {
  int dims = s->x->dims;
  int8_t *scratch = arena_alloc(s->a, (size_t)dims);
  for (size_t i = 0; i < rows->n; i++) {
    const struct vec_block *b = &s->x->blocks[rows->v[i].block];
    int64_t chunk = b->chunks[rows->v[i].slot];
    if (i + AHEAD < rows->n)
      prefetch_row(s->x, &rows->v[i + AHEAD]);
    struct cached_row row;
    enum status status =
        cached_index_row(s->st, s->x, b->id * BLOCK_ROWS + rows->v[i].slot, chunk, scratch, &row, s->err);
    if (status != STATUS_OK)
      return status;
    s->health->vectors += row.damaged;
    double cosine = row.vector ? vec_cosine(s->q->vector, row.vector, dims) : -2;
    if (row.vector && cosine >= s->q->min_cosine)
      list_push(s->a, ret, (struct vec_hit){chunk, 0, cosine, NULL});
  }
  for (size_t i = ret->n / 2; i-- > 0;)
    sink(ret, i);
  return STATUS_OK;
}

/* Sets hit->memory_id; leaves it 0 if the filter rejects the chunk. */
static enum status accept(struct search *s, struct vec_hit *hit) {
  struct sql *one = &s->q->filter->one;
  assert(one->n > 0);
  struct rows r;
  one->v[one->n - 1].i = hit->chunk_id;
  db_query_sql(s->st->db, &r, s->err, one);
  if (rows_next(&r)) {
    hit->memory_id = rows_int(&r, 0);
    if (s->q->filter->features) {
      struct memory *m = arena_new(s->a, struct memory);
      m->id = hit->memory_id;
      features_read(&r, 1, s->a, m);
      hit->features = m;
    }
  }
  return rows_end(&r);
}

/* Takes the best hits that pass the filter, up to k. With `probing`, stops early if few pass. */
static enum status accept_best(struct search *s, struct vec_hits *best, bool probing) {
  s->hits->n = 0;
  for (size_t tested = 1; best->n && s->hits->n < s->q->k; tested++) {
    struct vec_hit hit = take_nearest(best);
    enum status status = accept(s, &hit);
    if (status != STATUS_OK)
      return status;
    if (hit.memory_id != 0)
      list_push(s->a, s->hits, hit);
    if (probing && tested >= PROBE && s->hits->n * PROBE_SHARE < tested)
      break;
  }
  return STATUS_OK;
}

/* Number of rows that get exact cosines. */
static size_t exact_rows(const struct search *s, size_t total) {
  size_t rows = s->q->min_cosine > -1 ? EXACT_CLOSE : EXACT_ROWS + total / EXACT_SHARE;
  return rows > 4 * s->q->k ? rows : 4 * s->q->k;
}

/* One search round. ret_done is set if no skipped row could belong to the result: k hits were found, or all rows were
 * considered, or more than half of those considered were not similar enough. */
static enum status search_round(struct search *s, const struct probe *query, size_t times,
                                const struct allowed *allowed, bool probing, bool *ret_done) {
  struct vec_hits best = {0};
  size_t total = 0;
  for (size_t i = 0; i < s->x->n; i++)
    total += is_excluded(s->q->filter, &s->x->blocks[i]) ? 0 : BLOCK_ROWS;
  size_t exact = exact_rows(s, total) * times;
  size_t near = (NEAR_ROWS + total / NEAR_SHARE) * times;
  s->health->vectors = 0;
  struct candidates rows = rank_rows(s->a, s->x, query, distance_limit(s->x, s->q->vector, s->q->min_cosine),
                                     near > exact ? near : exact, allowed);
  keep_agreeing(s->a, exact, &rows);
  enum status status = rescore(s, &rows, &best);
  bool more = rows.cut && best.n * 2 >= rows.n;
  if (status == STATUS_OK)
    status = accept_best(s, &best, probing && more);
  *ret_done = s->hits->n == s->q->k || !more;
  return status;
}

/* ---- filtered scan ---- */

static enum status list_allowed(struct search *s, struct allowed *ret, bool *ret_complete) {
  const struct cached_index *x = s->x;
  int64_t last = 0, n = 0;
  for (size_t i = 0; i < x->n; i++)
    for (size_t k = 0; k < x->blocks[i].used; k++)
      last = x->blocks[i].chunks[k] > last ? x->blocks[i].chunks[k] : last;
  *ret = (struct allowed){arena_array(s->a, uint64_t, (size_t)last / 64 + 1), last};
  struct sql *all = &s->q->filter->all;
  assert(all->n > 0);
  all->v[all->n - 1].i = LISTED_MAX + 1;
  struct rows r;
  db_query_sql(s->st->db, &r, s->err, all);
  for (; rows_next(&r); n++) {
    int64_t chunk = rows_int(&r, 0);
    if (chunk > 0 && chunk <= last)
      ret->bits[chunk / 64] |= UINT64_C(1) << (chunk % 64);
  }
  *ret_complete = n <= LISTED_MAX;
  return rows_end(&r);
}

static enum status search_index(struct search *s) {
  const struct vec_model *m = s->q->model;
  struct allowed allowed;
  struct probe query = {.bits = {0}, .filter = s->q->filter};
  bool done = s->q->k == 0, complete = false, listable = s->q->filter->all.n > 0;
  enum status status = cached_index_refresh(s->st, m, &s->x, s->err);
  if (status != STATUS_OK)
    return status;
  vec_bits(s->q->vector, s->x->centre, m->dims, query.bits);
  query.table = arena_alloc(s->a, VEC_TABLE(m->dims) * sizeof(*query.table));
  vec_agreement_table(s->q->vector, s->x->centre, m->dims, query.table);
  if (!done)
    status = search_round(s, &query, 1, NULL, listable, &done);
  if (status == STATUS_OK && !done && listable) {
    status = list_allowed(s, &allowed, &complete);
    if (status == STATUS_OK && complete)
      status = search_round(s, &query, 1, &allowed, false, &done);
  }
  if (status == STATUS_OK && !done && !complete)
    status = search_round(s, &query, WIDER, NULL, false, &done);
  for (size_t i = 0; i < s->x->n; i++)
    s->health->blocks += s->x->blocks[i].damaged || !s->x->centre_sound;
  return status;
}

/* An open query keeps a read transaction, so the whole search sees one snapshot and takes the locks once. */
enum status sqlite_vec_search(struct store *st, const struct vec_query *q, struct arena *a, struct vec_hits *ret_hits,
                              struct vec_health *ret_health, struct error *err) {
  struct vec_hits hits = {0};
  struct vec_health health = {0};
  struct search search = {st, NULL, q, a, &hits, &health, err};
  struct rows snapshot;
  db_query(st->db, &snapshot, err, "SELECT name FROM meta", NULL);
  rows_next(&snapshot);
  enum status s = search_index(&search);
  if (s == STATUS_OK)
    s = cached_index_read_ahead(st, search.x, err);
  enum status end = rows_end(&snapshot);
  if (s != STATUS_OK || end != STATUS_OK)
    return s != STATUS_OK ? s : end;
  *ret_hits = hits;
  if (ret_health)
    *ret_health = health;
  return STATUS_OK;
}
