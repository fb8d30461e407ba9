/* fuzz_chunk.c: chunks of any bytes: in order, complete, within their size, between characters. */
#include "base/utf8.h"
#include "core/chunk.h"
#include "core/text.h"
#include "core/tokens.h"
#include "support/fuzz.h"

static void check_tokens(struct str s) {
  size_t half = utf8_cut(s, s.n / 2).n;
  size_t whole = tokens_estimate(s);
  size_t left = tokens_estimate(str_slice(s, 0, half)), right = tokens_estimate(str_slice(s, half, s.n));
  FUZZ_CHECK(whole >= left && whole >= right && whole <= left + right);
  FUZZ_CHECK(tokens_estimate(tokens_cut(s, 7)) <= 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str body = {(const char *)data, size};
  struct arena a;
  arena_init(&a);
  bool valid = utf8_check(body) == size;
  struct chunks chunks;
  chunk_split(&a, body, &chunks);
  size_t covered = 0, last_start = 0;
  for (size_t i = 0; i < chunks.n; i++) {
    struct chunk c = chunks.v[i];
    FUZZ_CHECK(c.len > 0 && c.start + c.len <= size);
    FUZZ_CHECK(i == 0 || (c.start > last_start && c.start + c.len > covered));
    for (size_t k = covered; k < c.start; k++)
      FUZZ_CHECK(ascii_space(body.p[k]));
    struct str text = str_slice(body, c.start, c.start + c.len);
    FUZZ_CHECK(!valid || utf8_check(text) == text.n);
    FUZZ_CHECK(tokens_estimate(text) <= CHUNK_MAX);
    covered = c.start + c.len;
    last_start = c.start;
  }
  for (size_t k = covered; k < size; k++)
    FUZZ_CHECK(ascii_space(body.p[k]));
  FUZZ_CHECK(tokens_estimate(str_trim(body)) > CHUNK_MAX || chunks.n <= 1);
  if (valid)
    check_tokens(body);
  arena_release(&a);
  return 0;
}
