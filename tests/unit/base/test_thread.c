/* test_thread.c: threads with blocked signals, and waiting with a timeout. */
#include "base/os/thread.h"

#include <signal.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "support/harness.h"
#include "support/libc.h"

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

struct meeting {
  pthread_mutex_t lock;
  pthread_cond_t cond;
  bool come;
};

static void *come_later(void *arg) {
  struct meeting *m = arg;
  usleep(50000);
  pthread_mutex_lock(&m->lock);
  m->come = true;
  pthread_cond_signal(&m->cond);
  pthread_mutex_unlock(&m->lock);
  return NULL;
}

/* A clock that is set forward must not end a wait early, one that is set back must not prolong it. */
TEST(waiting_does_not_depend_on_the_time_of_day) {
  for (int hours = -1; hours <= 1; hours++) {
    struct meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
    test_note("%d hours", hours);
    libc_shift_time_of_day(hours * 3600L);
    cond_init(&m.cond);
    pthread_mutex_lock(&m.lock);
    int64_t began = clock_ticks_us();
    while (cond_wait_until(&m.cond, &m.lock, began + 20000))
      continue;
    CHECK(clock_ticks_us() - began >= 20000);
    CHECK_INT(thread_start(&thread, come_later, &m), 0);
    while (!m.come)
      CHECK(cond_wait_until(&m.cond, &m.lock, began + 15 * INT64_C(1000000)));
    pthread_mutex_unlock(&m.lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&m.cond);
  }
  libc_shift_time_of_day(0);
}
