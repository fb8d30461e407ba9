/* tasks.h: questions about the graph of tasks. */
#pragma once

#include "store/memories/memories.h"

/* Open, not claimed, and with no open blocker. */
NODISCARD enum status tasks_ready(struct store *st, const struct scope *scope, int64_t limit, struct arena *a,
                                  struct memories *ret_list, struct error *err);
/* "3, 7" for the open tasks that this one waits for; absent when there are none. */
NODISCARD enum status task_open_blockers(struct store *st, struct str team, int64_t id, struct arena *a,
                                         struct str *ret_ids, struct error *err);
