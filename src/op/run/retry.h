/* retry.h: retries an operation whose connection to the database server was lost, if that is safe. */
#pragma once

#include "op/op.h"

enum { RETRY_MAX = 3 };

struct retry {
  struct op_hooks hooks; /* the caller's; the call gets wrappers that set has_output */
  bool has_output;       /* the caller was sent lines or progress */
  bool is_server;        /* the store is on a server */
  int64_t commits;       /* of the connection, when the call began */
  int64_t until;         /* ticks: deadline for the server to come back; 0: not lost yet */
  int runs;
};

/* Call before the first run; wraps the call's hooks. */
void retry_begin(struct retry *ret_retry, struct op_call *call);
/* Call after a run that failed with `s` and was rolled back. Waits until the server answers; true if the operation can
 * be run again: the connection was lost, no transaction of the call was committed, and the caller was sent nothing. */
bool retry_wait(struct retry *r, const struct op_call *call, enum status s);
