/* budget.h: boot payload of an agent, cut to fit its token budget. Pure. */
#pragma once

#include "base/json.h"

enum { BOOT_RELEVANT = 10, BOOT_PATTERNS = 5, BOOT_TASKS_SHOWN = 20, BOOT_EACH = 5 };

struct boot_line {
  int64_t id;          /* 0 if none is shown */
  struct str text;     /* one line */
  bool protect;        /* dropped only if `by_agent`, to make room for lines with `outranks` */
  bool by_agent;       /* not written by a person */
  bool surplus;        /* dropped before everything else */
  bool outranks;       /* a person's blocker: dropped after everything that agents wrote */
  bool dropped;        /* set by boot_fit_budget() */
  struct str headline; /* in the JSON; the text if absent */
  struct str priority, status, type;
  struct str author; /* of a rule that a person did not write; absent otherwise */
  struct str json;   /* only for a group with `member` set: the whole object */
};

struct boot_group {
  const char *name, *title;
  const char *fetch; /* call that shows the dropped lines */
  int drop_order;    /* from 1, which is dropped first; 0 means never */
  bool member;       /* a top-level member of the result instead of a section */
  bool single;       /* a member that is one object or absent, not a list; its text is a paragraph */
  struct boot_line *v;
  size_t n, cap;
  size_t shown;   /* lines that fit */
  size_t dropped; /* lines beyond the cap of the section or the budget */
  /* Memories that maintenance has taken from the section; `retired` is what they are: "faded", "stale". */
  const char *retired, *fetch_retired;
  size_t retired_count;
};

struct boot_payload {
  struct str title; /* of the text */
  struct str note;  /* line below the title; may be absent */
  struct boot_group *groups;
  size_t n;
  size_t budget;
  bool no_text;     /* leave out the text */
  bool no_sections; /* leave out the sections and members, which repeat the text */
};

/* Adds {section, count, state, fetch} for the retired memories of a group, if it has any. */
void boot_put_retired(yyjson_mut_doc *doc, yyjson_mut_val *dropped, const struct boot_group *group);

/* Applies the budget: drops lines until the JSON result fits. Drops from the end of the group with the lowest drop
 * order first: surplus lines, then others without protection, then those that agents protected, then a person's
 * blockers. Returns the result: the members of `head`, then text, tokens, budget, sections, dropped, and the groups
 * with `member` set. */
yyjson_mut_val *boot_fit_budget(struct arena *a, yyjson_mut_doc *doc, yyjson_mut_val *head, struct boot_payload *p,
                                size_t *ret_tokens);
