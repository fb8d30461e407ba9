/* test_access.c: authentication of `cairn serve`: the local user, tokens, rate limits, proxies, TLS, an issuer. */
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/certificate.h"
#include "support/issuer.h"
#include "support/serve.h"

static struct arena memory;

static const char *const closed[] = {"/",
                                     "/readyz",
                                     "/metrics",
                                     "/events",
                                     "/mcp",
                                     "/mcp/full",
                                     "/api/v1",
                                     "/api/v1/memories",
                                     "/api/v1/openapi.json",
                                     "/nothing"};
static const char *const methods[] = {"GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT"};

/* Adds a token and returns its text. */
#define TOKEN(...) cstr(jstr(OK("token", "add", __VA_ARGS__), "token"))

static const char *bearer(const char *token) { return textf("Authorization: Bearer %s\r\n", token); }

static struct answer ask(const struct serve *s, const char *path, const char *headers) {
  return serve_do(s, "GET", path, headers, STR_NONE);
}

static int status(const struct serve *s, const char *path, const char *headers) { return ask(s, path, headers).status; }

static int remember(const struct serve *s, const char *headers, const char *text) {
  struct str body = str_from(textf("{\"text\":\"%s\"}", text));
  return serve_do(s, "POST", "/api/v1/memories", textf("%sContent-Type: application/json\r\n", headers), body).status;
}

/* The same token with a wrong secret. NO_TOKEN was never issued. */
static const char *with_other_secret(const char *token) {
  char *copy = (char *)(uintptr_t)cstr(str_from(token)), *at = strrchr(copy, '.') + 3;
  *at = *at == 'x' ? 'y' : 'x';
  return copy;
}
#define NO_TOKEN "cairn_default.abcdefghijkl.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static void check_refused(const struct answer *a) {
  CHECK_INT(a->status, 401);
  CHECK_STR(answer_header(a, "content-type"), "application/problem+json");
  CHECK(str_starts(answer_header(a, "www-authenticate"), STR("Bearer realm=\"cairn\"")));
  CHECK(!has(answer_header(a, "www-authenticate"), "resource_metadata")); /* clients would look for an issuer */
}

/* ---- tokens ---- */

TEST(local_clients_need_no_token) {
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, "/readyz", NULL), 200);
  CHECK_INT(remember(s, "", "The ferry leaves at nine"), 201);
  CHECK_INT(status(s, "/.well-known/oauth-protected-resource", NULL), 404);
  CHECK(has(serve_get(s, "/metrics").body, "cairn_tokens_total{result=\"refused\"} 0"));
  serve_stop(s);
}

TEST(every_route_requires_a_token) {
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(ARGS("--require-token"));
  for (size_t p = 0; p < ARRAY_LEN(closed); p++)
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
      test_note("%s %s", methods[m], closed[p]);
      struct answer a = serve_do(s, methods[m], closed[p], NULL, STR_NONE);
      CHECK_INT(a.status, 401);
      CHECK_STR(answer_header(&a, "www-authenticate"), "Bearer realm=\"cairn\"");
    }
  CHECK_INT(serve_get(s, "/healthz").status, 200);
  CHECK_INT(status(s, "/healthz", bearer(NO_TOKEN)), 200); /* the token is not checked */
  CHECK_INT(status(s, "/", bearer(token)), 200);
  CHECK_INT(status(s, "/readyz", bearer(token)), 200);
  CHECK_INT(status(s, "/metrics", bearer(token)), 200);
  CHECK_INT(status(s, "/nothing", bearer(token)), 404);
  CHECK_INT(status(s, "/api/v1/memories", bearer(token)), 200);
  CHECK_INT(remember(s, bearer(token), "The ferry leaves at nine"), 201);
  serve_stop(s);
}

TEST(a_wrong_token_is_refused_locally_too) {
  const char *token = TOKEN("bot"), *old = TOKEN("old");
  OK("token", "revoke", "old");
  const char *const bad[] = {NO_TOKEN, with_other_secret(token),
                             old,      textf("%sA", token),
                             "cairn_", "x",
                             "a.b.c",  textf("%.*s", (int)strlen(token) - 1, token)};
  struct serve *s = serve_start(NULL);
  struct str body = STR_NONE;
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    struct answer a = ask(s, "/readyz", bearer(bad[i]));
    check_refused(&a);
    CHECK(has(answer_header(&a, "www-authenticate"), "error=\"invalid_token\""));
    CHECK(!body.p || str_eq(body, a.body)); /* the same reply for every wrong token */
    body = a.body;
  }
  CHECK_INT(status(s, "/readyz", bearer(token)), 200);
  serve_stop(s);
}

TEST(malformed_authorization_headers_are_refused) {
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, "/readyz", "Authorization: Basic YTpi\r\n"), 401);
  CHECK_INT(status(s, "/readyz", "Authorization:\r\n"), 401);
  CHECK_INT(status(s, "/readyz", textf("%s%s", bearer(token), bearer(token))), 401);
  CHECK_INT(status(s, "/", "Authorization: Bearer a b\r\n"), 401);
  serve_stop(s);
}

TEST(tokens_in_urls_and_cookies_are_refused) {
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, "/readyz?access_token=x", NULL), 400);
  CHECK_INT(status(s, textf("/api/v1/search?q=%s", token), bearer(token)), 400);
  CHECK_INT(status(s, "/readyz", textf("Cookie: a=b; t=%s\r\n", token)), 400);
  serve_stop(s);
  CHECK(!store_holds(strrchr(token, '.') + 1));
}

TEST(a_revoked_token_is_refused_at_once) {
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, "/readyz", bearer(token)), 200);
  OK("token", "revoke", "bot");
  CHECK_INT(status(s, "/readyz", bearer(token)), 401);
  serve_stop(s);
}

TEST(the_token_decides_the_team) {
  cli_set("CAIRN_TEAM=shop");
  const char *token = TOKEN("bot");
  cli_set("CAIRN_TEAM");
  struct serve *s = serve_start(NULL);
  CHECK_INT(remember(s, bearer(token), "The ferry of the shop leaves at nine"), 201);
  CHECK_INT(remember(s, "", "The ferry of the others leaves at ten"), 201);
  struct answer a = ask(s, "/api/v1/memories", bearer(token));
  CHECK(has(a.body, "of the shop") && !has(a.body, "of the others"));
  a = ask(s, "/api/v1/memories", NULL);
  CHECK(!has(a.body, "of the shop") && has(a.body, "of the others"));
  serve_stop(s);
}

TEST(mcp_needs_a_token_too) {
  static const char call[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                             "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}";
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(ARGS("--require-token"));
  struct answer a = serve_do(s, "POST", "/mcp", "Content-Type: application/json\r\n", str_from(call));
  check_refused(&a);
  a = serve_do(s, "POST", "/mcp", textf("%sContent-Type: application/json\r\n", bearer(token)), str_from(call));
  CHECK_INT(a.status, 200);
  CHECK(answer_header(&a, "mcp-session-id").n > 0);
  serve_stop(s);
}

/* ---- limits ---- */

static void check_locked(const struct serve *s, const char *headers) {
  struct answer a = ask(s, "/readyz", headers);
  int64_t wait = 0;
  CHECK_INT(a.status, 429);
  CHECK_STR(answer_header(&a, "content-type"), "application/problem+json");
  CHECK(str_int64(answer_header(&a, "retry-after"), &wait) && wait > 0 && wait <= 60);
}

TEST(failed_attempts_delay_requests_without_a_token) {
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(ARGS("--require-token"));
  CHECK_INT(status(s, "/readyz", NULL), 401);
  for (int i = 0; i < 10; i++)
    CHECK_INT(status(s, "/readyz", bearer(NO_TOKEN)), 401);
  check_locked(s, NULL);
  check_locked(s, bearer(NO_TOKEN));
  CHECK_INT(status(s, "/readyz", bearer(token)), 200);
  CHECK_INT(status(s, "/healthz", NULL), 200);
  serve_stop(s);
}

TEST(failed_attempts_are_rate_limited) {
  const char *token = TOKEN("bot");
  int64_t before = last_seq();
  struct serve *s = serve_start(NULL);
  for (int i = 0; i < 10; i++)
    CHECK_INT(status(s, "/readyz", bearer(with_other_secret(token))), 401);
  /* The reply does not tell a wrong secret, an unknown id and a malformed token apart. */
  const char *const wrong[] = {with_other_secret(token), NO_TOKEN, "a.b.c", "a b"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
    check_locked(s, bearer(wrong[i]));
  CHECK_INT(status(s, "/readyz", bearer(token)), 200); /* another client at the same address */
  CHECK_INT(remember(s, bearer(token), "The ferry leaves at nine"), 201);
  CHECK_INT(status(s, "/readyz", NULL), 200); /* the local user sends no token */
  struct answer a = serve_get(s, "/metrics");
  CHECK(has(a.body, "cairn_tokens_total{result=\"refused\"} 10"));
  CHECK(has(a.body, "cairn_tokens_total{result=\"locked\"} 4"));
  serve_stop(s);
  struct json_lines events = events_since(before);
  int failed = 0, locked = 0;
  for (size_t i = 0; i < events.n; i++) {
    struct str action = jstr(events.v[i], "action");
    failed += str_is(action, "auth:failed");
    locked += str_is(action, "auth:locked");
    if (str_starts(action, STR("auth:"))) {
      CHECK_STR(jstr(events.v[i], "detail.peer"), "127.0.0.1");
      CHECK(has(str_from(token), cstr(jstr(events.v[i], "detail.token"))));
    }
  }
  CHECK_INT(failed, 9);
  CHECK_INT(locked, 1);
  CHECK(!store_holds(strrchr(with_other_secret(token), '.') + 1));
}

TEST(requests_are_rate_limited) {
  const char *token = TOKEN("bot"), *other = TOKEN("other");
  struct serve *s = serve_start(ARGS("--set", "serve.rate=1", "--set", "serve.burst=3"));
  int passed = 0;
  struct answer a = {0};
  for (int i = 0; i < 50 && a.status != 429; i++) {
    a = ask(s, "/readyz", bearer(token));
    passed += a.status == 200;
  }
  CHECK(passed >= 3 && passed < 20);
  CHECK_INT(a.status, 429);
  CHECK_STR(answer_header(&a, "retry-after"), "1");
  CHECK_INT(status(s, "/readyz", bearer(other)), 200);
  CHECK_INT(status(s, "/readyz", NULL), 200);
  serve_stop(s);
}

TEST(limits_can_be_switched_off) {
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(ARGS("--set", "serve.rate=0"));
  for (int i = 0; i < 250; i++)
    CHECK_INT(status(s, "/readyz", bearer(token)), 200);
  serve_stop(s);
}

/* ---- proxies ---- */

/* A proxy in front of a server that was not configured for one. */
TEST(a_forwarded_request_is_not_local) {
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, "/readyz", "X-Forwarded-For: 203.0.113.9\r\n"), 401);
  CHECK_INT(status(s, "/readyz", "Forwarded: for=203.0.113.9\r\n"), 401);
  CHECK_INT(status(s, "/readyz", "X-Real-IP: 203.0.113.9\r\n"), 401);
  CHECK_INT(status(s, "/readyz", textf("X-Forwarded-For: 203.0.113.9\r\n%s", bearer(token))), 200);
  serve_stop(s);
}

TEST(behind_a_proxy_no_client_is_local) {
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(ARGS("--behind-proxy", "--allow-host", "memory.example.org"));
  CHECK_INT(status(s, "/readyz", NULL), 401);
  CHECK_INT(status(s, "/readyz", "Host: memory.example.org\r\n"), 401);
  CHECK_INT(status(s, "/readyz", "Host: other.example.org\r\n"), 403);
  CHECK_INT(status(s, "/readyz", textf("Host: memory.example.org\r\n%s", bearer(token))), 200);
  CHECK_INT(status(s, "/readyz",
                   textf("Host: memory.example.org\r\nOrigin: https://memory.example.org\r\n%s", bearer(token))),
            200);
  CHECK_INT(
      status(s, "/readyz", textf("Host: memory.example.org\r\nOrigin: https://evil.example\r\n%s", bearer(token))),
      403);
  serve_stop(s);
}

TEST(behind_a_proxy_clients_are_locked_out_separately) {
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(ARGS("--behind-proxy"));
  /* A client's own X-Forwarded-For entries precede the one that the proxy adds. */
  for (int i = 0; i < 10; i++)
    CHECK_INT(status(s, "/readyz", textf("X-Forwarded-For: 198.51.100.%d, 203.0.113.9\r\n%s", i, bearer(NO_TOKEN))),
              401);
  check_locked(s, textf("X-Forwarded-For: 203.0.113.9\r\n%s", bearer(NO_TOKEN)));
  CHECK_INT(status(s, "/readyz", textf("X-Forwarded-For: 203.0.113.9\r\n%s", bearer(token))), 200);
  CHECK_INT(status(s, "/readyz", textf("X-Forwarded-For: 203.0.113.10\r\n%s", bearer(NO_TOKEN))), 401);
  for (int i = 0; i < 10; i++)
    CHECK_INT(status(s, "/readyz", textf("X-Forwarded-For: 2001:db8:0:7::%d\r\n%s", i, bearer(NO_TOKEN))), 401);
  check_locked(s, textf("X-Forwarded-For: 2001:db8:0:7:8::\r\n%s", bearer(NO_TOKEN)));
  CHECK_INT(status(s, "/readyz", textf("X-Forwarded-For: 2001:db8:0:8::\r\n%s", bearer(NO_TOKEN))), 401);
  serve_stop(s);
}

/* ---- other machines ---- */

static void check_start_refused(const char *says, const char *const *args) {
  const char *argv[20] = {CAIRN_BIN, "serve", "--port", "0"};
  for (size_t i = 0; args[i]; i++)
    argv[4 + i] = args[i];
  struct run r = proc_run(.argv = argv, .env = cli_env());
  test_note("%s", says);
  CHECK(r.exit_code > 0 && r.out.n == 0);
  if (!has(r.err, says))
    FAIL("'%.*s' does not say '%s'", STR_ARG(r.err), says);
}

TEST(an_insecure_configuration_does_not_start) {
  check_start_refused("--tls-cert FILE", ARGS("--host", "0.0.0.0"));
  check_start_refused("--allow-host NAME", ARGS("--host", "0.0.0.0", "--behind-proxy"));
  check_start_refused("cairn token add", ARGS("--host", "0.0.0.0", "--behind-proxy", "--allow-host", "a.example"));
  check_start_refused("cairn token add", ARGS("--require-token"));
  check_start_refused("cairn token add", ARGS("--behind-proxy"));
  OK("token", "add", "old");
  OK("token", "revoke", "old");
  check_start_refused("cairn token add", ARGS("--require-token"));
  OK("token", "add", "short", "--ttl", "1d");
  cli_day(2);
  check_start_refused("cairn token add", ARGS("--require-token"));
  OK("token", "add", "bot");
  check_start_refused("not an address", ARGS("--host", "memory.example.org", "--behind-proxy"));
  check_start_refused("not a host name", ARGS("--allow-host", "https://a.example"));
  check_start_refused("must be used together", ARGS("--tls-cert", "x.pem"));
  check_start_refused("a whole number", ARGS("--set", "serve.rate=0.5"));
  check_start_refused("must be set together", ARGS("--set", "oauth.issuer=https://id.example"));
}

/* A non-loopback IPv4 address of this machine, or 0. */
static in_addr_t outer_address(void) {
  struct ifaddrs *list, *i;
  in_addr_t found = 0;
  if (getifaddrs(&list) != 0)
    return 0;
  for (i = list; i && !found; i = i->ifa_next) {
    struct sockaddr_in a;
    if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET)
      continue;
    memcpy(&a, i->ifa_addr, sizeof(a));
    if (ntohl(a.sin_addr.s_addr) >> 24 != 127)
      found = a.sin_addr.s_addr;
  }
  freeifaddrs(list);
  return found;
}

static int status_from(in_addr_t address, int port, const char *headers) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = address};
  struct wire *w = wire_to(port);
  close(w->fd);
  w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK_INT(connect(w->fd, (const struct sockaddr *)&a, sizeof(a)), 0);
  wire_send(w, request_text("GET", "/readyz", headers, STR_NONE));
  int got = wire_answer(w, false).status;
  wire_close(w);
  return got;
}

TEST(remote_clients_need_a_token) {
  in_addr_t address = outer_address();
  if (!address)
    test_unable("a network interface besides loopback");
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(ARGS("--host", "0.0.0.0", "--behind-proxy", "--allow-host", "memory.example.org"));
  int port = serve_port(s);
  CHECK_INT(status_from(address, port, "Host: memory.example.org\r\n"), 401);
  CHECK_INT(status_from(address, port, textf("Host: memory.example.org\r\n%s", bearer(token))), 200);
  /* Local host names are accepted only from this machine. */
  CHECK_INT(status_from(address, port, textf("Host: localhost\r\n%s", bearer(token))), 403);
  CHECK_INT(status_from(address, port, textf("Host: 127.0.0.1\r\n%s", bearer(token))), 403);
  CHECK_INT(status(s, "/readyz", bearer(token)), 200);
  serve_stop(s);
}

/* ---- TLS ---- */

static struct certificate c;

static struct run curl(const struct serve *s, const char *path, const char *const *more) {
  const char *argv[24] = {"curl", "--silent", "--show-error", "--max-time", "10", "--noproxy", "*", "--cacert", c.path};
  size_t n = 9;
  for (size_t i = 0; more && more[i]; i++)
    argv[n++] = more[i];
  argv[n] = textf("https://localhost:%d%s", serve_port(s), path);
  struct run r = proc_run(.argv = argv, .timeout_ms = 15000);
  if (r.exit_code == 127)
    test_unable("curl, to speak TLS");
  return r;
}

TEST(tls_works) {
  c = certificate_make();
  const char *token = TOKEN("bot");
  struct serve *s = serve_start(ARGS("--tls-cert", c.path, "--tls-key", c.key, "--require-token"));
  CHECK(str_starts(str_from(serve_address(s)), STR("https://127.0.0.1:")));
  struct run r = curl(s, "/healthz", NULL);
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, "\"status\":\"ok\""));
  const char *header = textf("Authorization: Bearer %s", token);
  r = curl(s, "/readyz", ARGS("-H", header));
  CHECK_STR(r.out, "{\"status\":\"ready\"}");
  r = curl(s, "/readyz", ARGS("-o", "/dev/null", "-w", "%{http_code}"));
  CHECK_STR(r.out, "401");
  r = curl(s, "/api/v1/memories",
           ARGS("-H", header, "-H", "Content-Type: application/json", "-d", "{\"text\":\"The ferry leaves at nine\"}"));
  CHECK(has(r.out, "\"action\""));
  r = curl(s, "/events?since=0", ARGS("-H", header, "--max-time", "2"));
  CHECK_INT(r.exit_code, 28); /* the stream never ends, so curl times out */
  CHECK(has(r.out, "memory:write"));
  /* Old TLS versions and plain HTTP get no reply. */
  CHECK(curl(s, "/healthz", ARGS("--tls-max", "1.1", "--tlsv1.0", "--ciphers", "DEFAULT@SECLEVEL=0")).exit_code != 0);
  CHECK_INT(curl(s, "/healthz", ARGS("--tls-max", "1.2")).exit_code, 0);
  CHECK_INT(curl(s, "/healthz", ARGS("--tlsv1.3")).exit_code, 0);
  struct wire *plain = wire_open(s);
  wire_send(plain, request_text("GET", "/healthz", NULL, STR_NONE));
  CHECK(wire_closed(plain, 5000));
  CHECK(plain->in.n == 0 || !str_starts(buf_str(&plain->in), STR("HTTP/")));
  wire_close(plain);
  /* The certificate is in the home folder, and the sandbox does not grant access to that folder for renewals. */
  CHECK(has(serve_end(s), "restart the server after renewing it"));
}

TEST(keys_that_others_can_read_are_refused) {
  c = certificate_make();
  OK("token", "add", "bot");
  static const mode_t bad[] = {0644, 0604, 0660, 0666};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    chmod(c.key, bad[i]);
    check_start_refused("chmod 600", ARGS("--tls-cert", c.path, "--tls-key", c.key));
  }
  chmod(c.key, 0600);
  check_start_refused("cannot open", ARGS("--tls-cert", c.path, "--tls-key", "missing.pem"));
  check_start_refused("cannot be used", ARGS("--tls-cert", c.key, "--tls-key", c.key));
  const char *other = path_join(NULL, "other.pem");
  file_write(other, file_read(c.path));
  c = certificate_make(); /* a key that does not match the certificate */
  check_start_refused("cannot be used", ARGS("--tls-cert", other, "--tls-key", c.key));
  file_write(c.key, STR("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"));
  check_start_refused("cannot be used", ARGS("--tls-cert", c.path, "--tls-key", c.key));
}

/* A path outside the store's folder that the server can read. Creates its parent folders. */
static const char *place(const char *path) {
  char *whole = (char *)(uintptr_t)textf("%s-tls/%s", test_dir(), path);
  for (char *slash = strchr(whole + strlen(test_dir()), '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    (void)!mkdir(whole, 0700);
    *slash = '/';
  }
  return whole;
}

/* Replaces the link atomically. */
static void point(const char *link, const char *target) {
  const char *fresh = place("fresh-link");
  CHECK_INT(symlink(target, fresh), 0);
  CHECK_INT(rename(fresh, link), 0);
}

/* True if a new connection gets this certificate and a reply. */
static bool shows(const struct serve *s, const char *certificate) {
  c.path = certificate;
  return curl(s, "/healthz", NULL).exit_code == 0;
}

/* Bounded only by the test's time limit. */
static void wait_until_shown(const struct serve *s, const char *certificate) {
  while (!shows(s, certificate))
    usleep(100 * 1000);
}

static int64_t events_of(const char *action) {
  return sql_number(textf("SELECT count(*) FROM event WHERE action = '%s'", action));
}

static void wait_for_events(const char *action, int64_t n) {
  while (events_of(action) < n)
    usleep(100 * 1000);
}

/* Links in one folder point to files in another, and renewals add new files there. The sandbox is on. */
TEST(a_renewed_certificate_needs_no_restart, .seconds = 90) {
  struct certificate first = certificate_make_at(place("archive/cert1.pem"), place("archive/key1.pem"));
  struct certificate second = certificate_make_at(place("archive/cert2.pem"), place("archive/key2.pem"));
  const char *cert = place("live/cert.pem"), *key = place("live/key.pem"), *token = TOKEN("bot");
  point(cert, "../archive/cert1.pem");
  point(key, "../archive/key1.pem");
  struct serve *s = serve_start(ARGS("--tls-cert", cert, "--tls-key", key, "--require-token"));
  CHECK(shows(s, first.path) && !shows(s, second.path));
  /* A long-lived connection. */
  struct proc *old =
      proc_start(.argv = ARGS("curl", "--silent", "--no-buffer", "--noproxy", "*", "--cacert", first.path, "-H",
                              textf("Authorization: Bearer %s", token),
                              textf("https://localhost:%d/events?since=0&action=memory:write", serve_port(s))));
  struct str line;
  STORE("Something to hear of before");
  while (proc_line(old, 20000 * test_patience(), &line) && !has(line, "to hear of before"))
    continue;
  CHECK(has(line, "to hear of before"));
  point(cert, "../archive/cert2.pem");
  point(key, "../archive/key2.pem");
  wait_until_shown(s, second.path);
  CHECK(!shows(s, first.path));
  STORE("Something to hear of afterwards");
  while (proc_line(old, 20000 * test_patience(), &line) && !has(line, "to hear of afterwards"))
    continue;
  CHECK(has(line, "to hear of afterwards"));
  proc_kill(old, 15);
  proc_wait(old);
  wait_for_events("tls:renewed", 1);
  serve_stop(s);
}

/* Both files change at once, through one link to their folder. */
TEST(a_broken_certificate_is_reported_once_and_the_old_one_stays, .seconds = 120, .slow = true) {
  struct certificate first = certificate_make_at(place("tls/1/cert.pem"), place("tls/1/key.pem"));
  struct certificate second = certificate_make_at(place("tls/2/cert.pem"), place("tls/2/key.pem"));
  const char *data = place("tls/data"), *cert = place("tls/cert.pem"), *key = place("tls/key.pem");
  OK("token", "add", "bot");
  point(data, "1");
  point(cert, "data/cert.pem");
  point(key, "data/key.pem");
  file_write(place("tls/3/cert.pem"), file_read(second.path));
  file_write(place("tls/3/key.pem"), file_read(first.key));
  CHECK_INT(chmod(place("tls/3/key.pem"), 0600), 0);
  struct serve *s = serve_start(ARGS("--tls-cert", cert, "--tls-key", key, "--require-token"));
  CHECK(shows(s, first.path));
  point(data, "3");
  wait_for_events("tls:broken", 1);
  CHECK(shows(s, first.path));
  CHECK(has(sql_string("SELECT detail FROM event WHERE action = 'tls:broken'"), "cannot be used"));
  point(data, "2");
  wait_until_shown(s, second.path);
  wait_for_events("tls:renewed", 1);
  CHECK_INT(events_of("tls:broken"), 1);
  struct str said = serve_end(s), line;
  CHECK(str_line(&said, &line) && str_starts(line, STR("cairn: ")) && has(line, "cannot be used"));
  CHECK(has(line, "keeping the previous certificate") && said.n == 0);
}

/* ---- an issuer ---- */

#define ISSUER "https://id.example"
#define AUDIENCE "https://memory.example/mcp"

static struct serve *serve_for_issuer(void) {
  const char *path = path_join(NULL, "jwks.json");
  file_write(path, str_from(issuer_jwks()));
  return serve_start(ARGS("--set", "oauth.issuer=" ISSUER, "--set", "oauth.audience=" AUDIENCE, "--set",
                          textf("oauth.jwks=%s", path), "--require-token"));
}

/* The program's clock is fixed at 2026-03-01T12:00:00Z. */
static const char *claims(const char *scope) {
  return textf(
      "{\"iss\":\"" ISSUER "\",\"aud\":\"" AUDIENCE "\",\"sub\":\"alice\",\"exp\":1772370000,\"scope\":\"%s\"}", scope);
}

TEST(tokens_of_an_issuer_are_accepted) {
  struct serve *s = serve_for_issuer();
  for (int k = ISSUER_RSA; k <= ISSUER_ED; k++) {
    const char *token = issuer_token((enum issuer_key)k, claims("cairn:write cairn:team:web cairn:role:admin"));
    test_note("key %d", k);
    CHECK_INT(remember(s, bearer(token), textf("The ferry number %d leaves at nine", k)), 201);
  }
  CHECK_INT(sql_number("SELECT count(*) FROM memory WHERE team = 'web' AND corpus = 'memory'"), 3);
  CHECK_INT(sql_number("SELECT count(*) FROM memory WHERE team <> 'web' AND corpus = 'memory'"), 0);
  const char *reader = issuer_token(ISSUER_EC, claims("cairn:read cairn:team:web cairn:role:admin"));
  CHECK_INT(status(s, "/api/v1/memories", bearer(reader)), 200);
  CHECK_INT(remember(s, bearer(reader), "A reader writes nothing"), 403);
  serve_stop(s);
}

TEST(a_client_finds_the_issuer) {
  struct serve *s = serve_for_issuer();
  static const char *const places[] = {"/.well-known/oauth-protected-resource",
                                       "/.well-known/oauth-protected-resource/mcp"};
  for (size_t i = 0; i < ARRAY_LEN(places); i++) {
    struct answer a = serve_get(s, places[i]);
    CHECK_INT(a.status, 200);
    CHECK_STR(answer_header(&a, "content-type"), "application/json");
    CHECK_STR(a.body,
              "{\"resource\":\"" AUDIENCE "\",\"authorization_servers\":[\"" ISSUER
              "\"],\"scopes_supported\":[\"cairn:read\",\"cairn:write\"],\"bearer_methods_supported\":[\"header\"],"
              "\"resource_name\":\"Cairn\"}");
  }
  struct answer a = serve_get(s, "/mcp");
  CHECK_INT(a.status, 401);
  CHECK_STR(
      answer_header(&a, "www-authenticate"),
      "Bearer realm=\"cairn\", resource_metadata=\"https://memory.example/.well-known/oauth-protected-resource/mcp\", "
      "scope=\"cairn:read cairn:write\"");
  serve_stop(s);
}

TEST(wrong_tokens_of_an_issuer_get_the_same_reply) {
  struct serve *s = serve_for_issuer();
  const char *good = claims("cairn:read cairn:team:web cairn:role:admin");
  const char *const bad[] = {
      issuer_token(ISSUER_OTHER, good),
      issuer_token(ISSUER_WEAK, good),
      issuer_sign(ISSUER_EC, "{\"alg\":\"none\",\"kid\":\"ec\"}", good),
      issuer_sign_hmac("{\"alg\":\"HS256\",\"kid\":\"rsa\"}", good),
      issuer_token(ISSUER_EC,
                   "{\"iss\":\"" ISSUER "\",\"aud\":\"https://other/mcp\",\"sub\":\"a\",\"exp\":1772370000}"),
      issuer_token(ISSUER_EC, "{\"iss\":\"" ISSUER "\",\"aud\":\"" AUDIENCE "\",\"sub\":\"a\",\"exp\":1772366300}"),
  };
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%zu", i);
    struct answer a = ask(s, "/readyz", bearer(bad[i]));
    CHECK_INT(a.status, 401);
    CHECK(has(answer_header(&a, "www-authenticate"), "error=\"invalid_token\""));
  }
  static const char *const little[] = {"openid", "cairn:read", "cairn:read cairn:team:web",
                                       "cairn:read cairn:team:web cairn:team:shop cairn:role:admin"};
  for (size_t i = 0; i < ARRAY_LEN(little); i++) {
    struct answer a = ask(s, "/readyz", bearer(issuer_token(ISSUER_ED, claims(little[i]))));
    test_note("%s", little[i]);
    CHECK_INT(a.status, 403);
    CHECK(has(answer_header(&a, "www-authenticate"), "error=\"insufficient_scope\""));
  }
  serve_stop(s);
}

/* Verifying a signature is expensive. After failed attempts, an address may still use tokens verified before, and a few
 * new ones. */
TEST(failed_attempts_limit_signature_checks, .seconds = 60) {
  struct serve *s = serve_for_issuer();
  const char *good = claims("cairn:read cairn:team:web cairn:role:admin");
  const char *known = issuer_token(ISSUER_EC, good), *wrong = issuer_token(ISSUER_OTHER, good);
  CHECK_INT(status(s, "/readyz", bearer(known)), 200);
  for (int i = 0; i < 10; i++)
    CHECK_INT(status(s, "/readyz", bearer(wrong)), 401);
  check_locked(s, bearer(wrong));
  CHECK_INT(status(s, "/readyz", bearer(issuer_token(ISSUER_ED, good))), 200);
  int got = 200;
  for (int i = 0; i < 200 && got == 200; i++) {
    const char *each = textf("{\"iss\":\"" ISSUER "\",\"aud\":\"" AUDIENCE "\",\"sub\":\"u%d\",\"exp\":1772370000,"
                             "\"scope\":\"cairn:read cairn:team:web cairn:role:admin\"}",
                             i);
    got = status(s, "/readyz", bearer(issuer_token(ISSUER_ED, each)));
  }
  CHECK_INT(got, 429);
  CHECK_INT(status(s, "/readyz", bearer(known)), 200);
  CHECK_INT(status(s, "/readyz", bearer(issuer_token(ISSUER_ED, good))), 200); /* signed again, same bytes */
  serve_stop(s);
}

/* Tokens signed by an independent implementation. */
TEST(a_token_signed_by_openssl_is_accepted) {
  const char *pem = path_join(NULL, "rsa.pem"), *path = path_join(NULL, "jwks.json"), *text = path_join(NULL, "text");
  struct run r = proc_run(.argv = ARGS("openssl", "genrsa", "-out", pem, "2048"), .timeout_ms = 20000);
  if (r.exit_code != 0)
    test_unable("openssl, to sign a token");
  r = proc_run(.argv = ARGS("openssl", "rsa", "-in", pem, "-noout", "-modulus"));
  char modulus[256];
  struct str hex = str_trim(r.out);
  CHECK(str_starts(hex, STR("Modulus=")) && hex.n == 8 + 512);
  for (size_t i = 0; i < sizeof(modulus); i++)
    modulus[i] = (char)strtol(textf("%.2s", hex.p + 8 + 2 * i), NULL, 16);
  file_write(path, str_from(textf("{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"o\",\"n\":\"%s\",\"e\":\"AQAB\"}]}",
                                  issuer_encode((struct str){modulus, sizeof(modulus)}))));
  const char *unsigned_token = textf("%s.%s", issuer_encode(STR("{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"o\"}")),
                                     issuer_encode(str_from(claims("cairn:read cairn:team:web cairn:role:admin"))));
  file_write(text, str_from(unsigned_token));
  r = proc_run(.argv = ARGS("openssl", "dgst", "-sha256", "-sign", pem, text));
  CHECK_INT(r.out.n, 256);
  struct serve *s = serve_start(ARGS("--set", "oauth.issuer=" ISSUER, "--set", "oauth.audience=" AUDIENCE, "--set",
                                     textf("oauth.jwks=%s", path)));
  CHECK_INT(status(s, "/readyz", bearer(textf("%s.%s", unsigned_token, issuer_encode(r.out)))), 200);
  CHECK_INT(status(s, "/readyz", bearer(textf("%s.%s", unsigned_token, issuer_encode(str_slice(r.out, 0, 255))))), 401);
  serve_stop(s);
}

/* ---- settings ---- */

/* Write access to the store must not grant access to the machine. */
TEST(the_store_cannot_change_authentication) {
  struct run r = CAIRN("config", "serve.require_token", "off");
  CHECK(r.exit_code != 0);
  CHECK(has(r.err, "belongs to this machine"));
  sql_do("INSERT INTO setting (team, name, value) VALUES ('default', 'oauth.issuer', 'https://evil.example')");
  CHECK_STR(jstr(OK("config", "oauth.issuer"), "value"), "");
  struct serve *s = serve_start(NULL);
  CHECK_INT(status(s, "/readyz", NULL), 200);
  serve_stop(s);
}

/* Checks the startup message, as JSON and as text. */
static void check_says(const char *words, const char *sentence, const char *connect, const char *const *args) {
  for (int json = 0; json < 2; json++) {
    const char *argv[24] = {CAIRN_BIN, "serve"};
    size_t n = 2;
    for (size_t i = 0; args && args[i]; i++)
      argv[n++] = args[i];
    if (json)
      argv[n++] = "--json";
    struct proc *p = proc_start(.argv = argv, .env = cli_env());
    struct str line, said = STR_NONE;
    test_note("%s", sentence);
    CHECK(proc_line(p, 15000 * test_slowness(), &line));
    if (json) {
      struct buf b = BUF(&memory);
      yyjson_val *list = jget(lines_of(line).v[0], "accepts"), *word;
      size_t at, count;
      yyjson_arr_foreach(list, at, count, word) {
        buf_addf(&b, "%s%s", b.n ? " " : "", yyjson_get_str(word));
      }
      CHECK_STR(buf_str(&b), words);
    } else {
      CHECK(proc_line(p, 15000 * test_slowness(), &line));
      CHECK(!connect || (str_ends(line, STR("TOKEN\"")) == (strcmp(connect, "token") == 0)));
      CHECK(proc_line(p, 15000 * test_slowness(), &said));
      CHECK_STR(said, cstr(str_from(textf("auth: %s", sentence))));
    }
    proc_kill(p, 15);
    CHECK_INT(proc_wait(p).exit_code, 0);
  }
}

TEST(the_startup_message_lists_accepted_credentials, .seconds = 60) {
  c = certificate_make();
  OK("token", "add", "bot");
  OK("agent", "add", "scout", "--role", "project", "--project", "alpha");
  check_says("local token", "none for local clients; bearer token otherwise", "none", ARGS("--port", "0"));
  check_says("token", "bearer token", "token", ARGS("--port", "0", "--require-token"));
  check_says("token", "bearer token", "token", ARGS("--port", "0", "--behind-proxy"));
  check_says("local token", "none for users of the socket; bearer token otherwise", NULL,
             ARGS("--socket", path_join(NULL, "s")));
  check_says(
      "local token", "none for local clients; bearer token for remote clients", "token",
      ARGS("--port", "0", "--host", "0.0.0.0", "--allow-host", "a.example", "--tls-cert", c.path, "--tls-key", c.key));
  check_says("local", "none for local clients, which act as agent 'scout'; no tokens", "none",
             ARGS("--port", "0", "--agent", "scout"));
  file_write(path_join(NULL, "jwks.json"), str_from(issuer_jwks()));
  const char *keys = textf("oauth.jwks=%s", path_join(NULL, "jwks.json"));
  check_says("local token oauth",
             "none for local clients; bearer token or access token of https://id.example otherwise", "none",
             ARGS("--port", "0", "--set", "oauth.issuer=" ISSUER, "--set", "oauth.audience=" AUDIENCE, "--set", keys));
  check_says("local", "none for local clients, which act as agent 'scout'; no tokens", "none",
             ARGS("--port", "0", "--agent", "scout", "--set", "oauth.issuer=" ISSUER, "--set",
                  "oauth.audience=" AUDIENCE, "--set", keys));
}

/* The URL of the line "connect: ..." with these arguments; P stands for the port. */
static const char *connect_url(const char *const *args) {
  const char *argv[24] = {CAIRN_BIN, "serve", "--port", "0"};
  size_t n = 4;
  for (size_t i = 0; args && args[i]; i++)
    argv[n++] = args[i];
  struct proc *p = proc_start(.argv = argv, .env = cli_env());
  struct str listening, line, word, url = STR_NONE;
  CHECK(proc_line(p, 15000 * test_slowness(), &listening) && proc_line(p, 15000 * test_slowness(), &line));
  const char *address = cstr(listening), *text = cstr(line), *port = strrchr(address, ':') + 1;
  for (struct str rest = str_from(text); str_next(&rest, ' ', &word);)
    if (str_ends(word, STR("/mcp'")))
      url = str_slice(word, 1, word.n - 1);
  proc_kill(p, 15);
  CHECK_INT(proc_wait(p).exit_code, 0);
  size_t at = str_find(url, str_from(port), 0);
  return at == SIZE_MAX ? cstr(url)
                        : textf("%.*sP%.*s", (int)at, url.p, STR_ARG(str_slice(url, at + strlen(port), url.n)));
}

TEST(the_connect_line_names_a_host_that_clients_can_use, .seconds = 60) {
  c = certificate_make();
  OK("token", "add", "bot");
  CHECK_STR(str_from(connect_url(NULL)), "http://127.0.0.1:P/mcp");
  CHECK_STR(str_from(connect_url(ARGS("--host", "0.0.0.0", "--allow-host", "a.example", "--allow-host", "b.example",
                                      "--tls-cert", c.path, "--tls-key", c.key))),
            "https://a.example:P/mcp");
  CHECK_STR(str_from(connect_url(ARGS("--host", "0.0.0.0", "--allow-host", "a.example", "--behind-proxy"))),
            "https://a.example/mcp");
  CHECK_STR(str_from(connect_url(ARGS("--behind-proxy"))), "http://127.0.0.1:P/mcp");
  CHECK_STR(str_from(connect_url(ARGS("--allow-host", "a.example"))), "http://127.0.0.1:P/mcp");
}

/* The server does what its startup message says. */
TEST(a_server_of_an_agent_accepts_no_tokens) {
  const char *token = TOKEN("bot");
  OK("agent", "add", "scout", "--role", "project", "--project", "alpha");
  struct serve *s = serve_start(ARGS("--agent", "scout"));
  CHECK_INT(status(s, "/api/v1/memories", NULL), 200);
  static const char *const paths[] = {"/", "/readyz", "/metrics", "/events", "/mcp", "/api/v1/memories", "/nothing"};
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    test_note("%s", paths[i]);
    struct answer a = ask(s, paths[i], bearer(token));
    CHECK_INT(a.status, 403);
    CHECK(has(a.body, "accepts no tokens"));
    CHECK_INT(status(s, paths[i], bearer(NO_TOKEN)), 403);
  }
  CHECK_INT(status(s, "/healthz", bearer(token)), 200);
  CHECK_INT(remember(s, "", "The ferry leaves at nine"), 201);
  serve_stop(s);
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action LIKE 'auth:%'"), 0);
  check_start_refused("accepts no tokens", ARGS("--agent", "scout", "--require-token"));
  check_start_refused("accepts no tokens", ARGS("--agent", "scout", "--behind-proxy"));
  check_start_refused("accepts no tokens", ARGS("--agent", "scout", "--set", "serve.require_token=on"));
  c = certificate_make();
  check_start_refused("accepts no tokens", ARGS("--agent", "scout", "--host", "0.0.0.0", "--allow-host", "a.example",
                                                "--tls-cert", c.path, "--tls-key", c.key));
}
