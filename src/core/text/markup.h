/* markup.h: parser of light Markdown: kinds of lines, speakers, plain text. */
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
  size_t indent; /* columns of leading white space; a tab advances to the next multiple of 4 */
  size_t text;   /* offset of the text after indentation and markup */
  bool task;     /* a bullet with a check box */
  bool done;     /* a checked box */
};

/* Parses a line, without its line break. */
struct line markup_line(struct str s);
/* Tracks fenced code line by line: true if this line is code or a fence. *fence is 0 before the first line. */
bool markup_in_fence(struct str line, char *fence);
/* End of the line at s.p[pos]: the offset of its LF, or s.n. */
size_t markup_line_end(struct str s, size_t pos);
/* True if `next` continues the text of `line` after a soft line break. */
bool markup_wraps(struct str line, struct str next);

/* Length of a speaker's prefix at the start of a line ("User: ", "**Alice:** ", "[10:42] Bob: "); 0 if there is none.
 * Labels such as "Note:" and "Decision:" are not speakers. */
size_t markup_speaker(struct str line);

/* Converts to one line of plain text: removes list, heading, quote and emphasis markup, replaces links by their text,
 * collapses white space, strips surrounding quotes. For short texts: reads only the first 4,000 bytes. */
struct str markup_plain(struct arena *a, struct str s);
