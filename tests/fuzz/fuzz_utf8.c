/* fuzz_utf8.c: any bytes through the UTF-8 functions: the output is valid, and a second pass does not change it. */
#include "base/utf8.h"

#include "support/fuzz.h"

static void check_walk(struct str s, size_t first_bad) {
  size_t pos = 0, count = 0;
  while (pos < s.n) {
    size_t before = pos;
    uint32_t cp = utf8_next(s, &pos);
    FUZZ_CHECK(pos > before && pos <= s.n && pos - before <= 4);
    FUZZ_CHECK(cp <= 0x10ffff && !(cp >= 0xd800 && cp <= 0xdfff));
    if (before < first_bad) {
      char bytes[4] = {0};
      size_t n = utf8_put(cp, bytes);
      FUZZ_CHECK(str_eq((struct str){bytes, n}, str_slice(s, before, pos)));
    }
    (void)utf8_is_letter(cp);
    (void)utf8_is_alnum(cp);
    (void)utf8_is_upper(cp);
    (void)utf8_is_space(cp);
    (void)utf8_is_unspaced(cp);
    count++;
  }
  if (first_bad == s.n)
    FUZZ_CHECK(count == utf8_length(s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str s = {(const char *)data, size};
  size_t good = utf8_check(s);
  FUZZ_CHECK(good <= size);
  struct str prefix = str_slice(s, 0, good);
  FUZZ_CHECK(utf8_check(prefix) == good);
  check_walk(s, good);

  size_t max = size ? data[0] : 0;
  FUZZ_CHECK(utf8_cut(s, max).n <= max);
  struct str cut = utf8_cut(prefix, max);
  FUZZ_CHECK(cut.n <= max && utf8_check(cut) == cut.n && cut.n + 4 > (max < good ? max : good));

  struct arena a;
  arena_init(&a);
  struct str once = utf8_fold(&a, s);
  FUZZ_CHECK(utf8_check(once) == once.n);
  FUZZ_CHECK(str_eq(utf8_fold(&a, once), once));
  arena_release(&a);
  return 0;
}
