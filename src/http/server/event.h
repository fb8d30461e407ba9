/* event.h: the server's own events, in the log of its team. */
#pragma once

#include "http/http.h"
#include "store/tables/events.h"

/* Never fails the caller: an event that cannot be written is lost. */
void server_event(const struct http_server *server, const struct event *e);
