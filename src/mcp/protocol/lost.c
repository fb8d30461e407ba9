/* lost.c: ends memory sessions whose client has closed its stream.
 *
 * Threads that notice the disconnect must not block on the store, so a separate thread ends the sessions. A client may
 * reconnect meanwhile with another stream of the same session. To cover that race, open streams are checked before the
 * session is ended and again afterwards, and a new stream checks its session once it is listed. So one of the two sees
 * the other. */
#include <assert.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "mcp/protocol/server.h"
#include "op/session/session.h"

struct lost *lost_new(struct str team, struct str handle) {
  assert(team.n > 0 && handle.n > 0);
  struct lost *l = mem_zalloc(sizeof(*l) + team.n + handle.n);
  if (!l)
    return NULL;
  memcpy(l->text, team.p, team.n);
  memcpy(l->text + team.n, handle.p, handle.n);
  l->team = (struct str){l->text, team.n};
  l->handle = (struct str){l->text + team.n, handle.n};
  return l;
}

static void end_session(struct mcp_server *server, const struct lost *l) {
  struct engine *engine;
  struct error err;
  if (subscriptions_holds_session(server, l->team, l->handle) || !server->options.pool ||
      pool_acquire(server->options.pool, &engine, &err) != STATUS_OK)
    return; /* the session expires for lack of heartbeats */
  session_disconnected(engine, l->team, l->handle);
  if (subscriptions_holds_session(server, l->team, l->handle))
    session_reconnected(engine, l->team, l->handle);
  pool_release(server->options.pool, engine);
}

void lost_reopen(struct mcp_server *server, struct str team, struct str handle) {
  struct engine *engine;
  struct error err;
  if (!server->options.pool || pool_acquire(server->options.pool, &engine, &err) != STATUS_OK)
    return; /* the client's next call reopens it */
  session_reconnected(engine, team, handle);
  pool_release(server->options.pool, engine);
}

static void *lost_loop(void *arg) {
  struct mcp_server *server = arg;
  pthread_mutex_lock(&server->lock);
  while (!server->lost_quit) {
    struct lost *l = server->lost;
    if (!l) {
      pthread_cond_wait(&server->lost_more, &server->lock);
      continue;
    }
    server->lost = l->next;
    pthread_mutex_unlock(&server->lock);
    end_session(server, l);
    mem_free(l);
    pthread_mutex_lock(&server->lock);
  }
  pthread_mutex_unlock(&server->lock);
  return NULL;
}

bool lost_start(struct mcp_server *server) {
  pthread_mutex_lock(&server->lock);
  if (!server->lost_started && !server->closing)
    server->lost_started = thread_start(&server->lost_thread, lost_loop, server) == 0;
  bool started = server->lost_started;
  pthread_mutex_unlock(&server->lock);
  return started;
}

void lost_enqueue(struct mcp_server *server, struct lost *l) {
  pthread_mutex_lock(&server->lock);
  bool queued = l && server->lost_started && !server->closing; /* a server that stops ends no sessions */
  if (queued) {
    struct lost **end = &server->lost;
    while (*end)
      end = &(*end)->next;
    l->next = NULL;
    *end = l;
    pthread_cond_signal(&server->lost_more);
  }
  pthread_mutex_unlock(&server->lock);
  if (!queued)
    mem_free(l);
}

void lost_stop(struct mcp_server *server) {
  pthread_mutex_lock(&server->lock);
  bool started = server->lost_started;
  server->lost_quit = true;
  pthread_cond_signal(&server->lost_more);
  pthread_mutex_unlock(&server->lock);
  if (started)
    pthread_join(server->lost_thread, NULL);
  assert(started || !server->lost);
  while (server->lost) {
    struct lost *l = server->lost;
    server->lost = l->next;
    mem_free(l);
  }
}
