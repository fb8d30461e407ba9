/* test_tls.c: connections that never become encrypted do not stay. */
#include "http/tls/tls.h"

#include "http/server.h"
#include "support/certificate.h"
#include "support/serve.h"

static void quick(struct http_call *call) { http_reply_json(call, 200, STR("{}")); }

static const struct http_route routes[] = {{"GET", "/quick", quick, HTTP_AT_ONCE}, {0}};

TEST(a_handshake_has_the_time_of_a_request) {
  static struct arena a;
  struct error err;
  struct http_daemon *server;
  struct certificate c = certificate_make();
  struct http_options o = {.shared = {.routes = routes}, .workers = 2, .request_ms = 300};
  CHECK_OK(tls_load(&a, c.path, c.key, &o.tls, &err), &err);
  CHECK_OK(http_start(&o, &server, &err), &err);
  tls_forget(&o.tls);
  CHECK(!o.tls.key);
  CHECK(str_starts(str_from(http_address(server)), STR("https://")));
  int port = (int)strtol(strrchr(http_address(server), ':') + 1, NULL, 10);
  struct wire *silent = wire_to(port), *slow = wire_to(port), *plain = wire_to(port);
  wire_send(slow, STR("\x16\x03\x01\x02\x00\x01")); /* the beginning of a ClientHello */
  wire_send(plain, request_text("GET", "/quick", NULL, STR_NONE));
  CHECK(wire_closed(silent, 5000));
  CHECK(wire_closed(slow, 5000));
  CHECK(wire_closed(plain, 5000));
  CHECK(silent->in.n == 0);                      /* least of all an answer in the clear */
  CHECK(slow->in.n == 0 || slow->in.p[0] == 21); /* an alert of TLS */
  CHECK(plain->in.n == 0 || plain->in.p[0] == 21);
  wire_close(silent);
  wire_close(slow);
  wire_close(plain);
  http_stop(&server);
}
