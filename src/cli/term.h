/* term.h: what the terminal can do, and text that is safe and aligned on it. */
#pragma once

#include "base/buf.h"

/* Escape sequences, or "" for each where there is no colour. */
struct style {
  const char *bold, *dim, *red, *green, *yellow, *reset;
};

struct term {
  bool tty; /* a person reads it: make stored text harmless, cut lines to the width */
  size_t width;
  struct style style;
};

/* Colour needs a terminal, and neither NO_COLOR, TERM=dumb nor the caller's no_color. */
struct term term_of(int fd, bool no_color);

/* Copies text so that it cannot drive a terminal: control characters become visible (^[, <U+202E>), among them the
 * ones that reorder text. Line feed and tab stay, unless `one_line` makes blanks of them. */
void term_safe(struct buf *out, struct str text, bool one_line);
/* The same for JSON: such characters become \u escapes, so that it stays the same JSON. */
void term_safe_json(struct buf *out, struct str json);

/* Columns that the text takes: two for wide characters, none for combining ones. */
size_t term_columns(struct str text);
/* The text, or its beginning and an ellipsis, in at most `columns`. */
struct str term_fit(struct arena *a, struct str text, size_t columns);
/* Adds blanks until `used` columns have become `columns`. */
void term_pad(struct buf *out, size_t used, size_t columns);
/* Paragraphs, broken between words at `width`; every line but the first starts with `indent` blanks, and the first
 * one is taken to start at column `at`. */
void term_wrap(struct buf *out, struct str text, size_t at, size_t indent, size_t width);

/* "2026-11-15 11:45" of an RFC 3339 timestamp, the text itself when it is none; and "3 d ago" or "in 3 d". */
struct str term_time(struct arena *a, struct str timestamp);
struct str term_age(struct arena *a, struct str timestamp, int64_t now);
/* "12.3 MB" */
struct str term_bytes(struct arena *a, int64_t bytes);

/* A line on a terminal that is drawn again and again while something takes its time. */
struct progress {
  bool on;
  int64_t started_us, drawn_us;
  bool visible;
};
void progress_init(struct progress *p, int fd);
void progress_draw(struct progress *p, const char *what, int64_t done, int64_t total);
void progress_clear(struct progress *p);
