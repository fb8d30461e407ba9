/* mirror_anchor.h: HTML comments in MEMORY.md; shared by its parser and its renderer. */
#pragma once

#include "core/files/mirror.h"

#define ANCHOR_BEGIN "<!-- cairn:"
#define ANCHOR_END "-->"
#define ANCHOR_PAGE "page"                              /* the list at the end of the page */
#define ANCHOR_LEFT_OUT ANCHOR_BEGIN "left " ANCHOR_END /* ends a notice about memories left out */
#define ANCHOR_ESCAPED "lt;!-- cairn:"                  /* after '&' and any number of "amp;" */

/* Keyword of a note in its comment; NULL for MIRROR_NO_NOTE. */
const char *mirror_note_word(enum mirror_note note);
/* Escape comments in the text of a memory that look like anchors. */
struct str mirror_escape(struct arena *a, struct str text);
struct str mirror_unescape(struct arena *a, struct str text);
/* True if a text directly after a bullet would be parsed as part of it. */
bool mirror_is_continuation(struct str text);
