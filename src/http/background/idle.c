/* idle.c: the background thread of an idle server. */
#include "http/background/idle.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "http/background/watcher.h"
#include "http/internal.h"
#include "op/admin/upkeep.h"

enum {
  QUIET_US = 2 * 1000 * 1000,     /* idle time before background work starts */
  POLL_MS = 1000,                 /* polling interval, also between two batches of embeddings */
  RECHECK_US = 60 * 1000 * 1000,  /* between checks for texts without vectors, if there were none */
  BUSY_US = 5 * 1000 * 1000,      /* between two batches of embeddings while calls arrive all the time */
  PATIENCE_US = 60 * 1000 * 1000, /* wait of due maintenance for a quiet moment */
  FIRST_US = 10 * 1000 * 1000,    /* delay after start */
};
#define HOUR_US (INT64_C(3600) * 1000 * 1000)

struct idle {
  struct watcher watcher;
  struct http_daemon *daemon;
  int64_t maintain_at, embed_at, embedded_at; /* ticks */
  size_t turn, done;                          /* next team to embed for; teams in a row without pending texts */
};

static bool is_quiet(struct http_daemon *d, int64_t now) {
  pthread_mutex_lock(&d->work_lock);
  bool quiet = d->busy == 0 && !d->first && now - d->worked >= QUIET_US;
  pthread_mutex_unlock(&d->work_lock);
  return quiet;
}

bool idle_may_maintain(bool quiet, int64_t now, int64_t due) {
  return now >= due && (quiet || now - due >= PATIENCE_US);
}

/* Team number n: the server's own, then those of tokens. False if there is none. */
static bool find_team(struct idle *i, size_t n, char ret_name[WORK_TEAM_SIZE]) {
  struct http_daemon *d = i->daemon;
  if (n > WORK_TEAMS)
    return false;
  pthread_mutex_lock(&d->work_lock);
  struct str name = n == 0 ? d->shared.caller.team : str_from(d->active_teams[n - 1]);
  snprintf(ret_name, WORK_TEAM_SIZE, "%.*s", STR_ARG(name));
  pthread_mutex_unlock(&d->work_lock);
  return ret_name[0] != 0;
}

static struct caller caller_of(const struct idle *i, const char *team) {
  struct caller c = i->daemon->shared.caller;
  c.team = str_from(team);
  c.source = STR("server");
  return c;
}

static void maintain(struct idle *i, const struct op_hooks *hooks) {
  char team[WORK_TEAM_SIZE];
  for (size_t n = 0; find_team(i, n, team) && !watcher_is_stopping(&i->watcher); n++) {
    struct caller caller = caller_of(i, team);
    upkeep_maintain(i->daemon->shared.pool, &caller, hooks);
  }
}

/* One batch of one team; the teams take turns until all texts are embedded. */
static void embed(struct idle *i, const struct op_hooks *hooks, int64_t now) {
  char team[WORK_TEAM_SIZE];
  if (!find_team(i, i->turn, team)) {
    i->turn = 0;
    if (!find_team(i, 0, team))
      return;
  }
  struct caller caller = caller_of(i, team);
  bool more = upkeep_embed(i->daemon->shared.pool, &caller, hooks);
  i->turn++;
  i->done = more ? 0 : i->done + 1;
  i->embedded_at = clock_ticks_us();
  if (find_team(i, i->done, team)) /* not all teams are done */
    return;
  i->done = 0;
  i->embed_at = now + RECHECK_US;
}

static void work(void *arg) {
  struct idle *i = arg;
  const struct op_hooks hooks = {.arg = &i->watcher, .cancelled = watcher_is_stopping};
  int64_t now = clock_ticks_us();
  bool quiet = is_quiet(i->daemon, now);
  thread_use_one_core();
  pool_trim(i->daemon->shared.pool);
  if (idle_may_maintain(quiet, now, i->maintain_at)) {
    maintain(i, &hooks);
    i->maintain_at = now + HOUR_US;
  } else if (now >= i->embed_at && (quiet || now - i->embedded_at >= BUSY_US)) {
    embed(i, &hooks, now);
  }
}

enum status idle_start(struct http_daemon *d, struct idle **ret_idle, struct error *err) {
  struct idle *i = mem_zalloc(sizeof(*i));
  if (!i)
    return error_set(err, STATUS_NOMEM, "out of memory");
  int64_t first = clock_ticks_us() + FIRST_US;
  *i = (struct idle){
      .watcher = {.period_ms = POLL_MS, .check = work, .arg = i}, .daemon = d, .maintain_at = first, .embed_at = first};
  if (watcher_open(&i->watcher, err) != STATUS_OK || watcher_start(&i->watcher, err) != STATUS_OK) {
    idle_stop(&i);
    return err->code;
  }
  *ret_idle = i;
  return STATUS_OK;
}

void idle_stop(struct idle **idle) {
  struct idle *i = *idle;
  if (!i)
    return;
  watcher_close(&i->watcher);
  mem_free(i);
  *idle = NULL;
}
