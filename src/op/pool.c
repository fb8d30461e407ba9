/* pool.c: engines on one store, opened when needed, kept until the end. */
#include "op/pool.h"

#include "base/alloc.h"

/* Somebody who waits. Who gives an engine back hands it to the first of them: else whoever happens to be running would
 * take it again and again, and some would wait for very long. */
struct turn {
  struct turn *next;
  pthread_cond_t come;
  bool has_come;
  struct engine *engine; /* NULL: a place to open one */
};

struct pool {
  pthread_mutex_t lock;
  struct turn *first, *last;
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
  *ret_pool = p;
  return STATUS_OK;
}

static void line_up(struct pool *pool, struct turn *turn) {
  if (pool->first)
    pool->last->next = turn;
  else
    pool->first = turn;
  pool->last = turn;
}

/* With the lock, which waiting gives up. A turn leaves the line when it comes: none outlives its waiter. */
static struct engine *wait_for_turn(struct pool *pool) {
  struct turn turn = {.next = NULL};
  pthread_cond_init(&turn.come, NULL);
  line_up(pool, &turn);
  while (!turn.has_come)
    pthread_cond_wait(&turn.come, &pool->lock);
  pthread_cond_destroy(&turn.come);
  return turn.engine;
}

/* With the lock; false: nobody waits. */
static bool hand_over(struct pool *pool, struct engine *engine) {
  struct turn *turn = pool->first;
  if (!turn)
    return false;
  pool->first = turn->next;
  turn->engine = engine;
  turn->has_come = true;
  pthread_cond_signal(&turn->come);
  return true;
}

/* A place is reserved first, and the store opened without the lock: that may take a while. */
static enum status take(struct pool *pool, bool wait, struct engine **ret_engine, struct error *err) {
  struct engine *engine = NULL;
  pthread_mutex_lock(&pool->lock);
  bool busy = pool->idle == 0 && pool->opened == pool->size;
  if (busy && !wait) {
    pthread_mutex_unlock(&pool->lock);
    return error_set(err, STATUS_BUSY, "all handles on the store are at work");
  }
  if (busy)
    engine = wait_for_turn(pool);
  else if (pool->idle)
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
  if (!hand_over(pool, NULL))
    pool->opened--;
  pthread_mutex_unlock(&pool->lock);
  return s;
}

enum status pool_take(struct pool *pool, struct engine **ret_engine, struct error *err) {
  return take(pool, true, ret_engine, err);
}

enum status pool_try(struct pool *pool, struct engine **ret_engine, struct error *err) {
  return take(pool, false, ret_engine, err);
}

void pool_count(struct pool *pool, size_t *ret_opened, size_t *ret_busy) {
  pthread_mutex_lock(&pool->lock);
  *ret_opened = pool->opened;
  *ret_busy = pool->opened - pool->idle;
  pthread_mutex_unlock(&pool->lock);
}

void pool_give(struct pool *pool, struct engine *engine) {
  pthread_mutex_lock(&pool->lock);
  if (!hand_over(pool, engine))
    pool->free[pool->idle++] = engine;
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
  mem_free(p->free);
  mem_free(p);
  *pool = NULL;
}
