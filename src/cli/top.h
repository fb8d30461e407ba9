/* top.h: what `cairn top` shows: one picture as data, and as lines of a terminal. */
#pragma once

#include "cli/render/render.h"

struct top {
  struct engine *engine;
  struct caller caller;
  int64_t minutes; /* latencies are those of so many */
};

/* One picture: store, calls, tools, sessions (where the program has them), events. */
NODISCARD enum status top_read(struct top *t, struct arena *a, size_t events, yyjson_val **ret_picture,
                               struct error *err);
/* At most `height` lines, each with its line end and no wider than the page; 0: as many as there are. */
void top_draw(struct page *page, yyjson_val *picture, size_t height);
