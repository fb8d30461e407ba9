/* sources.h: extracts the SQL statements of the program's sources, so code without tests is checked, too.
 *
 * A statement consists of the strings of a function in order, including those of called functions that append to it
 * (they take or return a struct sql), with a ? for each bound value. A string that begins with an SQL verb starts a new
 * statement. */
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
/* Reads the sources below a folder, recursively. */
struct sources *sources_read(struct arena *a, const char *folder);
/* Adds a file from memory. */
void sources_add(struct sources *s, const char *file, const char *text);
void sources_statements(struct sources *s, struct source_statements *ret_list);
