/* fuzz_pieces.c: any text as a file and as .gitignore rules: pieces keep every line, and matching terminates. */
#include "base/utf8.h"
#include "core/files/pieces.h"
#include "file/ignore.h"
#include "support/fuzz.h"

static void check_pieces(struct arena *a, struct str name, struct str text) {
  struct pieces p = {0};
  pieces_split(a, name, text, &p);
  size_t at = 0;
  int64_t line = 1;
  for (size_t i = 0; i < p.n; i++) {
    size_t start = (size_t)(p.v[i].text.p - text.p);
    FUZZ_CHECK(p.v[i].text.n > 0 && start >= at && start + p.v[i].text.n <= text.n);
    FUZZ_CHECK(str_empty(str_trim(str_slice(text, at, start))));
    for (; at < start; at++)
      line += text.p[at] == '\n';
    FUZZ_CHECK(p.v[i].line == line);
    for (; at < start + p.v[i].text.n; at++)
      line += text.p[at] == '\n';
  }
  FUZZ_CHECK(str_empty(str_trim(str_slice(text, at, text.n))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  arena_init(&a);
  struct str text = arena_dup(&a, (struct str){(const char *)data, size}), rest = text, path;
  const struct ignore *rules = ignore_parse(&a, NULL, STR(""), text);
  const struct ignore *both = ignore_parse(&a, rules, STR("a"), text);
  for (int i = 0; i < 50 && str_line(&rest, &path); i++) {
    ignore_match(rules, path, false);
    ignore_match(both, path, true);
  }
  if (utf8_check(text) == text.n) {
    check_pieces(&a, STR("a.md"), text);
    check_pieces(&a, STR("a.txt"), text);
  }
  arena_release(&a);
  return 0;
}
