/* idle.h: background work of an idle server: hourly maintenance, pending embeddings. */
#pragma once

#include "http/server.h"

struct idle;

NODISCARD enum status idle_start(struct http_daemon *d, struct idle **ret_idle, struct error *err);
/* Waits for the current step. Call it before http_drain(). */
void idle_stop(struct idle **idle);
