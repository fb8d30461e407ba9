/* status.c: the table of outcomes, read by the doors. */
#include "base/status.h"

static const struct {
  const char *name;
  int exit_code, http, rpc;
  const char *text;
} table[] = {
#define X(name, json, exit, http, rpc, text) {json, exit, http, rpc, text},
    STATUS_LIST(X)
#undef X
};

const char *status_name(enum status s) { return table[s].name; }
const char *status_text(enum status s) { return table[s].text; }
int status_exit_code(enum status s) { return table[s].exit_code; }
int status_http(enum status s) { return table[s].http; }
int status_rpc(enum status s) { return table[s].rpc; }
