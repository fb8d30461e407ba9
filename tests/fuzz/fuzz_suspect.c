/* fuzz_suspect.c: any input gets a repeatable verdict, a list of known names. */
#include "core/trust/suspect.h"

#include "core/trust/suspect_words.h"
#include "support/fuzz.h"

static bool is_name(struct str word) {
  for (int i = 0; i < FOUND_COUNT; i++)
    if (str_is(word, suspect_names[i]))
      return true;
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  arena_init(&a);
  struct str text = {(const char *)data, size}, why = suspect_text(&a, text), rest = why, word;
  FUZZ_CHECK(str_eq(why, suspect_text(&a, text)));
  while (str_next(&rest, ' ', &word))
    FUZZ_CHECK(is_name(word));
  arena_release(&a);
  return 0;
}
