/* call_stats.c: counts and latencies of tools from the table of calls. */
#include "op/telemetry/call_stats.h"

#include <stdlib.h>

struct gather {
  struct arena *a;
  struct call_stats stats;
};

static struct call_stat *find(struct gather *g, struct str tool) {
  for (size_t i = 0; i < g->stats.n; i++)
    if (str_eq(g->stats.v[i].tool, tool))
      return &g->stats.v[i];
  struct call_stat made = {.tool = arena_dup(g->a, tool), .durations = arena_new(g->a, struct histogram)};
  list_push(g->a, &g->stats, made);
  return &g->stats.v[g->stats.n - 1];
}

static enum status add(void *arg, const struct call_row *row) {
  struct gather *g = arg;
  struct call_stat *s = find(g, row->tool);
  histogram_add(s->durations, row->duration_us);
  s->errors += row->error.p != NULL;
  g->stats.calls++;
  g->stats.errors += row->error.p != NULL;
  return STATUS_OK;
}

static int most_calls_first(const void *a, const void *b) {
  const struct call_stat *x = a, *y = b;
  if (x->durations->n != y->durations->n)
    return x->durations->n < y->durations->n ? 1 : -1;
  return str_cmp(x->tool, y->tool);
}

enum status call_stats_of(struct store *st, struct str team, int64_t since, struct arena *a,
                          struct call_stats *ret_stats, struct error *err) {
  struct gather g = {.a = a};
  TRY(calls_walk(st, team, since, add, &g, err));
  if (g.stats.n)
    qsort(g.stats.v, g.stats.n, sizeof(g.stats.v[0]), most_calls_first);
  *ret_stats = g.stats;
  return STATUS_OK;
}
