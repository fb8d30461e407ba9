/* markup.h: reads the light Markdown that people and models write: kinds of lines, marks, speakers. */
#pragma once

#include "base/arena.h"

enum line_kind {
  LINE_BLANK,
  LINE_TEXT,
  LINE_BULLET,  /* "- x", "* x", "1. x", "(2) x", "- [ ] x" */
  LINE_HEADING, /* "## x" */
  LINE_QUOTE,   /* "> x" */
  LINE_FENCE,   /* three or more ` or ~ */
  LINE_RULE,    /* "---", "***", "====" */
  LINE_TABLE,   /* "| x |" */
};

struct line {
  enum line_kind kind;
  size_t indent;   /* columns of white space before the first mark; a tab goes to the next multiple of 4 */
  size_t text;     /* offset of the text behind indent and mark */
  bool task, done; /* a bullet with a check box, and whether it is checked */
};

/* What a line (without its line end) is. */
struct line markup_line(struct str s);
/* Follows fenced code line by line: true when this line is part of it, its fences included. *fence is 0 before the
 * first line. */
bool markup_in_fence(struct str line, char *fence);
/* The end of the line that holds s.p[pos]: the offset of its LF, or s.n. */
size_t markup_line_end(struct str s, size_t pos);
/* True when `next` merely continues the text of `line`, which was wrapped to some width. */
bool markup_wraps(struct str line, struct str next);

/* Length of a speaker's prefix at the start of a line ("User: ", "**Alice:** ", "[10:42] Bob: "); 0 when there is
 * none. Labels such as "Note:" and "Decision:" are not speakers. */
size_t markup_speaker(struct str line);

/* One line of plain text: marks of lists, headings, quotes and emphasis removed, links replaced by their text, white
 * space collapsed, surrounding quotation marks dropped. Meant for short texts: only the first 4,000 bytes are read. */
struct str markup_plain(struct arena *a, struct str s);
