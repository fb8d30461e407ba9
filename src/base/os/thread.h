/* thread.h: threads that work behind a program, and waiting that a change of the clock does not disturb. */
#pragma once

#include <pthread.h>
#include <stddef.h>

#include "base/attr.h"

/* Starts a thread that takes no signals: they stay with those of the program. 0, or an error number. */
NODISCARD int thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg);
/* How many cores this process may use, at least one. */
size_t thread_cores(void);

/* A condition for cond_wait_ms(): by the monotonic clock. */
void cond_init(pthread_cond_t *cond);
/* With the lock: until somebody signals, or so many milliseconds have passed, or for no reason. */
void cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int ms);
