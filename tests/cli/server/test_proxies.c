/* test_proxies.c: a server with --behind-proxy behind nginx and behind Caddy, each with TLS and without: client
 * addresses, Host and Origin, forged headers, bodies, streams. scripts/setup unpacks both programs. */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/certificate.h"
#include "support/serve.h"

#define TOOLS CAIRN_SOURCE_DIR "/build/deps/tools/usr"
#define HOST "Host: memory.example\r\n"

struct proxy {
  struct proc *proc;
  struct serve *server;
  struct certificate c;
  int port, tls;
  const char *token;
};

static int free_port(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof(a);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&a, n) == 0 && getsockname(fd, (struct sockaddr *)&a, &n) == 0);
  close(fd);
  return ntohs(a.sin_port);
}

/* A connection from this address of the machine; -1 if nobody listens. */
static int connect_from(const char *address, int port) {
  struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
  CHECK_INT(inet_pton(AF_INET, address, &from.sin_addr), 1);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons((uint16_t)port);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
  if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
    return fd;
  close(fd);
  return -1;
}

static struct wire *wire_from(const struct proxy *p, const char *address) {
  struct wire *w = wire_to(p->port);
  close(w->fd);
  w->fd = connect_from(address, p->port);
  CHECK(w->fd >= 0);
  return w;
}

static struct answer ask_from(const struct proxy *p, const char *address, const char *method, const char *path,
                              const char *headers, struct str body) {
  struct wire *w = wire_from(p, address);
  wire_send(w, request_text(method, path, headers, body));
  struct answer a = wire_answer(w, false);
  wire_close(w);
  return a;
}

static int status(const struct proxy *p, const char *headers) {
  return ask_from(p, "127.0.0.1", "GET", "/readyz", headers, STR_NONE).status;
}

static const char *with_token(const struct proxy *p, const char *more) {
  return textf(HOST "Authorization: Bearer %s\r\n%s", p->token, more);
}

/* ---- the proxies ---- */

static struct proxy *prepare(void) {
  static struct proxy p;
  p.token = cstr(jstr(OK("token", "add", "bot"), "token"));
  p.c = certificate_make();
  p.server = serve_start(ARGS("--behind-proxy", "--allow-host", "memory.example"));
  p.port = free_port();
  p.tls = free_port();
  return &p;
}

static void start(struct proxy *p, const char *const *argv) {
  if (access(argv[0], X_OK) != 0)
    FAIL("%s is missing: run scripts/setup test", argv[0]);
  p->proc = proc_start(.argv = argv, .env = ARGS(textf("HOME=%s", test_dir())), .timeout_ms = 60000);
  const int ports[] = {p->port, p->tls};
  for (size_t i = 0; i < 2; i++)
    for (int fd = -1; fd < 0; usleep(5000)) {   /* bounded by the test's time limit */
      fd = connect_from("127.0.0.9", ports[i]); /* from 127.0.0.1 it could connect to itself */
      if (fd >= 0)
        close(fd);
    }
}

/* As in docs/http.md; the rest only keeps it within the test's folder. */
static struct proxy *start_nginx(void) {
  struct proxy *p = prepare();
  const char *conf = path_join(NULL, "nginx.conf");
  file_write(
      conf,
      str_from(textf("daemon off; master_process off; pid %s/nginx.pid; error_log stderr error;\n"
                     "events {}\n"
                     "http {\n"
                     "  access_log off; client_body_temp_path %s/t1; proxy_temp_path %s/t2; fastcgi_temp_path %s/t3;\n"
                     "  uwsgi_temp_path %s/t4; scgi_temp_path %s/t5;\n"
                     "  server {\n"
                     "    listen 127.0.0.1:%d; listen 127.0.0.1:%d ssl;\n"
                     "    ssl_certificate %s; ssl_certificate_key %s;\n"
                     "    client_max_body_size 64m;\n"
                     "    location / {\n"
                     "      proxy_pass http://127.0.0.1:%d;\n"
                     "      proxy_http_version 1.1;\n"
                     "      proxy_set_header Connection \"\";\n"
                     "      proxy_set_header Host $host;\n"
                     "      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n"
                     "      proxy_read_timeout 1h;\n"
                     "    }\n"
                     "  }\n"
                     "}\n",
                     test_dir(), test_dir(), test_dir(), test_dir(), test_dir(), test_dir(), p->port, p->tls, p->c.path,
                     p->c.key, serve_port(p->server))));
  start(p, ARGS(TOOLS "/sbin/nginx", "-p", test_dir(), "-e", "stderr", "-c", conf));
  return p;
}

static struct proxy *start_caddy(void) {
  struct proxy *p = prepare();
  const char *conf = path_join(NULL, "Caddyfile");
  file_write(conf, str_from(textf("{\n  admin off\n  auto_https off\n}\n"
                                  "http://:%d {\n  bind 127.0.0.1\n  reverse_proxy 127.0.0.1:%d\n}\n"
                                  "https://:%d {\n  bind 127.0.0.1\n  tls %s %s\n  reverse_proxy 127.0.0.1:%d\n}\n",
                                  p->port, serve_port(p->server), p->tls, p->c.path, p->c.key, serve_port(p->server))));
  start(p, ARGS(TOOLS "/bin/caddy", "run", "--adapter", "caddyfile", "--config", conf));
  return p;
}

static void stop(struct proxy *p) {
  proc_kill(p->proc, SIGTERM);
  proc_wait(p->proc);
  serve_stop(p->server);
}

/* ---- what holds behind every proxy ---- */

static void check_access(const struct proxy *p) {
  CHECK_INT(status(p, HOST), 401); /* no client is local, though the proxy connects from this machine */
  CHECK_INT(status(p, with_token(p, "")), 200);
  CHECK_INT(status(p, textf("Host: evil.example\r\nAuthorization: Bearer %s\r\n", p->token)), 403);
  CHECK_INT(status(p, with_token(p, "Origin: https://memory.example\r\n")), 200);
  CHECK_INT(status(p, with_token(p, "Origin: https://evil.example\r\n")), 403);
  CHECK_INT(status(p, with_token(p, "Sec-Fetch-Site: cross-site\r\n")), 403);
}

/* A client that guesses is locked out by the address that the proxy saw, whatever it claims; others are not. */
static void check_addresses(const struct proxy *p) {
  static const char wrong[] = HOST "Authorization: Bearer cairn_default.abcdefghijkl."
                                   "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n";
  int64_t before = last_seq();
  for (int i = 0; i < 10; i++)
    CHECK_INT(ask_from(p, "127.0.0.5", "GET", "/readyz",
                       textf("X-Forwarded-For: 203.0.113.%d\r\nX-Real-IP: 203.0.113.%d\r\n"
                             "Forwarded: for=203.0.113.%d\r\n%s",
                             i, i, i, wrong),
                       STR_NONE)
                  .status,
              401);
  CHECK_INT(ask_from(p, "127.0.0.5", "GET", "/readyz", wrong, STR_NONE).status, 429);
  CHECK_INT(ask_from(p, "127.0.0.6", "GET", "/readyz", wrong, STR_NONE).status, 401);
  CHECK_INT(ask_from(p, "127.0.0.5", "GET", "/readyz", with_token(p, ""), STR_NONE).status, 200);
  struct json_lines events = events_since(before);
  int seen = 0;
  for (size_t i = 0; i < events.n; i++)
    if (str_starts(jstr(events.v[i], "action"), STR("auth:"))) {
      CHECK_STR(jstr(events.v[i], "detail.peer"), seen++ < 10 ? "127.0.0.5" : "127.0.0.6");
    }
  CHECK_INT(seen, 11);
}

static void check_bodies(const struct proxy *p) {
  static char large[11 << 20];
  memset(large, 'x', sizeof(large));
  const char *json = with_token(p, "Content-Type: application/json\r\n");
  CHECK_INT(
      ask_from(p, "127.0.0.1", "POST", "/api/v1/memories", json, STR("{\"text\":\"The ferry leaves at nine\"}")).status,
      201);
  CHECK_INT(ask_from(p, "127.0.0.1", "POST", "/api/v1/memories", json, (struct str){large, sizeof(large)}).status, 413);
  CHECK_INT(status(p, with_token(p, "")), 200);
}

/* Events arrive while the stream is open: the proxy does not collect them. */
static void check_stream(const struct proxy *p) {
  struct wire *w = wire_from(p, "127.0.0.1");
  struct sse e;
  wire_send(w, request_text("GET", "/events?action=memory:write", with_token(p, ""), STR_NONE));
  CHECK_INT(wire_answer(w, false).status, 200);
  for (int i = 0; i < 3; i++) {
    OK("remember", textf("Lamp %d of the pier is %d metres high", i, 3 * i + 4));
    if (!sse_next(w, 15000, &e) || !has(e.data, "memory:write"))
      FAIL("event %d does not come through", i);
  }
  wire_close(w);
}

/* The client speaks TLS to the proxy, with the name that the server allows. */
static void check_tls(const struct proxy *p) {
  struct run r = proc_run(.argv = ARGS("curl", "--silent", "--show-error", "--max-time", "10", "--noproxy", "*", "-k",
                                       "-o", "/dev/null", "-w", "%{http_code}", "--resolve",
                                       textf("memory.example:%d:127.0.0.1", p->tls), "-H",
                                       textf("Authorization: Bearer %s", p->token), "-H",
                                       textf("Origin: https://memory.example:%d", p->tls),
                                       textf("https://memory.example:%d/api/v1/memories", p->tls)));
  if (r.exit_code == 127)
    test_unable("curl, to speak TLS");
  CHECK_STR(r.out, "200");
}

static void check_everything(struct proxy *p) {
  check_access(p);
  check_bodies(p);
  check_stream(p);
  check_tls(p);
  check_addresses(p);
  stop(p);
}

TEST(behind_nginx, .seconds = 60) { check_everything(start_nginx()); }
TEST(behind_caddy, .seconds = 60) { check_everything(start_caddy()); }
