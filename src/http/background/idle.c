/* idle.c: the thread that keeps the store in order behind a server. */
#include "http/background/idle.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "http/internal.h"
#include "op/admin/upkeep.h"

enum {
  QUIET_US = 2 * 1000 * 1000,  /* so long nobody has asked: now is the time */
  LOOK_MS = 1000,              /* how often it is looked at, and how often a portion is embedded */
  REST_US = 60 * 1000 * 1000,  /* between looks for texts without vectors, when there were none */
  FIRST_US = 10 * 1000 * 1000, /* after the start */
};
#define HOUR_US (INT64_C(3600) * 1000 * 1000)

struct idle {
  struct http_daemon *daemon;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool quit;
  _Atomic bool cancelled;
};

static bool is_cancelled(void *arg) { return atomic_load(&((struct idle *)arg)->cancelled); }

static bool is_quiet(struct http_daemon *d, int64_t now) {
  pthread_mutex_lock(&d->work_lock);
  bool quiet = d->busy == 0 && !d->first && now - d->worked >= QUIET_US;
  pthread_mutex_unlock(&d->work_lock);
  return quiet;
}

/* False when it is time to end. */
static bool sleep_a_while(struct idle *i) {
  pthread_mutex_lock(&i->lock);
  if (!i->quit)
    cond_wait_ms(&i->wake, &i->lock, LOOK_MS);
  bool go_on = !i->quit;
  pthread_mutex_unlock(&i->lock);
  return go_on;
}

static void *idle_loop(void *arg) {
  struct idle *i = arg;
  const struct http_server *shared = &i->daemon->shared;
  struct op_hooks hooks = {.arg = i, .cancelled = is_cancelled};
  int64_t maintain_at = clock_ticks_us() + FIRST_US, embed_at = maintain_at;
  while (sleep_a_while(i)) {
    int64_t now = clock_ticks_us();
    pool_trim(shared->pool);
    if (!is_quiet(i->daemon, now))
      continue;
    if (now >= maintain_at) {
      upkeep_maintain(shared->pool, &shared->caller, &hooks);
      maintain_at = now + HOUR_US;
    } else if (now >= embed_at) {
      /* A portion at a time, until all is done. */
      embed_at = upkeep_embed(shared->pool, &shared->caller, &hooks) ? now : now + REST_US;
    }
  }
  return NULL;
}

enum status idle_start(struct http_daemon *d, struct idle **ret_idle, struct error *err) {
  struct idle *i = mem_zalloc(sizeof(*i));
  if (!i)
    return error_set(err, STATUS_NOMEM, "out of memory");
  i->daemon = d;
  pthread_mutex_init(&i->lock, NULL);
  cond_init(&i->wake);
  int failed = pthread_create(&i->thread, NULL, idle_loop, i);
  if (failed) {
    mem_free(i);
    return error_errno(err, failed, "no thread could be started");
  }
  *ret_idle = i;
  return STATUS_OK;
}

void idle_stop(struct idle **idle) {
  struct idle *i = *idle;
  if (!i)
    return;
  atomic_store(&i->cancelled, true);
  pthread_mutex_lock(&i->lock);
  i->quit = true;
  pthread_cond_signal(&i->wake);
  pthread_mutex_unlock(&i->lock);
  pthread_join(i->thread, NULL);
  pthread_mutex_destroy(&i->lock);
  pthread_cond_destroy(&i->wake);
  mem_free(i);
  *idle = NULL;
}
