/* top.h: data and drawing of `cairn top`. */
#pragma once

#include "cli/render/render.h"

struct top {
  struct engine *engine;
  struct caller caller;
  int64_t minutes; /* period of the latencies */
};

/* Reads a snapshot: store, calls, tools, sessions, events. */
NODISCARD enum status top_read(struct top *t, struct arena *a, size_t events, yyjson_val **ret_snapshot,
                               struct error *err);
/* Draws at most `height` lines, each with a line end and no wider than the page; 0: no limit. */
void top_draw(struct page *page, yyjson_val *snapshot, size_t height);
