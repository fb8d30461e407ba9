/* idle.h: what a server does while nobody asks: maintenance once an hour, when it is due, and embedding what waits. */
#pragma once

#include "http/server.h"

struct idle;

NODISCARD enum status idle_start(struct http_daemon *d, struct idle **ret_idle, struct error *err);
/* Waits for the step under way; before http_drain(). */
void idle_stop(struct idle **idle);
