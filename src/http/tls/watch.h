/* watch.h: the thread that reloads a renewed certificate. */
#pragma once

#include "http/http.h"
#include "http/tls/keeper.h"

struct tls_watch;

/* Checks every two seconds. Logs an event of the server's team, "tls:renewed" or "tls:broken"; failures are also passed
 * to `say`. */
NODISCARD enum status tls_watch_start(const struct http_server *shared, struct tls_keeper *keeper,
                                      void (*say)(const char *line), struct tls_watch **ret_watch, struct error *err);
/* Call it before the pool and the keeper are freed. */
void tls_watch_stop(struct tls_watch **watch);
