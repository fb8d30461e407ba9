/* sources.h: the SQL in the program's sources, put together as far as it can be read there: for code that no test runs.
 *
 * A statement is what the texts of a function say in their order, with those of the functions that it lets add to it
 * (they take or return a struct sql), and with a ? for each bound value. It begins where a text begins with a verb of
 * SQL. */
#pragma once

#include "base/buf.h"

struct source_statement {
  struct str file, function, sql;
};
struct source_statements {
  struct source_statement *v;
  size_t n, cap;
};

struct sources;
/* Reads the sources below a folder, at any depth. */
struct sources *sources_read(struct arena *a, const char *folder);
/* One file more, from memory. */
void sources_add(struct sources *s, const char *file, const char *text);
void sources_statements(struct sources *s, struct source_statements *ret_list);
