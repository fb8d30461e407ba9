/* render.h: boot payload in the formats "full" (whole texts) and "blocks". Pure. */
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

/* Token estimate of the "full" format: 3.5 bytes per token, rounded. */
size_t boot_full_tokens(size_t bytes);
/* Markdown: whole texts under the headings of their types, then statistics. Exceeding the budget adds a warning;
 * nothing is cut. Empty if there are no texts. *ret_used is the tokens of the texts. */
struct str boot_render_full(struct arena *a, struct str project, const char *project_from,
                            const struct boot_texts *texts, size_t budget, size_t *ret_used);

/* "[TYPE] [key]: content", one block per text; the id if it has no key. */
struct str boot_render_blocks(struct arena *a, const struct boot_texts *texts);

/* "2 memories are not shown: ...", without a full stop. */
struct str boot_untrusted_note(struct arena *a, int64_t n);
