/* call_stats.h: counts and latencies of each tool, over the calls that the store has of a time. */
#pragma once

#include "base/histogram.h"
#include "store/tables/calls.h"

struct call_stat {
  struct str tool;
  int64_t errors;
  struct histogram *durations; /* of all calls, also of those that failed; n is their number */
};

struct call_stats {
  struct call_stat *v;
  size_t n, cap;
  int64_t calls, errors;
};

/* Of all processes, since then; the tool with the most calls first. */
NODISCARD enum status call_stats_of(struct store *st, struct str team, int64_t since, struct arena *a,
                                    struct call_stats *ret_stats, struct error *err);
