/* thread.h: background threads, and condition variables with a timeout on the monotonic clock. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Starts a thread with all signals blocked, so the program's own threads handle them. Returns 0 or an errno value. */
NODISCARD int thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg);
/* Number of cores that this process may use; at least 1. */
size_t thread_cores(void);

/* For the workers of a server: what the calling thread computes uses no second core, so one request cannot take all. */
void thread_use_one_core(void);
/* Threads that a computation of the calling thread may use: thread_cores(), or 1 after thread_use_one_core(). */
size_t thread_share(void);
/* Processor time of the calling thread, and of helper threads that were charged to it. */
int64_t thread_cpu_us(void);
void thread_charge_cpu(int64_t us);

/* Initialises a condition variable for timed waits by the monotonic clock. Others do not compile (banned.h): a wait by
 * the time of day stalls or spins when the clock is set. */
void cond_init(pthread_cond_t *cond);
/* Waits for a signal or until the timeout. The caller holds the lock. May wake up spuriously. */
void cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int ms);
/* Like cond_wait_ms(), but until a time of clock_ticks_us(); false once it has passed. */
bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_us);

/* True if some thread holds the lock; for assertions. Not for recursive locks, which their owner can lock again. */
static inline bool mutex_is_locked(pthread_mutex_t *lock) {
  if (pthread_mutex_trylock(lock) != 0)
    return true;
  pthread_mutex_unlock(lock);
  return false;
}
