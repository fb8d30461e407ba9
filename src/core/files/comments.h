/* comments.h: the prose of a file: all of it where that is Markdown or plain text, else its comments. */
#pragma once

#include "base/arena.h"

enum prose_kind { PROSE_NONE, PROSE_TEXT, PROSE_COMMENTS };

/* A line of prose; a slice of the file, without the marks of a comment. */
struct prose_line {
  struct str text;
  int64_t line; /* in the file, from 1 */
  bool starts;  /* the first of a comment, or of the file: what stands above does not go on here */
};
struct prose_lines {
  struct prose_line *v;
  size_t n, cap;
};

/* What a file of this name holds, by its extension, or by its whole name (Makefile, README). */
enum prose_kind comments_kind(struct str file);

/* The lines, in order. Comments of lines without code between them are one comment. Texts in quotation marks are known
 * for what they are, so that "http://" begins no comment. Linear in the length, and any bytes will do; nothing when the
 * name says that there is no prose. */
enum prose_kind comments_read(struct arena *a, struct str file, struct str text, struct prose_lines *ret);
