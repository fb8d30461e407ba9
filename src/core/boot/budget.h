/* budget.h: what an agent gets at the start of a conversation: choosing within a token budget, and rendering. Pure. */
#pragma once

#include "base/json.h"

enum { BOOT_BLOCKERS = 5, BOOT_PATTERNS = 5, BOOT_TASKS_SHOWN = 20, BOOT_EACH = 5 };

struct boot_line {
  int64_t id;          /* 0: none is shown */
  struct str text;     /* one line */
  bool protect;        /* never dropped, whatever the budget */
  struct str headline; /* in the JSON; absent: the text */
  struct str priority, status;
  struct str json; /* of a group that is a member of its own: the whole object */
};

struct boot_group {
  const char *name, *title;
  const char *fetch; /* the call that shows what was dropped */
  int drop_order;    /* 1 is dropped first; 0 = never */
  bool member;       /* not one of the sections: a list of its own, under its name */
  bool single;       /* a member that is one object, or absent; its text is a paragraph */
  struct boot_line *v;
  size_t n, cap;
  size_t shown;   /* how many of v fit */
  size_t dropped; /* beyond the cap of the section, or by the budget */
};

struct boot_payload {
  struct str title; /* of the text */
  struct str note;  /* a line below it, or absent */
  struct boot_group *groups;
  size_t n;
  size_t budget;
  bool no_text;     /* leave the text out of the result, */
  bool no_sections; /* or what it says once more: sections, and the groups that are members */
};

/* Cuts groups (in the order in which they are shown) until the result as it is sent, JSON and all, fits the budget:
 * from the end of the group with the lowest drop order first, never a protected line. Returns the result: the members
 * of `head`, then text, tokens, budget, sections, dropped, and the groups that are members. */
yyjson_mut_val *boot_fit(struct arena *a, yyjson_mut_doc *doc, yyjson_mut_val *head, struct boot_payload *p,
                         size_t *ret_tokens);
