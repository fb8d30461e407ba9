/* internal.h: the reader's state, shared by toml.c (lines, keys, tables) and base/toml/value.c (values). */
#pragma once

#include "base/buf.h"
#include "base/toml/toml.h"

/* What made a table: a header above it, its own header, a dotted key, braces. An array of tables holds such tables. */
enum made { MADE_IMPLIED, MADE_HEADER, MADE_DOTTED, MADE_INLINE, MADE_ARRAY_OF_TABLES, MADE_VALUE };

struct toml_reader {
  struct arena *a;
  struct str text;
  const char *name;
  size_t at;
  int depth;
  int section, sections; /* the header or the braces that keys are read under; and how many there were */
  struct {
    size_t at, begin; /* line ends are counted up to here; where the line begins */
    int line;         /* from 0 */
  } known;
  struct error *err;
};

/* An error at a place in the text. */
enum status toml_fail(struct toml_reader *r, size_t at, const char *what, const char *fix);
void toml_place(struct toml_reader *r, size_t at, int *ret_line, int *ret_column);

/* The byte at the place, or -1 at the end. */
static inline int toml_peek(const struct toml_reader *r) {
  return r->at < r->text.n ? (unsigned char)r->text.p[r->at] : -1;
}
static inline bool toml_looking_at(const struct toml_reader *r, struct str what) {
  return str_starts(str_slice(r->text, r->at, r->text.n), what);
}
/* Past blanks and tabs. */
void toml_skip_blanks(struct toml_reader *r);
/* Past a comment, if there is one. */
NODISCARD enum status toml_skip_comment(struct toml_reader *r);
/* Past one line end; false when there is none. */
bool toml_skip_newline(struct toml_reader *r);

/* "key = value" into the table; used for lines and between braces. */
NODISCARD enum status toml_pair(struct toml_reader *r, struct toml *table);
void toml_append(struct toml *to, struct toml *what);
/* base/toml/value.c: what stands behind "=", into *v. */
NODISCARD enum status toml_value(struct toml_reader *r, struct toml *v);
/* base/toml/text.c: a text in one kind of quotes; `many` allows those over several lines. */
NODISCARD enum status toml_text(struct toml_reader *r, bool many, struct str *ret_text);
