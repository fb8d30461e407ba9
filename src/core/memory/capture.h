/* capture.h: splits raw text (a conversation, notes) into atomic pieces, by rule. */
#pragma once

#include "base/arena.h"

enum {
  CAPTURE_MIN_WORDS = 5,    /* what is shorter says nothing on its own */
  CAPTURE_LINE_WORDS = 300, /* longer paragraphs are split at their line breaks */
  CAPTURE_MAX_WORDS = 400,  /* no body is longer, what was put before it included */
};

struct piece {
  struct str headline;  /* as headline_derive() makes it, behind "heading: " where that fits */
  struct str body;      /* the text, behind the heading and the lead-in that it stands under */
  const char *type_cue; /* the kind that its words speak for */
  bool blocker;         /* it forbids something; means a severity only where the kind is a rule */
};

struct pieces {
  struct piece *v;
  size_t n, cap;
};

/* Pieces in the order of the text; *ret_dropped counts the parts that were too short. Blank lines, headings, turns of
 * speakers and list items that are sentences of their own begin a piece; fenced code stays with the text before it; a
 * speaker's name stays in the body and off the headline. */
void capture_split(struct arena *a, struct str text, struct pieces *ret, size_t *ret_dropped);
