/* fuzz_items.c: items of any input, parsed as Markdown or as source code comments. */
#include "base/utf8.h"
#include "core/files/comments.h"
#include "core/files/items.h"
#include "core/memory/headline.h"
#include "core/text/text.h"
#include "support/fuzz.h"

static const char *const files[] = {"a.md", "a.c", "a.py", "a.js", "a.sh", "a.lua", "a.rb", "a.html", "a.rs", "a.sql"};

/* Lines are slices of the text, in order, with correct line numbers. */
static void check_lines(struct arena *a, struct str file, struct str text) {
  struct prose_lines lines;
  comments_read(a, file, text, &lines);
  const char *at = text.p;
  int64_t number = 1;
  for (size_t i = 0; i < lines.n; i++) {
    struct str s = lines.v[i].text;
    FUZZ_CHECK(s.n == 0 || !memchr(s.p, '\n', s.n));
    FUZZ_CHECK(s.n == 0 || (s.p >= at && s.p + s.n <= text.p + text.n));
    for (; s.n && at < s.p; at++)
      number += *at == '\n';
    FUZZ_CHECK(s.n == 0 || lines.v[i].line == number);
    FUZZ_CHECK(i == 0 || lines.v[i].line >= lines.v[i - 1].line);
  }
  FUZZ_CHECK(lines.n == 0 || lines.v[0].starts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  struct str file = str_from(files[data[0] % ARRAY_LEN(files)]), text = {(const char *)data + 1, size - 1};
  struct arena a;
  struct items items;
  arena_init(&a);
  check_lines(&a, file, text);
  int64_t lines = 1;
  for (size_t i = 0; i < text.n; i++)
    lines += text.p[i] == '\n';
  items_find(&a, file, text, &items);
  FUZZ_CHECK(items.n <= ITEMS_MAX);
  for (size_t i = 0; i < items.n; i++) {
    const struct item *item = &items.v[i];
    char id[ITEM_ID_SIZE];
    FUZZ_CHECK(item->type < ITEM_TYPES && item->confidence > 0 && item->confidence < 1);
    FUZZ_CHECK(item->line >= 1 && item->line <= lines && (i == 0 || item->line >= items.v[i - 1].line));
    FUZZ_CHECK(text_has_letter(item->title) && item->title.n <= HEADLINE_BYTES);
    FUZZ_CHECK(text_has_letter(item->content) && item->content.n <= ITEM_BYTES);
    FUZZ_CHECK(utf8_check(item->title) == item->title.n && utf8_check(item->content) == item->content.n);
    FUZZ_CHECK(!memchr(item->content.p, '\n', item->content.n) && !memchr(item->title.p, '\n', item->title.n));
    item_id(&a, file, item, id);
    FUZZ_CHECK(strlen(id) == ITEM_ID_SIZE - 1);
  }
  arena_release(&a);
  return 0;
}
