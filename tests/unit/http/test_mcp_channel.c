/* test_mcp_channel.c: messages that a channel replays to a resuming client, and secrets, which it does not replay. */
#include "http/mcp/channel.h"

#include "base/alloc.h"
#include "http/server.h"
#include "support/serve.h"

static struct http_daemon *server;
static struct mcp_hub *hub;

/* An answer after a notification, which made the exchange a stream; ?secret marks it as secret. */
static void call_route(struct http_call *call) {
  struct mcp_channel *c = channel_new(hub, call, &(struct channel_options){.session = STR("the session")});
  struct mcp_out *out = channel_out(c);
  out->send(out->arg, STR("{\"note\":1}"), false);
  if (http_query(call, "secret").p)
    out->secret(out->arg, STR("{\"instead\":1}"));
  out->send(out->arg, STR("{\"answer\":\"hush\"}"), true);
  channel_finish(c, &(struct mcp_reply){.status = 200});
}

static void again_route(struct http_call *call) {
  if (!channel_resume(hub, call, STR("the session"), http_header(call, "last-event-id")))
    http_reply_text(call, 404, NULL, STR(""));
}

/* A single JSON reply uses the call's memory. */
static void piece_route(struct http_call *call) {
  struct mcp_channel *c = channel_new(hub, call, &(struct channel_options){.session = STR("the session")});
  struct mcp_out *out = channel_out(c);
  out->secret(out->arg, STR("{\"instead\":1}"));
  CHECK(call->arena->guarded);
  out->send(out->arg, STR("{\"answer\":\"hush\"}"), true);
  channel_finish(c, &(struct mcp_reply){.status = 200});
}

static int start(void) {
  static const struct http_route routes[] = {
      {"GET", "/call", call_route, 0}, {"GET", "/again", again_route, 0}, {"GET", "/piece", piece_route, 0}, {0}};
  struct http_options o = {.workers = 2, .shared = {.routes = routes}};
  struct error err;
  CHECK_OK(mcp_hub_new(NULL, &hub, &err), &err);
  CHECK_OK(http_start(&o, &server, &err), &err);
  return (int)strtol(strrchr(http_address(server), ':') + 1, NULL, 10);
}

static void stop(void) {
  http_stop(&server);
  mcp_hub_free(&hub);
}

static struct wire *asked(int port, const char *path, const char *headers) {
  struct wire *w = wire_to(port);
  wire_send(w, request_text("GET", path, headers, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  return w;
}

static struct sse next(struct wire *w) {
  struct sse e;
  CHECK(sse_next(w, 10000 * test_slowness(), &e));
  return e;
}

/* Resumes after the first message. */
static struct str replayed(int port, const char *path) {
  struct wire *w = asked(port, path, NULL);
  struct sse first = next(w), second = next(w);
  CHECK_STR(first.data, "{\"note\":1}");
  CHECK_STR(second.data, "{\"answer\":\"hush\"}");
  wire_close(w);
  struct wire *back = asked(port, "/again", textf("Last-Event-ID: %s\r\n", cstr(first.id)));
  struct sse e = next(back);
  CHECK(str_eq(e.id, second.id));
  wire_close(back);
  return e.data;
}

TEST(an_answer_is_replayed) {
  int port = start();
  CHECK_STR(replayed(port, "/call"), "{\"answer\":\"hush\"}");
  stop();
}

TEST(a_secret_is_not_replayed) {
  int port = start();
  CHECK_STR(replayed(port, "/call?secret"), "{\"instead\":1}");
  stop();
}

TEST(a_secret_json_reply_is_in_locked_memory) {
  int port = start();
  struct wire *w = wire_to(port);
  wire_send(w, request_text("GET", "/piece", NULL, STR_NONE));
  struct answer a = wire_answer(w, false);
  CHECK_INT(a.status, 200);
  CHECK_STR(a.body, "{\"answer\":\"hush\"}");
  wire_close(w);
  stop();
}

/* ---- without memory ---- */

/* Channel functions must return to the dispatcher, which holds sessions, engines and locks. Returns false if the
 * channel jumped past it. */
static bool answer_with(struct http_call *call, struct mcp_channel *c, struct str json, bool secret) {
  struct mcp_out *out = channel_out(c);
  jmp_buf oom;
  if (ARENA_BOUNDARY(call->arena, oom))
    return false;
  if (secret)
    out->secret(out->arg, json);
  out->send(out->arg, json, true);
  return true;
}

TEST(out_of_memory_is_reported_in_the_answer) {
  enum { LONG = 40000 };
  static struct arena a;
  char *text = arena_alloc(&a, LONG);
  struct error err;
  memset(text, ' ', LONG);
  CHECK_OK(mcp_hub_new(NULL, &hub, &err), &err);
  for (int secret = 0; secret <= 1; secret++) {
    struct arena own;
    struct http_call call = {.arena = &own};
    arena_init(&own);
    struct mcp_channel *c = channel_new(hub, &call, &(struct channel_options){.session = STR("the session")});
    CHECK(c);
    alloc_fail_at(1, 1);
    bool returned = answer_with(&call, c, (struct str){text, LONG}, secret);
    CHECK(alloc_failures() >= 1 + secret);
    alloc_fail_at(0, 0);
    CHECK(returned);
    own.oom = NULL;
    channel_finish(c, &(struct mcp_reply){.status = 200});
    CHECK_INT(call.status, 503);
    CHECK(str_find(call.reply, STR("out of memory"), 0) != SIZE_MAX);
    arena_release(&own);
  }
  mcp_hub_free(&hub);
}
