/* server_event.h: what a server has to say for itself, in the log of its own team. */
#ifndef CAIRN_HTTP_SERVER_EVENT_H
#define CAIRN_HTTP_SERVER_EVENT_H

#include "http/http.h"
#include "store/events.h"

/* Never fails what it is about: an event that cannot be written is lost. */
void server_event(const struct http_server *server, const struct event *e);

#endif
