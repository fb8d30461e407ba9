/* housekeeping.c: thread that works after a period without calls. */
#include "mcp/protocol/housekeeping.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "op/admin/upkeep.h"

/* Time without calls before work starts; pause between two batches of embeddings. */
enum { QUIET_MS = 1500, BETWEEN_MS = 300 };

struct housekeeping {
  struct pool *pool;
  struct caller caller;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool started, stop, maintained;
  int64_t calls;   /* completed */
  atomic_int busy; /* running calls */
  atomic_bool ends;
};

static bool is_interrupted(void *arg) {
  struct housekeeping *keeper = arg;
  return atomic_load(&keeper->busy) > 0 || atomic_load(&keeper->ends);
}

/* Waits, with the lock held, until a call has ended and QUIET_MS passed without another. */
static void wait_for_quiet(struct housekeeping *keeper, int64_t seen) {
  assert(mutex_is_locked(&keeper->lock) && seen <= keeper->calls);
  while (!keeper->stop && keeper->calls == seen)
    pthread_cond_wait(&keeper->changed, &keeper->lock);
  int64_t before;
  do {
    before = keeper->calls;
    cond_wait_ms(&keeper->changed, &keeper->lock, QUIET_MS);
  } while (!keeper->stop && (keeper->calls != before || atomic_load(&keeper->busy) > 0));
}

static void *run(void *arg) {
  struct housekeeping *keeper = arg;
  struct op_hooks hooks = {.arg = keeper, .cancelled = is_interrupted};
  int64_t seen = 0;
  pthread_mutex_lock(&keeper->lock);
  while (!keeper->stop) {
    wait_for_quiet(keeper, seen);
    seen = keeper->calls;
    bool maintain = !keeper->maintained, more = !keeper->stop;
    keeper->maintained = true;
    while (more && !keeper->stop && keeper->calls == seen && atomic_load(&keeper->busy) == 0) {
      pthread_mutex_unlock(&keeper->lock);
      if (maintain)
        upkeep_maintain(keeper->pool, &keeper->caller, &hooks);
      maintain = false;
      more = upkeep_embed(keeper->pool, &keeper->caller, &hooks);
      pthread_mutex_lock(&keeper->lock);
      if (more && !keeper->stop)
        cond_wait_ms(&keeper->changed, &keeper->lock, BETWEEN_MS);
    }
  }
  pthread_mutex_unlock(&keeper->lock);
  return NULL;
}

struct housekeeping *housekeeping_new(struct pool *pool, const struct caller *caller) {
  struct housekeeping *keeper = mem_zalloc(sizeof(*keeper));
  if (!keeper)
    return NULL;
  keeper->pool = pool;
  keeper->caller = *caller;
  keeper->caller.source = str_empty(caller->source) ? STR("mcp") : caller->source;
  keeper->caller.session = STR_NONE;
  pthread_mutex_init(&keeper->lock, NULL);
  cond_init(&keeper->changed);
  return keeper;
}

void housekeeping_call_begin(struct housekeeping *keeper) {
  if (keeper)
    atomic_fetch_add(&keeper->busy, 1);
}

/* Starts the thread after the first call. */
void housekeeping_call_end(struct housekeeping *keeper) {
  if (!keeper)
    return;
  int before = atomic_fetch_sub(&keeper->busy, 1);
  assert(before > 0);
  (void)before;
  pthread_mutex_lock(&keeper->lock);
  keeper->calls++;
  if (!keeper->started)
    keeper->started = pthread_create(&keeper->thread, NULL, run, keeper) == 0;
  pthread_cond_signal(&keeper->changed);
  pthread_mutex_unlock(&keeper->lock);
}

void housekeeping_stop(struct housekeeping **keeper) {
  struct housekeeping *i = *keeper;
  if (!i)
    return;
  assert(atomic_load(&i->busy) == 0);
  atomic_store(&i->ends, true);
  pthread_mutex_lock(&i->lock);
  i->stop = true;
  pthread_cond_signal(&i->changed);
  pthread_mutex_unlock(&i->lock);
  if (i->started)
    pthread_join(i->thread, NULL);
  pthread_mutex_destroy(&i->lock);
  pthread_cond_destroy(&i->changed);
  mem_free(i);
  *keeper = NULL;
}
