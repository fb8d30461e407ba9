/* source_watch.h: keeps the search in step with the folders of 'cairn source' behind a server. */
#pragma once

#include "http/http.h"

struct source_watch;

/* Follows the sources of the server's team, also those that are added later, unless another process does. */
NODISCARD enum status source_watch_start(const struct http_server *shared, struct source_watch **ret_watch,
                                         struct error *err);
/* Waits for the step under way; before the pool is closed. */
void source_watch_stop(struct source_watch **watch);
