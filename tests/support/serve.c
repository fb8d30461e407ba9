/* serve.c: a running server for tests, and a raw client. */
#include "support/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "mcp/tools/tool.h"
#include "support/schema_check.h"

enum { WAIT_MS = 15000 };

struct serve {
  struct proc *proc;
  const char *address;
  int port;
};

/* Lives as long as the test. */
static struct arena memory;

/* ---- the server ---- */

struct serve *serve_start(const char *const *args) {
  const char *argv[32] = {CAIRN_BIN, "serve"};
  size_t n = 2;
  bool socket = false;
  for (size_t i = 0; args && args[i]; i++)
    socket |= strcmp(args[i], "--socket") == 0;
  if (!socket) {
    argv[n++] = "--port";
    argv[n++] = "0";
  }
  for (size_t i = 0; args && args[i] && n < 31; i++)
    argv[n++] = args[i];
  argv[n] = NULL;
  struct serve *s = arena_new(&memory, struct serve);
  s->proc = proc_start(.argv = argv, .env = cli_env(), .timeout_ms = 60000);
  struct str line, prefix = STR("listening on ");
  if (!proc_line(s->proc, WAIT_MS * test_slowness(), &line) || !str_starts(line, prefix))
    FAIL("the server did not start: '%.*s'", STR_ARG(line));
  s->address = arena_cstr(&memory, str_slice(line, prefix.n, line.n));
  const char *colon = strrchr(s->address, ':');
  s->port = !socket && colon ? (int)strtol(colon + 1, NULL, 10) : 0;
  return s;
}

const char *serve_address(const struct serve *s) { return s->address; }
int serve_port(const struct serve *s) { return s->port; }
pid_t serve_pid(const struct serve *s) { return proc_pid(s->proc); }

struct str serve_end(struct serve *s) {
  proc_kill(s->proc, SIGTERM);
  struct run r = proc_wait(s->proc);
  if (r.exit_code != 0)
    FAIL("the server ended with %d, signal %d: %.*s", r.exit_code, r.signal, STR_ARG(r.err));
  return r.err;
}

void serve_stop(struct serve *s) {
  struct str said = serve_end(s);
  if (said.n)
    FAIL("the server said: %.*s", STR_ARG(said));
}

/* ---- connections ---- */

struct wire *wire_to(int port) {
  struct serve s = {.port = port};
  return wire_open(&s);
}

struct wire *wire_open(const struct serve *s) {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_un file;
  } a = {0};
  socklen_t n = sizeof(a.v4);
  if (s->port) {
    a.v4.sin_family = AF_INET;
    a.v4.sin_port = htons((uint16_t)s->port);
    a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  } else {
    n = sizeof(a.file);
    a.file.sun_family = AF_UNIX;
    struct str path = str_from(s->address);
    CHECK(path.n && path.n < sizeof(a.file.sun_path));
    memcpy(a.file.sun_path, path.p, path.n);
  }
  struct wire *w = arena_new(&memory, struct wire);
  *w = (struct wire){.fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), .in = BUF(&memory)};
  w->events = BUF(&memory);
  if (w->fd < 0 || connect(w->fd, &a.any, n) != 0)
    FAIL("no connection to the server: %s", strerror(errno));
  return w;
}

void wire_send(struct wire *w, struct str text) {
  int64_t until = clock_ticks_us() + (int64_t)WAIT_MS * 1000 * test_slowness();
  while (text.n && clock_ticks_us() < until) {
    ssize_t n = send(w->fd, text.p, text.n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
      poll(&(struct pollfd){.fd = w->fd, .events = POLLOUT}, 1, 100);
      continue;
    }
    if (n <= 0)
      return;
    text = str_slice(text, (size_t)n, text.n);
  }
  if (text.n)
    FAIL("the server does not read");
}

void wire_close(struct wire *w) {
  if (w->fd >= 0)
    close(w->fd);
  w->fd = -1;
}

/* Reads more bytes; false at the end or after the timeout. */
static bool fill(struct wire *w, int ms) {
  if (w->ended || poll(&(struct pollfd){.fd = w->fd, .events = POLLIN}, 1, ms) <= 0)
    return false;
  char bytes[65536];
  ssize_t n = recv(w->fd, bytes, sizeof(bytes), 0);
  w->ended = n <= 0;
  if (n > 0)
    buf_add(&w->in, (struct str){bytes, (size_t)n});
  return n > 0;
}

static struct str unread(const struct wire *w) { return (struct str){w->in.p + w->at, w->in.n - w->at}; }

static struct str take(struct wire *w, size_t n) {
  while (unread(w).n < n)
    if (!fill(w, WAIT_MS * test_slowness()))
      FAIL("an answer of the server is cut off");
  struct str part = arena_dup(&memory, str_slice(unread(w), 0, n));
  w->at += n;
  return part;
}

/* Everything up to and including `end`; absent if the server disconnected before sending anything. */
static struct str take_until(struct wire *w, struct str end) {
  for (;;) {
    size_t at = unread(w).n ? str_find(unread(w), end, 0) : SIZE_MAX;
    if (at != SIZE_MAX)
      return take(w, at + end.n);
    if (!fill(w, WAIT_MS * test_slowness())) {
      if (w->ended && unread(w).n == 0)
        return STR_NONE;
      FAIL("an answer of the server has no end: '%.*s'", STR_ARG(unread(w)));
    }
  }
}

struct str answer_header(const struct answer *a, const char *name) {
  struct str rest = a->head, line;
  while (str_line(&rest, &line)) {
    const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
    if (colon && str_ieq(str_slice(line, 0, (size_t)(colon - line.p)), str_from(name)))
      return str_trim(str_slice(line, (size_t)(colon - line.p) + 1, line.n));
  }
  return STR_NONE;
}

static struct str chunk(struct wire *w) {
  struct str line = take_until(w, STR("\r\n"));
  size_t n = (size_t)strtoul(arena_cstr(&memory, line), NULL, 16);
  struct str data = take(w, n);
  take(w, 2);
  return data;
}

struct answer wire_answer(struct wire *w, bool head) {
  struct answer a = {.head = take_until(w, STR("\r\n\r\n"))};
  if (!a.head.p)
    return a;
  if (a.head.n < 12 || !str_starts(a.head, STR("HTTP/1.")))
    FAIL("not an answer: '%.*s'", STR_ARG(a.head));
  a.status = (int)strtol(a.head.p + 9, NULL, 10);
  struct str length = answer_header(&a, "content-length"), type = answer_header(&a, "content-type");
  int64_t n = 0;
  if (str_starts(type, STR("text/event-stream")))
    return a;
  a.body = STR("");
  if (!head && length.p && str_int64(length, &n))
    a.body = take(w, (size_t)n);
  return a;
}

bool wire_closed(struct wire *w, int ms) {
  int64_t until = clock_ticks_us() + (int64_t)ms * 1000 * test_slowness();
  while (!w->ended && clock_ticks_us() < until)
    fill(w, 100);
  return w->ended;
}

/* ---- requests ---- */

struct str request_text(const char *method, const char *path, const char *headers, struct str body) {
  struct buf b = BUF(&memory);
  buf_addf(&b, "%s %s HTTP/1.1\r\n", method, path);
  if (!headers || !strstr(headers, "Host:"))
    buf_adds(&b, "Host: localhost\r\n");
  if (headers)
    buf_adds(&b, headers);
  if (body.p)
    buf_addf(&b, "Content-Length: %zu\r\n", body.n);
  buf_adds(&b, "\r\n");
  buf_add(&b, body);
  return buf_str(&b);
}

/* Structured tool results that are not streamed must match their schema. */
static void check_mcp(const char *path, struct str body, const struct answer *a) {
  struct arena own;
  struct error err;
  yyjson_val *request, *answer;
  if (!str_starts(str_from(path), STR("/mcp")) || a->status != 200 || !body.n || !a->body.n)
    return;
  arena_init(&own);
  if (json_read(&own, body, &request, &err) == STATUS_OK && json_read(&own, a->body, &answer, &err) == STATUS_OK)
    check_conversation(str_is(str_from(path), "/mcp") ? profiles[0] : NULL, request, answer);
  arena_release(&own);
}

struct answer serve_do(const struct serve *s, const char *method, const char *path, const char *headers,
                       struct str body) {
  struct wire *w = wire_open(s);
  wire_send(w, request_text(method, path, headers, body));
  struct answer a = wire_answer(w, strcmp(method, "HEAD") == 0);
  wire_close(w);
  check_rest(method, str_from(path), a.status, a.body);
  check_mcp(path, body, &a);
  return a;
}

struct answer serve_get(const struct serve *s, const char *path) { return serve_do(s, "GET", path, NULL, STR_NONE); }

/* ---- streams ---- */

/* Appends received data to the text of the stream; false if none arrives in time. */
static bool more_events(struct wire *w, int64_t until) {
  for (;;) {
    struct str have = unread(w);
    size_t line = have.n ? str_find(have, STR("\r\n"), 0) : SIZE_MAX;
    if (line != SIZE_MAX && have.n >= line + 2 + strtoul(have.p, NULL, 16) + 2) {
      struct str data = chunk(w);
      if (data.n == 0)
        w->ended = true;
      buf_add(&w->events, data);
      return data.n > 0;
    }
    int64_t left = (until - clock_ticks_us()) / 1000;
    if (left <= 0 || !fill(w, (int)left))
      return false;
  }
}

static bool parse_event(struct str text, struct sse *ret_event) {
  struct sse e = {0};
  struct buf data = BUF(&memory);
  struct str line;
  while (str_line(&text, &line)) {
    if (str_starts(line, STR("id: ")))
      e.id = arena_dup(&memory, str_slice(line, 4, line.n));
    else if (str_starts(line, STR("event: ")))
      e.event = arena_dup(&memory, str_slice(line, 7, line.n));
    else if (str_starts(line, STR("data: "))) {
      if (e.data.p)
        buf_addc(&data, '\n');
      buf_add(&data, str_slice(line, 6, line.n));
      e.data = buf_str(&data);
    }
  }
  *ret_event = e;
  return e.id.p || e.data.p;
}

bool sse_next(struct wire *w, int ms, struct sse *ret_event) {
  int64_t until = clock_ticks_us() + (int64_t)ms * 1000 * test_slowness();
  for (;;) {
    struct str have = {w->events.p + w->event_at, w->events.n - w->event_at};
    size_t end = have.n ? str_find(have, STR("\n\n"), 0) : SIZE_MAX;
    if (end != SIZE_MAX) {
      w->event_at += end + 2;
      if (parse_event(str_slice(have, 0, end + 1), ret_event))
        return true;
    } else if (!more_events(w, until)) {
      return false;
    }
  }
}

bool sse_ended(struct wire *w, int ms) {
  struct sse e;
  while (sse_next(w, ms, &e))
    continue;
  return w->ended;
}
