/* render.h: two more renderings of what an agent gets at the start: texts in full, and blocks by type. Pure. */
#pragma once

#include "core/memory/types.h"

enum { BOOT_FULL_TOKENS = 30000, BOOT_BLOCKS = 50, BOOT_BLOCKS_WARN = BOOT_BLOCKS * 80 / 100 };

struct boot_text {
  int64_t id;
  const struct mem_type *type;
  struct str project, key, body;
};

struct boot_texts {
  struct boot_text *v;
  size_t n, cap;
};

/* The estimate of this rendering: 3.5 bytes a token, rounded. */
size_t boot_full_tokens(size_t bytes);
/* Markdown: the texts in full under the headings of their types, then what they take. More than the budget is said, and
 * not cut. Nothing at all for no texts. ret_used: tokens of the texts. */
struct str boot_full(struct arena *a, struct str project, const char *project_from, const struct boot_texts *texts,
                     size_t budget, size_t *ret_used);

/* "[TYPE] [key]: content", one block for each text in the order given; a text without a key shows its number. */
struct str boot_blocks(struct arena *a, const struct boot_texts *texts);
