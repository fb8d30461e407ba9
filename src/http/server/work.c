/* work.c: the work queue and its workers.
 *
 * There are as many regular workers as engines. More would only wait for an engine: handing one over wakes a thread
 * while the other's core idles, so a worker that finishes takes the next request itself. Spare workers stand in for
 * long calls, which wait for their client or have much to do, so neither their result nor a short request has to
 * wait. They step back afterwards: memory that a store handle allocates stays in the heaps of the few threads that use
 * it. */
#include <assert.h>

#include "base/os/thread.h"
#include "http/internal.h"

enum { WAITING_MAX = 1024, WORKER_STACK = 1 << 20, LASTING_MS = 100 };

/* ---- with the lock ---- */

static bool is_regular(const struct http_daemon *d, size_t worker) { return worker < d->regular; }

static bool has_idle_regular(const struct http_daemon *d) {
  for (size_t i = 0; i < d->regular; i++)
    if (!d->began[i])
      return true;
  return false;
}

/* True if a long call has no spare worker standing in for it. */
static bool needs_spare_worker(const struct http_daemon *d) {
  int64_t since = clock_ticks_us() - LASTING_MS * 1000;
  size_t short_ones = 0;
  for (size_t i = 0; i < HTTP_WORKERS_MAX; i++)
    short_ones += d->began[i] > since;
  return short_ones < d->regular && !has_idle_regular(d);
}

/* While requests are queued, one spare worker polls for long calls. */
static void rest(struct http_daemon *d, size_t worker) {
  if (is_regular(d, worker)) {
    pthread_cond_wait(&d->work, &d->work_lock);
  } else if (!d->first || d->looking) {
    pthread_cond_wait(&d->spare_work, &d->work_lock);
  } else {
    d->looking = true;
    cond_wait_ms(&d->spare_work, &d->work_lock, LASTING_MS);
    d->looking = false;
  }
}

static void wake_one(struct http_daemon *d) {
  if (!d->first)
    return;
  if (has_idle_regular(d))
    pthread_cond_signal(&d->work);
  else if (!d->looking || needs_spare_worker(d))
    pthread_cond_signal(&d->spare_work);
}

/* The next request; NULL at shutdown. */
static struct http_exchange *take(struct http_daemon *d, size_t worker) {
  assert(worker < HTTP_WORKERS_MAX && !d->began[worker] && mutex_is_locked(&d->work_lock));
  while (d->first ? !d->quit && !is_regular(d, worker) && !needs_spare_worker(d) : !d->quit)
    rest(d, worker);
  struct http_exchange *x = d->first;
  if (!x)
    return NULL;
  assert(d->waiting > 0);
  d->first = x->next;
  d->waiting--;
  d->busy++;
  d->began[worker] = clock_ticks_us();
  wake_one(d);
  return x;
}

/* ---- the threads ---- */

static void *work_loop(void *arg) {
  struct http_daemon *d = arg;
  struct http_exchange *x;
  pthread_mutex_lock(&d->work_lock);
  size_t worker = d->numbered++;
  while ((x = take(d, worker))) {
    pthread_mutex_unlock(&d->work_lock);
    exchange_run(x);
    pthread_mutex_lock(&d->work_lock);
    assert(d->busy > 0 && d->busy <= HTTP_WORKERS_MAX);
    d->busy--;
    d->began[worker] = 0;
    d->worked = clock_ticks_us();
    if (d->busy == 0 && !d->first)
      pthread_cond_broadcast(&d->idle);
  }
  pthread_mutex_unlock(&d->work_lock);
  return NULL;
}

enum status work_start(struct http_daemon *d, size_t workers, struct error *err) {
  assert(workers > 0 && workers <= HTTP_WORKERS_MAX && d->workers == 0);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, WORKER_STACK);
  int failed = 0;
  while (d->workers < workers && !failed) {
    failed = pthread_create(&d->threads[d->workers], &attr, work_loop, d);
    if (!failed)
      d->workers++;
  }
  pthread_attr_destroy(&attr);
  return failed ? error_errno(err, failed, "no thread could be started") : STATUS_OK;
}

bool work_push(struct http_daemon *d, struct http_exchange *x) {
  pthread_mutex_lock(&d->work_lock);
  assert(!d->first == (d->waiting == 0));
  bool room = d->waiting < WAITING_MAX && !d->quit;
  if (room) {
    x->next = NULL;
    if (d->first)
      d->last->next = x;
    else
      d->first = x;
    d->last = x;
    d->waiting++;
    wake_one(d);
  }
  pthread_mutex_unlock(&d->work_lock);
  return room;
}

bool work_wait_idle(struct http_daemon *d, int64_t wait_ms) {
  int64_t until = clock_ticks_us() + wait_ms * 1000;
  pthread_mutex_lock(&d->work_lock);
  while ((d->busy || d->first) && cond_wait_until(&d->idle, &d->work_lock, until))
    continue;
  bool idle = !d->busy && !d->first;
  pthread_mutex_unlock(&d->work_lock);
  return idle;
}

/* Queued requests still run: every suspended connection must get its reply. */
void work_stop(struct http_daemon *d) {
  pthread_mutex_lock(&d->work_lock);
  d->quit = true;
  pthread_cond_broadcast(&d->work);
  pthread_cond_broadcast(&d->spare_work);
  pthread_mutex_unlock(&d->work_lock);
  for (size_t i = 0; i < d->workers; i++)
    pthread_join(d->threads[i], NULL);
  assert(!d->first && d->busy == 0);
  d->workers = 0;
}
