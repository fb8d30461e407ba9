/* extract.h: rule-based extraction of tags, people, topics, action items and a type suggestion from a text. */
#pragma once

#include "base/buf.h"

enum { EXTRACT_TAGS = 20, EXTRACT_PEOPLE = 20, EXTRACT_TOPICS = 10, EXTRACT_ACTIONS = 10, EXTRACT_ACTION_BYTES = 200 };

/* Each list is in order of appearance, without case-insensitive duplicates, and limited by the numbers above. */
struct extracted {
  struct strs tags;         /* "billing" for "#billing"; not issue numbers, headings, colors, parts of links or code */
  struct strs people;       /* "alice" for "@alice"; not e-mail addresses, packages, decorators */
  struct strs topics;       /* names of several words, names like PostgreSQL or AWS, repeated names */
  struct strs action_items; /* plain sentences that ask for an action */
};

/* Fenced code is ignored; inline code and links are read only for action items. */
void extract_metadata(struct arena *a, struct str headline, struct str body, struct extracted *ret);

/* Name of the type that the start of the text indicates; NULL without a cue or with conflicting cues. */
const char *extract_type_hint(struct str text);
