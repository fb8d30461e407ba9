/* fuzz_present.c: any bytes as presented text: the output is valid UTF-8 without hidden characters, and presenting
 * it again changes nothing. */
#include "core/trust/present.h"

#include "base/utf8.h"
#include "support/fuzz.h"

static void check(struct arena *a, struct str s) {
  FUZZ_CHECK(utf8_check(s) == s.n);
  FUZZ_CHECK(str_find(s, STR("```"), 0) == SIZE_MAX && str_find(s, STR("~~~"), 0) == SIZE_MAX);
  FUZZ_CHECK(str_find(s, STR("<system"), 0) == SIZE_MAX && str_find(s, STR("<|"), 0) == SIZE_MAX);
  for (size_t i = 0; i < s.n; i++)
    FUZZ_CHECK((unsigned char)s.p[i] >= 0x20 || s.p[i] == '\n' || s.p[i] == '\t');
  FUZZ_CHECK(str_eq(present_neutral(a, s), s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  arena_init(&a);
  struct str input = {(const char *)data, size}, line = present_line(&a, input);
  check(&a, present_neutral(&a, input));
  check(&a, line);
  FUZZ_CHECK(!line.n || !memchr(line.p, '\n', line.n));
  FUZZ_CHECK(!line.n || !memchr(line.p, '`', line.n));
  arena_release(&a);
  return 0;
}
