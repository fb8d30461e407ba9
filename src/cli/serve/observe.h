/* observe.h: the telemetry of a server that the command line starts. */
#pragma once

#include "cli/context.h"
#include "op/run/pool.h"
#include "op/telemetry/telemetry.h"

/* Makes the telemetry, and tells the engines to come of it: before the pool is made. Its log is in cairn/log of the XDG
 * state folder, or, for a store that was named, in STORE.log beside it. Where neither can be, there is no log. */
NODISCARD enum status observe_begin(struct arena *a, struct context *context, struct telemetry **ret_telemetry,
                                    struct error *err);
/* Errors on the desktop, as the setting notify.errors says. */
void observe_notify(struct arena *a, const struct context *context, struct pool *pool, struct telemetry *telemetry);
