/* event.c: events of the server itself. */
#include "http/server/event.h"

#include <assert.h>

#include "store/tables/sessions.h"

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
