/* toml.h: a strict reader of TOML 1.0, into a tree in an arena; everything in it knows its line.
 *
 * All of the language is read, except dates and times, which are refused in words: nothing here has a use for them. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum { TOML_DEPTH = 32 }; /* of arrays and inline tables in each other, and of the parts of one key */

enum toml_form { TOML_TABLE, TOML_ARRAY, TOML_TEXT, TOML_INTEGER, TOML_FLOAT, TOML_BOOL };

struct toml {
  enum toml_form form;
  struct str key;   /* in its table; absent in an array */
  struct str text;  /* of a text, what it stands for; of a number or a truth value, how it is written, without '_' and a
                       leading '+', and in decimal digits when it is whole */
  int64_t integer;  /* of an integer; 1 for true */
  int line, column; /* where its key begins, or the value itself in an array; from 1, columns in characters */
  struct toml *first, *last, *next; /* what a table or an array holds, in order; and what stands beside it */
  int how, section;                 /* of the reader: what made a table, and under which header */
};

/* Reads a whole text. Errors begin with "NAME:LINE:COLUMN: ". */
NODISCARD enum status toml_read(struct arena *a, struct str text, const char *name, struct toml **ret_root,
                                struct error *err);
/* A member of a table; NULL when there is none. */
struct toml *toml_get(const struct toml *table, struct str key);
/* "an array", "a number", ... */
const char *toml_form_name(const struct toml *t);
