/* pool.c: pool of engines on one store. */
#include "op/run/pool.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "op/access/roles.h"
#include "op/run/fair.h"
#include "op/run/paths.h"
#include "store/store.h"

/* After CHECK_US of idleness the server or a firewall may have closed the connection. After a failed attempt to
 * connect, other callers get the same error for FAILURE_US. */
enum { CHECK_US = 5 * 1000 * 1000, FAILURE_US = 1000 * 1000 };

/* A thread that waits for an engine. pool_release() passes the engine to the first in the queue that may have one
 * (fair.h); otherwise a running thread could take it back again and again and starve the others. */
struct waiter {
  struct waiter *next;
  struct fair_id who;
  pthread_cond_t served_cond;
  bool is_served;
  struct engine *engine; /* NULL: permission to open one */
};

struct idle_engine {
  struct engine *engine;
  int64_t since; /* ticks */
};

struct pool {
  pthread_mutex_t lock;
  struct waiter *first, *last;
  struct engine_options options;
  _Atomic uint64_t writes; /* writing calls of all engines, so each notices the others' */
  bool remote;             /* the store is on a server */
  struct db_file file;     /* file of the first engine; the others must open the same */
  struct fair_places places;
  size_t size, opened, idle, cores; /* size: of all places */
  struct idle_engine *free;         /* `idle` entries, most recently used last */
  struct fair fair;
  struct fair_id *used; /* opened - idle entries */
  int64_t failed_at;    /* ticks; 0: the last attempt to connect succeeded */
  struct error failure; /* valid if failed_at is set */
  char path[];
};

enum status pool_new(const struct engine_options *options, struct fair_places places, struct pool **ret_pool,
                     struct error *err) {
  assert(places.shared > 0);
  size_t n = strlen(options->path) + 1, size = places.shared + places.reserved;
  struct pool *p = mem_zalloc(sizeof(*p) + n);
  struct idle_engine *free = mem_zalloc(size * sizeof(*free));
  struct fair_id *used = mem_zalloc(size * sizeof(*used));
  if (!p || !free || !used) {
    mem_free(p);
    mem_free(free);
    mem_free(used);
    return error_set(err, STATUS_NOMEM, "out of memory");
  }
  memcpy(p->path, options->path, n);
  p->options = *options;
  p->options.path = p->path;
  p->options.writes = &p->writes;
  p->options.refusals = refusal_limit_new();
  p->remote = db_is_url(p->path);
  p->places = places;
  p->size = size;
  p->free = free;
  p->used = used;
  p->cores = thread_cores();
  pthread_mutex_init(&p->lock, NULL);
  *ret_pool = p;
  return STATUS_OK;
}

/* ---- the places; called with the lock ---- */

static size_t used_count(const struct pool *pool) { return pool->opened - pool->idle; }

static bool may_take(const struct pool *pool, struct fair_id who) {
  return fair_may_take(&pool->fair, who, pool->used, used_count(pool), pool->places, clock_ticks_us());
}

/* Records the user of the engine that was just taken. */
static void note_taken(struct pool *pool, struct fair_id who) {
  assert(used_count(pool) > 0 && used_count(pool) <= pool->size);
  pool->used[used_count(pool) - 1] = who;
}

/* Before the engine is given back. */
static void note_returned(struct pool *pool, struct fair_id who) {
  size_t n = used_count(pool), i = 0;
  while (i < n && (pool->used[i].caller != who.caller || pool->used[i].team != who.team))
    i++;
  assert(i < n);
  pool->used[i] = pool->used[n - 1];
}

/* Called with the lock, which it releases while it waits. serve_waiter() takes the waiter out of the queue before it
 * goes out of scope. */
static struct engine *wait_for_engine(struct pool *pool, struct fair_id who) {
  struct waiter waiter = {.who = who}, *w = &waiter;
  cond_init(&w->served_cond);
  if (pool->first)
    pool->last->next = w;
  else
    pool->first = w;
  pool->last = w;
  while (!w->is_served)
    pthread_cond_wait(&w->served_cond, &pool->lock);
  pthread_cond_destroy(&w->served_cond);
  assert(pool->first != w);
  return w->engine;
}

/* Called with the lock, after note_returned() for this engine; false if no waiting thread may have it. */
static bool serve_waiter(struct pool *pool, struct engine *engine) {
  struct waiter *w = pool->first, *before = NULL;
  size_t n = used_count(pool) - 1;
  int64_t now = clock_ticks_us();
  while (w && !fair_may_take(&pool->fair, w->who, pool->used, n, pool->places, now)) {
    before = w;
    w = w->next;
  }
  if (!w)
    return false;
  *(before ? &before->next : &pool->first) = w->next;
  if (pool->last == w)
    pool->last = before;
  pool->used[n] = w->who;
  w->engine = engine;
  w->is_served = true;
  pthread_cond_signal(&w->served_cond);
  return true;
}

/* ---- a store on a server ---- */

/* Called with the lock. */
static bool failed_lately(const struct pool *pool) {
  return pool->failed_at && clock_ticks_us() - pool->failed_at < FAILURE_US;
}

enum status pool_recent_failure(struct pool *pool, struct error *err) {
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

/* The driver reconnects if the connection is gone; fails if it cannot. */
static enum status check_connection(struct engine *engine, struct error *err) {
  int64_t one;
  pthread_mutex_lock(&engine->lock);
  enum status s = db_int(store_db(engine->store), &one, NULL, err, "SELECT 1", NULL);
  pthread_mutex_unlock(&engine->lock);
  return s;
}

/* Removes an engine that was idle for too long from the pool, or NULL; called with the lock. The first one is the
 * longest idle. */
static struct engine *remove_overdue(struct pool *pool, int64_t now) {
  if (!pool->remote || !pool->idle || now - pool->free[0].since < (int64_t)POOL_IDLE_S * 1000000)
    return NULL;
  assert(pool->idle <= pool->opened && pool->opened <= pool->size);
  struct engine *engine = pool->free[0].engine;
  pool->idle--;
  memmove(pool->free, pool->free + 1, pool->idle * sizeof(*pool->free));
  pool->opened--;
  return engine;
}

void pool_trim(struct pool *pool) {
  for (;;) {
    pthread_mutex_lock(&pool->lock);
    struct engine *engine = remove_overdue(pool, clock_ticks_us());
    pthread_mutex_unlock(&pool->lock);
    if (!engine)
      return;
    engine_close(&engine);
  }
}

/* ---- acquire and release ---- */

/* A call may use a second core, unless other calls need the cores; called with the lock. */
static bool are_cores_busy(const struct pool *pool) { return 2 * (pool->opened - pool->idle) > pool->cores; }

/* An idle engine, permission to open one (engine is NULL), or STATUS_BUSY. */
static enum status reserve(struct pool *pool, struct fair_id who, bool wait, struct idle_engine *ret_idle,
                           bool *ret_cores_busy, struct error *err) {
  *ret_idle = (struct idle_engine){0};
  pthread_mutex_lock(&pool->lock);
  fair_note(&pool->fair, who, clock_ticks_us());
  bool busy = (pool->idle == 0 && pool->opened == pool->size) || !may_take(pool, who);
  if (busy && wait)
    *ret_idle = (struct idle_engine){wait_for_engine(pool, who), clock_ticks_us()};
  else if (!busy && pool->idle)
    *ret_idle = pool->free[--pool->idle];
  else if (!busy)
    pool->opened++;
  if (!busy)
    note_taken(pool, who);
  assert(pool->idle <= pool->opened && pool->opened <= pool->size);
  *ret_cores_busy = are_cores_busy(pool);
  pthread_mutex_unlock(&pool->lock);
  return busy && !wait ? error_set(err, STATUS_BUSY, "all handles on the store are in use") : STATUS_OK;
}

static void note_file(struct pool *pool) {
  pthread_mutex_lock(&pool->lock);
  if (!pool->file.ino)
    pool->file = db_file_at(pool->path);
  pthread_mutex_unlock(&pool->lock);
}

/* Called without the lock: opening may take a while. */
static enum status open_one(struct pool *pool, struct engine **ret_engine, struct error *err) {
  if (pool->remote)
    TRY(pool_recent_failure(pool, err));
  pthread_mutex_lock(&pool->lock);
  struct db_file file = pool->file;
  pthread_mutex_unlock(&pool->lock);
  TRY(db_check_file(pool->path, file, err));
  enum status s = engine_open(&pool->options, ret_engine, err);
  if (pool->remote)
    note_outcome(pool, s, err);
  else if (s == STATUS_OK && !file.ino)
    note_file(pool);
  return s;
}

/* Replaces an idle engine whose connection is gone. */
static enum status check_or_open(struct pool *pool, const struct idle_engine *idle, struct engine **ret_engine,
                                 struct error *err) {
  struct engine *engine = idle->engine;
  if (engine && pool->remote && clock_ticks_us() - idle->since >= CHECK_US &&
      check_connection(engine, err) != STATUS_OK)
    engine_close(&engine);
  if (!engine)
    TRY(open_one(pool, &engine, err));
  *ret_engine = engine;
  return STATUS_OK;
}

static enum status take(struct pool *pool, struct fair_id who, bool wait, struct engine **ret_engine,
                        struct error *err) {
  struct idle_engine idle;
  bool cores_are_busy = false;
  TRY(reserve(pool, who, wait, &idle, &cores_are_busy, err));
  enum status s = check_or_open(pool, &idle, ret_engine, err);
  if (s == STATUS_OK) {
    (*ret_engine)->cores_busy = cores_are_busy;
    (*ret_engine)->used_by = who;
  } else {
    pthread_mutex_lock(&pool->lock);
    assert(pool->opened > pool->idle);
    note_returned(pool, who);
    if (!serve_waiter(pool, NULL))
      pool->opened--;
    pthread_mutex_unlock(&pool->lock);
  }
  pool_trim(pool);
  return s;
}

enum status pool_acquire(struct pool *pool, struct engine **ret_engine, struct error *err) {
  return take(pool, (struct fair_id){0}, true, ret_engine, err);
}

enum status pool_acquire_for(struct pool *pool, const struct caller *caller, struct engine **ret_engine,
                             struct error *err) {
  enum status s = take(pool, fair_id_of(caller), true, ret_engine, err);
  if (s != STATUS_OK && caller->principal)
    paths_shorten(pool->path, NULL, err);
  return s;
}

enum status pool_try_acquire(struct pool *pool, struct engine **ret_engine, struct error *err) {
  return take(pool, (struct fair_id){0}, false, ret_engine, err);
}

void pool_count(struct pool *pool, size_t *ret_opened, size_t *ret_busy) {
  pthread_mutex_lock(&pool->lock);
  *ret_opened = pool->opened;
  *ret_busy = pool->opened - pool->idle;
  pthread_mutex_unlock(&pool->lock);
}

/* Idle engines that were kept for others, if those have been quiet for a while; called with the lock. */
static void serve_with_idle(struct pool *pool) {
  while (pool->first && pool->idle) {
    struct engine *engine = pool->free[--pool->idle].engine;
    if (serve_waiter(pool, engine))
      continue;
    pool->idle++;
    return;
  }
}

void pool_release(struct pool *pool, struct engine *engine) {
  assert(engine);
  pthread_mutex_lock(&pool->lock);
  note_returned(pool, engine->used_by);
  if (!serve_waiter(pool, engine)) {
    assert(pool->idle < pool->opened);
    pool->free[pool->idle++] = (struct idle_engine){engine, clock_ticks_us()};
  }
  serve_with_idle(pool);
  pthread_mutex_unlock(&pool->lock);
}

void pool_note(struct pool *pool, const struct caller *caller, struct str op, int64_t began_us, const struct error *err,
               bool stored) {
  struct engine none = {.telemetry = pool->options.telemetry, .lock = PTHREAD_MUTEX_INITIALIZER}, *engine = NULL;
  struct error ignored;
  size_t opened, busy;
  pool_count(pool, &opened, &busy);
  if (!stored || !opened || pool_acquire(pool, &engine, &ignored) != STATUS_OK)
    engine = NULL;
  op_note(engine ? engine : &none, caller, op, began_us, err);
  if (engine)
    pool_release(pool, engine);
}

void pool_note_refusal(struct pool *pool, const struct caller *caller, struct str who, struct str op, int64_t began_us,
                       const struct error *err) {
  struct engine none = {.telemetry = pool->options.telemetry, .lock = PTHREAD_MUTEX_INITIALIZER};
  struct error refused = *err;
  refused.unrecorded = !refusal_limit_take(pool->options.refusals, caller->team, who);
  op_note(&none, caller, op, began_us, &refused);
}

const char *pool_path(const struct pool *pool) { return pool->path; }

const char *pool_agent(const struct pool *pool) { return pool->options.agent; }

size_t pool_size(const struct pool *pool) { return pool->size; }

void pool_close(struct pool **pool) {
  struct pool *p = *pool;
  if (!p)
    return;
  assert(!p->first && p->idle == p->opened);
  for (size_t i = 0; i < p->idle; i++)
    engine_close(&p->free[i].engine);
  pthread_mutex_destroy(&p->lock);
  mem_free(p->free);
  mem_free(p->used);
  refusal_limit_free(&p->options.refusals);
  mem_free(p);
  *pool = NULL;
}
