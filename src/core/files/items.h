/* items.h: rule-based extraction of entities, claims, decisions, tasks and notes from a file.
 *
 * Reads the prose of the file (core/files/comments.h). A table in items.c has the kinds of evidence and their
 * confidence: check boxes, markers ("DECISION:", "TODO(ann):"), headings ("## Decisions", "## Decision: x"), sentences
 * that state a decision or a definition, and capitalized names. Fenced and indented code, tables and front matter are
 * skipped. */
#pragma once

#include "base/arena.h"

enum item_type { ITEM_ENTITY, ITEM_CLAIM, ITEM_DECISION, ITEM_TASK, ITEM_NOTE, ITEM_TYPES };
extern const char *const item_type_names[ITEM_TYPES];

enum { ITEMS_MAX = 1000, ITEM_BYTES = 1200, ITEM_NAMES = 10, ITEM_ID_SIZE = 22 };

struct item {
  enum item_type type;
  struct str title;   /* one line; the name of an entity */
  struct str content; /* one line, as written; at most ITEM_BYTES */
  int64_t line;       /* from 1 */
  double confidence;  /* above 0, below 1 */
};
struct items {
  struct item *v;
  size_t n, cap;
};

/* Version of the rules. Increment it if their results change, so files are read again. */
enum { ITEM_RULES = 2 };

/* Finds at most ITEMS_MAX items without duplicates, ordered by line. */
void items_find(struct arena *a, struct str file, struct str text, struct items *ret);

/* "item_" and 16 hex digits: a hash of type, file and normalized content (for an entity, its name). Moving the item, or
 * changing case or white space, does not change it. */
void item_id(struct arena *a, struct str file, const struct item *item, char out[ITEM_ID_SIZE]);
