/* run.h: runs one operation from a parsed command line. */
#pragma once

#include "cli/args.h"
#include "cli/output.h"

int run_operation(struct arena *a, struct cli_args *args, struct output *out);
