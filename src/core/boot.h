/* boot.h: what an agent gets at the start of a conversation: choosing within a token budget, and rendering. Pure. */
#ifndef CAIRN_CORE_BOOT_H
#define CAIRN_CORE_BOOT_H

#include "base/buf.h"

enum { BOOT_BLOCKERS = 5, BOOT_PATTERNS = 5, BOOT_TASKS_SHOWN = 20, BOOT_EACH = 5 };

struct boot_line {
  int64_t id;
  struct str text; /* one line */
  bool protect;    /* never dropped, whatever the budget */
};

struct boot_group {
  const char *name, *title;
  const char *fetch; /* the call that shows what was dropped */
  int drop_order;    /* 1 is dropped first; 0 = never */
  struct boot_line *v;
  size_t n, cap;
  size_t shown;   /* how many of v fit */
  size_t dropped; /* beyond the cap of the section, or by the budget */
};

/* Cuts groups (in the order in which they are shown) until the rendered text fits the budget: from the end of the group
 * with the lowest drop order first, never a protected line. Returns the text; ret_tokens is its size. */
struct str boot_fit(struct arena *a, struct str title, struct boot_group *groups, size_t n, size_t budget,
                    size_t *ret_tokens);

#endif
