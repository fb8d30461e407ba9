/* items_sentence.h: what marks and sentences say, for items.c. */
#pragma once

#include "base/buf.h"
#include "core/files/items.h"

/* How a mark was written. */
enum mark_form {
  MARK_NONE,
  MARK_FULL,  /* "DECISION: x" */
  MARK_SMALL, /* "Decision: x", "**Note**: x", "@todo x", "TODO x" */
};
struct mark {
  enum mark_form form;
  enum item_type type;
  size_t rest; /* offset of what it marks; the end of the text where it stands alone */
};

/* The mark at the start of a text, behind emphasis. */
struct mark mark_at_start(struct str s);
/* The first mark in capital letters with a colon inside a text, outside of code; *ret_at is where it begins. */
struct mark mark_inside(struct str s, size_t *ret_at);

/* A sentence that tells of a decision: "We chose x". */
bool sentence_decides(struct str s);

/* A sentence that says what something is: "x is a y". The name is a part of s. */
struct definition {
  struct str name;
  bool strong; /* the name is one by its form: emphasised, code, several words, capitals inside */
};
bool sentence_defines(struct str s, struct definition *ret_definition);

/* What a heading announces: "Decisions", "Next steps". *ret_one: a single one, not a list. */
bool heading_announces(struct str plain, enum item_type *ret_type, bool *ret_one);
/* Without "3. " or "ADR-12: " at its start. */
struct str heading_bare(struct str plain);
