/* fuzz_chunk.c: chunks of any input are in order, complete, within the size limit, and split at character
 * boundaries. */
#include "base/utf8.h"
#include "core/memory/chunk.h"
#include "core/text/text.h"
#include "core/text/token_count.h"
#include "support/fuzz.h"
#include "transcript/core/turns.h"

static void check_tokens(struct str s) {
  size_t half = utf8_cut(s, s.n / 2).n;
  size_t whole = tokens_estimate(s);
  size_t left = tokens_estimate(str_slice(s, 0, half)), right = tokens_estimate(str_slice(s, half, s.n));
  FUZZ_CHECK(whole >= left && whole >= right && whole <= left + right);
  FUZZ_CHECK(tokens_estimate(tokens_cut(s, 7)) <= 7);
}

/* Turns cover the whole text, and a short turn is never split. */
static void check_turns(struct str body, const struct turns *turns, const struct chunks *chunks) {
  size_t covered = 0, at = 0;
  for (size_t i = 0; i < turns->n; i++) {
    struct turn t = turns->v[i];
    FUZZ_CHECK(t.start >= covered && t.start < t.end && t.end <= body.n);
    FUZZ_CHECK(str_trim(str_slice(body, covered, t.start)).n == 0);
    covered = t.end;
    while (at < chunks->n && chunks->v[at].start + chunks->v[at].len < t.end)
      at++;
    FUZZ_CHECK(t.tokens > CHUNK_TURNS || (at < chunks->n && chunks->v[at].start <= t.start));
  }
  FUZZ_CHECK(turns->n == 0 || str_trim(str_slice(body, covered, body.n)).n == 0);
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
  struct turns turns = {0};
  bool talk = transcript_turns(&a, body, &turns);
  FUZZ_CHECK(tokens_estimate(str_trim(body)) > (talk ? CHUNK_TURNS : CHUNK_MAX) || chunks.n <= 1);
  check_turns(body, &turns, &chunks);
  if (valid)
    check_tokens(body);
  arena_release(&a);
  return 0;
}
