/* alloc.c: malloc with a fault-injection hook for each thread. */
#include "base/alloc.h"

#include <sodium.h>
#include <stdlib.h>

/* The one file that may: see banned.h. */
#undef malloc
#undef calloc
#undef realloc
#undef free

static _Thread_local long fail_countdown;
static _Thread_local int fail_sticky;
static _Thread_local long fail_count;

void alloc_fail_at(long nth, int sticky) {
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

/* libsodium puts the end of a piece before a page that cannot be touched: what is a multiple of 16 begins at one, too.
 */
void *mem_secret(size_t size) {
  size_t room = (size + 15) & ~(size_t)15;
  return must_fail() || room < size || sodium_init() < 0 ? NULL : sodium_malloc(room ? room : 16);
}

void mem_secret_free(void *p) { sodium_free(p); }

bool mem_secret_locks(size_t size) {
  void *p = mem_secret(size);
  bool locks = p && sodium_mlock(p, size) == 0; /* what sodium_malloc() has tried, too, without a word */
  mem_secret_free(p);
  return locks;
}
