/* context.h: what a call takes from its surroundings: options, environment, working folder. */
#pragma once

#include "cli/args.h"

struct context {
  struct caller caller;
  struct engine_options engine;
  bool default_store; /* neither --db nor CAIRN_DB */
  bool no_maintain;
};

/* Options count more than the environment, and that more than the working folder. The configuration file is read and
 * checked. Creates nothing. */
NODISCARD enum status context_load(struct arena *a, const struct cli_args *args, struct context *ret_context,
                                   struct error *err);
