/* watch.h: the thread that notices a renewed certificate behind a server. */
#pragma once

#include "http/http.h"
#include "http/tls/keeper.h"

struct tls_watch;

/* Looks every other second. What it finds is an event of the server's team, "tls:renewed" or "tls:broken"; what cannot
 * be used is also a line for `say`. */
NODISCARD enum status tls_watch_start(const struct http_server *shared, struct tls_keeper *keeper,
                                      void (*say)(const char *line), struct tls_watch **ret_watch, struct error *err);
/* Before the pool and the keeper are gone. */
void tls_watch_stop(struct tls_watch **watch);
