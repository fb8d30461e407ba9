/* status.c: lookups in the table of status codes. */
#include "base/status.h"

#include <assert.h>

static const struct {
  const char *name;
  int exit_code, http;
  const char *text;
} table[] = {
#define X(name, json, exit, http, text) {json, exit, http, text},
    STATUS_LIST(X)
#undef X
};

_Static_assert(sizeof(table) / sizeof(table[0]) == STATUS_COUNT, "one row per status");

static unsigned row(enum status s) {
  assert((unsigned)s < STATUS_COUNT);
  return (unsigned)s;
}

const char *status_name(enum status s) { return table[row(s)].name; }
const char *status_text(enum status s) { return table[row(s)].text; }
int status_exit_code(enum status s) { return table[row(s)].exit_code; }
int status_http(enum status s) { return table[row(s)].http; }
