/* store.c: calls in the store: queues rows for the table of calls, and computes statistics from it. */
#include <stdlib.h>

#include "op/telemetry/internal.h"

/* ---- recording ---- */

/* Sets the session that this client booted last; false if it has not booted. */
static bool find_session(struct telemetry *t, struct recorded_call *r) {
  bool found = false;
  pthread_mutex_lock(&t->lock);
  for (size_t i = t->boot_count; !found && i > 0 && i + BOOTS > t->boot_count; i--) {
    const struct boot *b = &t->boots[(i - 1) % BOOTS];
    if (strcmp(b->client, r->client) == 0) {
      memcpy(r->session, b->session, sizeof(r->session));
      found = true;
    }
  }
  pthread_mutex_unlock(&t->lock);
  return found;
}

void telemetry_note_in(struct engine *e, const struct telemetry_call *call) {
  struct telemetry *t = e->telemetry;
  struct recorded_call r;
  if (!t && !(e->record_calls && e->store))
    return;
  telemetry_fill(&r, call);
  if (call->unrecorded) {
    if (t)
      telemetry_count(t, &r);
    return;
  }
  if (t && r.client[0] && !r.session[0] && !find_session(t, &r))
    r.before_boot = e->store != NULL;
  if (e->store && !r.before_boot && r.team[0]) { /* without a team: the call has deleted its own */
    struct call_row row = telemetry_row_of(&r);
    calls_queue(e->store, &row);
  }
  if (t)
    telemetry_push(t, &r);
}

/* Moves the old calls of all processes; for a process without a thread. */
static void move_now(struct engine *e) {
  struct arena a;
  struct store_boundary oom;
  struct error err;
  char path[BEFORE_BOOT_PATH];
  before_boot_path(db_path(store_db(e->store)), path);
  arena_init(&a);
  if (!STORE_BOUNDARY(e->store, &a, oom)) {
    int64_t now = clock_now(&e->clock);
    struct before_boot_move move = {.older = now - BEFORE_BOOT_WAIT_MS, .now = now};
    enum status s = before_boot_move(e->store, path, &a, &move, NULL, &err);
    (void)s; /* tried again at the next boot */
  }
  arena_release(&a);
}

void telemetry_flush_before_boot(struct engine *e, struct str client, struct str session) {
  struct telemetry *t = e->telemetry;
  if (!e->store || db_read_only(store_db(e->store)))
    return;
  if (!t) {
    if (e->record_calls)
      move_now(e);
    return;
  }
  if (str_empty(client) || str_empty(session) || client.n >= NAME_SIZE || session.n >= NAME_SIZE)
    return;
  pthread_mutex_lock(&t->lock);
  struct boot *b = &t->boots[t->boot_count++ % BOOTS];
  *b = (struct boot){.pending = true};
  memcpy(b->client, client.p, client.n);
  memcpy(b->session, session.p, session.n);
  pthread_cond_signal(&t->wake);
  pthread_mutex_unlock(&t->lock);
}

/* ---- statistics ---- */

struct gather {
  struct arena *a;
  struct call_stats stats;
};

static struct call_stat *find_stat(struct gather *g, struct str tool) {
  for (size_t i = 0; i < g->stats.n; i++)
    if (str_eq(g->stats.v[i].tool, tool))
      return &g->stats.v[i];
  struct call_stat made = {.tool = arena_dup(g->a, tool), .durations = arena_new(g->a, struct histogram)};
  list_push(g->a, &g->stats, made);
  return &g->stats.v[g->stats.n - 1];
}

static enum status add_call(void *arg, const struct call_row *row) {
  struct gather *g = arg;
  struct call_stat *s = find_stat(g, row->tool);
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
  TRY(calls_walk(st, team, since, add_call, &g, err));
  if (g.stats.n)
    qsort(g.stats.v, g.stats.n, sizeof(g.stats.v[0]), most_calls_first);
  *ret_stats = g.stats;
  return STATUS_OK;
}
