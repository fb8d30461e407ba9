/* commands.h: long-running commands that are not operations: servers and the live view. They are described like
 * operations, so arguments, help, manual and completion treat them alike.
 *
 * To add one, add an entry in commands.c and a file with its function. */
#pragma once

#include "cli/args.h"
#include "cli/output.h"

struct command {
  struct op op;                                                           /* has no handler */
  int (*run)(struct arena *a, struct cli_args *args, struct output *out); /* returns the exit code. */
};
extern const struct command commands[]; /* ends with op.name == NULL */

/* The command with this description; NULL for an operation. */
const struct command *command_of(const struct op *op);
/* The operation or command with this name, or NULL. */
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
