/* test_pool.c: engines shared by threads: their number, and the order of waiters. */
#include "op/run/pool.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/os/thread.h"
#include "op/admin/upkeep.h"
#include "store/check.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

enum { THREADS = 6, ROUNDS = 200 };

static struct pool *pool;
static _Atomic int held, most, failures;
static _Atomic int order[THREADS], next;

static void start(const char *name, size_t size) {
  struct error err;
  struct engine_options o = {.path = test_store(name)};
  CHECK_OK(pool_new(&o, (struct fair_places){.shared = size}, &pool, &err), &err);
}

static void *borrow(void *arg) {
  struct error err;
  for (int i = 0; i < ROUNDS; i++) {
    struct engine *e;
    if (pool_acquire(pool, &e, &err) != STATUS_OK) {
      atomic_fetch_add(&failures, 1);
      continue;
    }
    int now = atomic_fetch_add(&held, 1) + 1;
    if (now > atomic_load(&most))
      atomic_store(&most, now);
    atomic_fetch_sub(&held, 1);
    pool_release(pool, e);
  }
  return arg;
}

TEST(no_more_engines_than_the_pool_has) {
  start("store.db", 2);
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
  if (pool_acquire(pool, &e, &err) != STATUS_OK)
    return NULL;
  atomic_store(&order[atomic_fetch_add(&next, 1)], (int)(intptr_t)arg);
  pool_release(pool, e);
  return NULL;
}

TEST(waiters_are_served_in_order) {
  start("store.db", 1);
  struct engine *e;
  struct error err;
  CHECK_OK(pool_acquire(pool, &e, &err), &err);
  CHECK_STATUS(pool_try_acquire(pool, &(struct engine *){NULL}, &err), STATUS_BUSY);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, wait_in_line, (void *)(intptr_t)i) == 0);
    usleep(50000 * (unsigned)test_slowness()); /* until it is waiting */
  }
  pool_release(pool, e);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    CHECK_INT(atomic_load(&order[i]), i);
  pool_close(&pool);
}

TEST(a_store_that_cannot_be_opened_fails_every_waiter) {
  struct error err;
  struct engine_options o = {.path = path_join(NULL, "missing.db"), .must_exist = true};
  CHECK_OK(pool_new(&o, (struct fair_places){.shared = 1}, &pool, &err), &err);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, borrow, NULL) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK_INT(atomic_load(&failures), THREADS * ROUNDS);
  pool_close(&pool);
}

/* ---- callers ---- */

static struct caller caller_in(const char *team) { return (struct caller){.team = str_from(team)}; }

static void *take_for_bad(void *arg) {
  struct caller c = caller_in("bad");
  struct engine *e;
  struct error err;
  if (pool_acquire_for(pool, &c, &e, &err) != STATUS_OK)
    return NULL;
  atomic_fetch_add(&held, 1);
  usleep(20000);
  atomic_fetch_sub(&held, 1);
  atomic_fetch_add(&next, 1);
  pool_release(pool, e);
  return arg;
}

/* Without fairness the waiting threads of one team get every engine that becomes free. */
TEST(a_team_leaves_an_engine_to_the_others) {
  start("store.db", 2);
  struct caller honest = caller_in("good"), bad = caller_in("bad");
  struct engine *e, *mine;
  struct error err;
  CHECK_OK(pool_acquire_for(pool, &honest, &e, &err), &err);
  pool_release(pool, e);
  CHECK_OK(pool_acquire_for(pool, &bad, &e, &err), &err);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, take_for_bad, NULL) == 0);
  usleep(100000 * (unsigned)test_slowness());
  CHECK_INT(atomic_load(&held), 0);
  size_t opened, busy;
  pool_count(pool, &opened, &busy);
  CHECK_INT(busy, 1);
  CHECK_OK(pool_acquire_for(pool, &honest, &mine, &err), &err); /* at once: only one engine is in use */
  pool_release(pool, mine);
  pool_release(pool, e);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK_INT(atomic_load(&next), THREADS);
  pool_close(&pool);
}

/* The bad caller is alone, so it has all shared engines when the honest one makes its first call. */
TEST(a_silent_caller_does_not_wait_for_another_one) {
  struct error err;
  struct engine_options o = {.path = test_store("store.db")};
  CHECK_OK(pool_new(&o, (struct fair_places){.shared = 2, .reserved = 2}, &pool, &err), &err);
  struct caller honest = caller_in("good"), bad = caller_in("bad");
  struct engine *e[2], *mine, *own;
  for (int i = 0; i < 2; i++)
    CHECK_OK(pool_acquire_for(pool, &bad, &e[i], &err), &err);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, take_for_bad, NULL) == 0);
  usleep(100000 * (unsigned)test_slowness());
  CHECK_INT(atomic_load(&next), 0);
  CHECK_OK(pool_acquire(pool, &own, &err), &err); /* as to authenticate the honest one */
  CHECK_OK(pool_acquire_for(pool, &honest, &mine, &err), &err);
  CHECK_INT(atomic_load(&next), 0);
  size_t opened, busy;
  pool_count(pool, &opened, &busy);
  CHECK_INT(busy, 4);
  pool_release(pool, own);
  pool_release(pool, mine);
  for (int i = 0; i < 2; i++)
    pool_release(pool, e[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK_INT(atomic_load(&next), THREADS);
  pool_close(&pool);
}

/* ---- a store on a server ---- */

static struct direct *cut_all(void) {
  struct direct *d = direct_open(test_store("store.db"));
  direct_string(d, "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname ="
                   " current_database() AND usename = current_user AND pid <> pg_backend_pid()");
  return d;
}

TEST(lost_connections_are_reopened) {
  struct error err;
  struct engine *e[2];
  int64_t n = 0;
  start("store.db", 2);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 2; i++) {
      CHECK_OK(pool_acquire(pool, &e[i], &err), &err);
      CHECK_OK(count_since(e[i]->store, STR("default"), 0, &n, &err), &err);
      CHECK_INT(n, 0);
    }
    for (int i = 0; i < 2; i++)
      pool_release(pool, e[i]);
    if (on_postgres())
      direct_close(cut_all());
  }
  pool_close(&pool);
}

TEST(an_unreachable_server_is_not_retried_at_once) {
  struct error err = {0}, again = {0}, third = {0};
  struct engine *e;
  /* No process listens on port 1. */
  struct engine_options o = {.path = "postgresql://nobody:sesame@127.0.0.1:1/nothing"};
  CHECK_OK(pool_new(&o, (struct fair_places){.shared = 2}, &pool, &err), &err);
  CHECK_OK(pool_recent_failure(pool, &err), &err);
  CHECK_STATUS(pool_acquire(pool, &e, &err), STATUS_UNAVAILABLE);
  CHECK_STATUS(pool_recent_failure(pool, &again), STATUS_UNAVAILABLE);
  CHECK_STR(str_from(again.message), err.message);
  CHECK_STATUS(pool_acquire(pool, &e, &third), STATUS_UNAVAILABLE);
  CHECK_STR(str_from(third.message), err.message);
  CHECK(err.fix[0]);
  CHECK(str_find(str_from(err.message), STR("sesame"), 0) == SIZE_MAX);
  CHECK(str_find(str_from(err.fix), STR("sesame"), 0) == SIZE_MAX);
  usleep(1100000);
  CHECK_OK(pool_recent_failure(pool, &err), &err); /* the next call tries again */
  size_t opened, busy;
  pool_count(pool, &opened, &busy);
  CHECK_INT(opened, 0);
  pool_close(&pool);
}

/* The caller's arena must not jump into a function that has returned. */
TEST(a_root_leaves_no_boundary_behind) {
  struct arena a;
  struct str root;
  struct error err;
  start("a.db", 1);
  arena_init(&a);
  CHECK_OK(upkeep_root(pool, STR("default"), &a, &root, &err), &err);
  CHECK(!a.oom);
  arena_release(&a);
  pool_close(&pool);
}
