/* repeat.h: an operation whose connection to the server was lost is run again, where that is safe. */
#pragma once

#include "op/op.h"

enum { REPEAT_MAX = 3 };

struct repeat {
  bool possible;   /* the store is on a server */
  int64_t commits; /* of the connection, when the call began */
  int64_t until;   /* ticks: how long the server may be away, once it was lost */
  int runs;
};

/* Before the first run. */
void repeat_begin(struct repeat *ret_repeat, struct op_call *call);
/* After a run that failed with `s` and was rolled back: true when it can be run again, and the server answers by then.
 * Safe means: the failure says that nothing was changed, no transaction of the call was committed, and the caller got
 * neither lines nor progress (`told`: scrub_stream). */
bool repeat_again(struct repeat *r, const struct op_call *call, bool told, enum status s);
