/* secret_pool.c: list of free pieces, cut from a few large slabs. */
#include "base/secret_pool.h"

#include <assert.h>
#include <pthread.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

/* At most half a megabyte of the eight that a process may usually lock. */
enum { SLAB_PIECES = 16, SLABS = 2 };

struct piece {
  struct piece *next;
};

struct secret_pool {
  pthread_mutex_t lock;
  struct piece *first; /* free pieces */
  void *slabs[SLABS];
  size_t count;
};

struct secret_pool *secret_pool_new(void) {
  struct secret_pool *pool = mem_zalloc(sizeof(*pool));
  if (pool)
    pthread_mutex_init(&pool->lock, NULL);
  return pool;
}

UNUSED static size_t free_count(const struct secret_pool *pool) {
  size_t n = 0;
  for (const struct piece *p = pool->first; p; p = p->next)
    n++;
  return n;
}

UNUSED static bool owns(const struct secret_pool *pool, const void *piece) {
  for (size_t i = 0; i < pool->count; i++) {
    size_t offset = (uintptr_t)piece - (uintptr_t)pool->slabs[i];
    if (offset < (size_t)SLAB_PIECES * SECRET_PIECE)
      return offset % SECRET_PIECE == 0;
  }
  return false;
}

void secret_pool_free(struct secret_pool **pool) {
  struct secret_pool *p = *pool;
  if (!p)
    return;
  assert(free_count(p) == p->count * SLAB_PIECES);
  for (size_t i = 0; i < p->count; i++)
    mem_secret_free(p->slabs[i]);
  pthread_mutex_destroy(&p->lock);
  mem_free(p);
  *pool = NULL;
}

static void push(struct secret_pool *pool, void *place) {
  struct piece *piece = place;
  piece->next = pool->first;
  pool->first = piece;
}

static void add_slab(struct secret_pool *pool) {
  char *slab = pool->count < SLABS ? mem_secret((size_t)SLAB_PIECES * SECRET_PIECE) : NULL;
  if (!slab)
    return;
  pool->slabs[pool->count++] = slab;
  for (size_t i = SLAB_PIECES; i-- > 0;)
    push(pool, slab + i * SECRET_PIECE);
}

void *secret_pool_take(struct secret_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  if (!pool->first)
    add_slab(pool);
  struct piece *piece = pool->first;
  if (piece)
    pool->first = piece->next;
  pthread_mutex_unlock(&pool->lock);
  return piece;
}

void secret_pool_give(struct secret_pool *pool, void *piece, size_t used) {
  assert(used <= SECRET_PIECE);
  sodium_memzero(piece, used < sizeof(struct piece) ? sizeof(struct piece) : used);
  pthread_mutex_lock(&pool->lock);
  assert(owns(pool, piece));
  push(pool, piece);
  pthread_mutex_unlock(&pool->lock);
}
