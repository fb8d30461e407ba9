/* fuzz_mirror.c: any MEMORY.md page: its bullets survive a write and a second read unchanged. */
#include "core/files/mirror.h"

#include "base/utf8.h"
#include "support/fuzz.h"

/* Keeps every bullet, with a note, and makes a memory of each. */
static void settle(struct arena *a, struct mirror_page *page, struct mirror_entries *entries) {
  int64_t id = 0;
  for (size_t i = 0; i < page->blocks.n; i++) {
    struct mirror_block *b = &page->blocks.v[i];
    if (b->kind != MIRROR_BULLET)
      continue;
    FUZZ_CHECK(b->prefix.n >= 2);
    mirror_hold(a, b, MIRROR_REFUSED, STR("no"));
    b->uid = b->hash = STR_NONE;
    b->anchor_id = 0;
    int section = (int)((size_t)++id % mirror_section_count());
    list_push(a, entries,
              (struct mirror_entry){.id = id,
                                    .uid = arena_printf(a, "0199f0aa-0000-7000-8000-%012llx", (unsigned long long)id),
                                    .text = b->text,
                                    .section = section,
                                    .task = mirror_section_type(section)->kind == KIND_TASK});
  }
}

static void check_texts(struct arena *a, const struct mirror_page *page) {
  for (size_t i = 0; i < page->blocks.n; i++) {
    const struct mirror_block *b = &page->blocks.v[i];
    if (b->kind == MIRROR_BULLET)
      FUZZ_CHECK(str_eq(b->text, mirror_canonical(a, b->text)));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a = {0};
  struct str input = {(const char *)data, size};
  const struct mirror_options options = {.owner = STR("t/p"), .project = STR("p"), .max_chars = 10000000};
  struct mirror_page page;
  struct mirror_entries entries = {0}, none = {0};
  struct mirror_counts counts;
  if (utf8_check(input) < size || (size && memchr(data, 0, size))) /* such files are rejected earlier */
    return 0;
  mirror_parse(&a, input, &page);
  check_texts(&a, &page);
  settle(&a, &page, &entries);
  /* Held bullets stay held, with unchanged text. */
  struct str once = mirror_render(&a, &page, &none, &options, &counts);
  struct mirror_page again;
  struct mirror_knowns known = {0};
  struct mirror_ids removed = {0};
  mirror_parse(&a, once, &again);
  mirror_compare(&a, &again, &known, &removed);
  FUZZ_CHECK(removed.n == 0);
  size_t k = 0;
  for (size_t i = 0; i < page.blocks.n; i++) {
    if (page.blocks.v[i].kind != MIRROR_BULLET || str_empty(page.blocks.v[i].text))
      continue;
    while (k < again.blocks.n &&
           !(again.blocks.v[k].kind == MIRROR_BULLET && str_eq(again.blocks.v[k].text, page.blocks.v[i].text)))
      k++;
    FUZZ_CHECK(k < again.blocks.n);
    FUZZ_CHECK(again.blocks.v[k].fate == MIRROR_HOLD || again.blocks.v[k].fate == MIRROR_ADD);
    k++;
  }
  /* Memories written to a new page are read back unchanged. */
  struct mirror_page blank = {0}, read;
  mirror_parse(&a, mirror_render(&a, &blank, &entries, &options, &counts), &read);
  for (size_t i = 0; i < entries.n; i++) {
    bool found = str_empty(entries.v[i].text);
    for (size_t n = 0; n < read.blocks.n && !found; n++)
      found = read.blocks.v[n].anchor_id == entries.v[i].id && str_eq(read.blocks.v[n].text, entries.v[i].text) &&
              str_eq(read.blocks.v[n].anchor_code, mirror_code(&a, entries.v[i].uid, entries.v[i].text));
    FUZZ_CHECK(found);
  }
  arena_release(&a);
  return 0;
}
