/* test_subscriptions.c: streams get each requested notification once, also for changes by other processes. */
#include <malloc.h>
#include <unistd.h>

#include "base/alloc.h"
#include "talking.h"

static const struct mcp_head stdio_head;

/* A separate engine stands for another process. */
static yyjson_val *run(const char *op, const char *args) {
  struct error err;
  struct engine *engine = NULL;
  struct engine_options o = {.path = cli_db()};
  static struct arena a;
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  struct caller caller = {.team = STR("default"), .project = STR("web"), .source = STR("other"), .trust = STR("user")};
  yyjson_val *v;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&a, str_from(args), &v, &err), &err);
  CHECK_OK(op_run(engine, op_find(str_from(op)), &caller, NULL, &a, v, &result, &err), &err);
  engine_close(&engine);
  CHECK_OK(json_read(&a, json_write(&a, result, false), &v, &err), &err);
  return v;
}

static void remember(const char *args) { run("remember", args); }

static void listen(struct mcp_server *server, const char *filter, struct said *s) {
  struct mcp_sender sender = talking_sender();
  said_init(s);
  mcp_handle(server, &sender, &stdio_head,
             str_from(modern("subscriptions/listen", textf("\"notifications\":{%s}", filter))), &s->out, &s->reply);
}

TEST(subscriptions_modern) {
  struct mcp_server *server = talking_server(false, false);
  static struct said s;
  remember("{\"text\":\"The first memory of all\"}");
  listen(server,
         "\"toolsListChanged\":true,\"resourcesListChanged\":true,\"resourceSubscriptions\":[\"cairn://boot/web\","
         "\"cairn://memory/2\",\"cairn://skill/deploy\",\"cairn://boot/other\",\"file:///etc\"]",
         &s);
  CHECK(s.reply.stream);
  yyjson_val *v = said_line(&s, 0);
  CHECK_STR(jstr(v, "method"), "notifications/subscriptions/acknowledged");
  CHECK_INT(yyjson_get_int(meta_of(v, "params", "subscriptionId")), 1);
  CHECK(jbool(v, "params.notifications.resourcesListChanged"));
  CHECK(!jget(v, "params.notifications.toolsListChanged")); /* they never change */
  CHECK_INT(jlen(v, "params.notifications.resourceSubscriptions"), 4);

  remember("{\"text\":\"Deploy with the blue script\",\"skill_name\":\"deploy\",\"skill_keywords\":[\"deploy\"]}");
  said_wait(&s, 5);
  bool list = false, boot = false, memory = false, skill = false;
  for (size_t i = 1; i < 5; i++) {
    v = said_line(&s, i);
    CHECK_INT(yyjson_get_int(meta_of(v, "params", "subscriptionId")), 1);
    struct str uri = json_str(jget(v, "params"), "uri");
    list |= str_is(jstr(v, "method"), "notifications/resources/list_changed");
    boot |= str_is(uri, "cairn://boot/web");
    memory |= str_is(uri, "cairn://memory/2");
    skill |= str_is(uri, "cairn://skill/deploy");
  }
  CHECK(list && boot && memory && skill);

  /* A global memory belongs to every project; one of another project does not. */
  remember("{\"text\":\"Everybody speaks German here\",\"scope\":\"global\"}");
  said_wait(&s, 7);
  remember("{\"text\":\"Nobody looks at this one\",\"project\":\"elsewhere\"}");
  usleep(700 * 1000);
  CHECK_INT(said_count(&s), 7);
  mcp_hang_up(server, s.reply.stream);
  remember("{\"text\":\"Nobody hears of the last one\"}");
  usleep(400 * 1000);
  CHECK_INT(said_count(&s), 7);
  talking_stop(&server);
}

/* A transaction with many memories is one notification per resource. */
TEST(subscriptions_notify_once_per_transaction) {
  struct mcp_server *server = talking_server(false, false);
  static struct said s;
  file_write(path_join(NULL, "notes.md"), STR("# Notes\n\n- The first port is 81\n- The second machine is called Otto\n"
                                              "- Third, coffee is in the kitchen\n"));
  remember("{\"text\":\"The first memory of all\"}");
  listen(server, "\"resourceSubscriptions\":[\"cairn://boot/web\",\"cairn://memory/1\"]", &s);
  yyjson_val *v = ask(server, NULL,
                      modern("tools/call", "\"name\":\"memory_capture\",\"arguments\":{\"text\":\"We decided to use "
                                           "port 81.\\n\\nRule: never restart Otto at noon.\\n\\nTODO: buy coffee for "
                                           "the kitchen.\"}"));
  CHECK(!jbool(v, "result.isError"));
  said_wait(&s, 2);
  usleep(500 * 1000);
  CHECK_INT(said_count(&s), 2);
  CHECK_STR(jstr(said_line(&s, 1), "params.uri"), "cairn://boot/web");
  mcp_hang_up(server, s.reply.stream);
  talking_stop(&server);
}

TEST(subscriptions_refuse_invalid_filters) {
  struct mcp_server *server = talking_server(false, false);
  static const char *const filters[] = {"", "\"notifications\":[]", "\"notifications\":{\"toolsListChanged\":1}",
                                        "\"notifications\":{\"resourceSubscriptions\":\"x\"}"};
  for (size_t i = 0; i < ARRAY_LEN(filters); i++)
    CHECK_INT(jint(ask(server, NULL, modern("subscriptions/listen", filters[i])), "error.code"), -32602);
  talking_stop(&server);
}

TEST(subscriptions_to_a_memory_by_its_key) {
  struct mcp_server *server = talking_server(false, false);
  static struct said s;
  remember("{\"text\":\"The port is 5433\",\"key\":\"port\"}");
  listen(server, "\"resourceSubscriptions\":[\"cairn://memory/port\",\"cairn://memory/later\"]", &s);
  CHECK_INT(said_count(&s), 1);
  run("pin", "{\"id\":\"1\"}");
  said_wait(&s, 2);
  CHECK_STR(jstr(said_line(&s, 1), "params.uri"), "cairn://memory/port");
  run("supersede", "{\"id\":\"port\",\"text\":\"The port is 5434\",\"reason\":\"moved\",\"inherit_key\":true}");
  said_wait(&s, 3);
  run("pin", "{\"id\":\"2\"}"); /* the new version */
  said_wait(&s, 4);
  CHECK_STR(jstr(said_line(&s, 3), "params.uri"), "cairn://memory/port");
  /* A key that nothing had yet. */
  remember("{\"text\":\"The lift is out of order\",\"key\":\"later\"}");
  said_wait(&s, 5);
  run("pin", "{\"id\":\"3\"}");
  said_wait(&s, 6);
  CHECK_STR(jstr(said_line(&s, 5), "params.uri"), "cairn://memory/later");
  mcp_hang_up(server, s.reply.stream);
  talking_stop(&server);
}

/* A listen ends with the result of its request. */
TEST(subscriptions_end_with_a_result) {
  struct mcp_server *server = talking_server(false, false);
  static struct said s;
  listen(server, "\"resourcesListChanged\":true", &s);
  CHECK_INT(s.n, 1);
  mcp_stop(server);
  CHECK_INT(s.n, 2);
  CHECK(s.last);
  yyjson_val *v = said_line(&s, 1);
  CHECK_INT(jint(v, "id"), 1);
  CHECK_STR(jstr(v, "result.resultType"), "complete");
  CHECK_INT(yyjson_get_int(meta_of(v, "result", "subscriptionId")), 1);
  mcp_hang_up(server, s.reply.stream);
  talking_stop(&server);
}

/* With one connection a listen is cancelled by its id; nothing more is sent for it. */
TEST(subscriptions_are_cancelled) {
  struct mcp_server *server = talking_server(true, false);
  static struct said s, none;
  listen(server, "\"resourcesListChanged\":true,\"resourceSubscriptions\":[\"cairn://boot/web\"]", &s);
  say(server, NULL, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}", &none);
  remember("{\"text\":\"Nobody hears of this one\"}");
  usleep(500 * 1000);
  CHECK_INT(said_count(&s), 1);
  CHECK(!server->streams);
  talking_stop(&server);
}

/* A legacy session: its own subscriptions, on the newest of its streams, until it ends. */
TEST(subscriptions_legacy) {
  struct mcp_server *server = talking_server(false, false);
  struct mcp_sender sender = talking_sender();
  struct mcp_head head = http_head(NULL, NULL, NULL, NULL);
  static struct said said, older, newer, bad;
  say(server, &head, legacy("initialize", "\"protocolVersion\":\"2025-11-25\""), &said);
  head = http_head("2025-11-25", NULL, NULL, textf("%s", said.reply.session));
  said_init(&older);
  said_init(&newer);
  mcp_listen(server, &sender, &head, &older.out, &older.reply);
  CHECK_INT(older.reply.status, 200);
  mcp_listen(server, &sender, &head, &newer.out, &newer.reply);
  CHECK(jget(ask(server, &head, legacy("resources/subscribe", "\"uri\":\"cairn://boot/web\"")), "result"));
  remember("{\"text\":\"The first memory of all\"}");
  said_wait(&newer, 1);
  yyjson_val *v = said_line(&newer, 0);
  CHECK_STR(jstr(v, "method"), "notifications/resources/updated");
  CHECK_STR(jstr(v, "params.uri"), "cairn://boot/web");
  CHECK(!jget(v, "params._meta"));
  mcp_hang_up(server, newer.reply.stream);
  remember("{\"text\":\"The second memory of all\"}");
  said_wait(&older, 1);
  CHECK(jget(ask(server, &head, legacy("resources/unsubscribe", "\"uri\":\"cairn://boot/web\"")), "result"));
  remember("{\"text\":\"The third memory of all\"}");
  usleep(500 * 1000);
  CHECK_INT(said_count(&older), 1);
  CHECK_INT(mcp_end_session(server, &sender, &head), 200);
  CHECK(older.ended);
  mcp_hang_up(server, older.reply.stream);

  said_init(&bad);
  mcp_listen(server, &sender, &head, &bad.out, &bad.reply);
  CHECK_INT(bad.reply.status, 404);
  CHECK(!bad.reply.stream);
  head.session = STR_NONE;
  mcp_listen(server, &sender, &head, &bad.out, &bad.reply);
  CHECK_INT(bad.reply.status, 400);
  head.version = STR("2026-07-28");
  mcp_listen(server, &sender, &head, &bad.out, &bad.reply);
  CHECK_INT(bad.reply.status, 405);
  talking_stop(&server);
}

TEST(subscriptions_have_limits) {
  struct mcp_server *server = talking_server(true, false);
  CHECK(jget(ask(server, NULL, legacy("initialize", "\"protocolVersion\":\"2025-11-25\"")), "result"));
  for (int i = 0; i < 1000; i++)
    CHECK(jget(ask(server, NULL, legacy("resources/subscribe", textf("\"uri\":\"cairn://memory/%d\"", i))), "result"));
  CHECK_INT(jint(ask(server, NULL, legacy("resources/subscribe", "\"uri\":\"cairn://memory/x\"")), "error.code"),
            -32602);
  CHECK(jget(ask(server, NULL, legacy("resources/subscribe", "\"uri\":\"cairn://memory/7\"")), "result"));
  talking_stop(&server);
}

/* ---- memory sessions of clients without a connection ---- */

static void hold(struct mcp_server *server, const char *handle, struct said *s) {
  struct mcp_head head = http_head(MCP_MODERN, "subscriptions/listen", NULL, NULL);
  say(server, &head,
      textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"_meta\":{\"" MCP_META
            "protocolVersion\":\"" MCP_MODERN "\",\"" MCP_META "clientCapabilities\":{},\"" MCP_META_SESSION
            "\":\"%s\"},\"notifications\":{}}}",
            handle),
      s);
}

static const char *boot(void) { return cstr(json_str(run("boot", "{\"register\":true}"), "session")); }

static struct str end_of(const char *handle) {
  return sql_string(textf("SELECT coalesce(end_reason, 'live') FROM session WHERE handle = '%s'", handle));
}

static void wait_for_end(const char *handle) {
  while (str_is(end_of(handle), "live")) /* the test's time limit is the limit */
    usleep(20 * 1000);
  CHECK_STR(end_of(handle), "connection closed");
}

TEST(a_session_ends_with_its_last_stream) {
  struct mcp_server *server = talking_server(false, false);
  static struct said first, second, other, unknown;
  const char *one = boot(), *two = boot();
  CHECK(strcmp(one, two) != 0);
  hold(server, one, &first);
  hold(server, one, &second);
  hold(server, two, &other);
  CHECK(first.reply.stream && second.reply.stream && other.reply.stream);
  hold(server, "s-nobody0000", &unknown);
  CHECK(!unknown.reply.stream);
  CHECK_INT(jint(said_line(&unknown, 0), "error.code"), -32602);
  mcp_hang_up(server, first.reply.stream);
  mcp_hang_up(server, other.reply.stream);
  wait_for_end(two); /* sessions are ended in order: the first was checked by now */
  CHECK_STR(end_of(one), "live");
  mcp_hang_up(server, second.reply.stream);
  wait_for_end(one);
  /* A client that reconnects is active again. */
  hold(server, one, &first);
  CHECK(first.reply.stream);
  CHECK_STR(end_of(one), "live");
  mcp_stop(server); /* a server that stops ends no sessions */
  mcp_hang_up(server, first.reply.stream);
  talking_stop(&server);
  CHECK_STR(end_of(one), "live");
}

/* ---- without memory ---- */

/* A stream that missed a message is still released when its client disconnects, and the other streams get the message.
 */
TEST(an_out_of_memory_message_keeps_no_stream) {
  struct mcp_server *server = talking_server(false, true);
  static struct said older, newer;
  for (long n = 1; n <= 8; n++) {
    test_note("allocation %ld", n);
    listen(server, "\"toolsListChanged\":true", &older);
    listen(server, "\"toolsListChanged\":true", &newer);
    CHECK(older.reply.stream && newer.reply.stream);
    alloc_fail_at(n, 0);
    subscriptions_list_changed(server, STR("default"), "tools");
    bool failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    mcp_hang_up(server, older.reply.stream);
    mcp_hang_up(server, newer.reply.stream);
    CHECK(!server->streams);
    if (n == 1) { /* the newest comes first */
      CHECK(failed);
      CHECK_INT(newer.n, 1);
      CHECK_INT(older.n, 2);
    }
    if (!failed)
      break;
  }
  talking_stop(&server);
}

/* The feed's thread may still be using the stream of the disconnected client. */
static void wait_for_no_stream(struct mcp_server *server) {
  for (bool any = true; any; usleep(1000)) { /* the test's time limit is the limit */
    pthread_mutex_lock(&server->lock);
    any = server->streams != NULL;
    pthread_mutex_unlock(&server->lock);
  }
}

static void ignore(void *arg UNUSED, struct str json UNUSED, bool last UNUSED) {}

static size_t bytes_in_use(void) { return mallinfo2().uordblks; }

/* A listen that fails leaves nothing behind. Sanitizer builds, which replace the allocator, check for leaks. */
TEST(an_out_of_memory_listen_leaves_no_stream) {
  enum { ROUNDS = 20, URIS = 200, ID = 900 };
  struct mcp_server *server = talking_server(false, false);
  struct mcp_sender sender = talking_sender();
  static struct arena a;
  struct buf message = BUF(&a);
  buf_adds(&message, "{\"jsonrpc\":\"2.0\",\"method\":\"subscriptions/listen\",\"id\":\"");
  for (int i = 0; i < ID; i++)
    buf_addc(&message, 'x');
  buf_adds(&message, "\",\"params\":{\"_meta\":{\"" MCP_META "protocolVersion\":\"2026-07-28\",\"" MCP_META
                     "clientCapabilities\":{}},\"notifications\":{\"resourceSubscriptions\":[");
  for (int i = 1; i <= URIS; i++) /* more than a block of the arena */
    buf_addf(&message, "%s\"cairn://memory/%d\"", i > 1 ? "," : "", i);
  buf_adds(&message, "]}}}");
  static struct said first; /* so that the team is followed and the store is open before anything is counted */
  listen(server, "\"resourceSubscriptions\":[\"cairn://boot/web\"]", &first);
  remember("{\"text\":\"The first memory of all\"}");
  said_wait(&first, 2);
  mcp_hang_up(server, first.reply.stream);
  wait_for_no_stream(server);
  int failures = 0;
  bool failed = true;
  for (long n = 1; failed; n += 1 + n / 50) { /* sanitizer builds allocate each object separately */
    test_note("allocation %ld", n);
    size_t before = bytes_in_use();
    for (int round = 0; failed && round < ROUNDS; round++) {
      struct mcp_out out = {.send = ignore};
      struct mcp_reply reply;
      alloc_fail_at(n, 0);
      mcp_handle(server, &sender, &stdio_head, buf_str(&message), &out, &reply);
      failed = alloc_failures() > 0;
      alloc_fail_at(0, 0);
      if (reply.stream)
        mcp_hang_up(server, reply.stream);
    }
    CHECK(!server->streams);
    size_t after = bytes_in_use();
    if (failed && after > before + ROUNDS * ID / 2)
      FAIL("%zu bytes more are in use", after - before);
    failures += failed;
  }
  CHECK(failures >= 4);
  talking_stop(&server);
}

TEST(a_cancel_survives_out_of_memory) {
  static const char cancel[] =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}";
  struct mcp_server *server = talking_server(true, false);
  struct mcp_sender sender = talking_sender();
  static struct said s, none;
  int failures = 0;
  bool failed = true;
  for (long n = 1; failed; n++) {
    test_note("allocation %ld", n);
    listen(server, "\"resourcesListChanged\":true", &s);
    said_init(&none);
    alloc_fail_at(n, 1);
    mcp_handle(server, &sender, &stdio_head, str_from(cancel), &none.out, &none.reply);
    failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    failures += failed;
    say(server, NULL, cancel, &none);
    CHECK(!server->streams);
  }
  CHECK(failures >= 1);
  talking_stop(&server);
}
