/* thread.c: background threads, number of cores, waiting with a timeout. */
#include "base/os/thread.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "base/os/clock.h"

/* The one file that may: see banned.h. */
#undef pthread_cond_init
#undef pthread_cond_timedwait

int thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(ret_thread, NULL, run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

size_t thread_cores(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  int n = CPU_COUNT(&set);
  return n < 1 ? 1 : (size_t)n;
}

static _Thread_local bool has_one_core;
static _Thread_local int64_t charged_us;

void thread_use_one_core(void) { has_one_core = true; }

size_t thread_share(void) { return has_one_core ? 1 : thread_cores(); }

int64_t thread_cpu_us(void) {
  struct timespec ts;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
  return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000 + charged_us;
}

void thread_charge_cpu(int64_t us) {
  assert(us >= 0);
  charged_us += us;
}

void cond_init(pthread_cond_t *cond) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(cond, &monotonic);
  pthread_condattr_destroy(&monotonic);
}

/* clock_ticks_us() reads the same clock. */
bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_us) {
  struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
  assert(until_us >= 0);
  int rc = pthread_cond_timedwait(cond, lock, &until);
  assert(rc == 0 || rc == ETIMEDOUT);
  return rc != ETIMEDOUT;
}

void cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int ms) {
  assert(ms >= 0);
  (void)cond_wait_until(cond, lock, clock_ticks_us() + (int64_t)ms * 1000);
}
