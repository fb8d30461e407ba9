/* work.c: requests that have been read wait here for a worker. */
#include <errno.h>

#include "http/internal.h"

enum { WAITING_MAX = 1024, WORKER_STACK = 1 << 20 };

static void *work_loop(void *arg) {
  struct http_daemon *d = arg;
  pthread_mutex_lock(&d->work_lock);
  for (;;) {
    while (!d->first && !d->quit)
      pthread_cond_wait(&d->work, &d->work_lock);
    struct http_exchange *x = d->first;
    if (!x)
      break;
    d->first = x->next;
    d->waiting--;
    d->busy++;
    pthread_mutex_unlock(&d->work_lock);
    exchange_run(x);
    pthread_mutex_lock(&d->work_lock);
    d->busy--;
    d->worked = clock_ticks_us();
    if (d->busy == 0 && !d->first)
      pthread_cond_broadcast(&d->idle);
  }
  pthread_mutex_unlock(&d->work_lock);
  return NULL;
}

enum status work_start(struct http_daemon *d, size_t workers, struct error *err) {
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
  bool room = d->waiting < WAITING_MAX && !d->quit;
  if (room) {
    x->next = NULL;
    if (d->first)
      d->last->next = x;
    else
      d->first = x;
    d->last = x;
    d->waiting++;
    pthread_cond_signal(&d->work);
  }
  pthread_mutex_unlock(&d->work_lock);
  return room;
}

bool work_wait_idle(struct http_daemon *d, int64_t wait_ms) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += wait_ms / MS_PER_SECOND;
  until.tv_nsec += wait_ms % MS_PER_SECOND * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  pthread_mutex_lock(&d->work_lock);
  int late = 0;
  while ((d->busy || d->first) && late != ETIMEDOUT)
    late = pthread_cond_timedwait(&d->idle, &d->work_lock, &until);
  bool idle = !d->busy && !d->first;
  pthread_mutex_unlock(&d->work_lock);
  return idle;
}

/* What still waits is run: every suspended connection must get its reply. */
void work_stop(struct http_daemon *d) {
  pthread_mutex_lock(&d->work_lock);
  d->quit = true;
  pthread_cond_broadcast(&d->work);
  pthread_mutex_unlock(&d->work_lock);
  for (size_t i = 0; i < d->workers; i++)
    pthread_join(d->threads[i], NULL);
  d->workers = 0;
}
