/* toml.h: strict TOML 1.0 parser. Builds a tree in an arena, with the line and column of each value.
 *
 * Dates and times are rejected with a message, because no setting uses them. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum { TOML_DEPTH = 32 }; /* maximum nesting of arrays and inline tables, and maximum number of parts of a key */

enum toml_form { TOML_TABLE, TOML_ARRAY, TOML_TEXT, TOML_INTEGER, TOML_FLOAT, TOML_BOOL };

struct toml {
  enum toml_form form;
  struct str key;   /* absent in an array */
  struct str text;  /* value of a string; source text of a number or boolean, without '_' and a leading '+'; integers
                       are written in decimal */
  int64_t integer;  /* value of an integer; 1 for true */
  int line, column; /* position of the key, or of the value in an array; from 1, columns in characters */
  struct toml *first, *last, *next; /* first and last child; next sibling */
  int how, section;                 /* parser state: enum made, and the header that it was defined under */
};

/* Parses a whole document. Errors begin with "NAME:LINE:COLUMN: ". */
NODISCARD enum status toml_read(struct arena *a, struct str text, const char *name, struct toml **ret_root,
                                struct error *err);
/* Member of a table, or NULL. */
struct toml *toml_get(const struct toml *table, struct str key);
/* "an array", "a number", ... */
const char *toml_form_name(const struct toml *t);
