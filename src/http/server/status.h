/* status.h: routes about the server itself. */
#pragma once

#include "http/http.h"

void status_root(struct http_call *call);    /* GET /: what is here */
void status_healthz(struct http_call *call); /* GET /healthz: the process lives */
void status_readyz(struct http_call *call);  /* GET /readyz: the store opens and answers */
void status_metrics(struct http_call *call); /* GET /metrics: for Prometheus */
void status_events(struct http_call *call);  /* GET /events: the log of changes, as it grows */

/* Whether the caller, or the agent that the server is bound to, may see what this operation shows; else the answer is
 * given. */
bool status_allowed(struct http_call *call, const char *op);
