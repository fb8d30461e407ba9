/* mirror_anchor.h: HTML comments in MEMORY.md; shared by its parser and its renderer. */
#pragma once

#include "core/files/mirror.h"

#define ANCHOR_BEGIN "<!-- cairn:" /* notes, the list, and anchors of 0.1.0: "<!-- cairn:UID:HASH -->" */
#define ANCHOR_SHORT "<!--#"       /* anchors: "<!--#12.20eb7b87-->" */
#define ANCHOR_HEADER "<!-- Each bullet is a memory." /* below the title of a new page */
#define ANCHOR_END "-->"
#define ANCHOR_PAGE "page"                              /* the list at the end of the page */
#define ANCHOR_BY "by"                                  /* precedes the author of a bullet, in parentheses */
#define ANCHOR_LEFT_OUT ANCHOR_BEGIN "left " ANCHOR_END /* ends a notice about memories left out */

/* Keyword of a note in its comment; NULL for MIRROR_NO_NOTE. */
const char *mirror_note_word(enum mirror_note note);
/* Escape comments in the text of a memory that look like anchors. */
struct str mirror_escape(struct arena *a, struct str text);
struct str mirror_unescape(struct arena *a, struct str text);
/* Strips anchors and notes, also damaged ones, and fills the members of the block with them. Only the first anchor of a
 * bullet counts: others come from bullets that the user has merged into it. If the file ends in the text, it may be cut
 * off inside the beginning of an anchor, of which at least `least` bytes are stripped; 0 otherwise. */
struct str mirror_strip_anchors(struct arena *a, struct mirror_block *b, struct str text, size_t least);
/* An anchor, as it is written now and as 0.1.0 wrote it. */
struct str mirror_anchor(struct arena *a, int64_t id, struct str code);
struct str mirror_anchor_of_0_1_0(struct arena *a, struct str uid, struct str hash);
/* The author of a bullet, after its mark: "(written by bot, not by a person)". */
struct str mirror_author(struct arena *a, struct str name);
/* True if a text directly after a bullet would be parsed as part of it. */
bool mirror_is_continuation(struct str text);
