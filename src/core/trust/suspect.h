/* suspect.h: whether a text imitates instructions to the model that will read it.
 *
 * Memories legitimately say what to do ("Never force-push to main"), so an imperative alone is nothing. What counts is
 * how an attempt to take over a reader sounds: earlier instructions are revoked, the reader gets another role, the user
 * must not know, tags and calls of a prompt are imitated, text is hidden, data is sent away. Each finding has a stable
 * name and a weight, and only enough of them together make a text suspect. Evasions (case, look-alike letters, digits
 * for letters, s p a c i n g, invisible characters, base64) are undone first.
 *
 * Pure, deterministic, linear in the text. It is a mark for readers and a reason to wait for a person, no proof in
 * either direction: docs/security.md says how much it finds and what gets through. */
#pragma once

#include "core/memory/memory.h"

/* Of the rules: one more with every change of what they find, so that what is stored is judged again. 1 were the first
 * ones; what is older was not judged at all. */
enum { SUSPECT_VERSION = 2 };

/* The names of the findings, separated by blanks ("override secrecy"); absent when they are not enough. */
struct str suspect_text(struct arena *a, struct str text);
/* Of everything in a memory that its reader sees: headline, text, remarks, lists. */
struct str suspect_memory(struct arena *a, const struct memory *m);
