/* internal.h: parser state shared by toml.c (lines, keys, tables), value.c (values) and text.c (strings). */
#pragma once

#include "base/buf.h"
#include "base/toml/toml.h"

/* How a node was defined; decides whether it may be extended. */
enum made {
  MADE_IMPLIED, /* parent in the header of another table */
  MADE_HEADER,
  MADE_DOTTED, /* by a dotted key */
  MADE_INLINE,
  MADE_ARRAY_OF_TABLES,
  MADE_VALUE,
};

struct toml_reader {
  struct arena *a;
  struct str text;
  const char *name;
  size_t at;
  int depth;
  int section, sections; /* current header or inline table; their number so far */
  struct {
    size_t at, begin; /* offset up to which lines are counted; start of its line */
    int line;         /* from 0 */
  } known;            /* cache of toml_place() */
  struct error *err;
};

/* Sets an error at an offset of the text. */
enum status toml_fail(struct toml_reader *r, size_t at, const char *what, const char *fix);
void toml_place(struct toml_reader *r, size_t at, int *ret_line, int *ret_column);

/* The current byte, or -1 at the end. */
static inline int toml_peek(const struct toml_reader *r) {
  return r->at < r->text.n ? (unsigned char)r->text.p[r->at] : -1;
}
static inline bool toml_looking_at(const struct toml_reader *r, struct str what) {
  return str_starts(str_slice(r->text, r->at, r->text.n), what);
}
/* Skips spaces and tabs. */
void toml_skip_blanks(struct toml_reader *r);
/* Skips a comment, if there is one. */
NODISCARD enum status toml_skip_comment(struct toml_reader *r);
/* Skips one line end; false if there is none. */
bool toml_skip_newline(struct toml_reader *r);

/* Parses "key = value" into the table, on a line or in an inline table. */
NODISCARD enum status toml_pair(struct toml_reader *r, struct toml *table);
void toml_append(struct toml *parent, struct toml *child);
/* value.c: parses the value after "=" into *v. */
NODISCARD enum status toml_value(struct toml_reader *r, struct toml *v);
/* text.c: parses a quoted string; `many` allows multi-line strings. */
NODISCARD enum status toml_text(struct toml_reader *r, bool many, struct str *ret_text);
