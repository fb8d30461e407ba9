/* alloc.c: malloc and locked memory with per-thread fault injection. */
#include "base/alloc.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>

/* Lift the ban of banned.h. */
#undef malloc
#undef calloc
#undef realloc
#undef free

static _Thread_local long fail_countdown;
static _Thread_local int fail_sticky;
static _Thread_local long fail_count;

void alloc_fail_at(long nth, int sticky) {
  assert(nth >= 0);
  fail_countdown = nth;
  fail_sticky = sticky;
  fail_count = 0;
}

long alloc_failures(void) { return fail_count; }

static int must_fail(void) {
  if (fail_countdown == 0)
    return 0;
  if (fail_countdown > 1) {
    fail_countdown--;
    return 0;
  }
  if (!fail_sticky)
    fail_countdown = 0;
  fail_count++;
  return 1;
}

void *mem_alloc(size_t size) { return must_fail() ? NULL : malloc(size ? size : 1); }

void *mem_zalloc(size_t size) { return must_fail() ? NULL : calloc(1, size ? size : 1); }

void *mem_realloc(void *p, size_t size) { return must_fail() ? NULL : realloc(p, size ? size : 1); }

void mem_free(void *p) { free(p); }

/* libsodium places the end of an allocation at a guard page, so rounding the size up to 16 also aligns the start. */
void *mem_secret(size_t size) {
  size_t rounded = (size + 15) & ~(size_t)15;
  return must_fail() || rounded < size || sodium_init() < 0 ? NULL : sodium_malloc(rounded ? rounded : 16);
}

void mem_secret_free(void *p) { sodium_free(p); }

bool mem_secret_can_lock(size_t size) {
  void *p = mem_secret(size);
  bool locks = p && sodium_mlock(p, size) == 0; /* sodium_malloc() ignores a failed lock */
  mem_secret_free(p);
  return locks;
}
