/* run.h: one operation from a parsed command line to its exit code. */
#ifndef CAIRN_CLI_RUN_H
#define CAIRN_CLI_RUN_H

#include "cli/args.h"
#include "cli/output.h"

int run_operation(struct arena *a, struct cli_args *args, struct output *out);

#endif
