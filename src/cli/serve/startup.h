/* startup.h: steps that `cairn serve` and `cairn mcp` share. */
#pragma once

#include <signal.h>

#include "cli/context.h"
#include "mcp/mcp.h"
#include "op/run/pool.h"
#include "op/telemetry/telemetry.h"

/* Blocks SIGINT, SIGTERM and SIGHUP. Call it before threads start, so all inherit it. */
void startup_block_signals(sigset_t *ret_signals, sigset_t *ret_former);

/* The profile of --profile, else of CAIRN_PROFILE, else the default one. */
NODISCARD enum status startup_profile(struct arena *a, const struct cli_args *args, const struct profile **ret_profile,
                                      struct error *err);

/* Creates the folder of the default store; the store itself is created by the first call. Then creates the telemetry
 * and registers it for new engines; call it before the pool is created. The log is in cairn/log of the XDG state folder
 * or, for a named store, in STORE.log beside it. If neither is possible, there is no log. */
NODISCARD enum status startup_store(struct arena *a, struct context *context, struct telemetry **ret_telemetry,
                                    struct error *err);
/* Enables desktop notifications of errors if notify.errors is on. */
void startup_notify(struct arena *a, const struct context *context, struct pool *pool, struct telemetry *telemetry);
