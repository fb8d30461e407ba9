/* run.h: one operation from a parsed command line to its exit code. */
#pragma once

#include "cli/args.h"
#include "cli/output.h"

int run_operation(struct arena *a, struct cli_args *args, struct output *out);
