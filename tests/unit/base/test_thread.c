/* test_thread.c: threads with blocked signals, and waiting with a timeout. */
#include "base/os/thread.h"

#include <signal.h>

#include "base/os/clock.h"
#include "support/harness.h"

static void *look(void *arg) {
  sigset_t *mask = arg;
  pthread_sigmask(SIG_SETMASK, NULL, mask);
  return NULL;
}

TEST(a_thread_blocks_signals_and_its_parent_does_not) {
  sigset_t before, after, inside;
  pthread_t thread;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  CHECK_INT(thread_start(&thread, look, &inside), 0);
  pthread_join(thread, NULL);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  CHECK(sigismember(&inside, SIGTERM) == 1 && sigismember(&inside, SIGINT) == 1);
  CHECK_INT(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
  CHECK(thread_cores() >= 1);
}

TEST(waiting_times_out) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t cond;
  cond_init(&cond);
  pthread_mutex_lock(&lock);
  int64_t began = clock_ticks_us(), until = began + 20000;
  while (clock_ticks_us() < until) /* it may wake up spuriously */
    cond_wait_ms(&cond, &lock, 20);
  pthread_mutex_unlock(&lock);
  CHECK(clock_ticks_us() - began >= 20000);
  pthread_cond_destroy(&cond);
}
