/* test_events.c: GET /events with a log larger than a client's queue. */
#include <sys/socket.h>
#include <unistd.h>

#include "http/server.h"
#include "op/run/engine.h"
#include "support/serve.h"

enum { EVENTS = 30000 };

TEST(a_slow_reader_gets_a_long_log_completely, .seconds = 60) {
  struct error err;
  struct engine *engine;
  char text[600];
  memset(text, '0', sizeof(text));
  struct engine_options o = {.path = test_store("store.db")};
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  CHECK_OK(
      db_exec(
          store_db(engine->store), &err,
          "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
          " INSERT INTO event (team, at, action, op, project, source, detail)"
          " SELECT 'default', i, CASE WHEN i % 2 = 1 THEN 'memory:read' ELSE 'memory:search' END, 'get', '', 'test',"
          " '{\"text\":\"' || ?2 || '\"}' FROM n",
          "is", (int64_t)EVENTS, (struct str){text, sizeof(text)}),
      &err);
  struct http_options h = {.shared = {.caller = {.team = STR("default")}}};
  CHECK_OK(feed_new(&o, &h.shared.feed, &err), &err);
  struct http_daemon *server;
  CHECK_OK(http_start(&h, &server, &err), &err);
  int port = (int)strtol(strrchr(http_address(server), ':') + 1, NULL, 10), small = 128 << 10;
  struct wire *w = wire_to(port);
  setsockopt(w->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
  wire_send(w, request_text("GET", "/events?since=10&action=memory:read", NULL, STR_NONE));
  usleep(1500000); /* enough time to read the whole log */
  CHECK_INT(wire_answer(w, false).status, 200);
  struct sse e;
  for (int i = 11; i <= EVENTS; i += 2) {
    test_note("event %d", i);
    CHECK(sse_next(w, 10000, &e));
    CHECK_STR(e.id, textf("%d", i));
  }
  wire_close(w);
  http_stop(&server);
  feed_close(&h.shared.feed);
  engine_close(&engine);
}
