/* context.h: the context of a call, from options, environment and working directory. */
#pragma once

#include "cli/args.h"

struct context {
  struct caller caller;
  struct engine_options engine;
  bool default_store; /* neither --db nor CAIRN_DB is set */
  bool no_maintain;
};

/* Options override the environment, which overrides the working directory. Reads and validates the configuration file.
 * Creates nothing. */
NODISCARD enum status context_load(struct arena *a, const struct cli_args *args, struct context *ret_context,
                                   struct error *err);
