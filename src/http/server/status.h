/* status.h: routes about the server itself. */
#pragma once

#include "http/http.h"

void status_root(struct http_call *call);    /* GET /: overview */
void status_healthz(struct http_call *call); /* GET /healthz: liveness */
void status_readyz(struct http_call *call);  /* GET /readyz: readiness: the store can be opened and queried */
void status_metrics(struct http_call *call); /* GET /metrics: Prometheus */
void status_events(struct http_call *call);  /* GET /events: the change log as a stream */

/* True if the caller, or the agent that the server is bound to, may run this operation; else it sets the reply. */
bool status_is_allowed(struct http_call *call, const char *op);
