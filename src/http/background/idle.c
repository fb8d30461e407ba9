/* idle.c: the background thread of an idle server. */
#include "http/background/idle.h"

#include "base/alloc.h"
#include "http/background/watcher.h"
#include "http/internal.h"
#include "op/admin/upkeep.h"

enum {
  QUIET_US = 2 * 1000 * 1000,    /* idle time before background work starts */
  POLL_MS = 1000,                /* polling interval, also between two batches of embeddings */
  RECHECK_US = 60 * 1000 * 1000, /* between checks for texts without vectors, if there were none */
  FIRST_US = 10 * 1000 * 1000,   /* delay after start */
};
#define HOUR_US (INT64_C(3600) * 1000 * 1000)

struct idle {
  struct watcher watcher;
  struct http_daemon *daemon;
  int64_t maintain_at, embed_at; /* ticks */
};

static bool is_quiet(struct http_daemon *d, int64_t now) {
  pthread_mutex_lock(&d->work_lock);
  bool quiet = d->busy == 0 && !d->first && now - d->worked >= QUIET_US;
  pthread_mutex_unlock(&d->work_lock);
  return quiet;
}

static void work(void *arg) {
  struct idle *i = arg;
  const struct http_server *shared = &i->daemon->shared;
  const struct op_hooks hooks = {.arg = &i->watcher, .cancelled = watcher_is_stopping};
  int64_t now = clock_ticks_us();
  pool_trim(shared->pool);
  if (!is_quiet(i->daemon, now))
    return;
  if (now >= i->maintain_at) {
    upkeep_maintain(shared->pool, &shared->caller, &hooks);
    i->maintain_at = now + HOUR_US;
  } else if (now >= i->embed_at) {
    /* One batch at a time, until all are embedded. */
    i->embed_at = upkeep_embed(shared->pool, &shared->caller, &hooks) ? now : now + RECHECK_US;
  }
}

enum status idle_start(struct http_daemon *d, struct idle **ret_idle, struct error *err) {
  struct idle *i = mem_zalloc(sizeof(*i));
  if (!i)
    return error_set(err, STATUS_NOMEM, "out of memory");
  int64_t first = clock_ticks_us() + FIRST_US;
  *i = (struct idle){
      .watcher = {.period_ms = POLL_MS, .check = work, .arg = i}, .daemon = d, .maintain_at = first, .embed_at = first};
  if (watcher_open(&i->watcher, err) != STATUS_OK || watcher_start(&i->watcher, err) != STATUS_OK) {
    idle_stop(&i);
    return err->code;
  }
  *ret_idle = i;
  return STATUS_OK;
}

void idle_stop(struct idle **idle) {
  struct idle *i = *idle;
  if (!i)
    return;
  watcher_close(&i->watcher);
  mem_free(i);
  *idle = NULL;
}
