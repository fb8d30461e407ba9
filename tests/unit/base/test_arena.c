/* test_arena.c: bump allocator: alignment, growth, deferred calls, running out of memory. */
#include "base/arena.h"

#include "base/alloc.h"
#include "support/harness.h"
#include "support/scan.h"

TEST(allocations_are_aligned_and_do_not_overlap) {
  struct arena a;
  arena_init(&a);
  enum { COUNT = 3000 };
  static unsigned char *pieces[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    size_t size = i * 7 % 200;
    pieces[i] = arena_alloc(&a, size);
    CHECK_INT((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
    memset(pieces[i], (int)(i & 255), size);
  }
  for (size_t i = 0; i < COUNT; i++)
    for (size_t k = 0; k < i * 7 % 200; k++)
      CHECK(pieces[i][k] == (i & 255));
  arena_release(&a);
}

TEST(large_allocations) {
  struct arena a;
  arena_init(&a);
  char *small = arena_alloc(&a, 10);
  char *large = arena_alloc(&a, 1000 * 1000);
  memset(large, 'l', 1000 * 1000);
  memset(small, 's', 10);
  char *after = arena_alloc(&a, 10);
  memset(after, 'a', 10);
  CHECK(small[9] == 's' && large[0] == 'l' && large[999999] == 'l' && after[0] == 'a');
  CHECK(a.used >= 1000 * 1000 + 20);
  arena_release(&a);
  CHECK_INT(a.used, 0);
  CHECK(a.head == NULL);
}

static void count_run(void *p) { ++*(int *)p; }

TEST(a_recycled_arena_keeps_one_block_that_is_large_enough) {
  enum { PIECES = 100, SIZE = 1000, MOST = 1 << 20 };
  struct arena a;
  int runs = 0;
  arena_init(&a);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < PIECES; i++)
      memset(arena_alloc(&a, SIZE), round, SIZE);
    arena_defer(&a, count_run, &runs);
    CHECK(a.used >= PIECES * SIZE);
    arena_recycle(&a, MOST);
    CHECK_INT(a.used, 0);
    CHECK_INT(runs, round + 1);
  }
  struct arena_block *kept = a.head;
  char *first = arena_alloc(&a, SIZE), *last = arena_alloc(&a, PIECES * SIZE - SIZE);
  if (kept) /* with one block per allocation, nothing is kept */
    CHECK(a.head == kept && last > first && last - first < PIECES * SIZE);
  arena_release(&a);
}

TEST(defer_without_memory_runs_the_function) {
  static int runs;
  static struct arena a;
  jmp_buf boundary;
  arena_init(&a);
  if (ARENA_BOUNDARY(&a, boundary) == 0) {
    alloc_fail_at(1, 0);
    arena_defer(&a, count_run, &runs);
    FAIL("no jump");
  }
  alloc_fail_at(0, 0);
  CHECK_INT(runs, 1);
  CHECK(a.oom == &boundary);
  arena_release(&a);
  CHECK_INT(runs, 1);
}

TEST(a_recycled_arena_does_not_keep_too_much) {
  struct arena a;
  arena_init(&a);
  arena_alloc(&a, 1 << 20);
  arena_recycle(&a, 1 << 16);
  CHECK(a.head == NULL);
  CHECK(a.first <= 1 << 16);
  memset(arena_alloc(&a, 100), 1, 100);
  arena_release(&a);
}

TEST(zalloc_clears_used_memory) {
  struct arena a;
  arena_init(&a);
  for (int round = 0; round < 3; round++) {
    unsigned char *p = arena_zalloc(&a, 5000);
    for (int i = 0; i < 5000; i++)
      CHECK(p[i] == 0);
    memset(p, 0xff, 5000);
    arena_release(&a);
  }
}

TEST(copies_are_terminated) {
  struct arena a;
  arena_init(&a);
  struct str s = arena_dup(&a, str_slice(STR("abcdef"), 1, 3));
  CHECK_STR(s, "bc");
  CHECK_INT(s.p[2], 0);
  CHECK_STR(arena_dup(&a, STR_NONE), "");
  CHECK(strcmp(arena_cstr(&a, STR("x")), "x") == 0);
  CHECK_STR(arena_printf(&a, "%s-%d", "n", 7), "n-7");
  char wide[5000];
  memset(wide, 'w', sizeof(wide) - 1);
  wide[sizeof(wide) - 1] = 0;
  CHECK_STR(arena_printf(&a, "%s", wide), wide);
  arena_release(&a);
}

static int order[8], called;
static void note(void *p) { order[called++] = *(int *)p; }

TEST(deferred_calls_run_newest_first_and_once) {
  struct arena a;
  arena_init(&a);
  int *numbers = arena_array(&a, int, 3);
  for (int i = 0; i < 3; i++) {
    numbers[i] = i + 1;
    arena_defer(&a, note, &numbers[i]); /* reads arena memory, which must still be valid */
  }
  arena_release(&a);
  CHECK_INT(called, 3);
  CHECK_INT(order[0], 3);
  CHECK_INT(order[1], 2);
  CHECK_INT(order[2], 1);
  arena_release(&a);
  CHECK_INT(called, 3);
}

/* Not a local of the test: longjmp may change those. */
static void use_and_release(struct arena *a) {
  CHECK_STR(arena_dup(a, STR("the arena still works")), "the arena still works");
  arena_release(a);
}

TEST(out_of_memory_jumps_to_the_boundary) {
  struct arena a;
  arena_init(&a);
  jmp_buf boundary;
  volatile bool reached = false;
  if (ARENA_BOUNDARY(&a, boundary) == 0) {
    static int one = 1;
    arena_defer(&a, note, &one);
    alloc_fail_at(1, 0);
    for (int i = 0; i < 10000; i++) /* more than fits into a block */
      (void)arena_alloc(&a, 64);
    FAIL("no jump");
  } else {
    reached = true;
  }
  CHECK(reached);
  CHECK_INT(alloc_failures(), 1);
  CHECK_INT(called, 0);
  use_and_release(&a);
  CHECK_INT(called, 1);
}

TEST(sizes_that_overflow_are_out_of_memory) {
  struct arena a;
  arena_init(&a);
  jmp_buf boundary;
  volatile int jumps = 0;
  if (ARENA_BOUNDARY(&a, boundary) == 0)
    (void)arena_mul(&a, SIZE_MAX / 2, 3);
  else
    jumps = jumps + 1;
  if (ARENA_BOUNDARY(&a, boundary) == 0)
    (void)arena_alloc(&a, SIZE_MAX - 3);
  else
    jumps = jumps + 1;
  if (ARENA_BOUNDARY(&a, boundary) == 0)
    (void)arena_array(&a, int64_t, SIZE_MAX / 4);
  else
    jumps = jumps + 1;
  CHECK_INT(jumps, 3);
  CHECK_INT(arena_mul(&a, 6, 7), 42);
  arena_release(&a);
}

TEST(the_boundary_survives_release) {
  struct arena a;
  arena_init(&a);
  jmp_buf boundary;
  volatile bool again = false;
  if (ARENA_BOUNDARY(&a, boundary) == 0) {
    (void)arena_alloc(&a, 1);
    arena_release(&a);
    alloc_fail_at(1, 0);
    (void)arena_alloc(&a, 1);
    FAIL("no jump");
  } else {
    again = true;
  }
  CHECK(again);
  arena_release(&a);
}

TEST(guarded_memory_is_locked_and_not_dumped) {
  struct arena a;
  arena_init(&a);
  char *before = arena_alloc(&a, 100);
  arena_guard(&a);
  char *after = arena_alloc(&a, 100), *large = arena_alloc(&a, 100000), *child = arena_alloc(arena_child(&a), 10);
  CHECK(!scan_is_safe(before));
  CHECK(scan_is_safe(after) && scan_is_safe(large) && scan_is_safe(child));
  CHECK_INT((uintptr_t)after % 16, 0);
  CHECK_INT((uintptr_t)large % 16, 0);
  memset(large, 1, 100000);
  arena_recycle(&a, SIZE_MAX);
  CHECK(!a.guarded);
  CHECK(!scan_is_safe(arena_alloc(&a, 100)));
  arena_release(&a);
}

TEST(guarding_wipes_earlier_allocations) {
  /* "wiped and gone", masked, so the test itself does not contain it. */
  static const char masked[] = "\x22\x3c\x25\x30\x31\x75\x34\x3b\x31\x75\x32\x3a\x3b\x30";
  struct arena a;
  arena_init(&a);
  char *p = arena_alloc(&a, sizeof(masked));
  for (size_t i = 0; i < sizeof(masked) - 1; i++)
    ((volatile char *)p)[i] = (char)(masked[i] ^ SCAN_MASK);
  struct str text = {masked, sizeof(masked) - 1};
  CHECK_INT(scan_memory(0, text).risky, 1);
  arena_guard(&a);
  arena_release(&a);
  CHECK_INT(scan_memory(0, text).risky, 0);
}
