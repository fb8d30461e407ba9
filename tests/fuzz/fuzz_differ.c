/* fuzz_differ.c: two texts, split at the first NUL: the check is symmetric, repeatable and points into its inputs. */
#include "core/gate/differ.h"
#include "support/fuzz.h"

static void check_piece(struct str whole, struct str piece) {
  FUZZ_CHECK(piece.n == 0 || (piece.p >= whole.p && piece.p + piece.n <= whole.p + whole.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str all = {(const char *)data, size};
  const char *cut = size ? memchr(all.p, 0, size) : NULL;
  size_t at = cut ? (size_t)(cut - all.p) : size / 2;
  struct str a = size ? str_slice(all, 0, at) : STR_NONE, b = size ? str_slice(all, cut ? at + 1 : at, size) : STR_NONE;
  struct arena arena;
  arena_init(&arena);
  struct difference there = differ_check(&arena, a, b), back = differ_check(&arena, b, a);
  FUZZ_CHECK(there.what == back.what && str_eq(there.a, back.b) && str_eq(there.b, back.a));
  FUZZ_CHECK((there.what == DIFFER_NONE) == (there.a.p == NULL));
  check_piece(a, there.a);
  check_piece(b, there.b);
  FUZZ_CHECK(differ_check(&arena, a, a).what == DIFFER_NONE);
  arena_release(&arena);
  return 0;
}
