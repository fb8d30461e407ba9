/* thread.h: threads that work behind a program, and waiting that a change of the clock does not disturb. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Starts a thread that takes no signals: they stay with those of the program. 0, or an error number. */
NODISCARD int thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg);
/* How many cores this process may use, at least one. */
size_t thread_cores(void);

/* Every condition of the program: its waits are timed by the monotonic clock. Others do not compile (banned.h): a wait
 * by the time of day stalls or spins when somebody sets the clock. */
void cond_init(pthread_cond_t *cond);
/* With the lock: until somebody signals, or so many milliseconds have passed, or for no reason. */
void cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int ms);
/* The same until a time of clock_ticks_us(); false once it has come. */
bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_us);
