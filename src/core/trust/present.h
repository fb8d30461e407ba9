/* present.h: stored text as it is shown to a model or a terminal: as data, in which nothing passes for more than text.
 *
 * What a memory holds may have come from anywhere. Shown again, it must not end the block that it stands in, move a
 * cursor, hide letters from the reader, or look like a message of the system. The words stay readable, and a text
 * without any of this comes back as it is. */
#pragma once

#include "base/arena.h"

/* The text without terminal escapes, control, zero-width, bidirectional and tag characters; three or more backticks or
 * tildes in a row, which could end a block, become quotes or equals signs; '<' before what reads like a tag of a prompt
 * ("<system-reminder>", "</assistant>", "<|im_start|>", "<!--") becomes U+2039, "[INST]" loses its brackets to
 * parentheses. Line breaks and tabs stay. Bad bytes become U+FFFD. Doing it again changes nothing. */
struct str present_neutral(struct arena *a, struct str s);
/* The text without what shows nothing: escapes, control, zero-width, bidirectional and tag characters. */
struct str present_visible(struct arena *a, struct str s);
/* The same as present_neutral() on one line: white space folded to single blanks, no backticks. For what stands in a
 * heading. */
struct str present_line(struct arena *a, struct str s);
