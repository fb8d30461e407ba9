/* mirror_mark.h: the comments by which MEMORY.md is understood again; shared by its reader and its writer. */
#pragma once

#include "core/files/mirror.h"

#define MARK_BEGIN "<!-- cairn:"
#define MARK_END "-->"
#define MARK_PAGE "page"                      /* the list at the end */
#define MARK_LEFT MARK_BEGIN "left " MARK_END /* ends the line that says what was left out */
#define MARK_ESCAPED "lt;!-- cairn:"          /* behind '&' and any number of "amp;" */

/* The word of a note in its comment; NULL for none. */
const char *mirror_note_word(enum mirror_note note);
/* A text in which a mark of its own would be taken for one of the page, and back. */
struct str mirror_escape(struct arena *a, struct str text);
struct str mirror_unescape(struct arena *a, struct str text);
/* Whether a text directly behind a bullet would be read as a part of it. */
bool mirror_clings(struct str text);
