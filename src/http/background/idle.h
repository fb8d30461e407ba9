/* idle.h: background work of an idle server: hourly maintenance, pending embeddings. */
#pragma once

#include "http/server.h"

struct idle;

/* True if maintenance may start that is due since `due` (ticks): it waits for a quiet moment, but not for ever, because
 * one client that calls every second would keep the log growing. */
bool idle_may_maintain(bool quiet, int64_t now, int64_t due);

NODISCARD enum status idle_start(struct http_daemon *d, struct idle **ret_idle, struct error *err);
/* Waits for the current step. Call it before http_drain(). */
void idle_stop(struct idle **idle);
