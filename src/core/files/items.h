/* items.h: what a file says that is worth finding: entities, claims, decisions, tasks, notes. By rule, never by model.
 *
 * Prose is all of a Markdown or plain text, and the comments of a source file (core/files/comments.h). Evidence, with
 * the confidence that it gives, is one table in items.c: check boxes, marks ("DECISION:", "TODO(ann):"), headings ("##
 * Decisions", "## Decision: x"), sentences that decide or define, and capitalised names. Fenced and indented code,
 * tables and front matter are passed over. */
#pragma once

#include "base/arena.h"

enum item_type { ITEM_ENTITY, ITEM_CLAIM, ITEM_DECISION, ITEM_TASK, ITEM_NOTE, ITEM_TYPES };
extern const char *const item_type_names[ITEM_TYPES];

enum { ITEMS_MAX = 1000, ITEM_BYTES = 1200, ITEM_NAMES = 10, ITEM_ID_SIZE = 22 };

struct item {
  enum item_type type;
  struct str title;   /* one line; of an entity its name */
  struct str content; /* one line, as it was written; at most ITEM_BYTES */
  int64_t line;       /* from 1 */
  double confidence;  /* above 0, below 1 */
};
struct items {
  struct item *v;
  size_t n, cap;
};

/* The rules as they are now. What was found by others is to be found again. */
enum { ITEM_RULES = 1 };

/* By line, none twice, at most ITEMS_MAX. The results lie in the arena. */
void items_find(struct arena *a, struct str file, struct str text, struct items *ret);

/* "item_" and 16 hexadecimal digits: of type, file and the normal form of the content (of an entity: of its name), so
 * that it stays when the item moves to another line, and when case or white space change. */
void item_id(struct arena *a, struct str file, const struct item *item, char out[ITEM_ID_SIZE]);
