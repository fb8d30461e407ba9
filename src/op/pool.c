/* pool.c: engines on one store, opened when needed, kept until the end. */
#include "op/pool.h"

#include "base/alloc.h"

struct pool {
  pthread_mutex_t lock;
  pthread_cond_t given;
  struct engine_options options;
  size_t size, opened, idle;
  struct engine **free; /* `idle` of them, the one used last at the end */
  char path[];
};

enum status pool_new(const struct engine_options *options, size_t size, struct pool **ret_pool, struct error *err) {
  size_t n = strlen(options->path) + 1;
  struct pool *p = mem_zalloc(sizeof(*p) + n);
  struct engine **free = mem_zalloc((size ? size : 1) * sizeof(*free));
  if (!p || !free) {
    mem_free(p);
    mem_free(free);
    return error_set(err, STATUS_NOMEM, "out of memory");
  }
  memcpy(p->path, options->path, n);
  p->options = *options;
  p->options.path = p->path;
  p->size = size ? size : 1;
  p->free = free;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->given, NULL);
  *ret_pool = p;
  return STATUS_OK;
}

/* A place is reserved first, and the store opened without the lock: that may take a while. */
enum status pool_take(struct pool *pool, struct engine **ret_engine, struct error *err) {
  struct engine *engine = NULL;
  pthread_mutex_lock(&pool->lock);
  while (pool->idle == 0 && pool->opened == pool->size)
    pthread_cond_wait(&pool->given, &pool->lock);
  if (pool->idle)
    engine = pool->free[--pool->idle];
  else
    pool->opened++;
  pthread_mutex_unlock(&pool->lock);
  enum status s = engine ? STATUS_OK : engine_open(&pool->options, &engine, err);
  if (s == STATUS_OK) {
    *ret_engine = engine;
    return s;
  }
  pthread_mutex_lock(&pool->lock);
  pool->opened--;
  pthread_cond_signal(&pool->given);
  pthread_mutex_unlock(&pool->lock);
  return s;
}

void pool_give(struct pool *pool, struct engine *engine) {
  pthread_mutex_lock(&pool->lock);
  pool->free[pool->idle++] = engine;
  pthread_cond_signal(&pool->given);
  pthread_mutex_unlock(&pool->lock);
}

const char *pool_path(const struct pool *pool) { return pool->path; }

size_t pool_size(const struct pool *pool) { return pool->size; }

void pool_close(struct pool **pool) {
  struct pool *p = *pool;
  if (!p)
    return;
  for (size_t i = 0; i < p->idle; i++)
    engine_close(&p->free[i]);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->given);
  mem_free(p->free);
  mem_free(p);
  *pool = NULL;
}
