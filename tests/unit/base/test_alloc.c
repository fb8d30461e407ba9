/* test_alloc.c: allocation wrappers and their fault injection. */
#include "base/alloc.h"

#include <pthread.h>

#include "support/harness.h"

TEST(zero_bytes_are_allocated) {
  void *p = mem_alloc(0), *z = mem_zalloc(0);
  CHECK(p && z);
  mem_free(p);
  mem_free(z);
  mem_free(NULL);
}

TEST(zalloc_clears_and_realloc_keeps) {
  unsigned char *p = mem_zalloc(64);
  for (int i = 0; i < 64; i++)
    CHECK(p[i] == 0);
  memset(p, 7, 64);
  p = mem_realloc(p, 4096);
  CHECK(p && p[0] == 7 && p[63] == 7);
  mem_free(p);
}

/* True if the next allocation succeeds. */
static bool works(void) {
  void *p = mem_alloc(1);
  mem_free(p);
  return p != NULL;
}

TEST(the_nth_allocation_fails_once) {
  alloc_fail_at(3, 0);
  CHECK(works());
  CHECK(works());
  CHECK(!works());
  CHECK(works());
  CHECK_INT(alloc_failures(), 1);
}

TEST(sticky_failures_continue_until_switched_off) {
  alloc_fail_at(2, 1);
  CHECK(works());
  CHECK(!works());
  CHECK(!works());
  CHECK(!mem_zalloc(1));
  CHECK(!mem_realloc(NULL, 1));
  CHECK_INT(alloc_failures(), 4);
  alloc_fail_at(0, 0);
  CHECK(works());
  CHECK_INT(alloc_failures(), 0);
}

static void *works_in_thread(void *p) {
  *(bool *)p = works();
  return NULL;
}

TEST(injection_is_per_thread) {
  alloc_fail_at(1, 1);
  pthread_t thread;
  bool other = false;
  CHECK(pthread_create(&thread, NULL, works_in_thread, &other) == 0);
  pthread_join(thread, NULL);
  CHECK(other);
  CHECK(!works());
}
