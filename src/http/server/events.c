/* events.c: GET /events: the change log as a resumable event stream; the server's own events. */
#include <assert.h>

#include "base/alloc.h"
#include "http/server/status.h"
#include "op/run/scrub.h"
#include "store/tables/sessions.h"

/* Bytes queued for a client before it is paused until it has read them. */
enum { AHEAD_MAX = 1 << 20 };

struct listener {
  struct feed *feed;
  pthread_mutex_t lock; /* guards `subscriber` */
  struct feed_subscriber *subscriber;
  struct http_stream *stream;
  struct principal *who; /* NULL: the local user, or the agent of the process. */
  /* Owned by the feed's thread while subscribed. */
  bool paused;
  int64_t last; /* last event sent */
  size_t action_n;
  size_t team_n;
  char action[]; /* filter; empty: all actions. The team follows it */
};

static struct str team_of(const struct listener *l) { return (struct str){l->action + l->action_n, l->team_n}; }

static void on_drain(void *arg);

static void on_event(void *arg, const struct event *e) {
  struct listener *l = arg;
  if (!e)
    http_stream_finish(l->stream);
  if (!e || l->paused)
    return;
  l->last = e->seq;
  if (l->action_n && !str_eq(e->action, (struct str){l->action, l->action_n}))
    return;
  struct arena scratch;
  arena_init(&scratch);
  jmp_buf oom;
  if (!ARENA_BOUNDARY(&scratch, oom)) {
    struct str id = arena_printf(&scratch, "%lld", (long long)e->seq);
    http_stream_send(l->stream, id, STR_NONE,
                     scrub_line(feed_secrets(l->feed, &scratch), &scratch, event_json(&scratch, e, l->who)));
  }
  arena_release(&scratch);
  l->paused = http_stream_pending(l->stream) > AHEAD_MAX;
  if (l->paused)
    http_stream_on_drain(l->stream, on_drain, l);
}

/* Resubscribes after the last event sent. If that fails the stream stays silent; the client reconnects when it ends. */
static void on_drain(void *arg) {
  struct listener *l = arg;
  struct error ignored;
  pthread_mutex_lock(&l->lock);
  feed_unsubscribe(l->feed, &l->subscriber);
  l->paused = false;
  struct subscription events = {team_of(l), l->who, l->last, on_event, l};
  if (feed_subscribe(l->feed, &events, &l->subscriber, &ignored) != STATUS_OK)
    l->subscriber = NULL;
  pthread_mutex_unlock(&l->lock);
}

static void listener_free(struct listener *l) {
  pthread_mutex_destroy(&l->lock);
  mem_free(l->who);
  mem_free(l);
}

static void on_close(void *arg) {
  struct listener *l = arg;
  pthread_mutex_lock(&l->lock);
  feed_unsubscribe(l->feed, &l->subscriber);
  pthread_mutex_unlock(&l->lock);
  http_stream_end(l->stream);
  listener_free(l);
}

/* Start after Last-Event-ID or ?since; by default with new events (-1). */
static bool read_position(const struct http_call *call, int64_t *ret_since) {
  struct str last = http_header(call, "last-event-id"), since = http_query(call, "since");
  struct str text = last.p && last.n ? last : since;
  *ret_since = -1;
  return !text.p || (str_int64(text, ret_since) && *ret_since >= 0);
}

static struct listener *listener_new(const struct http_call *call, int64_t since) {
  struct str action = http_query(call, "action"), team = call->caller.team;
  const struct principal *who = call->caller.principal;
  struct listener *l = mem_zalloc(sizeof(*l) + action.n + team.n + 1);
  if (l && who && !(l->who = principal_dup(who))) {
    mem_free(l);
    l = NULL;
  }
  if (!l)
    return NULL;
  l->feed = call->server->feed;
  l->last = since;
  l->action_n = action.n;
  l->team_n = team.n;
  if (action.n)
    memcpy(l->action, action.p, action.n);
  if (team.n)
    memcpy(l->action + action.n, team.p, team.n);
  pthread_mutex_init(&l->lock, NULL);
  return l;
}

void status_events(struct http_call *call) {
  int64_t since;
  struct error err;
  if (!status_is_allowed(call, "events"))
    return;
  if (!read_position(call, &since)) {
    http_reply_problem_status(call, 400, "Bad Request", "since and Last-Event-ID must be event numbers");
    return;
  }
  /* Once the client has the response head, it must receive everything committed from then on. */
  if (since < 0)
    since = feed_now(call->server->feed, call->caller.team);
  struct listener *l = listener_new(call, since);
  if (!l) {
    error_set(&err, STATUS_NOMEM, "out of memory");
    http_reply_problem(call, &err);
    return;
  }
  l->stream = http_stream_begin(call);
  if (!l->stream) {
    listener_free(l);
    return;
  }
  struct subscription events = {team_of(l), l->who, since, on_event, l};
  /* A drain callback that runs at once waits for the subscription. */
  pthread_mutex_lock(&l->lock);
  enum status s = feed_subscribe(l->feed, &events, &l->subscriber, &err);
  pthread_mutex_unlock(&l->lock);
  if (s == STATUS_OK) {
    http_stream_on_close(l->stream, on_close, l);
    return;
  }
  http_stream_end(l->stream);
  listener_free(l);
}

/* ---- the server's own events ---- */

void server_event(const struct http_server *server, const struct event *e) {
  struct engine *engine;
  struct error err;
  struct txn txn;
  assert(e->action.n > 0 && server->caller.team.n > 0);
  if (pool_acquire(server->pool, &engine, &err) != STATUS_OK)
    return;
  pthread_mutex_lock(&engine->lock);
  struct txn who = {.team = server->caller.team,
                    .project = STR(""),
                    .source = STR("server"),
                    .op = "serve",
                    .now = clock_now(&engine->clock)};
  if (sessions_begin(engine->store, &who, &txn, &err) != STATUS_OK || event_add(&txn, e, &err) != STATUS_OK ||
      txn_commit(&txn, &err) != STATUS_OK)
    store_rollback(engine->store);
  pthread_mutex_unlock(&engine->lock);
  pool_release(server->pool, engine);
}
