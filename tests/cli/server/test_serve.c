/* test_serve.c: the HTTP server with well-behaved, cross-origin, slow and broken clients. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/serve.h"

enum { MANY_STREAMS = 1000 };

static struct arena memory;

static const char *const paths[] = {"/",    "/healthz",        "/readyz",      "/metrics",
                                    "/mcp", "/mcp/openbrain2", "/events",      "/api/v1/memories",
                                    "/api", "/nothing",        "/mcp/a/b/c/d", "/%zz"};
static const char *const methods[] = {"GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT"};

static int status_of(const struct serve *s, const char *method, const char *path, const char *headers) {
  return serve_do(s, method, path, headers, STR_NONE).status;
}

TEST(a_foreign_host_or_origin_is_403_on_every_route) {
  struct serve *s = serve_start(NULL);
  for (size_t p = 0; p < ARRAY_LEN(paths); p++)
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
      test_note("%s %s", methods[m], paths[p]);
      CHECK_INT(status_of(s, methods[m], paths[p], "Host: evil.example\r\n"), 403);
      CHECK_INT(status_of(s, methods[m], paths[p], "Origin: http://evil.example\r\n"), 403);
      CHECK_INT(status_of(s, methods[m], paths[p], "Origin: null\r\n"), 403);
    }
  CHECK_INT(status_of(s, "GET", "http://evil.example/healthz", NULL), 403);
  CHECK_INT(status_of(s, "GET", "/healthz", "Host: 127.0.0.1:1\r\n"), 200);
  CHECK_INT(status_of(s, "GET", "/healthz", "Host: [::1]\r\n"), 200);
  CHECK_INT(status_of(s, "GET", "/healthz", "Origin: http://localhost\r\n"), 200);
  CHECK_INT(status_of(s, "GET", "http://localhost/healthz", NULL), 200);
  serve_stop(s);
}

TEST(no_cors_headers_are_sent) {
  struct serve *s = serve_start(NULL);
  struct answer a = serve_do(s, "OPTIONS", "/mcp", "Origin: http://localhost\r\n", STR_NONE);
  CHECK_INT(a.status, 204);
  CHECK(!answer_header(&a, "access-control-allow-origin").p);
  CHECK_STR(answer_header(&a, "allow"), "POST, GET, HEAD, DELETE, OPTIONS");
  serve_stop(s);
}

TEST(alive_and_ready) {
  struct serve *s = serve_start(NULL);
  struct answer a = serve_get(s, "/healthz");
  CHECK_INT(a.status, 200);
  CHECK(str_find(a.body, STR("\"status\":\"ok\""), 0) != SIZE_MAX);
  CHECK_STR(answer_header(&a, "content-type"), "application/json");
  a = serve_get(s, "/readyz");
  CHECK_INT(a.status, 200);
  CHECK_STR(a.body, "{\"status\":\"ready\"}");
  a = serve_do(s, "HEAD", "/readyz", NULL, STR_NONE);
  CHECK_INT(a.status, 200);
  CHECK_STR(answer_header(&a, "content-length"), "18");
  CHECK_INT(serve_get(s, "/nothing").status, 404);
  a = serve_do(s, "POST", "/healthz", NULL, STR(""));
  CHECK_INT(a.status, 405);
  CHECK_STR(answer_header(&a, "allow"), "GET, HEAD, OPTIONS");
  a = serve_get(s, "/metrics");
  CHECK_INT(a.status, 200);
  CHECK_STR(answer_header(&a, "content-type"), "text/plain; version=0.0.4; charset=utf-8");
  CHECK(str_find(a.body, STR("# TYPE cairn_"), 0) != SIZE_MAX);
  serve_stop(s);
}

TEST(a_file_that_is_not_a_store_is_reported_at_startup, .only = TEST_ON_SQLITE) {
  file_write(cli_db(), STR("this is no store, and never was one; it is only here to be refused"));
  struct run r = CAIRN("serve", "--port", "0");
  CHECK_INT(r.exit_code, 9);
  CHECK(r.out.n == 0);
}

/* ---- connections ---- */

TEST(a_connection_serves_many_requests) {
  struct serve *s = serve_start(NULL);
  struct wire *w = wire_open(s);
  for (int i = 0; i < 20; i++) {
    wire_send(w, request_text("GET", i % 2 ? "/readyz" : "/healthz", NULL, STR_NONE));
    CHECK_INT(wire_answer(w, false).status, 200);
  }
  wire_send(w, request_text("GET", "/healthz", "Connection: close\r\n", STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK(wire_closed(w, 5000));
  wire_close(w);
  serve_stop(s);
}

TEST(pipelined_requests_are_answered_in_order) {
  struct serve *s = serve_start(NULL);
  struct wire *w = wire_open(s);
  struct str one = request_text("GET", "/readyz", NULL, STR_NONE),
             two = request_text("GET", "/nothing", NULL, STR_NONE);
  wire_send(w, cstr(one) ? str_from(textf("%s%s%s", cstr(one), cstr(two), cstr(one))) : one);
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK_INT(wire_answer(w, false).status, 404);
  CHECK_INT(wire_answer(w, false).status, 200);
  wire_close(w);
  serve_stop(s);
}

TEST(any_number_of_query_parameters_is_answered, .seconds = 40) {
  static const int counts[] = {64, 65, 250, 400, 1500};
  struct serve *s = serve_start(NULL);
  for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
    struct buf b = BUF(&memory);
    buf_adds(&b, "/healthz?");
    for (int k = 0; k < counts[i]; k++)
      buf_addf(&b, "%sp%d=1", k ? "&" : "", k);
    test_note("%d parameters", counts[i]);
    CHECK_INT(status_of(s, "GET", cstr(buf_str(&b)), NULL), counts[i] <= 64 ? 200 : 400);
  }
  serve_stop(s);
}

TEST(garbage_after_a_request_ends_the_connection) {
  struct serve *s = serve_start(NULL);
  static const char *const garbage[] = {
      "\x16\x03\x01\x02\x01\x01\xfc\x03\x03 \r\n\r\n",
      "GET\r\n\r\n",
      "GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
      "GET /healthz HTTP/1.1\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n",
      "POST /readyz HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"};
  for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
    test_note("%s", garbage[i]);
    struct wire *w = wire_open(s);
    wire_send(w, request_text("GET", "/healthz", NULL, STR_NONE));
    CHECK_INT(wire_answer(w, false).status, 200);
    wire_send(w, str_from(garbage[i]));
    struct answer a = wire_answer(w, false);
    CHECK(a.status == 0 || (a.status >= 400 && a.status < 600));
    if (a.status && a.status != 403)
      CHECK(wire_closed(w, 5000));
    wire_close(w);
  }
  CHECK_INT(serve_get(s, "/healthz").status, 200);
  serve_stop(s);
}

/* A proxy could see another end of the body. */
TEST(an_ambiguous_end_of_a_body_is_a_bad_request) {
  static const char *const headers[] = {"Transfer-Encoding: gzip, chunked",
                                        "Transfer-Encoding: identity, chunked",
                                        "Transfer-Encoding: chunked, chunked",
                                        "Transfer-Encoding: xchunked",
                                        "Transfer-Encoding: identity",
                                        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                                        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
                                        "Transfer-Encoding: chunked\r\nContent-Length: 3",
                                        "Content-Length: 3\r\nTransfer-Encoding: chunked"};
  struct serve *s = serve_start(NULL);
  for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
    test_note("%s", headers[i]);
    struct wire *w = wire_open(s);
    wire_send(w, request_text("GET", "/healthz", NULL, STR_NONE));
    CHECK_INT(wire_answer(w, false).status, 200);
    wire_send(w,
              str_from(textf("POST /mcp HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n3\r\nabc\r\n0\r\n\r\n", headers[i])));
    CHECK_INT(wire_answer(w, false).status, 400);
    CHECK(wire_closed(w, 5000));
    wire_close(w);
  }
  CHECK_INT(serve_get(s, "/healthz").status, 200);
  serve_stop(s);
}

TEST(header_bombs_are_refused) {
  struct serve *s = serve_start(NULL);
  struct arena a = {0};
  char *value = arena_alloc(&a, 70001);
  memset(value, 'a', 70000);
  value[70000] = 0;
  int status = status_of(s, "GET", "/healthz", textf("X-Bomb: %s\r\n", value));
  CHECK(status == 431 || status == 400 || status == 413);
  struct buf many = BUF(&a);
  for (int i = 0; i < 5000; i++)
    buf_addf(&many, "X-%d: 1\r\n", i);
  status = status_of(s, "GET", "/healthz", many.p);
  CHECK(status == 431 || status == 400);
  many.n = 0;
  for (int i = 0; i < 200; i++)
    buf_addf(&many, "X-%d: 1\r\n", i);
  CHECK_INT(status_of(s, "GET", "/healthz", many.p), 400);
  value[20000] = 0;
  status = status_of(s, "GET", textf("/%s", value), NULL);
  CHECK(status == 414 || status == 431);
  CHECK_INT(serve_get(s, "/healthz").status, 200);
  arena_release(&a);
  serve_stop(s);
}

TEST(a_body_over_10_mb_is_413, .seconds = 40) {
  struct serve *s = serve_start(NULL);
  struct arena a = {0};
  size_t size = 11 << 20;
  char *big = arena_alloc(&a, size);
  memset(big, ' ', size);
  CHECK_INT(serve_do(s, "POST", "/mcp", "Content-Type: application/json\r\n", (struct str){big, size}).status, 413);
  /* Chunked, without Content-Length. */
  struct wire *w = wire_open(s);
  wire_send(w, request_text("POST", "/mcp", "Transfer-Encoding: chunked\r\n", STR_NONE));
  for (int i = 0; i < 11; i++) {
    wire_send(w, STR("100000\r\n"));
    wire_send(w, (struct str){big, 1 << 20});
    wire_send(w, STR("\r\n"));
  }
  wire_send(w, STR("0\r\n\r\n"));
  CHECK_INT(wire_answer(w, false).status, 413);
  /* The connection is still usable. */
  wire_send(w, request_text("GET", "/healthz", NULL, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  wire_close(w);
  /* Expect: 100-continue is refused before the body is sent. */
  w = wire_open(s);
  wire_send(w,
            STR("POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 20000000\r\n\r\n"));
  CHECK_INT(wire_answer(w, false).status, 413);
  wire_close(w);
  /* 10 MB are read. The status is that of the content. */
  CHECK_INT(serve_do(s, "POST", "/mcp", "Content-Type: application/json\r\n", (struct str){big, 10 << 20}).status, 400);
  arena_release(&a);
  serve_stop(s);
}

TEST(expect_continue_is_answered) {
  struct serve *s = serve_start(NULL);
  struct wire *w = wire_open(s);
  wire_send(w, STR("POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
  CHECK_INT(wire_answer(w, true).status, 100);
  wire_send(w, STR("{}"));
  CHECK_INT(wire_answer(w, false).status, 400);
  wire_close(w);
  serve_stop(s);
}

/* ---- slow and silent clients ---- */

TEST(slow_clients_do_not_block_others) {
  struct serve *s = serve_start(NULL);
  struct wire *slow[40];
  struct str text = request_text("GET", "/readyz", NULL, STR_NONE);
  for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
    slow[i] = wire_open(s);
    wire_send(slow[i], str_slice(text, 0, i % 2 ? 0 : 10)); /* half of them send nothing */
  }
  for (size_t at = 10; at < text.n; at++) {
    for (size_t i = 0; i < ARRAY_LEN(slow); i += 2)
      wire_send(slow[i], str_slice(text, at, at + 1));
    CHECK_INT(serve_get(s, "/readyz").status, 200);
  }
  for (size_t i = 0; i < ARRAY_LEN(slow); i += 2)
    CHECK_INT(wire_answer(slow[i], false).status, 200);
  for (size_t i = 0; i < ARRAY_LEN(slow); i++)
    wire_close(slow[i]);
  serve_stop(s);
}

TEST(a_client_that_stops_reading_does_not_block_others) {
  struct serve *s = serve_start(NULL);
  struct wire *deaf = wire_open(s);
  for (int i = 0; i < 100; i++) {
    struct str text = request_text("GET", "/", NULL, STR_NONE);
    (void)!send(deaf->fd, text.p, text.n, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  CHECK_INT(serve_get(s, "/readyz").status, 200);
  serve_stop(s); /* and it does not wait for the client forever */
  wire_close(deaf);
}

TEST(half_closed_connections_end) {
  struct serve *s = serve_start(NULL);
  struct wire *w = wire_open(s);
  wire_send(w, STR("GET /healthz HTTP/1.1\r\nHost: loc"));
  shutdown(w->fd, SHUT_WR);
  CHECK(wire_closed(w, 10000));
  wire_close(w);
  w = wire_open(s);
  wire_send(w, request_text("GET", "/events", NULL, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  shutdown(w->fd, SHUT_WR);
  CHECK(wire_closed(w, 10000));
  wire_close(w);
  serve_stop(s);
}

static size_t open_files(const struct serve *s) {
  size_t n = 0;
  for (int fd = 0; fd < 3000; fd++)
    n += access(textf("/proc/%d/fd/%d", (int)serve_pid(s), fd), F_OK) == 0;
  return n;
}

TEST(a_thousand_idle_streams, .seconds = 60, .slow = true) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
  setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < MANY_STREAMS + 200)
    return; /* not allowed on this machine */
  struct serve *s = serve_start(NULL);
  static struct wire *streams[MANY_STREAMS];
  struct str text = request_text("GET", "/events?action=memory:write", NULL, STR_NONE);
  for (size_t i = 0; i < MANY_STREAMS; i++) {
    streams[i] = wire_open(s);
    wire_send(streams[i], text);
  }
  for (size_t i = 0; i < MANY_STREAMS; i++)
    CHECK_INT(wire_answer(streams[i], false).status, 200);
  CHECK_INT(serve_get(s, "/readyz").status, 200);
  OK("remember", "The staging database is rebuilt every Monday at six");
  struct sse e;
  for (size_t i = 0; i < MANY_STREAMS; i++) {
    test_note("stream %zu", i);
    CHECK(sse_next(streams[i], 15000, &e));
    CHECK_STR(e.id, "1");
  }
  for (size_t i = 0; i < MANY_STREAMS; i++)
    wire_close(streams[i]);
  /* The server notices closed connections even when it has nothing to send. */
  for (int i = 0; i < 100 * test_slowness() && open_files(s) > 100; i++)
    usleep(100000);
  CHECK(open_files(s) <= 100);
  serve_stop(s);
}

/* ---- events ---- */

TEST(events_resume_after_the_last_event_id) {
  OK("remember", "The build needs two hours on the old machine", "--project", "x");
  OK("remember", "Releases are tagged by the release manager alone", "--project", "x");
  struct serve *s = serve_start(NULL);
  struct wire *w = wire_open(s);
  struct sse e;
  wire_send(w, request_text("GET", "/events?since=0", NULL, STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK(sse_next(w, 5000, &e));
  CHECK_STR(e.id, "1");
  CHECK(str_find(e.data, STR("\"action\":\"memory:write\""), 0) != SIZE_MAX);
  CHECK(sse_next(w, 5000, &e));
  CHECK_STR(e.id, "2");
  OK("forget", "1", "--reason", "obsolete");
  CHECK(sse_next(w, 5000, &e));
  CHECK_STR(e.id, "3");
  wire_close(w);
  w = wire_open(s);
  wire_send(w, request_text("GET", "/events", "Last-Event-ID: 2\r\n", STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK(sse_next(w, 5000, &e));
  CHECK_STR(e.id, "3");
  wire_close(w);
  CHECK_INT(serve_get(s, "/events?since=x").status, 400);
  CHECK_INT(serve_get(s, "/events?since=-5").status, 400);
  serve_stop(s);
}

/* ---- addresses ---- */

TEST(a_socket_file_is_private) {
  const char *path = path_join(NULL, "cairn.sock");
  struct serve *s = serve_start(ARGS("--socket", path));
  CHECK_STR(str_from(serve_address(s)), path);
  struct stat st;
  CHECK(stat(path, &st) == 0 && S_ISSOCK(st.st_mode));
  CHECK_INT(st.st_mode & 0777, 0600);
  CHECK_INT(serve_get(s, "/readyz").status, 200);
  CHECK_INT(status_of(s, "GET", "/readyz", "Host: evil.example\r\n"), 403);
  struct run second = CAIRN("serve", "--socket", path);
  CHECK_INT(second.exit_code, 5);
  serve_stop(s);
  CHECK(stat(path, &st) != 0);
}

TEST(a_stale_socket_file_is_replaced) {
  const char *path = path_join(NULL, "cairn.sock");
  struct serve *s = serve_start(ARGS("--socket", path));
  kill(serve_pid(s), SIGKILL);
  usleep(100000);
  s = serve_start(ARGS("--socket", path));
  CHECK_INT(serve_get(s, "/healthz").status, 200);
  serve_stop(s);
  file_write(path, STR("a file"));
  struct run r = CAIRN("serve", "--socket", path);
  CHECK_INT(r.exit_code, 5);
  CHECK_STR(file_read(path), "a file");
}

TEST(a_port_in_use_is_reported) {
  struct serve *s = serve_start(NULL);
  struct run r = CAIRN("serve", "--port", textf("%d", serve_port(s)));
  CHECK_INT(r.exit_code, 5);
  CHECK(str_find(r.err, STR("is in use"), 0) != SIZE_MAX);
  CHECK(str_find(r.err, STR("--port 0"), 0) != SIZE_MAX);
  serve_stop(s);
}

TEST(plain_http_listens_only_on_loopback) {
  static const char *const hosts[] = {"0.0.0.0", "::", "192.168.1.1", "example.org", "*"};
  for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
    test_note("%s", hosts[i]);
    struct run r = CAIRN("serve", "--port", "0", "--host", hosts[i]);
    CHECK_INT(r.exit_code, 2);
    CHECK(str_find(r.err, STR("--tls-cert"), 0) != SIZE_MAX);
  }
  CHECK_INT(CAIRN("serve", "--port", "65536").exit_code, 2);
  CHECK_INT(CAIRN("serve", "--port", "1", "--socket", "x").exit_code, 2);
  CHECK_INT(CAIRN("serve", "--profile", "nonsense").exit_code, 2);
}

/* For its own team and for those whose tokens were used. */
TEST(an_idle_server_runs_the_daily_maintenance, .seconds = 60, .slow = true) {
  cli_set("CAIRN_TEAM=shop");
  const char *token = cstr(jstr(OK("token", "add", "bot"), "token"));
  cli_set("CAIRN_TEAM");
  cli_set("CAIRN_NO_MAINTAIN");
  struct serve *s = serve_start(NULL);
  cli_set("CAIRN_NO_MAINTAIN=1");
  CHECK_INT(serve_do(s, "GET", "/api/v1/memories", textf("Authorization: Bearer %s\r\n", token), STR_NONE).status, 200);
  while (sql_number("SELECT count(*) FROM meta WHERE name IN ('maintained_at', 'maintained_at:shop')") < 2)
    usleep(200 * 1000); /* bounded only by the test's time limit */
  serve_stop(s);
}

TEST(shutdown_is_graceful) {
  struct serve *s = serve_start(NULL);
  struct wire *stream = wire_open(s), *idle = wire_open(s);
  wire_send(stream, request_text("GET", "/events", NULL, STR_NONE));
  CHECK_INT(wire_answer(stream, false).status, 200);
  wire_send(idle, request_text("GET", "/healthz", NULL, STR_NONE));
  CHECK_INT(wire_answer(idle, false).status, 200);
  serve_stop(s);
  CHECK(sse_ended(stream, 5000)); /* by its last chunk, not by a broken connection */
  CHECK(wire_closed(idle, 5000));
  wire_close(stream);
  wire_close(idle);
}
