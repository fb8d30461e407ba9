/* tables.h: every table of the store, with its columns, as data: for what concerns all of them alike (moving a store,
 * backups of a server, checks that nothing was left out).
 *
 * A new table or column of the schema is one more line in tables.c; a test compares the list with the schema of each
 * engine. */
#pragma once

#include "base/str.h"

enum { TABLE_KEY_MAX = 4 };

/* form: i whole number, d number, s text, b bytes, as in db.h. Any of them may be NULL. */
struct table_column {
  char form;
  const char *name;
};

/* How the rows of a table are read and written. */
enum table_way {
  TABLE_ROWS,    /* as they are */
  TABLE_CHUNKS,  /* with the words of their text: lexical.h */
  TABLE_VECTORS, /* each engine keeps vectors in its own way: vectors.h */
};

struct store_table {
  const char *name;
  enum table_way way;
  const char *number;                 /* the column that the engine numbers; NULL: none */
  const char *key[TABLE_KEY_MAX + 1]; /* identifies a row within its team; ends with NULL */
  bool by_team;                       /* SQLite's key begins with the team too; PostgreSQL's always does */
  const struct table_column *columns; /* ends with name == NULL */
};

/* In an order in which what is referred to comes first; ends with name == NULL. */
extern const struct store_table store_tables[];
enum { STORE_TABLES = 30 };

/* Tables that the engines make from those above by themselves, or that belong to the schema; ends with NULL. A name
 * that ends with '*' stands for all that begin so. */
extern const char *const derived_tables[];

/* Facts about the store that go with its content; ends with NULL. */
extern const char *const content_facts[];

size_t table_columns(const struct store_table *t);
/* The number of a column; it must be there. */
size_t table_column(const struct store_table *t, const char *name);
