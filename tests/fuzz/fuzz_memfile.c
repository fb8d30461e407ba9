/* fuzz_memfile.c: any path and any text: an accepted path stays in the directory, and edits lose no byte. */
#include "core/files/memfile.h"
#include "support/fuzz.h"

static void check_path(struct str given) {
  struct str path, rest, part;
  struct error err;
  if (memfile_path(given, &path, &err) != STATUS_OK)
    return;
  FUZZ_CHECK(str_is(path, MEMFILE_ROOT) || memfile_is_path(path));
  FUZZ_CHECK(path.n <= MEMFILE_PATH_BYTES && path.p[path.n - 1] != '/');
  rest = str_slice(path, 1, path.n);
  while (str_next(&rest, '/', &part))
    FUZZ_CHECK(part.n && !str_is(part, ".") && !str_is(part, ".."));
}

static void check_text(struct arena *a, struct str text) {
  size_t lines = memfile_count_lines(text), last;
  struct str half = str_slice(text, 0, text.n / 2), shown = memfile_number(a, text, 1, lines, &last);
  FUZZ_CHECK(last <= lines && (lines == 0) == (shown.n == 0));
  for (size_t line = 0; line <= lines && line < 8; line++) {
    struct str longer = memfile_insert(a, text, line, STR("mark"));
    FUZZ_CHECK(longer.n >= text.n + 5 && longer.n <= text.n + 6);
    FUZZ_CHECK(memfile_count_lines(longer) == lines + 1);
  }
  struct str replaced = memfile_replace(a, text, 0, half.n, STR(""));
  FUZZ_CHECK(replaced.n == text.n - half.n);
  struct places places = {0};
  memfile_find(a, text, half, &places);
  FUZZ_CHECK((places.n > 0) == (half.n > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a = {0};
  struct str input = {(const char *)data, size};
  check_path(input);
  check_text(&a, input);
  arena_release(&a);
  return 0;
}
