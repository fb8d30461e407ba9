/* library.c: function lookup in a loaded library. */
#include "base/os/library.h"

#include <assert.h>
#include <dlfcn.h>
#include <string.h>

bool library_resolve(void *library, const struct library_function *functions, size_t n, void *table) {
  assert(library);
  for (size_t i = 0; i < n; i++) {
    void *function = dlsym(library, functions[i].name);
    if (!function)
      return false;
    memcpy((char *)table + functions[i].offset, &function, sizeof(function));
  }
  return true;
}
