/* observe.h: telemetry of the servers that the command line starts. */
#pragma once

#include "cli/context.h"
#include "op/run/pool.h"
#include "op/telemetry/telemetry.h"

/* Creates the telemetry and registers it for new engines; call it before the pool is created. The log is in cairn/log
 * of the XDG state folder or, for a named store, in STORE.log beside it. If neither is possible, there is no log. */
NODISCARD enum status observe_begin(struct arena *a, struct context *context, struct telemetry **ret_telemetry,
                                    struct error *err);
/* Enables desktop notifications of errors if notify.errors is on. */
void observe_notify(struct arena *a, const struct context *context, struct pool *pool, struct telemetry *telemetry);
