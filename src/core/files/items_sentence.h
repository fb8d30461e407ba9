/* items_sentence.h: markers, sentences and headings that indicate items; private to items.c. */
#pragma once

#include "base/buf.h"
#include "core/files/items.h"

enum marker_form {
  MARKER_NONE,
  MARKER_FULL,  /* "DECISION: x" */
  MARKER_SMALL, /* "Decision: x", "**Note**: x", "@todo x", "TODO x" */
};
struct marker {
  enum marker_form form;
  enum item_type type;
  size_t rest; /* offset of the text after it; the end of the text if there is none */
};

/* Marker at the start of a text, after emphasis. */
struct marker marker_at_start(struct str s);
/* First marker in capital letters with a colon inside a text, not in code; *ret_at is its offset. */
struct marker marker_inside(struct str s, size_t *ret_at);

/* "We chose x". */
bool sentence_is_decision(struct str s);

/* "x is a y". */
struct definition {
  struct str name; /* slice of the sentence */
  bool strong;     /* looks like a name: emphasized, code, several words, capitals inside */
};
bool sentence_is_definition(struct str s, struct definition *ret_definition);

/* Type of the items below a heading such as "Decisions" or "Next steps"; false if it has none. *ret_one: a single item,
 * not a list. */
bool heading_item_type(struct str plain, enum item_type *ret_type, bool *ret_one);
/* Strips "3. " or "ADR-12: " from the start of a heading. */
struct str heading_bare(struct str plain);
