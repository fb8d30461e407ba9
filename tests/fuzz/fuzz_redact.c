/* fuzz_redact.c: secrets in any text: hits are in order, in range and between characters, and cutting them out leaves
 * valid text in which nothing more is found. */
#include "core/redact.h"

#include "base/utf8.h"
#include "support/fuzz.h"

/* Everything up to the first 0x1e byte, if there is one, is a known value; the rest is the text. */
static struct str split(struct str input, struct str *ret_known) {
  size_t at = str_find(input, STR("\x1e"), 0);
  *ret_known = at == SIZE_MAX ? STR_NONE : str_slice(input, 0, at);
  return at == SIZE_MAX ? input : str_slice(input, at + 1, input.n);
}

static bool between_characters(struct str text, size_t at) {
  return at == text.n || ((unsigned char)text.p[at] & 0xc0) != 0x80;
}

static void check_hits(struct arena *a, struct str text, const struct secret_hits *hits) {
  size_t end = 0;
  for (size_t i = 0; i < hits->n; i++) {
    const struct secret_hit *h = &hits->v[i];
    FUZZ_CHECK(h->len > 0 && h->start >= end && h->start <= text.n && h->len <= text.n - h->start);
    end = h->start + h->len;
    FUZZ_CHECK(between_characters(text, h->start) && between_characters(text, end));
    struct str preview = redact_preview(a, text, h);
    FUZZ_CHECK(utf8_check(preview) == preview.n && preview.n < 100);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str input = {(const char *)data, size};
  if (utf8_check(input) != size)
    return 0;
  struct arena a;
  arena_init(&a);
  struct str value, text = split(input, &value);
  struct strs known = {0};
  strs_push(&a, &known, value);
  struct secret_hits hits, again;
  redact_find(&a, text, &known, &hits);
  check_hits(&a, text, &hits);
  struct str clean = redact_apply(&a, text, &hits);
  FUZZ_CHECK(utf8_check(clean) == clean.n);
  FUZZ_CHECK(hits.n > 0 || str_eq(clean, text));
  redact_find(&a, clean, &known, &again);
  FUZZ_CHECK(again.n == 0);
  arena_release(&a);
  return 0;
}
