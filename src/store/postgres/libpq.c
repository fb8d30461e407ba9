/* libpq.c: loads libpq and resolves its functions. */
#include "store/postgres/libpq.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/os/library.h"
#include "base/str.h"

/* Process-wide state: written once, under `once`, then read-only. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct libpq table;
static const char *problem = "it was not opened";

static bool resolve(void *library) {
  static const struct library_function functions[] = {
#define X(type, name, params) {"PQ" #name, offsetof(struct libpq, name)},
      LIBPQ_FUNCTIONS(X)
#undef X
  };
  return library_resolve(library, functions, ARRAY_LEN(functions), &table);
}

static void open_once(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    problem = "libpq.so.5 is not installed";
  else
    problem = resolve(library) ? NULL : "the installed one is older than version 14";
}

enum status libpq_open(const struct libpq **ret_pq, struct error *err) {
  pthread_once(&once, open_once);
  if (problem) {
    error_set(err, STATUS_UNAVAILABLE, "a store on a PostgreSQL server needs libpq: %s", problem);
    return error_fix(err, "install it (Debian: apt install libpq5), or name a file with --db");
  }
  *ret_pq = &table;
  return STATUS_OK;
}
