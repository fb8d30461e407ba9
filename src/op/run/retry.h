/* retry.h: retries an operation whose connection to the database server was lost, if that is safe. */
#pragma once

#include "op/op.h"

enum { RETRY_MAX = 3 };

struct retry {
  bool is_server;  /* the store is on a server */
  int64_t commits; /* of the connection, when the call began */
  int64_t until;   /* ticks: deadline for the server to come back; 0: not lost yet */
  int runs;
};

/* Call before the first run. */
void retry_begin(struct retry *ret_retry, struct op_call *call);
/* Call after a run that failed with `s` and was rolled back. Waits until the server answers; true if the operation can
 * be run again: the connection was lost, no transaction of the call was committed, and the caller was sent neither
 * lines nor progress (`has_output`: scrub_stream). */
bool retry_wait(struct retry *r, const struct op_call *call, bool has_output, enum status s);
