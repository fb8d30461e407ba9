/* pool.c: engines on one store, opened when needed, and kept: on a file until the end, on a server while they are used.
 */
#include "op/run/pool.h"

#include "base/alloc.h"
#include "base/os/thread.h"
#include "store/store.h"

/* After a rest of CHECK_US a connection may have been cut by the server or by something on the way to it; whoever has
 * just used it knows that it works. A failure to reach the server answers others for FAILURE_US. */
enum { CHECK_US = 5 * 1000 * 1000, FAILURE_US = 1000 * 1000 };

/* Somebody who waits. Who gives an engine back hands it to the first of them: else whoever happens to be running would
 * take it again and again, and some would wait for very long. */
struct turn {
  struct turn *next;
  pthread_cond_t come;
  bool has_come;
  struct engine *engine; /* NULL: a place to open one */
};

struct resting {
  struct engine *engine;
  int64_t since; /* ticks */
};

struct pool {
  pthread_mutex_t lock;
  struct turn *first, *last;
  struct engine_options options;
  _Atomic uint64_t writes; /* of all engines: what one has written, the others look up */
  bool remote;             /* the store is on a server */
  size_t size, opened, idle, cores;
  struct resting *free; /* `idle` of them, the one used last at the end */
  int64_t failed_at;    /* ticks, 0: the store was reached the last time */
  struct error failure; /* when failed_at is set */
  char path[];
};

enum status pool_new(const struct engine_options *options, size_t size, struct pool **ret_pool, struct error *err) {
  size_t n = strlen(options->path) + 1;
  struct pool *p = mem_zalloc(sizeof(*p) + n);
  struct resting *free = mem_zalloc((size ? size : 1) * sizeof(*free));
  if (!p || !free) {
    mem_free(p);
    mem_free(free);
    return error_set(err, STATUS_NOMEM, "out of memory");
  }
  memcpy(p->path, options->path, n);
  p->options = *options;
  p->options.path = p->path;
  p->options.writes = &p->writes;
  p->remote = db_is_url(p->path);
  p->size = size ? size : 1;
  p->free = free;
  p->cores = thread_cores();
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
  cond_init(&turn.come);
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

/* ---- a store on a server ---- */

/* With the lock. */
static bool failed_lately(const struct pool *pool) {
  return pool->failed_at && clock_ticks_us() - pool->failed_at < FAILURE_US;
}

enum status pool_failing(struct pool *pool, struct error *err) {
  pthread_mutex_lock(&pool->lock);
  bool failing = failed_lately(pool);
  if (failing)
    *err = pool->failure;
  pthread_mutex_unlock(&pool->lock);
  return failing ? err->code : STATUS_OK;
}

static void note_outcome(struct pool *pool, enum status s, const struct error *err) {
  pthread_mutex_lock(&pool->lock);
  pool->failed_at = s == STATUS_OK ? 0 : clock_ticks_us();
  if (s != STATUS_OK)
    pool->failure = *err;
  pthread_mutex_unlock(&pool->lock);
}

/* The driver connects anew when the connection has gone; whatever it says then is so. */
static enum status check(struct engine *engine, struct error *err) {
  int64_t one;
  pthread_mutex_lock(&engine->lock);
  enum status s = db_int(store_db(engine->store), &one, NULL, err, "SELECT 1", NULL);
  pthread_mutex_unlock(&engine->lock);
  return s;
}

/* Takes one that has rested for too long out of the pool; with the lock. The one at the beginning rests longest. */
static struct engine *overdue(struct pool *pool, int64_t now) {
  if (!pool->remote || !pool->idle || now - pool->free[0].since < (int64_t)POOL_IDLE_S * 1000000)
    return NULL;
  struct engine *engine = pool->free[0].engine;
  pool->idle--;
  memmove(pool->free, pool->free + 1, pool->idle * sizeof(*pool->free));
  pool->opened--;
  return engine;
}

void pool_trim(struct pool *pool) {
  for (;;) {
    pthread_mutex_lock(&pool->lock);
    struct engine *engine = overdue(pool, clock_ticks_us());
    pthread_mutex_unlock(&pool->lock);
    if (!engine)
      return;
    engine_close(&engine);
  }
}

/* ---- taking and giving ---- */

/* With the lock. A call may keep a second core busy for its caller's sake; not where that one has a caller, too. */
static bool is_crowded(const struct pool *pool) { return 2 * (pool->opened - pool->idle) > pool->cores; }

/* One that rested, a place to open one (NULL), or STATUS_BUSY. */
static enum status reserve(struct pool *pool, bool wait, struct resting *ret_resting, bool *ret_crowded,
                           struct error *err) {
  *ret_resting = (struct resting){0};
  pthread_mutex_lock(&pool->lock);
  bool busy = pool->idle == 0 && pool->opened == pool->size;
  if (busy && wait)
    *ret_resting = (struct resting){wait_for_turn(pool), clock_ticks_us()};
  else if (!busy && pool->idle)
    *ret_resting = pool->free[--pool->idle];
  else if (!busy)
    pool->opened++;
  *ret_crowded = is_crowded(pool);
  pthread_mutex_unlock(&pool->lock);
  return busy && !wait ? error_set(err, STATUS_BUSY, "all handles on the store are at work") : STATUS_OK;
}

/* The store is opened without the lock: that may take a while. */
static enum status open_one(struct pool *pool, struct engine **ret_engine, struct error *err) {
  if (pool->remote)
    TRY(pool_failing(pool, err));
  enum status s = engine_open(&pool->options, ret_engine, err);
  if (pool->remote)
    note_outcome(pool, s, err);
  return s;
}

/* One that rested for a while and does not work any more is closed, and another one opened in its place. */
static enum status look_at(struct pool *pool, const struct resting *r, struct engine **ret_engine, struct error *err) {
  struct engine *engine = r->engine;
  if (engine && pool->remote && clock_ticks_us() - r->since >= CHECK_US && check(engine, err) != STATUS_OK)
    engine_close(&engine);
  if (!engine)
    TRY(open_one(pool, &engine, err));
  *ret_engine = engine;
  return STATUS_OK;
}

static enum status take(struct pool *pool, bool wait, struct engine **ret_engine, struct error *err) {
  struct resting r;
  bool crowded = false;
  TRY(reserve(pool, wait, &r, &crowded, err));
  enum status s = look_at(pool, &r, ret_engine, err);
  if (s == STATUS_OK) {
    (*ret_engine)->crowded = crowded;
  } else {
    pthread_mutex_lock(&pool->lock);
    if (!hand_over(pool, NULL))
      pool->opened--;
    pthread_mutex_unlock(&pool->lock);
  }
  pool_trim(pool);
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
    pool->free[pool->idle++] = (struct resting){engine, clock_ticks_us()};
  pthread_mutex_unlock(&pool->lock);
}

const char *pool_path(const struct pool *pool) { return pool->path; }

const char *pool_agent(const struct pool *pool) { return pool->options.agent; }

size_t pool_size(const struct pool *pool) { return pool->size; }

void pool_close(struct pool **pool) {
  struct pool *p = *pool;
  if (!p)
    return;
  for (size_t i = 0; i < p->idle; i++)
    engine_close(&p->free[i].engine);
  pthread_mutex_destroy(&p->lock);
  mem_free(p->free);
  mem_free(p);
  *pool = NULL;
}
