/* term.h: terminal capabilities, and text that is safe and aligned. */
#pragma once

#include "base/buf.h"

/* Escape sequences, or "" without colour. */
struct style {
  const char *bold, *dim, *red, *green, *yellow, *match, *reset;
};

struct term {
  bool tty; /* a person reads it: escape stored text, cut lines to the width */
  size_t width;
  struct style style;
};

/* Colour needs a terminal, and none of NO_COLOR, TERM=dumb and no_color. COLUMNS overrides the terminal's width. */
struct term term_of(int fd, bool no_color);

/* Copies text so that it cannot control a terminal: control characters become visible (^[, <U+202E>), including those
 * that reorder text. Line feed and tab are kept unless `one_line` turns them into spaces. */
void term_safe(struct buf *out, struct str text, bool one_line);
/* The same for JSON: such characters become \u escapes, which keeps the JSON equivalent. */
void term_safe_json(struct buf *out, struct str json);

/* Columns of the text: two for wide characters, none for combining ones. */
size_t term_columns(struct str text);
/* The text, cut with an ellipsis to at most `columns`. */
struct str term_fit(struct arena *a, struct str text, size_t columns);
/* Adds spaces from column `used` to `columns`. */
void term_pad(struct buf *out, size_t used, size_t columns);
/* Wraps paragraphs between words at `width`; a word of wide characters that no line can hold, between characters. Every
 * line but the first is indented by `indent` spaces; the first starts at column `at`. */
void term_wrap(struct buf *out, struct str text, size_t at, size_t indent, size_t width);
/* Wraps the lines that are longer than `width` between words, below their first word; items of lists below their text.
 * Code stays as it is: lines between ``` or indented by four spaces or a tab. Ends with a line end. */
void term_prose(struct buf *out, struct str text, size_t width);

/* "2026-11-15 11:45" for an RFC 3339 timestamp, other text unchanged; and "3 d ago" or "in 3 d". */
struct str term_time(struct arena *a, struct str timestamp);
struct str term_age(struct arena *a, struct str timestamp, int64_t now);
/* "12.3 MB" */
struct str term_bytes(struct arena *a, int64_t bytes);

/* A progress line on a terminal. */
struct progress {
  bool on;
  int64_t started_us, drawn_us;
  bool visible;
};
void progress_init(struct progress *p, int fd);
void progress_draw(struct progress *p, const char *what, int64_t done, int64_t total);
void progress_clear(struct progress *p);
