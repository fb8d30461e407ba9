/* test_secret_pool.c: pool of locked memory: reuse, wiping, limit. */
#include "base/secret_pool.h"

#include "base/arena.h"
#include "support/harness.h"
#include "support/scan.h"

TEST(pieces_are_locked_wiped_and_reused) {
  struct secret_pool *pool = secret_pool_new();
  CHECK(pool);
  uint8_t *a = secret_pool_take(pool), *b = secret_pool_take(pool);
  CHECK(a && b && a != b);
  CHECK(scan_is_safe(a) && scan_is_safe(b + SECRET_PIECE - 1));
  CHECK_INT((uintptr_t)a % 16, 0);
  memset(a, 7, SECRET_PIECE);
  secret_pool_give(pool, a, SECRET_PIECE);
  CHECK(secret_pool_take(pool) == a);
  for (size_t i = sizeof(void *); i < SECRET_PIECE; i++)
    CHECK_INT(a[i], 0);
  secret_pool_give(pool, a, 0);
  secret_pool_give(pool, b, 0);
  secret_pool_free(&pool);
  CHECK(!pool);
  secret_pool_free(&pool);
}

TEST(a_pool_has_less_than_a_megabyte) {
  enum { MOST = (1 << 20) / SECRET_PIECE };
  struct secret_pool *pool = secret_pool_new();
  void *taken[MOST];
  size_t n = 0;
  while (n < MOST && (taken[n] = secret_pool_take(pool)))
    n++;
  CHECK(n >= 16 && n < MOST);
  for (size_t i = 0; i < n; i++)
    secret_pool_give(pool, taken[i], 1);
  secret_pool_free(&pool);
}

TEST(an_undecided_arena_is_guarded_until_it_is_relaxed) {
  struct secret_pool *pool = secret_pool_new();
  struct arena a;
  arena_init(&a);
  arena_guard_undecided(&a, pool);
  CHECK(scan_is_safe(arena_alloc(&a, 100)));
  CHECK(scan_is_safe(arena_alloc(arena_child(&a), 100)));
  CHECK(scan_is_safe(arena_alloc(&a, 200000))); /* more than a piece */
  arena_unguard(&a);
  CHECK(!scan_is_safe(arena_alloc(&a, 100)));
  arena_release(&a);
  CHECK(!a.guarded);

  arena_guard_undecided(&a, pool);
  arena_guard(&a); /* the text contains a secret */
  arena_unguard(&a);
  CHECK(scan_is_safe(arena_alloc(&a, 100)));
  arena_release(&a);

  arena_guard_undecided(&a, NULL);
  CHECK(scan_is_safe(arena_alloc(&a, 100)));
  arena_release(&a);
  secret_pool_free(&pool);
}

TEST(an_arena_returns_its_pieces_wiped) {
  struct secret_pool *pool = secret_pool_new();
  struct arena a;
  arena_init(&a);
  for (int round = 0; round < 200; round++) { /* more than the pool has */
    arena_guard_undecided(&a, pool);
    char *p = arena_alloc(&a, 1000);
    memset(p, 9, 1000);
    if (round % 2)
      arena_unguard(&a);
    arena_release(&a);
  }
  uint8_t *piece = secret_pool_take(pool);
  CHECK(piece);
  for (size_t i = sizeof(void *); i < 1000; i++)
    CHECK(piece[i] != 9); /* may be unused: arenas of sanitizer builds take no pieces */
  secret_pool_give(pool, piece, 0);
  secret_pool_free(&pool);
}
