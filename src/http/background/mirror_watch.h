/* mirror_watch.h: syncs each MEMORY.md with the store while a server runs. */
#pragma once

#include "http/http.h"

struct mirror_watch;

/* Watches the pages that 'cairn sync' has registered, including later ones. */
NODISCARD enum status mirror_watch_start(const struct http_server *shared, struct mirror_watch **ret_watch,
                                         struct error *err);
/* Waits for the current sync. Call it before the feed and the pool are closed. */
void mirror_watch_stop(struct mirror_watch **watch);
