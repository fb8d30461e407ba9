/* present.h: sanitizer for stored text shown to a model or a terminal.
 *
 * The text of a memory may come from anywhere. When shown, it must not close the block around it, move the cursor, hide
 * characters, or look like a system message. Words stay readable, and harmless text is unchanged. */
#pragma once

#include "base/arena.h"

/* Neutralizes a text:
 * - applies present_visible();
 * - three or more backticks or tildes in a row, which could close a block, become quotes or equals signs;
 * - '<' before a tag that prompts use ("<system-reminder>", "</assistant>", "<|im_start|>", "<!--") becomes U+2039;
 * - "[INST]" becomes "(INST)".
 * Line breaks and tabs stay. Invalid bytes become U+FFFD. Idempotent. */
struct str present_neutral(struct arena *a, struct str s);
/* Removes terminal escapes and control, zero-width, bidirectional and tag characters. */
struct str present_visible(struct arena *a, struct str s);
/* Number of bytes at pos that present_visible() removes, 0 if it shows the character. Joiners count as removed,
 * although it keeps them between letters of some scripts. */
size_t present_hidden(struct str s, size_t pos);
/* present_neutral() on one line, for headings: white space becomes single blanks, backticks become quotes. */
struct str present_line(struct arena *a, struct str s);
