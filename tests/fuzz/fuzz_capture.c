/* fuzz_capture.c: pieces of any input pass the limits of the write gate. */
#include "base/utf8.h"
#include "core/memory/capture.h"
#include "core/memory/headline.h"
#include "core/memory/types.h"
#include "core/text/text.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str text = {(const char *)data, size};
  struct arena a;
  arena_init(&a);
  bool valid = utf8_check(text) == size;
  struct capture_pieces pieces;
  struct strs dropped = {0};
  capture_split(&a, text, &pieces, &dropped);
  FUZZ_CHECK(dropped.n <= size && pieces.n <= size);
  for (size_t i = 0; i < pieces.n; i++) {
    const struct capture_piece *p = &pieces.v[i];
    enum kind kind;
    FUZZ_CHECK(text_has_letter(p->headline) && text_count_words(p->headline) <= HEADLINE_WORDS);
    FUZZ_CHECK(p->headline.n <= HEADLINE_BYTES && utf8_check(p->headline) == p->headline.n);
    size_t words = text_count_words(p->body);
    FUZZ_CHECK(words >= CAPTURE_MIN_WORDS && words <= CAPTURE_MAX_WORDS);
    FUZZ_CHECK(!valid || utf8_check(p->body) == p->body.n);
    FUZZ_CHECK(kind_parse(str_from(p->type_cue), &kind));
  }
  arena_release(&a);
  return 0;
}
