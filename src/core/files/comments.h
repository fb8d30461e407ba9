/* comments.h: prose of a file: all text of Markdown and plain text, the comments of source code. */
#pragma once

#include "base/arena.h"

enum prose_kind { PROSE_NONE, PROSE_TEXT, PROSE_COMMENTS };

struct prose_line {
  struct str text; /* slice of the file, without comment markers */
  int64_t line;    /* in the file, from 1 */
  bool starts;     /* first line of a comment or of the file */
};
struct prose_lines {
  struct prose_line *v;
  size_t n, cap;
};

/* Kind of prose by the extension or the whole name of the file (Makefile, README). */
enum prose_kind comments_kind(struct str file);

/* Reads the lines in order; none for PROSE_NONE. Comments on consecutive lines without code are one comment. String
 * literals are skipped, so "http://" does not start a comment. Takes linear time; accepts any bytes. */
enum prose_kind comments_read(struct arena *a, struct str file, struct str text, struct prose_lines *ret);
