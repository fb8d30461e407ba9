/* library.h: functions of a shared library that is opened by name, when it is first needed: linked, it would cost every
 * start of the program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Where a function's address goes in the caller's table. */
struct library_function {
  const char *name;
  size_t offset;
};
/* Fills the table; false when the library lacks one of them. */
bool library_look_up(void *library, const struct library_function *functions, size_t n, void *table);
