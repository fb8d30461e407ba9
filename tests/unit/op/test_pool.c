/* test_pool.c: engines shared by threads: how many, and who is next. */
#include "op/pool.h"

#include <stdatomic.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"

enum { THREADS = 6, ROUNDS = 200 };

static struct pool *pool;
static _Atomic int held, most, failures;
static _Atomic int order[THREADS], next;

static void start(const char *name, size_t size, bool must_exist) {
  struct error err;
  struct engine_options o = {.path = path_join(NULL, name), .must_exist = must_exist};
  CHECK_OK(pool_new(&o, size, &pool, &err), &err);
}

static void *borrow(void *arg) {
  struct error err;
  for (int i = 0; i < ROUNDS; i++) {
    struct engine *e;
    if (pool_take(pool, &e, &err) != STATUS_OK) {
      atomic_fetch_add(&failures, 1);
      continue;
    }
    int now = atomic_fetch_add(&held, 1) + 1;
    if (now > atomic_load(&most))
      atomic_store(&most, now);
    atomic_fetch_sub(&held, 1);
    pool_give(pool, e);
  }
  return arg;
}

TEST(no_more_engines_than_the_pool_has) {
  start("store.db", 2, false);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, borrow, NULL) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK_INT(atomic_load(&failures), 0);
  CHECK(atomic_load(&most) <= 2);
  size_t opened, busy;
  pool_count(pool, &opened, &busy);
  CHECK(opened <= 2);
  CHECK_INT(busy, 0);
  pool_close(&pool);
}

static void *wait_in_line(void *arg) {
  struct engine *e;
  struct error err;
  if (pool_take(pool, &e, &err) != STATUS_OK)
    return NULL;
  atomic_store(&order[atomic_fetch_add(&next, 1)], (int)(intptr_t)arg);
  pool_give(pool, e);
  return NULL;
}

TEST(who_came_first_is_first) {
  start("store.db", 1, false);
  struct engine *e;
  struct error err;
  CHECK_OK(pool_take(pool, &e, &err), &err);
  CHECK_STATUS(pool_try(pool, &(struct engine *){NULL}, &err), STATUS_BUSY);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, wait_in_line, (void *)(intptr_t)i) == 0);
    usleep(50000 * (unsigned)test_slowness()); /* until it waits */
  }
  pool_give(pool, e);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    CHECK_INT(atomic_load(&order[i]), i);
  pool_close(&pool);
}

TEST(a_store_that_does_not_open_fails_everybody_and_nobody_hangs) {
  start("missing.db", 1, true);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, borrow, NULL) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK_INT(atomic_load(&failures), THREADS * ROUNDS);
  pool_close(&pool);
}
