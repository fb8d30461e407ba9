/* test_server.c: the server with test routes: slow calls, streams, clients that stop sending or reading. */
#include "http/server.h"

#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "http/internal.h"
#include "support/libc.h"
#include "support/serve.h"

enum { STREAMS = 3 };

static struct http_daemon *server;
static _Atomic int begun, let_go, closed, sent, gone_seen, inside, most_inside, longest_ms;

static void wait_until(_Atomic int *value, int wanted) {
  for (int i = 0; i < 1000 * test_slowness() && atomic_load(value) < wanted; i++)
    usleep(10000);
  CHECK(atomic_load(value) >= wanted);
}

/* ---- routes ---- */

static void quick(struct http_call *call) { http_reply_json(call, 200, STR("{}")); }

static _Atomic int fail_at, failures;

/* Runs on the network thread: counts its failed allocations, and makes a later one fail. */
static void fail_later(struct http_call *call) {
  atomic_store(&failures, (int)alloc_failures());
  http_reply_json(call, 200, STR("{}"));
  alloc_fail_at(atomic_load(&fail_at), 0);
}

/* Returns when the test releases it, or the client disconnects. */
static void slow(struct http_call *call) {
  atomic_fetch_add(&begun, 1);
  while (!atomic_load(&let_go) && !http_client_gone(call))
    usleep(5000);
  if (http_client_gone(call))
    atomic_fetch_add(&gone_seen, 1);
  http_reply_json(call, 200, STR("{\"slow\":true}"));
}

static void raise_to(_Atomic int *value, int at_least) {
  int was = atomic_load(value);
  while (was < at_least && !atomic_compare_exchange_weak(value, &was, at_least)) {
  }
}

/* A short call that counts concurrent runs. */
static void brief(struct http_call *call) {
  int64_t began = clock_ticks_us();
  raise_to(&most_inside, atomic_fetch_add(&inside, 1) + 1);
  usleep(2000);
  atomic_fetch_sub(&inside, 1);
  http_reply_json(call, 200, STR("{}"));
  raise_to(&longest_ms, (int)((clock_ticks_us() - began) / 1000));
}

static void on_close(void *arg) {
  http_stream_end(arg);
  atomic_fetch_add(&closed, 1);
}

static void idle_stream(struct http_call *call) {
  struct http_stream *s = http_stream_begin(call);
  if (s)
    http_stream_on_close(s, on_close, s);
}

/* Sends until the stream refuses more. */
static void flood(struct http_call *call) {
  static char text[1024];
  memset(text, 'x', sizeof(text));
  struct http_stream *s = http_stream_begin(call);
  if (!s)
    return;
  http_stream_on_close(s, on_close, s);
  while (atomic_load(&sent) < 100000 && http_stream_send(s, STR_NONE, STR_NONE, (struct str){text, sizeof(text)}))
    atomic_fetch_add(&sent, 1);
}

static void three(struct http_call *call) {
  struct http_stream *s = http_stream_begin(call);
  for (int i = 0; s && i < 3; i++)
    http_stream_send(s, STR("i"), STR("e"), str_from(textf("%d", i)));
  if (s)
    http_stream_end(s);
}

static void echo(struct http_call *call) {
  struct buf b = BUF(call->arena);
  buf_addf(&b, "%.*s|%.*s|%.*s|%.*s", STR_ARG(call->method), STR_ARG(http_path_part(call, "name")),
           STR_ARG(http_query(call, "q")), STR_ARG(call->body));
  http_add_header(call, "X-Seen", http_header(call, "x-sent"));
  http_reply_text(call, 200, "text/plain", buf_str(&b));
}

static const struct http_route routes[] = {
    {"GET", "/quick", quick, HTTP_AT_ONCE},
    {"GET", "/fail_later", fail_later, HTTP_AT_ONCE},
    {"GET", "/slow", slow, 0},
    {"GET", "/brief", brief, 0},
    {"GET", "/idle", idle_stream, 0},
    {"GET", "/flood", flood, 0},
    {"GET", "/three", three, 0},
    {NULL, "/echo/{name}", echo, 0},
    {0},
};

static int start(struct http_options o) {
  struct error err;
  o.shared.routes = routes;
  o.workers = o.workers ? o.workers : 2;
  CHECK_OK(http_start(&o, &server, &err), &err);
  return (int)strtol(strrchr(http_address(server), ':') + 1, NULL, 10);
}

static struct wire *asked(int port, const char *path) {
  struct wire *w = wire_to(port);
  wire_send(w, request_text("GET", path, NULL, STR_NONE));
  return w;
}

/* ---- requests ---- */

TEST(a_route_sees_the_request) {
  int port = start((struct http_options){0});
  struct wire *w = wire_to(port);
  wire_send(w, request_text("PUT", "/echo/a%20b?q=c%26d&q=2", "X-Sent:   padded  \r\n", STR("body")));
  struct answer a = wire_answer(w, false);
  CHECK_INT(a.status, 200);
  CHECK_STR(a.body, "PUT|a b|c&d|body");
  CHECK_STR(answer_header(&a, "x-seen"), "padded");
  wire_send(w, STR("POST /echo/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"));
  CHECK_STR(wire_answer(w, false).body, "POST|x||abcdefg");
  wire_send(w, request_text("GET", "/echo/x?q=%", NULL, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 400);
  wire_close(w);
  http_stop(&server);
}

TEST(an_incomplete_request_is_408) {
  int port = start((struct http_options){.request_ms = 300});
  struct wire *silent = wire_to(port), *half = wire_to(port), *drip = wire_to(port);
  wire_send(half, STR("GET /quick HTTP/1.1\r\nHost: loc"));
  struct str text =
      STR("GET /quick HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
  for (size_t i = 0; i < text.n && !drip->ended; i++) {
    wire_send(drip, str_slice(text, i, i + 1));
    usleep(20000);
  }
  CHECK_INT(wire_answer(half, false).status, 408);
  CHECK_INT(wire_answer(drip, false).status, 408);
  CHECK(wire_closed(half, 5000) && wire_closed(drip, 5000) && wire_closed(silent, 5000));
  wire_close(half);
  wire_close(drip);
  wire_close(silent);
  http_stop(&server);
}

TEST(busy_workers_do_not_delay_quick_routes) {
  int port = start((struct http_options){0});
  struct wire *busy[4];
  for (size_t i = 0; i < ARRAY_LEN(busy); i++)
    busy[i] = asked(port, "/slow");
  wait_until(&begun, 2);
  CHECK_INT(wire_answer(asked(port, "/quick"), false).status, 200);
  CHECK_INT(atomic_load(&begun), 2); /* the others are queued */
  atomic_store(&let_go, 1);
  for (size_t i = 0; i < ARRAY_LEN(busy); i++)
    CHECK_STR(wire_answer(busy[i], false).body, "{\"slow\":true}");
  http_stop(&server);
}

TEST(short_calls_run_on_as_many_workers_as_there_are_engines) {
  int port = start((struct http_options){.workers = HTTP_WORKERS_MAX});
  struct wire *all[4 * HTTP_WORKERS_MAX];
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    all[i] = asked(port, "/brief");
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    CHECK_INT(wire_answer(all[i], false).status, 200);
  /* On a busy machine these calls may count as long. */
  CHECK(atomic_load(&most_inside) <= (int)http_engines() || atomic_load(&longest_ms) >= 50);
  http_stop(&server);
}

TEST(long_calls_do_not_delay_others) {
  int port = start((struct http_options){.workers = HTTP_WORKERS_MAX});
  struct wire *lasting[HTTP_WORKERS_MAX - 1];
  for (size_t i = 0; i < ARRAY_LEN(lasting); i++)
    lasting[i] = asked(port, "/slow");
  wait_until(&begun, (int)ARRAY_LEN(lasting));
  CHECK_INT(wire_answer(asked(port, "/brief"), false).status, 200);
  atomic_store(&let_go, 1);
  for (size_t i = 0; i < ARRAY_LEN(lasting); i++)
    CHECK_STR(wire_answer(lasting[i], false).body, "{\"slow\":true}");
  http_stop(&server);
}

/* While others are active, a caller leaves them a worker, until its own call counts as long. */
TEST(a_request_runs_once_the_call_before_it_lasts_long) {
  int port = start((struct http_options){.workers = HTTP_WORKERS_MAX});
  pthread_mutex_lock(&server->work_lock);
  fair_note(&server->fair, (struct fair_id){.caller = 1}, clock_ticks_us());
  pthread_mutex_unlock(&server->work_lock);
  struct wire *lasting[HTTP_WORKERS_MAX];
  size_t n = http_engines() > 1 ? http_engines() - 1 : 1;
  for (size_t i = 0; i < n; i++)
    lasting[i] = asked(port, "/slow");
  wait_until(&begun, (int)n);
  CHECK_INT(wire_answer(asked(port, "/brief"), false).status, 200);
  atomic_store(&let_go, 1);
  for (size_t i = 0; i < n; i++)
    CHECK_STR(wire_answer(lasting[i], false).body, "{\"slow\":true}");
  http_stop(&server);
}

TEST(a_call_sees_that_its_client_disconnected) {
  int port = start((struct http_options){0});
  struct wire *w = asked(port, "/slow");
  wait_until(&begun, 1);
  CHECK_INT(atomic_load(&gone_seen), 0);
  wire_close(w);
  wait_until(&gone_seen, 1);
  http_stop(&server);
}

static void *let_it_go(void *arg) {
  usleep(200000);
  atomic_store(&let_go, 1);
  return arg;
}

TEST(running_calls_finish_at_shutdown) {
  int port = start((struct http_options){0});
  struct wire *w = asked(port, "/slow");
  wait_until(&begun, 1);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, let_it_go, NULL) == 0);
  http_drain(server, 10000);
  http_stop(&server);
  CHECK_STR(wire_answer(w, false).body, "{\"slow\":true}");
  CHECK_INT(atomic_load(&gone_seen), 0);
  pthread_join(thread, NULL);
}

TEST(calls_past_the_deadline_are_cancelled) {
  int port = start((struct http_options){0});
  struct wire *w = asked(port, "/slow");
  wait_until(&begun, 1);
  http_drain(server, 50);
  http_stop(&server);
  CHECK_INT(atomic_load(&gone_seen), 1);
  CHECK_INT(wire_answer(w, false).status, 200);
}

TEST(queued_calls_past_the_deadline_are_refused) {
  int port = start((struct http_options){.workers = 2});
  struct wire *all[6];
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    all[i] = asked(port, "/slow");
  wait_until(&begun, 2);
  usleep(200000); /* the others are queued */
  http_drain(server, 50);
  http_stop(&server);
  int refused = 0;
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    refused += wire_answer(all[i], false).status == 503;
  CHECK_INT(atomic_load(&begun), 2);
  CHECK_INT(refused, 4);
}

/* The clock is set an hour forward while a stopping server waits for its calls: the deadline seems to have passed. */
TEST(setting_the_clock_forward_cuts_off_no_call) {
  int port = start((struct http_options){0});
  struct wire *w = asked(port, "/slow");
  wait_until(&begun, 1);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, let_it_go, NULL) == 0);
  libc_shift_time_of_day(-3600);
  http_drain(server, 10000);
  libc_shift_time_of_day(0);
  http_stop(&server);
  CHECK_STR(wire_answer(w, false).body, "{\"slow\":true}");
  CHECK_INT(atomic_load(&gone_seen), 0);
  pthread_join(thread, NULL);
}

/* The clock is set an hour back: the deadline seems an hour away. */
TEST(setting_the_clock_back_does_not_delay_shutdown) {
  int port = start((struct http_options){0});
  struct wire *w = asked(port, "/slow");
  wait_until(&begun, 1);
  libc_shift_time_of_day(3600);
  http_drain(server, 50);
  libc_shift_time_of_day(0);
  http_stop(&server);
  CHECK_INT(atomic_load(&gone_seen), 1);
  CHECK_INT(wire_answer(w, false).status, 200);
}

/* A request that finds the queue full is answered, or its connection is closed if there is no memory, but it is never
 * left suspended. The padding moves the allocations of the request to different places in its memory blocks. */
static int refuse_without_memory(int port, int padding) {
  int refused = 0;
  struct arena a;
  arena_init(&a);
  const char *headers = arena_printf(&a, "X-Padding: %0*d\r\n", padding, 0).p;
  for (int n = 1; n == 1 || atomic_load(&failures) > 0; n++) {
    atomic_store(&fail_at, n);
    CHECK_INT(wire_answer(asked(port, "/fail_later"), false).status, 200);
    struct wire *w = wire_to(port);
    wire_send(w, request_text("GET", "/brief", headers, STR_NONE));
    struct answer answer = wire_answer(w, false);
    test_note("padding %d, allocation %d: status %d", padding, n, answer.status);
    CHECK(answer.status == 0 || answer.status == 403 || answer.status == 503); /* 403: the peer is unknown */
    if (answer.status == 503) {
      CHECK_STR(answer_header(&answer, "Retry-After"), "1");
      CHECK(str_find(answer.body, STR("too many requests are queued"), 0) != SIZE_MAX);
      refused++;
    }
    wire_close(w);
    atomic_store(&fail_at, 0);
    while (wire_answer(asked(port, "/fail_later"), false).status != 200) { /* the allocation of this request failed */
    }
  }
  arena_release(&a);
  return refused;
}

TEST(a_request_that_cannot_be_queued_is_not_left_suspended) {
  int port = start((struct http_options){0});
  pthread_mutex_lock(&server->work_lock);
  server->quit = true; /* the queue accepts nothing */
  pthread_cond_broadcast(&server->work);
  pthread_cond_broadcast(&server->spare_work);
  pthread_mutex_unlock(&server->work_lock);
  for (int padding = 1; padding < 12000; padding += 400)
    CHECK(refuse_without_memory(port, padding) > 0);
  http_stop(&server);
}

/* ---- streams ---- */

TEST(a_stream_is_written_to_its_end) {
  int port = start((struct http_options){0});
  struct wire *w = asked(port, "/three");
  CHECK_INT(wire_answer(w, false).status, 200);
  struct sse e;
  for (int i = 0; i < 3; i++) {
    CHECK(sse_next(w, 5000, &e));
    CHECK_STR(e.data, textf("%d", i));
    CHECK_STR(e.event, "e");
    CHECK_STR(e.id, "i");
  }
  CHECK(sse_ended(w, 5000));
  http_stop(&server);
}

TEST(idle_streams_send_keep_alives) {
  int port = start((struct http_options){.keep_alive_ms = 200});
  struct wire *w = asked(port, "/idle");
  CHECK_INT(wire_answer(w, false).status, 200);
  /* ":\n\n" in chunks of 3 bytes; the first one comes at the start. */
  int comments = 0;
  for (int i = 0; i < 100 * test_slowness() && comments < 3; i++) {
    char bytes[256];
    ssize_t n = recv(w->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    for (ssize_t k = 0; k < n; k++)
      comments += bytes[k] == ':';
    usleep(50000);
  }
  CHECK(comments >= 3 || w->in.n > 0);
  CHECK_INT(atomic_load(&closed), 0);
  wire_close(w);
  wait_until(&closed, 1);
  http_stop(&server);
}

TEST(a_client_that_leaves_an_idle_stream_is_noticed) {
  int port = start((struct http_options){0});
  struct wire *w[STREAMS];
  for (int i = 0; i < STREAMS; i++) {
    w[i] = asked(port, "/idle");
    CHECK_INT(wire_answer(w[i], false).status, 200);
  }
  CHECK_INT(atomic_load(&closed), 0);
  wire_close(w[1]);
  wait_until(&closed, 1);
  usleep(50000);
  CHECK_INT(atomic_load(&closed), 1);
  http_stop(&server);
  CHECK_INT(atomic_load(&closed), STREAMS);
}

TEST(a_stream_that_is_not_read_is_dropped) {
  int port = start((struct http_options){0});
  struct wire *w = wire_to(port);
  int small = 4096;
  setsockopt(w->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
  wire_send(w, request_text("GET", "/flood", NULL, STR_NONE));
  wait_until(&closed, 1);
  CHECK(atomic_load(&sent) > 1000 && atomic_load(&sent) < 50000);
  CHECK_INT(wire_answer(asked(port, "/quick"), false).status, 200);
  wire_close(w);
  http_stop(&server);
}

TEST(too_many_streams_are_refused) {
  int port = start((struct http_options){.streams_max = 2});
  struct wire *a = asked(port, "/idle"), *b = asked(port, "/idle");
  CHECK_INT(wire_answer(a, false).status, 200);
  CHECK_INT(wire_answer(b, false).status, 200);
  CHECK_INT(wire_answer(asked(port, "/idle"), false).status, 503);
  wire_close(a);
  wait_until(&closed, 1);
  CHECK_INT(wire_answer(asked(port, "/idle"), false).status, 200);
  http_stop(&server);
}

TEST(head_of_a_stream_has_no_body) {
  int port = start((struct http_options){0});
  struct wire *w = wire_to(port);
  wire_send(w, request_text("HEAD", "/idle", NULL, STR_NONE));
  CHECK_INT(wire_answer(w, true).status, 200);
  wait_until(&closed, 1);
  wire_send(w, request_text("GET", "/quick", NULL, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  http_stop(&server);
}
