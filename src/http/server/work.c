/* work.c: the work queue and its workers.
 *
 * There are as many regular workers as shared engines. More would only wait for an engine: handing one over wakes a
 * thread while the other's core idles, so a worker that finishes takes the next request itself. Spare workers stand in
 * for long calls, which wait for their client or have much to do, so neither their result nor a short request has to
 * wait. They step back afterwards: memory that a store handle allocates stays in the heaps of the few threads that use
 * it.
 *
 * Requests run in order of arrival, except those of a caller or team that must leave a worker to others (fair.h).
 * Reserved workers are spare workers for callers that have no request running. */
#include <assert.h>
#include <stdio.h>

#include "base/os/thread.h"
#include "core/gate/gate.h"
#include "http/access/auth.h"
#include "http/internal.h"

enum { WAITING_MAX = 1024, WORKER_STACK = 1 << 20, LASTING_MS = 100, TEAM_SHARES = 4 };

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
  for (size_t i = 0; i < WORK_THREADS_MAX; i++)
    short_ones += d->began[i] > since;
  return short_ones < d->regular && !has_idle_regular(d);
}

/* ---- callers ---- */

static size_t team_slot(uint64_t caller) { return caller % ARRAY_LEN(((struct http_daemon *)0)->teams); }

/* A token is known by its hash before it is verified. Its team is known after the first verification. */
static struct fair_id id_of(const struct http_daemon *d, const struct http_exchange *x) {
  struct str token = x->call.token;
  if (!token.p)
    return fair_id_of(&d->shared.caller);
  uint64_t caller = str_hash(STR_HASH, token);
  const struct fair_id *known = &d->teams[team_slot(caller)];
  return (struct fair_id){caller, known->caller == caller ? known->team : 0};
}

_Static_assert(WORK_TEAM_SIZE == TEAM_BYTES + 1, "a slot holds the longest team name");

static void note_team(struct http_daemon *d, struct str team) {
  for (size_t i = 0; i < WORK_TEAMS; i++)
    if (str_is(team, d->active_teams[i]))
      return;
  snprintf(d->active_teams[d->active_next++ % WORK_TEAMS], WORK_TEAM_SIZE, "%.*s", STR_ARG(team));
}

void work_identify(struct http_exchange *x) {
  struct http_daemon *d = x->daemon;
  if (!x->call.caller.principal)
    return;
  pthread_mutex_lock(&d->work_lock);
  x->who.team = fair_id_of(&x->call.caller).team;
  d->teams[team_slot(x->who.caller)] = d->running[x->worker] = x->who;
  note_team(d, x->call.caller.team);
  pthread_mutex_unlock(&d->work_lock);
}

/* Workers must be left to others: one for short calls, and the reserved ones. */
static bool may_run(const struct http_daemon *d, const struct http_exchange *x, int64_t now) {
  struct fair_id all[WORK_THREADS_MAX], brief[WORK_THREADS_MAX];
  size_t n = 0, brief_n = 0;
  for (size_t i = 0; i < WORK_THREADS_MAX; i++) {
    if (!d->began[i])
      continue;
    all[n++] = d->running[i];
    if (d->began[i] > now - LASTING_MS * 1000)
      brief[brief_n++] = d->running[i];
  }
  struct fair_places workers = {d->workers - FAIR_RESERVED, FAIR_RESERVED};
  return fair_may_take(&d->fair, x->who, brief, brief_n, (struct fair_places){.shared = d->regular}, now) &&
         fair_may_take(&d->fair, x->who, all, n, workers, now);
}

/* The first request that may run, and the one before it in the queue; NULL: none. */
static struct http_exchange *find_next(const struct http_daemon *d, struct http_exchange **ret_before) {
  int64_t now = clock_ticks_us();
  struct http_exchange *before = NULL, *x = d->first;
  while (x && !d->quit && !may_run(d, x, now)) {
    before = x;
    x = x->next;
  }
  *ret_before = before;
  return x;
}

/* Requests of the caller, and of its team, that wait or run. */
static void count_requests(const struct http_daemon *d, struct fair_id who, size_t *ret_caller, size_t *ret_team) {
  *ret_caller = *ret_team = 0;
  for (const struct http_exchange *x = d->first; x; x = x->next) {
    *ret_caller += x->who.caller == who.caller;
    *ret_team += who.team && x->who.team == who.team;
  }
  for (size_t i = 0; i < WORK_THREADS_MAX; i++)
    if (d->began[i]) {
      *ret_caller += d->running[i].caller == who.caller;
      *ret_team += who.team && d->running[i].team == who.team;
    }
}

static bool has_room(const struct http_daemon *d, const struct http_exchange *x) {
  size_t caller, team, most = auth_concurrency(d->shared.auth);
  if (!x->call.token.p || most == 0)
    return true;
  count_requests(d, x->who, &caller, &team);
  return caller < most && team < TEAM_SHARES * most;
}

/* ---- workers ---- */

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

/* A request that may not run yet needs a worker that polls, too: time alone may let it run. */
static void wake_one(struct http_daemon *d) {
  struct http_exchange *before;
  bool ready = find_next(d, &before);
  if (ready && has_idle_regular(d))
    pthread_cond_signal(&d->work);
  else if (d->first && (!d->looking || (ready && needs_spare_worker(d))))
    pthread_cond_signal(&d->spare_work);
}

/* The next request; NULL at shutdown. */
static struct http_exchange *take(struct http_daemon *d, size_t worker) {
  assert(worker < WORK_THREADS_MAX && !d->began[worker] && mutex_is_locked(&d->work_lock));
  struct http_exchange *before, *x;
  while (!(x = find_next(d, &before)) ? !d->quit : !d->quit && !is_regular(d, worker) && !needs_spare_worker(d)) {
    if (x && has_idle_regular(d)) /* time has passed: it may run now */
      pthread_cond_signal(&d->work);
    rest(d, worker);
  }
  if (!x)
    return NULL;
  assert(d->waiting > 0);
  *(before ? &before->next : &d->first) = x->next;
  if (d->last == x)
    d->last = before;
  d->waiting--;
  d->busy++;
  d->began[worker] = clock_ticks_us();
  d->running[worker] = x->who;
  x->worker = worker;
  wake_one(d);
  return x;
}

/* ---- the threads ---- */

static void *work_loop(void *arg) {
  struct http_daemon *d = arg;
  struct http_exchange *x;
  thread_use_one_core();
  pthread_mutex_lock(&d->work_lock);
  size_t worker = d->numbered++;
  while ((x = take(d, worker))) {
    pthread_mutex_unlock(&d->work_lock);
    exchange_run(x);
    pthread_mutex_lock(&d->work_lock);
    assert(d->busy > 0 && d->busy <= WORK_THREADS_MAX);
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
  while (d->workers < workers + FAIR_RESERVED && !failed) {
    failed = pthread_create(&d->threads[d->workers], &attr, work_loop, d);
    if (!failed)
      d->workers++;
  }
  pthread_attr_destroy(&attr);
  return failed ? error_errno(err, failed, "no thread could be started") : STATUS_OK;
}

enum work_pushed work_push(struct http_daemon *d, struct http_exchange *x) {
  pthread_mutex_lock(&d->work_lock);
  assert(!d->first == (d->waiting == 0));
  x->who = id_of(d, x);
  fair_note(&d->fair, x->who, clock_ticks_us());
  enum work_pushed pushed = d->waiting >= WAITING_MAX || d->quit ? WORK_FULL
                            : has_room(d, x)                     ? WORK_PUSHED
                                                                 : WORK_LIMITED;
  if (pushed == WORK_PUSHED) {
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
  return pushed;
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
