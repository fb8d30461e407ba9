/* source_watch.h: keeps the search index in sync with source folders while a server runs. */
#pragma once

#include "http/http.h"

struct source_watch;

/* Watches the sources of the server's team, including later ones, unless another process does. */
NODISCARD enum status source_watch_start(const struct http_server *shared, struct source_watch **ret_watch,
                                         struct error *err);
/* Waits for the current read. Call it before the pool is closed. */
void source_watch_stop(struct source_watch **watch);
