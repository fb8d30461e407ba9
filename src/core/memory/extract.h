/* extract.h: tags, people, topics and action items found in a text, and a guess at its type. By rule, never by model.
 */
#pragma once

#include "base/buf.h"

enum { EXTRACT_TAGS = 20, EXTRACT_PEOPLE = 20, EXTRACT_TOPICS = 10, EXTRACT_ACTIONS = 10, EXTRACT_ACTION_BYTES = 200 };

/* Each list is in order of appearance, without repetitions (case apart), no longer than the numbers above. */
struct extracted {
  struct strs tags;   /* "#billing", without the sign; no issue numbers, headings, colours, parts of links or code */
  struct strs people; /* "@alice", without the sign; no e-mail addresses, packages, decorators */
  struct strs topics; /* names of several words, names like PostgreSQL or AWS, names that are repeated */
  struct strs action_items; /* plain sentences that ask for something to be done */
};

/* The results lie in the arena. Text in fenced code is not looked at, code inside a line and links only in action
 * items. */
void extract_metadata(struct arena *a, struct str headline, struct str body, struct extracted *ret);

/* The name of the type that the beginning of the text speaks for; NULL when there is no cue, or cues for several. */
const char *extract_type_hint(struct str text);
