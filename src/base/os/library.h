/* library.h: functions of shared libraries that are loaded on first use; linking them would slow down every start. */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct library_function {
  const char *name;
  size_t offset; /* of the function pointer in the caller's table */
};
/* Fills the table; false if the library lacks one of the functions. */
static inline bool library_resolve(void *library, const struct library_function *functions, size_t n, void *table) {
  for (size_t i = 0; i < n; i++) {
    void *function = dlsym(library, functions[i].name);
    if (!function)
      return false;
    memcpy((char *)table + functions[i].offset, &function, sizeof(function));
  }
  return true;
}
