/* tables.h: tables and columns of the store as data, for code that handles all of them: migration between engines,
 * server backups, completeness checks.
 *
 * A new table or column is one more line in tables.c; a test compares the list with the schema of each engine. */
#pragma once

#include "base/str.h"

enum { TABLE_KEY_MAX = 4 };

/* form: i integer, d real, s text, b bytes, as in db.h. Any of them may be NULL. */
struct table_column {
  char form;
  const char *name;
};

/* How the rows of a table are copied. */
enum table_way {
  TABLE_ROWS,    /* as plain rows */
  TABLE_CHUNKS,  /* with their full-text index: lexical.h */
  TABLE_VECTORS, /* in a format specific to the engine: vectors.h */
};

struct store_table {
  const char *name;
  enum table_way way;
  const char *number;                 /* column with ids assigned by the engine; NULL: none */
  const char *key[TABLE_KEY_MAX + 1]; /* primary key within a team; ends with NULL */
  bool by_team;                       /* SQLite's key also begins with the team; PostgreSQL's always does */
  const struct table_column *columns; /* ends with name == NULL */
};

/* Referenced tables come first; ends with name == NULL. */
extern const struct store_table store_tables[];
enum { STORE_TABLES = 30 };

/* Tables that the engines derive from those above, or that belong to the schema; ends with NULL. A trailing '*' matches
 * any suffix. */
extern const char *const derived_tables[];

/* Metadata entries that belong to the content; ends with NULL. */
extern const char *const content_facts[];

size_t table_columns(const struct store_table *t);
/* Index of a column, which must exist. */
size_t table_column(const struct store_table *t, const char *name);
