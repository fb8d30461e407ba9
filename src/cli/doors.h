/* doors.h: commands that are no operation but go on for a while and run many: servers, the live view. They have the
 * shape of an operation, so that arguments, help, manual and completion treat them alike.
 *
 * A new one is a line in doors.c and a file with its function. */
#pragma once

#include "cli/args.h"
#include "cli/output.h"

struct door {
  struct op op;                                                           /* without a handler */
  int (*run)(struct arena *a, struct cli_args *args, struct output *out); /* returns the exit code */
};
extern const struct door doors[]; /* ends with op.name == NULL */

/* The door whose operation this is; NULL: a real one. */
const struct door *door_of(const struct op *op);
/* An operation or a door; NULL when there is none. */
const struct op *command_find(struct str name);

/* serve.c */
extern const struct param serve_params[];
int run_serve(struct arena *a, struct cli_args *args, struct output *out);

/* mcp.c */
extern const struct param mcp_params[];
int run_mcp(struct arena *a, struct cli_args *args, struct output *out);

/* top.c */
extern const struct param top_params[];
int run_top(struct arena *a, struct cli_args *args, struct output *out);
