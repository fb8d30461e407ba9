/* mirror_watch.h: keeps each MEMORY.md in step behind a server: an edited page is read, a changed store is written. */
#pragma once

#include "http/http.h"

struct mirror_watch;

/* Watches the pages that 'cairn sync' has noted, also those that it notes later. */
NODISCARD enum status mirror_watch_start(const struct http_server *shared, struct mirror_watch **ret_watch,
                                         struct error *err);
/* Waits for the step under way; before the feed and the pool are closed. */
void mirror_watch_stop(struct mirror_watch **watch);
