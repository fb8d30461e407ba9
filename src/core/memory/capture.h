/* capture.h: rule-based splitting of raw text (a conversation, notes) into atomic pieces. */
#pragma once

#include "base/buf.h"

enum {
  CAPTURE_MIN_WORDS = 5,      /* shorter parts are dropped */
  CAPTURE_MIN_TASK_WORDS = 2, /* the same for tasks in lists */
  CAPTURE_LINE_WORDS = 300,   /* longer paragraphs are split at line breaks */
  CAPTURE_MAX_WORDS = 400,    /* limit of a body, including its heading and lead-in */
};

struct capture_piece {
  struct str headline;  /* from headline_derive(), prefixed with "heading: " if that fits */
  struct str body;      /* the text, prefixed with its heading and lead-in */
  const char *type_cue; /* kind indicated by the text */
  bool blocker;         /* forbids something; a severity only if the kind is a rule */
};

struct capture_pieces {
  struct capture_piece *v;
  size_t n, cap;
};

/* Returns pieces in text order; *ret_dropped has the parts that were too short. Blank lines, headings, turns of
 * speakers and list items that are full sentences start a piece; a task is a piece of its own. Fenced code stays with
 * the text before it. A speaker's name stays in the body but not in the headline. */
void capture_split(struct arena *a, struct str text, struct capture_pieces *ret, struct strs *ret_dropped);
