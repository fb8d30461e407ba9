/* event.h: what a server has to say for itself, in the log of its own team. */
#pragma once

#include "http/http.h"
#include "store/tables/events.h"

/* Never fails what it is about: an event that cannot be written is lost. */
void server_event(const struct http_server *server, const struct event *e);
